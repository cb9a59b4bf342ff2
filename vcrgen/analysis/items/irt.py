"""Item response models (Rasch, 2PL): difficulty and discrimination of items, on one scale with the models' ability.

A model of ability t solves an item with probability 1 / (1 + exp(-(a t + c))): ``a`` is the item's slope, its
difficulty is ``-c / a``, the ability at which half of the models solve it. Abilities have mean 0 and standard deviation
1. Two models of items are fitted, by the EM algorithm of Bock and Aitkin (1981) on a grid of abilities:

- 2PL, a slope for each item, from 100 models on. Weak priors keep items that nearly all models solve within bounds:
  slopes N(1, 1), intercepts N(0, 3).
- Rasch, one slope for all items, with fewer: their slopes would be noise. Intercepts are drawn towards their mean by
  as much as the data say (empirical Bayes), as the difficulty of an item that 8 of 10 models solve is vague.

A score between 0 and 1 counts as that share of a solution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.items.item_table import ItemTable
from vcrgen.errors import AnalysisError
from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.full_score import logistic

FEWEST_FOR_2PL = 100  # models
MOST_CELLS = 1 << 22  # of models x items; larger tables have classical figures only
SLOPE_PRIOR, INTERCEPT_PRIOR = (1.0, 1.0), (0.0, 3.0)  # mean and standard deviation
_REACH, _NODES = 6.0, 121  # the grid of abilities
_STEPS = 2  # of Newton, in each round
_MOST_ROUNDS = 2000
_NEAR = 1e-4  # the largest change of an estimate with which the rounds end


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemModel:
    """A fitted model of items."""

    kind: str  # "2PL" or "Rasch"
    items: Ints  # the numbers of the items that are in it: not those that all models, or none, solve
    slope: Floats
    intercept: Floats
    slope_error: Floats  # standard errors; of Rasch, that of the common slope
    intercept_error: Floats
    difficulty_error: Floats
    ability: Floats  # of each model
    ability_error: Floats
    rounds: int  # of the EM algorithm

    @property
    def difficulty(self) -> Floats:
        """The ability at which half of the models solve an item."""
        return -self.intercept / self.slope

    def information(self, abilities: Floats) -> Floats:
        """Return the information, abilities x items; its inverse square root is a standard error."""
        p = logistic(abilities[:, None] * self.slope + self.intercept)
        values: Floats = self.slope**2 * p * (1 - p)
        return values


def fit_items(table: ItemTable) -> ItemModel:
    """2PL from 100 models on, Rasch with fewer.

    Raises:
        AnalysisError: No item is solved by some models and not by others, or the estimates do not settle.
    """
    return fit_2pl(table) if len(table.models) >= FEWEST_FOR_2PL else fit_rasch(table)


def fit_2pl(table: ItemTable) -> ItemModel:
    """A slope and a difficulty for each item.

    Raises:
        AnalysisError: As :func:`fit_items`, or there are fewer than 100 models.
    """
    if len(table.models) < FEWEST_FOR_2PL:
        raise AnalysisError(
            f"A 2PL needs {FEWEST_FOR_2PL} models, as with fewer the slopes of items are noise; {table.source} has "
            f"{len(table.models)}. Take Rasch, which has one slope for all items."
        )
    return _Fit(table, rasch=False).run()


def fit_rasch(table: ItemTable) -> ItemModel:
    """One slope for all items; their intercepts are drawn towards their mean.

    Raises:
        AnalysisError: As :func:`fit_items`.
    """
    return _Fit(table, rasch=True).run()


class _Fit:
    """The EM algorithm on one table; arrays are items x nodes unless said otherwise."""

    def __init__(self, table: ItemTable, *, rasch: bool) -> None:
        self.items = table.varying_items
        if not len(self.items):
            raise AnalysisError(f"{table.source}: no item is solved by some models and not by others.")
        self.source, self.rasch = table.source, rasch
        scores = table.scores[:, self.items]
        self.there = None if not np.isnan(scores).any() else (~np.isnan(scores)).astype(np.float64)
        self.scores = np.nan_to_num(scores)  # models x items
        self.nodes = np.linspace(-_REACH, _REACH, _NODES)
        self.log_prior = -(self.nodes**2) / 2
        p = np.clip(np.nanmean(scores, axis=0), 0.02, 0.98)
        self.slope, self.intercept = np.ones(len(p)), 1.2 * np.log(p / (1 - p))
        self.mean, self.deviation = INTERCEPT_PRIOR
        if rasch:
            self.mean, self.deviation = float(self.intercept.mean()), max(float(self.intercept.std()), 0.5)

    def run(self) -> ItemModel:
        """Expectation and maximisation until nothing changes."""
        for rounds in range(1, _MOST_ROUNDS + 1):
            before = np.concatenate([self.slope, self.intercept])
            weights = self._weights()
            self._maximise(weights)
            self._rescale(weights)
            change = np.abs(np.concatenate([self.slope, self.intercept]) - before)
            if change.max() < _NEAR:
                return self._made(self._weights(), rounds)
        raise AnalysisError(
            f"{self.source}: the estimates of the item model do not settle in {_MOST_ROUNDS} rounds (the last change "
            f"was {change.max():.1g}); there are too few models or items for it."
        )

    def _logits(self) -> Floats:
        logits: Floats = np.outer(self.slope, self.nodes) + self.intercept[:, None]
        return logits

    def _weights(self) -> Floats:
        """Models x nodes: how likely each ability is, given a model's scores."""
        logits = self._logits()
        fails = -np.logaddexp(0.0, logits)
        log = self.scores @ logits + (fails.sum(axis=0) if self.there is None else self.there @ fails) + self.log_prior
        weights = np.exp(log - log.max(axis=1, keepdims=True))
        normed: Floats = weights / weights.sum(axis=1, keepdims=True)
        return normed

    def _counts(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the expected number of models with an item at each node, and their expected score."""
        shape = (len(self.items), _NODES)
        count = np.broadcast_to(weights.sum(axis=0), shape) if self.there is None else self.there.T @ weights
        return count, self.scores.T @ weights

    def _maximise(self, weights: Floats) -> None:
        count, solved = self._counts(weights)
        for _ in range(_STEPS):
            p = logistic(self._logits())
            short, spread = solved - count * p, count * p * (1 - p)
            by_slope, by_intercept = short @ self.nodes, short.sum(axis=1)
            aa, ac, cc = spread @ self.nodes**2, spread @ self.nodes, spread.sum(axis=1)
            by_intercept -= (self.intercept - self.mean) / self.deviation**2
            cc += 1 / self.deviation**2
            if self.rasch:  # one slope: the intercepts are taken out of its equation
                change = (by_slope - ac * by_intercept / cc).sum() / (aa - ac**2 / cc).sum()
                self.slope = self.slope + np.clip(change, -0.5, 0.5)
                self.intercept = self.intercept + np.clip((by_intercept - ac * change) / cc, -1, 1)
                centre = self.intercept.mean()
                self.mean = float(centre)
                self.deviation = float(np.sqrt(((self.intercept - centre) ** 2 + 1 / cc).mean()))
                continue
            by_slope -= (self.slope - SLOPE_PRIOR[0]) / SLOPE_PRIOR[1] ** 2
            aa += 1 / SLOPE_PRIOR[1] ** 2
            determinant = aa * cc - ac**2
            self.slope = self.slope + np.clip((cc * by_slope - ac * by_intercept) / determinant, -0.5, 0.5)
            self.intercept = self.intercept + np.clip((aa * by_intercept - ac * by_slope) / determinant, -1, 1)

    def _rescale(self, weights: Floats) -> None:
        """Bring the models' abilities back to mean 0 and standard deviation 1, and the items with them.

        Left to themselves the rounds do so, too, but slowly where many items say precisely what a model can do
        (parameter expansion: Liu, Rubin and Wu, 1998).
        """
        share = weights.mean(axis=0)
        mean = float(share @ self.nodes)
        deviation = float(np.sqrt(share @ self.nodes**2 - mean**2))
        self.intercept = self.intercept + self.slope * mean
        self.slope = self.slope * deviation

    def _made(self, weights: Floats, rounds: int) -> ItemModel:
        ability, ability_error = self._abilities(weights)
        aa, ac, cc = self._observed(weights)
        cc = cc + 1 / self.deviation**2
        if self.rasch:
            total = (aa - ac**2 / cc).sum()
            slope_variance = np.full(len(cc), 1 / total)
            intercept_variance = 1 / cc + (ac / cc) ** 2 / total
            shared = -(ac / cc) / total
        else:
            aa = aa + 1 / SLOPE_PRIOR[1] ** 2
            determinant = aa * cc - ac**2
            slope_variance, intercept_variance, shared = cc / determinant, aa / determinant, -ac / determinant
        a, c = self.slope, self.intercept
        # Of -c / a, by its derivatives.
        difficulty = (intercept_variance + (c / a) ** 2 * slope_variance - 2 * (c / a) * shared) / a**2
        errors = (np.sqrt(np.where(v > 0, v, np.nan)) for v in (slope_variance, intercept_variance, difficulty))
        slope_error, intercept_error, difficulty_error = errors
        return ItemModel(
            kind="Rasch" if self.rasch else "2PL",
            items=self.items,
            slope=a,
            intercept=c,
            slope_error=slope_error,
            intercept_error=intercept_error,
            difficulty_error=difficulty_error,
            ability=ability,
            ability_error=ability_error,
            rounds=rounds,
        )

    def _observed(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the observed information of each item's slope and intercept (Louis, 1982).

        It is the information of known abilities less the variance of the derivatives over the abilities that a model
        may have.
        """
        count, solved = self._counts(weights)
        p = logistic(self._logits())
        squares = (self.scores**2).T @ weights
        # Information if abilities were known, less the expected squares of the derivatives ...
        kept = count * p * (1 - p) - (squares - 2 * p * solved + p**2 * count)
        # ... plus the squares of what is expected of the derivatives, of each model.
        there = 1.0 if self.there is None else self.there
        by_intercept = self.scores - there * (weights @ p.T)
        by_slope = self.scores * (weights @ self.nodes)[:, None] - there * (weights @ (p * self.nodes).T)
        return (
            kept @ self.nodes**2 + (by_slope**2).sum(axis=0),
            kept @ self.nodes + (by_slope * by_intercept).sum(axis=0),
            kept.sum(axis=1) + (by_intercept**2).sum(axis=0),
        )

    def _abilities(self, weights: Floats) -> tuple[Floats, Floats]:
        """The likeliest ability of each model, from the grid's on by Newton's steps, and its standard error."""
        ability = weights @ self.nodes
        there = np.ones_like(self.scores) if self.there is None else self.there
        for _ in range(5):
            p = logistic(ability[:, None] * self.slope + self.intercept)
            known = (there * p * (1 - p)) @ self.slope**2 + 1
            ability = ability + np.clip(((self.scores - there * p) @ self.slope - ability) / known, -1, 1)
        return ability, 1 / np.sqrt(known)
