"""False alarms and power of the test of whether the letter of the key matters, by simulation.

    python scripts/measure_position.py [--sets 2000]

Sets of items with random keys, four to a picture; items of one picture are right together more often than by chance
(correlation 0.2). Without an effect the model is right on 70 % whichever the key; else on fewer where the key is A.
Printed is the share of sets of which a warning at p < 0.05 is given, of one test.
"""

import argparse

import numpy as np

from vcrgen.core.rng import array_rng_for
from vcrgen.stats.exchange import exchange_p

ITEMS, POINTS = (20, 60, 200, 500, 1_000, 2_000, 8_000), (0, 5, 10, 20)
RIGHT, CORRELATION, OF_A_PICTURE = 0.70, 0.2, 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=2_000)
    sets = parser.parse_args().sets
    print("| items | no effect | " + " | ".join(f"A {points} points lower" for points in POINTS[1:]) + " |")
    print("|---" * (len(POINTS) + 1) + "|")
    for items in ITEMS:
        shares = [np.mean([alarm(items, points, number) for number in range(sets)]) for points in POINTS]
        print(f"| {items:,} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |", flush=True)


def alarm(items: int, points: int, number: int) -> bool:
    """Tell whether one simulated set gives a warning."""
    draws = array_rng_for(number, "position", f"{items} {points}")
    keys = draws.integers(4, size=items)
    share = RIGHT - np.where(keys == 0, points / 100, 0)
    # A picture's items share one uniform number with a probability whose square is their correlation.
    own, shared = draws.random(items), np.repeat(draws.random(items // OF_A_PICTURE + 1), OF_A_PICTURE)[:items]
    right = np.where(draws.random(items) < CORRELATION**0.5, shared, own) < share
    hits, sizes = np.bincount(keys, right, 4).astype(int), np.bincount(keys, minlength=4)
    return exchange_p(hits.tolist(), sizes.tolist()) < 0.05


if __name__ == "__main__":
    main()
