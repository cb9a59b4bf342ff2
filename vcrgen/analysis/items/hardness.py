"""What makes items hard: a mixed logistic model of every score, with models, images and items as random effects.

The log-odds that a model solves an item are the sum of an intercept, the item's traits times their weights, what the
model can do, how hard the image is, and how hard the item is besides. The last three are drawn from normal
distributions of unknown width. Without the item's own part, 300 models' answers on one item would count as 300 pieces
of evidence on what its length does.

It is fitted by a Gaussian variational approximation (Ormerod and Wand, 2012): where the log-odds of a score stand and
how precisely they are known, and with both the chance that is expected. (Penalised quasi-likelihood, which goes by the
likeliest log-odds alone, gives weights that are too small where an item has few answers.) The widths are found by
Schall's (1991) steps. The equations have an unknown for each item and image, which are eliminated before the others are
solved for: so the cost grows with items times models squared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vcrgen.analysis.items.table import ItemTable
from vcrgen.errors import AnalysisError

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Floats, Ints

_MOST_ROUNDS = 500
_NEAR = 1e-4
_LARGEST = 700.0  # log-odds of which there is a number
_NARROWEST = 1e-8  # the smallest variance of an effect, as dividing by it has to be possible
_STRIDE = 1.7  # how far variances go at once, of the way that Schall's step says; from 2 on they might not settle


class Trait(NamedTuple):
    """What items have more or less of."""

    name: str
    unit: str  # what one step of it is, for people: `10 characters`
    values: Floats  # in these units, one an item


class Weight(NamedTuple):
    """What one step of a trait does."""

    trait: Trait
    log_odds: float
    error: float
    p: float  # two-sided

    @property
    def odds_ratio(self) -> tuple[float, float, float]:
        """What the odds of solving an item are multiplied by, and the ends of its 95 % interval."""
        ends = (self.log_odds + z * self.error for z in (0, -1.959964, 1.959964))
        value, low, high = (math.exp(min(end, _LARGEST)) for end in ends)
        return value, low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardness:
    """The fitted model."""

    weights: tuple[Weight, ...]
    left_out: tuple[tuple[str, str], ...]  # traits that are not in it, with the reason
    of_models: float  # standard deviations of the effects, in log-odds
    of_images: float
    of_items: float
    scores: int
    rounds: int


def what_makes_hard(table: ItemTable, traits: Sequence[Trait]) -> Hardness:
    """The weights of traits.

    Raises:
        AnalysisError: No trait differs between items, or the estimates do not settle.
    """
    from scipy.special import erfc

    usable, left_out = _usable(traits)
    if not usable:
        raise AnalysisError(f"{table.source}: no trait differs between the items, so nothing can tell what is hard.")
    columns = np.column_stack([trait.values - trait.values.mean() for trait in usable])
    fit = _Mixed(table, columns)
    rounds = fit.run()
    errors = np.sqrt(np.diag(fit.covariance)[1 : len(usable) + 1])
    p = erfc(np.abs(fit.fixed[1:] / errors) / math.sqrt(2))
    found = zip(usable, fit.fixed[1:].tolist(), errors.tolist(), p.tolist(), strict=True)
    of_models, of_images, of_items = np.sqrt(fit.variances).tolist()
    return Hardness(
        weights=tuple(Weight(*each) for each in found), left_out=tuple(left_out), of_models=of_models,
        of_images=of_images if table.grouped else 0.0, of_items=of_items, scores=int(table.present.sum()),
        rounds=rounds,
    )  # fmt: skip


def _usable(traits: Sequence[Trait]) -> tuple[list[Trait], list[tuple[str, str]]]:
    """The traits that differ between items and are no sum of those before them, and why others are left out."""
    usable: list[Trait] = []
    left_out = []
    basis: list[Floats] = []
    for trait in traits:
        centred = trait.values - trait.values.mean()
        length = float(np.linalg.norm(centred))
        if length < 1e-9 * max(1.0, float(np.abs(trait.values).max()) * len(centred) ** 0.5):
            left_out.append((trait.name, "is the same for all items"))
            continue
        rest = centred / length
        for known in basis:
            rest = rest - (known @ rest) * known
        if float(np.linalg.norm(rest)) < 0.1:  # 99 % of it is told by the others
            left_out.append((trait.name, "goes with the traits above it"))
            continue
        basis.append(rest / np.linalg.norm(rest))
        usable.append(trait)
    return usable, left_out


class _Mixed:
    """The fit; the first of the fixed effects is the intercept."""

    def __init__(self, table: ItemTable, columns: Floats) -> None:
        self.scores, self.there = np.nan_to_num(table.scores), table.present.astype(np.float64)
        self.groups, self.source = table.groups, table.source
        models, items = self.scores.shape
        self.design = np.column_stack([np.ones(items), columns])  # items x fixed effects
        p = float(np.nanmean(table.scores))
        self.fixed = np.zeros(self.design.shape[1])
        self.fixed[0] = math.log((p + 1e-3) / (1 - p + 1e-3))
        self.of_models, self.of_items = np.zeros(models), np.zeros(items)
        self.images = np.zeros(int(self.groups.max()) + 1)
        self.variances = np.array([1.0, 0.5 if table.grouped else _NARROWEST, 0.5])  # of models, images, items
        self.estimated = np.array([True, table.grouped, True])
        self.covariance: Floats = np.zeros((0, 0))  # of the fixed effects and the models
        self.doubt: Floats = np.zeros(self.scores.shape)  # variances of the log-odds of each score

    def run(self) -> int:
        """Weighted least squares and new widths in turn, until nothing changes."""
        for rounds in range(1, _MOST_ROUNDS + 1):
            before = np.concatenate([self.fixed, self.variances])
            try:
                self._round()
            except np.linalg.LinAlgError:
                break
            if np.abs(np.concatenate([self.fixed, self.variances]) - before).max() < _NEAR:
                return rounds
        raise AnalysisError(
            f"{self.source}: the model of what makes items hard does not settle; there are too few models or items for "
            "it."
        )

    def _round(self) -> None:
        """One step of least squares for the effects, and one for the variances."""
        models, fixed, groups = len(self.of_models), len(self.fixed), self.groups
        logits = self.of_models[:, None] + (self.design @ self.fixed + self.images[groups] + self.of_items)
        # The mean of a logistic function of what is normally distributed, and its slope (MacKay, 1992).
        flat = np.sqrt(1 + math.pi / 8 * self.doubt)
        p = 0.5 * (1 + np.tanh(np.clip(logits / flat, -15, 15) / 2))
        weight = self.there * p * (1 - p) / flat
        working = weight * logits + self.there * (self.scores - p)  # weights times the working response
        by_model, by_image, by_item = self.variances

        # The equations of what crosses with items (fixed effects, models), before items and images are taken out.
        of_item = weight.sum(axis=0)
        crossed = np.vstack([(self.design * of_item[:, None]).T, weight])  # (fixed + models) x items
        right = np.concatenate([self.design.T @ working.sum(axis=0), working.sum(axis=1)])
        left: Any = np.zeros((fixed + models, fixed + models))
        left[:fixed, :fixed] = self.design.T @ crossed[:fixed].T
        left[fixed:, :fixed] = weight @ self.design
        left[:fixed, fixed:] = left[fixed:, :fixed].T
        left[fixed:, fixed:] = np.diag(weight.sum(axis=1) + 1 / by_model)

        of_items = of_item + 1 / by_item  # the diagonal of the items' part
        item_right = working.sum(axis=0)
        left -= (crossed / of_items) @ crossed.T
        right -= crossed @ (item_right / of_items)
        kept = 1 - of_item / of_items
        image_crossed = _by_group(crossed * kept, groups, len(self.images))  # (fixed + models) x images
        image_diagonal = _by_group((of_item * kept)[None], groups, len(self.images))[0] + 1 / by_image
        image_right = _by_group((item_right * kept)[None], groups, len(self.images))[0]
        left -= (image_crossed / image_diagonal) @ image_crossed.T
        right -= image_crossed @ (image_right / image_diagonal)

        inverse: Floats = np.linalg.inv(left)
        solution = inverse @ right
        self.fixed, self.of_models = solution[:fixed], solution[fixed:]
        self.images = (image_right - image_crossed.T @ solution) / image_diagonal
        self.of_items = (item_right - crossed.T @ solution - of_item * self.images[groups]) / of_items
        self.covariance = inverse

        # How precisely each effect is known, and what is known of each together with what crosses with it.
        with_image = -inverse @ (image_crossed / image_diagonal)  # (fixed + models) x images
        image_variance = 1 / image_diagonal - ((image_crossed / image_diagonal) * with_image).sum(axis=0)
        of_image = image_variance[groups]
        with_image = with_image[:, groups]
        with_item = -(inverse @ crossed + of_item * with_image) / of_items  # (fixed + models) x items
        image_with_item = -((crossed * with_image).sum(axis=0) + of_item * of_image) / of_items
        item_variance = 1 / of_items - ((crossed * with_item).sum(axis=0) + of_item * image_with_item) / of_items
        self._widen((np.diag(inverse)[fixed:], image_variance, item_variance))

        both = with_image + with_item + inverse[:, :fixed] @ self.design.T
        alone = of_image + item_variance + 2 * image_with_item
        alone = alone + (self.design.T * (2 * both[:fixed] - inverse[:fixed, :fixed] @ self.design.T)).sum(axis=0)
        self.doubt = np.maximum(np.diag(inverse)[fixed:, None] + 2 * both[fixed:] + alone, 0.0)

    def _widen(self, known: Sequence[Floats]) -> None:
        """New variances of the effects of models, images and items, of which the variance of each is known."""
        for number, (effect, variance) in enumerate(
            zip((self.of_models, self.images, self.of_items), known, strict=True)
        ):
            if self.estimated[number]:
                freedom = len(effect) - float(variance.sum()) / self.variances[number]
                ratio = float(effect @ effect) / max(freedom, 1e-9) / self.variances[number]
                moved = self.variances[number] * min(max(ratio, 0.01), 100.0) ** _STRIDE
                self.variances[number] = max(moved, _NARROWEST)


def _by_group(values: Floats, groups: Ints, count: int) -> Floats:
    """The sums of columns that have the same group; groups are sorted by their items or not."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(count))
    sums: Floats = np.add.reduceat(values[:, order], starts, axis=1)
    return sums
