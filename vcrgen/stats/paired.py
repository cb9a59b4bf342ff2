"""Two systems on the same items: the difference of their resampled means, and McNemar's test.

Both systems have to be resampled alike, with the same seed and the same groups (:mod:`vcrgen.stats.bootstrap`): then
the difference of two means of one resample is a difference on the same data.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from vcrgen.stats.intervals import Spread, spread

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Bits, Floats


def paired_spread(ours: Floats, theirs: Floats) -> Spread:
    """How far the first mean minus the second varies, from the means of the same resamples."""
    return spread(ours - theirs)


def discordant(ours: Bits, theirs: Bits) -> tuple[int, int]:
    """How many items only the first system has right, and how many only the second."""
    return int((ours & ~theirs).sum()), int((theirs & ~ours).sum())


def mcnemar(only_ours: int, only_theirs: int) -> float:
    """Exact two-sided p-value: how likely so uneven a split of the discordant items is by tossing a coin.

    It takes items as independent, which those of one group are not.
    """
    total, fewer = only_ours + only_theirs, min(only_ours, only_theirs)
    if total == 0:
        return 1.0
    log_half = total * math.log(2)
    tail = sum(
        math.exp(math.lgamma(total + 1) - math.lgamma(k + 1) - math.lgamma(total - k + 1) - log_half)
        for k in range(fewer + 1)
    )
    return min(1.0, 2 * tail)
