"""The tables of a scoring: scores by mode and view, other metrics, counts of outputs, scores by group, comparisons."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from vcrgen.data.tasks.task import ScoredTask
from vcrgen.data.views import View
from vcrgen.report.table import MINUS, Interval, Number, Percent, PValue, Table, TableCell, percent
from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.key_letters import by_letter, letter_test, shares
from vcrgen.scorer.results import CellResult, Difference, Estimate, RunResult
from vcrgen.scorer.statistics import MACRO

SCORES, KEY_LETTERS = "Scores, in percent", "By the letter of the key, in percent"
Row: TypeAlias = tuple[TableCell, ...]


def comparison_table(task: ScoredTask, comparisons: Sequence[Comparison]) -> Table:
    """Differences between runs with their intervals, and p-values corrected for their number."""
    rows: list[Row] = []
    metrics = _main_metrics(task, (item.metrics for item in comparisons))
    for item in comparisons:
        names = (item.a, item.b, item.variant, item.view.label)
        leading, interval, *others = _main(metrics, item.metrics, sign=True)
        rows.append((*names, leading, interval, PValue(item.p_corrected), *others))
    leading_heads, other_heads = (tuple(_main_heads(task, part)) for part in (metrics[:1], metrics[1:]))
    return Table(
        title=f"Comparison: A {MINUS} B, in percent",
        heads=("A", "B", *_heads(task), *leading_heads, "Corrected p", *other_heads),
        labels=4,
        rows=rows,
        breaks=(7,) if other_heads else (),
    )


def score_table(task: ScoredTask, results: Sequence[RunResult]) -> Table:
    """The main metrics of every cell, and the paired differences."""
    rows: list[Row] = []
    metrics = _main_metrics(task, (cell.metrics for _, cell in cells_of(results)))
    by_chance = task.leading.chance is not None
    for result in results:
        for cell in result.cells:
            chance = [Percent(cell.chance_of(task))] if by_chance else []
            rows.append((*_head(result, cell), cell.units, *_main(metrics, cell.metrics, deviations=True), *chance))
        for difference in result.differences:
            figures = _main(metrics, difference.metrics, sign=True, deviations=True)
            rows.append(
                (result.title, *difference_labels(task, difference), "", *figures, *([None] if by_chance else []))
            )
    figures_heads = _main_heads(task, metrics, f"sd {task.units}", f"sd {task.clusters}")
    heads = ("Model", *_heads(task), task.units.capitalize(), *figures_heads, *(["Chance"] if by_chance else []))
    return Table(title=SCORES, heads=heads, labels=3, rows=rows, breaks=(8,) if len(metrics) > 1 else ())


def chance_level(results: Sequence[RunResult]) -> str:
    """The expected score of random choices in percent, ``25.00`` or ``20.00 to 25.00``; empty where there is none."""
    shares = sorted({share for result, cell in cells_of(results) if (share := cell.chance_of(result.task))})
    return " to ".join(dict.fromkeys(map(percent, (shares[0], shares[-1])))) if shares else ""


def difference_labels(task: ScoredTask, difference: Difference) -> tuple[str, str]:
    """A paired difference in the columns of variant and view: "hard" and "VI+TEI − TEI", or "en − ar" and "Image"."""
    names = {
        **{view.value: view.label for view in View},
        **{name: metric.label for name, metric in task.metrics.items()},
    }
    label = f" {MINUS} ".join(names.get(side, side) for side in difference.of.split(" - "))
    if not difference.variant:
        return label, difference.view.label if difference.view is not None else ""
    return difference.variant, label


def other_metrics_table(task: ScoredTask, results: Sequence[RunResult]) -> Table:
    """The metrics besides the main ones."""
    present = {name for _, cell in cells_of(results) for name in cell.metrics}
    names = [name for name in task.metrics if name in present and name not in task.main_metrics]
    rows: list[Row] = [
        (*_head(result, cell), *(_value(cell.metrics.get(name)) for name in names))
        for result, cell in cells_of(results)
    ]
    heads = ("Model", *_heads(task), *(task.metrics[name].label for name in names))
    return Table(title="Other metrics, in percent", heads=heads, labels=3, rows=rows if names else [])


def outputs_table(task: ScoredTask, results: Sequence[RunResult]) -> Table:
    """Counts of outputs by kind."""
    rows: list[Row] = []
    for result, cell in cells_of(results):
        counts = (cell.counts.get(kind, 0) for kind in task.counts)
        more = (cell.outcomes[kind] for kind in task.outcome_heads)
        rows.append((*_head(result, cell), *counts, *more, *([Number(cell.length_ratio)] if task.has_lengths else [])))
    kinds = (*(kind.replace("_", " ").capitalize() for kind in task.counts), *task.outcome_heads.values())
    heads = ("Model", *_heads(task), *kinds, *(["Length ratio"] if task.has_lengths else []))
    return Table(title="Outputs", heads=heads, labels=3, rows=rows, breaks=(9,))


def key_letter_table(task: ScoredTask, results: Sequence[RunResult]) -> Table:
    """Right and unread outputs by the letter of the key, with the p-values of a test of position."""
    rows: list[Row] = []
    names = sorted({key_letter.letter for _, cell in cells_of(results) for key_letter in cell.key_letters})
    for result, cell in cells_of(results):
        if cell.key_letters:
            test, letters = letter_test(cell.key_letters), by_letter(cell.key_letters)
            none = [None] * (len(names) - len(letters))
            right, unread = ((*shares(letters, kind), *none) for kind in ("right", "unread"))
            rows.append((*_head(result, cell), *right, PValue(test.right), *unread, PValue(test.unread)))
    heads = [f"{name} {kind}" for kind in ("right", "unread") for name in names]
    for place in (len(names), len(heads) + 1):
        heads.insert(place, "p")
    return Table(
        title=KEY_LETTERS,
        heads=("Model", *_heads(task), *heads),
        labels=3,
        rows=rows,
        breaks=(4 + len(names),),
    )


def group_tables(task: ScoredTask, results: Sequence[RunResult]) -> Iterator[Table]:
    """Yield a table for each breakdown of the units."""
    metrics = _main_metrics(task, (cell.metrics for _, cell in cells_of(results)))
    for by in dict.fromkeys(group.by for _, cell in cells_of(results) for group in cell.groups):
        rows: list[Row] = [
            (*_head(result, cell), group.label, group.units, *_main(metrics, group.metrics))
            for result, cell in cells_of(results)
            for group in cell.groups
            if group.by == by
        ]
        title, label, count = by_title(by), by.capitalize(), task.units.capitalize()
        if by == MACRO:
            title, label, count = "Means of the scores of groups, in percent", "Mean over", "Groups"
        heads = ("Model", *_heads(task), label, count, *_main_heads(task, metrics))
        yield Table(title=title, heads=heads, labels=4, rows=rows, breaks=(7,) if len(metrics) > 1 else ())


def by_title(by: str) -> str:
    """Title of the table of one breakdown."""
    return f"By {by}, in percent"


def _main_metrics(task: ScoredTask, estimates: Iterable[Mapping[str, Estimate]]) -> list[str]:
    """Those of the two shown metrics that some results have."""
    present = {name for metrics in estimates for name in metrics}
    return [name for name in task.main_metrics if name in present]


def _main(
    names: Sequence[str], metrics: Mapping[str, Estimate], *, sign: bool = False, deviations: bool = False
) -> Iterator[TableCell]:
    """The cells of the shown metrics: of each its mean, its standard deviations if wanted, its interval."""
    for estimate in map(metrics.get, names):
        yield _value(estimate, sign=sign)
        if deviations:
            yield Percent(estimate.sd_units if estimate else None)
            yield Percent(estimate.sd_clusters if estimate else None)
        yield Interval(estimate.low, estimate.high, sign=sign) if estimate else None


def _value(estimate: Estimate | None, *, sign: bool = False) -> Percent:
    return Percent(estimate.value if estimate else None, sign=sign)


def _main_heads(task: ScoredTask, names: Sequence[str], *deviations: str) -> Iterator[str]:
    for name in names:
        yield from (task.metrics[name].label, *deviations, "95 % interval")


def _heads(task: ScoredTask) -> tuple[str, str]:
    return task.axis_label, "View"


def cells_of(results: Sequence[RunResult]) -> Iterator[tuple[RunResult, CellResult]]:
    """Every cell of every run."""
    return ((result, cell) for result in results for cell in result.cells)


def _head(result: RunResult, cell: CellResult) -> tuple[str, str, str]:
    return result.title, cell.variant, cell.view.label
