"""Ranks: of plain numbers, their correlation, and of systems that were resampled alike.

Of resampled systems one is significantly better than another if the 95 % interval of the paired difference of their
means is above 0. A rank is one more than the number of systems that are better: those without a better one share the
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.bootstrap import BootstrapMean
from vcrgen.stats.intervals import deviation, paired_interval

_ROUNDING = 1e-12  # a range that is nothing but rounding
_DECIMALS = 12  # to which values are compared


def better_and_worse(one: BootstrapMean, others: Sequence[BootstrapMean]) -> tuple[list[int], list[int]]:
    """Return the positions of the significantly better systems, and of the significantly worse ones.

    Positions in neither list are of systems that are tied with it.
    """
    if not others:
        return [], []
    sd = deviation((np.array([other.means for other in others]) - one.means).T)
    low, high = paired_interval(np.array([other.mean for other in others]) - one.mean, sd, one.groups)
    return np.flatnonzero(low > 0).tolist(), np.flatnonzero(high < 0).tolist()


def rank_range(better: int, worse: int, systems: int) -> tuple[int, int]:
    """Return a system's rank, and the last one that it could have: if all tied ones were better.

    Example: of 5 systems, itself included, 1 is better and 2 are worse; it stands between rank 2 and 3.
    """
    return better + 1, systems - worse


def ascending(values: Floats) -> Ints:
    """Return the order of values, the lowest first.

    Values that differ only by rounding, which is not the same on every processor, stay in the order they have.
    """
    return np.argsort(np.round(values, _DECIMALS), kind="stable")


def ranks(values: Floats) -> Ints:
    """Return ranks from 1 along the last axis, the highest value first; equal values share the best of their ranks."""
    return _places(values, "left") + 1


def spearman(a: Floats, b: Floats) -> float:
    """Return Spearman's rank correlation; equal values share the mean of their ranks, NaN where one does not vary."""
    first, second = (_places(values, "left") + _places(values, "right") for values in (a, b))
    return pearson(first, second)


def pearson(a: Floats | Ints, b: Floats | Ints) -> float:
    """Return the correlation of two lists of numbers; NaN where one does not vary."""
    if len(a) < 2 or min(np.ptp(a), np.ptp(b)) < _ROUNDING:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _places(values: Floats, side: Literal["left", "right"]) -> Ints:
    """Count along the last axis the values that are larger or, of the side ``right``, not smaller."""
    if values.ndim > 1:
        return np.stack([_places(row, side) for row in values])
    rounded = -np.round(values, _DECIMALS)
    return np.searchsorted(np.sort(rounded), rounded, side=side).astype(np.int64)
