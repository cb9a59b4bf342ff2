"""Compare ways to make the 95 % interval of a score where images have very unequal numbers of spans.

    nice python scripts/measure_unequal.py [--sets 1000]        # a minute

Its tables stand in docs/validation.md. An image has 1 to 40 spans: each number alike often, or few spans more
often (the logarithm of the number is uniform); or one image in twenty has 40, and every other one has 1. Spans are
recovered as in `measure_intervals.py`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from measure_intervals import chances

from vcrgen.stats.arrays import Floats
from vcrgen.stats.bootstrap import bootstrap_weights
from vcrgen.stats.intervals import NORMAL_QUANTILE, deviation, effective_groups, mean_interval

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


class Interval(NamedTuple):
    """The ends of the intervals of many sets."""

    low: Floats
    high: Floats


class Sets(NamedTuple):
    """Simulated test sets, each a column."""

    spans: Floats  # of each image
    right: Floats  # how many of them are recovered
    weights: Floats  # how often each resample draws each image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1000, help="simulated test sets for each figure")
    args = parser.parse_args()
    names = ("today's", "effective images", "cluster-robust t", "bootstrap-t")
    print(f"| spans | images | effective | exact match | correlation | {' | '.join(names)} |")
    print(f"|{'---|' * (5 + len(names))}")
    for law in LAWS:
        for images in law.images:
            for mean in law.means:
                for correlation in CORRELATIONS:
                    print(row(args.sets, law.name, images, mean, correlation), flush=True)


def row(sets: int, law: str, images: int, mean: float, correlation: float) -> str:
    """Coverage and mean width of each way, in percent."""
    coverage, widths, effective = [], [], []
    for seed in range(sets // TOGETHER):
        simulated = simulate(seed, law, images, mean, correlation)
        effective.append(effective_groups(simulated.spans).mean())
        intervals = list(ways(simulated))
        coverage.append([((low <= mean) & (mean <= high)).mean() for low, high in intervals])
        widths.append([(high - low).mean() for low, high in intervals])
    cells = zip(100 * np.mean(coverage, axis=0), 100 * np.mean(widths, axis=0), strict=True)
    shown = " | ".join(f"{share:.1f} ({width:.1f})" for share, width in cells)
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


def ways(sets: Sets) -> Iterator[Interval]:
    """The package's interval, the same with effective images, and two others."""
    images, total = len(sets.spans), sets.spans.sum(axis=0)
    means = sets.right.sum(axis=0) / total
    sums, counts = sets.weights @ sets.right, sets.weights @ sets.spans
    replicates = sums / counts
    sd = deviation(replicates)
    yield Interval(*mean_interval(means, sd, np.full(TOGETHER, images)))
    # The function takes whole groups for two things; only the weight of its pseudo-count is to change.
    effective = effective_groups(sets.spans)
    factor = np.sqrt(images / (images - 1) * (effective - 1) / effective)
    yield Interval(*mean_interval(means, sd * factor, effective))
    residuals = sets.right - means * sets.spans
    squares = (residuals**2).sum(axis=0)
    error = np.sqrt(squares * images / (images - 1)) / total
    degrees = np.maximum(squares**2 / np.maximum((residuals**4).sum(axis=0), 1e-12), 1)  # Satterthwaite's
    half = t_quantiles(degrees) * error
    yield Interval(np.maximum(means - half, 0), np.minimum(means + half, 1))
    squared = [sets.weights @ part for part in (sets.right**2, sets.right * sets.spans, sets.spans**2)]
    spread = np.maximum(squared[0] - 2 * replicates * squared[1] + replicates**2 * squared[2], 0)
    errors = np.sqrt(spread * images / (images - 1)) / counts
    scaled = np.divide(replicates - means, errors, out=np.zeros_like(errors), where=errors > 0)
    low, high = np.percentile(scaled, [2.5, 97.5], axis=0)
    yield Interval(np.maximum(means - high * error, 0), np.minimum(means - low * error, 1))


def t_quantiles(degrees: Floats) -> Floats:
    """As `vcrgen.stats.intervals.t_quantile`, for many degrees of freedom."""
    normal = NORMAL_QUANTILE * (8 * degrees + 3) / (8 * degrees + 1)
    quantiles: Floats = np.sqrt(degrees * np.expm1(normal**2 / degrees))
    return quantiles


if __name__ == "__main__":
    main()
