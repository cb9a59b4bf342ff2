"""Check that programs which train take what vcrgen gives them, each in an environment of its own.

    python scripts/check_trainers.py                # all of them; minutes, and some GB below --folder
    python scripts/check_trainers.py verifiers
    python scripts/check_trainers.py verl --folder /tmp/trainers    # keeps the environments

Their pins exclude one another (verifiers wants openai < 3, Inspect AI openai >= 3), so no one environment has all. The
python that runs this needs uv (`pip install uv`).
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
READERS = "tests/train/test_readers.py"
# What is installed beside vcrgen, and the tests that run there. verl counts tokens of pictures by qwen-vl-utils, and
# drops all rows where it or torchvision is missing; ms-swift's GRPO imports msgspec, which otherwise vLLM brings.
TRAINERS = {
    "verifiers": ([".[verifiers]"], "tests/train/test_taskset.py"),
    "verl": ([".", "verl==0.9.1", "qwen-vl-utils", "torchvision"], READERS),
    "llamafactory": ([".", "llamafactory==0.9.5"], READERS),
    "swift": ([".", "ms-swift==4.6.0", "msgspec"], READERS),
}


def check(name: str, folder: Path) -> int:
    """Make the environment of a trainer, and run its tests in it; the exit code of the first step that fails."""
    packages, tests = TRAINERS[name]
    environment = folder / name
    python = environment / "bin" / "python"
    uv: list[str | Path] = [sys.executable, "-m", "uv"]
    # vcrgen is installed as a wheel and not editable. Tests run in the checkout, whose package they import; the module
    # `vcrgen_env` they have from the wheel.
    install: list[str | Path] = ["pip", "install", "--quiet", "--python", python, "--reinstall-package", "vcrgen"]
    steps: list[list[str | Path]] = [
        [*uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, environment],
        [*uv, *install, *packages, "pytest", "hypothesis", "filelock"],
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
        codes = {name: check(name, options.folder or Path(temporary)) for name in names}
    print(", ".join(f"{name}: {'failed' if code else 'passed'}" for name, code in codes.items()))
    return max(codes.values())


if __name__ == "__main__":
    sys.exit(main())
