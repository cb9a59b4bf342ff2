"""Ranks and correlations of plain numbers, and the correlation matrices of bootstrap replicates."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from vcrgen.analysis.em_covariance import em_correlations, resampled_em_correlations
from vcrgen.core.products import product
from vcrgen.stats.arrays import Bits, Floats, Ints

_ROUNDING = 1e-12  # a range or a variance that is nothing but rounding, of scores with variance 1
_DECIMALS = 12  # to which values are compared: processors sum differently
_BLOCK = 1 << 22  # numbers that are worked on at once


def ranks(values: Floats) -> Ints:
    """Ranks from 1 along the last axis, the highest value first; equal values share the best of their ranks."""
    return _count_above(values, "left") + 1


def spearman(a: Floats, b: Floats) -> float:
    """Spearman's rank correlation; equal values share the mean of their ranks, NaN where one does not vary."""
    first, second = (_count_above(values, "left") + _count_above(values, "right") for values in (a, b))
    return pearson(first, second)


def pearson(a: Floats | Ints, b: Floats | Ints) -> float:
    """Pearson's r; NaN where one does not vary."""
    if len(a) < 2 or min(np.ptp(a), np.ptp(b)) < _ROUNDING:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _count_above(values: Floats, side: Literal["left", "right"]) -> Ints:
    """Count along the last axis the values that are larger or, of the side ``right``, not smaller."""
    if values.ndim > 1:
        return np.stack([_count_above(row, side) for row in values])
    rounded = -np.round(values, _DECIMALS)
    return np.searchsorted(np.sort(rounded), rounded, side=side).astype(np.int64)


def standardise(scores: Floats, like: Floats | None = None) -> Floats:
    """Scores with mean 0 and variance 1 of every column, so that sums of squares lose no digits; NaN stays.

    Args:
        scores: Models x tasks.
        like: Scores of other models, whose mean and variance are taken.
    """
    like = scores if like is None else like
    sd = np.nanstd(like, axis=0)
    z_scores: Floats = (scores - np.nanmean(like, axis=0)) / np.where(sd > 0, sd, 1)
    return z_scores


def correlation_matrix(scores: Floats) -> Floats:
    """Pearson's r of all pairs of tasks, by EM where scores (models x tasks) are missing."""
    if not np.isfinite(scores).all():
        return em_correlations(standardise(scores))
    return np.asarray(np.corrcoef(scores, rowvar=False))


def resampled_correlations(scores: Floats, weights: Floats) -> Iterator[Floats]:
    """`correlation_matrix` of each replicate, tasks x tasks; NaN for a task that does not vary in it.

    Args:
        scores: Models x tasks, NaN for what is missing.
        weights: Replicates x models: how often each is drawn.
    """
    if np.isfinite(scores).all():
        return resampled_pairwise(scores, weights)
    return resampled_em_correlations(standardise(scores), weights)


def resampled_pairwise(scores: Floats, weights: Floats) -> Iterator[Floats]:
    """The correlation matrix of each replicate, tasks x tasks.

    A pair of which one task does not vary in a replicate, or that has no models in common there, has NaN.

    Args:
        scores: Models x tasks; a pair of tasks goes by the models that have both scores.
        weights: Replicates x models: how often each is drawn.
    """
    tasks = scores.shape[1]
    rows, columns = np.triu_indices(tasks, 1)
    unit = standardise(scores)
    size = max(1, _BLOCK // max(len(rows), len(scores), 1))
    for start in range(0, len(weights), size):
        for values in resampled_pairs(unit, weights[start : start + size], rows, columns):
            matrix = np.eye(tasks)
            matrix[rows, columns] = matrix[columns, rows] = values
            yield matrix


def resampled_pairs(unit: Floats, weights: Floats, rows: Ints, columns: Ints) -> Floats:
    """Replicates x pairs: correlations over the models that have both scores.

    Args:
        unit: Models x tasks, standardised, NaN for what is missing.
        weights: Replicates x models: how often each is drawn.
        rows: Of each pair the first task.
        columns: Of each pair the second task.
    """
    present = np.isfinite(unit)
    if present.all():
        count = weights.sum(axis=1, keepdims=True)
        means = product(weights, unit) / count
        variances = product(weights, unit**2) / count - means**2
        products = product(weights, unit[:, rows] * unit[:, columns]) / count
        covariances = products - means[:, rows] * means[:, columns]
        return _ratio(covariances, variances[:, rows], variances[:, columns])
    both = (present[:, rows] & present[:, columns]).astype(np.float64)
    filled = np.where(present, unit, 0.0)  # a missing score counts with the weight 0
    first, second = filled[:, rows] * both, filled[:, columns] * both
    with np.errstate(invalid="ignore", divide="ignore"):
        count = product(weights, both)
        x, y = product(weights, first) / count, product(weights, second) / count
        xx, yy = product(weights, first**2) / count - x**2, product(weights, second**2) / count - y**2
        return _ratio(product(weights, first * second) / count - x * y, xx, yy)


def _ratio(xy: Floats, xx: Floats, yy: Floats) -> Floats:
    """Correlations of covariances and variances; rounding may leave one a little beyond 1, which is clipped."""
    varies: Bits = (xx > _ROUNDING) & (yy > _ROUNDING)
    with np.errstate(invalid="ignore", divide="ignore"):
        r: Floats = np.where(varies, np.clip(xy / np.sqrt(np.where(varies, xx * yy, 1)), -1, 1), np.nan)
    return r
