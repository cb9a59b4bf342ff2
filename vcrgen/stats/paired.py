"""Two systems on the same items: the difference of their means, McNemar's test, corrections for many tests.

Both systems have to be resampled alike, with the same seed and the same groups (`vcrgen.stats.bootstrap`): then
the difference of two means of one resample is a difference on the same data. `vcrgen.stats.sign_flips` has its p-value.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vcrgen.stats.arrays import Bits, Floats
from vcrgen.stats.bootstrap import BootstrapMean
from vcrgen.stats.intervals import deviation, paired_interval


class PairedDifference(NamedTuple):
    """The first mean minus the second."""

    value: float
    sd: float  # standard deviation of the differences of resamples
    low: float  # lower end of the 95 % interval
    high: float


def paired_difference(ours: BootstrapMean, theirs: BootstrapMean) -> PairedDifference:
    """The difference of two means of the same groups, whose resamples are the same as well."""
    value = ours.mean - theirs.mean
    sd = float(deviation(ours.means - theirs.means))
    low, high = paired_interval(np.array(value), np.array(sd), ours.groups)
    return PairedDifference(value, sd, float(low), float(high))


def discordant(ours: Bits, theirs: Bits) -> tuple[int, int]:
    """Count the items that only the first system, and that only the second has right."""
    return int((ours & ~theirs).sum()), int((theirs & ~ours).sum())


def mcnemar(only_ours: int, only_theirs: int) -> float:
    """The exact two-sided p-value of McNemar's test, which takes items as independent."""
    total, fewer = only_ours + only_theirs, min(only_ours, only_theirs)
    if total == 0:
        return 1.0
    log_half = total * math.log(2)
    tail = sum(
        math.exp(math.lgamma(total + 1) - math.lgamma(k + 1) - math.lgamma(total - k + 1) - log_half)
        for k in range(fewer + 1)
    )
    return min(1.0, 2 * tail)


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Adjust p-values to control the false discovery rate (Benjamini and Hochberg, 1995); NaN is left out.

    Example: 0.01, 0.04 and 0.03 become 0.03, 0.04 and 0.04.
    """
    adjusted = np.full(len(p_values), np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(-p_values[tested], kind="stable")]
    scaled = p_values[order] * len(order) / np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(scaled))
    return adjusted


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values to control the family-wise error rate (Holm, 1979).

    Example: 0.01, 0.04 and 0.03 become 0.03, 0.06 and 0.06.
    """
    corrected, most = [0.0] * len(p_values), 0.0
    for done, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        most = max(most, min(1.0, p_values[number] * (len(p_values) - done)))
        corrected[number] = most
    return corrected
