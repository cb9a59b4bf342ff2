"""Who is better beyond doubt, pair by pair."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.stats.arrays import Floats
from vcrgen.stats.ranking import better_and_worse, rank_range

means = st.lists(st.integers(0, 8).map(lambda eighths: eighths / 8), min_size=20, max_size=20).map(np.array)


def better(a: Floats, b: Floats) -> bool:
    """Whether b is better than a beyond doubt, said once more."""
    return bool(np.percentile(b - a, 2.5) > 0)


@given(means, st.lists(means, max_size=6))
def test_who_is_better_is_told_pair_by_pair(ours: Floats, others: list[Floats]) -> None:
    above, below = better_and_worse(ours, others)
    assert above == [n for n, other in enumerate(others) if better(ours, other)]
    assert below == [n for n, other in enumerate(others) if better(other, ours)]
    assert not set(above) & set(below)
    for number, other in enumerate(others):
        expected = ([0], []) if number in below else ([], [0]) if number in above else ([], [])
        assert better_and_worse(other, [ours]) == expected


def test_one_system_alone_and_equal_ones() -> None:
    ours, over, under = (np.array(values) for values in ([0.5, 0.6], [0.6, 0.7], [0.4, 0.5]))
    assert better_and_worse(ours, []) == ([], [])
    assert better_and_worse(ours, [ours]) == ([], [])
    assert better_and_worse(ours, [over, under]) == ([0], [1])


def test_ranks() -> None:
    assert rank_range(0, 4, 5) == (1, 1)  # better than all others
    assert rank_range(1, 2, 5) == (2, 3)  # one is better, two are worse, one cannot be told apart
    assert rank_range(0, 0, 5) == (1, 5)
