"""The tables of a scoring: scores by mode and view, what stands beside them, scores by property, comparisons.

The same tables are drawn on a terminal and put into pages; :func:`render` writes them as documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from vcrgen.dataset.views import View
from vcrgen.errors import ScoreError
from vcrgen.report.escape import escape_markdown, one_line
from vcrgen.report.forms import as_csv, as_markdown, as_narrow_latex
from vcrgen.report.table import MINUS, Interval, Number, Percent, PValue, Table, TableCell
from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.curve_tables import curve_lines, curve_sentences, curve_table, threshold_table
from vcrgen.scorer.curves import compare_thresholds
from vcrgen.scorer.join import problem_text
from vcrgen.scorer.results import CellResult, Difference, Estimate, RunResult, as_named, require_one_signature
from vcrgen.scorer.statistics import MACRO
from vcrgen.tasks.task import ScoredTask

SCORES = "Scores, in percent"
FORMATS = ("text", "md", "csv", "latex", "json", "html")
# Of each task under its own words: `spans` and `images` of Visual Caption Restoration.
CSV_COLUMNS = (
    "run", "model", "variant", "view", "group", "value", "metric", "percent", "sd_units", "sd_clusters", "low", "high",
    "units", "clusters", "only_a", "only_b", "p_mcnemar", "p_clusters", "p_holm", "signature",
)  # fmt: skip
Row: TypeAlias = tuple[TableCell, ...]
_NO_TESTS: Row = (None,) * 5


def render(results: Sequence[RunResult], form: str, comparisons: Sequence[Comparison] = ()) -> str:
    """The results, of one signature, as a document.

    Args:
        results: The runs.
        form: ``md`` (tables of GitHub's Markdown), ``latex`` (for the packages booktabs and graphicx, in parts that fit
            a column), ``csv`` (a line for each number, in percent, not rounded) or ``json`` (everything, as shares, not
            rounded).
        comparisons: Of these results.

    Raises:
        ScoreError: The form is another, or the results have different signatures.
    """
    forms = {"md": _markdown, "csv": _csv, "latex": _latex, "json": _json}
    if form not in forms:
        raise ScoreError(f"Unknown format {form!r}; known: {', '.join(FORMATS)}.")
    require_one_signature(results)
    return forms[form](results, comparisons)


def report_tables(results: Sequence[RunResult], comparisons: Sequence[Comparison] = ()) -> list[Table]:
    """All tables of a report, the scores first and the comparisons last; empty ones are left out."""
    task = results[0].task
    tables = [
        _scores(task, results), curve_table(results), _side(task, results), _outputs(task, results),
        *_groups(task, results), threshold_table(compare_thresholds(results) if comparisons else []),
    ]  # fmt: skip
    return [table for table in (*tables, comparison_table(task, comparisons)) if table.rows]


def comparison_table(task: ScoredTask, comparisons: Sequence[Comparison]) -> Table:
    """Differences between runs with their tests."""
    rows: list[Row] = []
    shown = _shown(task, (item.metrics for item in comparisons))
    for item in comparisons:
        names = (item.a, item.b, item.variant, item.view.label)
        p_values = map(PValue, (item.p_mcnemar, item.p_clusters, item.p_holm))
        rows.append((*names, *_main(shown, item.metrics, sign=True), item.only_a, item.only_b, *p_values))
    heads = ("A", "B", *_heads(task), *_main_heads(task, shown), "Only A", "Only B", "McNemar p", "Boot p", "Holm p")
    return Table(title=f"Comparison: A {MINUS} B, in percent", heads=heads, labels=4, rows=rows, breaks=(6, 8))


def remarks(results: Sequence[RunResult]) -> Iterator[str]:
    """Notes and problems of all runs, as sentences."""
    for result in results:
        head = f"{result.title}: " if len(results) > 1 else ""
        for note in result.notes:
            yield head + note
        for kind, (count, places) in result.problems.items():
            first = f" First: {', '.join(places)}." if places else ""
            yield f"{head}{problem_text(kind, count)}.{first}"


def _scores(task: ScoredTask, results: Sequence[RunResult]) -> Table:
    rows: list[Row] = []
    shown = _shown(task, (cell.metrics for _, cell in _cells(results)))
    by_chance = task.leading.chance is not None
    for result in results:
        for cell in result.cells:
            chance = [Percent(task.leading.chance)] if by_chance else []
            rows.append((*_head(result, cell), cell.units, *_main(shown, cell.metrics, deviations=True), *chance))
        for each in result.differences:
            figures = _main(shown, each.metrics, sign=True, deviations=True)
            rows.append((result.title, *difference_labels(task, each), "", *figures, *([None] if by_chance else [])))
    figures_heads = _main_heads(task, shown, f"sd {task.units}", f"sd {task.clusters}")
    heads = ("Model", *_heads(task), task.units.capitalize(), *figures_heads, *(["Chance"] if by_chance else []))
    return Table(title=SCORES, heads=heads, labels=3, rows=rows, breaks=(8,) if len(shown) > 1 else ())


def difference_labels(task: ScoredTask, difference: Difference) -> tuple[str, str]:
    """A paired difference in the columns of variant and view: "hard" and "VI+TEI − TEI", or "en − ar" and "Image"."""
    names = {**{view.value: view.label for view in View}, **{name: each.label for name, each in task.metrics.items()}}
    label = f" {MINUS} ".join(names.get(side, side) for side in difference.of.split(" - "))
    if not difference.variant:
        return label, difference.view.label if difference.view is not None else ""
    return difference.variant, label


def _side(task: ScoredTask, results: Sequence[RunResult]) -> Table:
    present = {name for _, cell in _cells(results) for name in cell.metrics}
    names = [name for name in task.metrics if name in present and name not in task.shown]
    rows: list[Row] = [
        (*_head(result, cell), *(_value(cell.metrics.get(name)) for name in names)) for result, cell in _cells(results)
    ]
    heads = ("Model", *_heads(task), *(task.metrics[name].label for name in names))
    return Table(title="Beside them, in percent", heads=heads, labels=3, rows=rows if names else [])


def _outputs(task: ScoredTask, results: Sequence[RunResult]) -> Table:
    rows: list[Row] = []
    for result, cell in _cells(results):
        counts = (cell.counts.get(kind, 0) for kind in task.counts)
        more = (cell.outcomes[kind] for kind in task.outcome_heads)
        rows.append((*_head(result, cell), *counts, *more, *([Number(cell.length_ratio)] if task.lengths else [])))
    kinds = (*(kind.capitalize() for kind in task.counts), *task.outcome_heads.values())
    heads = ("Model", *_heads(task), *kinds, *(["Length ratio"] if task.lengths else []))
    return Table(title="Outputs", heads=heads, labels=3, rows=rows, breaks=(9,))


def _groups(task: ScoredTask, results: Sequence[RunResult]) -> Iterator[Table]:
    """One table a way to divide the units."""
    shown = _shown(task, (cell.metrics for _, cell in _cells(results)))
    for by in dict.fromkeys(group.by for _, cell in _cells(results) for group in cell.groups):
        rows: list[Row] = [
            (*_head(result, cell), group.label, group.units, *_main(shown, group.metrics))
            for result, cell in _cells(results)
            for group in cell.groups
            if group.by == by
        ]
        title, label, count = f"By {by}, in percent", by.capitalize(), task.units.capitalize()
        if by == MACRO:
            title, label, count = "Means of the scores of groups, in percent", "Mean over", "Groups"
        heads = ("Model", *_heads(task), label, count, *_main_heads(task, shown))
        yield Table(title=title, heads=heads, labels=4, rows=rows, breaks=(7,) if len(shown) > 1 else ())


def _shown(task: ScoredTask, found: Iterable[Mapping[str, Estimate]]) -> list[str]:
    """Those of the two shown metrics that some results have."""
    present = {name for metrics in found for name in metrics}
    return [name for name in task.shown if name in present]


def _main(
    shown: Sequence[str], metrics: Mapping[str, Estimate], *, sign: bool = False, deviations: bool = False
) -> Iterator[TableCell]:
    """The cells of the shown metrics: of each its mean, its standard deviations if wanted, its interval."""
    for estimate in map(metrics.get, shown):
        yield _value(estimate, sign=sign)
        if deviations:
            yield Percent(estimate.sd_units if estimate else None)
            yield Percent(estimate.sd_clusters if estimate else None)
        yield Interval(estimate.low, estimate.high, sign=sign) if estimate else None


def _value(estimate: Estimate | None, *, sign: bool = False) -> Percent:
    return Percent(estimate.value if estimate else None, sign=sign)


def _main_heads(task: ScoredTask, shown: Sequence[str], *deviations: str) -> Iterator[str]:
    for name in shown:
        yield from (task.metrics[name].label, *deviations, "95 % interval")


def _heads(task: ScoredTask) -> tuple[str, str]:
    return task.axis_label, "View"


def _cells(results: Sequence[RunResult]) -> Iterator[tuple[RunResult, CellResult]]:
    return ((result, cell) for result in results for cell in result.cells)


def _head(result: RunResult, cell: CellResult) -> tuple[str, str, str]:
    return result.title, cell.variant, cell.view.label


def _markdown(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> str:
    tables = report_tables(results, comparisons)
    parts = [f"**{escape_markdown(table.title)}**\n\n{as_markdown(table)}" for table in tables]
    if sentences := _sentences(results, comparisons):
        parts.append("\n".join(f"- {escape_markdown(text)}" for text in sentences))
    return "\n\n".join([*parts, f"Signature: `{results[0].signature}`"]) + "\n"


def _latex(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> str:
    parts = ["% needs \\usepackage{booktabs,graphicx}", f"% {one_line(str(results[0].signature))}"]
    parts += [f"\n% {one_line(table.title)}\n{as_narrow_latex(table)}" for table in report_tables(results, comparisons)]
    return "\n".join([*parts, *(f"% {one_line(text)}" for text in _sentences(results, comparisons))]) + "\n"


def _json(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> str:
    runs: dict[str, Any] = {"runs": [result.as_json() for result in results]}
    if comparisons:
        names = results[0].task.field_names
        runs["comparisons"] = [as_named(asdict(comparison), names) for comparison in comparisons]
        if thresholds := compare_thresholds(results):
            runs["thresholds"] = [comparison.as_json() for comparison in thresholds]
    return json.dumps(runs, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _csv(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> str:
    rows = [*_rows_of_runs(results), *_rows_of_comparisons(results, comparisons)]
    names = results[0].task.field_names
    return as_csv(Table(title="", heads=[names.get(head, head) for head in CSV_COLUMNS], labels=0, rows=rows))


def _sentences(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> list[str]:
    thresholds = compare_thresholds(results) if comparisons else []
    return [
        *remarks(results), *curve_sentences(results),
        *(each.conclusion for each in comparisons), *(each.conclusion for each in thresholds),
    ]  # fmt: skip


def _rows_of_runs(results: Sequence[RunResult]) -> Iterator[Row]:
    """A line for each metric of each cell, of each group of units, and of each paired difference."""
    for result in results:
        run, end = (result.name, result.model or ""), (*_NO_TESTS, str(result.signature))
        for cell in result.cells:
            head = (*run, cell.variant, cell.view.value)
            for name, estimate in cell.metrics.items():
                yield (*head, "", "", name, *_numbers(estimate), cell.units, cell.clusters, *end)
            for group in cell.groups:
                for name, estimate in group.metrics.items():
                    yield (*head, group.by, group.label, name, *_numbers(estimate), group.units, cell.clusters, *end)
        for difference in result.differences:
            head = (*run, *_where(difference))
            for name, estimate in difference.metrics.items():
                yield (*head, "", "", name, *_numbers(estimate), *_size(results), *end)
        for view, name, (value, low, high), side in curve_lines(result):
            yield (*run, "", view, "curve", side, name, value, None, None, low, high, *_size(results), *end)


def _rows_of_comparisons(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> Iterator[Row]:
    """A line for each metric of each comparison; the tests stand in that of the metric that ranks."""
    for item in comparisons:
        head = (f"{item.a} - {item.b}", "", item.variant, item.view.value)
        for name, estimate in item.metrics.items():
            tests: Row = _NO_TESTS
            if name == next(iter(item.metrics)):
                tests = (item.only_a, item.only_b, *map(Number, (item.p_mcnemar, item.p_clusters, item.p_holm)))
            signature = str(results[0].signature)
            yield (*head, "", "", name, *_numbers(estimate), *_size(results), *tests, signature)


def _where(difference: Difference) -> tuple[str, str]:
    """The variant and the view of a difference, one of which is the difference itself where that is of two of them."""
    if difference.view is None:
        return difference.variant, difference.of
    return (difference.variant or difference.of), difference.view.value


def _size(results: Sequence[RunResult]) -> tuple[int | None, int | None]:
    """Units and clusters, where all cells of all runs have the same."""
    sizes = {(cell.units, cell.clusters) for _, cell in _cells(results)}
    return sizes.pop() if len(sizes) == 1 else (None, None)


def _numbers(estimate: Estimate) -> tuple[Percent, ...]:
    return tuple(map(Percent, (estimate.value, estimate.sd_units, estimate.sd_clusters, estimate.low, estimate.high)))
