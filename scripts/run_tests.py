"""Set up what the tests need in .venv and run everything a change has to pass: format, lint, types, tests.

    python3 scripts/run_tests.py            # all of it
    python3 scripts/run_tests.py -k layout  # words after the name go to pytest

All tests run in as many processes as there are processors, at most four. With words after the name it is one, which
begins sooner, if `-n 2` or the like is not among them. Tests marked slow, which kill and freeze clusters, are left out:
they need Ray and the machine for themselves (`.venv/bin/python -m pytest tests/builder/engines/test_survival.py`).

Needs Python 3.11 to 3.13 and the package registry. Tests of pages in a browser run where Debian's chromium and
chromium-driver (or others on the path) are installed, and are skipped with a message elsewhere.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv"
# Files stay whole, since their tests share what takes long to make, and in the order of the folders: rooms with long
# tests come first and small files last, so that the processes end together. More than four would mostly make fixtures.
PARALLEL = ["--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder"]


def main() -> int:
    """Run the checks in order; the exit code is that of the first one that fails."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        print(f"vcrgen needs Python 3.11 to 3.13; this is {sys.version.split()[0]}.", file=sys.stderr)
        return 2
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(ENVIRONMENT, with_pip=True, upgrade_deps=True)  # Python's own pip takes twice as long to resolve
    checks = [
        ["pip", "install", "--quiet", "--editable", ".[dev]"],
        ["ruff", "format", "--check", "."],
        ["ruff", "check", "."],
    ]
    for check in checks:
        if code := start(python, check).wait():
            return code
    # Types beside the tests, which often wait.
    words = [*PARALLEL, "-n", "0" if sys.argv[1:] else "logical", "-m", "not slow", *sys.argv[1:]]
    tests, types = start(python, ["pytest", *words]), start(python, ["mypy"])
    if types.wait():
        tests.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)  # which lets it stop its servers
        tests.wait()
    return types.returncode or tests.wait()


def start(python: Path, check: list[str]) -> subprocess.Popen[bytes]:
    """Say which check begins, and begin it."""
    print(f"$ {' '.join(check)}", flush=True)
    return subprocess.Popen([python, "-m", *check], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
