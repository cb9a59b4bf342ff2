"""The map of a benchmark as a document."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from vcrgen.analysis.charts import MOST_TASKS, dendrogram, heatmap, places
from vcrgen.analysis.families import effective_models, families_section, few_families
from vcrgen.analysis.measured import FEWEST_TO_PRUNE
from vcrgen.analysis.redundancy import Components, CorrelationTable, MapResult, cluster_members, nearest
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.signs import lower_is_better_options, reversed_tasks
from vcrgen.report.document import Chart, Document, Section
from vcrgen.report.table import (
    Percent,
    Table,
    TableCell,
    finite_interval,
    finite_number,
    finite_p,
    finite_percent,
)
from vcrgen.report.templating import Sentences
from vcrgen.stats.arrays import Floats, Ints

TEXTS = Sentences("vcrgen.analysis", "map.j2")
REDUNDANT = 0.8  # predicted R2 from which on a task is called redundant
STABLE = 0.8  # share of resamples
NOISY = 0.5  # reliability below which most of what tells models apart is sampling error
_NAMES = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}


def map_document(result: MapResult, *, settings: str, about: str = "", private: bool = False) -> Document:
    """Report a map; arguments as in ``factors_document``."""
    table = result.table
    models = _models(table)
    sections = [_tasks(result), _heatmap(result), _tree(result), _clusters(result)]
    if result.components is not None:
        sections.append(_components(result, result.components))
    (lead,) = TEXTS.paragraphs(
        "lead",
        models=models,
        tasks=len(table.tasks),
        coefficient=_NAMES[result.correlations.method],
        basis=_basis(result),
        about=about,
    )
    return Document(
        title=f"Map of {table.source}",
        summary=_summary(result),
        lead=lead,
        settings=settings,
        private=private,
        sections=[*sections, *_families(result)],
        warnings=[
            *TEXTS.paragraphs("warnings", models=models, largest=0),
            *few_families(getattr(table, "families", None)),
            *table.notes,
        ],
        limitations=TEXTS.paragraphs(
            "limitations", has_scores=_has_scores(result), has_errors=result.reliabilities is not None
        ),
    )


def _models(table: ScoreTable | CorrelationTable) -> int:
    return table.models if isinstance(table, CorrelationTable) else len(table.models)


def _families(result: MapResult) -> list[Section]:
    table = result.table
    return [] if isinstance(table, CorrelationTable) else families_section(table.models, table.families)


def _has_scores(result: MapResult) -> bool:
    return not isinstance(result.table, CorrelationTable)


def _basis(result: MapResult) -> str:
    return "abs(r)" if result.basis == "abs" else "r"


def _summary(result: MapResult) -> list[str]:
    """What is redundant, which groups are stable, which correlations are not known."""
    tasks, clusters = result.table.tasks, result.clusters
    predicted, reliabilities = result.predicted, result.reliabilities
    pairs = np.triu_indices(len(tasks), 1)
    adjusted = result.correlations.adjusted[pairs]
    members = cluster_members(clusters.labels)
    turned = _reversed(result)
    return TEXTS.paragraphs(
        "summary",
        reversed=turned,
        options=lower_is_better_options(turned),
        tasks=len(tasks),
        limit=REDUNDANT,
        judged=_is_judged(result),
        fewest=FEWEST_TO_PRUNE,
        redundant=None if predicted is None else [tasks[task] for task in np.flatnonzero(predicted >= REDUNDANT)],
        unique=[] if predicted is None else [tasks[task] for task in np.flatnonzero(predicted <= 0)],
        has_errors=reliabilities is not None,
        noisy=[] if reliabilities is None else [tasks[task] for task in np.flatnonzero(reliabilities < NOISY)],
        groups=len(members),
        unstable=None if clusters.co_clustering is None else _unstable(members.values(), clusters.co_clustering),
        stable=100 * STABLE,
        unsettled=int((~(adjusted < 0.05)).sum()) if np.isfinite(adjusted).any() else None,
        pairs=len(adjusted),
    )


def _is_judged(result: MapResult) -> bool:
    """Tell whether pruning gives a verdict on as many independent models."""
    if isinstance(result.table, CorrelationTable) or result.complete < FEWEST_TO_PRUNE:
        return False
    complete = result.table.complete_cases()
    return effective_models(complete.scores, complete.groups) >= FEWEST_TO_PRUNE


def _reversed(result: MapResult) -> list[str]:
    """Tasks that rank models the other way round than most; correlations alone cannot be turned by an option."""
    if isinstance(result.table, CorrelationTable):
        return []
    tasks = result.table.tasks
    return [tasks[row] for row in reversed_tasks(result.correlations.r, len(result.table.models), range(len(tasks)))]


def _unstable(clusters: Iterable[Ints], together: Floats) -> int:
    """The number of clusters whose tasks share a cluster in too few resamples."""
    shares = (together[np.ix_(tasks, tasks)] for tasks in clusters if len(tasks) > 1)
    return sum(float(share[~np.eye(len(share), dtype=bool)].mean()) < STABLE for share in shares)


def _tasks(result: MapResult) -> Section:
    r, tasks = result.correlations.r, result.table.tasks
    columns: dict[str, list[TableCell]] = {name: [] for name in ("Task", "Nearest", "r with it", "Mean |r|")}
    for task, name in enumerate(tasks):
        near = nearest(r, task, result.basis)
        mean = np.delete(np.abs(r[task]), task).mean()
        cells = (name, tasks[near], finite_number(r[task, near]), finite_number(mean))
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
    columns["Cluster"] = list(result.clusters.labels)
    if result.predicted is not None:
        columns["Predicted R2"] = [finite_number(r2, 2) for r2 in result.predicted]
    if result.reliabilities is not None:
        columns["Reliability, %"] = [finite_percent(share) for share in result.reliabilities]
    table = Table(title="Each task", heads=list(columns), labels=2, rows=list(zip(*columns.values(), strict=True)))
    text = TEXTS.paragraphs(
        "tasks",
        predicted=result.predicted is not None,
        has_scores=_has_scores(result),
        complete=result.complete,
        models=_models(result.table),
        has_errors=result.reliabilities is not None,
    )
    return Section(title="Tasks", text=text, tables=[table])


def _heatmap(result: MapResult) -> Section:
    correlations, tasks, disattenuated = result.correlations, result.table.tasks, result.disattenuated
    chart = Chart(
        title=f"{_basis(result)} of all pairs of tasks, in the order of the tree",
        svg=heatmap(tasks, np.abs(correlations.r) if result.basis == "abs" else correlations.r, result.order),
        note="Blue is above 0, brown below; the deeper, the further from 0. The numbers are below.",
    )
    heads = ["Task", "Other task", "r", "Models"]
    if _has_scores(result):
        heads += ["95 % interval", "p", "p (BH)"]
    if disattenuated is not None:
        heads.append("Disattenuated r")
    rows: list[list[TableCell]] = []
    for pair in combinations(range(len(tasks)), 2):
        row: list[TableCell] = [*(tasks[task] for task in pair), finite_number(correlations.r[pair])]
        row.append(int(correlations.n[pair]))
        if _has_scores(result):
            row.append(finite_interval(correlations.low[pair], correlations.high[pair]))
            row += [finite_p(correlations.p[pair]), finite_p(correlations.adjusted[pair])]
        if disattenuated is not None:
            row.append(finite_number(disattenuated[pair]))
        rows.append(row)
    text = TEXTS.paragraphs(
        "correlations",
        has_scores=_has_scores(result),
        method=correlations.method,
        draws=result.draws,
        families=getattr(result.table, "families", None),
        failed=correlations.failed,
        disattenuated=disattenuated is not None,
    )
    pairs = Table(title="All pairs", heads=heads, labels=2, rows=rows)
    return Section(title="Correlations", text=text, charts=[chart] if len(tasks) <= MOST_TASKS else [], details=[pairs])


def _tree(result: MapResult) -> Section:
    names = list(result.table.tasks)
    groups: list[list[str]] = [[name] for name in names]
    rows: list[list[TableCell]] = []
    for step, (a, b, distance, size) in enumerate(result.tree.tolist(), 1):
        first, second = groups[int(a)], groups[int(b)]
        groups.append(first + second)
        rows.append([str(step), _group_name(first), _group_name(second), finite_number(distance), int(size)])
    heads = ["Step", "Group", "With", f"1 - {_basis(result)}", "Tasks"]
    chart = Chart(
        title=f"Tree of tasks by 1 - {_basis(result)} (average linkage)",
        svg=dendrogram(names, result.tree, result.order),
        note="The further right two branches meet, the higher the correlation of their tasks.",
    )
    merges = Table(title="Merges", heads=heads, labels=3, rows=rows)
    return Section(title="Tree", charts=[chart] if len(names) <= MOST_TASKS else [], details=[merges])


def _group_name(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _clusters(result: MapResult) -> Section:
    clusters, names, together = result.clusters, result.table.tasks, result.clusters.co_clustering
    rows: list[list[TableCell]] = []
    for label, members in cluster_members(clusters.labels).items():
        row: list[TableCell] = [str(label), ", ".join(names[task] for task in members), len(members)]
        if together is not None:
            shares = [float(together[pair]) for pair in combinations(members, 2)]
            row += [Percent(min(shares), 0), Percent(float(np.mean(shares)), 0)] if shares else [None, None]
        rows.append(row)
    heads = ["Cluster", "Tasks", "Number", *(["Least stability, %", "Mean, %"] if together is not None else [])]
    silhouettes: list[list[TableCell]] = [
        [str(count), finite_number(silhouette)] for count, silhouette in clusters.silhouettes.items()
    ]
    tables = [
        Table(title="Clusters", heads=heads, labels=2, rows=rows),
        Table(title="Silhouettes", heads=["Clusters", "Silhouette"], labels=1, rows=silhouettes),
    ]
    details = []
    if together is not None:
        pairs = combinations(range(len(names)), 2)
        shares_of_pairs: list[list[TableCell]] = [
            [names[a], names[b], Percent(float(together[a, b]), 1)] for a, b in pairs
        ]
        heads = ["Task", "Other task", "Resamples, %"]
        details.append(Table(title="Co-clustering of tasks", heads=heads, labels=2, rows=shares_of_pairs))
    text = TEXTS.paragraphs(
        "clusters",
        basis=_basis(result),
        count=len(set(clusters.labels)),
        requested=clusters.is_requested,
        inertia=clusters.inertia,
        stable=together is not None,
        failed=clusters.failed,
        has_scores=_has_scores(result),
    )
    return Section(title="Clusters", text=text, tables=tables, details=details)


def _components(result: MapResult, components: Components) -> Section:
    names, labels = result.table.tasks, result.clusters.labels
    shares = components.values / components.values.sum()
    eigenvalues: list[list[TableCell]] = [
        [
            str(number + 1),
            finite_number(components.values[number], 2),
            finite_number(components.noise_values[number], 2),
            Percent(float(shares[number]), 1),
        ]
        for number in range(min(len(names), max(components.kept + 3, 5)))
    ]
    loadings: list[list[TableCell]] = [
        [name, labels[task], *map(finite_number, components.loadings[task])] for task, name in enumerate(names)
    ]
    chart = Chart(
        title="Loadings of the tasks on the first two components of r, from -1 to 1",
        svg=places(names, components.loadings, labels),
        note="The digit is the cluster. First component from left to right, second from below to above.",
    )
    heads = ["Component", "Eigenvalue", "Noise stays below", "Share, %"]
    return Section(
        title="Components",
        text=TEXTS.paragraphs("components", models=components.models, kept=components.kept),
        charts=[chart] if len(names) <= MOST_TASKS else [],
        tables=[Table(title="Components", heads=heads, labels=1, rows=eigenvalues)],
        details=[
            Table(title="Places of the tasks", heads=["Task", "Cluster", "First", "Second"], labels=1, rows=loadings)
        ],
    )
