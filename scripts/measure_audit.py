"""Empirical coverage of the 95 % interval of an audit.

    python scripts/measure_audit.py [--sets 2000]

Its table stands in docs/validation.md. Each set has the 7,747 items and 106 categories of BloomBench, of
which 969 are drawn as `vcrgen bloom audit draw` draws them. Items are in order with the chance in the first column:
equal rates, or a rate of its own for each category (a beta distribution, so that some are much worse), or all errors in
ten categories. The interval is the package's own.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from vcrgen.stats.strata import Stratum, allocate, stratified_mean

COUNTS = Path(__file__).resolve().parents[1].parent / "shared/data/papers/bloom_taxonomy.csv"
RATES = (950 / 969, 0.9845, 0.95, 0.9)
ITEMS, LEAST, SEVERAL = 969, 4, 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=2000, help="simulated sets for each figure")
    parser.add_argument(
        "--counts", type=Path, default=COUNTS, help="CSV with the items of each category (column count)"
    )
    args = parser.parse_args()
    with args.counts.open(encoding="utf-8") as file:
        sizes = [int(row["count"]) for row in csv.DictReader(file)]
    print("| in order | equal rates | categories differ | errors in ten categories |\n|---:|---:|---:|---:|")
    for rate in RATES:
        cells = [f"{100 * coverage(sizes, rate, how, args.sets):.1f}" for how in ("alike", "differ", "ten")]
        print(f"| {100 * rate:.2f} % | {' | '.join(cells)} |", flush=True)


def coverage(sizes: list[int], rate: float, how: str, sets: int) -> float:
    """Return the share of simulated sets whose interval holds the true rate."""
    rng = np.random.default_rng([round(1e6 * rate), len(how)])
    counts, held = allocate(sizes, ITEMS, LEAST), 0
    for _ in range(sets):
        chances = np.full(len(sizes), rate)
        if how == "differ":
            chances = rng.beta(8 * rate, 8 * (1 - rate), len(sizes))
        elif how == "ten":
            some = rng.choice(len(sizes), SEVERAL, replace=False)
            chances[:] = 1
            chances[some] = 1 - min(1, (1 - rate) * sum(sizes) / sum(sizes[at] for at in some))
        whole = [rng.random(size) < chance for size, chance in zip(sizes, chances, strict=True)]
        strata = [
            Stratum(len(items), rng.choice(items, count, replace=False).astype(float).tolist())
            for items, count in zip(whole, counts, strict=True)
        ]
        found = stratified_mean(strata)
        assert found
        held += found.low <= np.concatenate(whole).mean() <= found.high
    return held / sets


if __name__ == "__main__":
    main()
