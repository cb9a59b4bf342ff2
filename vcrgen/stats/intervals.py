"""95 % intervals of means over groups, of one system and of the difference of two, at the ends of the scale as well.

Example: 100 images with 160 answers, of which 97 % are right. Its variance is estimated by the means of its
resamples (`vcrgen.stats.bootstrap`). Their standard deviation alone would give an interval that reaches beyond
100 %, that has no width where all answers are right, and that misses the true mean too often where few are wrong. So:

- The interval of a mean is Wilson's for a share of as many independent answers as vary alike: ``mean * (1 - mean) /
  variance``. Few wrong answers give a bad estimate of that number, and none give none. So half a wrong answer is added,
  seen among as many independent answers as there are groups; half a right one, where fewer are right.
- The interval of a difference is that of the groups and of two more: each of the two systems is better in half a group
  (Agresti and Min, 2005, for paired shares). So systems that did the same have an interval with width. It takes the
  quantile of Student's t for the number of groups.

``scripts/measure_intervals.py`` measures their coverage; its table is in ``docs/validation.md``.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple, Protocol

import numpy as np

from vcrgen.stats.arrays import Floats, Ints

METHOD = "wilson-groups-2"  # what signatures call these intervals; another way to take them is another name
LEVEL = 0.95
NORMAL_QUANTILE = NormalDist().inv_cdf((1 + LEVEL) / 2)
_SEEN = 0.5  # pseudo-count of the rarer outcome
_MORE = 2  # pseudo-clusters of a difference
_NOTHING = 1e-24  # a variance that is nothing but rounding


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


class SdAndInterval(NamedTuple):
    """Standard deviation and 95 % interval of a mean."""

    sd: float  # standard deviation of the means of resamples
    low: float  # lower end of the 95 % interval
    high: float


def sd_and_intervals(means: Floats, resampled: Floats, groups: Ints) -> list[SdAndInterval]:
    """Return standard deviations and intervals of means from 0 to 1.

    Args:
        resampled: The means of their resamples (resamples x means), NaN where one holds no score of a column.
        groups: Of each mean, how many groups have scores of it.
    """
    sd = deviation(resampled)
    low, high = mean_interval(means, sd, groups)
    return [SdAndInterval(*column) for column in zip(sd.tolist(), low.tolist(), high.tolist(), strict=True)]


def effective_groups(sizes: Floats) -> Floats:
    """How many groups of equal size weigh as much as these (Kish): ``(sum m)**2 / sum m**2``, along the first axis.

    Those without members do not count; of none at all it is 0.
    """
    squares = (sizes**2).sum(axis=0)
    number: Floats = np.divide(sizes.sum(axis=0) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)
    return number


def difference_interval(a: Bounded, b: Bounded) -> tuple[float, float]:
    """The ends of the interval of ``a`` minus ``b``, which are of different data, from their own intervals.

    Zou and Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27 (2008).
    """
    value = a.value - b.value
    low = math.hypot(a.value - a.low, b.high - b.value)
    high = math.hypot(a.high - a.value, b.value - b.low)
    return value - low, value + high


def combination_interval(coefficients: Floats, estimates: Sequence[Bounded]) -> tuple[float, float]:
    """The ends of the interval of a weighted sum of values of different data; as `difference_interval`."""
    values, low, high = np.array([(estimate.value, estimate.low, estimate.high) for estimate in estimates]).T
    total = math.fsum(coefficients * values)
    down = np.where(coefficients > 0, values - low, high - values)
    up = np.where(coefficients > 0, high - values, values - low)
    return total - math.hypot(*coefficients * down), total + math.hypot(*coefficients * up)


def difference_p(value: float, low: float, high: float) -> float:
    """The two-sided p-value of a difference by its interval: below 0.05 where the interval leaves out 0.

    The end on the side of 0 is taken for as many standard errors away from the value as the level of the interval has.
    """
    end = value - low if value > 0 else high - value
    return math.erfc(NORMAL_QUANTILE * abs(value) / end / math.sqrt(2)) if value else 1.0


def mean_interval(means: Floats, sd: Floats, groups: Ints) -> tuple[Floats, Floats]:
    """The ends of the intervals of means from 0 to 1; 0 and 1 for a single group."""
    enough = np.maximum(groups, 2)
    variance, most = sd**2 * enough / (enough - 1), means * (1 - means)
    varies = np.minimum(variance, most) > _NOTHING
    independent = np.where(varies, most / np.maximum(variance, _NOTHING), 1)
    rarer = np.where(varies, independent * np.minimum(means, 1 - means), 0)
    # The mean of 1 / independent and 1 / groups, by how many answers of the rarer kind were seen of either.
    share = NORMAL_QUANTILE**2 * (rarer / independent + _SEEN / enough) / (rarer + _SEEN)
    middle = (means + share / 2) / (1 + share)
    half = np.sqrt(share * (most + share / 4)) / (1 + share)
    # Rounding must not put a mean of 0 or 1 outside of its interval.
    low, high = np.minimum(means, np.maximum(middle - half, 0)), np.maximum(means, np.minimum(middle + half, 1))
    return np.where(groups < 2, 0.0, low), np.where(groups < 2, 1.0, high)


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """The ends of Wilson's interval of a share of independent answers.

    Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American Statistical
    Association 22 (1927).
    """
    more = NORMAL_QUANTILE**2 / count
    half = math.sqrt(more * (share * (1 - share) + more / 4))
    return max(0.0, (share + more / 2 - half) / (1 + more)), min(1.0, (share + more / 2 + half) / (1 + more))


def paired_interval(differences: Floats, sd: Floats, groups: int) -> tuple[Floats, Floats]:
    """The ends of the intervals of differences of means of the same groups; of a single group, -1 and 1."""
    if groups < 2:
        return np.full_like(differences, -1.0), np.full_like(differences, 1.0)
    middle, error = _with_more(differences, sd, groups)
    half = t_quantile(groups - 1) * error
    low, high = np.minimum(differences, middle - half), np.maximum(differences, middle + half)
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def deviation(means: Floats) -> Floats:
    """The standard deviation of each column, as published: over the resamples, without correction."""
    values: Floats = np.sqrt(np.nanmean((means - np.nanmean(means, axis=0)) ** 2, axis=0))
    return values


def _with_more(differences: Floats, sd: Floats, groups: int) -> tuple[Floats, Floats]:
    """Differences and their standard errors with two groups more: half of one on either side, one that is the same."""
    squares = groups**2 * sd**2 + groups * differences**2 + _MORE / 2
    total = groups + _MORE
    middle = differences * groups / total
    return middle, np.sqrt((squares - total * middle**2) * groups / (groups - 1)) / total


def t_quantile(freedom: int) -> float:
    """The quantile of Student's t that leaves half of what is outside of the level above it: 2.262 of 9 degrees.

    Wallace (1959); three digits are right from 9 degrees of freedom on, and for fewer it is the wider interval.
    """
    normal = NORMAL_QUANTILE * (8 * freedom + 3) / (8 * freedom + 1)
    return math.sqrt(freedom * math.expm1(normal**2 / freedom))
