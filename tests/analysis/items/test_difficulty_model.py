"""The mixed logistic model against data of known weights."""

import math

import numpy as np
import pytest

from vcrgen.analysis.items.difficulty_model import Covariate, CovariateEffect, DifficultyModel, fit_difficulty_model
from vcrgen.analysis.items.example import named
from vcrgen.analysis.items.item_table import ItemTable
from vcrgen.errors import AnalysisError

WEIGHTS = (-0.5, 0.8)


def made(seed: int, *, models: int = 30, items: int = 300, images: int = 180) -> tuple[ItemTable, list[Covariate]]:
    """The first covariate is of items, the second of images; effects of images and items are there besides."""
    rng = np.random.default_rng(seed)
    groups = np.sort(np.arange(items) % images)
    of_items, of_images = rng.normal(size=items), rng.normal(size=images)[groups]
    logits = 0.3 + WEIGHTS[0] * of_items + WEIGHTS[1] * of_images + rng.normal(0, 1, models)[:, None]
    logits += rng.normal(0, 0.7, images)[groups] + rng.normal(0, 0.6, items)
    scores = (rng.random((models, items)) < 1 / (1 + np.exp(-logits))).astype(float)
    return named(scores, groups, source="x"), [Covariate("a", "1", of_items), Covariate("b", "1", of_images)]


def weights(found: DifficultyModel) -> list[tuple[float, float]]:
    return [(each.log_odds, each.error) for each in found.effects]


def test_weights_are_unbiased_and_their_intervals_hold() -> None:
    """A smaller run of what ``scripts/measure_items.py`` measures over 500 draws."""
    fits = [fit_difficulty_model(*made(seed)) for seed in range(100, 140)]
    found = np.array([weights(fit) for fit in fits])
    assert np.allclose(found[:, :, 0].mean(axis=0), WEIGHTS, atol=0.03)
    inside = np.abs(found[:, :, 0] - WEIGHTS) < 1.96 * found[:, :, 1]
    assert 0.88 <= inside.mean() <= 1
    spreads = np.mean([(fit.of_models, fit.of_images, fit.of_items) for fit in fits], axis=0)
    assert np.allclose(spreads, (1, 0.7, 0.6), atol=0.06)


def test_many_models_are_no_more_items() -> None:
    """Effects of covariates are learned from items: with ten times the models the error hardly falls."""
    few, many = (weights(fit_difficulty_model(*made(1, models=models)))[0][1] for models in (30, 300))
    assert 0.8 * few < many < few


def test_missing_cells_are_left_out() -> None:
    table, covariates = made(2)
    scores = table.scores.copy()
    scores[np.random.default_rng(0).random(scores.shape) < 0.2] = np.nan
    found = fit_difficulty_model(named(scores, table.groups, source="x"), covariates)
    assert found.scores == int((~np.isnan(scores)).sum())
    assert np.allclose([w for w, _ in weights(found)], WEIGHTS, atol=0.3)


def test_without_images_there_is_no_effect_of_images() -> None:
    table, covariates = made(3, images=300)
    found = fit_difficulty_model(table, covariates)
    assert found.of_images == 0 and abs(found.of_items - math.hypot(0.7, 0.6)) < 0.15


def test_odds_ratios_are_of_one_step() -> None:
    table, covariates = made(4)
    tenth = [Covariate("a", "10", covariates[0].values / 10), covariates[1]]
    one, ten = (fit_difficulty_model(table, each).effects[0] for each in (covariates, tenth))
    assert ten.log_odds == pytest.approx(10 * one.log_odds, rel=1e-3)
    ratio, low, high = one.odds_ratio
    assert ratio == math.exp(one.log_odds) and low < ratio < high


def test_traits_that_say_nothing_are_left_out() -> None:
    table, covariates = made(5)
    more = [
        *covariates,
        Covariate("flat", "1", np.full(300, 0.1)),
        Covariate("sum", "1", covariates[0].values + covariates[1].values),
    ]
    found = fit_difficulty_model(table, more)
    assert [each.covariate.name for each in found.effects] == ["a", "b"]
    assert found.left_out == (
        ("flat", "is the same for all items"),
        ("sum", "is collinear with the covariates above it"),
    )
    assert weights(found) == weights(fit_difficulty_model(table, covariates))
    with pytest.raises(AnalysisError, match="no covariate differs"):
        fit_difficulty_model(table, more[2:3])


def test_an_odds_ratio_without_an_end_is_a_number() -> None:
    ratio, low, high = CovariateEffect(Covariate("a", "1", np.zeros(2)), 600.0, 1e6, 1.0).odds_ratio
    assert low == 0 and ratio < high < math.inf


def test_scores_without_a_spread_settle() -> None:
    table, covariates = made(6, models=8, items=40, images=20)
    flat = named(np.zeros((8, 40)), table.groups, source="x")
    try:
        assert np.isfinite([w for w, _ in weights(fit_difficulty_model(flat, covariates))]).all()
    except AnalysisError as problem:
        assert "does not settle" in str(problem)
