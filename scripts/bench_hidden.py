"""Measure processor time and memory of `vcrgen hidden make` for three sizes of a set of built-in pairs.

    python scripts/bench_hidden.py [--sizes 50,250,1000] [--covers rows,bars]

Each run is a process of its own, and every set has a new secret. An item at the margin is what one more of them takes
between two sizes, without start-up and with the drawing of its picture; memory is the highest of the process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """The cost of a set."""

    seconds: float  # of processor time
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="50,250,1000")
    parser.add_argument("--covers", default="rows,bars")
    args = parser.parse_args()
    sizes = sorted(map(int, args.sizes.split(",")))
    for cover in args.covers.split(","):
        before: tuple[int, Cost] | None = None
        for items in sizes:
            cost = make(cover, items)
            line = f"{cover:6} {items:6,} items: {cost.seconds:7.1f} s of CPU, {cost.megabytes:5,.0f} MB"
            if before is not None:
                margin = (cost.seconds - before[1].seconds) / (items - before[0])
                line += f", {1000 * margin:5.0f} ms an item at the margin"
            print(line, flush=True)
            before = items, cost


def make(cover: str, items: int) -> Cost:
    """Make a set and return its cost."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["hidden", "make", f"samples:{2 * items + 50}", "--private-source", "--items", str(items)]
        words += ["--cover", cover, "--out", f"{folder}/set", "--secret-file", f"{folder}/secret.key"]
        with (Path(folder) / "log").open("w+") as log:
            process = subprocess.Popen([sys.executable, "-m", "vcrgen", *words], stdout=log, stderr=log)
            _, status, used = os.wait4(process.pid, 0)
            if status:
                log.seek(0)
                sys.exit(log.read())
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
