"""Bradley-Terry strengths of models from votes on pairs of them.

Example: model A wins 30 of 40 votes against B, so its log odds of a win are log(30 / 10) = 1.1, and the strengths are
.55 and -.55. A tie counts as half a win of each. Strengths maximise the likelihood (Bradley and Terry, 1952), by
Newton's method; they are finite only if no group of models won, or lost, all votes against the others (Ford, 1957).
"""

from typing import NamedTuple

import numpy as np

from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.intervals import NORMAL_QUANTILE

MAX_STEPS = 100
TOLERANCE = 1e-10  # of the largest change of a strength


class Strengths(NamedTuple):
    """Strengths as log odds of a win, of mean 0, with 95 % intervals."""

    value: Floats
    low: Floats
    high: Floats


def fit_strengths(wins: Floats, ties: Floats) -> Strengths:
    """Estimate strengths and their intervals, those of the sandwich estimator of the covariance (White, 1982).

    The information matrix alone takes a tie for two half votes, so its intervals are too wide where ties are frequent.

    Args:
        wins: Models x models: votes for the first against the second.
        ties: Models x models, symmetric: votes for neither.

    Raises:
        ValueError: The strengths are not finite, for which `separated_groups` has the reason, or beyond 100.
    """
    if separated_groups(wins, ties).any():
        raise ValueError("strengths are not finite")
    models = len(wins)
    points = wins + ties / 2
    votes = points + points.T
    strengths = np.zeros(models)
    for _ in range(MAX_STEPS):
        odds = _win_probability(strengths)
        step = np.linalg.solve(_information(votes, odds), (points - votes * odds).sum(axis=1))
        largest = float(np.abs(step).max())
        strengths = strengths + step / max(1.0, largest)  # at most 1: far steps overshoot where odds are near 0
        if largest < TOLERANCE:
            break
    else:
        raise ValueError("strengths do not converge")
    half = NORMAL_QUANTILE * np.sqrt(np.diagonal(strength_covariance(wins, ties, strengths)))
    return Strengths(strengths, strengths - half, strengths + half)


def strength_covariance(wins: Floats, ties: Floats, strengths: Floats) -> Floats:
    """The sandwich estimator of the covariance of strengths, models x models."""
    points = wins + ties / 2
    odds = _win_probability(strengths)
    scores = wins * (1 - odds) ** 2 + ties / 2 * (0.5 - odds) ** 2  # squared residuals, of a tie half for each order
    inverse = np.linalg.inv(_information(points + points.T, odds))
    covariance: Floats = inverse @ _laplacian(scores + scores.T) @ inverse
    return covariance


def _win_probability(strengths: Floats) -> Floats:
    """Models x models: the probability that the first wins."""
    with np.errstate(over="ignore"):
        odds: Floats = 1 / (1 + np.exp(strengths - strengths[:, None]))
    return odds


def _information(votes: Floats, odds: Floats) -> Floats:
    """The information matrix, made regular: a shift of all strengths, which no vote tells, is held at 0."""
    return _laplacian(votes * odds * (1 - odds)) + 1 / len(votes)


def _laplacian(weights: Floats) -> Floats:
    """The sum of the weights of all pairs times the square of their difference, as a matrix."""
    laplacian: Floats = np.diag(weights.sum(axis=1)) - weights
    return laplacian


def separated_groups(wins: Floats, ties: Floats, *, directed: bool = True) -> Ints:
    """Of each model the number of its group, from 0.

    Models of different groups were never compared, or, where ``directed``, only ever with one outcome: all votes went
    one way. Of one group alone strengths are finite.
    """
    from scipy.sparse.csgraph import connected_components

    _, groups = connected_components(wins + ties, directed=directed, connection="strong")
    return np.asarray(groups, np.int64)
