"""Correlations of all pairs against SciPy: missing scores, p-values for many pairs, intervals."""

import numpy as np
import pytest

from vcrgen.analysis.pairwise_correlations import pairwise


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_each_pair_goes_by_the_models_that_have_both(scores_with_gaps: np.ndarray, method: str) -> None:
    from scipy import stats

    found = pairwise(scores_with_gaps, method=method, draws=200)  # type: ignore[arg-type]
    test = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    both = np.isfinite(scores_with_gaps[:, 1]) & np.isfinite(scores_with_gaps[:, 3])
    expected = test(scores_with_gaps[both, 1], scores_with_gaps[both, 3])
    assert (found.r[1, 3], found.p[1, 3]) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-10)
    assert found.n[1, 3] == both.sum()
    assert found.low[1, 3] < found.r[1, 3] < found.high[1, 3] and found.low[3, 1] == found.low[1, 3]
    pairs = np.triu_indices(5, 1)
    np.testing.assert_allclose(found.adjusted[pairs], stats.false_discovery_control(found.p[pairs]), rtol=1e-12)


def test_intervals_of_rank_correlations_are_those_of_fishers_z(scores_with_gaps: np.ndarray) -> None:
    from scipy import stats

    for method, wide in (
        ("spearman", lambda r, n: (1 + r**2 / 2) / (n - 3)),
        ("kendall", lambda r, n: 0.437 / (n - 4)),
    ):
        found = pairwise(scores_with_gaps, method=method)  # type: ignore[arg-type]
        r, n = found.r[0, 2], found.n[0, 2]
        ends = np.tanh(np.arctanh(r) + stats.norm.ppf([0.025, 0.975]) * np.sqrt(wide(r, n)))
        np.testing.assert_allclose([found.low[0, 2], found.high[0, 2]], ends, atol=1e-6)
