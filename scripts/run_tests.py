"""Set up what the tests need in .venv and run everything a change has to pass: format, lint, types, tests.

    python3 scripts/run_tests.py                     # all of it
    python3 scripts/run_tests.py --changed           # tests of the packages that a git diff touches, and of those above
    python3 scripts/run_tests.py --changed HEAD~3    # the same, since a commit
    python3 scripts/run_tests.py -k layout           # other words go to pytest

Tests run in one process more than there are processors, as they often wait, and at most in four; with words for pytest
it is one, which begins sooner, if `-n 2` or the like is not among them. Tests marked slow, which kill and freeze
clusters, are left out: they need Ray and the machine for themselves
(`.venv/bin/python -m pytest tests/builder/engines/test_survival.py`).

Needs Python 3.11 to 3.13 and the package registry. Tests of pages in a browser run where Debian's chromium and
chromium-driver (or others on the path) are installed, and are skipped with a message elsewhere.
"""

import ast
import functools
import os
import re
import signal
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv"
# Files stay whole, since their tests share what takes long to make, and in the order of the folders: packages with long
# tests come first and small files last, so that the processes end together. More than four would mostly make fixtures.
PARALLEL = ["--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder"]
KERNEL = "core"  # the package on which every other one stands
ALWAYS = ["tests/test_architecture.py", "tests/golden/test_mutations.py"]


def main() -> int:
    """Run the checks in order; the exit code is that of the first one that fails."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        print(f"vcrgen needs Python 3.11 to 3.13; this is {sys.version.split()[0]}.", file=sys.stderr)
        return 2
    words = sys.argv[1:]
    if words and words[0] == "--changed":
        base = words[1] if len(words) > 1 and not words[1].startswith("-") else None
        try:
            chosen = tests_for(changed_files(base))
        except ValueError as problem:
            print(problem, file=sys.stderr)
            return 2
        words = ["-n", "logical", *words[1 + (base is not None) :], *chosen]
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True)
    if code := install(python):
        return code
    for check in (["ruff", "format", "--check", "."], ["ruff", "check", "."]):
        if code := start(python, check).wait():
            return code
    # Types beside the tests, which often wait.
    processes = 0 if words else (os.cpu_count() or 1) + 1
    words = [*PARALLEL, "-n", str(processes), "-m", "not slow", *words]
    tests, types = start(python, ["pytest", *words]), start(python, ["mypy"])
    if types.wait():
        tests.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)  # which lets it stop its servers
        tests.wait()
    return types.returncode or tests.wait()


def install(python: Path) -> int:
    """Install the checkout with what its tests need, by uv, or by pip where uv cannot; return the exit code.

    uv takes a quarter of pip's time, but reads none of pip's settings, such as the address of a registry.
    """
    package = ["install", "--quiet", "--editable", ".[dev]"]
    has_uv = start(python, ["pip", "install", "--quiet", "uv"]).wait() == 0
    if has_uv and start(python, ["uv", "pip", *package, "--python", str(python)]).wait() == 0:
        return 0
    return start(python, ["pip", *package]).wait()


def start(python: Path, check: list[str]) -> subprocess.Popen[bytes]:
    """Print the check, and start it."""
    print(f"$ {' '.join(check)}", flush=True)
    # What pytest makes of a test file is kept, which halves the time that the next run takes to collect.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.Popen([python, "-m", *check], cwd=ROOT, env=environment)


def changed_files(base: str | None) -> list[str]:
    """Return the files that differ from a commit, uncommitted and untracked ones too, relative to the checkout.

    Args:
        base: The commit; without it the one at which this branch left ``origin/main`` or ``main``.

    Raises:
        ValueError: There is no such commit, or this is no checkout of git.
    """
    if base is None:
        upstream = [name for name in ("origin/main", "main") if git("rev-parse", "--verify", "-q", name)]
        base = git("merge-base", "HEAD", upstream[0]) if upstream else "HEAD"
    if not git("rev-parse", "--verify", "-q", f"{base}^{{commit}}"):
        raise ValueError(f"--changed: git knows no commit {base!r} here; name one, as in --changed HEAD~1.")
    listed = git("diff", "--name-only", "--no-renames", base), git("ls-files", "--others", "--exclude-standard")
    return sorted({line for text in listed for line in text.splitlines()})


def git(*words: str) -> str:
    """Return what a command of git prints, or the empty text where it fails."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def tests_for(files: Iterable[str]) -> list[str]:
    """Return the tests, as paths for pytest, that a change of some files can break.

    A file of ``vcrgen/X`` asks for the tests of ``X``, of every package that imports it, directly or not, and for the
    tests elsewhere that import ``X`` themselves; one of ``vcrgen/cli`` also for those that run commands. A file of
    ``tests/X`` asks for the tests of ``X``, a page of docs for the tests that name it, and any other file for all.
    """
    packages: set[str] = set()
    chosen: set[str] = set(ALWAYS)
    for file in files:
        parts = Path(file).parts
        if parts[0] == "vcrgen":
            packages.add(parts[1] if len(parts) > 2 else KERNEL)
        elif parts[0] == "tests" and len(parts) > 2:
            chosen.add(f"tests/{parts[1]}")
        elif parts[0] == "tests" and re.fullmatch(r"test_\w+\.py", parts[1]):
            chosen.add(file)
        elif parts[0] == "docs" or file == "README.md":
            chosen |= {"tests/test_readme.py", *tests_naming(parts[-1])}
        elif file.endswith(".md") or parts[0] == "scripts":
            chosen |= tests_naming(parts[-1])
        else:
            return ["tests"]
    if packages:
        above = standing_on(packages)
        if above >= {KERNEL}:
            return ["tests"]
        chosen |= {f"tests/{name}" for name in above} | {"tests/golden"} | tests_importing(packages)
    outermost = {path for path in chosen if not chosen & {parent.as_posix() for parent in Path(path).parents}}
    return sorted(path for path in outermost if (ROOT / path).exists())


def tests_naming(name: str) -> set[str]:
    """Return the test files in which a file's name stands."""
    found = (ROOT / "tests").rglob("test_*.py")
    return {file.relative_to(ROOT).as_posix() for file in found if name in file.read_text("utf-8")}


def tests_importing(packages: set[str]) -> set[str]:
    """Return the test files that import one of some packages, and the folders whose fixtures do."""
    words = [rf"vcrgen\.{name}\b" for name in packages]
    if "cli" in packages:
        words.append(r"\brun: Run\b")  # the fixture that runs a command
    imports = re.compile("|".join(words))
    files = (
        file.relative_to(ROOT) for file in (ROOT / "tests").rglob("*.py") if imports.search(file.read_text("utf-8"))
    )
    below = (file for file in files if len(file.parts) > 2 or file.name.startswith("test_"))
    return {(file if file.name.startswith("test_") else file.parent).as_posix() for file in below}


@functools.cache
def importers() -> dict[str, set[str]]:
    """Return the packages that import a package, by its name."""
    uses: dict[str, set[str]] = {}
    for file in (ROOT / "vcrgen").rglob("*.py"):
        parts = file.relative_to(ROOT / "vcrgen").parts
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vcrgen."):
                used = str(node.module).split(".")[1]
                uses.setdefault(used, set()).add(parts[0] if len(parts) > 1 else KERNEL)
    return uses


def standing_on(packages: set[str]) -> set[str]:
    """Return some packages and all that import them, directly or through others."""
    uses = importers()
    found, new = set(packages), set(packages)
    while new:
        new = {above for name in new for above in uses.get(name, ())} - found - {KERNEL}
        found |= new
    return found


if __name__ == "__main__":
    sys.exit(main())
