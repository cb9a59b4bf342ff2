"""How far means vary, told by the means of their resamples: standard deviation and 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Floats

LEVEL = 0.95


class Bounded(Protocol):
    """A value with the ends of its interval."""

    @property
    def value(self) -> float:
        """The value."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


class Spread(NamedTuple):
    """How far one mean varies."""

    sd: float  # standard deviation of the means of resamples
    low: float  # lower end of the 95 % interval
    high: float


def spreads(means: Floats) -> list[Spread]:
    """The spread of each column of resampled means (resamples x columns); NaN where no resample has a mean."""
    low, high = interval(means)
    columns = zip(deviation(means).tolist(), low.tolist(), high.tolist(), strict=True)
    return [Spread(*column) for column in columns]


def spread(means: Floats) -> Spread:
    """The spread of one mean, from the means of its resamples."""
    return spreads(means[:, None])[0]


def difference_interval(a: Bounded, b: Bounded) -> tuple[float, float]:
    """The ends of the interval of ``a`` minus ``b``, which are of different data, from their own intervals.

    Zou and Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27 (2008).
    """
    value = a.value - b.value
    low = math.hypot(a.value - a.low, b.high - b.value)
    high = math.hypot(a.high - a.value, b.value - b.low)
    return value - low, value + high


def interval(means: Floats) -> tuple[Floats, Floats]:
    """The ends of each column's percentile interval; resamples without a mean (NaN) are left out."""
    import numpy as np

    tail = 100 * (1 - LEVEL) / 2
    ends: Sequence[float] = (tail, 100 - tail)
    if not np.isnan(means).any():
        low, high = np.percentile(means, ends, axis=0)
    else:
        columns = [column[~np.isnan(column)] for column in means.T]
        low, high = np.array([np.percentile(c, ends) if len(c) else [np.nan, np.nan] for c in columns]).T
    return low, high


def deviation(means: Floats) -> Floats:
    """The standard deviation of each column, as published: over the resamples, without correction."""
    import numpy as np

    values: Floats = np.sqrt(np.nanmean((means - np.nanmean(means, axis=0)) ** 2, axis=0))
    return values
