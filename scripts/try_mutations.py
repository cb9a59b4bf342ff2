"""Break a copy of the package in many small ways, and say which of them no golden file notices.

    python scripts/try_mutations.py                 # all of them, one after another: about half an hour
    python scripts/try_mutations.py score bootstrap # those whose room or description holds one of these words
    python scripts/try_mutations.py --jobs 2 --list

Each line of mutations.py is a change that must not pass unseen: a text that stands once in the package, and what comes
in its place. No file is named, so that modules may move; a text that is not there, or there twice, is an error. Exit
code 1 if a mutation survives or cannot be made.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from mutations import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[1]
SEARCHED = (".py", ".txt", ".html", ".css", ".j2")


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
    """What the golden files need of the checkout; the fonts are not copied."""
    shutil.copytree(ROOT / "vcrgen", target / "vcrgen", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(
        ROOT / "tests" / "golden", target / "tests" / "golden", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", target)
    for name in ("fonts", "configs"):
        (target / name).symlink_to(ROOT / name)


def failing(tree: Path, first: str) -> str:
    """The golden file that notices, or the empty text."""
    settings = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    test = "tests/golden/test_golden.py"
    names = sorted(file.stem for file in (ROOT / "tests/golden/values").glob("*.json"))
    likely = [f"{test}::test_golden[{name}]" for name in names if first and name.startswith(tuple(first.split()))]
    for nodes in filter(None, (likely, [test])):
        done = subprocess.run([*command, *nodes], cwd=tree, env=settings, capture_output=True, text=True, check=False)
        if done.returncode:
            found = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return found[0].split(" - ")[0].rpartition("::")[2] if found else "the run itself"
    return ""


def run(mutation: Mutation, trees: Queue[Path]) -> tuple[Mutation, str, float]:
    """Make one mutation in a free copy, look who notices, and take it back."""
    tree, start = trees.get(), time.monotonic()
    try:
        file = find(tree / "vcrgen", mutation.old)
        text = file.read_text("utf-8")
        file.write_text(text.replace(mutation.old, mutation.new), "utf-8")
        try:
            noticed = failing(tree, mutation.first)
        finally:
            file.write_text(text, "utf-8")
        return mutation, f"killed by {noticed}" if noticed else "SURVIVED", time.monotonic() - start
    except Broken as problem:
        return mutation, f"ERROR: {problem}", 0.0
    finally:
        trees.put(tree)


def main() -> int:
    """Try the mutations that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="Only those whose room or description holds one of these.")
    parser.add_argument("--jobs", type=int, default=1, help="Copies that are tried side by side.")
    parser.add_argument("--list", action="store_true", help="Only check that every text stands once in the package.")
    options = parser.parse_args()
    chosen = [
        one for one in MUTATIONS if not options.words or any(w in f"{one.room} {one.what}" for w in options.words)
    ]
    if options.list:
        return list_only(chosen)
    results: list[str] = []
    with tempfile.TemporaryDirectory(prefix="vcrgen-mutations-") as folder:
        trees: Queue[Path] = Queue()
        for number in range(options.jobs):
            tree = Path(folder) / str(number)
            tree.mkdir()
            copy_tree(tree)
            trees.put(tree)
        if noticed := failing(Path(folder) / "0", ""):
            print(f"The package fails {noticed} as it is; mend that first.")
            return 1
        with ThreadPoolExecutor(options.jobs) as pool:
            for mutation, result, seconds in pool.map(lambda one: run(one, trees), chosen):
                results.append(result)
                print(f"{result:45} {seconds:5.0f} s  {mutation.room}: {mutation.what}", flush=True)
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
        print(f"{place:45} {mutation.room}: {mutation.what}")
    print(f"{len(mutations) - bad} of {len(mutations)} can be made.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
