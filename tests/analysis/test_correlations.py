"""Ranks and correlations against NumPy and plain loops: pairs with missing scores, replicates."""

import numpy as np
import pytest

from vcrgen.analysis.correlations import correlation_matrix, pearson, ranks, resampled_pairwise, spearman
from vcrgen.stats.bootstrap import model_weights


def test_a_resample_is_the_correlation_of_its_models(scores_with_gaps: np.ndarray) -> None:
    weights = model_weights(40, seed=3, draws=5)
    assert weights.sum(axis=1).tolist() == [40.0] * 5
    for table in (scores_with_gaps, np.nan_to_num(scores_with_gaps)):
        for r, row in zip(resampled_pairwise(table, weights), weights, strict=True):
            drawn = np.repeat(table, row.astype(int), axis=0)
            both = np.isfinite(drawn[:, 0]) & np.isfinite(drawn[:, 2])
            expected = np.corrcoef(drawn[both, 0], drawn[both, 2])[0, 1]
            assert r[0, 2] == pytest.approx(expected, abs=1e-12)


def test_a_task_that_does_not_vary_in_a_resample_has_no_correlation_there() -> None:
    table = np.column_stack([np.arange(6.0), [0, 0, 0, 0, 0, 1.0]])
    weights = np.array([[1, 1, 1, 1, 1, 1], [2, 1, 1, 1, 1, 0]], float)
    whole, constant = resampled_pairwise(table, weights)
    assert np.isfinite(whole).all() and np.isnan(constant[0, 1])
    assert correlation_matrix(table)[0, 1] == pytest.approx(whole[0, 1])


def test_equal_scores_share_a_rank() -> None:
    assert ranks(np.array([0.5, 0.9, 0.5, 0.1])).tolist() == [2, 1, 2, 4]
    assert ranks(np.array([[1.0, 2], [2, 1]])).tolist() == [[2, 1], [1, 2]]


def test_spearman() -> None:
    assert spearman(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 2, 4])) == pytest.approx(0.9486832980505138)
    assert np.isnan(spearman(np.array([1.0, 1]), np.array([1.0, 2])))
    assert np.isnan(pearson(np.array([1.0]), np.array([1.0])))
