"""Estimates of a model's score on all items from its scores on some of them.

Three estimators, after Polo et al. (tinyBenchmarks, 2024) and Kipnis et al. (metabench, 2024):

- weights: each item stands for a share of all (equal shares are the plain mean; anchor points have their clusters').
- p-IRT: the model's ability by an item response model, then its scores on the items that it has and the expected ones
  on the others.
- regression: the score of all items as a polynomial of the ability, fitted to models of which both are known.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vcrgen.stats.arrays import Floats

MOST_STEPS = 50  # of Newton's iteration for an ability
NEAR = 1e-10
_NONE: Floats = np.empty(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FullScore:
    """An estimator of the score on all items; which one follows from the fields that are filled."""

    weights: Floats = field(default_factory=lambda: _NONE)  # of the items that a model has, for weighted means
    slope: Floats = field(default_factory=lambda: _NONE)  # of the same items, by the item response model
    intercept: Floats = field(default_factory=lambda: _NONE)
    outside_slope: Floats = field(default_factory=lambda: _NONE)  # of the other items
    outside_intercept: Floats = field(default_factory=lambda: _NONE)
    coefficients: Floats = field(default_factory=lambda: _NONE)  # of powers of the ability, the constant first
    reach: tuple[float, float] = (0.0, 0.0)  # abilities that the polynomial was fitted to

    def estimate(self, scores: Floats) -> Floats:
        """Estimate scores on all items.

        Args:
            scores: Models x items of the subset, from 0 to 1; NaN where a model has no score.

        Returns:
            Of each model a share; NaN for a model without any score.
        """
        there = ~np.isnan(scores)
        filled = np.where(there, scores, 0.0)
        if len(self.weights):
            with np.errstate(invalid="ignore"):
                means: Floats = (filled @ self.weights) / (there @ self.weights)
            return means
        ability = abilities(scores, self.slope, self.intercept)
        if len(self.coefficients):
            found = np.polynomial.polynomial.polyval(np.clip(ability, *self.reach), self.coefficients)
            found = np.clip(found, 0.0, 1.0)
        else:
            expected = logistic(ability[:, None] * self.slope + self.intercept)
            outside = logistic(ability[:, None] * self.outside_slope + self.outside_intercept).sum(axis=1)
            items = len(self.slope) + len(self.outside_slope)
            found = (np.where(there, filled, expected).sum(axis=1) + outside) / items
        estimates: Floats = np.where(there.any(axis=1), found, np.nan)
        return estimates


def abilities(scores: Floats, slope: Floats, intercept: Floats) -> Floats:
    """Return the likeliest ability of each model under a standard normal prior, by Newton's iteration.

    Args:
        scores: Models x items, from 0 to 1; NaN where a model has no score.
        slope: Of each item; 0 for one that tells nothing.
        intercept: Of each item.
    """
    there = ~np.isnan(scores)
    filled = np.where(there, scores, 0.0)
    found = np.zeros(len(scores))
    for _ in range(MOST_STEPS):
        p = np.where(there, logistic(found[:, None] * slope + intercept), 0.0)
        step = np.clip(((filled - p) @ slope - found) / ((p * (1 - p)) @ slope**2 + 1), -1, 1)
        found = found + step
        if np.abs(step).max(initial=0.0) < NEAR:
            break
    return found


def logistic(logits: Floats) -> Floats:
    """Return probabilities of logits."""
    values: Floats = 0.5 * (1 + np.tanh(logits / 2))
    return values
