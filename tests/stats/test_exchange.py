"""The test that exchanges units between groups, against counting all ways to deal them."""

from itertools import combinations

import numpy as np
import pytest

from vcrgen.stats.exchange import exchange_p


def counted(hits: list[int], sizes: list[int]) -> float:
    """The p-value from all ways to choose which units have the property."""
    total, units = sum(hits), sum(sizes)
    groups = np.repeat(np.arange(len(sizes)), sizes)

    def statistic(found: np.ndarray) -> float:
        return float(((found - np.array(sizes) * total / units) ** 2 / np.array(sizes)).sum())

    observed = statistic(np.array(hits))
    ways = [
        statistic(np.bincount(groups[list(chosen)], minlength=len(sizes)))
        for chosen in combinations(range(units), total)
    ]
    return float(np.mean([way >= observed - 1e-9 for way in ways]))


@pytest.mark.parametrize(
    ("hits", "sizes"),
    [([0, 2, 3, 2], [3, 3, 3, 3]), ([4, 0, 1], [4, 4, 4]), ([1, 5], [6, 6]), ([2, 2, 1, 3], [4, 3, 2, 3])],
)
def test_it_is_the_share_of_all_ways_to_deal(hits: list[int], sizes: list[int]) -> None:
    assert exchange_p(hits, sizes) == pytest.approx(counted(hits, sizes), abs=0.02)


def test_nothing_to_tell_apart_is_one() -> None:
    assert exchange_p([0, 0, 0, 0], [5, 5, 5, 5]) == exchange_p([5, 5], [5, 5]) == exchange_p([3], [5]) == 1
    assert exchange_p([3, 0, 0], [5, 0, 0]) == 1


def test_it_is_the_same_each_time_and_small_for_a_large_difference() -> None:
    assert exchange_p([10, 90], [100, 100]) == exchange_p([10, 90], [100, 100]) == 1 / 10_000
