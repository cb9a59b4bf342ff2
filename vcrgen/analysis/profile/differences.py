"""Differences of two profiles by category, adjusted for the number of comparisons.

Example: two models on 106 categories. If they were equally good everywhere, about five categories would still differ
"with p < 0.05". So p-values are adjusted for their number by Benjamini and Hochberg: of the differences that are then
named, at most one in twenty is expected to be none.
"""

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


def pairs_by(profiles: Sequence[ModelProfile], axis: str) -> list[Pair]:
    """All pairs of profiles that differ in one thing and are alike in the others, in the order of the profiles.

    Args:
        axis: ``model``, ``lang``, ``view`` or ``metric``. But for the view, only profiles with the picture are paired.
    """
    position = KEY.index(axis)
    groups: dict[tuple[str, ...], list[ModelProfile]] = {}
    for profile in profiles:
        if axis == "view" or profile.view == "image":
            groups.setdefault(profile.key[:position] + profile.key[position + 1 :], []).append(profile)
    return [pair for group in groups.values() for pair in combinations(group, 2)]


def category_differences(pairs: Sequence[Pair]) -> list[CategoryDifference]:
    """The differences of all categories that both profiles of a pair have, adjusted for the number of them all.

    Both shares count as those of different items. Where they are of the same items, on which profiles mostly succeed
    and fail together, this names fewer differences than there are.
    """
    differences = []
    for first, second in pairs:
        for category, share in first.categories.items():
            if category in second.categories:
                other = second.categories[category]
                value, (low, high) = share.value - other.value, difference_interval(share, other)
                p = difference_p(value, low, high)
                differences.append(CategoryDifference(first, second, category, value, low, high, p, p))
    adjusted = benjamini_hochberg(np.array([difference.p for difference in differences]))
    return [difference._replace(adjusted=p) for difference, p in zip(differences, adjusted.tolist(), strict=True)]
