"""Which theme each place of a set is of."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.bloom.making.places import slots_of
from vcrgen.bloom.taxonomy import Taxonomy

SHARES = st.lists(st.integers(1, 5) | st.integers(1, 1000), min_size=1, max_size=8)


def dealt(leaves: int, shares: list[int], per_leaf: int) -> list[list[str]]:
    """The themes of each leaf's places; theme "0" has the first share."""
    taxonomy = Taxonomy(paths=tuple(f"level/part/{number}" for number in range(leaves)))
    themes = {str(number): share for number, share in enumerate(shares)}
    return [[slot.theme for slot in leaf] for leaf in slots_of(taxonomy, themes, per_leaf)]


def furthest(places: list[str], shares: list[int]) -> float:
    """How many places a theme has more or fewer than its share says, at most."""
    found = Counter(places)
    return max(abs(found[str(n)] - len(places) * share / sum(shares)) for n, share in enumerate(shares))


@settings(deadline=None, max_examples=60)
@given(leaves=st.integers(1, 40), shares=SHARES, per_leaf=st.integers(1, 12))
def test_themes_come_by_their_shares(leaves: int, shares: list[int], per_leaf: int) -> None:
    whole = dealt(leaves, shares, per_leaf)
    for places in range(1, per_leaf + 1):
        fewer = [leaf[:places] for leaf in whole]
        assert dealt(leaves, shares, places) == fewer  # more places change nothing for those before them
        assert furthest([theme for leaf in fewer for theme in leaf], shares) < 1
        assert all(furthest(leaf, shares) < (1 if len(shares) < 3 else 2) for leaf in fewer)


@pytest.mark.parametrize(
    ("shares", "places", "of_each"),
    [
        ([1, 1], 2, [{1}, {1}]),  # 106 leaves by turns were a leaf of one theme alone
        ([1, 1], 3, [{1, 2}, {1, 2}]),
        ([1, 1, 1], 3, [{1}, {1}, {1}]),
        ([3, 1], 4, [{3}, {1}]),
        ([5, 3, 2], 10, [{5}, {3}, {2}]),
        ([9, 1], 5, [{4, 5}, {0, 1}]),
    ],
)
def test_each_leaf_has_themes_by_their_shares(shares: list[int], places: int, of_each: list[set[int]]) -> None:
    counts = [Counter(leaf) for leaf in dealt(106, shares, places)]
    assert [{count[str(theme)] for count in counts} for theme in range(len(shares))] == of_each


@pytest.mark.parametrize(("shares", "window"), [([1, 1, 1, 1], 4), ([5, 3, 2], 6), ([9, 1], 11)])
def test_the_first_places_of_leaves_side_by_side_are_of_all_themes(shares: list[int], window: int) -> None:
    """Leaves of one level stand side by side, and no level is to be of one theme."""
    first = [leaf[0] for leaf in dealt(106, shares, 1)]
    assert all(len(set(first[at : at + window])) == len(shares) for at in range(106 - window))


def test_later_places_of_leaves_side_by_side_are_of_several_themes() -> None:
    """Swaps in the order of the leaves gave the third theme to the first half of them, at their second places."""
    third = [number for number, leaf in enumerate(dealt(106, [5, 3, 2], 2)) if leaf[1] == "2"]
    assert sum(number < 53 for number in third) / len(third) == pytest.approx(0.5, abs=0.2)
