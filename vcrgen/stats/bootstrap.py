"""Cluster bootstrap: the sums of each group are taken once, and then weighted sums for every resample.

Example: 100 images with 1 to 3 answers each. A resample draws 100 images with replacement; its mean is the sum of their
scores, divided by the number of their answers. The variance of 1,000 such means estimates that of the mean.

Which groups a resample draws depends on the seed, the name of what is drawn and the number of groups alone. So two
systems that were scored on the same groups have the same resamples, and the differences of their means are paired.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vcrgen.core.products import product
from vcrgen.core.rng import array_rng_for
from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.intervals import NORMAL_QUANTILE, t_quantile

RESAMPLES = 1000
# Weights that are multiplied at once (32 MiB of float64), and groups that are read at once.
_BLOCK = 1 << 22
PART = 1 << 14
# Weights that are kept for a block of resamples (64 MiB of uint16).
_MOST_DRAWN = 1 << 25
MOST_FAILED = 0.05  # share of replicates without a figure; beyond it there is no interval


class GroupSums(Protocol):
    """Sums and counts of groups, by column, for a part of the groups at a time."""

    @property
    def column(self) -> Sequence[int]:
        """For every column of sums the column of counts that it is divided by."""

    def __len__(self) -> int:
        """The number of groups."""

    def part(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Groups x columns of sums, and groups x kinds of counts; called once for each block of resamples."""


@dataclass(frozen=True, slots=True)
class StoredGroupSums:
    """Sums and counts in memory."""

    sums: Floats
    counts: Floats  # groups x kinds: the number of scores summed
    column: Sequence[int]  # for every column of `sums` the column of `counts` it is divided by

    def __len__(self) -> int:
        return len(self.sums)

    def part(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """As `GroupSums.part`."""
        return self.sums[start:stop], self.counts[start:stop]


class BootstrapMean(NamedTuple):
    """A mean over groups with its bootstrap replicates, from which two systems are compared."""

    groups: int  # how many groups there are
    mean: float
    means: Floats  # one a resample

    def to_bytes(self) -> bytes:
        """All numbers in this order, as little-endian float64."""
        return np.concatenate([[self.groups, self.mean], self.means]).astype("<f8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> BootstrapMean:
        """Invert `to_bytes`."""
        numbers = np.frombuffer(data, "<f8")
        return cls(int(numbers[0]), float(numbers[1]), numbers[2:])


def group_means(groups: GroupSums) -> tuple[Floats, Ints]:
    """The mean of each column over all groups (0 without scores), and the number of groups with a score."""
    read = (groups.part(*ends) for ends in _parts(len(groups)))
    parts = [(sums.sum(axis=0), counts.sum(axis=0), (counts > 0).sum(axis=0)) for sums, counts in read]
    sums, counts, inside = (np.sum(column, axis=0) for column in zip(*parts, strict=True))
    kinds = list(groups.column)
    return sums / np.maximum(counts, 1)[kinds], inside[kinds]


def bootstrap_means(groups: GroupSums, *, seed: int, unit: str) -> Floats:
    """The means of bootstrap resamples of groups, resamples x columns; NaN where one holds no score of a column.

    Memory does not depend on the number of groups but for a block of weights: two bytes a group and resample, of at
    most 33 resamples once there are a million groups. ``unit``, the name of what is drawn, names the random stream.
    """
    means = np.empty((RESAMPLES, len(groups.column)))
    start = 0
    for weights in bootstrap_weights(len(groups), seed=seed, unit=unit, draws=len(means)):
        totals: list[Floats] | None = None
        for first, last in _parts(len(groups)):
            drawn = weights[:, first:last].astype(np.float64)
            sums = [product(drawn, values) for values in groups.part(first, last)]
            totals = sums if totals is None else [a + b for a, b in zip(totals, sums, strict=True)]
        assert totals is not None
        with np.errstate(invalid="ignore", divide="ignore"):
            means[start : start + len(weights)] = totals[0] / totals[1][:, list(groups.column)]
        start += len(weights)
    return means


def _parts(groups: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + PART, groups)) for start in range(0, max(groups, 1), PART))


def bootstrap_weights(groups: int, *, seed: int, unit: str, draws: int = RESAMPLES) -> Iterator[NDArray[np.uint16]]:
    """Yield the number of times that each group is drawn, resamples x groups, some resamples at a time.

    Each block takes the place of the last one in memory. The first of many draws are those of few.
    """
    rng = array_rng_for(seed, "bootstrap", f"{unit}:{groups}")
    block = max(1, min(draws, _BLOCK // min(max(groups, 1), PART), _MOST_DRAWN // max(groups, 1)))
    weights = np.empty((block, groups), np.uint16)
    for start in range(0, draws, block):
        size = min(block, draws - start)
        for row in range(size):  # one resample at a time, so that the stream does not depend on the block
            drawn = rng.integers(0, groups, size=groups, dtype=np.int64)
            weights[row] = np.bincount(drawn, minlength=groups)
        yield weights[:size]


def model_weights(models: int, *, seed: int, draws: int, groups: Ints | None = None) -> Floats:
    """How often each replicate draws each model, replicates x models; models of one family are drawn together.

    Args:
        groups: Of each model the number of its family.
    """
    families = models if groups is None else int(groups.max()) + 1
    blocks = bootstrap_weights(families, seed=seed, unit="model", draws=draws)
    weights = np.concatenate([block.copy() for block in blocks])
    return (weights if groups is None else weights[:, groups]).astype(np.float64)


def percentile_interval(replicates: Floats, *, low: float = 2.5, high: float = 97.5) -> tuple[Floats, Floats]:
    """Both ends of percentile intervals over the first axis; NaN where more than 5 % of the replicates failed."""
    failed = np.isnan(replicates).mean(axis=0) > MOST_FAILED
    safe = np.where(np.isnan(replicates).all(axis=0), 0.0, replicates)
    ends = np.nanpercentile(safe, [low, high], axis=0)
    return np.where(failed, np.nan, ends[0]), np.where(failed, np.nan, ends[1])


def few_groups_factor(groups: int) -> float:
    """How much longer an interval has to be, as replicates of few groups vary less than the figure does.

    It is the quantile of Student's t over the normal one, and the root of n / (n - 1) (Hesterberg, 2015).
    """
    groups = max(groups, 2)  # one alone never varies, so its interval has no length
    return math.sqrt(groups / (groups - 1)) * t_quantile(groups - 1) / NORMAL_QUANTILE


def expanded_interval(replicates: Floats, groups: int) -> tuple[Floats, Floats]:
    """As `percentile_interval`, with percentiles further out for few groups."""
    tail = 100 * NormalDist().cdf(-NORMAL_QUANTILE * few_groups_factor(groups))
    return percentile_interval(replicates, low=tail, high=100 - tail)


class Scale(NamedTuple):
    """A scale on which the errors of a figure are nearly normal, and the way back."""

    there: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]


PLAIN = Scale(lambda figure: figure, lambda figure: figure)
FROM_1 = Scale(np.log, lambda log: np.exp(np.maximum(log, 0)))  # of a figure that is 1 or more
TO_1 = Scale(np.log, lambda log: np.exp(np.minimum(log, 0)))  # of a figure above 0 that is 1 or less
SQUARE = Scale(np.square, lambda square: np.sqrt(np.maximum(square, 0)))  # of a root of a mean of squares
_NEARLY_1 = 1 - 1e-12  # 1 itself has no z
CORRELATION = Scale(lambda r: np.arctanh(np.clip(r, -_NEARLY_1, _NEARLY_1)), np.tanh)  # Fisher's z
EXPLAINED_VARIANCE = Scale(  # Fisher's z of the root of R2
    lambda r2: np.arctanh(np.sqrt(np.clip(r2, 0, _NEARLY_1))), lambda z: np.tanh(np.maximum(z, 0)) ** 2
)


def corrected_interval(
    values: Floats, replicates: Floats, scale: Scale, *, longer: float = 1.0
) -> tuple[Floats, Floats]:
    """Both ends of normal intervals on a scale, about the values less the median bias of their replicates.

    An interval is widened to hold its value. NaN where more than 5 % of the replicates failed.

    Args:
        scale: The scale on which errors are nearly normal.
        longer: By which factor on the scale, as `few_groups_factor` gives it.
    """
    failed = np.isnan(replicates).mean(axis=0) > MOST_FAILED
    safe = np.where(np.isnan(replicates).all(axis=0), 0.5, replicates)  # any number: it has no interval
    on_scale, replicates_on_scale = scale.there(values), scale.there(safe)
    middle = 2 * on_scale - np.nanmedian(replicates_on_scale, axis=0)
    half = NORMAL_QUANTILE * longer * np.nanstd(replicates_on_scale, axis=0)
    low, high = np.minimum(scale.back(middle - half), values), np.maximum(scale.back(middle + half), values)
    return np.where(failed, np.nan, low), np.where(failed, np.nan, high)
