"""What an analysis says, and the forms it is written in: a page, Markdown, LaTeX, CSV, JSON.

A document is warnings, sections of sentences, drawings and tables, and at its end what the figures do not show. Every
form has the warnings and that end, so that no figure travels without them. Every number of a drawing stands in a table.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from vcrgen.errors import AnalysisError
from vcrgen.report.escape import escape_latex, escape_markdown, one_line
from vcrgen.report.forms import as_csv, as_markdown, as_narrow_latex
from vcrgen.report.pages import Templates
from vcrgen.report.table import Between, Interval, Number, Percent, PValue, Table, TableCell, show

SCHEMA = "vcrgen-analysis-1"
FORMATS = ("text", "md", "csv", "latex", "json", "html")
SUFFIXES = {".md": "md", ".csv": "csv", ".tex": "latex", ".json": "json", ".html": "html"}
NOT_SHOWN = "What this does not show"
PRIVATE = "Private: this is made of a hidden set. Do not publish it."
LEFT_OUT = "Long tables are left out here; the formats html, md, csv and json have them."
CSV_COLUMNS = ("table", "row", "column", "value", "low", "high", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A drawing under its title, with a sentence that says how to read it."""

    title: str
    svg: Markup
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Small drawings under an axis and under each other, each between its name and its figure, in groups."""

    title: str
    axis: Sequence[str]  # what stands at its left end, its middle, its right end
    groups: Sequence[tuple[str, Sequence[tuple[str, Markup, str]]]]  # names of groups, and of each line
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a document."""

    title: str
    text: Sequence[str] = ()  # sentences, each a paragraph
    legend: str = ""  # how the drawings are read; only a page has these
    drawings: Sequence[Drawing] = ()
    panels: Sequence[Drawing | Lines] = ()  # small ones, side by side where the page is wide enough
    tables: Sequence[Table] = ()
    details: Sequence[Table] = ()  # long tables: folded on a page, not shown on a terminal or in LaTeX


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The result of an analysis as people read it."""

    title: str
    lead: str  # what was analysed: how many models, tasks or items, from where
    sections: Sequence[Section]
    not_shown: Sequence[str]  # sentences: what a reader must not take the figures for
    warnings: Sequence[str] = ()  # sentences, such as that there are too few models
    settings: str = ""  # one line: what has to be the same to get the same figures again
    private: bool = False  # made of the items of a hidden set

    @property
    def marks(self) -> tuple[str, ...]:
        """The warnings, and first of all that the document is private if it is."""
        return ((PRIVATE,) if self.private else ()) + tuple(self.warnings)


def form_of(form: str | None, suffix: str) -> str:
    """The form that is asked for, or else the one that the suffix of the output's name tells; ``text`` of none.

    Raises:
        AnalysisError: The form is none of :data:`FORMATS`.
    """
    chosen = form or SUFFIXES.get(suffix.lower(), "text")
    if chosen not in FORMATS:
        raise AnalysisError(f"Unknown format {chosen!r}; known: {', '.join(FORMATS)}.")
    return chosen


def render(document: Document, form: str) -> str:
    """A document as a text of one of the forms ``md``, ``csv``, ``latex``, ``json`` and ``html``.

    Markdown and LaTeX (packages booktabs and graphicx) round numbers for people; CSV (one line a number, percentages
    from 0 to 100) and JSON (shares from 0 to 1) have them as they are.

    Raises:
        AnalysisError: The form is another.
    """
    forms = {"md": _markdown, "csv": _csv, "latex": _latex, "json": _json, "html": _html}
    if form not in forms:
        raise AnalysisError(f"Unknown format {form!r}; known: {', '.join(forms)}.")
    return forms[form](document)


def _markdown(document: Document) -> str:
    parts = [f"# {escape_markdown(document.title)}", escape_markdown(document.lead)]
    parts += [f"> **Warning:** {escape_markdown(text)}" for text in document.marks]
    for section in document.sections:
        if not (section.text or section.tables or section.details):
            continue  # of drawings alone
        parts += [f"## {escape_markdown(section.title)}", *map(escape_markdown, section.text)]
        for table in (*section.tables, *section.details):
            parts += [f"**{escape_markdown(table.title)}**", as_markdown(table)]
    parts += [f"## {NOT_SHOWN}", "\n".join(f"- {escape_markdown(text)}" for text in document.not_shown)]
    return "\n\n".join([*parts, escape_markdown(document.settings)]) + "\n"


def _latex(document: Document) -> str:
    parts = ["% needs \\usepackage{booktabs,graphicx}", f"% {one_line(document.settings)}"]
    parts += [rf"\par\noindent\textbf{{Warning:}} {escape_latex(text)}" for text in document.marks]
    for section in document.sections:
        for table in section.tables:
            parts.append(f"\n\\par\\medskip\\noindent {escape_latex(table.title)}\n\\par\\smallskip")
            parts.append(as_narrow_latex(table))
    parts += [f"\n% {LEFT_OUT}"] if any(section.details for section in document.sections) else []
    parts += [rf"\par\medskip\noindent\textbf{{{NOT_SHOWN}.}}", *map(escape_latex, document.not_shown)]
    return "\n".join(parts) + "\n"


def _csv(document: Document) -> str:
    return as_csv(Table(title="", heads=CSV_COLUMNS, labels=0, rows=list(_csv_rows(document))))


def _csv_rows(document: Document) -> Iterator[tuple[TableCell, ...]]:
    """A line for each warning, each number or text of a table, and each sentence of what is not shown."""
    for text in document.marks:
        yield ("Warning", "", "", None, None, None, text)
    for table in _tables(document):
        labels = table.labels if table.labels < len(table.heads) else 1  # of a table of texts, the first names the row
        for row in table.rows:
            name = " / ".join(show(cell) for cell in row[:labels])
            for head, cell in zip(table.heads[labels:], row[labels:], strict=True):
                if cell is not None:
                    yield (table.title, name, head, *_csv_cell(cell))
    for text in document.not_shown:
        yield (NOT_SHOWN, "", "", None, None, None, text)


def _csv_cell(cell: TableCell) -> tuple[TableCell, ...]:
    if isinstance(cell, Between):
        return None, Number(cell.low), Number(cell.high), None
    if isinstance(cell, Interval):
        return None, Percent(cell.low), Percent(cell.high), None
    return (None, None, None, cell) if isinstance(cell, str) else (cell, None, None, None)


def _json(document: Document) -> str:
    value = {
        "schema": SCHEMA,
        "title": document.title,
        "lead": document.lead,
        "private": document.private,
        "warnings": list(document.marks),
        "settings": document.settings,
        "tables": [
            {
                "title": table.title,
                "labels": table.labels,
                "columns": list(table.heads),
                "rows": [[_plain(cell) for cell in row] for row in table.rows],
            }
            for table in _tables(document)
        ],
        "sentences": {section.title: list(section.text) for section in document.sections if section.text},
        "not_shown": list(document.not_shown),
    }
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _plain(cell: TableCell) -> Any:
    """A cell as a JSON value: shares as shares, both ends of an interval as a list."""
    if isinstance(cell, Interval | Between):
        return [_finite(cell.low), _finite(cell.high)]
    if isinstance(cell, Number | PValue):
        return _finite(cell.value)
    return _finite(cell.share) if isinstance(cell, Percent) else cell


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _tables(document: Document) -> Iterator[Table]:
    for section in document.sections:
        yield from (*section.tables, *section.details)


def _html(document: Document) -> str:
    return _templates().render("analysis.html", document=document, title=document.title, not_shown=NOT_SHOWN)


@functools.cache
def _templates() -> Templates:
    return Templates("vcrgen.analysis", style="analysis.css")
