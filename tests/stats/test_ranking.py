"""Ranges of ranks by the tests of all pairs."""

import numpy as np
import pytest

from vcrgen.stats.ranking import RankRange, rank_ranges

NONE: list[tuple[int, int, float]] = []


@pytest.mark.parametrize(
    ("systems", "pairs", "expected"),
    [
        (1, NONE, [(1, 1)]),
        (3, NONE, [(1, 3)] * 3),
        (2, [(0, 1, 2.5)], [(1, 1), (2, 2)]),
        (2, [(1, 0, -2.5)], [(1, 1), (2, 2)]),
        (2, [(1, 0, 2.0)], [(1, 2), (1, 2)]),  # not above the critical value
        (3, [(0, 1, 3.0), (1, 2, -3.0), (2, 0, 1.0)], [(1, 2), (3, 3), (1, 2)]),
    ],
)
def test_rank_ranges(systems: int, pairs: list[tuple[int, int, float]], expected: list[tuple[int, int]]) -> None:
    first, second, signed = np.array(pairs).reshape(-1, 3).T
    found = rank_ranges(systems, first.astype(int), second.astype(int), signed, 2.0)
    assert found == [RankRange(*each) for each in expected]
