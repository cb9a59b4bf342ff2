"""Ranks of systems that were resampled alike: who is better beyond doubt, and where a system may stand.

One system is better than another if the 95 % interval of the paired difference of their means is above 0. A rank is one
more than the number of systems that are better: those that nobody is better than share the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from vcrgen.stats.bootstrap import Resampled
from vcrgen.stats.intervals import deviation, paired_interval


def better_and_worse(one: Resampled, others: Sequence[Resampled]) -> tuple[list[int], list[int]]:
    """The positions of the systems that are better than one, and of those that are worse.

    Positions in neither list are of systems that cannot be told apart from it.
    """
    if not others:
        return [], []
    import numpy as np

    sd = deviation((np.array([other.means for other in others]) - one.means).T)
    low, high = paired_interval(np.array([other.mean for other in others]) - one.mean, sd, one.groups)
    return np.flatnonzero(low > 0).tolist(), np.flatnonzero(high < 0).tolist()


def rank_range(better: int, worse: int, systems: int) -> tuple[int, int]:
    """A system's rank, and the last one it could have: if all that cannot be told apart from it were better.

    Example: of 5 systems, itself included, 1 is better and 2 are worse; it stands between rank 2 and 3.
    """
    return better + 1, systems - worse
