"""The rules of the layout, read from the imports."""

import ast
import itertools
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "vcrgen"
KERNEL = {"errors", "records", "files", "media", "plurals", "reading", "resources", "rng", "signature", "storage"}
# Which rooms a room stands on, from the bottom to the top. Every room may use the kernel: files that belong to no room.
STANDS_ON: dict[str, set[str]] = {
    "text": set(),
    "config": {"text"},
    "stats": set(),
    "work": set(),
    "report": set(),
    "dataset": {"text"},
    "tasks": {"text", "dataset"},
    "published": {"dataset", "tasks"},
    "web": {"work"},
    "typeset": {"text"},
    "samples": {"text"},
    "models": {"text", "work"},
    "builder": {"text", "config", "work", "dataset", "tasks", "typeset", "samples"},
    "hidden": {"text", "config", "work", "dataset", "tasks", "typeset", "builder"},
    "bloom": {
        "text",
        "config",
        "work",
        "dataset",
        "tasks",
        "stats",
        "report",
        "models",
        "samples",
        "builder",
        "hidden",
    },
    "stream": {"text", "config", "dataset", "typeset", "builder"},
    "publish": {"text", "config", "work", "dataset", "tasks", "report"},
    "scorer": {"text", "config", "work", "dataset", "tasks", "stats", "report"},
    "train": {"text", "config", "work", "dataset", "tasks", "models", "builder", "stream"},
    "contamination": {"config", "work", "dataset", "tasks", "stats", "report", "scorer"},
    "predict": {"text", "config", "work", "dataset", "tasks", "stats", "models"},
    "leaderboard": {"text", "config", "work", "dataset", "stats", "report", "web", "published", "scorer", "tasks"},
    "analysis": {"text", "config", "dataset", "tasks", "stats", "report", "bloom", "published", "scorer"},
    "study": {"text", "config", "work", "dataset", "tasks", "stats", "report", "web", "published", "scorer", "bloom"},
}
STANDS_ON["cli"] = set(STANDS_ON)
# Only these files of the builder know more than one stage.
WIRING = {"pipeline", "shards", "assemble", "run", "estimate", "transform"}
# What the stages of the builder hand one another.
HANDED_ON = {"records", "bands"}
HEAVY = {
    "spacy",
    "jieba",
    "datasets",
    "pyarrow",
    "PIL",
    "numpy",
    "fontTools",
    "rapidfuzz",
    "onnxruntime",
    "cv2",
    "torch",
    "transformers",
    "peft",
}
HEAVY |= {"ray", "pyspark", "py4j", "scipy", "sklearn"}
HEAVY |= {"httpx2", "sqlalchemy", "alembic", "jinja2", "fastapi", "uvicorn"}


def imports(file: Path) -> set[str]:
    """Modules of this package that a file imports, with ``vcrgen.`` taken off."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("vcrgen."):
            found.add(node.module.removeprefix("vcrgen."))
        elif isinstance(node, ast.Import):
            found |= {name.name.removeprefix("vcrgen.") for name in node.names if name.name.startswith("vcrgen.")}
    return found


def top_level_imports(file: Path) -> set[str]:
    """Packages imported when the file is, those under ``if TYPE_CHECKING`` left out."""
    found = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def every_import(file: Path) -> set[str]:
    """Packages imported anywhere in a file."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def modules(room: str) -> list[Path]:
    return sorted((PACKAGE / room).rglob("*.py"))


def room_of(module: str) -> str:
    return module.split(".")[0]


def test_the_rooms_are_those_of_the_folder_listing() -> None:
    files = {file.stem for file in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    folders = {folder.name for folder in PACKAGE.iterdir() if any(folder.glob("*.py"))}
    assert files | folders == KERNEL | set(STANDS_ON)


def test_no_room_stands_on_itself() -> None:
    below: set[str] = set()
    for room, rooms in STANDS_ON.items():
        assert rooms <= below, f"{room} stands on a room that comes later: {rooms - below}"
        below.add(room)
    assert "scorer" not in STANDS_ON["builder"] and "builder" not in STANDS_ON["scorer"]


@pytest.mark.parametrize("room", STANDS_ON)
def test_a_room_stands_on_rooms_below_it(room: str) -> None:
    files = modules(room) if (PACKAGE / room).is_dir() else [PACKAGE / f"{room}.py"]
    for file in files:
        found = {room_of(module) for module in imports(file)} - KERNEL - {room}
        assert found <= STANDS_ON[room], f"{file.relative_to(ROOT)} imports {found - STANDS_ON[room]}"


def test_the_kernel_is_below_everything() -> None:
    for name in KERNEL:
        assert {room_of(module) for module in imports(PACKAGE / f"{name}.py")} <= KERNEL, name


def test_only_the_store_knows_the_tables() -> None:
    for file in modules("leaderboard"):
        if "store" not in file.parts and file.name not in ("backup.py", "views.py"):
            assert "leaderboard.store.schema" not in imports(file), file


def test_pages_are_made_of_records() -> None:
    for file in modules("leaderboard/site"):
        inside = {m for m in imports(file) if m.startswith("leaderboard.")}
        assert not {m for m in inside if m.startswith(("leaderboard.store", "leaderboard.board", "leaderboard.views"))}


@pytest.mark.parametrize("room", ["work", "dataset", "stats", "web", "models"])
def test_what_serves_every_task_names_the_subject_of_none(room: str) -> None:
    for file in modules(room):
        assert not re.findall(r"(?i)\b(?:spans?|cover(?:s|ed)?|captions?)\b", file.read_text("utf-8")), file


def test_a_name_stands_for_one_class() -> None:
    names = [
        name for file in PACKAGE.rglob("*.py") for name in re.findall(r"(?m)^class (\w+)", file.read_text("utf-8"))
    ]
    assert sorted(name for name in set(names) if names.count(name) > 1 and not name.startswith("_")) == []


def test_locks_are_taken_in_one_place() -> None:
    users = [file for file in sorted(PACKAGE.rglob("*.py")) if "filelock" in every_import(file)]
    assert users == [PACKAGE / "work" / "lock.py"]


def test_every_package_that_is_imported_is_declared() -> None:
    """Those that only come along with another package, too: it may stop to need them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    declared = {re.split(r"[^A-Za-z0-9_-]", text)[0].lower().replace("-", "_") for text in texts}
    distribution = {"yaml": "pyyaml", "PIL": "pillow", "py4j": "pyspark", "fontTools": "fonttools"}
    distribution |= {"sklearn": "scikit_learn", "bidi": "python_bidi"}
    # What the API of another package is made of.
    distribution |= {"starlette": "fastapi", "anyio": "fastapi", "markupsafe": "jinja2"}
    distribution |= {"cv2": "rapidocr_onnxruntime", "onnxruntime": "rapidocr_onnxruntime"}
    not_ours = sys.stdlib_module_names | {"vcrgen"}
    for file in sorted(PACKAGE.rglob("*.py")):
        assert {distribution.get(name, name) for name in every_import(file) - not_ours} <= declared, file


def test_a_stage_does_not_import_the_next_one() -> None:
    for file in sorted((PACKAGE / "builder").glob("*.py")):
        if file.stem not in WIRING | {"__init__"}:
            inside = {m.split(".")[1] for m in imports(file) if m.startswith("builder.")}
            assert inside <= {"engines"} | HANDED_ON, file


@pytest.mark.parametrize(
    "file",
    [
        "__init__.py",
        *(f"cli/{name}.py" for name in ("__init__", "root", "options", "build", "score", "leaderboard", "analyze")),
        "config.py",
        "errors.py",
        "text/languages.py",
        "stream/__init__.py",
        "analysis/__init__.py",
    ],
)
def test_what_help_needs_is_light(file: str) -> None:
    assert not top_level_imports(PACKAGE / file) & HEAVY


def test_random_numbers_come_from_one_place() -> None:
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.name != "rng.py" and "samples" not in file.parts:
            source = file.read_text("utf-8")
            assert "random.Random(" not in source and "import random" not in source, file


def test_nothing_hostile_is_evaluated() -> None:
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec"), file
            if isinstance(node, ast.Import):
                assert not {name.name for name in node.names} & {"pickle", "marshal", "shelve"}, file
