"""Break a copy of the package in many small ways, and say which of them no test notices (golden ones, or those named).

    python scripts/try_mutations.py                 # all of them
    python scripts/try_mutations.py score bootstrap # those whose package or description holds one of these words

Each line of mutations.py is a change that must not pass unseen: a text that stands once in the package, and what comes
in its place. No file is named, so that modules may move; a text that is not there, or there twice, is an error. Exit
code 1 if a mutation survives or cannot be made.
"""

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mutations import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[1]
SEARCHED = (".py", ".txt", ".md", ".yaml", ".toml", ".html", ".css", ".j2")
MOST_SECONDS = 900  # of the tests of one mutation; what takes longer hangs, and is noticed


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


def run_tests(tree: Path, first: str) -> str:
    """The test that fails in a copy, or the empty text; in a process of its own."""
    words = first.split()
    tests = words if first.startswith("tests/") else ["tests/golden/test_golden.py"]
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "-n", "0", *tests]
    code = (
        f"import sys, pytest, try_mutations as t; sys.exit(pytest.main({arguments!r}, plugins=[t.Likely({words!r})]))"
    )
    paths = os.pathsep.join([str(tree), str(tree / "scripts")])
    # One thread each, as several run at once; no bytecode, which is stale where a file changes twice in a second.
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "the time limit"
    if not done.returncode:
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0].rpartition("::")[2] if failed else "the run itself"


def attempt(mutation: Mutation, tree: Path) -> str:
    """Make one mutation in a copy, look who notices, and take it back."""
    try:
        file = find(tree / "vcrgen", mutation.old)
    except Broken as problem:
        return f"ERROR: {problem}"
    text = file.read_text("utf-8")
    file.write_text(text.replace(mutation.old, mutation.new), "utf-8")
    try:
        noticed = run_tests(tree, mutation.first)
    finally:
        file.write_text(text, "utf-8")
    return f"killed by {noticed}" if noticed else "SURVIVED"


def main() -> int:
    """Try the mutations that were asked for, as many at once as there are processors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="Only those whose package or description holds one of these.")
    words = parser.parse_args().words or [""]
    chosen = [one for one in MUTATIONS if any(word in f"{one.package}: {one.what}" for word in words)]
    workers = os.cpu_count() or 1
    trees: queue.SimpleQueue[Path] = queue.SimpleQueue()

    def in_a_tree(mutation: Mutation) -> str:
        tree = trees.get()
        start = time.monotonic()
        try:
            result = attempt(mutation, tree)
        finally:
            trees.put(tree)
        seconds = time.monotonic() - start
        print(f"{result:45} {seconds:5.1f} s  {mutation.package}: {mutation.what}", flush=True)
        return result

    with tempfile.TemporaryDirectory(prefix="vcrgen-mutations-") as folder, ThreadPoolExecutor(workers) as pool:
        for number in range(workers):
            tree = Path(folder, str(number))
            tree.mkdir()
            copy_tree(tree)
            trees.put(tree)
        named = sorted({test for one in chosen if one.first.startswith("tests/") for test in one.first.split()})
        if noticed := run_tests(tree, " ".join(["tests/golden/test_golden.py", *named])):
            print(f"The package fails {noticed} as it is; mend that first.")
            return 1
        results = list(pool.map(in_a_tree, chosen))
    bad = [result for result in results if not result.startswith("killed")]
    print(f"{len(results) - len(bad)} of {len(results)} mutations were noticed.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
