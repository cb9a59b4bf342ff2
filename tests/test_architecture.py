"""The rules of the layout, read from the imports."""

import ast
import functools
import itertools
import re
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from vcrgen.core.extras import EXTRAS
from vcrgen.text.languages import LANGUAGES

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "vcrgen"
# The packages that each package imports, from the bottom to the top; each may use the kernel.
KERNEL = "core"
STANDS_ON: dict[str, set[str]] = {
    "text": set(),
    "typeset": {"text"},
    "samples": set(),
    "pixels": {"text", "typeset"},
    "data": {"text"},
    "stats": set(),
    "report": {"typeset", "data"},  # texts of figures are outlines of its fonts
    "builder": {"text", "typeset", "samples", "pixels", "data", "report"},  # its result is shown in notebooks
    "hidden": {"text", "typeset", "samples", "pixels", "data", "stats", "report", "builder"},
    "models": {"text", "pixels", "data"},
    "scorer": {"text", "data", "stats", "report", "models"},
    "train": {"data", "builder", "models", "scorer"},
    "bloom": {"text", "samples", "data", "stats", "report", "builder", "hidden", "models"},
    "analysis": {"text", "data", "stats", "report", "scorer", "bloom"},
    "web": set(),
    "view": {"data", "report", "scorer", "web"},
    "leaderboard": {"text", "data", "stats", "report", "scorer", "web", "view"},
    "study": {"text", "data", "stats", "report", "scorer", "bloom", "web"},
}
STANDS_ON["cli"] = set(STANDS_ON)
# Only these files of the builder know more than one stage.
WIRING = {"pipeline", "shards", "assemble", "run", "transform"}
# What the stages of the builder hand one another.
HANDED_ON = {"records", "bands", "options", "source_options"}
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
    "trl",
}
HEAVY |= {"wordfreq"}
HEAVY |= {"ray", "scipy"}
HEAVY |= {"httpx2", "sqlalchemy", "jinja2", "fastapi", "uvicorn"}


@functools.cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a file, which several tests read."""
    return ast.parse(file.read_text("utf-8"))


def imports(file: Path) -> set[str]:
    """Modules of this package that a file imports, with ``vcrgen.`` taken off."""
    found = set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("vcrgen."):
            found.add(node.module.removeprefix("vcrgen."))
        elif isinstance(node, ast.Import):
            found |= {name.name.removeprefix("vcrgen.") for name in node.names if name.name.startswith("vcrgen.")}
    return found


def top_level_imports(file: Path) -> set[str]:
    """Packages imported when the file is, those under ``if TYPE_CHECKING`` left out."""
    found = set()
    for node in parsed(file).body:
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def every_import(file: Path) -> set[str]:
    """Packages imported anywhere in a file."""
    found = set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def modules(package: str) -> list[Path]:
    return sorted((PACKAGE / package).rglob("*.py"))


def package_of(module: str) -> str:
    return module.split(".")[0]


def test_the_packages_are_those_of_the_folder_listing() -> None:
    assert {file.stem for file in PACKAGE.glob("*.py")} == {"__init__", "__main__"}
    folders = {folder.name for folder in PACKAGE.iterdir() if any(folder.glob("*.py"))}
    assert folders == {KERNEL} | set(STANDS_ON)


def test_data_flows_one_way() -> None:
    below: set[str] = set()
    for package, packages in STANDS_ON.items():
        assert packages <= below, f"{package} imports a package that comes later: {packages - below}"
        below.add(package)
    assert "scorer" not in STANDS_ON["builder"] and "builder" not in STANDS_ON["scorer"]


@pytest.mark.parametrize("package", STANDS_ON)
def test_a_package_imports_only_packages_below_it(package: str) -> None:
    for file in modules(package):
        found = {package_of(module) for module in imports(file)} - {KERNEL, package}
        assert found <= STANDS_ON[package], f"{file.relative_to(ROOT)} imports {found - STANDS_ON[package]}"


def test_the_kernel_is_below_everything() -> None:
    for file in modules(KERNEL):
        assert {package_of(module) for module in imports(file)} <= {KERNEL}, file


def test_only_the_store_knows_the_tables() -> None:
    for file in modules("leaderboard"):
        if "store" not in file.parts and file.name not in ("backup.py", "views.py"):
            assert "leaderboard.store.schema" not in imports(file), file


def test_pages_are_made_of_records() -> None:
    for file in modules("leaderboard/site"):
        inside = {m for m in imports(file) if m.startswith("leaderboard.")}
        assert not {m for m in inside if m.startswith(("leaderboard.store", "leaderboard.board", "leaderboard.pages"))}


def import_graph(package: str) -> dict[str, set[str]]:
    """Modules of a package, each with those of the same package that it imports anywhere, for types too."""
    names = {
        ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): file
        for file in modules(package)
    }
    graph: dict[str, set[str]] = {}
    for name, file in names.items():
        found = set()
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("vcrgen."):
                module = node.module.removeprefix("vcrgen.")
                found |= {f"{module}.{one.name}" if f"{module}.{one.name}" in names else module for one in node.names}
        graph[name] = found & set(names) - {name}
    return graph


@pytest.mark.parametrize("package", [KERNEL, *STANDS_ON])
def test_no_module_imports_itself_through_others(package: str) -> None:
    try:
        TopologicalSorter(import_graph(package)).prepare()
    except CycleError as cycle:
        pytest.fail(" -> ".join(cycle.args[1]), pytrace=False)


def test_rich_draws_what_the_command_line_prints_and_the_progress_of_long_jobs() -> None:
    users = {file.relative_to(PACKAGE) for file in PACKAGE.rglob("*.py") if every_import(file) & {"rich", "typer"}}
    assert {file for file in users if file.parts[0] != "cli"} == {Path("core/console_progress.py")}


def test_locks_are_taken_in_one_place() -> None:
    users = [file for file in sorted(PACKAGE.rglob("*.py")) if "filelock" in every_import(file)]
    assert users == [PACKAGE / "core" / "lock.py"]


def test_every_package_that_is_imported_is_declared() -> None:
    """Those that only come along with another package, too: it may stop to need them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    declared = {re.split(r"[^A-Za-z0-9_-]", text)[0].lower().replace("-", "_") for text in texts}
    distribution = {"yaml": "pyyaml", "PIL": "pillow", "fontTools": "fonttools"}
    # What the API of another package is made of.
    distribution |= {"starlette": "fastapi", "anyio": "fastapi", "markupsafe": "jinja2"}
    # There where anybody asks for them: notebooks run on IPython, and to_pandas() says so if pandas is missing.
    distribution |= {"IPython": "rich", "pandas": "datasets"}
    distribution |= {"cv2": "rapidocr_onnxruntime", "onnxruntime": "rapidocr_onnxruntime"}
    not_ours = sys.stdlib_module_names | {"vcrgen"}
    for file in sorted(PACKAGE.rglob("*.py")):
        assert {distribution.get(name, name) for name in every_import(file) - not_ours} <= declared, file


def test_every_extra_is_one_of_the_table() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]

    def requirements(extra: str) -> set[str]:
        texts = {text.split(";")[0] for text in extras[extra]}
        ours = {text for text in texts if text.startswith("vcrgen[")}
        return (texts - ours).union(*(requirements(text[len("vcrgen[") : -1]) for text in ours))

    assert {extra: requirements(extra) for extra in extras if extra != "dev"} == {
        extra: set(packages) for extra, packages in EXTRAS.items()
    }


def test_nobody_is_told_to_install_a_package_that_is_not_ours() -> None:
    """The project is not on the package index, where anybody could take its name."""
    told = re.compile(r"pip install [^\n&|;`]*\bvcrgen\b")
    folders = (PACKAGE, ROOT / "docs", ROOT / "tests")
    files = [file for folder in folders for file in folder.rglob("*.*") if file.suffix in (".py", ".md")]
    assert [file for file in [*files, ROOT / "README.md"] if told.search(file.read_text("utf-8"))] == []


def test_a_stage_does_not_import_the_next_one() -> None:
    for file in sorted((PACKAGE / "builder").glob("*.py")):
        if file.stem not in WIRING | {"__init__"}:
            inside = {m.split(".")[1] for m in imports(file) if m.startswith("builder.")}
            assert inside <= {"engines"} | HANDED_ON, file


@pytest.mark.parametrize(
    "file",
    [
        "__init__.py",
        *(f"cli/{name}.py" for name in ("__init__", "options", "root")),
        "core/errors.py",
        "text/languages.py",
        *(file.relative_to(PACKAGE).as_posix() for file in sorted(PACKAGE.rglob("*options.py"))),
        "builder/stream/__init__.py",
        "analysis/__init__.py",
    ],
)
def test_what_help_needs_is_light(file: str) -> None:
    assert not top_level_imports(PACKAGE / file) & HEAVY


def test_the_help_imports_no_command() -> None:
    code = "import sys; from vcrgen.cli import app; app(['--help'], standalone_mode=False); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = set(shown.splitlines()[-1].split())
    assert "typer" in loaded and not loaded & (HEAVY | {"pydantic", "yaml"})
    ours = {name for name in loaded if name.startswith("vcrgen.")}
    assert ours <= {
        "vcrgen.cli",
        "vcrgen.cli.console",
        "vcrgen.cli.options",
        "vcrgen.cli.root",
        "vcrgen.core",
        "vcrgen.core.errors",
        "vcrgen.core.lazy",
        "vcrgen.core.records",
    }


def test_no_code_asks_for_a_language_by_its_name() -> None:
    """What a language needs stands in its row and its folder: nothing compares with a code such as "fr"."""
    places = []
    for file in set(PACKAGE.rglob("*.py")) - {PACKAGE / "bloom" / "numbers.py"}:  # which reads numbers in words
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Compare):
                compared = {child.value for child in ast.walk(node) if isinstance(child, ast.Constant)}
                names = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
                names |= {child.attr for child in ast.walk(node) if isinstance(child, ast.Attribute)}
                if compared & LANGUAGES.keys() and names & {"lang", "language"}:
                    places.append(f"{file.relative_to(PACKAGE)}:{node.lineno}")
    assert not places


def test_random_numbers_come_from_one_place() -> None:
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.name != "rng.py" and "samples" not in file.parts:
            source = file.read_text("utf-8")
            assert "random.Random(" not in source and "import random" not in source, file


def test_nothing_hostile_is_evaluated() -> None:
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec"), file
            if isinstance(node, ast.Import):
                assert not {name.name for name in node.names} & {"pickle", "marshal", "shelve"}, file
