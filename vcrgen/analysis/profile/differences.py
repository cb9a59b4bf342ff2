"""Differences of two profiles by category, adjusted for the number of comparisons.

Example: two models on 106 categories. If they were equally good everywhere, about five categories would still differ
"with p < 0.05". So p-values are adjusted for their number by Benjamini and Hochberg: of the differences that are then
named, at most one in twenty is expected to be none.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from vcrgen.analysis.profile.profiles import Category, ModelProfile
from vcrgen.stats.intervals import difference_interval, difference_p
from vcrgen.stats.paired import benjamini_hochberg

NAMED = 0.05  # adjusted p-values below it name a difference
KEY = ("model", "lang", "view", "metric")  # what ModelProfile.key is made of
Pair = tuple[ModelProfile, ModelProfile]


class CategoryDifference(NamedTuple):
    """The first profile minus the second on one category."""

    first: ModelProfile
    second: ModelProfile
    category: Category
    value: float
    low: float  # lower end of the 95 % interval, not adjusted
    high: float
    p: float  # two-sided
    adjusted: float  # for the number of all differences


def pairs_by(profiles: Sequence[ModelProfile], what: str) -> list[Pair]:
    """All pairs of profiles that differ in one thing and are alike in the others, in the order of the profiles.

    Args:
        profiles: Those of a page.
        what: ``model``, ``lang``, ``view`` or ``metric``. But for the view, only profiles with the picture are paired.
    """
    place = KEY.index(what)
    alike: dict[tuple[str, ...], list[ModelProfile]] = {}
    for each in profiles:
        if what == "view" or each.view == "image":
            alike.setdefault(each.key[:place] + each.key[place + 1 :], []).append(each)
    return [pair for group in alike.values() for pair in combinations(group, 2)]


def category_differences(pairs: Sequence[Pair]) -> list[CategoryDifference]:
    """The differences of all categories that both profiles of a pair have, adjusted for the number of them all.

    Both shares count as those of different items. Where they are of the same items, on which profiles mostly succeed
    and fail together, this names fewer differences than there are.
    """
    found = []
    for first, second in pairs:
        for category, one in first.categories.items():
            if category in second.categories:
                other = second.categories[category]
                value, (low, high) = one.value - other.value, difference_interval(one, other)
                p = difference_p(value, low, high)
                found.append(CategoryDifference(first, second, category, value, low, high, p, p))
    adjusted = benjamini_hochberg(np.array([each.p for each in found]))
    return [each._replace(adjusted=p) for each, p in zip(found, adjusted.tolist(), strict=True)]
