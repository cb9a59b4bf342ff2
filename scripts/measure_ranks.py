"""Measure ranges of ranks and p-values of boards whose true ranks are known.

    nice python scripts/measure_ranks.py [--boards 400] [--pairs 4000]        # some 15 minutes

Its tables stand in docs/validation.md. All figures are by the package's own sign flips; beside them stand
those of the 95 % intervals of single pairs. An image has 1 to 4 spans, as in VCR-WIKI. All models find the same images
hard: the chance of a model on an image is a quantile of a beta distribution about its own mean, the same quantile for
all models, so that the spans of an image correlate by .25.
"""

from __future__ import annotations

import argparse
from functools import cache
from typing import NamedTuple

import numpy as np
from measure_intervals import SHARES, SPANS

from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.stats.bootstrap import StoredGroupSums, bootstrap_means, group_means
from vcrgen.stats.intervals import deviation, paired_interval
from vcrgen.stats.ranking import RankRange, rank_ranges
from vcrgen.stats.sign_flips import ALPHA, FLIPS, critical_value, flip_p, flip_statistics, flipped_sums, pair_statistics

MODELS, IMAGES, MEANS = (2, 10, 20, 50), (40, 200, 1000), (0.7, 0.97)
LOWEST, HIGHEST = 0.5, 0.95  # true means of unequal models, evenly spaced
CORRELATION = 0.25
QUANTILES = np.linspace(0.0005, 0.9995, 1000)
# images, the mean of either model, spans an image (None: those of VCR-WIKI)
PAIRS = (
    (200, 0.99, 0.97, 5),
    (200, 0.99, 0.97, None),
    (30, 0.9, 0.8, 5),
    (30, 0.9, 0.8, None),
    (100, 0.97, 0.97, 5),
    (100, 0.97, 0.97, None),
    (1000, 0.97, 0.97, None),
    (100, 0.7, 0.7, None),
)
TOGETHER = 200  # pairs that share the resamples


class Table(NamedTuple):
    """One simulated board."""

    sums: Floats  # images x models
    spans: Ints  # of each image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=400, help="simulated boards for each figure")
    parser.add_argument("--pairs", type=int, default=4000, help="simulated pairs of models for each figure")
    args = parser.parse_args()
    print(f"single pairs, {args.pairs} each: significant by sign flips, by the interval, in percent\n")
    print("| images | spans an image | mean A | mean B | sign flips | interval |\n|---:|---:|---:|---:|---:|---:|")
    for images, a, b, spans in PAIRS:
        flips, interval = np.mean(
            [single_pairs(seed, images, a, b, spans) for seed in range(args.pairs // TOGETHER)], 0
        )
        shown = f"{100 * flips:.1f} | {100 * interval:.1f}"
        print(f"| {images} | {spans or '1 to 4'} | {a} | {b} | {shown} |", flush=True)
    print(f"\nequal models, {args.boards} boards each: any range without rank 1, by sign flips and by intervals\n")
    print(f"| models | images | {' | '.join(f'{mean}: flips | intervals' for mean in MEANS)} |")
    print(f"|{'---:|' * (2 + 2 * len(MEANS))}")
    for models in MODELS:
        for images in IMAGES:
            shares = [equal_boards(args.boards, models, images, mean) for mean in MEANS]
            print(f"| {models} | {images} | {' | '.join(f'{100 * share:.1f}' for pair in shares for share in pair)} |")
    print(f"\nunequal models, {LOWEST} to {HIGHEST}, {args.boards} boards each, sign flips | intervals\n")
    print("| models | images | all ranges hold | mean width | pairs told apart | all ranges hold | mean width |")
    print(f"|{'---:|' * 7}")
    for models in MODELS:
        for images in IMAGES:
            print(f"| {models} | {images} | {unequal_boards(args.boards, models, images)} |", flush=True)


def equal_boards(boards: int, models: int, images: int, mean: float) -> tuple[float, float]:
    """The share of boards on which some range leaves out rank 1, by sign flips and by single intervals."""
    found = []
    for seed in range(boards):
        table = simulated(seed, images, (mean,) * models)
        found.append(
            [any(row.rank > 1 for row in ranges) for ranges in (by_flips(table, seed), by_intervals(table, seed))]
        )
    flips, intervals = np.mean(found, axis=0)
    return float(flips), float(intervals)


def unequal_boards(boards: int, models: int, images: int) -> str:
    """A row of the table: of sign flips and of intervals."""
    means = tuple(np.linspace(HIGHEST, LOWEST, models).tolist())
    methods: list[list[list[RankRange]]] = [[], []]
    for seed in range(boards):
        table = simulated(seed, images, means)
        for method, ranges in zip(methods, (by_flips(table, seed), by_intervals(table, seed)), strict=True):
            method.append(ranges)
    held, widths = [], []
    for method in methods:
        ends = np.array(method)  # boards x models x 2
        true = np.arange(1, models + 1)
        held.append(((ends[..., 0] <= true) & (true <= ends[..., 1])).all(axis=1).mean())
        widths.append((ends[..., 1] - ends[..., 0] + 1).mean())
    apart = (models - widths[0]) / max(models - 1, 1)
    return f"{100 * held[0]:.1f} | {widths[0]:.1f} | {100 * apart:.0f} | {100 * held[1]:.1f} | {widths[1]:.1f}"


def by_flips(table: Table, seed: int) -> list[RankRange]:
    """The ranges of ranks as boards have them."""
    sums = flipped_sums(table.sums, seed=seed, unit="image")
    models = len(sums)
    maxima, signed = np.zeros(FLIPS), []
    for number in range(1, models):
        pairs = pair_statistics(sums[number], sums[:number])
        signed.append(pairs.signed)
        np.maximum(maxima, pairs.maxima, out=maxima)
    second, first = np.triu_indices(models, 1)
    order = np.lexsort((second, first))  # the pairs of each model with those before it
    return rank_ranges(models, first[order], second[order], np.concatenate(signed), critical_value(maxima))


def by_intervals(table: Table, seed: int) -> list[RankRange]:
    """The ranges of ranks by the 95 % intervals of single pairs."""
    images, models = table.sums.shape
    groups = StoredGroupSums(table.sums, table.spans[:, None].astype(float), [0] * models)
    means, _ = group_means(groups)
    resampled = bootstrap_means(groups, seed=seed, unit="image")
    ranges = []
    for number in range(models):
        low, high = paired_interval(means - means[number], deviation(resampled - resampled[:, [number]]), images)
        ranges.append(RankRange(1 + int((low > 0).sum()), models - int((high < 0).sum())))
    return ranges


def single_pairs(seed: int, images: int, a: float, b: float, spans: int | None) -> tuple[float, float]:
    """The share of pairs of models that differ significantly, by sign flips and by the interval.

    With a number of spans an image they are independent, else correlated.
    """
    rng = np.random.default_rng((seed, images, int(100 * a), int(100 * b)))
    if spans:
        counts = np.full((images, TOGETHER), spans)
        right = [rng.binomial(counts, mean).astype(float) for mean in (a, b)]
    else:
        counts = rng.choice(SPANS, (images, TOGETHER), p=SHARES)
        level = rng.random(counts.shape)
        right = [rng.binomial(counts, chance_at(level, mean)).astype(float) for mean in (a, b)]
    statistics = flip_statistics(flipped_sums(right[0] - right[1], seed=seed, unit="image"))
    by_p: Bits = np.array([flip_p(pair, pair[0]) < ALPHA for pair in statistics])
    groups = StoredGroupSums(np.hstack(right), counts.astype(float), [*range(TOGETHER)] * 2)
    means, _ = group_means(groups)
    resampled = bootstrap_means(groups, seed=seed, unit="image")
    sd = deviation(resampled[:, :TOGETHER] - resampled[:, TOGETHER:])
    low, high = paired_interval(means[:TOGETHER] - means[TOGETHER:], sd, images)
    return float(by_p.mean()), float(((low > 0) | (high < 0)).mean())


def simulated(seed: int, images: int, means: tuple[float, ...]) -> Table:
    """A board of models with these true means."""
    rng = np.random.default_rng((seed, images, len(means), int(1000 * means[-1])))
    spans = rng.choice(SPANS, images, p=SHARES)
    level = rng.random(images)
    chances = np.column_stack([chance_at(level, mean) for mean in means])
    return Table(rng.binomial(spans[:, None], chances).astype(float), spans)


def chance_at(level: Floats, mean: float) -> Floats:
    """The chances of a model with a mean on images of these quantiles of difficulty."""
    return np.interp(level, QUANTILES, beta_quantiles(mean))


@cache
def beta_quantiles(mean: float) -> Floats:
    """The quantiles of the beta distribution with a mean and the correlation of all simulations."""
    from scipy.stats import beta

    size = 1 / CORRELATION - 1
    quantiles: Floats = beta.ppf(QUANTILES, mean * size, (1 - mean) * size)
    return quantiles


if __name__ == "__main__":
    main()
