"""Measure ranges of ranks of boards whose true ranks are known.

    nice python scripts/measure_ranks.py [--boards 250]        # some minutes

Its tables stand in docs/validation.md. All figures are by the package's own sign flips. An image has 1 to 4 spans, as
in VCR-WIKI. All models find the same images hard: the chance of a model on an image is a quantile of a beta
distribution about its own mean, the same quantile for all models, so that the spans of an image correlate by .25.
"""

import argparse
from functools import cache
from itertools import product

import numpy as np
from measure_intervals import SHARES, SPANS

from vcrgen.stats.arrays import Floats
from vcrgen.stats.ranking import RankRange, rank_ranges
from vcrgen.stats.sign_flips import FLIPS, critical_value, flipped_sums, pair_statistics

MODELS, IMAGES, MEANS = (2, 10, 20, 50), (40, 200, 1000), (0.7, 0.97)
LOWEST, HIGHEST = 0.5, 0.95  # true means of unequal models, evenly spaced
CORRELATION = 0.25
QUANTILES = np.linspace(0.0005, 0.9995, 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=250, help="simulated boards for each figure")
    boards = parser.parse_args().boards
    print(f"equal models, {boards} boards each: any range without rank 1, in percent\n")
    print(f"| models | images | {' | '.join(map(str, MEANS))} |\n|{'---:|' * (2 + len(MEANS))}")
    for models, images in product(MODELS, IMAGES):
        shares = (f"{100 * equal_boards(boards, models, images, mean):.1f}" for mean in MEANS)
        print(f"| {models} | {images} | {' | '.join(shares)} |", flush=True)
    print(f"\nunequal models, {LOWEST} to {HIGHEST}, {boards} boards each\n")
    print(f"| models | images | all ranges hold | mean width | pairs told apart |\n|{'---:|' * 5}")
    for models, images in product(MODELS, IMAGES):
        print(f"| {models} | {images} | {unequal_boards(boards, models, images)} |", flush=True)


def equal_boards(boards: int, models: int, images: int, mean: float) -> float:
    """The share of boards on which some range leaves out rank 1."""
    ranges = (ranges_of(simulated(seed, images, (mean,) * models), seed) for seed in range(boards))
    return float(np.mean([any(row.rank > 1 for row in rows) for rows in ranges]))


def unequal_boards(boards: int, models: int, images: int) -> str:
    """The cells of a row of the table."""
    means = tuple(np.linspace(HIGHEST, LOWEST, models).tolist())
    ends = np.array([ranges_of(simulated(seed, images, means), seed) for seed in range(boards)])  # boards x models x 2
    true = np.arange(1, models + 1)
    held = ((ends[..., 0] <= true) & (true <= ends[..., 1])).all(axis=1).mean()
    width = (ends[..., 1] - ends[..., 0] + 1).mean()
    return f"{100 * held:.1f} | {width:.1f} | {100 * (models - width) / max(models - 1, 1):.0f}"


def ranges_of(sums: Floats, seed: int) -> list[RankRange]:
    """The ranges of ranks as boards have them, of images x models."""
    sums = flipped_sums(sums, seed=seed, unit="image")
    models = len(sums)
    maxima, signed = np.zeros(FLIPS), []
    for number in range(1, models):
        pairs = pair_statistics(sums[number], sums[:number])
        signed.append(pairs.signed)
        np.maximum(maxima, pairs.maxima, out=maxima)
    second, first = np.triu_indices(models, 1)
    order = np.lexsort((second, first))  # the pairs of each model with those before it
    return rank_ranges(models, first[order], second[order], np.concatenate(signed), critical_value(maxima))


def simulated(seed: int, images: int, means: tuple[float, ...]) -> Floats:
    """The spans that each model with one of these true means recovers of each image: images x models."""
    rng = np.random.default_rng((seed, images, len(means), int(1000 * means[-1])))
    spans = rng.choice(SPANS, images, p=SHARES)
    level = rng.random(images)
    chances = np.column_stack([chance_at(level, mean) for mean in means])
    return rng.binomial(spans[:, None], chances).astype(float)


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
