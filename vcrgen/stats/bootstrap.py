"""Bootstrap by re-summing: statistics per unit once, then only weighted sums for every resample.

The weights depend on the seed, the unit and the number of units alone. So the resamples of two views, or of two models
on the same questions, are the same resamples, and their differences are paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vcrgen.rng import rng_for

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Floats

RESAMPLES = 1000
LEVEL = 0.95
# Cells of the weight matrix held at once: 32 MiB of float64.
_BLOCK = 1 << 22


def resampled_means(sums: Floats, counts: Floats, column: Sequence[int], *, seed: int, unit: str) -> Floats:
    """The means of bootstrap resamples of units.

    Args:
        sums: Units x columns: the sum of a score over the spans of a unit.
        counts: Units x kinds: the number of those spans.
        column: For every column of ``sums`` the column of ``counts`` it is divided by.
        seed: The seed of the run.
        unit: What is resampled, ``span`` or ``image``; names the random stream.

    Returns:
        Resamples x columns; NaN where a resample holds no span of a column.
    """
    import numpy as np

    means = np.empty((RESAMPLES, sums.shape[1]))
    start = 0
    for weights in _weights(len(sums), seed, unit):
        end = start + len(weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            means[start:end] = (weights @ sums) / (weights @ counts)[:, list(column)]
        start = end
    return means


def _weights(units: int, seed: int, unit: str) -> Iterator[Floats]:
    """How often each unit is drawn, for some resamples at a time."""
    import numpy as np

    rng = np.random.default_rng(rng_for(seed, "bootstrap", f"{unit}:{units}").getrandbits(128))
    block = max(1, min(RESAMPLES, _BLOCK // max(units, 1)))
    for start in range(0, RESAMPLES, block):
        size = min(block, RESAMPLES - start)
        weights = np.empty((size, units))
        for row in range(size):  # one resample at a time, so that the stream does not depend on the block
            drawn = rng.integers(0, units, size=units, dtype=np.int64)
            weights[row] = np.bincount(drawn, minlength=units)
        yield weights


def interval(means: Floats) -> tuple[Floats, Floats]:
    """The percentile interval of each column."""
    import numpy as np

    tail = 100 * (1 - LEVEL) / 2
    known = ~np.isnan(means)
    if known.all():
        low, high = np.percentile(means, [tail, 100 - tail], axis=0)
    else:
        columns = [column[~np.isnan(column)] for column in means.T]
        pairs = [np.percentile(c, [tail, 100 - tail]) if len(c) else [np.nan, np.nan] for c in columns]
        low, high = np.array(pairs).T
    return low, high


def deviation(means: Floats) -> Floats:
    """The standard deviation of each column, as published: over the resamples, without correction."""
    import numpy as np

    spread: Floats = np.sqrt(np.nanmean((means - np.nanmean(means, axis=0)) ** 2, axis=0))
    return spread
