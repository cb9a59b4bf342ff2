"""Trends by size within families of models, by the names of models, and gaps by level.

Example: Gemma3-4B, Gemma3-12B and Gemma3-27B are one family. With each doubling of the size their English RAE rises by
3.2 points and their LBS falls by 9.9.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from vcrgen.analysis.profile.differences import Pair, pairs_by
from vcrgen.analysis.profile.profiles import ModelProfile, ShareEstimate
from vcrgen.stats.arrays import Floats
from vcrgen.stats.intervals import NORMAL_QUANTILE, combination_interval, deviation, difference_interval

_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s?([BM])(?![A-Za-z0-9])", re.IGNORECASE)
_JOINTS = re.compile(r"[-_ ]{2,}")
GAP = "rae-lbs"  # the metric of a trend of RAE minus LBS
Scores = tuple[ModelProfile, ...]  # one profile, or two whose difference is meant


class SizedName(NamedTuple):
    """The name of a model without its size, and the size in billions of parameters."""

    family: str
    size: float


class LevelGap(NamedTuple):
    """The difference of two profiles on one level, and its 95 % interval as of different items."""

    level: str
    value: float
    low: float
    high: float


class SizeTrend(NamedTuple):
    """How much a score changes when the size doubles, by least squares on the logarithm of the size."""

    family: str
    sizes: tuple[float, ...]  # ascending
    lang: str
    metric: str  # a key of METHODS, or GAP
    level: str  # "" for all items
    slope: float
    low: float  # lower end of the 95 % interval
    high: float


def sized_name(model: str) -> SizedName | None:
    """The family and the size by the name of a model; None if the name has no size.

    A mixture of experts such as Gemma4-26B-A4B is of another family than Gemma4-31B.
    """
    match = _SIZE.search(model)
    if match is None or float(match[1]) == 0:
        return None
    family = _JOINTS.sub("-", f"{model[: match.start()]}{model[match.end() :]}").strip("-_ ")
    return SizedName(family, float(match[1]) / (1000 if match[2].upper() == "M" else 1)) if family else None


def level_gaps(pair: Pair) -> list[LevelGap]:
    """The first profile minus the second, on each level that both have."""
    first, second = pair
    gaps = []
    for level, share in first.levels.items():
        if level in second.levels:
            low, high = difference_interval(share, second.levels[level])
            gaps.append(LevelGap(level, share.value - second.levels[level].value, low, high))
    return gaps


def size_trends(profiles: Sequence[ModelProfile], *, by_level: bool = False) -> list[SizeTrend]:
    """The trends of all families with two sizes or more, by language and method, and of RAE minus LBS."""
    scores: list[Scores] = [*((profile,) for profile in profiles), *pairs_by(profiles, "metric")]
    return [trend for family in _families(scores) for trend in _trends(family, by_level)]


class _Family(NamedTuple):
    name: str
    scores: list[tuple[float, Scores]]  # of one language and method, with the size of each model, ascending


def _families(scores: Sequence[Scores]) -> list[_Family]:
    """The families with models of several sizes, once for each language and method."""
    groups: dict[tuple[str, ...], dict[float, Scores]] = {}
    for profiles in scores:
        if name := sized_name(profiles[0].model):
            key = (name.family, profiles[0].lang, *(profile.metric for profile in profiles))
            groups.setdefault(key, {}).setdefault(name.size, profiles)
    by_size = ((key[0], sorted(sizes.items(), key=lambda item: item[0])) for key, sizes in groups.items())
    return [_Family(name, sizes) for name, sizes in by_size if len(sizes) > 1]


def _trends(family: _Family, by_level: bool) -> Iterator[SizeTrend]:
    if not by_level:
        yield _trend(family, "")
        return
    profiles = [profile for _, scores in family.scores for profile in scores]
    for level in profiles[0].levels:
        if all(level in profile.levels for profile in profiles):
            yield _trend(family, level)


def _trend(family: _Family, level: str) -> SizeTrend:
    """A slope is a weighted sum of scores; that of a difference has the second ones with the other sign."""
    group = family.scores
    logs = np.array([math.log2(size) for size, _ in group])
    centred = logs - logs.mean()
    weights = centred / (centred**2).sum()
    profiles = [profile for _, scores in group for profile in scores]
    signs = np.array([1.0, -1.0])[: len(group[0][1])]
    coefficients = np.outer(weights, signs).ravel()
    estimates = [profile.levels[level] if level else profile.micro for profile in profiles]
    slope = float(coefficients @ [estimate.value for estimate in estimates])
    low, high = _interval(slope, coefficients, estimates, profiles if not level else ())
    first = group[0][1]
    return SizeTrend(
        family=family.name,
        sizes=tuple(size for size, _ in group),
        lang=first[0].lang,
        metric=first[0].metric if len(first) == 1 else GAP,
        level=level,
        slope=slope,
        low=low,
        high=high,
    )


def _interval(
    slope: float, coefficients: Floats, estimates: Sequence[ShareEstimate], profiles: Sequence[ModelProfile]
) -> tuple[float, float]:
    """Of the same resampled pictures where those are known, or else as of different items, which is wider."""
    resampled = [profile.resampled for profile in profiles]
    means = [mean.means for mean in resampled if mean is not None]
    if len(means) == len(estimates) and len({mean.groups for mean in resampled if mean is not None}) == 1:
        half = NORMAL_QUANTILE * float(deviation(np.column_stack(means) @ coefficients))
        return slope - half, slope + half
    return combination_interval(coefficients, estimates)
