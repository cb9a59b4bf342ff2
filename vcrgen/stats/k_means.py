"""K-Means of a few points, for many tables of them and many starts at once.

Each start draws its first centres by k-means++ (Arthur and Vassilvitskii, 2007) and follows Lloyd's iteration until
no point changes its cluster. Tables and starts are axes of the arrays, so there is no loop over either.
"""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from vcrgen.core.products import product
from vcrgen.stats.arrays import Floats, Ints

MAX_ITERATIONS = 300
_BLOCK = 1 << 21  # distances that are held at once


def k_means(
    tables: Floats, clusters: int, rng: Generator, *, starts: int, advance: Callable[[int], None] | None = None
) -> tuple[Ints, Floats]:
    """The best partition of the points of each table over all starts, and its inertia.

    Args:
        tables: Tables x points x coordinates.
        clusters: How many; some stay empty where a table has fewer different points.
        rng: Source of the first centres.
        starts: How often each table is partitioned.
        advance: Called with the number of tables that are finished.

    Returns:
        Labels, tables x points, numbered from 1 in the order of the points, and inertias, one a table.
    """
    count, points, _ = tables.shape
    labels, inertia = np.empty((count, points), dtype=np.int64), np.empty(count)
    draws = rng.random((clusters, count, starts))
    size = max(1, _BLOCK // (starts * points * clusters))
    for first in range(0, count, size):
        part = slice(first, first + size)
        partitions, sums = _lloyd(tables[part], _first_centres(tables[part], draws[:, part]))
        best = np.argmin(sums.round(12), axis=1)  # the first of equal ones, whatever order their terms were added in
        rows = range(len(partitions))
        labels[part], inertia[part] = _numbered(partitions[rows, best]), sums[rows, best]
        if advance is not None:
            advance(len(partitions))
    return labels, inertia


def _first_centres(tables: Floats, draws: Floats) -> Floats:
    """Draw centres among the points, each with the chance of its squared distance to those before it.

    Args:
        tables: Tables x points x coordinates.
        draws: Clusters x tables x starts, uniform in [0, 1).

    Returns:
        Tables x starts x clusters x coordinates.
    """
    squares = _squared_distances(tables, tables[:, None])[:, 0]
    rows = np.arange(len(tables))[:, None]
    nearest = np.ones((*draws.shape[1:], tables.shape[1]))
    points = []
    for draw in draws:
        reach = nearest.cumsum(axis=2)
        # Where all points are centres already, any of them will do: the first.
        points.append((reach <= draw[:, :, None] * reach[:, :, -1:]).sum(axis=2) % tables.shape[1])
        distances = squares[rows, points[-1]]
        nearest = distances if len(points) == 1 else np.minimum(nearest, distances)
    centres: Floats = tables[rows[:, :, None], np.stack(points, axis=2)]
    return centres


def _squared_distances(tables: Floats, centres: Floats) -> Floats:
    """Tables x starts x points x centres."""
    count, starts, clusters, size = centres.shape
    products = product(tables, centres.reshape(count, starts * clusters, size).transpose(0, 2, 1))
    crossed = products.reshape(count, -1, starts, clusters).transpose(0, 2, 1, 3)
    lengths = (tables**2).sum(axis=2)[:, None, :, None] + (centres**2).sum(axis=3)[:, :, None]
    squares: Floats = np.maximum(lengths - 2 * crossed, 0)  # rounding may leave one a little below 0
    return squares


def _lloyd(tables: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """Labels, tables x starts x points, and inertias, tables x starts; an empty cluster keeps its centre."""
    count, starts, clusters, size = centres.shape
    points = tables.shape[1]
    labels = np.full((count, starts, points), -1)
    for _ in range(MAX_ITERATIONS):
        new = _squared_distances(tables, centres).argmin(axis=3)
        if (new == labels).all():
            break
        labels = new
        members = (labels[..., None] == np.arange(clusters)).astype(np.float64)
        sizes = members.sum(axis=2)[..., None]
        by_cluster = members.transpose(0, 1, 3, 2).reshape(count, starts * clusters, points)
        sums = product(by_cluster, tables).reshape(count, starts, clusters, size)
        centres = np.where(sizes > 0, sums / np.maximum(sizes, 1), centres)
    return labels, _squared_distances(tables, centres).min(axis=3).sum(axis=2)


def _numbered(labels: Ints) -> Ints:
    """Number the clusters of each row from 1, in the order in which they first come."""
    same = labels[:, :, None] == labels[:, None]
    first = same.argmax(axis=2)  # of each point the first point of its cluster
    is_first = first == np.arange(labels.shape[1])
    numbers = is_first.cumsum(axis=1)
    numbered: Ints = np.take_along_axis(numbers, first, axis=1)
    return numbered


def silhouette(points: Floats, labels: Ints) -> float:
    """The mean silhouette of a partition (Rousseeuw, 1987); a point alone in its cluster counts 0.

    Args:
        points: Points x coordinates.
        labels: Of each point its cluster, two clusters at least.
    """
    distances = np.sqrt(_squared_distances(points[None], points[None, None])[0, 0])
    np.fill_diagonal(distances, 0)
    members = labels[:, None] == np.unique(labels)
    sizes = members.sum(axis=0)
    sums = product(distances, members.astype(np.float64))
    inside = sums[members] / np.maximum(sizes[members.argmax(axis=1)] - 1, 1)
    outside = np.where(members, np.inf, sums / sizes).min(axis=1)
    widest = np.maximum(inside, outside)
    counted = (sizes[members.argmax(axis=1)] > 1) & (widest > 0)
    return float(np.where(counted, (outside - inside) / np.where(counted, widest, 1), 0).mean())
