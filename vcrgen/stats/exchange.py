"""A test of whether groups differ in a share, exact at every size: which unit is in which group is exchanged."""

from collections.abc import Sequence

import numpy as np

from vcrgen.core.rng import array_rng_for

DRAWS = 9_999


def exchange_p(hits: Sequence[int], sizes: Sequence[int], strata: Sequence[int] = ()) -> float:
    """The p-value of the hypothesis that the groups of units were drawn by lot.

    The statistic is chi-square's, summed over the strata. Its distribution is that over all ways to deal the units to
    groups of these sizes, of which 9,999 are drawn, always the same ones; so the p-value holds for few units and for
    dependent ones, too.

    Args:
        hits: Of each group, the number of units that have the property.
        sizes: Of each group, its number of units.
        strata: Of each group, a number: units are exchanged between groups of one number only. None for one stratum.
    """
    groups: dict[int, list[tuple[int, int]]] = {}
    for hit, size, stratum in zip(hits, sizes, strata or [0] * len(sizes), strict=True):
        if size:
            groups.setdefault(stratum, []).append((hit, size))
    observed, others = 0.0, np.zeros(DRAWS)
    for members in groups.values():
        successes, counts = np.array(members, np.int64).T
        total, share = int(successes.sum()), float(successes.sum() / counts.sum())
        if len(counts) < 2 or share in (0, 1):
            continue
        draws = array_rng_for(0, "exchange", f"{list(successes)} of {list(counts)}")
        dealt = draws.multivariate_hypergeometric(counts, total, size=DRAWS, method="marginals")
        weights = 1 / (counts * (share * (1 - share)))
        observed += float((((successes - counts * share) ** 2) * weights).sum())
        others += (((dealt - counts * share) ** 2) * weights).sum(axis=1)
    return float((1 + (others >= observed - 1e-9).sum()) / (1 + DRAWS))
