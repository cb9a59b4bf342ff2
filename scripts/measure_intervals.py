"""Measure the coverage of 95 % intervals of scores, and the false-positive rate of sign flips of equal models.

    python scripts/measure_intervals.py [--sets 20000] [--pairs 4000]

Its tables stand in docs/validation.md. Each figure is a share of simulated test sets. An image has 1 to 4
spans, as in VCR-WIKI; the spans of an image are recovered with a chance of its own, drawn from a beta distribution, so
that they are correlated by what is asked for. Jaccard is 1 for a recovered span and one of 0, 1/9, 1/4 and 3/7 for
another. The intervals are made by the package's own code from 1,000 resamples of images, the p-values from 2,048 flips.
Beside them stand Wilson intervals that take the spans as independent.
"""

import argparse
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vcrgen.stats.bootstrap import StoredGroupSums, bootstrap_means, group_means
from vcrgen.stats.intervals import deviation, mean_interval, wilson_interval
from vcrgen.stats.sign_flips import ALPHA, flip_p, flip_statistics, flipped_sums

Floats: TypeAlias = NDArray[np.float64]
SPANS, SHARES = (1, 2, 3, 4), (0.40, 0.43, 0.14, 0.03)  # of the 500 pairs in shared/data/wiki
MEANS = (0.5, 0.7, 0.9, 0.95, 0.97, 0.99)
IMAGES = (20, 50, 100, 200, 500)
CORRELATIONS = (0.0, 0.25, 0.5)
WRONG = (0, 1 / 9, 1 / 4, 3 / 7)
ALIKE = (0.0, 0.5, 0.9)  # share of the spans on which two models do the same
HIGH = 0.0505  # a share of equal models called different from which on it is measured again
TOGETHER = 500  # simulated sets that share the resamples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=20_000, help="simulated test sets for each figure")
    parser.add_argument("--pairs", type=int, default=4000, help="simulated pairs of equal models for each figure")
    args = parser.parse_args()
    print_head("exact match and Jaccard: intervals that hold the true mean, in percent")
    for images, correlation, cells in coverage(args.sets):
        print_row(images, correlation, cells)
    print_head("exact match: Wilson intervals over spans that hold the true mean, in percent")
    for images, correlation, cells in span_coverage(args.sets):
        print_row(images, correlation, cells)
    print_head(f"equal models that are called different, of pairs alike on {ALIKE} of the spans, in percent")
    high = []
    for images, correlation, cells in errors(range(args.pairs // TOGETHER)):
        print_row(images, correlation, cells)
        pairs = [(mean, alike) for mean in MEANS for alike in ALIKE]
        shares = [share for cell in cells for share in cell]
        high += [(images, correlation, *pair) for pair, share in zip(pairs, shares, strict=True) if share > HIGH]
    print(f"\nagain, {args.sets} other pairs each: images, correlation, mean, alike")
    others = range(args.pairs // TOGETHER, (args.pairs + args.sets) // TOGETHER)
    for cell in high:
        print(*cell, f"{100 * np.mean([differ(seed, *cell) for seed in others]):.2f}", flush=True)


def print_head(title: str) -> None:
    head = f"| images | correlation | {' | '.join(f'{mean:.0%}' for mean in MEANS)} |"
    print(f"\n{title}\n\n{head}\n|{'---:|' * (2 + len(MEANS))}")


def print_row(images: int, correlation: float, cells: list[list[float]]) -> None:
    shares = (" ".join(f"{100 * share:.1f}" for share in cell) for cell in cells)
    print(f"| {images} | {correlation} | {' | '.join(shares)} |", flush=True)


def coverage(sets: int) -> Iterator[tuple[int, float, list[list[float]]]]:
    """For each mean: how often the interval of exact match holds it, and that of Jaccard the mean of Jaccard."""
    for images in IMAGES:
        for correlation in CORRELATIONS:
            cells = []
            for mean in MEANS:
                truth = np.repeat((mean, mean + (1 - mean) * np.mean(WRONG)), TOGETHER)
                held = []
                for seed in range(sets // TOGETHER):
                    rng = np.random.default_rng((seed, images, int(100 * correlation), int(100 * mean)))
                    spans = rng.choice(SPANS, (images, TOGETHER), p=SHARES)
                    right = recovered(rng, spans, chances(rng, mean, correlation, spans.shape))
                    jaccard = np.where(right, 1, rng.choice(WRONG, right.shape))
                    low, high = intervals(np.hstack([summed(right, spans), summed(jaccard, spans)]), spans, seed)
                    held.append((low <= truth) & (truth <= high))
                cells.append(np.mean(held, axis=0).reshape(2, TOGETHER).mean(axis=1).tolist())
            yield images, correlation, cells


def span_coverage(sets: int) -> Iterator[tuple[int, float, list[list[float]]]]:
    """For each mean: how often the interval of exact match holds it if spans are taken as independent."""
    for images in IMAGES:
        for correlation in CORRELATIONS:
            yield images, correlation, [[held_by_spans(images, correlation, mean, sets)] for mean in MEANS]


def held_by_spans(images: int, correlation: float, mean: float, sets: int) -> float:
    """The share of sets whose Wilson interval of all spans holds the mean."""
    rng = np.random.default_rng((images, int(100 * correlation), int(100 * mean)))
    held = []
    for _ in range(sets // TOGETHER):
        spans = rng.choice(SPANS, (images, TOGETHER), p=SHARES)
        right = recovered(rng, spans, chances(rng, mean, correlation, spans.shape))
        counts = zip(summed(right, spans).sum(axis=0), spans.sum(axis=0), strict=True)
        bounds = [wilson_interval(float(hits / total), int(total)) for hits, total in counts]
        held += [low <= mean <= high for low, high in bounds]
    return float(np.mean(held))


def errors(seeds: range) -> Iterator[tuple[int, float, list[list[float]]]]:
    """For each mean: how often two equal models differ with p below 0.05, for each of ALIKE."""
    for images in IMAGES:
        for correlation in CORRELATIONS:
            cells = []
            for mean in MEANS:
                found = [[differ(seed, images, correlation, mean, alike) for seed in seeds] for alike in ALIKE]
                cells.append(np.mean(found, axis=1).tolist())
            yield images, correlation, cells


def differ(seed: int, images: int, correlation: float, mean: float, alike: float) -> float:
    """The share of pairs of equal models that are called different."""
    rng = np.random.default_rng((seed, images, int(100 * correlation), int(100 * mean), int(10 * alike)))
    spans = rng.choice(SPANS, (images, TOGETHER), p=SHARES)
    chance = chances(rng, mean, correlation, spans.shape)
    other = np.where(rng.random(spans.shape) < alike, chance, chances(rng, mean, correlation, spans.shape))
    ours, theirs = recovered(rng, spans, chance), recovered(rng, spans, other)
    same = (rng.random(ours.shape) < alike) & (chance == other)[..., None]
    lead = summed(ours, spans) - summed(np.where(same, ours, theirs), spans)
    statistics = flip_statistics(flipped_sums(lead, seed=seed, unit="image"))
    return float(np.mean([flip_p(pair, pair[0]) < ALPHA for pair in statistics]))


def chances(rng: np.random.Generator, mean: float, correlation: float, shape: tuple[int, ...]) -> Floats:
    """Of each image the chance of its spans to be recovered: their correlation is that of the beta binomial."""
    if not correlation:
        return np.full(shape, mean)
    size = 1 / correlation - 1
    return rng.beta(mean * size, (1 - mean) * size, shape)


def recovered(rng: np.random.Generator, spans: NDArray[Any], chance: Floats) -> NDArray[np.bool_]:
    """Images x sets x spans: whether each span is recovered."""
    drawn: NDArray[np.bool_] = rng.random((*spans.shape, max(SPANS))) < chance[..., None]
    return drawn


def summed(scores: NDArray[Any], spans: NDArray[Any]) -> Floats:
    """Images x sets: the sum over the spans that an image has."""
    there = np.arange(max(SPANS)) < spans[..., None]
    return np.where(there, scores, 0).sum(axis=2).astype(float)


def intervals(sums: Floats, spans: NDArray[Any], seed: int) -> tuple[Floats, Floats]:
    """The intervals of the means of every set."""
    groups = StoredGroupSums(sums, spans.astype(float), [*range(TOGETHER)] * 2)
    means, inside = group_means(groups)
    return mean_interval(means, deviation(bootstrap_means(groups, seed=seed, unit="image")), inside)


if __name__ == "__main__":
    main()
