"""Ranks of systems that were resampled alike.

One system is significantly better than another if the 95 % interval of the paired difference of their
means is above 0. A rank is one more than the number of systems that are better: those without a better one share the
first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.bootstrap import BootstrapMean
from vcrgen.stats.intervals import deviation, paired_interval

_DECIMALS = 12  # to which values are compared: processors sum differently


def better_and_worse(system: BootstrapMean, others: Sequence[BootstrapMean]) -> tuple[list[int], list[int]]:
    """Positions of the significantly better systems, and of the significantly worse ones.

    Positions in neither list are of systems that are tied with it.
    """
    if not others:
        return [], []
    sd = deviation((np.array([other.means for other in others]) - system.means).T)
    low, high = paired_interval(np.array([other.mean for other in others]) - system.mean, sd, system.groups)
    return np.flatnonzero(low > 0).tolist(), np.flatnonzero(high < 0).tolist()


def rank_range(better: int, worse: int, systems: int) -> tuple[int, int]:
    """The rank of a system, and the last one that it could have: if all tied ones were better.

    Example: of 5 systems, itself included, 1 is better and 2 are worse; it stands between rank 2 and 3.
    """
    return better + 1, systems - worse


def ascending(values: Floats) -> Ints:
    """Positions of the values in their order, the lowest first.

    Values that differ only by rounding, which is not the same on every processor, stay in the order they have.
    """
    return np.argsort(np.round(values, _DECIMALS), kind="stable")
