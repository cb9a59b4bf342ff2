"""Run tests while their processes stand still now and then, as they do on a machine that is too busy.

    python scripts/stall_tests.py [--hold 3] [--every 1] [--seed 1] tests/study -k kill

What is no option of this script goes to pytest, and the exit code is pytest's. About every EVERY seconds one process is
stopped (SIGSTOP) for HOLD seconds at most: that of the tests, or one that it has started. A test that passes every time
has waited for what it needs; one that fails now and then has counted on a time. It takes next to no processor time of
its own. Needs Linux.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

LEFT_ALONE = b"chromedriver"  # selenium gives its answers two minutes, however long the browser takes


def main() -> int:
    """Start pytest, and stop its processes one after another until it has ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hold", type=float, default=3.0, help="seconds that a process stands still at most")
    parser.add_argument("--every", type=float, default=1.0, help="seconds from one to the next, on average")
    parser.add_argument("--seed", type=int, default=1)
    options, words = parser.parse_known_args()
    rng, held = random.Random(options.seed), 0
    with subprocess.Popen([sys.executable, "-m", "pytest", *words]) as tests:
        while tests.poll() is None:
            time.sleep(2 * options.every * rng.random())
            others = [process for process in started_by(tests.pid) if LEFT_ALONE not in words_of(process)]
            process = rng.choice(others) if others and rng.random() < 0.5 else tests.pid
            with suppress(ProcessLookupError):  # it may have ended
                os.kill(process, signal.SIGSTOP)
                held += 1
                try:
                    time.sleep(options.hold * rng.uniform(0.3, 1.0))
                finally:
                    os.kill(process, signal.SIGCONT)
    print(f"Processes stood still {held} times.")
    return tests.returncode


def started_by(process: int) -> list[int]:
    """Processes that a process has started, and those that they have."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, file.read_text().split())
    return found + [each for child in found for each in started_by(child)]


def words_of(process: int) -> bytes:
    """The command line of a process; empty if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


if __name__ == "__main__":
    sys.exit(main())
