"""The map of a benchmark as a document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from vcrgen.analysis.charts import MOST_TASKS, dendrogram, heatmap, places
from vcrgen.analysis.factors import FEW_MODELS
from vcrgen.analysis.redundancy import CorrelationTable, MapResult, cluster_members, nearest
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.wording import CELL, between, few_models, number, p_value, said, share
from vcrgen.report.document import Chart, Document, Section
from vcrgen.report.table import Number, Percent, Table, TableCell
from vcrgen.stats.arrays import Floats, Ints

REDUNDANT = 0.8  # predicted R2 from which on a task is called redundant
STABLE = 0.8  # share of resamples
_NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}


def map_document(result: MapResult, *, settings: str, about: str = "", private: bool = False) -> Document:
    """A map with its tables and drawings; arguments as in ``factors_document``."""
    table = result.table
    models = table.models if isinstance(table, CorrelationTable) else len(table.models)
    shown = "abs(r)" if result.basis == "abs" else "r"
    lead = f"{models} models on {len(table.tasks)} tasks, {_NAMES[result.correlations.method]}, grouped by {shown}."
    sections = [_tasks(result), _heatmap(result, shown), _tree(result, shown), _clusters(result, shown)]
    if result.components is not None:
        sections.append(_components(result))
    return Document(
        title=f"Map of {table.source}",
        summary=_summary(result),
        lead=f"{lead} {about}".rstrip(),
        settings=settings,
        private=private,
        sections=sections,
        warnings=[*few_models(models), *table.notes],
        limitations=said(
            "map",
            "limitations",
            correlations_only=isinstance(table, CorrelationTable),
            reliable=result.reliabilities is not None,
        ),
    )


def _summary(result: MapResult) -> list[str]:
    tasks, predicted, clusters = result.table.tasks, result.predicted, result.clusters
    adjusted = result.correlations.adjusted[np.triu_indices(len(tasks), 1)]
    members = cluster_members(clusters.labels)
    return said(
        "map",
        "summary",
        tasks=len(tasks),
        limit=REDUNDANT,
        redundant=None if predicted is None else [tasks[task] for task in np.flatnonzero(predicted >= REDUNDANT)],
        unique=[] if predicted is None else [tasks[task] for task in np.flatnonzero(predicted <= 0)],
        groups=len(members),
        shaky=None if clusters.co_clustering is None else _shaky(members.values(), clusters.co_clustering),
        stable=100 * STABLE,
        unsettled=int((~(adjusted < 0.05)).sum()) if np.isfinite(adjusted).any() else None,
        pairs=len(adjusted),
        most=int(result.correlations.n[np.triu_indices(len(tasks), 1)].max()),
        complete=result.complete,
        few=FEW_MODELS,
    )


def _shaky(groups: Iterable[Ints], together: Floats) -> int:
    """The number of groups whose tasks share a cluster in too few resamples."""
    parts = [together[np.ix_(rows, rows)] for rows in groups if len(rows) > 1]
    return sum(float(part[~np.eye(len(part), dtype=bool)].mean()) < STABLE for part in parts)


def _tasks(result: MapResult) -> Section:
    r = result.correlations.r
    rows: list[list[TableCell]] = []
    for task, name in enumerate(result.table.tasks):
        near = nearest(r, task, result.basis)
        others = np.delete(np.abs(r[task]), task)
        row: list[TableCell] = [
            name,
            result.table.tasks[near],
            Number(float(r[task, near]), CELL),
            Number(float(others.mean()), CELL),
            result.clusters.labels[task],
        ]
        row.append(number(float(result.predicted[task]), 2) if result.predicted is not None else None)
        row.append(share(float(result.reliabilities[task])) if result.reliabilities is not None else None)
        rows.append(row)
    heads = ["Task", "Nearest", "r with it", "Mean |r|", "Cluster", "Predicted R2", "Reliability, %"]
    kept = [0, 1, 2, 3, 4] + [5] * (result.predicted is not None) + [6] * (result.reliabilities is not None)
    text = said(
        "map",
        "tasks",
        predicted=result.predicted is not None,
        correlations_only=isinstance(result.table, CorrelationTable),
        complete=result.complete,
        reliable=result.reliabilities is not None,
    )
    table = Table(
        title="Each task", heads=[heads[i] for i in kept], labels=2, rows=[[row[i] for i in kept] for row in rows]
    )
    return Section(title="Tasks", text=text, tables=[table])


def _heatmap(result: MapResult, shown: str) -> Section:
    found, tasks = result.correlations, result.table.tasks
    drawings = []
    if len(tasks) <= MOST_TASKS:
        values = np.abs(found.r) if result.basis == "abs" else found.r
        drawings = [
            Chart(
                title=f"{shown} of all pairs of tasks, in the order of the tree",
                svg=heatmap(tasks, values, result.order),
                note="Blue is above 0, brown below; the deeper, the further from 0. The numbers are below.",
            )
        ]
    rows: list[list[TableCell]] = []
    corrected = result.disattenuated
    for i in range(len(tasks)):
        for j in range(i + 1, len(tasks)):
            row: list[TableCell] = [
                tasks[i],
                tasks[j],
                Number(float(found.r[i, j]), CELL),
                int(found.n[i, j]),
                between(float(found.low[i, j]), float(found.high[i, j])),
                p_value(float(found.p[i, j])),
                p_value(float(found.adjusted[i, j])),
            ]
            rows.append([*row, number(float(corrected[i, j])) if corrected is not None else None])
    heads = ["Task", "Other task", "r", "Models", "95 % interval", "p", "p (BH)", "Disattenuated r"]
    width = 4 if isinstance(result.table, CorrelationTable) else 7 if corrected is None else 8
    pairs = Table(title="All pairs", heads=heads[:width], labels=2, rows=[row[:width] for row in rows])
    text = said("map", "correlations", **_resampled(result), disattenuated=width == 8) if width > 4 else []
    return Section(title="Correlations", text=text, charts=drawings, details=[pairs])


def _resampled(result: MapResult) -> dict[str, Any]:
    families = isinstance(result.table, ScoreTable) and result.table.families
    return {
        "method": result.correlations.method,
        "draws": result.draws,
        "units": "families of models" if families else "models",
        "failed": result.correlations.failed,
    }


def _tree(result: MapResult, shown: str) -> Section:
    names = list(result.table.tasks)
    groups: list[list[str]] = [[name] for name in names]
    rows: list[list[TableCell]] = []
    for number_of, (one, other, distance, size) in enumerate(result.tree.tolist(), 1):
        first, second = groups[int(one)], groups[int(other)]
        groups.append(first + second)
        rows.append([str(number_of), _group(first), _group(second), Number(distance, CELL), int(size)])
    merges = Table(title="Merges", heads=["Step", "Group", "With", f"1 - {shown}", "Tasks"], labels=3, rows=rows)
    drawing = Chart(
        title=f"Tree of tasks by 1 - {shown} (average linkage)",
        svg=dendrogram(names, result.tree, result.order),
        note="The further right two branches meet, the higher the correlation of their tasks.",
    )
    return Section(title="Tree", charts=[drawing] if len(names) <= MOST_TASKS else [], details=[merges])


def _group(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _clusters(result: MapResult, shown: str) -> Section:
    found, names = result.clusters, result.table.tasks
    rows: list[list[TableCell]] = []
    for label, members in cluster_members(found.labels).items():
        pairs = [(i, j) for i in members for j in members if i < j]
        row: list[TableCell] = [str(label), ", ".join(names[i] for i in members), len(members)]
        if found.co_clustering is not None:
            stay = [float(found.co_clustering[i, j]) for i, j in pairs]
            row += [Percent(min(stay), 0), Percent(float(np.mean(stay)), 0)] if stay else [None, None]
        rows.append(row)
    heads = ["Cluster", "Tasks", "Number", "Least stability, %", "Mean, %"][: 3 + 2 * (found.co_clustering is not None)]
    text = said(
        "map",
        "clusters",
        shown=shown,
        count=len(set(found.labels)),
        requested=found.is_requested,
        inertia=found.inertia,
        stable=found.co_clustering is not None,
        failed=found.failed,
        correlations_only=isinstance(result.table, CorrelationTable),
    )
    details = []
    if found.co_clustering is not None:
        details.append(
            Table(
                title="Co-clustering of tasks",
                heads=["Task", "Other task", "Resamples, %"],
                labels=2,
                rows=[
                    [names[i], names[j], Percent(float(found.co_clustering[i, j]), 1)]
                    for i in range(len(names))
                    for j in range(i + 1, len(names))
                ],
            )
        )
    clusters = Table(title="Clusters", heads=heads, labels=2, rows=rows)
    silhouettes = Table(
        title="Silhouettes",
        heads=["Clusters", "Silhouette"],
        labels=1,
        rows=[[str(size), Number(value, CELL)] for size, value in found.silhouettes.items()],
    )
    return Section(title="Clusters", text=text, tables=[clusters, silhouettes], details=details)


def _components(result: MapResult) -> Section:
    found = result.components
    assert found is not None
    names = result.table.tasks
    shares = found.values / found.values.sum()
    shown = min(len(names), max(found.kept + 3, 5))
    eigenvalues = Table(
        title="Components",
        heads=["Component", "Eigenvalue", "Noise stays below", "Share, %"],
        labels=1,
        rows=[
            [
                str(i + 1),
                Number(float(found.values[i])),
                Number(float(found.noise_values[i])),
                Percent(float(shares[i]), 1),
            ]
            for i in range(shown)
        ],
    )
    loadings = Table(
        title="Places of the tasks",
        heads=["Task", "Cluster", "First", "Second"],
        labels=1,
        rows=[
            [name, result.clusters.labels[i], *(Number(float(value), CELL) for value in found.loadings[i])]
            for i, name in enumerate(names)
        ],
    )
    text = said("map", "components", models=found.models, kept=found.kept)
    drawing = Chart(
        title="Loadings of the tasks on the first two components of r, from -1 to 1",
        svg=places(names, found.loadings, result.clusters.labels),
        note="The digit is the cluster. First component from left to right, second from below to above.",
    )
    return Section(
        title="Components",
        text=text,
        charts=[drawing] if len(names) <= MOST_TASKS else [],
        tables=[eigenvalues],
        details=[loadings],
    )
