"""Predictors of item difficulty: a mixed logistic regression of scores on covariates of the items.

Models, images and items are random effects, drawn from normal distributions of unknown variance. Without the effect of
the item, 300 models' answers on one item would count as 300 independent observations of its covariates.

The fit is a Gaussian variational approximation (Ormerod and Wand, 2012); penalised quasi-likelihood underestimates the
effects where an item has few answers. Variances are updated as by Schall (1991). The effects of items and images are
eliminated from the equations first, so the cost grows with items times models squared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from vcrgen.analysis.items.item_table import ItemTable
from vcrgen.errors import AnalysisError
from vcrgen.stats.arrays import Floats, Ints

_MOST_ROUNDS = 500
_NEAR = 1e-4
_LARGEST = 700.0  # log-odds of which there is a number
_NARROWEST = 1e-8  # the smallest variance of an effect, as dividing by it has to be possible
_STRIDE = 1.7  # how far variances go at once, of the way that Schall's step says; from 2 on they might not settle


class Covariate(NamedTuple):
    """A covariate of items, such as their length."""

    name: str
    unit: str  # what one step of it is, for people: `10 characters`
    values: Floats  # in these units, one an item


class CovariateEffect(NamedTuple):
    """The effect of one unit of a covariate."""

    covariate: Covariate
    log_odds: float
    error: float
    p: float  # two-sided

    @property
    def odds_ratio(self) -> tuple[float, float, float]:
        """The odds ratio of solving an item, with the ends of its 95 % interval."""
        ends = (self.log_odds + z * self.error for z in (0, -1.959964, 1.959964))
        value, low, high = (math.exp(min(end, _LARGEST)) for end in ends)
        return value, low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class DifficultyModel:
    """The fitted model."""

    effects: tuple[CovariateEffect, ...]
    left_out: tuple[tuple[str, str], ...]  # covariates that are not in it, with the reason
    of_models: float  # standard deviations of the effects, in log-odds
    of_images: float
    of_items: float
    scores: int
    rounds: int


def fit_difficulty_model(table: ItemTable, covariates: Sequence[Covariate]) -> DifficultyModel:
    """Estimate the effects of covariates on the difficulty of items.

    Raises:
        AnalysisError: No covariate differs between items, or the estimates do not settle.
    """
    from scipy.special import erfc

    usable, left_out = _usable(covariates)
    if not usable:
        raise AnalysisError(f"{table.source}: no covariate differs between the items, so there is no predictor.")
    columns = np.column_stack([covariate.values - covariate.values.mean() for covariate in usable])
    fit = _Mixed(table, columns)
    rounds = fit.run()
    errors = np.sqrt(np.diag(fit.covariance)[1 : len(usable) + 1])
    p = erfc(np.abs(fit.fixed[1:] / errors) / math.sqrt(2))
    found = zip(usable, fit.fixed[1:].tolist(), errors.tolist(), p.tolist(), strict=True)
    of_models, of_images, of_items = np.sqrt(fit.variances).tolist()
    return DifficultyModel(
        effects=tuple(CovariateEffect(*each) for each in found),
        left_out=tuple(left_out),
        of_models=of_models,
        of_images=of_images if table.is_grouped else 0.0,
        of_items=of_items,
        scores=int(table.present.sum()),
        rounds=rounds,
    )


def _usable(covariates: Sequence[Covariate]) -> tuple[list[Covariate], list[tuple[str, str]]]:
    """The covariates that differ between items and are no sum of those before them, and why others are left out."""
    usable: list[Covariate] = []
    left_out = []
    basis: list[Floats] = []
    for covariate in covariates:
        centred = covariate.values - covariate.values.mean()
        length = float(np.linalg.norm(centred))
        if length < 1e-9 * max(1.0, float(np.abs(covariate.values).max()) * len(centred) ** 0.5):
            left_out.append((covariate.name, "is the same for all items"))
            continue
        rest = centred / length
        for known in basis:
            rest = rest - (known @ rest) * known
        if float(np.linalg.norm(rest)) < 0.1:  # 99 % of its variance is explained by the others
            left_out.append((covariate.name, "is collinear with the covariates above it"))
            continue
        basis.append(rest / np.linalg.norm(rest))
        usable.append(covariate)
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
        self.variances = np.array([1.0, 0.5 if table.is_grouped else _NARROWEST, 0.5])  # of models, images, items
        self.estimated = np.array([True, table.is_grouped, True])
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
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(count))
    sums: Floats = np.add.reduceat(values[:, order], starts, axis=1)
    return sums
