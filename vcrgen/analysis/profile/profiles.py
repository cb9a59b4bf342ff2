"""Profiles: scores of a model by level and category, computed from category scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np

from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.task import MCQ_TASK
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import Interval, Percent, Table, TableCell
from vcrgen.stats.arrays import Floats
from vcrgen.stats.bootstrap import BootstrapMean
from vcrgen.stats.calibration import ReliabilityCurve
from vcrgen.stats.intervals import difference_interval, mean_interval
from vcrgen.stats.paired import paired_difference

CHANCE = 0.25  # accuracy of random choices among four options
LEVELS = ("remember", "understand", "apply", "analyze", "evaluate", "create")  # Bloom's, as revised in 2001
SHOWN = MCQ_TASK.main_metrics  # the methods of levels and categories: answers that were read, and likelihoods
# All methods by which an item is right or wrong, by their names in files.
METHODS = {
    name: MCQ_TASK.metrics[name].label
    for name in (*SHOWN, "circular", "letter", "lbs_sum", "lbs_byte", "lbs_char", "lbs_pmi")
}


class Category(NamedTuple):
    """A category of the tree. Names alone may stand for several categories: "texture" is one in three levels."""

    level: str
    subcategory: str
    name: str


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """A share of right answers with its 95 % interval."""

    value: float
    low: float
    high: float
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """Scores of one model in one language and view, by one method."""

    model: str
    lang: str
    view: str  # "image" or "text-only"
    metric: str  # a key of METHODS
    micro: ShareEstimate  # over all items
    macro: ShareEstimate | None  # the mean of the levels
    macro_category: ShareEstimate | None  # the mean of the categories
    levels: Mapping[str, ShareEstimate]
    categories: Mapping[Category, ShareEstimate]
    resampled: BootstrapMean | None = None  # of all items, where the scores of single items are known
    chance: float = CHANCE  # accuracy of random choices

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The identity of a profile on its page."""
        return self.model, self.lang, self.view, self.metric


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Profiles(NotebookResult):
    """Everything that a page of profiles is made of.

    ``to_pandas()`` has a row for each share of right answers. Its columns are ``model``, ``lang``, ``view``,
    ``metric``, ``level``, ``subcategory`` and ``category`` (None for all items, for the mean of levels and for a
    level), ``mean_of`` (``items``, ``levels`` or ``categories``), ``score``, ``low``, ``high`` and ``items``.
    """

    source: str  # the files, or the example
    profiles: Sequence[ModelProfile]
    calibrations: Mapping[tuple[str, str], ReliabilityCurve]  # by model and language
    notes: Sequence[str] = ()  # sentences that a reader of the figures should know
    hidden: bool = False
    next_command: Sequence[str] = ()  # writes the page

    def of(self, model: str, lang: str, metric: str, view: str = "image") -> ModelProfile | None:
        """The profile of a key; None where there is none, which is a gap and not a 0."""
        return next((profile for profile in self.profiles if profile.key == (model, lang, view, metric)), None)

    @property
    def headline(self) -> str:
        """The models and where their scores are from."""
        return f"{self.source}: {pluralize(len(self.models), 'model')}, languages {', '.join(self.langs)}"

    @property
    def summary_table(self) -> Table:
        """The accuracy over all items of each profile."""
        rows: list[list[TableCell]] = [
            [
                *profile.key,
                Percent(profile.micro.value),
                Interval(profile.micro.low, profile.micro.high),
                profile.micro.items,
            ]
            for profile in self.profiles
        ]
        heads = ("Model", "Language", "View", "Method", "Accuracy, %", "95 % interval", "Items")
        return Table(title="Accuracy over all items", heads=heads, labels=4, rows=rows)

    def long_rows(self) -> Iterator[LongRow]:
        """Yield the means over all items, levels and categories, then each level and category."""
        for profile in self.profiles:
            shares: list[tuple[str, str | None, Category | None, ShareEstimate | None]] = [
                ("items", None, None, profile.micro),
                ("levels", None, None, profile.macro),
                ("categories", None, None, profile.macro_category),
                *(("items", level, None, share) for level, share in profile.levels.items()),
                *(("items", category.level, category, share) for category, share in profile.categories.items()),
            ]
            for mean_of, level, category, share in shares:
                if share is not None:
                    yield {
                        **dict(zip(("model", "lang", "view", "metric"), profile.key, strict=True)),
                        "level": level,
                        "subcategory": category and category.subcategory,
                        "category": category and category.name,
                        "mean_of": mean_of,
                        "score": share.value,
                        "low": share.low,
                        "high": share.high,
                        "items": share.items,
                    }

    @property
    def chance(self) -> float:
        """The accuracy of random choices, over all profiles."""
        return fmean(profile.chance for profile in self.profiles) if self.profiles else CHANCE

    @property
    def models(self) -> list[str]:
        """Models in the order in which they were read."""
        return list(dict.fromkeys(profile.model for profile in self.profiles))

    @property
    def langs(self) -> list[str]:
        """Languages in the order in which they were read."""
        return list(dict.fromkeys(profile.lang for profile in self.profiles))

    @property
    def levels(self) -> list[str]:
        """Bloom's levels in their order; those of a tree with others in the order in which they were read."""
        levels = list(dict.fromkeys(level for profile in self.profiles for level in profile.levels))
        return sorted(levels, key=LEVELS.index) if set(levels) <= set(LEVELS) else levels

    @property
    def categories(self) -> list[Category]:
        """Categories in the order of their levels, those of a subcategory together."""
        categories = dict.fromkeys(category for profile in self.profiles for category in profile.categories)
        order = {level: number for number, level in enumerate(self.levels)}
        parts = {part: number for number, part in enumerate(dict.fromkeys(category[:2] for category in categories))}
        return sorted(categories, key=lambda category: (order.get(category.level, len(order)), parts[category[:2]]))


class ProfileGap(NamedTuple):
    """The difference of two profiles: the first minus the second."""

    first: ModelProfile
    second: ModelProfile
    value: float
    low: float  # lower end of the 95 % interval
    high: float
    paired: bool  # on the same pictures; else as if they were of different ones


def gap(first: ModelProfile, second: ModelProfile) -> ProfileGap:
    """The difference over all items, paired by picture where the scores of items are known."""
    a, b = first.resampled, second.resampled
    if a is not None and b is not None and a.groups == b.groups:
        difference = paired_difference(a, b)
        return ProfileGap(first, second, difference.value, difference.low, difference.high, True)
    low, high = difference_interval(first.micro, second.micro)
    return ProfileGap(first, second, first.micro.value - second.micro.value, low, high, False)


def profile_of(
    model: str, lang: str, metric: str, scores: Mapping[Category, tuple[float, int]], *, view: str = "image"
) -> ModelProfile:
    """A profile of the scores of categories, each a share from 0 to 1 with the number of items it is of.

    Example: categories of 30 and 10 items with the shares 0.5 and 0.9 in one level have the micro score 0.6, and both
    macro scores are of the level (0.6) and of the categories (0.7). Intervals take items as independent.
    """
    shares = np.array([share for share, _ in scores.values()])
    items = np.array([count for _, count in scores.values()])
    variances = shares * (1 - shares) / items
    parts: dict[str, list[int]] = {}
    for number, category in enumerate(scores):
        parts.setdefault(category.level, []).append(number)
    total = int(items.sum())

    def pooled(rows: Sequence[int]) -> tuple[float, float, int]:
        """The share of some categories' items that are right, its variance, and how many items there are."""
        weights = items[rows] / items[rows].sum()
        share = min(float(weights @ shares[rows]), 1.0)  # weights may add up to a little more than 1
        return share, float(weights**2 @ variances[rows]), int(items[rows].sum())

    levels = [pooled(rows) for rows in parts.values()]
    overall = [
        pooled(range(len(items))),
        (float(np.mean([share for share, *_ in levels])), sum(v for _, v, _ in levels) / len(levels) ** 2, total),
        (float(shares.mean()), float(variances.sum()) / len(shares) ** 2, total),
    ]
    single = list(zip(shares.tolist(), variances.tolist(), items.tolist(), strict=True))
    estimates = _shares([*overall, *levels, *single])
    by_category = dict(zip(scores, estimates[len(overall) + len(levels) :], strict=True))
    by_level = dict(zip(parts, estimates[len(overall) :], strict=False))
    micro, macro, macro_category = estimates[: len(overall)]
    return ModelProfile(
        model=model,
        lang=lang,
        view=view,
        metric=metric,
        micro=micro,
        macro=macro,
        macro_category=macro_category,
        levels=by_level,
        categories=by_category,
    )


def _shares(figures: Sequence[tuple[float, float, int]]) -> list[ShareEstimate]:
    """Shares with their intervals, of triples of a share, its variance and the number of items."""
    means: Floats = np.array([share for share, *_ in figures])
    sd: Floats = np.sqrt([variance for _, variance, _ in figures])
    counts = np.array([items for *_, items in figures])
    low, high = mean_interval(means, sd, counts)
    columns = zip(means.tolist(), low.tolist(), high.tolist(), counts.tolist(), strict=True)
    return [ShareEstimate(*column) for column in columns]
