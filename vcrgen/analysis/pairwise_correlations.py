"""Correlations of tasks over models, with intervals; missing scores are deleted pairwise, never imputed."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from vcrgen.analysis.correlations import resampled_pairs, standardise
from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.bootstrap import model_weights, percentile_interval
from vcrgen.stats.intervals import NORMAL_QUANTILE
from vcrgen.stats.paired import benjamini_hochberg

Method = Literal["pearson", "spearman", "kendall"]
FEWEST = 4  # models that a pair of tasks has to share
_BLOCK = 1 << 22  # numbers that are worked on at once


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
    every = np.concatenate([resampled_pairs(unit, once, rows[block], columns[block])[0] for block in blocks])
    r = np.where(shared < FEWEST, np.nan, every)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(r) * np.sqrt((shared - 2) / (1 - r**2))
        p = 2 * stdtr(shared - 2, -t)
    low, high = np.empty(len(rows)), np.empty(len(rows))
    size, failed = max(1, _BLOCK // (len(scores) + len(weights))), 0
    for start in range(0, len(rows), size):
        block = slice(start, start + size)
        replicates = resampled_pairs(unit, weights, rows[block], columns[block])
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
        half = NORMAL_QUANTILE * np.sqrt(variance)
        z = np.arctanh(r)
        return _Pairs(r=r, p=p, low=np.tanh(z - half), high=np.tanh(z + half))


def _rank_correlation(x: Floats, y: Floats, method: Method) -> tuple[float, float]:
    """A correlation and its p-value; NaN where there are few models or one does not vary."""
    from scipy import stats

    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan"), float("nan")
    result = (stats.spearmanr if method == "spearman" else stats.kendalltau)(x, y)
    return float(result.statistic), float(result.pvalue)
