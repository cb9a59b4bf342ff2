"""Correlations of tasks over models, with intervals; missing scores are deleted pairwise, never imputed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vcrgen.core.errors import AnalysisError
from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.stats.bootstrap import bootstrap_weights
from vcrgen.stats.paired import benjamini_hochberg

Method = Literal["pearson", "spearman", "kendall"]
MOST_FAILED = 0.05  # share of resamples that may fail; beyond it there is no interval
FEWEST = 4  # models that a pair of tasks has to share
_BLOCK = 1 << 22  # numbers that are worked on at once
_NOTHING = 1e-12  # a variance that is nothing but rounding, of scores with variance 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseCorrelations:
    """Correlations of all pairs of tasks; arrays are tasks x tasks, NaN where there is none."""

    method: Method
    r: Floats
    n: Ints  # models that have scores of both
    p: Floats  # two-sided p-value of no association; NaN on the diagonal
    adjusted: Floats  # the same, adjusted for the number of pairs by Benjamini and Hochberg
    low: Floats  # lower end of the 95 % interval
    high: Floats
    failed: int = 0  # of the resamples, those without a correlation of one pair: of the pair that has most


def pairwise(
    scores: Floats, *, method: Method = "pearson", seed: int = 0, draws: int = 2000, groups: Ints | None = None
) -> PairwiseCorrelations:
    """The correlations of all pairs, each over the models that have both scores.

    The interval of Pearson's r is the percentile interval of resampled models. That of Spearman's (Bonett and Wright,
    2000) and of Kendall's tau-b (Fieller, Hartley and Pearson, 1957) is that of Fisher's z.

    Args:
        scores: Models x tasks, NaN for what is missing.
        method: Which correlation.
        seed: Of the resamples.
        draws: How many resamples.
        groups: Of each model the number of its family, which is drawn as a whole.
    """
    present = np.isfinite(scores)
    n = present.T.astype(np.int64) @ present.astype(np.int64)
    tasks = scores.shape[1]
    if method == "pearson":
        pairs = _pearson_pairs(scores, n, model_weights(len(scores), seed=seed, draws=draws, groups=groups))
    else:
        pairs = _rank_pairs(scores, n, method)
    return PairwiseCorrelations(
        method=method,
        r=_symmetric(tasks, pairs.r, 1.0),
        n=n,
        p=_symmetric(tasks, pairs.p),
        adjusted=_symmetric(tasks, benjamini_hochberg(pairs.p)),
        low=_symmetric(tasks, pairs.low),
        high=_symmetric(tasks, pairs.high),
        failed=pairs.failed,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
    """Correlations of pairs of tasks; arrays have a value for each pair, in the order of `np.triu_indices`."""

    r: Floats
    p: Floats
    low: Floats
    high: Floats
    failed: int = 0  # as in `PairwiseCorrelations`


def _symmetric(tasks: int, values: Floats, diagonal: float = np.nan) -> Floats:
    """Tasks x tasks: the values of all pairs, on either side of the diagonal."""
    rows, columns = np.triu_indices(tasks, 1)
    matrix = np.full((tasks, tasks), diagonal)
    matrix[rows, columns] = matrix[columns, rows] = values
    return matrix


def _pearson_pairs(scores: Floats, n: Ints, weights: Floats) -> _Pairs:
    """Pearson's r with p-values by Student's t; NaN where there are few models or one task does not vary."""
    from scipy.special import stdtr

    rows, columns = np.triu_indices(scores.shape[1], 1)
    shared = n[rows, columns]
    once = np.ones((1, len(scores)))
    size = max(1, _BLOCK // len(scores))
    blocks = [slice(start, start + size) for start in range(0, len(rows), size)]
    unit = standardise(scores)
    every = np.concatenate([_resampled_pairs(unit, once, rows[block], columns[block])[0] for block in blocks])
    r = np.where(shared < FEWEST, np.nan, every)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(r) * np.sqrt((shared - 2) / (1 - r**2))
        p = 2 * stdtr(shared - 2, -t)
    low, high = np.empty(len(rows)), np.empty(len(rows))
    size, failed = max(1, _BLOCK // (len(scores) + len(weights))), 0
    for start in range(0, len(rows), size):
        block = slice(start, start + size)
        replicates = _resampled_pairs(unit, weights, rows[block], columns[block])
        low[block], high[block] = percentile_interval(replicates)
        failed = max(failed, int(np.isnan(replicates).sum(axis=0).max()))
    return _Pairs(r=r, p=p, low=low, high=high, failed=failed)


def _rank_pairs(scores: Floats, n: Ints, method: Method) -> _Pairs:
    """Spearman's or Kendall's correlation, with intervals by Fisher's z."""
    rows, columns = np.triu_indices(scores.shape[1], 1)
    present = np.isfinite(scores)
    correlations = []
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        shared = present[:, i] & present[:, j]
        correlations.append(_rank_correlation(scores[shared, i], scores[shared, j], method))
    r, p = np.array(correlations).T
    models = n[rows, columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (1 + r**2 / 2) / (models - 3) if method == "spearman" else 0.437 / (models - 4)
        half = 1.959964 * np.sqrt(variance)
        z = np.arctanh(r)
        return _Pairs(r=r, p=p, low=np.tanh(z - half), high=np.tanh(z + half))


def _rank_correlation(x: Floats, y: Floats, method: Method) -> tuple[float, float]:
    """A correlation and its p-value; NaN where there are few models or one does not vary."""
    from scipy import stats

    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan"), float("nan")
    result = (stats.spearmanr if method == "spearman" else stats.kendalltau)(x, y)
    return float(result.statistic), float(result.pvalue)


def correlation_matrix(scores: Floats) -> Floats:
    """Pearson's r of all pairs of tasks; scores are models x tasks, none missing."""
    return np.asarray(np.corrcoef(scores, rowvar=False))


def model_weights(models: int, *, seed: int, draws: int, groups: Ints | None = None) -> Floats:
    """How often each resample draws each model, draws x models; models of one group are drawn together."""
    number = models if groups is None else int(groups.max()) + 1
    drawn = np.concatenate([block.copy() for block in bootstrap_weights(number, seed=seed, unit="model", draws=draws)])
    return (drawn if groups is None else drawn[:, groups]).astype(np.float64)


def resampled_correlations(scores: Floats, weights: Floats) -> Iterator[Floats]:
    """The correlation matrices of resamples, some at a time: draws x tasks x tasks.

    A pair of which one task does not vary in a resample, or that has no models in common there, has NaN.

    Args:
        scores: Models x tasks; a pair of tasks goes by the models that have both scores.
        weights: As `model_weights` gives them.
    """
    tasks = scores.shape[1]
    rows, columns = np.triu_indices(tasks, 1)
    unit = standardise(scores)
    size = max(1, _BLOCK // max(len(rows), len(scores), 1))
    for start in range(0, len(weights), size):
        block = weights[start : start + size]
        replicates = np.empty((len(block), tasks, tasks))
        replicates[:, range(tasks), range(tasks)] = 1
        replicates[:, rows, columns] = replicates[:, columns, rows] = _resampled_pairs(unit, block, rows, columns)
        yield replicates


def _resampled_pairs(unit: Floats, weights: Floats, rows: Ints, columns: Ints) -> Floats:
    """Draws x pairs: correlations over the models that have both scores."""
    present = np.isfinite(unit)
    if present.all():
        count = weights.sum(axis=1, keepdims=True)
        sums = weights @ unit / count
        squares = weights @ unit**2 / count - sums**2
        x, y, xx, yy = sums[:, rows], sums[:, columns], squares[:, rows], squares[:, columns]
        xy = weights @ (unit[:, rows] * unit[:, columns]) / count - x * y
        return _ratio(xy, xx, yy)
    both = (present[:, rows] & present[:, columns]).astype(np.float64)
    filled = np.where(present, unit, 0.0)  # a missing score counts with the weight 0
    first, second = filled[:, rows] * both, filled[:, columns] * both
    with np.errstate(invalid="ignore", divide="ignore"):
        count = weights @ both
        x, y = weights @ first / count, weights @ second / count
        xx, yy = weights @ first**2 / count - x**2, weights @ second**2 / count - y**2
        return _ratio(weights @ (first * second) / count - x * y, xx, yy)


def _ratio(xy: Floats, xx: Floats, yy: Floats) -> Floats:
    varies: Bits = (xx > _NOTHING) & (yy > _NOTHING)
    with np.errstate(invalid="ignore", divide="ignore"):
        r: Floats = np.where(varies, np.clip(xy / np.sqrt(np.where(varies, xx * yy, 1)), -1, 1), np.nan)
    return r


def standardise(scores: Floats, like: Floats | None = None) -> Floats:
    """Scores with mean 0 and variance 1 of every task, or with the mean and variance of other models' scores.

    So sums of their squares lose no digits.
    """
    like = scores if like is None else like
    spread = np.nanstd(like, axis=0)
    z_scores: Floats = (scores - np.nanmean(like, axis=0)) / np.where(spread > 0, spread, 1)
    return z_scores


def percentile_interval(values: Floats, *, low: float = 2.5, high: float = 97.5) -> tuple[Floats, Floats]:
    """Both ends of percentile intervals over the first axis; NaN where more than 5 % of the resamples failed."""
    failed = np.isnan(values).mean(axis=0) > MOST_FAILED
    safe = np.where(np.isnan(values).all(axis=0), 0.0, values)
    ends = np.nanpercentile(safe, [low, high], axis=0)
    return np.where(failed, np.nan, ends[0]), np.where(failed, np.nan, ends[1])


def require_varied(scores: Floats, tasks: Sequence[str]) -> None:
    """Reject a task without variance over models."""
    for number, task in enumerate(tasks):
        present = scores[np.isfinite(scores[:, number]), number]
        if len(present) == 0 or np.ptp(present) == 0:
            what = "has no score" if len(present) == 0 else "has the same score for all models"
            raise AnalysisError(f"The task {task!r} {what}, so it correlates with nothing; take it out.")
