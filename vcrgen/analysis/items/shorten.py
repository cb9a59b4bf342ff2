"""Selection of a subset of items, with an estimator of the score on all of them, and its accuracy on held-out models.

A unit is kept or left out as a whole: an image with all its items, or an item where items have no images. A selection
and its estimator fit the models that they were made from, so they are evaluated on others:

    repeat: hold models out -> choose by the others, in each way and size -> estimate the held-out models' scores
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vcrgen.analysis.items.classical import IntervalEstimate, generator
from vcrgen.analysis.items.irt import ItemModel, fit_items
from vcrgen.analysis.items.item_table import ItemTable
from vcrgen.errors import AnalysisError
from vcrgen.plurals import pluralize
from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.stats.full_score import FullScore, abilities
from vcrgen.stats.intervals import NORMAL_QUANTILE
from vcrgen.stats.ranking import ascending, spearman

FEWEST_MODELS = 10
FEWEST_HELD_OUT = 5  # or a fifth of the models
LARGEST_DEFAULT = 1000  # units of a subset, where no sizes are named
_ROUNDS = 30  # of k-means
_COMPONENTS = 10  # of what models do, by which units are clustered
_ROUND = (10, 15, 20, 30, 50, 70)
_DEGREE = 3  # of the polynomial that maps abilities to scores
_RIDGE = 0.1
_SURE = 20.0  # the logit of an item that all models solve


class SubsetChoice(NamedTuple):
    """A subset with the estimator of the score on all items."""

    units: Ints
    items: Ints  # of these units, in the order of the table
    estimator: FullScore


class SelectionContext:
    """The models that a selection may look at, and what is computed of them once for all methods and sizes."""

    def __init__(self, table: ItemTable) -> None:
        self.table = table
        self.sums, self.counts = table.sums()
        with np.errstate(invalid="ignore", divide="ignore"):
            difficulty = self.sums.sum(axis=0) / self.counts.sum(axis=0)
        # Of what only held-out models have, the mean of all.
        self.difficulty: Floats = np.nan_to_num(difficulty, nan=float(np.nanmean(table.scores)))
        self.of_units = np.bincount(table.groups, minlength=len(self.difficulty)).astype(np.float64)

    @cached_property
    def model(self) -> ItemModel:
        """The item response model."""
        return fit_items(self.table)

    @cached_property
    def curves(self) -> tuple[Floats, Floats]:
        """Slope and intercept of every item; an item on which models do not differ has the slope 0."""
        mean = self.difficulty[self.table.groups]
        varied = self.model.items
        with np.errstate(divide="ignore"):
            constant = np.nanmax(np.where(self.table.present, self.table.scores, np.nan), axis=0, initial=-1)
            constant = np.where(constant < 0, mean, constant)
            intercept = np.clip(np.log(constant) - np.log1p(-constant), -_SURE, _SURE)
        slope = np.zeros(len(mean))
        slope[varied], intercept[varied] = self.model.slope, self.model.intercept
        return slope, intercept

    @cached_property
    def places(self) -> Floats:
        """Units x components of what the models do on them, beyond the unit's and the model's mean; distances count."""
        scores = np.divide(self.sums, self.counts, out=np.full(self.sums.shape, np.nan), where=self.counts > 0)
        filled = np.where(np.isnan(scores), self.difficulty, scores).T
        u, s, _ = np.linalg.svd(filled - filled.mean(axis=0), full_matrices=False)
        found: Floats = (u * s)[:, :_COMPONENTS]
        return found

    def items_of(self, units: Ints) -> Ints:
        """The items of some units."""
        return np.flatnonzero(np.isin(self.table.groups, units))

    def mean(self, items: Ints, _: Floats | None) -> FullScore:
        """The plain mean of some items."""
        return FullScore(weights=np.full(len(items), 1 / len(items)))

    def weighted(self, items: Ints, weights: Floats | None) -> FullScore:
        """The mean of some items, weighted by those that their units stand for."""
        assert weights is not None
        return FullScore(weights=weights[self.table.groups[items]])

    def expected(self, items: Ints, _: Floats | None) -> FullScore:
        """p-IRT: scores of some items, and the expected ones of all others."""
        slope, intercept = self.curves
        outside = np.setdiff1d(np.arange(len(slope)), items)
        return FullScore(
            slope=slope[items],
            intercept=intercept[items],
            outside_slope=slope[outside],
            outside_intercept=intercept[outside],
        )

    def regression(self, items: Ints, _: Floats | None) -> FullScore:
        """The score on all items as a polynomial of the ability by some of them."""
        slope, intercept = self.curves
        ability = abilities(self.table.scores[:, items], slope[items], intercept[items])
        score = self.sums.sum(axis=1) / self.counts.sum(axis=1)
        powers = np.vander(ability, _DEGREE + 1, increasing=True)
        ridge = _RIDGE * np.diag([0.0, *[1.0] * _DEGREE])
        return FullScore(
            slope=slope[items],
            intercept=intercept[items],
            coefficients=np.linalg.solve(powers.T @ powers + ridge, powers.T @ score),
            reach=(float(ability.min()), float(ability.max())),
        )


Units = tuple[Ints, Floats | None]
"""Chosen units, and of all units the weight of each of their items, where they have other ones."""
Select = Callable[[SelectionContext, int, np.random.Generator], Units]
"""Chooses a number of units."""


def _random(context: SelectionContext, size: int, rng: np.random.Generator) -> Units:
    return rng.permutation(len(context.difficulty))[:size], None


def _strata(context: SelectionContext, size: int, rng: np.random.Generator) -> Units:
    """One unit of each of equal parts, in order of difficulty."""
    order = np.lexsort((rng.random(len(context.difficulty)), context.difficulty))
    # Not `array_split`, which makes the first parts larger than the last.
    parts = np.split(order, np.arange(1, size) * len(order) // size)
    return np.array([part[rng.integers(len(part))] for part in parts], np.int64), None


def _anchor_points(context: SelectionContext, size: int, rng: np.random.Generator) -> Units:
    """The unit nearest to the centre of each cluster of response patterns, weighted by the items that it stands for.

    Lloyd's k-means from random units; own, so that no thread changes the result.
    """
    places = context.places
    centres = places[rng.permutation(len(places))[:size]]
    labels: Ints = np.zeros(len(places), np.int64)
    for _ in range(_ROUNDS):
        new, _ = _nearest(places, centres)
        if (new == labels).all():
            break
        labels = new
        sizes = np.bincount(labels, minlength=size)
        moved = np.zeros_like(centres)
        np.add.at(moved, labels, places)
        centres = np.where(sizes[:, None] > 0, moved / np.maximum(sizes, 1)[:, None], centres)
    labels, far = _nearest(places, centres)
    order = ascending(far)
    anchors, first = np.unique(labels[order], return_index=True)
    units = order[first]
    shares = np.bincount(labels, context.of_units, minlength=size)[anchors] / context.of_units.sum()
    if len(units) < size:  # clusters stay empty where units are alike: others stand for nothing but themselves
        others = rng.permutation(np.setdiff1d(np.arange(len(places)), units))[: size - len(units)]
        units, shares = np.concatenate([units, others]), np.concatenate([shares, np.zeros(len(others))])
    weights = np.zeros(len(context.difficulty))
    weights[units] = shares / context.of_units[units]
    return units, weights


def _nearest(places: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """Of each place the nearest centre and its squared distance; distances are rounded, so that ties are the same."""
    scale = max(float((places**2).sum(axis=1).max()), 1e-300)
    labels, far = np.empty(len(places), np.int64), np.empty(len(places))
    block = max(1, (1 << 22) // len(centres))
    for start in range(0, len(places), block):
        part = places[start : start + block]
        squares = ((part**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * part @ centres.T) / scale
        squares = squares.round(9)
        labels[start : start + block] = squares.argmin(axis=1)
        far[start : start + block] = squares.min(axis=1)
    return labels, far


def _informative(context: SelectionContext, size: int, _: np.random.Generator) -> Units:
    """Of each of equal parts of the models, in order of ability, the unit that tells most about them."""
    model, groups = context.model, context.table.groups
    by_item = model.information(model.ability)
    known = np.zeros((len(context.difficulty), len(by_item)))
    np.add.at(known, groups[model.items], by_item.T)
    order = ascending(model.ability)
    left = np.ones(len(known), bool)
    units = []
    for number in range(size):
        start, end = number * len(order) // size, (number + 1) * len(order) // size
        # Units of equal information differ in the last digits, which depend on how many threads add them up.
        value = known[:, order[start : max(end, start + 1)]].mean(axis=1)
        value = np.where(left, np.round(value / max(value.max(), 1e-300), 6), -1.0)
        units.append(int(value.argmax()))
        left[units[-1]] = False
    return np.array(units, np.int64), None


class SelectionMethod(NamedTuple):
    """A way to select units and to estimate the score on all of them."""

    select: Select
    estimator: Callable[[SelectionContext, Ints, Floats | None], FullScore]  # of items, and the weights of units
    description: str  # with the fields ``unit`` and ``model``


METHODS: Mapping[str, SelectionMethod] = {
    "random": SelectionMethod(_random, SelectionContext.mean, "any {unit}, and their mean"),
    "stratified": SelectionMethod(
        _strata,
        SelectionContext.mean,
        "the {unit} in order of difficulty, cut into as many equal parts as are kept, one of each, and their mean",
    ),
    "pirt": SelectionMethod(
        _strata,
        SelectionContext.expected,
        "the same selection; the {model} gives the expected scores of all other {unit} (p-IRT of tinyBenchmarks)",
    ),
    "anchors": SelectionMethod(
        _anchor_points,
        SelectionContext.weighted,
        "of each cluster of {unit} that the same models do well on the one in the middle, and their mean "
        "weighted by the size of the cluster (anchor points of tinyBenchmarks)",
    ),
    "anchors-pirt": SelectionMethod(
        _anchor_points, SelectionContext.expected, "the same anchor points with the estimate of pirt"
    ),
    "metabench": SelectionMethod(
        _informative,
        SelectionContext.regression,
        "the {unit} with the highest information at the abilities of the models by the {model}; scores are "
        "a cubic function of ability (metabench)",
    ),
}


class SubsetFit(NamedTuple):
    """Error and rank preservation of one subset on held-out models."""

    error: float  # mean distance of its estimates from the scores on all, as a share
    agreement: float  # Spearman's correlation of both rankings; NaN where one of them has no order
    decisions: float  # share of significantly different pairs that keep their order; NaN without such pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetResult:
    """A method at a size, over all repeats: means with their 95 % intervals."""

    method: str
    size: int  # units
    error: IntervalEstimate
    within: float  # distance within which 95 % of the held-out models' estimates are
    agreement: IntervalEstimate
    decisions: IntervalEstimate
    # Than a random choice on the same models: above 0 it is better.
    less_error: IntervalEstimate
    more_decisions: IntervalEstimate  # that are right


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortenResult:
    """Results of all methods and sizes, and their selections by all models."""

    results: tuple[SubsetResult, ...]
    units: int
    held_out: int  # models, in each repeat
    repeats: int
    kind: str  # of the item model: "2PL" or "Rasch"
    chosen: Mapping[tuple[str, int], SubsetChoice]

    def smallest(self, method: str, *, error: float | None, agreement: float | None) -> tuple[int | None, list[int]]:
        """Return the smallest size that meets the limits, and the smaller inconclusive ones.

        Args:
            method: The selection method.
            error: The largest mean distance of scores, as a share.
            agreement: The smallest mean rank correlation.

        Returns:
            A size is None where no size meets them.
        """
        unsure: list[int] = []
        for each in sorted((each for each in self.results if each.method == method), key=lambda each: each.size):
            met = []
            if error is not None:
                met.append((each.error.high <= error, each.error.low <= error))
            if agreement is not None:
                met.append((each.agreement.low >= agreement, each.agreement.high >= agreement))
            if all(surely for surely, _ in met):
                return each.size, unsure
            if all(perhaps for _, perhaps in met):
                unsure.append(each.size)
        return None, unsure


def default_sizes(units: int) -> list[int]:
    """Round numbers below the number of units, 1,000 at most: 10, 15, 20, 30, 50, 70, 100 and so on."""
    sizes = [first * 10**power for power in range(3) for first in _ROUND if first * 10**power <= LARGEST_DEFAULT]
    return [size for size in sizes if size < units]


def shorten(table: ItemTable, sizes: Sequence[int], *, seed: int, repeats: int) -> ShortenResult:
    """Choose subsets in every way and measure them on models that were held out of the choice.

    Args:
        table: Scores of at least 10 models.
        sizes: How many units to keep.
        seed: Of all choices.
        repeats: How often models are held out.

    Raises:
        AnalysisError: There are fewer than 10 models, or a size is none.
    """
    models, units = len(table.models), len(table.group_names)
    if models < FEWEST_MODELS:
        raise AnalysisError(
            f"To shorten a set needs at least {FEWEST_MODELS} models, as some are held out of the choice; "
            f"{table.source} has {models}."
        )
    if bad := [size for size in sizes if not 2 <= size < units]:
        raise AnalysisError(f"{bad[0]} of {units} cannot be kept; give sizes from 2 to {units - 1} (--keep).")
    if not sizes:
        raise AnalysisError(
            f"{table.source} has only {pluralize(units, 'unit')}, too few to keep a part of; name sizes with --keep."
        )
    held = max(FEWEST_HELD_OUT, models // 5)
    full = _Full(table)
    fits: dict[tuple[str, int], list[tuple[SubsetFit, Floats]]] = {
        (method, size): [] for size in sizes for method in METHODS
    }
    for repeat in range(repeats):
        order = generator(seed, f"held out {repeat}").permutation(models)
        choosing = table.select_models(np.sort(order[held:]))
        for name, choice in _choose_all(choosing, sizes, seed, f"repeat {repeat}").items():
            fits[name].append(full.fit(np.sort(order[:held]), choice))
    tested = held / (models - held)
    return ShortenResult(
        results=tuple(_result(*name, of, fits["random", name[1]], tested) for name, of in fits.items()),
        units=units,
        held_out=held,
        repeats=repeats,
        kind=fit_items(table).kind,
        chosen=_choose_all(table, sizes, seed, "final"),
    )


def _choose_all(table: ItemTable, sizes: Sequence[int], seed: int, name: str) -> dict[tuple[str, int], SubsetChoice]:
    """Choose in every way and size; methods of one selection draw the same units, so that estimators are compared."""
    context = SelectionContext(table)
    found: dict[tuple[str, int], SubsetChoice] = {}
    for size in sizes:
        drawn: dict[Select, Units] = {}
        for method, (select, estimator, _) in METHODS.items():
            if select not in drawn:
                drawn[select] = select(context, size, generator(seed, f"{name} {method} {size}"))
            units, weights = drawn[select]
            items = context.items_of(units)
            found[method, size] = SubsetChoice(np.sort(units), items, estimator(context, items, weights))
    return found


class _Full:
    """The scores of all models on the whole set, with which estimates are compared."""

    def __init__(self, table: ItemTable) -> None:
        self.scores = table.scores
        sums, counts = table.sums()
        totals = counts.sum(axis=1)
        self.means = sums.sum(axis=1) / totals
        left = (sums - self.means[:, None] * counts) / totals[:, None]
        units = left.shape[1]
        shared = left @ left.T * units / (units - 1)
        variance = np.diag(shared)[:, None] + np.diag(shared) - 2 * shared
        apart = np.abs(self.means[:, None] - self.means) > NORMAL_QUANTILE * np.sqrt(np.maximum(variance, 0.0))
        self.apart: Bits = apart & (np.abs(self.means[:, None] - self.means) > 1e-12)

    def fit(self, rows: Ints, choice: SubsetChoice) -> tuple[SubsetFit, Floats]:
        """Compare a subset with the full set for some models, and give their errors.

        Models without an item of it are left out.
        """
        part = choice.estimator.estimate(self.scores[np.ix_(rows, choice.items)])
        rows, part = rows[~np.isnan(part)], part[~np.isnan(part)]
        full = self.means[rows]
        first, second = np.nonzero(np.triu(self.apart[np.ix_(rows, rows)]))
        # Estimates of the same score differ in the last digits.
        same = np.sign((part[first] - part[second]).round(12)) * np.sign(full[first] - full[second])
        decisions = float(((same + 1) / 2).mean()) if len(first) else math.nan
        errors = np.abs(part - full)
        mean = float(errors.mean()) if len(errors) else math.nan
        return SubsetFit(mean, spearman(part.round(12), full), decisions), errors


def _result(
    method: str,
    size: int,
    fits: Sequence[tuple[SubsetFit, Floats]],
    random: Sequence[tuple[SubsetFit, Floats]],
    tested: float,
) -> SubsetResult:
    ours, theirs = (np.array([fit for fit, _ in of]) for of in (fits, random))
    error, agreement, decisions = (
        _mean(column, tested, (low, 1.0)) for column, low in zip(ours.T, (0.0, -1.0, 0.0), strict=True)
    )
    errors = np.concatenate([each for _, each in fits])
    return SubsetResult(
        method=method,
        size=size,
        error=error,
        agreement=agreement,
        decisions=decisions,
        within=float(np.quantile(errors, 0.95)) if len(errors) else math.nan,
        less_error=_mean(theirs[:, 0] - ours[:, 0], tested),
        more_decisions=_mean(ours[:, 2] - theirs[:, 2], tested),
    )


def _mean(values: Floats, tested: float, bounds: tuple[float, float] = (-1.0, 1.0)) -> IntervalEstimate:
    """The mean over repeats with its 95 % interval, within bounds; NaN where fewer than two repeats have a value.

    Repeats share models, so their mean varies more than that of independent ones: by the variance of a repeat times
    1 / number + ``tested``, which is the number of held-out models over that of the others (Nadeau and Bengio, 2003).
    """
    from scipy.stats import t

    known = values[~np.isnan(values)]
    if len(known) < 2:
        return IntervalEstimate(math.nan, math.nan, math.nan)
    half = t.ppf(0.975, len(known) - 1) * float(known.std(ddof=1)) * math.sqrt(1 / len(known) + tested)
    mean, (low, high) = float(known.mean()), bounds
    return IntervalEstimate(mean, max(mean - half, low), min(mean + half, high))
