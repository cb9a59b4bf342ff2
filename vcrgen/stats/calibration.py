"""Calibration: reliability curve, expected calibration error (ECE), Brier score.

Example: of the answers with a confidence of 80 %, 60 % are correct, so the model is overconfident by 20 points. The
curve has such a point for each bin of confidence. The ECE is the mean distance of these points from the diagonal,
weighted by their answers. It is above 0 even for a calibrated model, whose expected ECE is given as ``by_chance``.
"""

import math
from typing import NamedTuple

import numpy as np

from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.bootstrap import StoredGroupSums, bootstrap_means, group_means
from vcrgen.stats.intervals import sd_and_intervals

BINS = 10


class Bin(NamedTuple):
    """Answers with a confidence from ``start`` to below ``end``; the last bin includes its end."""

    start: float
    end: float
    items: int  # how many answers
    confidence: float  # their mean probability
    right: float  # the share of them that are right
    low: float  # lower end of the 95 % interval of this share
    high: float


class ReliabilityCurve(NamedTuple):
    """Reliability curve of the confidences of answers, with summary scores."""

    bins: list[Bin]  # those that hold an answer
    error: float  # expected calibration error, as a share
    by_chance: float  # expected ECE of a calibrated model
    confidence: float  # mean probability of all answers
    right: float  # share of all answers that are right
    brier: float  # mean of the Brier scores of the answers; 0 is best
    items: int  # how many answers


def reliability_curve(
    confidence: Floats, right: Floats, brier: Floats, groups: Ints, *, seed: int
) -> ReliabilityCurve | None:
    """Compute the reliability curve, in ten bins of equal width.

    Args:
        confidence: Of each answer the probability from 0 to 1 that the model gave it; NaN where there is none.
        right: 1 where it is right, else 0.
        groups: The number of the picture (or whatever is resampled) that it belongs to.
        seed: Of the resamples of pictures that intervals come from.

    Returns:
        None where no answer has a probability.
    """
    finite = np.isfinite(confidence) & np.isfinite(right) & np.isfinite(brier)
    if not finite.any():
        return None
    confidence, right, brier = confidence[finite], right[finite], brier[finite]
    group = np.unique(groups[finite], return_inverse=True)[1]
    numbers, where = np.unique(np.minimum((confidence * BINS).astype(int), BINS - 1), return_inverse=True)
    shape = (int(group.max()) + 1, len(numbers))
    counts, sums = (
        np.bincount(group * len(numbers) + where, weights, math.prod(shape)).reshape(shape).astype(float)
        for weights in (None, right)
    )
    bin_sums = StoredGroupSums(sums, counts, list(range(len(numbers))))
    shares, pictures = group_means(bin_sums)
    ends = sd_and_intervals(shares, bootstrap_means(bin_sums, seed=seed, unit="image"), pictures)
    bins, total = [], len(confidence)
    error = by_chance = 0.0
    for column, number in enumerate(numbers.tolist()):
        inside = where == column
        count, mean, share = int(inside.sum()), float(confidence[inside].mean()), float(shares[column])
        bins.append(Bin(number / BINS, (number + 1) / BINS, count, mean, share, ends[column].low, ends[column].high))
        error += count * abs(share - mean) / total
        # The mean distance of a normal variable from its mean is sqrt(2 / pi) of its standard deviation.
        by_chance += math.sqrt(2 / math.pi * float((confidence[inside] * (1 - confidence[inside])).sum())) / total
    return ReliabilityCurve(
        bins, error, by_chance, float(confidence.mean()), float(right.mean()), float(brier.mean()), total
    )
