"""Rasch and 2PL against what the answers were made from, and against other programs."""

import numpy as np
import pytest

from vcrgen.analysis.items.example import made_items, named
from vcrgen.analysis.items.irt import fit_2pl, fit_items, fit_rasch
from vcrgen.errors import AnalysisError


def r(a: object, b: object) -> float:
    return float(np.corrcoef(np.asarray(a, float), np.asarray(b, float))[0, 1])


def test_2pl_finds_what_items_and_models_were_made_from() -> None:
    made = made_items(300, seed=1)
    table, ability = made.ask(200)
    fitted = fit_2pl(table)
    assert r(fitted.ability, ability) >= 0.985
    slope, intercept = made.slope[fitted.items], made.intercept[fitted.items]
    assert r(fitted.slope, slope) > 0.8 and r(fitted.intercept, intercept) > 0.98
    for found, true, error in (
        (fitted.slope, slope, fitted.slope_error),
        (fitted.intercept, intercept, fitted.intercept_error),
        (fitted.difficulty, -intercept / slope, fitted.difficulty_error),
    ):
        assert 0.9 < np.mean(np.abs(found - true) < 1.96 * error) < 0.99


def test_2pl_is_that_of_mirt() -> None:
    """A smaller run of what ``scripts/measure_items.py`` measures at 300 x 2,000."""
    import mirt

    table, _ = made_items(40, seed=2).ask(250)
    fitted = fit_2pl(table)
    theirs = mirt.fit_mirt(table.scores.astype(int), "2PL", compute_standard_errors=False).model.parameters
    assert r(fitted.slope, theirs["discrimination"]) >= 0.97
    assert r(fitted.difficulty, theirs["difficulty"]) >= 0.97


def test_rasch_has_one_slope_and_is_that_of_girth() -> None:
    import girth

    rng = np.random.default_rng(0)
    difficulty, ability = rng.normal(size=20), rng.normal(size=400)
    scores = (rng.random((400, 20)) < 1 / (1 + np.exp(difficulty - ability[:, None]))).astype(float)
    fitted = fit_rasch(named(scores, source="x"))
    assert len(set(fitted.slope.tolist())) == 1 and abs(fitted.slope[0] - 1) < 0.15
    theirs = girth.rasch_mml(scores.T.astype(int))
    assert r(fitted.difficulty, theirs["Difficulty"]) > 0.999
    assert np.abs(fitted.difficulty - theirs["Difficulty"]).max() < 0.15


def test_few_models_take_rasch_and_slopes_of_few_are_refused() -> None:
    made = made_items(60, seed=4)
    few, many = made.ask(99)[0], made.ask(100)[0]
    assert (fit_items(few).kind, fit_items(many).kind) == ("Rasch", "2PL")
    with pytest.raises(AnalysisError, match=r"A 2PL needs 100 models, .* has 99\. Take Rasch"):
        fit_2pl(few)


def test_difficulties_of_few_models_are_drawn_towards_their_mean() -> None:
    """With 12 models the shrunken difficulties are nearer to the truth than the log-odds of the shares."""
    shrunken, plain = [], []
    for seed in range(20):
        made = made_items(80, seed=seed)
        table, _ = made.ask(12)
        fitted = fit_rasch(table)
        p = np.clip(table.scores.mean(axis=0)[fitted.items], 0.04, 0.96)
        true = made.intercept[fitted.items]
        shrunken.append(np.mean((fitted.intercept - true) ** 2))
        plain.append(np.mean((1.16 * np.log(p / (1 - p)) - true) ** 2))
    assert np.mean(shrunken) < 0.97 * np.mean(plain)


def test_missing_cells_say_nothing() -> None:
    made = made_items(100, seed=5)
    table, ability = made.ask(150)
    scores = table.scores.copy()
    scores[np.random.default_rng(0).random(scores.shape) < 0.3] = np.nan
    fitted = fit_2pl(named(scores, source="x"))
    assert r(fitted.ability, ability) > 0.95 and r(fitted.intercept, made.intercept[fitted.items]) > 0.95
    scores[0] = np.nan  # a model with a single answer is near the mean, and vague
    scores[0, 0] = 1
    alone = fit_2pl(named(scores, source="x"))
    assert 0 < alone.ability[0] < 0.6 and alone.ability_error[0] > 0.8


def test_items_without_a_difference_are_left_out() -> None:
    scores = made_items(30, seed=6).ask(40)[0].scores.copy()
    scores[:, 4], scores[:, 7] = 1, 0
    fitted = fit_items(named(scores, source="x"))
    assert not {4, 7} & set(fitted.items.tolist()) and np.isfinite(fitted.difficulty).all()
    with pytest.raises(AnalysisError, match="no item is solved by some models"):
        fit_items(named(np.ones((20, 5)), source="x"))


def test_a_wrong_key_has_a_negative_slope() -> None:
    table, _ = made_items(80, seed=7).ask(200)
    scores = table.scores.copy()
    scores[:, 3] = 1 - scores[:, 3]
    fitted = fit_2pl(named(scores, source="x"))
    assert fitted.items[fitted.slope < 0].tolist() == [3]


def test_the_same_table_gives_the_same_numbers_and_its_order_no_others() -> None:
    table, _ = made_items(50, seed=9).ask(120)
    one, two = fit_2pl(table), fit_2pl(table)
    assert np.array_equal(one.slope, two.slope) and np.array_equal(one.ability, two.ability)
    models = np.random.default_rng(0).permutation(120)
    turned = fit_2pl(named(table.scores[models][:, ::-1], source="x"))
    assert np.allclose(turned.ability, one.ability[models], atol=1e-6)
