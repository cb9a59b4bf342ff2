"""Agreement with people: noise does not agree once weights and judgement are of different models."""

import numpy as np
import pytest

from vcrgen.analysis.examples import GOLD_ABILITIES, gold_correlations
from vcrgen.analysis.factors import anchor_agreement, overall_weights, split_halves
from vcrgen.analysis.pls import fit_pls
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import BoundSpec, FactorSpec, bind


@pytest.fixture(scope="module")
def bound() -> BoundSpec:
    return bind(FactorSpec(abilities=dict(GOLD_ABILITIES), anchor="Human"), gold_correlations()[0])


def test_the_golden_model_agrees_as_printed(gold: ScoreTable, bound: BoundSpec) -> None:
    found = anchor_agreement(gold.scores, bound, seed=0)
    assert found.in_sample == pytest.approx(0.7364, abs=1e-4) and found.plain == pytest.approx(0.7368, abs=1e-4)
    assert (
        0.70 < found.cross_fitted < found.in_sample and found.p == 1 / 1001 and (found.halves, found.failed) == (20, 0)
    )


def test_weights_are_loading_times_effect(bound: BoundSpec) -> None:
    r = gold_correlations()[1]
    found = fit_pls(r, bound.structure)
    assert found is not None
    assert overall_weights(found, bound.structure)[0] == found.loadings[0] * found.paths[0, 3]
    chain = bind(FactorSpec(abilities=dict(GOLD_ABILITIES)), bound.tasks).structure
    alike = fit_pls(r[:11, :11], chain)
    assert alike is not None and overall_weights(alike, chain)[5] == alike.loadings[5] / 3


def test_noise_agrees_in_sample_only(bound: BoundSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy import stats

    monkeypatch.setattr("vcrgen.analysis.factors.PERMUTATIONS", 200)
    root = np.linalg.cholesky(gold_correlations()[1][:11, :11]).T
    found = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        scores = np.column_stack([rng.standard_normal((50, 11)) @ root, rng.standard_normal(50)])
        found.append(anchor_agreement(scores, bound, seed=seed))
    assert np.mean([each.in_sample for each in found]) == pytest.approx(0.24, abs=0.05)
    assert np.mean([each.cross_fitted for each in found]) == pytest.approx(0, abs=0.08)
    assert stats.kstest([each.p for each in found], "uniform").pvalue > 0.01


def test_halves_keep_families_together() -> None:
    groups = np.arange(40) // 4
    halves = split_halves(40, seed=1, groups=groups, repeats=3)
    assert len(halves) == 6
    for one, other in zip(halves[::2], halves[1::2], strict=True):
        assert (one == ~other).all() and one.sum() == 20
        assert all(len(set(one[groups == family].tolist())) == 1 for family in range(10))
