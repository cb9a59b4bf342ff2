"""One line for each run, to be pasted into a paper: the leading metric of every cell, its interval, n, signature."""

from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.task import ScoredTask
from vcrgen.report.table import percent
from vcrgen.scorer.results import CellResult, RunResult


def citation(result: RunResult) -> str:
    """One line to be pasted, in the manner of sacrebleu; where all cells are of one size, n stands at the end.

    Example: ``gpt: Exact match, % [95 % interval]: hard VI+TEI 61.43 [45.73, 75.06], hard TEI 51.43 [38.69, 63.98];
    n = 70 spans in 39 images; vcrgen:1.0|protocol:…``.
    """
    task, sizes = result.task, {f"n = {size_of(result.task, cell)}" for cell in result.cells}
    by_metric: dict[str, list[str]] = {}
    for cell in result.cells:
        metric = leading_metric(task, cell)
        estimate = cell.metrics[metric]
        size = "" if len(sizes) == 1 else f"n = {size_of(task, cell)}"
        notes = ", ".join(filter(None, (size, cell.missing_in_words(task))))
        ends = f"[{percent(estimate.low)}, {percent(estimate.high)}]"
        part = f"{cell.variant} {cell.view.label} {percent(estimate.value)} {ends}{f' ({notes})' if notes else ''}"
        by_metric.setdefault(task.metrics[metric].label, []).append(part)
    parts = [f"{label}, % [95 % interval]: {', '.join(cells)}" for label, cells in by_metric.items()]
    return f"{result.title}: {'; '.join([*parts, *(sizes if len(sizes) == 1 else ()), str(result.signature)])}"


def leading_metric(task: ScoredTask, cell: CellResult) -> str:
    """The metric that ranks, where the cell has it; else its first one."""
    return next((name for name in task.main_metrics if name in cell.metrics), next(iter(cell.metrics)))


def size_of(task: ScoredTask, cell: CellResult) -> str:
    """Units and clusters in words: ``70 spans in 39 images``."""
    return f"{pluralize(cell.units, task.unit)} in {pluralize(cell.clusters, task.cluster)}"
