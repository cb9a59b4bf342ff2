"""Models that are better beyond doubt, pair by pair."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.stats.bootstrap import BootstrapMean
from vcrgen.stats.paired import paired_difference
from vcrgen.stats.ranking import better_and_worse, rank_range

GROUPS = 50
systems = st.lists(st.integers(0, 8).map(lambda eighths: eighths / 8), min_size=20, max_size=20).map(
    lambda means: BootstrapMean(GROUPS, float(np.mean(means)), np.array(means))
)


@given(systems, st.lists(systems, max_size=6))
def test_who_is_better_is_told_pair_by_pair(ours: BootstrapMean, others: list[BootstrapMean]) -> None:
    above, below = better_and_worse(ours, others)
    assert above == [n for n, other in enumerate(others) if paired_difference(other, ours).low > 0]
    assert below == [n for n, other in enumerate(others) if paired_difference(ours, other).low > 0]
    assert not set(above) & set(below)
    for number, other in enumerate(others):
        expected = ([0], []) if number in below else ([], [0]) if number in above else ([], [])
        assert better_and_worse(other, [ours]) == expected


def test_one_system_alone_and_equal_ones() -> None:
    ours, over, under = (BootstrapMean(GROUPS, mean, mean + np.array([-0.05, 0.05])) for mean in (0.55, 0.65, 0.45))
    assert better_and_worse(ours, []) == ([], [])
    assert better_and_worse(ours, [ours]) == ([], [])
    assert better_and_worse(ours, [over, under]) == ([0], [1])


def test_a_lead_of_few_groups_is_none() -> None:
    """Four groups of 50 on which one system alone is right, and none the other way: chance gives that to 1 of 8."""
    rng = np.random.default_rng(0)
    for groups, better in ((4, []), (5, [0]), (8, [0])):
        drawn = rng.multinomial(GROUPS, [1 / GROUPS] * GROUPS, 1000)[:, :groups].sum(axis=1) / GROUPS
        base = BootstrapMean(GROUPS, 0.0, np.zeros(1000))
        assert better_and_worse(base, [BootstrapMean(GROUPS, groups / GROUPS, drawn)]) == (better, [])


def test_rank_ranges() -> None:
    assert rank_range(0, 4, 5) == (1, 1)  # better than all others
    assert rank_range(1, 2, 5) == (2, 3)  # one is better, two are worse, one is tied
    assert rank_range(0, 0, 5) == (1, 5)
