"""What question sets cost, as ratios against something that is measured in the same run.

    python scripts/bench_bloom.py [--items 1000]

* making: the items of a built-in set (facts, questions in two languages, the second opinion on every option), divided
  by drawing and encoding the pictures that they are about (aim: at most 0.1)

The smallest of several rounds of each is taken, as everything else on the machine only adds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

from vcrgen.bloom.maker import make_items
from vcrgen.bloom.write import Aside
from vcrgen.config import BloomOptions
from vcrgen.samples.pairs import picture

ROUNDS = 3
T = TypeVar("T")


def least_seconds(work: Callable[[], T]) -> tuple[float, T]:
    """The least seconds of several rounds of some work, and what it gives."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - started)
    return best, result


def measure_making(items: int) -> None:
    """Print what making items costs."""
    seconds, made = least_seconds(lambda: list(make_items(BloomOptions(items=items), Aside())))
    drawing, _ = least_seconds(lambda: [picture(index) for index, _ in made])
    each = 1000 / len(made)
    print(
        f"making: {items:,} items about {len(made):,} pictures; {seconds * each:.2f} ms a picture, drawing and "
        f"encoding {drawing * each:.2f} ms; ratio {seconds / drawing:.3f}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=1000)
    arguments = parser.parse_args()
    measure_making(arguments.items)


if __name__ == "__main__":
    main()
