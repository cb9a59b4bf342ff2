"""The rules of the layout, read from the imports."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "vcrgen"
KERNEL = {
    "records",
    "errors",
    "config",
    "rng",
    "signature",
    "files",
    "manifest",
    "resources",
    "keyset",
    "storage",
    "progress",
}
# Only these know more than one stage.
WIRING = {"pipeline", "shards", "assemble", "run", "estimate", "transform", "progress", "specimen"}
# What stages may share inside a room: tools and tables, no stage's decisions.
SHARED = {"fonts", "schema", "engines"}
# What baselines borrow: rows of a dataset, and of the scorer the words and the files that outputs are written in.
BORROWED = {"publish.reader", "scorer.answers", "scorer.images", "scorer.reading", "scorer.records"}
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
}
HEAVY |= {"ray", "pyspark", "py4j"}
HEAVY |= {"sqlalchemy", "alembic", "jinja2", "fastapi", "uvicorn"}


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


def modules(room: str) -> list[Path]:
    return sorted((PACKAGE / room).rglob("*.py"))


def room_of(module: str) -> str:
    return module.split(".")[0]


def test_builder_and_scorer_do_not_know_each_other() -> None:
    for room, other in (("builder", "scorer"), ("scorer", "builder")):
        for file in modules(room):
            assert not {m for m in imports(file) if room_of(m) == other}, file


def test_the_scorer_needs_only_kernel_and_text() -> None:
    for file in modules("scorer"):
        assert {room_of(m) for m in imports(file)} <= KERNEL | {"text", "scorer"}, file


def test_hidden_sets_need_the_builder_and_not_the_scorer() -> None:
    for file in modules("hidden"):
        assert {room_of(m) for m in imports(file)} <= KERNEL | {"text", "builder", "hidden"}, file


def test_streams_need_the_builder_and_not_the_scorer() -> None:
    for file in modules("stream"):
        assert {room_of(m) for m in imports(file)} <= KERNEL | {"text", "builder", "stream"}, file


def test_nothing_needs_streams() -> None:
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.parent.name != "stream":
            assert not {m for m in imports(file) if room_of(m) == "stream"}, file


def test_baselines_borrow_readers_and_nothing_else() -> None:
    for file in modules("predict"):
        outside = {m for m in imports(file) if room_of(m) not in KERNEL | {"text", "predict"}}
        assert outside <= BORROWED, file


def test_leaderboards_stand_on_the_scorer() -> None:
    for file in modules("leaderboard"):
        assert {room_of(m) for m in imports(file)} <= KERNEL | {"text", "scorer", "leaderboard"}, file


def test_nothing_needs_leaderboards() -> None:
    for file in sorted(PACKAGE.rglob("*.py")):
        if "leaderboard" not in file.parts and file.name != "cli_leaderboard.py":
            assert not {m for m in imports(file) if room_of(m) == "leaderboard"}, file


def test_only_the_store_knows_the_tables() -> None:
    for file in modules("leaderboard"):
        if "store" not in file.parts and file.name not in ("backup.py", "views.py"):
            assert "leaderboard.store.schema" not in imports(file), file


def test_pages_are_made_of_records() -> None:
    for file in modules("leaderboard/site"):
        inside = {m for m in imports(file) if m.startswith("leaderboard.")}
        assert not {m for m in inside if m.startswith(("leaderboard.store", "leaderboard.board", "leaderboard.views"))}


def test_nothing_needs_baselines() -> None:
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.parent.name != "predict" and file.name != "cli_predict.py":
            assert not {m for m in imports(file) if room_of(m) == "predict"}, file


def test_the_kernel_is_below_everything() -> None:
    for name in KERNEL:
        assert {room_of(m) for m in imports(PACKAGE / f"{name}.py")} <= KERNEL | {"text"}, name


def test_text_needs_only_the_kernel() -> None:
    for file in modules("text"):
        assert {room_of(m) for m in imports(file)} <= KERNEL | {"text"}, file


def test_a_stage_does_not_import_the_next_one() -> None:
    for file in sorted((PACKAGE / "builder").glob("*.py")):
        if file.stem not in WIRING | {"__init__"}:
            inside = {m.split(".")[1] for m in imports(file) if m.startswith("builder.")}
            assert inside <= SHARED | {"statistics"}, file


@pytest.mark.parametrize(
    "file",
    [
        "__init__.py",
        "cli.py",
        "cli_plan.py",
        "cli_predict.py",
        "cli_leaderboard.py",
        "config.py",
        "errors.py",
        "text/languages.py",
        "stream/__init__.py",
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
