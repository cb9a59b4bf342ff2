"""The tables of a scoring: scores by mode and view, what stands beside them, scores by property, comparisons.

The same tables are drawn on a terminal and put into pages; :func:`render` writes them as documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from vcrgen.errors import ScoreError
from vcrgen.report.escape import escape_markdown, one_line
from vcrgen.report.forms import as_csv, as_markdown, as_narrow_latex
from vcrgen.report.table import MINUS, Interval, Number, Percent, PValue, Table, TableCell
from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.curve_tables import curve_lines, curve_sentences, curve_table, threshold_table
from vcrgen.scorer.curves import compare_thresholds
from vcrgen.scorer.join import PROBLEMS
from vcrgen.scorer.results import CellResult, Estimate, RunResult, require_one_signature

METRIC_LABELS = {
    "exact": "Exact match", "jaccard": "Jaccard", "precision": "Precision", "recall": "Recall", "f1": "F1",
    "rouge1": "ROUGE-1", "similarity": "Similarity", "character": "Character",
}  # fmt: skip
MAIN_METRICS = ("exact", "jaccard")
SIDE_METRICS = tuple(name for name in METRIC_LABELS if name not in MAIN_METRICS)
SCORES = "Scores, in percent"
DIFFERENCE = f"VI+TEI {MINUS} TEI"
FORMATS = ("text", "md", "csv", "latex", "json", "html")
CSV_COLUMNS = (
    "run", "model", "mode", "view", "group", "value", "metric", "percent", "sd_spans", "sd_images", "low", "high",
    "spans", "images", "only_a", "only_b", "p_mcnemar", "p_images", "p_holm", "signature",
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
    thresholds = compare_thresholds(results) if comparisons else []
    tables = [
        _scores(results), curve_table(results), _side(results), _outputs(results), *_groups(results),
        threshold_table(thresholds), comparison_table(comparisons),
    ]  # fmt: skip
    return [table for table in tables if table.rows]


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Differences between runs with their tests."""
    rows: list[Row] = []
    for item in comparisons:
        names = (item.a, item.b, item.mode, item.view.label)
        p_values = map(PValue, (item.p_mcnemar, item.p_images, item.p_holm))
        rows.append((*names, *_main(item.metrics, sign=True), item.only_a, item.only_b, *p_values))
    differences = ("Exact match", "95 % interval", "Jaccard", "95 % interval")
    heads = ("A", "B", "Mode", "View", *differences, "Only A", "Only B", "McNemar p", "Boot p", "Holm p")
    return Table(title=f"Comparison: A {MINUS} B, in percent", heads=heads, labels=4, rows=rows, breaks=(6, 8))


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
    rows: list[Row] = []
    for result in results:
        for cell in result.cells:
            rows.append((*_head(result, cell), cell.spans, *_main(cell.metrics, deviations=True)))
        for each in result.differences:
            rows.append((result.title, each.mode, DIFFERENCE, "", *_main(each.metrics, sign=True, deviations=True)))
    heads = ("Model", "Mode", "View", "Spans", *_main_heads("sd spans", "sd images"))
    return Table(title=SCORES, heads=heads, labels=3, rows=rows, breaks=(8,))


def _side(results: Sequence[RunResult]) -> Table:
    rows: list[Row] = [
        (*_head(result, cell), *(Percent(cell.metrics[name].value) for name in SIDE_METRICS))
        for result, cell in _cells(results)
    ]
    heads = ("Model", "Mode", "View", *(METRIC_LABELS[name] for name in SIDE_METRICS))
    return Table(title="Beside them, in percent", heads=heads, labels=3, rows=rows)


def _outputs(results: Sequence[RunResult]) -> Table:
    kinds = ("answered", "refused", "empty", "null", "failed", "missing", "thinking", "cut")
    rows: list[Row] = []
    for result, cell in _cells(results):
        counts = (cell.counts.get(kind, 0) for kind in kinds)
        rows.append((*_head(result, cell), *counts, cell.outcomes["short"], Number(cell.length_ratio)))
    heads = ("Model", "Mode", "View", *(kind.capitalize() for kind in kinds), "No n-gram", "Length ratio")
    return Table(title="Outputs", heads=heads, labels=3, rows=rows, breaks=(9,))


def _groups(results: Sequence[RunResult]) -> Iterator[Table]:
    """One table a property of spans."""
    for by in dict.fromkeys(group.by for _, cell in _cells(results) for group in cell.groups):
        rows: list[Row] = [
            (*_head(result, cell), group.label, group.spans, *_main(group.metrics))
            for result, cell in _cells(results)
            for group in cell.groups
            if group.by == by
        ]
        heads = ("Model", "Mode", "View", by.capitalize(), "Spans", *_main_heads())
        yield Table(title=f"By {by}, in percent", heads=heads, labels=4, rows=rows, breaks=(7,))


def _main(metrics: Mapping[str, Estimate], *, sign: bool = False, deviations: bool = False) -> Iterator[TableCell]:
    """The cells of the main metrics: of each its mean, its standard deviations if wanted, its interval."""
    for estimate in (metrics[name] for name in MAIN_METRICS):
        yield Percent(estimate.value, sign=sign)
        if deviations:
            yield Percent(estimate.sd_spans)
            yield Percent(estimate.sd_images)
        yield Interval(estimate.low, estimate.high, sign=sign)


def _main_heads(*deviations: str) -> Iterator[str]:
    for name in MAIN_METRICS:
        yield from (METRIC_LABELS[name], *deviations, "95 % interval")


def _cells(results: Sequence[RunResult]) -> Iterator[tuple[RunResult, CellResult]]:
    return ((result, cell) for result in results for cell in result.cells)


def _head(result: RunResult, cell: CellResult) -> tuple[str, str, str]:
    return result.title, cell.mode, cell.view.label


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
        runs["comparisons"] = [asdict(comparison) for comparison in comparisons]
        if thresholds := compare_thresholds(results):
            runs["thresholds"] = [comparison.as_json() for comparison in thresholds]
    return json.dumps(runs, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _csv(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> str:
    rows = [*_rows_of_runs(results), *_rows_of_comparisons(results, comparisons)]
    return as_csv(Table(title="", heads=CSV_COLUMNS, labels=0, rows=rows))


def _sentences(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> list[str]:
    thresholds = compare_thresholds(results) if comparisons else []
    return [
        *remarks(results), *curve_sentences(results),
        *(each.conclusion for each in comparisons), *(each.conclusion for each in thresholds),
    ]  # fmt: skip


def _rows_of_runs(results: Sequence[RunResult]) -> Iterator[Row]:
    """A line for each metric of each mode and view, of each group of spans, and of each difference between views."""
    for result in results:
        run, end = (result.name, result.model or ""), (*_NO_TESTS, str(result.signature))
        for cell in result.cells:
            head = (*run, cell.mode, cell.view.value)
            for name, estimate in cell.metrics.items():
                yield (*head, "", "", name, *_numbers(estimate), cell.spans, cell.images, *end)
            for group in cell.groups:
                for name, estimate in group.metrics.items():
                    yield (*head, group.by, group.label, name, *_numbers(estimate), group.spans, cell.images, *end)
        for difference in result.differences:
            head = (*run, difference.mode, "stacked - tei")
            for name, estimate in difference.metrics.items():
                yield (*head, "", "", name, *_numbers(estimate), *_size(results), *end)
        for view, name, (value, low, high), side in curve_lines(result):
            yield (*run, "", view, "curve", side, name, value, None, None, low, high, *_size(results), *end)


def _rows_of_comparisons(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> Iterator[Row]:
    """A line for each metric of each comparison; the tests, which are about exact match, stand in its line."""
    for item in comparisons:
        head = (f"{item.a} - {item.b}", "", item.mode, item.view.value)
        for name, estimate in item.metrics.items():
            tests: Row = _NO_TESTS
            if name == "exact":
                tests = (item.only_a, item.only_b, *map(Number, (item.p_mcnemar, item.p_images, item.p_holm)))
            signature = str(results[0].signature)
            yield (*head, "", "", name, *_numbers(estimate), *_size(results), *tests, signature)


def _size(results: Sequence[RunResult]) -> tuple[int, int]:
    """Spans and images: of one signature, so all modes and views of all runs have the same."""
    return results[0].cells[0].spans, results[0].cells[0].images


def _numbers(estimate: Estimate) -> tuple[Percent, ...]:
    return tuple(map(Percent, (estimate.value, estimate.sd_spans, estimate.sd_images, estimate.low, estimate.high)))
