"""Estimates of the score on all items: abilities by an optimiser, expected scores one by one."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from vcrgen.stats.full_score import FullScore, abilities, logistic

RNG = np.random.default_rng(0)
SLOPE, INTERCEPT = np.exp(RNG.normal(0, 0.4, 12)), RNG.normal(0, 1, 12)
SCORES = (RNG.random((7, 12)) < 0.6).astype(float)
SCORES[2, 3:6] = np.nan
SCORES[4] = 0.5


def _loss(ability: float, scores: np.ndarray) -> float:
    there = ~np.isnan(scores)
    p = 1 / (1 + np.exp(-(SLOPE * ability + INTERCEPT)))[there]
    y = scores[there]
    return float(ability**2 / 2 - (y * np.log(p) + (1 - y) * np.log(1 - p)).sum())


def test_abilities_are_the_likeliest() -> None:
    found = abilities(SCORES, SLOPE, INTERCEPT)
    for ability, scores in zip(found, SCORES, strict=True):
        best = minimize_scalar(_loss, args=(scores,), bounds=(-8, 8), method="bounded", options={"xatol": 1e-10})
        assert ability == pytest.approx(best.x, abs=1e-6)


def test_expected_scores_stand_for_what_is_not_there() -> None:
    outside_slope, outside_intercept = np.array([1.0, 0.0]), np.array([0.3, 20.0])
    made = FullScore(slope=SLOPE, intercept=INTERCEPT, outside_slope=outside_slope, outside_intercept=outside_intercept)
    for estimate, ability, scores in zip(
        made.estimate(SCORES), abilities(SCORES, SLOPE, INTERCEPT), SCORES, strict=True
    ):
        total = 1 / (1 + np.exp(-(ability + 0.3))) + 1 / (1 + np.exp(-20.0))
        for a, c, score in zip(SLOPE, INTERCEPT, scores, strict=True):
            total += 1 / (1 + np.exp(-(a * ability + c))) if np.isnan(score) else score
        assert estimate == pytest.approx(total / 14)


def test_weights_are_of_the_items_that_a_model_has() -> None:
    weights = np.arange(1.0, 13.0)
    found = FullScore(weights=weights).estimate(SCORES)
    assert found[0] == pytest.approx(np.average(SCORES[0], weights=weights))
    there = ~np.isnan(SCORES[2])
    assert found[2] == pytest.approx(np.average(SCORES[2][there], weights=weights[there]))


def test_a_regression_ends_where_models_were() -> None:
    made = FullScore(slope=SLOPE, intercept=INTERCEPT, coefficients=np.array([0.5, 0.1, 0.0, 0.01]), reach=(-1.0, 1.0))
    t = np.clip(abilities(SCORES, SLOPE, INTERCEPT), -1, 1)
    assert np.allclose(made.estimate(SCORES), 0.5 + 0.1 * t + 0.01 * t**3)
    high = FullScore(slope=SLOPE, intercept=INTERCEPT, coefficients=np.array([2.0]), reach=(-1.0, 1.0))
    assert (high.estimate(SCORES) == 1).all()


def test_a_model_without_a_score_has_no_estimate() -> None:
    nothing = np.full((1, 12), np.nan)
    for made in (
        FullScore(weights=np.ones(12)),
        FullScore(slope=SLOPE, intercept=INTERCEPT),
        FullScore(slope=SLOPE, intercept=INTERCEPT, coefficients=np.array([0.5])),
    ):
        assert np.isnan(made.estimate(nothing)).all()


def test_extreme_logits_are_probabilities() -> None:
    assert logistic(np.array([-1e6, 0.0, 1e6])).tolist() == [0.0, 0.5, 1.0]
