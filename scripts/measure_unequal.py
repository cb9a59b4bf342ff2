"""Measure the 95 % intervals of a score where images have very unequal numbers of spans.

    nice python scripts/measure_unequal.py [--sets 1000]        # a minute

Its tables stand in docs/validation.md. An image has 1 to 40 spans: each number alike often, or few spans more
often (the logarithm of the number is uniform); or one image in twenty has 40, and every other one has 1. Spans are
recovered as in `measure_intervals.py`.
"""

import argparse
from typing import NamedTuple

import numpy as np
from measure_intervals import chances

from vcrgen.stats.arrays import Floats
from vcrgen.stats.bootstrap import bootstrap_weights
from vcrgen.stats.intervals import deviation, effective_groups, mean_interval

MOST = 40  # spans of an image
CORRELATIONS = (0.25, 0.5)
TOGETHER = 500  # simulated sets that share the resamples


class Law(NamedTuple):
    """How many spans images have, and what is simulated of it."""

    name: str
    images: tuple[int, ...]
    means: tuple[float, ...]


LAWS = (
    Law("uniform", (100, 500), (0.97, 0.99)),
    Law("few more often", (100, 500), (0.97, 0.99)),
    Law("one in twenty has 40", (100, 200, 500), (0.7, 0.9, 0.97, 0.99)),
)


class Sets(NamedTuple):
    """Simulated test sets, each a column."""

    spans: Floats  # of each image
    right: Floats  # how many of them are recovered
    weights: Floats  # how often each resample draws each image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1000, help="simulated test sets for each figure")
    args = parser.parse_args()
    print(f"| spans | images | effective | exact match | correlation | held (width) |\n|{'---|' * 6}")
    for law in LAWS:
        for images in law.images:
            for mean in law.means:
                for correlation in CORRELATIONS:
                    print(row(args.sets, law.name, images, mean, correlation), flush=True)


def row(sets: int, law: str, images: int, mean: float, correlation: float) -> str:
    """Coverage and mean width, in percent."""
    held, widths, effective = [], [], []
    for seed in range(sets // TOGETHER):
        simulated = simulate(seed, law, images, mean, correlation)
        effective.append(effective_groups(simulated.spans).mean())
        low, high = intervals(simulated)
        held.append(((low <= mean) & (mean <= high)).mean())
        widths.append((high - low).mean())
    shown = f"{100 * np.mean(held):.1f} ({100 * np.mean(widths):.1f})"
    return f"| {law} | {images} | {np.mean(effective):.0f} | {mean} | {correlation} | {shown} |"


def simulate(seed: int, law: str, images: int, mean: float, correlation: float) -> Sets:
    """Test sets with a true mean."""
    rng = np.random.default_rng((seed, images, int(1000 * mean), int(100 * correlation)))
    shape = images, TOGETHER
    if law == "uniform":
        spans = rng.integers(1, MOST + 1, shape).astype(float)
    else:
        drawn = rng.random(shape)
        spans = np.floor(MOST**drawn) if law == "few more often" else np.where(drawn < 0.05, float(MOST), 1.0)
    right = rng.binomial(spans.astype(int), chances(rng, mean, correlation, shape)).astype(float)
    weights = np.concatenate([block.copy() for block in bootstrap_weights(images, seed=seed, unit="image")])
    return Sets(spans, right, weights.astype(float))


def intervals(sets: Sets) -> tuple[Floats, Floats]:
    """The ends of the package's intervals."""
    means = sets.right.sum(axis=0) / sets.spans.sum(axis=0)
    replicates = (sets.weights @ sets.right) / (sets.weights @ sets.spans)
    return mean_interval(means, deviation(replicates), np.full(TOGETHER, len(sets.spans)))


if __name__ == "__main__":
    main()
