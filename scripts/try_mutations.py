"""Break a copy of the package in many small ways, and say which of them no test notices (golden ones, or those named).

    python scripts/try_mutations.py                 # all of them: about a quarter of an hour
    python scripts/try_mutations.py score bootstrap # those whose package or description holds one of these words
    python scripts/try_mutations.py --list          # only check that each can be made

Each line of mutations.py is a change that must not pass unseen: a text that stands once in the package, and what comes
in its place. No file is named, so that modules may move; a text that is not there, or there twice, is an error. Exit
code 1 if a mutation survives or cannot be made.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from mutations import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[1]
# Loaded once, before the copies of the package are.
LIBRARIES = (
    "numpy",
    "PIL.Image",
    "pyarrow.parquet",
    "spacy",
    "jieba",
    "pydantic",
    "typer.testing",
    "sqlalchemy",
    "scipy.stats",
)
SEARCHED = (".py", ".txt", ".md", ".yaml", ".toml", ".html", ".css", ".j2")


class Broken(Exception):
    """A mutation that cannot be made."""


def find(package: Path, old: str) -> Path:
    """The one file of a package that holds a text, once.

    Raises:
        Broken: There is none, or there are several places.
    """
    places = []
    for file in sorted(path for path in package.rglob("*") if path.suffix in SEARCHED):
        places += [file] * file.read_text("utf-8").count(old)
    if len(places) != 1:
        raise Broken(f"{len(places)} places hold {old!r}")
    return places[0]


def copy_tree(target: Path) -> None:
    """Copy what the tests need of the checkout, without the fonts."""
    shutil.copytree(ROOT / "vcrgen", target / "vcrgen", ignore=shutil.ignore_patterns("__pycache__"))
    # The test of the table of mutations is about the checkout, and not about what a mutation changes.
    ignored = shutil.ignore_patterns("__pycache__", "test_mutations.py")
    shutil.copytree(ROOT / "tests", target / "tests", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", target)
    for name in ("fonts", "configs", "scripts", "docs", "README.md"):
        (target / name).symlink_to(ROOT / name)


class Likely:
    """A plugin of pytest: the golden files that will probably notice come first.

    Args:
        names: Beginnings of their names.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = tuple(f"test_golden[{name}" for name in names)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put them there; the order of the others stays."""
        items.sort(key=lambda item: not item.name.startswith(self._names))


def failing(tree: Path, first: str) -> str:
    """The test that notices, or the empty text; in a process of its own, forked with all libraries loaded."""
    tests = first.split() if first.startswith("tests/") else ["tests/golden/test_golden.py"]
    log = tree / "log.txt"
    child = os.fork()
    if not child:
        code = 70
        try:
            with log.open("w") as out:
                os.dup2(out.fileno(), 1)
                os.dup2(out.fileno(), 2)
            os.chdir(tree)
            sys.path.insert(0, str(tree))
            os.environ["PYTHONPATH"] = str(tree)  # of processes that tests start
            sys.dont_write_bytecode = True
            words = ["-x", "-q", "-p", "no:cacheprovider", *tests]
            code = int(pytest.main(words, plugins=[Likely(tuple(first.split()))]))
        finally:
            os._exit(code)
    if not os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        return ""
    found = [line for line in log.read_text("utf-8").splitlines() if line.startswith(("FAILED", "ERROR"))]
    return found[0].split(" - ")[0].rpartition("::")[2] if found else "the run itself"


def attempt(mutation: Mutation, tree: Path) -> str:
    """Make one mutation in a copy, look who notices, and take it back."""
    try:
        file = find(tree / "vcrgen", mutation.old)
    except Broken as problem:
        return f"ERROR: {problem}"
    text = file.read_text("utf-8")
    file.write_text(text.replace(mutation.old, mutation.new), "utf-8")
    try:
        noticed = failing(tree, mutation.first)
    finally:
        file.write_text(text, "utf-8")
    return f"killed by {noticed}" if noticed else "SURVIVED"


def main() -> int:
    """Try the mutations that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="Only those whose package or description holds one of these.")
    parser.add_argument("--list", action="store_true", help="Only check that every text stands once in the package.")
    options = parser.parse_args()
    words = options.words or [""]
    chosen = [one for one in MUTATIONS if any(word in f"{one.package}: {one.what}" for word in words)]
    if options.list:
        return list_only(chosen)
    for name in LIBRARIES:
        importlib.import_module(name)
    results: list[str] = []
    with tempfile.TemporaryDirectory(prefix="vcrgen-mutations-") as folder:
        tree = Path(folder)
        copy_tree(tree)
        for tests in sorted({one.first if one.first.startswith("tests/") else "" for one in chosen}):
            if noticed := failing(tree, tests):
                print(f"The package fails {noticed} as it is; mend that first.")
                return 1
        for mutation in chosen:
            start = time.monotonic()
            results.append(attempt(mutation, tree))
            seconds = time.monotonic() - start
            print(f"{results[-1]:45} {seconds:5.1f} s  {mutation.package}: {mutation.what}", flush=True)
    bad = [result for result in results if not result.startswith("killed")]
    print(f"{len(results) - len(bad)} of {len(results)} mutations were noticed.")
    return 1 if bad else 0


def list_only(mutations: Sequence[Mutation]) -> int:
    """Say which mutations can be made."""
    bad = 0
    for mutation in mutations:
        try:
            place = find(ROOT / "vcrgen", mutation.old).relative_to(ROOT).as_posix()
        except Broken as problem:
            bad += 1
            place = f"ERROR: {problem}"
        print(f"{place:45} {mutation.package}: {mutation.what}")
    print(f"{len(mutations) - bad} of {len(mutations)} can be made.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
