"""Stratified samples: allocation to strata, and the weighted mean with its interval.

Example: 7,747 items in 106 parts of 34 to 95 items, of which 969 are looked at. Each part gives 4 of its items at
least, and a large one more. So an item of a part of 75 items of which 9 were drawn stands for 75 / 9 items.

The interval is that of `mean_interval`, of the variance of such a sample: within each part
only, and smaller the larger the share that was drawn, as the estimate is of this finite population.
``scripts/measure_audit.py`` measures how often it holds the true mean; its table is in ``docs/validation.md``.
"""

import heapq
import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from vcrgen.stats.intervals import mean_interval


class Stratum(NamedTuple):
    """A stratum of a finite population."""

    size: int  # all of its members
    values: Sequence[float]  # from 0 to 1, of the members that were drawn


class StratifiedMean(NamedTuple):
    """Estimate of the population mean from a stratified sample."""

    value: float
    low: float  # lower end of the 95 % interval
    high: float
    drawn: int  # members that were drawn


def allocate(sizes: Sequence[int], total: int, least: int) -> list[int]:
    """Allocate a sample to strata: ``least`` of each, the rest in proportion to their sizes (Webster's method).

    Args:
        sizes: Members of each part.
        total: How many to draw in all; more, if ``least`` of each part are more, and never more than there are.
        least: How many of each part, or all of a smaller one.
    """
    counts = [min(least, size) for size in sizes]
    behind = [(-size / (count + 0.5), at) for at, (size, count) in enumerate(zip(sizes, counts, strict=True))]
    waiting = [entry for entry in behind if counts[entry[1]] < sizes[entry[1]]]
    heapq.heapify(waiting)
    for _ in range(min(total, sum(sizes)) - sum(counts)):
        _, at = heapq.heappop(waiting)
        counts[at] += 1
        if counts[at] < sizes[at]:
            heapq.heappush(waiting, (-sizes[at] / (counts[at] + 0.5), at))
    return counts


def stratified_mean(strata: Iterable[Stratum]) -> StratifiedMean | None:
    """The mean of all members, each part counting by its size, with a 95 % interval; exact where all were drawn.

    Parts of which nothing was drawn are left out: the mean is that of the others. A part of which one member was drawn
    has no variance of its own; it is taken to vary as all together do. None where nothing was drawn.
    """
    drawn = [stratum for stratum in strata if stratum.values]
    whole, count = sum(stratum.size for stratum in drawn), sum(len(stratum.values) for stratum in drawn)
    if not count:
        return None
    mean = sum(stratum.size / whole * statistics.fmean(stratum.values) for stratum in drawn)
    variance = 0.0
    for size, values in drawn:
        within = statistics.variance(values) if len(values) > 1 else mean * (1 - mean)
        variance += (size / whole) ** 2 * max(0.0, 1 - len(values) / size) * within / len(values)
    if count == whole:
        return StratifiedMean(mean, mean, mean, count)
    # Finite population correction.
    worth = round(count / (1 - count / whole))
    # The interval takes the deviation of resamples, which is smaller than that of samples by this factor.
    deviation = math.sqrt(variance * (worth - 1) / worth)
    low, high = mean_interval(np.array([mean]), np.array([deviation]), np.array([worth]))
    return StratifiedMean(mean, float(low[0]), float(high[0]), count)
