"""Reports as text files: Markdown, CSV, LaTeX and JSON. What came from a file is escaped for each."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.report.tables import Table, remarks, report_tables
from vcrgen.scorer.results import Estimate, RunResult

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\N{MINUS SIGN}": "$-$", "\N{EN DASH}": "--",
}  # fmt: skip
_LATEX_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))
# Where a spreadsheet begins a cell, and what it may take for a formula there: the signs, their wide and small forms,
# behind white space or quotes. Where people write decimals with a comma, a semicolon begins a cell, too.
_FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n]))(?=[\s\"]*[=+\-@＝＋－＠﹦﹢﹣﹫−])|^(?=[\t\r])")
CSV_COLUMNS = (
    "run", "model", "mode", "view", "group", "value", "metric", "percent", "sd_spans", "sd_images", "low", "high",
    "spans", "images", "signature",
)  # fmt: skip


def as_markdown(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> str:
    """Tables of GitHub's Markdown."""
    parts = []
    for table in report_tables(results, comparisons):
        rule = ["---"] * table.labels + ["---:"] * (len(table.columns) - table.labels)
        head, *rows = (" | ".join(map(escape_markdown, cells)) for cells in (table.columns, *table.rows))
        lines = "\n".join(f"| {line} |" for line in (head, " | ".join(rule), *rows))
        parts.append(f"**{table.title}**\n\n{lines}")
    sentences = [*remarks(results), *(item.conclusion for item in comparisons)]
    if sentences:
        parts.append("\n".join(f"- {escape_markdown(text)}" for text in sentences))
    parts.append(f"Signature: `{results[0].signature}`")
    return "\n\n".join(parts) + "\n"


def as_latex(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> str:
    """Tables for the package booktabs; each is a ``tabular`` of its own."""
    parts = ["% needs \\usepackage{booktabs}", f"% {_one_line(str(results[0].signature))}"]
    parts += [_latex_table(table) for table in report_tables(results, comparisons)]
    parts += [f"% {_one_line(text)}" for text in (*remarks(results), *(item.conclusion for item in comparisons))]
    return "\n".join(parts) + "\n"


def as_csv(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> str:
    """One line a number, in percent, not rounded."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in _csv_rows(results, comparisons):
        writer.writerow([escape_formula(value) if isinstance(value, str) else value for value in row])
    return out.getvalue()


def as_json(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> str:
    """Everything, unrounded, as shares from 0 to 1."""
    runs: dict[str, Any] = {"runs": [result.as_json() for result in results]}
    if comparisons:
        runs["comparisons"] = [asdict(comparison) for comparison in comparisons]
    return json.dumps(runs, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def escape_markdown(text: str) -> str:
    """A text on one line that neither Markdown nor HTML reads as marks."""
    return _MARKDOWN.sub(_escaped, _one_line(text))


def escape_latex(text: str) -> str:
    """A text on one line that LaTeX sets as it is."""
    return _LATEX_SPECIAL.sub(lambda m: _LATEX[m[0]], _one_line(text))


def escape_formula(text: str) -> str:
    """A text that a spreadsheet would run as a formula, with an apostrophe before it."""
    return _FORMULA.sub("'", text) if len(text) > 1 else text  # "-" stands for nothing in many tables


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _escaped(match: re.Match[str]) -> str:
    return _ENTITIES.get(match[1], f"\\{match[1]}")


def _latex_table(table: Table) -> str:
    align = "l" * table.labels + "r" * (len(table.columns) - table.labels)
    lines = [f"\n% {table.title}", f"\\begin{{tabular}}{{{align}}}", r"\toprule", _latex_row(table.columns)]
    lines += [r"\midrule", *(_latex_row(row) for row in table.rows), r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines)


def _latex_row(cells: Sequence[str]) -> str:
    # After a line's end, LaTeX takes "[" or "*" for an argument of it; the braces keep it from that.
    return "{}" + " & ".join(escape_latex(cell) for cell in cells) + r" \\"


def _csv_rows(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> Iterator[tuple[Any, ...]]:
    for result in results:
        signature = str(result.signature)
        for cell in result.cells:
            head = (result.name, result.model or "", cell.mode, cell.view.value)
            for name, estimate in cell.metrics.items():
                yield (*head, "", "", name, *_numbers(estimate), cell.spans, cell.images, signature)
            for group in cell.groups:
                for name, estimate in group.metrics.items():
                    yield (
                        *head, group.by, group.label, name, *_numbers(estimate), group.spans, cell.images, signature
                    )  # fmt: skip
        for difference in result.differences:
            for name, estimate in difference.metrics.items():
                head = (result.name, result.model or "", difference.mode, "stacked - tei")
                yield (*head, "", "", name, *_numbers(estimate), "", "", signature)
    for item in comparisons:
        for name, estimate in item.metrics.items():
            title = f"{item.a} - {item.b}"
            yield (title, "", item.mode, item.view.value, "", "", name, *_numbers(estimate), "", "", "")


def _numbers(estimate: Estimate) -> tuple[float | str, ...]:
    values = (estimate.value, estimate.sd_spans, estimate.sd_images, estimate.low, estimate.high)
    return tuple("" if value is None else 100 * value for value in values)
