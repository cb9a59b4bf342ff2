"""The map of a benchmark: correlations, tree, clusters and components of tasks, and the predicted R2 of each task.

The stability of clusters is the share of resamples of the models in which two tasks share a cluster.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.random import Generator

from vcrgen.analysis.correlations import correlation_matrix, resampled_pairwise, standardise
from vcrgen.analysis.options import MapOptions
from vcrgen.analysis.page_command import page_command
from vcrgen.analysis.pairwise_correlations import FEWEST, Method, PairwiseCorrelations, pairwise
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.core.errors import AnalysisError
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import SILENT, ProgressListener
from vcrgen.core.rng import array_rng_for
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import Table, TableCell, finite_number
from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.bootstrap import MOST_FAILED, model_weights
from vcrgen.stats.k_means import k_means, silhouette

Basis = Literal["r", "abs"]
FEWEST_MODELS = 5
FEWEST_TASKS = 3
STARTS = 200  # of K-Means; ten find the best partition of the VCR map for two seeds in three
STARTS_RESAMPLED = 10
STABILITY_RESAMPLES = 200
MOST_CLUSTERS = 10
RANDOM_TABLES = 500  # of parallel analysis
_PENALTIES = 10.0 ** np.arange(-3, 4)  # of ridge regression, times the number of models


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationTable:
    """Correlations of tasks as published, without the scores."""

    source: str
    tasks: tuple[str, ...]
    r: Floats
    models: int
    notes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()  # as of `ScoreTable`


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Groups of tasks by K-Means on the rows of the correlation matrix."""

    labels: tuple[int, ...]  # of each task the number of its cluster, from 1, in the order in which they first come
    inertia: float
    silhouettes: dict[int, float]  # of each number of clusters that was tried
    is_requested: bool  # whether the number of clusters was given, and not taken by the silhouette
    # Tasks x tasks: share of replicates in which both are in one cluster; None without scores, or if many failed.
    co_clustering: Floats | None
    failed: int = 0  # replicates that lack some correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Principal components of the correlations."""

    values: Floats  # eigenvalues, the largest first
    noise_values: Floats  # what 95 % of tables of noise of this size stay below
    loadings: Floats  # tasks x 2: loadings on the first two components
    models: int

    @property
    def kept(self) -> int:
        """Number of leading components that are larger than those of noise (parallel analysis)."""
        below = np.flatnonzero(self.values <= self.noise_values)
        return int(below[0]) if len(below) else len(self.values)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MapResult(NotebookResult):
    """Everything that a map shows.

    ``to_pandas()`` has a row for each pair of tasks. Its columns are ``task``, ``other_task``, ``r``, ``low``,
    ``high``, ``p``, ``p_corrected`` (Benjamini-Hochberg), ``models`` and ``same_cluster``.
    """

    table: ScoreTable | CorrelationTable
    basis: Basis
    draws: int  # bootstrap replicates
    correlations: PairwiseCorrelations
    complete: int  # models with a score on every task
    tree: Floats  # merges as SciPy has them: two nodes, their distance, how many tasks
    order: tuple[int, ...]  # the tasks as the tree orders them
    clusters: Clusters
    components: Components | None  # None where too few models have all scores
    predicted: Floats | None  # of each task the R2 of predicting it from the others, a model left out at a time
    reliabilities: (
        Floats | None
    )  # of each task the share of its variance that is not sampling noise; None without errors
    next_command: Sequence[str] = ()  # writes the page

    @property
    def headline(self) -> str:
        """What was mapped."""
        groups = pluralize(len(set(self.clusters.labels)), "cluster")
        return f"{self.table.source}: {pluralize(len(self.table.tasks), 'task')} in {groups}"

    @property
    def summary_table(self) -> Table:
        """Each task with its cluster, and how well the others predict it."""
        rows: list[list[TableCell]] = [
            [task, label, None if self.predicted is None else finite_number(self.predicted[number], 2)]
            for number, (task, label) in enumerate(zip(self.table.tasks, self.clusters.labels, strict=True))
        ]
        return Table(title="Each task", heads=("Task", "Cluster", "Predicted R2"), labels=1, rows=rows)

    def long_rows(self) -> Iterator[LongRow]:
        """Yield each pair of tasks."""
        correlations, labels = self.correlations, self.clusters.labels
        for pair in combinations(range(len(labels)), 2):
            yield {
                "task": self.table.tasks[pair[0]],
                "other_task": self.table.tasks[pair[1]],
                "r": float(correlations.r[pair]),
                "low": float(correlations.low[pair]),
                "high": float(correlations.high[pair]),
                "p": float(correlations.p[pair]),
                "p_corrected": float(correlations.adjusted[pair]),
                "models": int(correlations.n[pair]),
                "same_cluster": labels[pair[0]] == labels[pair[1]],
            }

    @property
    def disattenuated(self) -> Floats | None:
        """The correlations if no score had sampling noise; NaN where the noise of one is not known."""
        if self.reliabilities is None:
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            r: Floats = self.correlations.r / np.sqrt(np.outer(self.reliabilities, self.reliabilities))
        return r


def make_map(
    table: ScoreTable | CorrelationTable,
    *,
    method: Method = "pearson",
    basis: Basis = "r",
    clusters: int | None = None,
    seed: int = 0,
    draws: int = 2000,
    progress: bool | ProgressListener = True,
) -> MapResult:
    """Map a benchmark.

    Args:
        table: Scores, or correlations alone; of these only the map itself, the clusters and the components are made.
        basis: Negatively correlated tasks are distant (``r``) or near (``abs``).
        clusters: How many; the number with the best silhouette if not given.
        draws: Bootstrap replicates, for the intervals of correlations.
        progress: Show the progress on the standard error or in a notebook; or who is told of it.

    Raises:
        AnalysisError: There are too few models or tasks, a task does not vary, or a pair shares too few models.
    """
    if len(table.tasks) < FEWEST_TASKS:
        raise AnalysisError(
            f"{table.source} has {pluralize(len(table.tasks), 'task')} ({', '.join(table.tasks)}); a map needs "
            f"{FEWEST_TASKS} at least."
        )
    if clusters is not None and not 2 <= clusters < len(table.tasks):
        raise AnalysisError(f"--clusters is 2 to {len(table.tasks) - 1}, one less than there are tasks.")
    if isinstance(table, CorrelationTable):
        result = _map_of_correlations(table, basis, clusters, seed)
    else:
        from vcrgen.core.console_progress import open_progress  # which imports rich

        with open_progress(progress, doing="clustering", unit="resamples", kept="clustered") as listener:
            result = _map_of_scores(table, method, basis, clusters, seed, draws, listener)
    values = {"method": method, "distance": basis, "clusters": clusters, "seed": seed, "resamples": draws}
    return replace(result, next_command=page_command("map", table.inputs, MapOptions, values, out="map.html"))


def _map_of_scores(
    table: ScoreTable,
    method: Method,
    basis: Basis,
    clusters: int | None,
    seed: int,
    draws: int,
    listener: ProgressListener,
) -> MapResult:
    if len(table.models) < FEWEST_MODELS:
        raise AnalysisError(
            f"{table.source} has {pluralize(len(table.models), 'model')}; a map needs {FEWEST_MODELS} at least."
        )
    table.require_varied()
    listener.stage("correlating")
    correlations = pairwise(table.scores, method=method, seed=seed, draws=draws, groups=table.groups)
    _require_all_pairs(correlations, table)
    tree, order = make_tree(_on(basis, correlations.r))
    weights = model_weights(len(table.models), seed=seed, draws=min(draws, STABILITY_RESAMPLES), groups=table.groups)
    replicates = np.array(list(resampled_pairwise(table.scores, weights)))
    groups = _clusters(_on(basis, correlations.r), clusters, seed, _on(basis, replicates), listener)
    complete = table.complete_cases()
    enough = len(complete.models) >= FEWEST_MODELS and bool((np.ptp(complete.scores, axis=0) > 0).all())
    return MapResult(
        table=table,
        basis=basis,
        draws=draws,
        correlations=correlations,
        complete=len(complete.models),
        tree=tree,
        order=order,
        clusters=groups,
        components=_components(correlation_matrix(complete.scores), len(complete.models), seed) if enough else None,
        predicted=predicted_r2(complete.scores) if enough else None,
        reliabilities=task_reliabilities(table),
    )


def _map_of_correlations(table: CorrelationTable, basis: Basis, clusters: int | None, seed: int) -> MapResult:
    nan = np.full_like(table.r, np.nan)  # p-values and intervals need the scores
    correlations = PairwiseCorrelations(
        method="pearson",
        r=table.r,
        n=np.full(table.r.shape, table.models),
        p=nan,
        adjusted=nan,
        low=nan,
        high=nan,
    )
    tree, order = make_tree(_on(basis, table.r))
    return MapResult(
        table=table,
        basis=basis,
        draws=0,
        correlations=correlations,
        complete=table.models,
        tree=tree,
        order=order,
        clusters=_clusters(_on(basis, table.r), clusters, seed, None),
        components=_components(table.r, table.models, seed),
        predicted=None,
        reliabilities=None,
    )


def _on(basis: Basis, r: Floats) -> Floats:
    return np.abs(r) if basis == "abs" else r


def _require_all_pairs(correlations: PairwiseCorrelations, table: ScoreTable) -> None:
    missing = np.argwhere(np.triu(~np.isfinite(correlations.r), 1))
    if len(missing):
        i, j = missing[0].tolist()
        models = pluralize(int(correlations.n[i, j]), "model")
        raise AnalysisError(
            f"The tasks {table.tasks[i]!r} and {table.tasks[j]!r} have {models} with different scores in common; a "
            f"correlation needs {FEWEST}. Take out one of them, or score more models."
        )


def make_tree(similar: Floats) -> tuple[Floats, tuple[int, ...]]:
    """A tree of tasks by average linkage on 1 - r, and the order in which neighbours are most alike."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distances = np.clip(1 - (similar + similar.T) / 2, 0, None)
    np.fill_diagonal(distances, 0)
    tree: Floats = linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
    return tree, tuple(leaves_list(tree).tolist())


def partition(rows: Floats, clusters: int, *, seed: int, starts: int = STARTS) -> tuple[tuple[int, ...], float]:
    """The best partition of rows of many starts, numbered from 1 in the order of the rows, and its inertia."""
    labels, inertia = k_means(rows[None], clusters, array_rng_for(seed, "k-means", str(clusters)), starts=starts)
    return tuple(labels[0].tolist()), float(inertia[0])


@dataclass(frozen=True, slots=True)
class _Partition:
    """The best partition into some number of clusters."""

    labels: tuple[int, ...]
    inertia: float
    silhouette: float


def _clusters(
    rows: Floats,
    requested: int | None,
    seed: int,
    replicates: Floats | None,
    listener: ProgressListener = SILENT,
) -> Clusters:
    """Group tasks by their rows of correlations; the stability is that over replicates of the correlations."""
    partitions = {}
    distinct = len(np.unique(rows.round(12), axis=0))
    for count in sorted({*range(2, min(MOST_CLUSTERS, len(rows) - 1, distinct - 1) + 1), requested or 2}):
        labels, inertia = partition(rows, count, seed=seed)
        is_proper = 1 < len(set(labels)) < len(rows)
        partitions[count] = _Partition(labels, inertia, silhouette(rows, np.array(labels)) if is_proper else 0.0)
    # Rounded, as processors sum differently; of equally good numbers the smallest.
    best = requested or max(partitions, key=lambda count: (round(partitions[count].silhouette, 12), -count))
    together, failed = None, 0
    if replicates is not None:
        usable = replicates[np.isfinite(replicates).all(axis=(1, 2))]
        failed = len(replicates) - len(usable)
        if failed <= MOST_FAILED * len(replicates):
            together = _co_clustering(usable, best, seed, listener)
    return Clusters(
        labels=partitions[best].labels,
        inertia=partitions[best].inertia,
        silhouettes={count: tried.silhouette for count, tried in partitions.items()},
        is_requested=requested is not None,
        co_clustering=together,
        failed=failed,
    )


def _co_clustering(replicates: Floats, clusters: int, seed: int, listener: ProgressListener) -> Floats:
    """Tasks x tasks: the share of replicates in which both share a cluster."""
    listener.begin(len(replicates), 0)
    rng = array_rng_for(seed, "k-means of resamples", str(clusters))
    labels, _ = k_means(
        replicates, clusters, rng, starts=STARTS_RESAMPLED, advance=lambda done: listener.advance(done, done, Counter())
    )
    together: Floats = (labels[:, :, None] == labels[:, None]).mean(axis=0)
    return together


def _components(r: Floats, models: int, seed: int) -> Components:
    values, vectors = np.linalg.eigh(r)
    values, vectors = values[::-1], vectors[:, ::-1]
    rng = array_rng_for(seed, "parallel analysis", f"{models}:{len(r)}")
    tables = RANDOM_TABLES if len(r) <= 100 else RANDOM_TABLES // 5
    noise = np.linalg.eigvalsh(_noise_correlations(rng, tables, models, len(r)))[:, ::-1]
    first = vectors[:, :2] * np.where(vectors[:, :2].sum(axis=0) < 0, -1, 1)
    return Components(
        values=values,
        noise_values=np.percentile(noise, 95, axis=0),
        models=models,
        loadings=first * np.sqrt(np.maximum(values[:2], 0)),
    )


def _noise_correlations(rng: Generator, tables: int, models: int, tasks: int) -> Floats:
    """Draw correlation matrices of independent normal scores, tables x tasks x tasks.

    Where there are more models than tasks, the sums of products are drawn by Bartlett's decomposition, not the scores.
    """
    if models > tasks:
        roots = np.tril(rng.standard_normal((tables, tasks, tasks)), -1)
        diagonal = range(tasks)
        roots[:, diagonal, diagonal] = np.sqrt(rng.chisquare(models - 1 - np.arange(tasks), (tables, tasks)))
    else:
        roots = rng.standard_normal((tables, tasks, models))
        roots -= roots.mean(axis=2, keepdims=True)
    roots /= np.sqrt((roots**2).sum(axis=2, keepdims=True))
    correlations: Floats = roots @ roots.transpose(0, 2, 1)
    return correlations


def predicted_r2(scores: Floats) -> Floats:
    """The leave-one-out R2 of each task by ridge regression on the other tasks.

    A ridge regression is fitted to all models but one and predicts that one; how much it is shrunk is chosen by how
    well it predicts the other ones. Below 0 the mean of the other models predicts better.

    Args:
        scores: Models x tasks, none missing.
    """
    models = len(scores)
    unit = standardise(scores)
    r2 = np.empty(scores.shape[1])
    for task in range(scores.shape[1]):
        y = unit[:, task]
        others = np.delete(unit, task, axis=1)
        values, vectors = np.linalg.eigh(others.T @ others)
        rotated = others @ vectors
        products, squares = y @ rotated, rotated**2
        missed = np.empty((len(_PENALTIES), models))
        for number, penalty in enumerate(_PENALTIES * models):
            shrunk = 1 / (np.maximum(values, 0) + penalty)
            hat = 1 / models + squares @ shrunk  # of the model itself; the mean is fitted as well
            # The error on a model that was left out is that of the whole fit over 1 - hat, so nothing is fitted anew.
            missed[number] = (y - rotated @ (shrunk * products)) / np.maximum(1 - hat, 1e-9)
        without = (missed**2).sum(axis=1, keepdims=True) - missed**2  # how far off without the model in question
        residuals = missed[without.argmin(axis=0), range(models)]
        r2[task] = 1 - (residuals**2).sum() / ((y * models / (models - 1)) ** 2).sum()
    return r2


def task_reliabilities(table: ScoreTable) -> Floats | None:
    """The reliability of each task: the share of the variance between models that is not sampling error.

    It is 1 less the mean squared standard error over the variance of the scores, and 0 at least; NaN for a task of
    which some error is not known.
    """
    if table.errors is None:
        return None
    scored = np.isfinite(table.scores)
    noise = np.where(scored, table.errors**2, 0).sum(axis=0) / scored.sum(axis=0)
    reliabilities: Floats = np.maximum(0, 1 - noise / np.nanvar(table.scores, axis=0, ddof=1))
    return reliabilities


def nearest(r: Floats, task: int, basis: Basis) -> int:
    """The task that correlates most with a task."""
    similar = _on(basis, r)[task].copy()
    similar[task] = -np.inf
    return int(similar.argmax())


def cluster_members(labels: Sequence[int]) -> dict[int, Ints]:
    """The tasks of each cluster."""
    return {label: np.flatnonzero(np.array(labels) == label) for label in sorted(set(labels))}
