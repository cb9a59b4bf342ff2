"""The map: what is predicted of a task against plain loops, the tree, clusters, and what is refused."""

import numpy as np
import pytest

from vcrgen.analysis.map_report import map_document
from vcrgen.analysis.redundancy import (
    _noise_correlations,
    cluster_members,
    make_map,
    make_tree,
    partition,
    predicted_r2,
    task_reliabilities,
)
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.core.errors import AnalysisError


def table_of(scores: np.ndarray, **more: object) -> ScoreTable:
    models, tasks = (tuple(f"{name}{i}" for i in range(size)) for name, size in zip("mt", scores.shape, strict=True))
    return ScoreTable(source="t", models=models, tasks=tasks, scores=scores, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def two_groups() -> ScoreTable:
    """Tasks 0 to 2 go together, and 3 to 5."""
    rng = np.random.default_rng(2)
    ability = rng.standard_normal((60, 2)).repeat(3, axis=1)
    return table_of(ability + 0.5 * rng.standard_normal((60, 6)))


def test_predictions_are_those_of_a_ridge_regression_without_the_model(two_groups: ScoreTable) -> None:
    """Leaving each model out of the fit itself, with the shrinkage that does best for the others."""
    scores = two_groups.scores[:20]
    x = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    y, others = x[:, 0], x[:, 1:]
    penalties = 20 * 10.0 ** np.arange(-3, 4)
    missed = np.empty((7, 20))
    for number, penalty in enumerate(penalties):
        for model in range(20):
            rest = np.delete(np.arange(20), model)
            design = np.column_stack([np.ones(19), others[rest]])
            shrink = penalty * np.diag([0.0] + [1.0] * 5)
            beta = np.linalg.solve(design.T @ design + shrink, design.T @ y[rest])
            missed[number, model] = y[model] - beta @ [1, *others[model]]
    chosen = [missed[np.argmin((np.delete(missed, model, axis=1) ** 2).sum(axis=1)), model] for model in range(20)]
    from_mean = [y[model] - np.delete(y, model).mean() for model in range(20)]
    expected = 1 - np.square(chosen).sum() / np.square(from_mean).sum()
    assert predicted_r2(scores)[0] == pytest.approx(expected, abs=1e-9)


def test_noise_is_not_predicted() -> None:
    shares = [predicted_r2(np.random.default_rng(seed).standard_normal((30, 10))) for seed in range(10)]
    assert -0.15 < np.mean(shares) < 0.02


def test_groups_are_found_and_stay(two_groups: ScoreTable) -> None:
    found = make_map(two_groups, draws=200)
    assert found.clusters.labels == (1, 1, 1, 2, 2, 2) and set(found.order[:3]) in ({0, 1, 2}, {3, 4, 5})
    assert found.clusters.co_clustering is not None
    assert found.clusters.co_clustering[0, 1] > 0.95 and found.clusters.co_clustering[0, 4] < 0.05
    assert found.predicted is not None and (found.predicted > 0.4).all() and found.reliabilities is None
    np.testing.assert_array_equal(make_map(two_groups, draws=200).clusters.co_clustering, found.clusters.co_clustering)


def test_abs_puts_opposites_together() -> None:
    rng = np.random.default_rng(5)
    ability = rng.standard_normal((50, 2)).repeat(2, axis=1) * [1, -1, 1, 1]
    table = table_of(ability + 0.3 * rng.standard_normal((50, 4)))
    signed, unsigned = (make_map(table, basis=basis, clusters=2, draws=100) for basis in ("r", "abs"))
    assert unsigned.clusters.labels == (1, 1, 2, 2) != signed.clusters.labels


def test_the_tree_is_scipys_average_linkage() -> None:
    r = np.array([[1, 0.9, 0.1], [0.9, 1, 0.3], [0.1, 0.3, 1]])
    tree, order = make_tree(r)
    np.testing.assert_allclose(tree[:, 2], [0.1, 1 - 0.2])
    assert order in ((0, 1, 2), (2, 1, 0))  # 1 is nearer to 2 than 0 is


def test_the_share_that_is_not_noise() -> None:
    scores = np.array([[10.0, 1], [20, 2], [30, 4]])
    errors = np.array([[5.0, np.nan], [5, 1], [5, 1]])
    shares = task_reliabilities(table_of(scores, errors=errors))
    assert shares is not None and shares[0] == 1 - 25 / 100 and np.isnan(shares[1])
    found = make_map(table_of(np.random.default_rng(0).random((9, 3)), errors=np.full((9, 3), 0.1)), draws=100)
    assert found.reliabilities is not None and found.disattenuated is not None
    expected = found.correlations.r[0, 1] / np.sqrt(found.reliabilities[0] * found.reliabilities[1])
    assert found.disattenuated[0, 1] == pytest.approx(expected)


def test_the_summary_goes_by_reliability_where_it_is_known() -> None:
    scores = np.random.default_rng(0).random((9, 3))
    unknown, precise, noisy = (
        map_document(make_map(table_of(scores, errors=errors), draws=100), settings="").summary[1]
        for errors in (None, np.full((9, 3), 0.01), np.full((9, 3), [0.01, 0.9, 0.01]))
    )
    assert unknown.startswith("Score more items of t0, t1") and unknown.endswith("unique or noisy.")
    assert precise.startswith("Keep t0, t1") and precise.endswith(
        "under half of the variance between models is sampling error."
    )
    assert noisy == "Score more items of t1: over half of the variance between models is sampling error."


def test_missing_scores_are_left_out_of_pairs_and_not_filled() -> None:
    rng = np.random.default_rng(3)
    scores = rng.standard_normal((30, 1)) + rng.standard_normal((30, 4))
    scores[:26, 3] = np.nan
    found = make_map(table_of(scores), draws=100)
    # A resample may hold none of the four models, or one of them only.
    assert found.correlations.failed > 0 and found.clusters.failed > 5 and found.clusters.co_clustering is None
    assert np.isnan(found.correlations.low[0, 3]) and np.isfinite(found.correlations.low[0, 1])
    assert found.correlations.n[0, 3] == 4 and found.correlations.n[0, 1] == 30
    assert found.complete == 4 and found.predicted is None and found.components is None


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (np.eye(4), r"t has 4 models; a map needs 5 at least\."),
        (np.random.default_rng(0).random((9, 2)), r"t has 2 tasks \(t0, t1\); a map needs 3 at least\."),
        (np.column_stack([np.random.default_rng(0).random((9, 2)), np.ones(9)]), r"'t2' has the same score for all"),
        (np.column_stack([np.random.default_rng(0).random((9, 2)), np.full(9, np.nan)]), r"'t2' has no score"),
    ],
)
def test_what_cannot_be_mapped(scores: np.ndarray, sentence: str) -> None:
    with pytest.raises(AnalysisError, match=sentence):
        make_map(table_of(scores))


def test_a_pair_without_common_models_is_named() -> None:
    scores = np.random.default_rng(0).random((12, 3))
    scores[:6, 0] = scores[6:, 2] = np.nan
    with pytest.raises(AnalysisError, match="'t0' and 't2' have 0 models with different scores in common"):
        make_map(table_of(scores))


def test_k_means_numbers_clusters_in_the_order_of_the_tasks() -> None:
    labels, inertia = partition(np.array([[0.0], [9], [0], [9]]), 2, seed=1)
    assert labels == (1, 2, 1, 2) and inertia == 0
    assert {label: members.tolist() for label, members in cluster_members(labels).items()} == {1: [0, 2], 2: [1, 3]}


def test_noise_has_the_eigenvalues_of_normal_scores() -> None:
    """Drawn as sums of products or as scores, with as many tables of correlations of real draws beside them."""
    for models, tasks in ((40, 6), (5, 6)):
        drawn = np.linalg.eigvalsh(_noise_correlations(np.random.default_rng(0), 4000, models, tasks))
        rng = np.random.default_rng(1)
        real = [np.corrcoef(rng.standard_normal((tasks, models))) for _ in range(4000)]
        np.testing.assert_allclose(drawn.mean(axis=0), np.linalg.eigvalsh(real).mean(axis=0), atol=0.015)
