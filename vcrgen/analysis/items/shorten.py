"""Selection of a subset of items, with its accuracy on held-out models.

A unit is kept or left out as a whole: an image with all its items, or an item where items have no images. A selection
fits the models that it was made from, so it is evaluated on others:

    repeat: hold models out -> choose by the others, in each way and size -> compare the held-out models' scores
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vcrgen.analysis.items.classical import NORMAL_95, IntervalEstimate, generator
from vcrgen.analysis.items.irt import fit_items
from vcrgen.analysis.items.item_table import ItemTable
from vcrgen.errors import AnalysisError
from vcrgen.plurals import pluralize
from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.stats.ranking import ascending, spearman

FEWEST_MODELS = 10
FEWEST_HELD_OUT = 5  # or a fifth of the models
MOST_CLUSTERS = 20
_ROUNDS = 30  # of k-means
_COMPONENTS = 8  # of what models do, by which items are clustered
_ROUND = (10, 15, 20, 30, 50, 70)


class SelectionContext(NamedTuple):
    """Input of a selection method: the models that it may look at, unit by unit."""

    table: ItemTable
    difficulty: Floats  # of each unit, the mean score
    rng: np.random.Generator


Order = Callable[[SelectionContext], tuple["Ints", "Floats | None"]]
"""Puts the units into an order that is cut into parts; of each part the unit of the highest value is taken, or any."""


def _random(choice: SelectionContext) -> tuple[Ints, Floats | None]:
    return choice.rng.permutation(len(choice.difficulty)), None


def _stratified(choice: SelectionContext) -> tuple[Ints, Floats | None]:
    return np.lexsort((choice.rng.random(len(choice.difficulty)), choice.difficulty)), None


def _informative(choice: SelectionContext) -> tuple[Ints, Floats | None]:
    """By difficulty; of each part the unit with the highest information at the models' abilities."""
    fitted = fit_items(choice.table)
    known = np.zeros(len(choice.difficulty))
    information = fitted.information(fitted.ability).mean(axis=0)
    np.add.at(known, choice.table.groups[fitted.items], information)
    # Units of equal information differ in the last digits, which depend on how many threads add them up.
    return _stratified(choice)[0], np.round(known / max(known.max(), 1e-300), 6)


def _clustered(choice: SelectionContext) -> tuple[Ints, Floats | None]:
    """Units that the same models do better on than they should stand together; within a cluster, by difficulty."""
    sums, counts = choice.table.sums()
    scores = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    expected = np.nanmean(scores, axis=1)[:, None] + choice.difficulty - np.nanmean(scores)
    left = np.where(counts > 0, scores - expected, 0.0).T  # units x models; what is missing is as expected
    u, s, _ = np.linalg.svd(left - left.mean(axis=0), full_matrices=False)
    places = (u * s)[:, :_COMPONENTS]
    found = _clusters(places, max(1, min(MOST_CLUSTERS, len(places) // 5)))
    return np.lexsort((choice.rng.random(len(places)), choice.difficulty, found)), None


def _clusters(places: Floats, count: int) -> Ints:
    """Lloyd's k-means from centres spread along the first component; own, so that no thread changes the result."""
    along = ascending(places[:, 0])
    centres = places[along[(np.arange(count) * len(along) + len(along) // 2) // count]]
    found: Ints = np.zeros(len(places), np.int64)
    for _ in range(_ROUNDS):
        found = ((places[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        sizes = np.bincount(found, minlength=count)
        moved = np.zeros_like(centres)
        np.add.at(moved, found, places)
        centres = np.where(sizes[:, None] > 0, moved / np.maximum(sizes, 1)[:, None], centres)
    return found


class SelectionMethod(NamedTuple):
    """A way to select units."""

    order: Order
    description: str  # with the fields ``unit`` and ``model``


METHODS: Mapping[str, SelectionMethod] = {
    "random": SelectionMethod(_random, "any {unit}"),
    "stratified": SelectionMethod(
        _stratified, "the {unit} in order of difficulty, cut into as many equal parts as are kept, one of each"
    ),
    "information": SelectionMethod(
        _informative, "the same parts, and of each the one with the highest information by the {model}"
    ),
    "clustered": SelectionMethod(
        _clustered, "one of each equal part of an order by clusters of {unit} that the same models do well on"
    ),
}


class SubsetFit(NamedTuple):
    """Error and rank preservation of one subset on held-out models."""

    error: float  # mean distance of its scores from those of all, as a share
    agreement: float  # Spearman's correlation of both rankings; NaN where one of them has no order
    decisions: float  # share of significantly different pairs that keep their order; NaN without such pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetResult:
    """A method at a size, over all repeats."""

    method: str
    size: int  # units
    error: IntervalEstimate  # mean, and the range of 95 % of the repeats
    agreement: IntervalEstimate
    decisions: IntervalEstimate
    # Than a random choice on the same models, with the interval of the mean: above 0 it is better.
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
    chosen: Mapping[tuple[str, int], tuple[str, ...]]  # method and size to the names of units

    def smallest(self, method: str, *, error: float | None, agreement: float | None) -> tuple[int | None, list[int]]:
        """Return the smallest size that meets the limits, and the smaller inconclusive ones.

        Args:
            method: The selection method.
            error: The largest mean distance of scores, as a share.
            agreement: The smallest rank correlation.

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
    """Round numbers below the number of units: 10, 15, 20, 30, 50, 70, 100 and so on."""
    sizes = [first * 10**power for power in range(8) for first in _ROUND]
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
    fits: dict[tuple[str, int], list[SubsetFit]] = {(method, size): [] for method in METHODS for size in sizes}
    for repeat in range(repeats):
        order = generator(seed, f"held out {repeat}").permutation(models)
        choosing = table.select_models(np.sort(order[held:]))
        for name, units_kept in _choose_all(choosing, sizes, seed, f"repeat {repeat}").items():
            fits[name].append(full.fit(np.sort(order[:held]), units_kept))
    chosen = _choose_all(table, sizes, seed, "final")
    return ShortenResult(
        results=tuple(
            _result(method, size, fits[method, size], fits["random", size], held / (models - held))
            for size in sizes
            for method in METHODS
        ),
        units=units, held_out=held, repeats=repeats, kind=fit_items(table).kind,
        chosen={name: tuple(table.group_names[unit] for unit in of) for name, of in chosen.items()},
    )  # fmt: skip


def _choose_all(table: ItemTable, sizes: Sequence[int], seed: int, name: str) -> dict[tuple[str, int], Ints]:
    sums, counts = table.sums()
    with np.errstate(invalid="ignore", divide="ignore"):
        difficulty = sums.sum(axis=0) / counts.sum(axis=0)
    difficulty = np.nan_to_num(difficulty, nan=float(np.nanmean(table.scores)))  # of what only held-out models have
    chosen = {}
    for method, selection in METHODS.items():
        rng = generator(seed, f"{name} {method}")
        order, value = selection.order(SelectionContext(table, difficulty, rng))
        for size in sizes:
            # Not `array_split`, which makes the first parts larger than the last.
            parts = np.split(order, np.arange(1, size) * len(order) // size)
            picked = [part[rng.integers(len(part))] if value is None else part[value[part].argmax()] for part in parts]
            chosen[method, size] = np.sort(np.array(picked, np.int64))
    return chosen


class _Full:
    """The scores of all models on the whole set, with which subsets are compared."""

    def __init__(self, table: ItemTable) -> None:
        self.sums, self.counts = table.sums()
        totals = self.counts.sum(axis=1)
        self.means = self.sums.sum(axis=1) / totals
        left = (self.sums - self.means[:, None] * self.counts) / totals[:, None]
        units = left.shape[1]
        shared = left @ left.T * units / (units - 1)
        variance = np.diag(shared)[:, None] + np.diag(shared) - 2 * shared
        apart = np.abs(self.means[:, None] - self.means) > NORMAL_95 * np.sqrt(np.maximum(variance, 0.0))
        self.apart: Bits = apart & (np.abs(self.means[:, None] - self.means) > 1e-12)

    def fit(self, rows: Ints, units: Ints) -> SubsetFit:
        """Compare a subset with the full set for some models; models without an item of it are left out."""
        counts = self.counts[np.ix_(rows, units)].sum(axis=1)
        rows, counts = rows[counts > 0], counts[counts > 0]
        part, full = self.sums[np.ix_(rows, units)].sum(axis=1) / counts, self.means[rows]
        apart = np.triu(self.apart[np.ix_(rows, rows)])
        first, second = np.nonzero(apart)
        same = np.sign(part[first] - part[second]) * np.sign(full[first] - full[second])
        decisions = float(((same + 1) / 2).mean()) if len(first) else math.nan
        return SubsetFit(float(np.abs(part - full).mean()), spearman(part, full), decisions)


def _result(
    method: str, size: int, fits: Sequence[SubsetFit], random: Sequence[SubsetFit], tested: float
) -> SubsetResult:
    ours, theirs = np.array(fits), np.array(random)
    error, agreement, decisions = (_range(column) for column in ours.T)
    return SubsetResult(
        method=method, size=size, error=error, agreement=agreement, decisions=decisions,
        less_error=_mean(theirs[:, 0] - ours[:, 0], tested), more_decisions=_mean(ours[:, 2] - theirs[:, 2], tested),
    )  # fmt: skip


def _mean(values: Floats, tested: float) -> IntervalEstimate:
    """The mean over repeats with its 95 % interval; NaN where fewer than two repeats have a value.

    Repeats share models, so their mean varies more than that of independent ones: by the variance of a repeat times
    1 / number + ``tested``, which is the number of held-out models over that of the others (Nadeau and Bengio, 2003).
    """
    from scipy.stats import t

    known = values[~np.isnan(values)]
    if len(known) < 2:
        return IntervalEstimate(math.nan, math.nan, math.nan)
    half = t.ppf(0.975, len(known) - 1) * float(known.std(ddof=1)) * math.sqrt(1 / len(known) + tested)
    return IntervalEstimate(float(known.mean()), float(known.mean()) - half, float(known.mean()) + half)


def _range(values: Floats) -> IntervalEstimate:
    """The mean over repeats and the range of 95 % of them; NaN where no repeat has a value."""
    known = values[~np.isnan(values)]
    if not len(known):
        return IntervalEstimate(math.nan, math.nan, math.nan)
    return IntervalEstimate(float(known.mean()), *map(float, np.quantile(known, (0.025, 0.975))))
