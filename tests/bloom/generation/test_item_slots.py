"""Themes of the places of a set."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.bloom.generation.item_slots import assign_slots
from vcrgen.bloom.taxonomy import Taxonomy

SHARES = st.lists(st.integers(1, 5) | st.integers(1, 1000), min_size=1, max_size=8)


def dealt(categories: int, shares: list[int], per_category: int) -> list[list[str]]:
    """The themes of each category's places; theme "0" has the first share."""
    taxonomy = Taxonomy(paths=tuple(f"level/part/{number}" for number in range(categories)))
    themes = {str(number): share for number, share in enumerate(shares)}
    return [[slot.theme for slot in category] for category in assign_slots(taxonomy, themes, per_category)]


def furthest(places: list[str], shares: list[int]) -> float:
    """Return the largest difference between the slots of a theme and its share."""
    found = Counter(places)
    return max(abs(found[str(n)] - len(places) * share / sum(shares)) for n, share in enumerate(shares))


@settings(deadline=None, max_examples=60)
@given(categories=st.integers(1, 40), shares=SHARES, per_category=st.integers(1, 12))
def test_themes_come_by_their_shares(categories: int, shares: list[int], per_category: int) -> None:
    whole = dealt(categories, shares, per_category)
    for places in range(1, per_category + 1):
        fewer = [category[:places] for category in whole]
        assert dealt(categories, shares, places) == fewer  # more places change nothing for those before them
        assert furthest([theme for category in fewer for theme in category], shares) < 1
        assert all(furthest(category, shares) < (1 if len(shares) < 3 else 2) for category in fewer)


@pytest.mark.parametrize(
    ("shares", "places", "of_each"),
    [
        ([1, 1], 2, [{1}, {1}]),  # 106 categories by turns were a category of one theme alone
        ([1, 1], 3, [{1, 2}, {1, 2}]),
        ([1, 1, 1], 3, [{1}, {1}, {1}]),
        ([3, 1], 4, [{3}, {1}]),
        ([5, 3, 2], 10, [{5}, {3}, {2}]),
        ([9, 1], 5, [{4, 5}, {0, 1}]),
    ],
)
def test_each_category_has_themes_by_their_shares(shares: list[int], places: int, of_each: list[set[int]]) -> None:
    counts = [Counter(category) for category in dealt(106, shares, places)]
    assert [{count[str(theme)] for count in counts} for theme in range(len(shares))] == of_each


@pytest.mark.parametrize(("shares", "window"), [([1, 1, 1, 1], 4), ([5, 3, 2], 6), ([9, 1], 11)])
def test_the_first_places_of_categories_side_by_side_are_of_all_themes(shares: list[int], window: int) -> None:
    """Categories of one level stand side by side, and no level is to be of one theme."""
    first = [category[0] for category in dealt(106, shares, 1)]
    assert all(len(set(first[at : at + window])) == len(shares) for at in range(106 - window))


def test_later_places_of_categories_side_by_side_are_of_several_themes() -> None:
    """Swaps in the order of the categories gave the third theme to the first half of them, at their second places."""
    third = [number for number, category in enumerate(dealt(106, [5, 3, 2], 2)) if category[1] == "2"]
    assert sum(number < 53 for number in third) / len(third) == pytest.approx(0.5, abs=0.2)
