"""K-Means against all partitions there are, and silhouettes against plain loops."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vcrgen.stats.k_means import k_means, silhouette


def inertia_of(points: np.ndarray, labels: tuple[int, ...]) -> float:
    """The sum of squared distances to the mean of the own cluster."""
    groups = [points[[own == label for own in labels]] for label in set(labels)]
    return sum(float(((group - group.mean(axis=0)) ** 2).sum()) for group in groups)


def best_inertia(points: np.ndarray, clusters: int) -> float:
    """The least over every assignment of points to clusters."""
    return min(inertia_of(points, labels) for labels in itertools.product(range(clusters), repeat=len(points)))


@pytest.mark.parametrize("clusters", [2, 3, 4])
def test_the_best_of_all_partitions_is_found_for_every_table(clusters: int) -> None:
    tables = np.random.default_rng(clusters).standard_normal((5, 6, 3))
    labels, inertia = k_means(tables, clusters, np.random.default_rng(0), starts=50)
    for points, found, value in zip(tables, labels, inertia, strict=True):
        assert value == pytest.approx(best_inertia(points, clusters))
        assert value == pytest.approx(inertia_of(points, tuple(found.tolist())))
        assert list(dict.fromkeys(found.tolist())) == [*range(1, clusters + 1)]  # in the order of the points


def test_more_clusters_than_different_points() -> None:
    labels, inertia = k_means(np.array([[[1.0], [2.0], [1.0], [2.0]]]), 3, np.random.default_rng(0), starts=5)
    assert labels.tolist() == [[1, 2, 1, 2]] and inertia[0] == 0


def test_blocks_and_progress_do_not_change_the_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = np.random.default_rng(1).standard_normal((6, 9, 2))
    whole = k_means(tables, 3, np.random.default_rng(4), starts=4)
    monkeypatch.setattr("vcrgen.stats.k_means._BLOCK", 1)
    told: list[int] = []
    parts = k_means(tables, 3, np.random.default_rng(4), starts=4, advance=told.append)
    np.testing.assert_array_equal(whole[0], parts[0])
    assert told == [1] * 6


@settings(deadline=None, max_examples=60)
@given(arrays(float, (7, 2), elements=st.floats(-9, 9)), st.lists(st.integers(1, 3), min_size=7, max_size=7))
def test_silhouettes_are_those_of_plain_loops(points: np.ndarray, labels: list[int]) -> None:
    assume(len(set(labels)) > 1)
    points = points.round(3)
    widths = []
    for i, own in enumerate(labels):
        mean = {
            label: np.mean([math.dist(points[i], points[j]) for j in range(7) if labels[j] == label and j != i] or [0])
            for label in set(labels)
        }
        inside = mean.pop(own)
        outside = min(mean.values())
        alone = labels.count(own) == 1 or max(inside, outside) == 0
        widths.append(0.0 if alone else (outside - inside) / max(inside, outside))
    assert silhouette(points, np.array(labels)) == pytest.approx(np.mean(widths), abs=1e-4)
