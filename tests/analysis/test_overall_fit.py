"""The overall fit: corrected estimates give back a factor model exactly, and the test rejects what is wrong."""

import numpy as np
import pytest

from vcrgen.analysis.correlations import correlation_matrix
from vcrgen.analysis.factors import fit_factors
from vcrgen.analysis.factors_report import factors_document
from vcrgen.analysis.measured import FEWEST_D_DIV
from vcrgen.analysis.pls import Structure, corrected_srmr, fit_pls, implied_correlations, overall_fit, quality
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import FactorSpec
from vcrgen.stats.bootstrap import model_weights

STRUCTURE = Structure(((0, 1, 2), (3, 4, 5, 6), (7,)), ((), (), (0, 1)), ("A", "A", "A"), 2)
NAMES = (*"abcdefg", "human")
SPEC = FactorSpec(abilities={"One": ["a", "b", "c"], "Two": ["d", "e", "f", "g"]}, anchor="human")


def factor_model() -> np.ndarray:
    """Correlations of common factors: loading times loading times the correlation of the factors."""
    loadings = np.array([0.9, 0.8, 0.7, 0.85, 0.75, 0.8, 0.7, 1.0])
    factors = np.array([[1, 0.4, 0.7], [0.4, 1, 0.65], [0.7, 0.65, 1]])
    own = [0, 0, 0, 1, 1, 1, 1, 2]
    r = np.outer(loadings, loadings) * factors[np.ix_(own, own)]
    np.fill_diagonal(r, 1)
    return r


def wrong_model() -> np.ndarray:
    """The same, where two pairs of tasks of one ability share something else as well."""
    r = factor_model()
    for i, j in ((3, 4), (5, 6)):
        r[[i, j], [j, i]] += 0.15
    return r


def drawn(r: np.ndarray, models: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((models, len(r))) @ np.linalg.cholesky(r).T


def table_of(scores: np.ndarray) -> ScoreTable:
    return ScoreTable(source="t", models=tuple(map(str, range(len(scores)))), tasks=NAMES, scores=scores)


def test_corrected_estimates_imply_the_correlations_of_common_factors() -> None:
    r = factor_model()
    fit = fit_pls(r, STRUCTURE)
    assert fit is not None
    figures = quality(r, fit, STRUCTURE)
    implied = implied_correlations(fit, figures.rho_a, STRUCTURE)
    assert implied is not None and np.allclose(implied, r, atol=1e-8)
    assert figures.srmr > 0.02  # so the composites themselves do not


def test_a_wrong_model_is_rejected_and_a_right_one_is_not() -> None:
    rejected = dict.fromkeys(("right", "wrong"), 0)
    for name, r in (("right", factor_model()), ("wrong", wrong_model())):
        for seed in range(20):
            scores = drawn(r, 600, seed)
            found = overall_fit(scores, STRUCTURE, "path", model_weights(600, seed=seed, draws=100))
            assert found is not None and found.draws <= 100
            assert found.is_rejected == (found.p < 0.05)
            rejected[name] += found.is_rejected
    assert rejected["right"] <= 3 and rejected["wrong"] >= 17


def test_where_there_is_no_test() -> None:
    scores = drawn(factor_model(), 60, 1)
    weights = model_weights(60, seed=0, draws=100)
    mode_b = Structure(STRUCTURE.blocks, STRUCTURE.causes, ("B", "A", "A"), 2)
    assert overall_fit(scores, mode_b, "path", weights) is None
    few = drawn(factor_model(), 8, 1)
    assert overall_fit(few, STRUCTURE, "path", model_weights(8, seed=0, draws=100)) is None
    apart = scores.copy()
    apart[:, 3] = -apart[:, 3] + np.random.default_rng(0).standard_normal(60) * 9  # an ability of unlike tasks
    apart[:, 4:7] = np.random.default_rng(1).standard_normal((60, 3))
    assert overall_fit(apart, STRUCTURE, "path", weights) is None


def test_the_corrected_srmr_loses_what_resampling_adds() -> None:
    assert corrected_srmr(0.10, np.array([0.12, 0.12, np.nan])) == pytest.approx(np.sqrt(2 * 0.01 - 0.0144))
    assert corrected_srmr(0.10, np.array([0.2])) == 0
    values = []
    for seed in range(30):
        scores = drawn(factor_model(), 165, seed)
        result = fit_factors(table_of(scores), SPEC, seed=seed, draws=200)
        values.append((result.srmr.value, result.corrected_srmr.value))
    r = factor_model()
    fit = fit_pls(r, STRUCTURE)
    assert fit is not None
    true = quality(r, fit, STRUCTURE).srmr
    plain_mean, corrected_mean = np.sqrt(np.mean(np.square(values), axis=0))  # it is the square that is corrected
    assert abs(corrected_mean - true) < 0.004 < plain_mean - true


@pytest.mark.parametrize("models", [12, 20, 40])
def test_every_value_lies_in_its_interval(models: int) -> None:
    for seed in range(5):
        result = fit_factors(table_of(drawn(factor_model(), models, seed)), SPEC, seed=seed, draws=100)
        for each in (*(result.vif[task] for task in range(8)), result.r2[2], result.srmr, result.d_valid):
            assert each.low <= each.value <= each.high or np.isnan(each.low)


def test_the_report_says_what_it_was_measured_for() -> None:
    result = fit_factors(table_of(drawn(factor_model(), FEWEST_D_DIV - 1, 3)), SPEC, draws=100)
    document = factors_document(result, settings="")
    tables = {table.title: table for section in document.sections for table in [*section.tables, *section.details]}
    weights = [row[2].value for row in tables["Outer weights"].rows]  # type: ignore[union-attr]
    np.testing.assert_allclose(weights, result.estimate.fit.weights[:7])
    rows = {row[0]: row for row in tables["The benchmark as a whole"].rows}
    assert rows["D_div"][2] is None and rows["D_valid"][2] is not None
    assert rows["D_valid"][3] == "higher is better"
    assert "Coverage of 95 % intervals in simulations, %" in tables
    wrong = fit_factors(table_of(drawn(wrong_model(), 600, 3)), SPEC, draws=100)
    (benchmark,) = [each for each in factors_document(wrong, settings="").sections if each.title == "Benchmark"]
    assert benchmark.text[1].startswith("The test of the overall fit rejects the model (bootstrap")
    r = correlation_matrix(wrong.table.scores)
    assert wrong.correlations == pytest.approx(r)
