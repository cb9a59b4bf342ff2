"""Two-way bootstrap: intervals of means of scores with two crossed factors, such as picture and rater.

Example: seven raters see some of 100 pictures each. Another sample of pictures would give another mean, and another
seven raters would, too. So both are resampled, each by itself (`vcrgen.stats.bootstrap`). The variance of the mean
is the sum of both variances, less that of resampling single pairs of both, which is in either of them (Cameron, Gelbach
and Miller, 2011); it is at least as large as the larger of the two. Where the raters differ, a few of them are few,
however many pictures there are. Few raters give a bad estimate of the variance between raters, so that part takes
Student's t for their number. ``scripts/measure_study.py`` measures how often such intervals hold the true value; the
tables are in ``docs/validation.md``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.bootstrap import StoredGroupSums, bootstrap_means
from vcrgen.stats.intervals import NORMAL_QUANTILE, deviation, mean_interval, paired_interval, t_quantile


class TwoWayMean(NamedTuple):
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


def two_way_bootstrap_mean(
    values: Sequence[float], rows: Sequence[int], columns: Sequence[int], *, seed: int
) -> TwoWayMean:
    """The mean of scores from 0 to 1 with its interval.

    The interval is that of a mean over groups, of which there are as many as Satterthwaite's degrees of freedom say.

    Args:
        values: The scores, at least one.
        rows: Of each score the number of its first thing, such as the picture.
        columns: Likewise of the second, such as the rater.
    """
    spread = _spread(values, rows, columns, seed)
    if min(spread.rows, spread.columns) < 2:  # a single picture or rater says nothing of others
        return TwoWayMean(spread.mean, 0.0, 1.0)
    groups = spread.groups_alike
    sd = _sd(spread.variance_beside(NORMAL_QUANTILE), groups)
    return TwoWayMean(spread.mean, *_ends(mean_interval(np.array([spread.mean]), sd, np.array([groups]))))


def two_way_bootstrap_difference(
    values: Sequence[float], rows: Sequence[int], columns: Sequence[int], *, seed: int
) -> TwoWayMean:
    """The difference of two means with its interval.

    Example: people minus a model. Every value is what one person had right of a text, 1 or 0, less what the model had
    right of it. The mean of all values is the difference.

    Two means may have no single scores that are a pair: nobody sees an item both with its picture and without. Then
    every score stands for its part of the difference. Of 100 scores with the picture and 100 without, one of the first
    that is 1 stands for 2, and one of the second for -2.

    The interval is that of paired differences of as many groups as there are rows, or as the degrees of freedom say
    where they are more.

    Args:
        values: As above; at least one, and their mean is from -1 to 1.
        rows: Of each value the number of its first thing, such as the picture.
        columns: Likewise of the second, such as the rater.
    """
    spread = _spread(values, rows, columns, seed)
    if min(spread.rows, spread.columns) < 2:  # a single picture or rater says nothing of others
        return TwoWayMean(spread.mean, -1.0, 1.0)
    groups = max(spread.rows, spread.groups_alike)
    sd = _sd(spread.variance_beside(t_quantile(groups - 1)), groups)
    return TwoWayMean(spread.mean, *_ends(paired_interval(np.array([spread.mean]), sd, groups)))


def _ends(interval: tuple[Floats, Floats]) -> tuple[float, float]:
    low, high = interval
    return float(low[0]), float(high[0])


def _sd(variance: float, groups: int) -> Floats:
    """The deviation that resamples of so many groups would have, as intervals take it."""
    return np.array([(variance * (groups - 1) / groups) ** 0.5])


class _Spread(NamedTuple):
    """A mean, and how much it varies when things of one kind are resampled: variances, corrected for their number."""

    mean: float
    rows: int  # how many there are
    columns: int
    of_rows: float  # the variance when rows are resampled
    of_columns: float
    of_pairs: float  # when single pairs of a row and a column are

    def variance_beside(self, quantile: float) -> float:
        """The variance over rows and columns, for an interval that multiplies its root by a quantile.

        What columns differ in takes the quantile of Student's t for their number: it is made as much larger.
        """
        both = self.of_columns + self.of_pairs
        # Less ``of_pairs``, it were nothing where few columns are alike by chance, and intervals be too narrow.
        of_columns_alone = self.of_columns**2 / both if both else 0.0
        wider = t_quantile(self.columns - 1) / quantile
        variance = max(self.of_rows + self.of_columns - self.of_pairs, self.of_rows, self.of_columns)
        return variance + (wider**2 - 1) * of_columns_alone

    @property
    def groups_alike(self) -> int:
        """Number of equal groups whose mean would vary as much (Satterthwaite)."""
        parts = self.of_rows**2 / (self.rows - 1) + self.of_columns**2 / (self.columns - 1)
        freedom = (self.of_rows + self.of_columns) ** 2 / parts if parts > 0 else max(self.rows, self.columns) - 1
        return max(round(freedom), 1) + 1


def _spread(values: Sequence[float], rows: Sequence[int], columns: Sequence[int], seed: int) -> _Spread:
    scores = np.asarray(values, np.float64)
    row, column = (np.unique(groups, return_inverse=True)[1] for groups in (rows, columns))
    pair = np.unique(row * (column.max() + 1) + column, return_inverse=True)[1]
    kinds = {"row": row, "column": column, "pair": pair}
    counts = {name: int(groups.max()) + 1 for name, groups in kinds.items()}
    variances = [_variance(scores, groups, counts[name], seed, name) for name, groups in kinds.items()]
    return _Spread(float(scores.mean()), counts["row"], counts["column"], *variances)


def _variance(scores: Floats, groups: Ints, count: int, seed: int, name: str) -> float:
    """The variance of the mean when groups are resampled, corrected for their number."""
    if count < 2:
        return 0.0
    sums = np.bincount(groups, scores, count).astype(np.float64)[:, None]
    counts = np.bincount(groups, minlength=count).astype(np.float64)[:, None]
    means = bootstrap_means(StoredGroupSums(sums, counts, [0]), seed=seed, unit=name)
    return float(deviation(means)[0]) ** 2 * count / (count - 1)
