"""The statistics of docs/analysis.md by hand, and the errors of the papers."""

import numpy as np

from vcrgen.analysis import (
    EXAMPLES,
    FactorSpec,
    ScoreTable,
    Structure,
    anchor_agreement,
    bind,
    fit_correlations,
    fit_factors,
    fit_pls,
    make_map,
    quality,
)
from vcrgen.analysis.examples import GOLD_ABILITIES, gold_correlations, published_rows
from vcrgen.analysis.factors import overall_weights
from vcrgen.analysis.redundancy import partition
from vcrgen.analysis.score_table import binomial_standard_error


def test_clusters_of_the_vcr_paper_are_those_of_absolute_correlations() -> None:
    r = EXAMPLES["vcr-map"].load().r
    assert round(partition(np.abs(r), 5, seed=0)[1], 4) == 5.4897
    assert partition(r, 5, seed=0)[0] != partition(np.abs(r), 5, seed=0)[0]


def test_correlations_without_the_noise_of_scores() -> None:
    assert round(binomial_standard_error(50, items=30), 1) == 9.1  # points
    scores, errors = np.random.default_rng(0).normal(50, 10, (40, 3)), np.full((40, 3), 4.0)
    names = tuple(map(str, range(40)))
    table = ScoreTable(source="made", models=names, tasks=("a", "b", "c"), scores=scores, errors=errors)
    result = make_map(table, draws=100)
    assert np.allclose(result.reliabilities, 1 - (errors**2).mean(axis=0) / scores.var(axis=0, ddof=1))
    expected = result.correlations.r[0, 1] / np.sqrt(result.reliabilities[0] * result.reliabilities[1])
    assert np.isclose(result.disattenuated[0, 1], expected)


def test_two_tasks_and_an_anchor() -> None:
    r = 0.6  # of the tasks; the anchor correlates at .5 with both
    matrix = np.array([[1, r, 0.5], [r, 1, 0.5], [0.5, 0.5, 1]])
    structure = Structure(blocks=((0, 1), (2,)), causes=((), (0,)), modes=("A", "A"), anchor=1)
    fit = fit_pls(matrix, structure)
    measures = quality(matrix, fit, structure)
    loading = np.sqrt((1 + r) / 2)
    assert np.isclose(fit.loadings[0], loading)
    assert np.isclose(measures.vif[0], 1 / (1 - r**2))
    assert np.isclose(measures.alpha[0], 2 / 1 * (1 - 2 / (2 + 2 * r)))
    w, within = fit.weights[:2], matrix[:2, :2]
    rho_a = (w @ w) ** 2 * (w @ (within - np.eye(2)) @ w) / ((w @ w) ** 2 - (w**4).sum())
    assert np.isclose(measures.rho_a[0], rho_a)
    assert np.isclose(measures.cr[0], (2 * loading) ** 2 / ((2 * loading) ** 2 + 2 * (1 - loading**2)))
    assert np.isclose(measures.ave[0], loading**2)
    assert np.isclose(measures.htmt[0, 1], 0.5 / np.sqrt(r * 1))
    assert np.isclose(measures.srmr, np.sqrt(2 * (r - loading**2) ** 2 / (3 * 4)))
    assert np.isclose(fit.paths[0, 1], 0.5 / loading) and np.isclose(fit.r2[1], (0.5 / loading) ** 2)
    assert np.isclose(measures.tc, loading) and np.isclose(measures.d_valid, 1 - r**2)


def test_overall_weights_and_agreement_with_the_anchor() -> None:
    abilities = {"Perception": ["Color", "Count", "OCR"], "Memory": ["Artwork", "Landmark", "Basic Medical Science"]}
    result = fit_factors(EXAMPLES["gold-made"].load(), FactorSpec(abilities=abilities, anchor="Human"), draws=2)
    fit, measures = result.estimate.fit, result.estimate.quality
    weights = overall_weights(fit, result.bound.structure)
    assert np.isclose(weights[0], fit.paths[0, 2] * fit.loadings[0])  # effect times loading
    assert np.isclose(measures.d_div, min(1, 1 / (2 * measures.htmt[0, 1])))
    agreement = anchor_agreement(result.table.scores, result.bound, seed=0)
    assert agreement.in_sample > agreement.cross_fitted and agreement.p < 0.01


def test_errors_in_the_gold_paper() -> None:
    names, matrix = gold_correlations()
    result = fit_correlations(matrix, bind(FactorSpec(abilities=GOLD_ABILITIES, anchor="Human"), names))
    assert np.allclose(result.quality.ave[:3], [0.720, 0.607, 0.719], atol=0.0006)  # printed for Memory: .707
    assert round(result.quality.d_valid, 3) == 0.482  # printed: .557, which is also the R2
    assert round(result.fit.r2[3], 3) == 0.557
    assert round(2 * 0.446 / 1.446, 3) == 0.617  # alpha of two tasks with VIF 1.248; printed for BLINK low-level: .717
    assert round(0.579 + 0.833 + 0.557, 3) == 1.969  # printed as overall: 2.625
    assert len(published_rows("gold-errata")) == 9
