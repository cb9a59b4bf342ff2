"""Intervals of means of scores that belong to two things at once, such as the picture and the person who saw it.

Example: seven raters see some of 100 pictures each. Another sample of pictures would give another mean, and another
seven raters would, too. So both are resampled, each by itself (:mod:`vcrgen.stats.bootstrap`). The variance of the mean
is the sum of both variances, less that of resampling single pairs of both, which is in either of them (Cameron, Gelbach
and Miller, 2011); it is at least as large as the larger of the two. The degrees of freedom follow Satterthwaite: where
the raters differ, a few of them are few, however many pictures there are. ``scripts/measure_study.py`` measures how
often such intervals hold the true value; the table is in ``docs/study.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from vcrgen.stats.bootstrap import Sums, resampled_means
from vcrgen.stats.intervals import deviation, mean_interval, paired_interval

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Floats, Ints


class CrossedMean(NamedTuple):
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


def crossed_mean(values: Sequence[float], rows: Sequence[int], columns: Sequence[int], *, seed: int) -> CrossedMean:
    """The mean of scores from 0 to 1.

    Args:
        values: The scores, at least one.
        rows: Of each score the number of its first thing, such as the picture.
        columns: Likewise of the second, such as the rater.
        seed: Of the resamples.
    """
    return _interval(values, rows, columns, seed, paired=False)


def crossed_difference(
    values: Sequence[float], rows: Sequence[int], columns: Sequence[int], *, seed: int
) -> CrossedMean:
    """The mean of paired differences from -1 to 1; arguments as of :func:`crossed_mean`."""
    return _interval(values, rows, columns, seed, paired=True)


def _interval(
    values: Sequence[float], rows: Sequence[int], columns: Sequence[int], seed: int, *, paired: bool
) -> CrossedMean:
    import numpy as np

    scores = np.asarray(values, np.float64)
    mean = float(scores.mean())
    row, column = (np.unique(groups, return_inverse=True)[1] for groups in (rows, columns))
    pair = np.unique(row * (column.max() + 1) + column, return_inverse=True)[1]
    variances, freedoms = [], []
    for name, groups in (("row", row), ("column", column), ("pair", pair)):
        count = int(groups.max()) + 1
        variances.append(_variance(scores, groups, count, seed, name))
        freedoms.append(max(count - 1, 1))
    of_rows, of_columns, of_pairs = variances
    variance = max(of_rows + of_columns - of_pairs, of_rows, of_columns)
    parts = sum(each**2 / freedom for each, freedom in zip(variances[:2], freedoms[:2], strict=True))
    whole = (of_rows + of_columns) ** 2
    freedom = whole / parts if parts > 0 else max(freedoms[:2])
    groups_alike = max(round(freedom), 1) + 1
    if min(row.max(), column.max()) < 1:  # a single picture or rater says nothing of others
        groups_alike = 1
    sd = np.array([(variance * (groups_alike - 1) / groups_alike) ** 0.5])
    ends = (
        paired_interval(np.array([mean]), sd, groups_alike)
        if paired
        else mean_interval(np.array([mean]), sd, np.array([groups_alike]))
    )
    return CrossedMean(mean, *(float(end[0]) for end in ends))


def _variance(scores: Floats, groups: Ints, count: int, seed: int, name: str) -> float:
    """The variance of the mean when groups are resampled, corrected for their number."""
    import numpy as np

    if count < 2:
        return 0.0
    sums = np.bincount(groups, scores, count).astype(np.float64)[:, None]
    counts = np.bincount(groups, minlength=count).astype(np.float64)[:, None]
    means = resampled_means(Sums(sums, counts, [0]), seed=seed, unit=name)
    return float(deviation(means)[0]) ** 2 * count / (count - 1)
