"""Correlations against SciPy and plain loops: pairs with missing scores, p-values for many pairs, resamples."""

import numpy as np
import pytest

from vcrgen.analysis.correlations import (
    correlation_matrix,
    model_weights,
    pairwise,
    percentile_interval,
    resampled_correlations,
)


@pytest.fixture(scope="module")
def scores() -> np.ndarray:
    rng = np.random.default_rng(4)
    made = rng.standard_normal((40, 1)) + rng.standard_normal((40, 5))
    made[rng.random(made.shape) < 0.1] = np.nan
    return made


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_each_pair_goes_by_the_models_that_have_both(scores: np.ndarray, method: str) -> None:
    from scipy import stats

    found = pairwise(scores, method=method, draws=200)  # type: ignore[arg-type]
    test = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    both = np.isfinite(scores[:, 1]) & np.isfinite(scores[:, 3])
    expected = test(scores[both, 1], scores[both, 3])
    assert (found.r[1, 3], found.p[1, 3]) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-10)
    assert found.n[1, 3] == both.sum()
    assert found.low[1, 3] < found.r[1, 3] < found.high[1, 3] and found.low[3, 1] == found.low[1, 3]
    pairs = np.triu_indices(5, 1)
    np.testing.assert_allclose(found.adjusted[pairs], stats.false_discovery_control(found.p[pairs]), rtol=1e-12)


def test_intervals_of_rank_correlations_are_those_of_fishers_z(scores: np.ndarray) -> None:
    from scipy import stats

    for method, wide in (
        ("spearman", lambda r, n: (1 + r**2 / 2) / (n - 3)),
        ("kendall", lambda r, n: 0.437 / (n - 4)),
    ):
        found = pairwise(scores, method=method)  # type: ignore[arg-type]
        r, n = found.r[0, 2], found.n[0, 2]
        ends = np.tanh(np.arctanh(r) + stats.norm.ppf([0.025, 0.975]) * np.sqrt(wide(r, n)))
        np.testing.assert_allclose([found.low[0, 2], found.high[0, 2]], ends, atol=1e-6)


def test_a_resample_is_the_correlation_of_its_models(scores: np.ndarray) -> None:
    weights = model_weights(40, seed=3, draws=5)
    assert weights.sum(axis=1).tolist() == [40.0] * 5
    for table in (scores, np.nan_to_num(scores)):
        (found,) = resampled_correlations(table, weights)
        for draw, row in zip(found, weights, strict=True):
            drawn = np.repeat(table, row.astype(int), axis=0)
            both = np.isfinite(drawn[:, 0]) & np.isfinite(drawn[:, 2])
            expected = np.corrcoef(drawn[both, 0], drawn[both, 2])[0, 1]
            assert draw[0, 2] == pytest.approx(expected, abs=1e-12)


def test_families_are_drawn_as_a_whole_and_the_seed_decides() -> None:
    groups = np.array([0, 0, 0, 1, 1, 2])
    weights = model_weights(6, seed=1, draws=50, groups=groups)
    assert (weights[:, 0] == weights[:, 2]).all() and (weights[:, 3] == weights[:, 4]).all()
    assert (weights == model_weights(6, seed=1, draws=50, groups=groups)).all()
    assert (weights != model_weights(6, seed=2, draws=50, groups=groups)).any()
    np.testing.assert_array_equal(model_weights(6, seed=1, draws=20), model_weights(6, seed=1, draws=50)[:20])


def test_failed_resamples_are_told_and_beyond_a_twentieth_there_is_no_interval() -> None:
    values = np.linspace(0, 1, 100)[:, None].repeat(2, axis=1)
    values[:5, 0], values[:6, 1] = np.nan, np.nan
    low, high = percentile_interval(values)
    assert np.isfinite(low[0]) and np.isfinite(high[0]) and np.isnan(low[1]) and np.isnan(high[1])


def test_a_task_that_does_not_vary_in_a_resample_has_no_correlation_there() -> None:
    table = np.column_stack([np.arange(6.0), [0, 0, 0, 0, 0, 1.0]])
    weights = np.array([[1, 1, 1, 1, 1, 1], [2, 1, 1, 1, 1, 0]], float)
    (found,) = resampled_correlations(table, weights)
    assert np.isfinite(found[0]).all() and np.isnan(found[1, 0, 1])
    assert correlation_matrix(table)[0, 1] == pytest.approx(found[0, 0, 1])
