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
    rows, columns = np.triu_indices(tasks, 1)
    if method == "pearson":
        found = _pearson_pairs(scores, rows, columns, n[rows, columns])
    else:
        indices = list(zip(rows.tolist(), columns.tolist(), strict=True))
        both = [present[:, i] & present[:, j] for i, j in indices]
        pairs = [
            _rank_correlation(scores[kept, i], scores[kept, j], method)
            for (i, j), kept in zip(indices, both, strict=True)
        ]
        found = tuple(np.array(pairs).T)
    failed = 0
    if method == "pearson":
        *ends, failed = _percentile_ends(scores, rows, columns, seed=seed, draws=draws, groups=groups)
    else:
        ends = _analytic_ends(found[0], n[rows, columns], method)
    p, adjusted, low, high = (_symmetric(tasks, each) for each in (found[1], benjamini_hochberg(found[1]), *ends))
    return PairwiseCorrelations(
        method=method,
        r=_symmetric(tasks, found[0], 1.0),
        n=n,
        p=p,
        adjusted=adjusted,
        low=low,
        high=high,
        failed=failed,
    )


def _symmetric(tasks: int, values: Floats, diagonal: float = np.nan) -> Floats:
    """Tasks x tasks: the values of all pairs, on either side of the diagonal."""
    rows, columns = np.triu_indices(tasks, 1)
    found = np.full((tasks, tasks), diagonal)
    found[rows, columns] = found[columns, rows] = values
    return found


def _pearson_pairs(scores: Floats, rows: Ints, columns: Ints, n: Ints) -> tuple[Floats, Floats]:
    """Correlations of pairs and their p-values by Student's t; NaN where there are few models or one does not vary."""
    from scipy.special import stdtr

    once = np.ones((1, len(scores)))
    size = max(1, _BLOCK // len(scores))
    parts = [slice(start, start + size) for start in range(0, len(rows), size)]
    unit = standardise(scores)
    every = np.concatenate([_resampled_pairs(unit, once, rows[part], columns[part])[0] for part in parts])
    r = np.where(n < FEWEST, np.nan, every)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(r) * np.sqrt((n - 2) / (1 - r**2))
        return r, 2 * stdtr(n - 2, -t)


def _rank_correlation(x: Floats, y: Floats, method: Method) -> tuple[float, float]:
    """A correlation and its p-value; NaN where there are few models or one does not vary."""
    from scipy import stats

    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan"), float("nan")
    found = (stats.spearmanr if method == "spearman" else stats.kendalltau)(x, y)
    return float(found.statistic), float(found.pvalue)


def _analytic_ends(r: Floats, n: Ints, method: Method) -> list[Floats]:
    with np.errstate(divide="ignore", invalid="ignore"):
        wide = (1 + r**2 / 2) / (n - 3) if method == "spearman" else 0.437 / (n - 4)
        half = 1.959964 * np.sqrt(wide)
        z = np.arctanh(r)
        return [np.tanh(z - half), np.tanh(z + half)]


def _percentile_ends(
    scores: Floats, rows: Ints, columns: Ints, *, seed: int, draws: int, groups: Ints | None
) -> tuple[Floats, Floats, int]:
    """Both ends, and how many resamples have no correlation of the pair that has fewest."""
    weights = model_weights(len(scores), seed=seed, draws=draws, groups=groups)
    low, high = np.empty(len(rows)), np.empty(len(rows))
    size, failed = max(1, _BLOCK // (len(scores) + draws)), 0
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        found = _resampled_pairs(standardise(scores), weights, rows[part], columns[part])
        low[part], high[part] = percentile_interval(found)
        failed = max(failed, int(np.isnan(found).sum(axis=0).max()))
    return low, high, failed


def correlation_matrix(scores: Floats) -> Floats:
    """Pearson's r of all pairs of tasks; scores are models x tasks, none missing."""
    return np.asarray(np.corrcoef(scores, rowvar=False))


def model_weights(models: int, *, seed: int, draws: int, groups: Ints | None = None) -> Floats:
    """Return the bootstrap weights of the models, draws x models; models of one group are drawn together."""
    number = models if groups is None else int(groups.max()) + 1
    drawn = np.concatenate([part.copy() for part in bootstrap_weights(number, seed=seed, unit="model", draws=draws)])
    return (drawn if groups is None else drawn[:, groups]).astype(np.float64)


def resampled_correlations(scores: Floats, weights: Floats) -> Iterator[Floats]:
    """The correlation matrices of resamples, some at a time: draws x tasks x tasks.

    A pair of which one task does not vary in a resample, or that has no models in common there, has NaN.

    Args:
        scores: Models x tasks; a pair of tasks goes by the models that have both scores.
        weights: As :func:`resamples` gives them.
    """
    tasks = scores.shape[1]
    rows, columns = np.triu_indices(tasks, 1)
    unit = standardise(scores)
    size = max(1, _BLOCK // max(len(rows), len(scores), 1))
    for start in range(0, len(weights), size):
        part = weights[start : start + size]
        found = np.empty((len(part), tasks, tasks))
        found[:, range(tasks), range(tasks)] = 1
        found[:, rows, columns] = found[:, columns, rows] = _resampled_pairs(unit, part, rows, columns)
        yield found


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
        found: Floats = np.where(varies, np.clip(xy / np.sqrt(np.where(varies, xx * yy, 1)), -1, 1), np.nan)
    return found


def standardise(scores: Floats, like: Floats | None = None) -> Floats:
    """Scores with mean 0 and variance 1 of every task, or with the mean and variance of other models' scores.

    So sums of their squares lose no digits.
    """
    like = scores if like is None else like
    spread = np.nanstd(like, axis=0)
    found: Floats = (scores - np.nanmean(like, axis=0)) / np.where(spread > 0, spread, 1)
    return found


def percentile_interval(values: Floats, *, low: float = 2.5, high: float = 97.5) -> tuple[Floats, Floats]:
    """Both ends of percentile intervals over the first axis; NaN where more than 5 % of the resamples failed."""
    failed = np.isnan(values).mean(axis=0) > MOST_FAILED
    safe = np.where(np.isnan(values).all(axis=0), 0.0, values)
    ends = np.nanpercentile(safe, [low, high], axis=0)
    return np.where(failed, np.nan, ends[0]), np.where(failed, np.nan, ends[1])


def require_varied(scores: Floats, tasks: Sequence[str]) -> None:
    """Reject a task without variance over models."""
    for number, task in enumerate(tasks):
        known = scores[np.isfinite(scores[:, number]), number]
        if len(known) == 0 or np.ptp(known) == 0:
            what = "has no score" if len(known) == 0 else "has the same score for all models"
            raise AnalysisError(f"The task {task!r} {what}, so it correlates with nothing; take it out.")
