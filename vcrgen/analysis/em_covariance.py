"""Correlations where scores are missing: maximum likelihood of a normal distribution by the EM algorithm.

What ``lavCor(missing = "ml")`` of lavaan estimates: a model without some scores counts with those that it has. That
assumes that the absence of a score depends on the scores that are there, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vcrgen.stats.arrays import Bits, Floats, Ints

_TOLERANCE = 1e-8  # change of a mean or covariance of standardised scores, of the estimate
_TOLERANCE_RESAMPLED = 1e-4  # far below what resampling moves
_MOST_STEPS = 2000
_BLOCK = 1 << 21  # numbers that are worked on at once
_RIDGE = 1e-10  # so that a resample in which tasks are collinear has a solution


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The models that lack the same scores, as sums over them for each replicate."""

    present: Ints
    missing: Ints
    count: Floats  # replicates
    sums: Floats  # replicates x present tasks
    products: Floats  # replicates x present tasks x present tasks

    def select(self, mask: Bits) -> _Pattern:
        return _Pattern(self.present, self.missing, self.count[mask], self.sums[mask], self.products[mask])


def em_correlations(unit: Floats) -> Floats:
    """The correlation matrix of standardised scores, NaN for what is missing."""
    r: Floats = _correlations(_estimate(unit))[0]
    return r


def resampled_em_correlations(unit: Floats, weights: Floats) -> Iterator[Floats]:
    """The correlation matrix of each replicate, NaN where a task does not vary or EM does not end.

    Args:
        unit: Models x tasks, standardised, NaN for what is missing.
        weights: Replicates x models: how often each is drawn.
    """
    start = _estimate(unit)
    size = max(1, _BLOCK // unit.shape[1] ** 2)
    for first in range(0, len(weights), size):
        patterns = _patterns(unit, weights[first : first + size])
        yield from _correlations(_em(patterns, start, _TOLERANCE_RESAMPLED, _MOST_STEPS))


def expected_scores(unit: Floats) -> Floats:
    """Standardised scores, and for what is missing its expectation given the model's other scores."""
    moments = _estimate(unit)
    means, covariances = moments.means[0], moments.covariances[0]
    filled = unit.copy()
    for row in np.flatnonzero(~np.isfinite(unit).all(axis=1)).tolist():
        present = np.isfinite(unit[row])
        inside = covariances[np.ix_(present, present)] + _RIDGE * np.eye(int(present.sum()))
        deviations = np.linalg.solve(inside, unit[row, present] - means[present])
        filled[row, ~present] = means[~present] + covariances[np.ix_(~present, present)] @ deviations
    return filled


def _estimate(unit: Floats) -> _Moments:
    return _em(_patterns(unit, np.ones((1, len(unit)))), None, _TOLERANCE, _MOST_STEPS)


def _patterns(unit: Floats, weights: Floats) -> list[_Pattern]:
    present = np.isfinite(unit)
    kinds, of = np.unique(present, axis=0, return_inverse=True)
    patterns = []
    for number, kind in enumerate(kinds):
        rows = of.reshape(-1) == number
        values, drawn = unit[rows][:, kind], weights[:, rows]
        products = np.einsum("rn,ni,nj->rij", drawn, values, values, optimize=True)
        patterns.append(
            _Pattern(np.flatnonzero(kind), np.flatnonzero(~kind), drawn.sum(axis=1), drawn @ values, products)
        )
    return patterns


@dataclass(frozen=True, slots=True)
class _Moments:
    means: Floats  # replicates x tasks
    covariances: Floats  # replicates x tasks x tasks


def _em(patterns: list[_Pattern], start: _Moments | None, tolerance: float, most_steps: int) -> _Moments:
    """The moments of each replicate; NaN where they do not settle."""
    replicates = len(patterns[0].count)
    tasks = len(patterns[0].present) + len(patterns[0].missing)
    if start is None:
        means, covariances = np.zeros((replicates, tasks)), np.tile(np.eye(tasks), (replicates, 1, 1))
    else:
        means = np.repeat(start.means, replicates, axis=0)
        covariances = np.repeat(start.covariances, replicates, axis=0)
    active = np.arange(replicates)
    for _ in range(most_steps):
        before = _Moments(means[active], covariances[active])
        after = _step(patterns, before)
        means[active], covariances[active] = after.means, after.covariances
        change = np.abs(after.covariances - before.covariances).max(axis=(1, 2))
        moved: Bits = np.maximum(change, np.abs(after.means - before.means).max(axis=1)) > tolerance
        if not moved.any():
            return _Moments(means, covariances)
        active = active[moved]
        patterns = [pattern.select(moved) for pattern in patterns]
    covariances[active] = np.nan
    return _Moments(means, covariances)


def _step(patterns: list[_Pattern], moments: _Moments) -> _Moments:
    """One step of EM: the expected sums of all scores given those present, and the moments that fit them."""
    means, covariances = moments.means, moments.covariances
    sums, products = np.zeros_like(means), np.zeros_like(covariances)
    total = np.zeros(len(means))
    for pattern in patterns:
        o, m = pattern.present, pattern.missing
        count = pattern.count[:, None]
        total += pattern.count
        sums[:, o] += pattern.sums
        products[:, o[:, None], o] += pattern.products
        if not len(m):
            continue
        inside = covariances[:, o[:, None], o] + _RIDGE * np.eye(len(o))
        slopes = np.asarray(np.linalg.solve(inside, covariances[:, o[:, None], m]), np.float64)
        across = slopes.transpose(0, 2, 1)
        levels = means[:, m] - np.einsum("rmo,ro->rm", across, means[:, o])
        fitted = np.einsum("rmo,ro->rm", across, pattern.sums)
        rest = covariances[:, m[:, None], m] - across @ covariances[:, o[:, None], m]
        sums[:, m] += count * levels + fitted
        mixed = pattern.sums[:, :, None] * levels[:, None] + pattern.products @ slopes
        products[:, o[:, None], m] += mixed
        products[:, m[:, None], o] += mixed.transpose(0, 2, 1)
        shifted = levels[:, :, None] * fitted[:, None]
        products[:, m[:, None], m] += (
            count[:, :, None] * (levels[:, :, None] * levels[:, None] + rest)
            + shifted
            + shifted.transpose(0, 2, 1)
            + across @ pattern.products @ slopes
        )
    new_means = sums / total[:, None]
    return _Moments(new_means, products / total[:, None, None] - new_means[:, :, None] * new_means[:, None])


def _correlations(moments: _Moments) -> Floats:
    variances = np.diagonal(moments.covariances, axis1=1, axis2=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        sd = np.sqrt(np.where(variances > 1e-9, variances, np.nan))
        r: Floats = np.clip(moments.covariances / (sd[:, :, None] * sd[:, None]), -1, 1)
    diagonal = np.arange(r.shape[1])
    r[:, diagonal, diagonal] = np.where(np.isfinite(sd), 1.0, np.nan)
    return r
