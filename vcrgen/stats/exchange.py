"""A test of whether groups differ in a share, exact at every size: which unit is in which group is exchanged."""

from __future__ import annotations

from collections.abc import Sequence

from vcrgen.rng import array_rng_for

DRAWS = 9_999


def exchange_p(hits: Sequence[int], sizes: Sequence[int]) -> float:
    """Return the p-value of the hypothesis that the groups of units were drawn by lot.

    The statistic is chi-square's. Its distribution is that over all ways to deal the units to groups of these sizes,
    of which 9,999 are drawn, always the same ones; so the p-value holds for few units and for dependent ones, too.

    Args:
        hits: Of each group, the number of units that have the property.
        sizes: Of each group, its number of units.
    """
    import numpy as np

    counts = np.array([size for size in sizes if size], np.int64)
    found = np.array([hit for hit, size in zip(hits, sizes, strict=True) if size], np.int64)
    total = int(found.sum())
    if len(counts) < 2 or total in (0, int(counts.sum())):
        return 1.0
    draws = array_rng_for(0, "exchange", f"{list(found)} of {list(counts)}")
    dealt = draws.multivariate_hypergeometric(counts, total, size=DRAWS, method="marginals")
    expected = counts * (total / int(counts.sum()))
    observed = (((found - expected) ** 2) / counts).sum()
    others = (((dealt - expected) ** 2) / counts).sum(axis=1)
    return float((1 + (others >= observed - 1e-9).sum()) / (1 + DRAWS))
