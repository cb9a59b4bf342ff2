"""Ranks of systems of which every pair was tested.

A rank is one more than the number of systems that are significantly better: those without a better one share the first.
"""

from typing import NamedTuple

import numpy as np

from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.sign_flips import is_significant

_DECIMALS = 12  # to which values are compared: processors sum differently


class RankRange(NamedTuple):
    """The rank of a system, and the last one that it could have: if all tied ones were better.

    Example: of 5 systems, itself included, 1 is better and 2 are worse; it stands between rank 2 and 3.
    """

    rank: int
    worst: int


def rank_ranges(systems: int, first: Ints, second: Ints, signed: Floats, critical: float) -> list[RankRange]:
    """The ranges of ranks of all systems, which hold all true ranks at once on 95 % of tables.

    Args:
        first: Of each pair one system, by its number.
        second: The other one.
        signed: The statistic of each pair, above 0 where the first is better.
        critical: That of `vcrgen.stats.sign_flips.critical_value`, by all pairs.
    """
    significant = is_significant(np.abs(signed), critical)
    first_better, second_better = significant & (signed > 0), significant & (signed < 0)
    losers = np.concatenate([second[first_better], first[second_better]])
    winners = np.concatenate([first[first_better], second[second_better]])
    better, worse = (np.bincount(ends, minlength=systems).tolist() for ends in (losers, winners))
    return [RankRange(above + 1, systems - below) for above, below in zip(better, worse, strict=True)]


def ascending(values: Floats) -> Ints:
    """Positions of the values in their order, the lowest first.

    Values that differ only by rounding, which is not the same on every processor, stay in the order they have.
    """
    return np.argsort(np.round(values, _DECIMALS), kind="stable")
