"""One model on two datasets, cell by cell: paired by image where both have the same images, else unpaired.

Paired differences are tested by sign flips of the images that both datasets have, and corrected by max-t for all cells,
as in `vcrgen.scorer.comparison`. Unpaired ones are of two independent means, from their own intervals, and corrected by
Holm; so saved scores of a hidden set, which lack those of single spans, can be compared, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from vcrgen.core.errors import ScoreError
from vcrgen.core.plurals import pluralize
from vcrgen.core.signature import Signature
from vcrgen.data.key import HIDDEN_MODE
from vcrgen.data.tasks.task import ScoredTask
from vcrgen.data.views import View
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import MINUS, Interval, Percent, PValue, Table, TableCell
from vcrgen.scorer.comparison import (
    correction_doubt,
    disagreement,
    format_gap,
    leading_metric,
    no_difference,
    nothing_common,
)
from vcrgen.scorer.results import CellResult, Resamples, RunResult, signature_differences
from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.bootstrap import BootstrapMean, StoredGroupSums, bootstrap_means, group_means
from vcrgen.stats.intervals import difference_interval, difference_p
from vcrgen.stats.paired import holm, paired_difference
from vcrgen.stats.sign_flips import ALPHA, FlipTests, flip_p, flip_statistics, flipped_sums

OF_DATA = frozenset({"data", "split", "subset", "answers", "maker"})  # facts of signatures that say what was scored


class AcrossEstimate(NamedTuple):
    """A metric on two datasets."""

    a: float
    b: float
    value: float  # a minus b
    low: float  # lower end of the 95 % interval over clusters
    high: float
    p: float  # two-sided p-value: of sign flips of clusters, or unpaired, of the interval


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossCell:
    """The scores of a model on dataset A and on dataset B in one view and mode, or language."""

    variant: str  # that of A and of B, where they differ
    view: View
    metrics: Mapping[str, AcrossEstimate]
    p: float  # of the metric that ranks, such as exact match
    p_corrected: float  # the same, corrected for the number of cells
    conclusion: str  # a plain sentence


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AcrossResult(NotebookResult):
    """One model on two datasets.

    ``to_pandas()`` has a row for each metric of each cell. Its columns are ``model``, ``mode`` (``lang`` of an MCQ
    benchmark), ``view``, ``metric``, ``a``, ``b``, ``difference``, ``low``, ``high`` and ``p``.
    """

    a: RunResult
    b: RunResult
    model: str
    shared: int | None  # clusters that both datasets have; None where the scores of a hidden set do not tell
    paired: bool
    cells: tuple[AcrossCell, ...]

    @property
    def headline(self) -> str:
        """The model, and the two datasets."""
        return f"{self.model}: {self.a.name} (A) and {self.b.name} (B)"

    @property
    def next_command(self) -> Sequence[str]:
        """The command that writes the page; none for scores that were not saved."""
        files = (self.a.saved_in, self.b.saved_in)
        return ("vcrgen", "compare", "--across", *files, "--out", "across.html") if all(files) else ()

    @property
    def summary_table(self) -> Table:
        """The metric that ranks on both datasets."""
        rows: list[list[TableCell]] = []
        for cell in self.cells:
            leading = next(iter(cell.metrics.values()))
            rows.append(
                [
                    cell.variant,
                    cell.view.label,
                    Percent(leading.a),
                    Percent(leading.b),
                    Percent(leading.value, sign=True),
                    Interval(leading.low, leading.high, sign=True),
                    PValue(cell.p_corrected),
                ]
            )
        heads = (self.a.task.axis_label, "View", "A", "B", f"A {MINUS} B", "95 % interval", "Corrected p")
        return Table(title=f"{self.a.task.leading.label}, in percent", heads=heads, labels=2, rows=rows)

    def long_rows(self) -> Iterator[LongRow]:
        """Yield each metric of each cell."""
        for cell in self.cells:
            for metric, estimate in cell.metrics.items():
                yield {
                    "model": self.model,
                    self.a.task.axis: cell.variant,
                    "view": cell.view.value,
                    "metric": metric,
                    "a": estimate.a,
                    "b": estimate.b,
                    "difference": estimate.value,
                    "low": estimate.low,
                    "high": estimate.high,
                    "p": estimate.p,
                }


def compare_across(a: RunResult, b: RunResult) -> AcrossResult:
    """Compare the saved scores of one model on two datasets.

    Raises:
        ScoreError: They are of several models, were not made in the same way, or have no cell in common.
    """
    _require_comparable(a, b)
    model = a.model or b.model or "The model"
    _, of_a, of_b = np.intersect1d(a.cluster_ids, b.cluster_ids, return_indices=True)
    # Of a few images that both happen to have, pairing would leave the others out.
    paired = len(of_a) >= 2 and 2 * len(of_a) >= min(len(a.cluster_ids), len(b.cluster_ids))
    cells, tests = [], FlipTests()
    for cell, other in _common_cells(a, b):
        leading = leading_metric(a.task, cell, other)
        if paired:
            ours, theirs = a.resamples[cell.variant, cell.view], b.resamples[other.variant, other.view]
            metrics, flipped = paired_estimates(ours, theirs, of_a, of_b)
            tests.p_value(flipped[leading])
        else:
            metrics = unpaired_estimates(cell, other)
        variant = cell.variant if cell.variant == other.variant else f"{cell.variant} / {other.variant}"
        clusters = f"{len(of_a):,}" if paired else f"{cell.clusters:,} and {other.clusters:,}"
        said = f"{variant}, {cell.view.label}: {_conclusion(a.task, model, leading, metrics[leading], clusters)}"
        p = metrics[leading].p
        cells.append(AcrossCell(variant=variant, view=cell.view, metrics=metrics, p=p, p_corrected=p, conclusion=said))
    corrected = tests.corrected() if paired else holm([cell.p for cell in cells])
    has_ids = bool(len(a.cluster_ids) and len(b.cluster_ids))
    return AcrossResult(
        a=replace(a, label="A"),
        b=replace(b, label="B"),
        model=model,
        shared=len(of_a) if has_ids else None,
        paired=paired,
        cells=tuple(_corrected(cells, corrected)),
    )


def paired_estimates(
    a: Resamples, b: Resamples, of_a: Ints, of_b: Ints
) -> tuple[dict[str, AcrossEstimate], dict[str, Floats]]:
    """The metrics that two cells have, over clusters of both datasets: ``of_a`` and ``of_b`` are their places.

    Returns:
        By metric the estimates, and the differences in every sign flip.
    """
    common = [metric for metric in a.means if metric in b.means]
    sides = [_sums(cell, common, places) for cell, places in ((a, of_a), (b, of_b))]
    sums, counts = (np.hstack(parts) for parts in zip(*sides, strict=True))
    groups = StoredGroupSums(sums, counts, range(sums.shape[1]))
    means, _ = group_means(groups)
    drawn = bootstrap_means(groups, seed=a.seed, unit=a.cluster)
    drawn = np.where(np.isnan(drawn), means, drawn)  # a resample without a score says nothing
    columns = [BootstrapMean(len(groups), *column) for column in zip(means.tolist(), drawn.T, strict=True)]
    flipped = _flipped_differences(sums, counts, seed=a.seed, unit=a.cluster)
    estimates = {}
    for number, (metric, statistics) in enumerate(zip(common, flip_statistics(flipped), strict=True)):
        ours, theirs = columns[number], columns[number + len(common)]
        value, _, low, high = paired_difference(ours, theirs)
        p = flip_p(statistics, statistics[0])
        estimates[metric] = AcrossEstimate(ours.mean, theirs.mean, value, low, high, p)
    return estimates, dict(zip(common, flipped, strict=True))


def _flipped_differences(sums: Floats, counts: Floats, *, seed: int, unit: str) -> Floats:
    """The differences of the means of two datasets in every sign flip, metrics x flips.

    A cluster may have other numbers of units in both. What is flipped is therefore by how much more each dataset adds
    to its mean than its units would at the mean of both.

    Args:
        sums: Clusters x columns: the sums of all metrics on A, then those on B.
        counts: The numbers of units of the same.
        unit: What a cluster is called.
    """
    metrics = sums.shape[1] // 2
    totals = np.maximum(counts.sum(axis=0), 1)
    both = (sums[:, :metrics] + sums[:, metrics:]).sum(axis=0) / (totals[:metrics] + totals[metrics:])
    surplus = (sums - np.tile(both, 2) * counts) / totals
    return flipped_sums(surplus[:, :metrics] - surplus[:, metrics:], seed=seed, unit=unit)


def unpaired_estimates(a: CellResult, b: CellResult) -> dict[str, AcrossEstimate]:
    """The metrics that two cells have, as those of two independent datasets."""
    estimates = {}
    for metric in (metric for metric in a.metrics if metric in b.metrics):
        ours, theirs = a.metrics[metric], b.metrics[metric]
        value, (low, high) = ours.value - theirs.value, difference_interval(ours, theirs)
        estimates[metric] = AcrossEstimate(ours.value, theirs.value, value, low, high, difference_p(value, low, high))
    return estimates


def _sums(cell: Resamples, metrics: Sequence[str], places: Ints) -> tuple[Floats, Floats]:
    """Sums and counts of the scores of some clusters, clusters x metrics."""
    sums, counts = zip(*(cell.per_cluster(cell.scores[metric]) for metric in metrics), strict=True)
    return np.column_stack(sums)[places], np.column_stack(counts)[places]


def _require_comparable(a: RunResult, b: RunResult) -> None:
    if a.task is not b.task:
        raise ScoreError(f"{a.name} is of the task {a.task.name} and {b.name} of {b.task.name}, which share no metric.")
    if a.model and b.model and a.model != b.model:
        raise ScoreError(
            f"{a.name} is of the model {a.model!r} and {b.name} of {b.model!r}; --across compares one model on two "
            "datasets, and without it models are compared on one."
        )
    may_differ = OF_DATA | ({"lang"} if a.task.axis == "lang" else set())
    ours, theirs = (
        Signature({name: value for name, value in run.signature.facts.items() if name not in may_differ})
        for run in (a, b)
    )
    if parts := signature_differences(ours, theirs):
        raise ScoreError(
            f"The scores of {a.name} and {b.name} differ in more than their data: {parts}. Score both in the same way."
        )
    if a.signature == b.signature:
        raise ScoreError(f"{a.name} and {b.name} are scores on the same data; compare them without --across.")


def _common_cells(a: RunResult, b: RunResult) -> list[tuple[CellResult, CellResult]]:
    """Cells of one view and mode; the only mode of a hidden set is compared with each mode of the other dataset."""
    common = [
        (cell, other)
        for cell in a.cells
        for other in b.cells
        if cell.view is other.view
        and (cell.variant == other.variant or HIDDEN_MODE in (cell.variant, other.variant))
        and leading_metric(a.task, cell, other)
    ]
    if not common:
        raise nothing_common(a, b)
    return common


def _conclusion(task: ScoredTask, model: str, metric: str, estimate: AcrossEstimate, clusters: str) -> str:
    """The sentence about a difference; the dataset with the higher score stands first."""
    what, basis = f"points of {task.metrics[metric].in_text}", f", {clusters} {task.clusters} resampled"
    if estimate.p < ALPHA:
        more, less = "AB" if estimate.value > 0 else "BA"
        gap = format_gap(estimate, what, basis, turned=estimate.value < 0)
        return f"{model} {task.verb_better} on {more} than on {less}: {gap}.{disagreement(estimate, estimate.p)}"
    return no_difference(task, "A", "B", estimate, estimate.p, format_gap(estimate, what, basis))


def _corrected(cells: Sequence[AcrossCell], p_values: Sequence[float]) -> Iterator[AcrossCell]:
    """The cells with p-values for their number; says of which that number takes the conclusion away."""
    for cell, p in zip(cells, p_values, strict=True):
        doubt = correction_doubt(cell.p, p, pluralize(len(cells), "comparison"))
        yield replace(cell, p_corrected=p, conclusion=cell.conclusion + doubt)
