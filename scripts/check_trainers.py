"""Check that programs which train take what vcrgen gives them, each in an environment of its own.

    python scripts/check_trainers.py                # all of them; minutes, and some GB below --folder
    python scripts/check_trainers.py verifiers
    python scripts/check_trainers.py verifiers --folder /tmp/trainers    # keeps the environments

Their pins exclude one another (verifiers wants openai < 3, Inspect AI openai >= 3), so no one environment has all.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What is installed beside vcrgen, as a wheel and not editable, and the tests that run there.
TRAINERS = {"verifiers": ([".[verifiers]", "pytest", "hypothesis", "filelock"], "tests/train/test_taskset.py")}


def check(name: str, folder: Path) -> int:
    """Make the environment of a trainer, and run its tests in it; the exit code of the first step that fails."""
    packages, tests = TRAINERS[name]
    environment = folder / name
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
    # Tests run in the checkout, whose package they import; the module `vcrgen_env` they have from the wheel.
    steps = [
        [python, "-m", "pip", "install", "--quiet", "--upgrade", *packages],
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ROOT, ROOT / tests],
    ]
    for step in steps:
        print(f"$ {' '.join(map(str, step))}", flush=True)
        if code := subprocess.run(step, cwd=ROOT).returncode:
            return code
    return 0


def main() -> int:
    """Check the trainers that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainers", nargs="*", help=f"Of {', '.join(TRAINERS)}.")
    parser.add_argument("--folder", type=Path, help="For the environments; a temporary one by default.")
    options = parser.parse_args()
    names = options.trainers or [*TRAINERS]
    if unknown := [name for name in names if name not in TRAINERS]:
        parser.error(f"unknown trainer {unknown[0]!r}; known: {', '.join(TRAINERS)}")
    with tempfile.TemporaryDirectory() as temporary:
        codes = [check(name, options.folder or Path(temporary)) for name in names]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
