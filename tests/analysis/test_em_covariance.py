"""EM against direct maximisation of the likelihood, and against Pearson's r where nothing is missing."""

import numpy as np
from scipy.optimize import minimize

from vcrgen.analysis.correlations import correlation_matrix, resampled_correlations, resampled_pairwise, standardise
from vcrgen.analysis.em_covariance import em_correlations, expected_scores
from vcrgen.stats.arrays import Floats


def scores_with_gaps(models: int, share: float, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    r = np.array([[1, 0.7, 0.5], [0.7, 1, 0.6], [0.5, 0.6, 1]])
    scores = 60 + 12 * rng.standard_normal((models, 3)) @ np.linalg.cholesky(r).T
    lost = rng.random(scores.shape) < share
    lost[:, 1] |= scores[:, 0] < 55  # what depends on another score is allowed to be missing
    lost[lost.all(axis=1), 0] = False
    return np.where(lost, np.nan, scores)


def most_likely(unit: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance that maximise the likelihood of what is there, by a gradient method."""
    lower = np.tril_indices(3)

    def moments(values: Floats) -> tuple[Floats, Floats]:
        root = np.zeros((3, 3))
        root[lower] = values[3:]
        return values[:3], root @ root.T

    def loss(values: Floats) -> float:
        mean, covariance = moments(values)
        total = 0.0
        for row in unit:
            there = np.isfinite(row)
            part, off = covariance[np.ix_(there, there)], row[there] - mean[there]
            total += np.linalg.slogdet(part)[1] + off @ np.linalg.solve(part, off)
        return total / 2

    start = np.concatenate([np.zeros(3), np.eye(3)[lower]])
    return moments(minimize(loss, start, method="BFGS", options={"gtol": 1e-7}).x)


def test_em_is_maximum_likelihood() -> None:
    unit = standardise(scores_with_gaps(25, 0.3, 1))
    mean, covariance = most_likely(unit)
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(em_correlations(unit), covariance / np.outer(sd, sd), atol=2e-5)
    row = int(np.flatnonzero(np.isnan(unit).sum(axis=1) == 1)[0])
    there = np.isfinite(unit[row])
    slope = np.linalg.solve(covariance[np.ix_(there, there)], covariance[there][:, ~there])
    expected = mean[~there] + (unit[row, there] - mean[there]) @ slope
    np.testing.assert_allclose(expected_scores(unit)[row, ~there], expected, atol=5e-5)
    assert (expected_scores(unit)[np.isfinite(unit)] == unit[np.isfinite(unit)]).all()


def test_em_of_complete_scores_and_of_resamples() -> None:
    rng = np.random.default_rng(2)
    complete = rng.standard_normal((30, 4)) + rng.standard_normal((30, 1))
    np.testing.assert_allclose(em_correlations(standardise(complete)), np.corrcoef(complete, rowvar=False), atol=1e-6)
    gaps = scores_with_gaps(40, 0.15, 3)
    weights = rng.multinomial(40, np.full(40, 1 / 40), size=3).astype(float)
    for r, drawn in zip(resampled_correlations(gaps, weights), weights, strict=True):
        repeated = gaps[np.repeat(np.arange(40), drawn.astype(int))]
        np.testing.assert_allclose(r, correlation_matrix(repeated), atol=2e-3)
    weights[0, np.isfinite(gaps[:, 2])] = 0  # no score of a task is drawn: that resample has no correlation of it
    weights[0, 0] += 1
    assert np.isnan(next(iter(resampled_pairwise(gaps, weights)))).any()
