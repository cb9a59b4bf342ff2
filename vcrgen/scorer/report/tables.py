"""The tables of a report, as texts: what every form of report shows, rounded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.join import PROBLEMS
from vcrgen.scorer.results import CellResult, Estimate, RunResult

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
Rows: TypeAlias = list[tuple[str, ...]]
SIDE_METRICS = (
    ("precision", "Precision"),
    ("recall", "Recall"),
    ("f1", "F1"),
    ("rouge1", "ROUGE-1"),
    ("similarity", "Similarity"),
    ("character", "Character"),
)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under a title.

    Attributes:
        title: What the table shows.
        columns: The heads; those after the first ``labels`` hold numbers.
        rows: As many texts each as there are columns.
        labels: How many columns hold labels.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    labels: int


def report_tables(results: Sequence[RunResult], comparisons: Sequence[Comparison] = ()) -> list[Table]:
    """All tables of a report; empty ones are left out."""
    tables = [_scores(results), _side(results), _outputs(results), *_groups(results)]
    if comparisons:
        tables.append(comparison_table(comparisons))
    return [table for table in tables if table.rows]


def percent(share: float | None, *, sign: bool = False) -> str:
    """A share in percent with two decimals."""
    if share is None:
        return DASH
    text = f"{100 * share:+.2f}" if sign else f"{100 * share:.2f}"
    return text.replace("-", MINUS)


def interval(estimate: Estimate, *, sign: bool = False) -> str:
    """The 95 % interval in percent."""
    return f"{percent(estimate.low, sign=sign)} to {percent(estimate.high, sign=sign)}"


def remarks(results: Sequence[RunResult]) -> Iterator[str]:
    """Notes and problems of all runs, as sentences."""
    for result in results:
        head = f"{result.title}: " if len(results) > 1 else ""
        for note in result.notes:
            yield head + note
        for kind, (count, places) in result.problems.items():
            first = f" First: {', '.join(places)}." if places else ""
            yield f"{head}{count} {PROBLEMS[kind]}.{first}"


def _scores(results: Sequence[RunResult]) -> Table:
    columns = ("Model", "Mode", "View", "Spans", *_estimated("Exact match"), *_estimated("Jaccard"))
    rows: Rows = []
    for result in results:
        for cell in result.cells:
            exact, jaccard = cell.metrics["exact"], cell.metrics["jaccard"]
            head = (result.title, cell.mode, cell.view.label, str(cell.spans))
            rows.append((*head, *_with_interval(exact), *_with_interval(jaccard)))
        for difference in result.differences:
            exact, jaccard = difference.metrics["exact"], difference.metrics["jaccard"]
            head = (result.title, difference.mode, f"VI+TEI {MINUS} TEI", "")
            rows.append((*head, *_with_interval(exact, sign=True), *_with_interval(jaccard, sign=True)))
    return Table("Scores, in percent", columns, rows, 3)


def _estimated(name: str) -> tuple[str, str, str, str]:
    return name, "sd spans", "sd images", "95 % interval"


def _with_interval(estimate: Estimate, *, sign: bool = False) -> tuple[str, str, str, str]:
    spreads = percent(estimate.sd_spans), percent(estimate.sd_images)
    return percent(estimate.value, sign=sign), *spreads, interval(estimate, sign=sign)


def _side(results: Sequence[RunResult]) -> Table:
    columns = ("Model", "Mode", "View", *(label for _, label in SIDE_METRICS))
    rows: Rows = [
        (*_head(result, cell), *(percent(cell.metrics[name].value) for name, _ in SIDE_METRICS))
        for result, cell in _cells(results)
    ]
    return Table("Beside them, in percent", columns, rows, 3)


def _outputs(results: Sequence[RunResult]) -> Table:
    kinds = ("answered", "refused", "empty", "null", "missing", "thinking", "cut")
    columns = ("Model", "Mode", "View", *(kind.capitalize() for kind in kinds), "No n-gram", "Length ratio")
    rows: Rows = []
    for result, cell in _cells(results):
        counts = (str(cell.counts.get(kind, 0)) for kind in kinds)
        ratio = f"{cell.length_ratio:.2f}" if cell.length_ratio is not None else DASH
        rows.append((*_head(result, cell), *counts, str(cell.outcomes["short"]), ratio))
    return Table("Outputs", columns, rows, 3)


def _groups(results: Sequence[RunResult]) -> Iterator[Table]:
    """One table a property of spans."""
    properties = dict.fromkeys(group.by for _, cell in _cells(results) for group in cell.groups)
    columns = ("Model", "Mode", "View", "", "Spans", "Exact match", "95 % interval", "Jaccard", "95 % interval")
    for by in properties:
        rows: Rows = []
        for result, cell in _cells(results):
            for group in cell.groups:
                if group.by == by:
                    exact, jaccard = group.metrics["exact"], group.metrics["jaccard"]
                    numbers = (percent(exact.value), interval(exact), percent(jaccard.value), interval(jaccard))
                    rows.append((*_head(result, cell), group.label, str(group.spans), *numbers))
        yield Table(f"By {by}, in percent", (*columns[:3], by.capitalize(), *columns[4:]), rows, 4)


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Differences between runs with their tests."""
    differences = (f"A {MINUS} B, exact", "95 % interval", f"A {MINUS} B, Jaccard", "95 % interval")
    columns = ("A", "B", "Mode", "View", *differences, "Only A", "Only B", "McNemar p")
    rows: Rows = []
    for item in comparisons:
        exact, jaccard = item.metrics["exact"], item.metrics["jaccard"]
        pairs = ((percent(e.value, sign=True), interval(e, sign=True)) for e in (exact, jaccard))
        tests = (str(item.only_a), str(item.only_b), f"{item.p_mcnemar:.3g}")
        rows.append((item.a, item.b, item.mode, item.view.label, *chain.from_iterable(pairs), *tests))
    return Table("Comparison", columns, rows, 4)


def _cells(results: Sequence[RunResult]) -> Iterator[tuple[RunResult, CellResult]]:
    return ((result, cell) for result in results for cell in result.cells)


def _head(result: RunResult, cell: CellResult) -> tuple[str, str, str]:
    return result.title, cell.mode, cell.view.label
