"""How far means vary, told by the means of their resamples: standard deviation and 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Floats

LEVEL = 0.95


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
