"""A report as people read it, and the formats it is written in: a page, Markdown, LaTeX, CSV, JSON.

A document is warnings, sections of sentences, charts and tables, and its limitations. Every format has the warnings and
the limitations, so that no number travels without them. Every number of a chart stands in a table.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from vcrgen.core.errors import ConfigError
from vcrgen.report.escape import escape_latex, escape_markdown, one_line
from vcrgen.report.forms import LONG_ROWS, as_csv, as_long_latex, as_markdown, as_narrow_latex, latex_head
from vcrgen.report.table import Interval, Number, NumberInterval, Percent, PValue, Table, TableCell, show

SCHEMA = "vcrgen-report-1"
FORMATS = ("text", "md", "csv", "latex", "json", "html")
SUFFIXES = {".txt": "text", "": "text", ".md": "md", ".csv": "csv", ".tex": "latex", ".json": "json", ".html": "html"}
LIMITATIONS = "Limitations"
PRIVATE = "Private: this is made of a hidden set. Do not publish it."
LONG_TABLES_OMITTED = "Long tables are left out here; the formats html, md, csv and json have them."
CSV_COLUMNS = ("table", "row", "column", "value", "low", "high", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing under its title, with a sentence that says how to read it."""

    title: str
    svg: Markup
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRows:
    """Small drawings below one axis, one a row, each between its name and its number, in groups."""

    title: str
    axis: Sequence[str]  # texts at its left end, its middle, its right end
    groups: Sequence[tuple[str, Sequence[tuple[str, Markup, str]]]]  # names of groups; name, drawing and number of rows
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a document; without a title the titles of its tables stand in its place."""

    title: str = ""
    text: Sequence[str] = ()  # sentences, each a paragraph
    legend: str = ""  # how the charts are read; only a page has these
    charts: Sequence[Chart] = ()
    panels: Sequence[Chart | ChartRows] = ()  # small ones, side by side where the page is wide enough
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()  # sentences below the tables, each an item of a list
    # long tables: folded on a page, not shown on a terminal, nor in LaTeX unless tables may break over pages
    details: Sequence[Table] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A report in any format."""

    title: str
    sections: Sequence[Section]
    lead: str = ""  # what was analysed: how many models, tasks or items, from where
    # at most five sentences on what to do; a page with them has figures next, and folds its tables
    summary: Sequence[str] = ()
    limitations: Sequence[str] = ()  # sentences: what the numbers must not be taken for
    warnings: Sequence[str] = ()  # sentences, such as that there are too few models
    settings: str = ""  # one line: the options or the signature that gives the same numbers again
    private: bool = False  # made of the items of a hidden set
    csv_table: Table | None = None  # the CSV, where the subject has columns of its own
    long_tables: bool = False  # whether LaTeX may break tables over pages, which takes a page of one column
    json_value: Any = None  # the JSON, where the subject has a schema of its own
    compact_json: bool = False  # whether the JSON is one line: with many rows it is made in a fraction of the time

    @property
    def alerts(self) -> tuple[str, ...]:
        """The warnings; first of them that the document is private, if it is."""
        return ((PRIVATE,) if self.private else ()) + tuple(self.warnings)


def choose_format(name: str | None, suffix: str = "") -> str:
    """Choose the format of this name, or else that of the output's suffix; ``text`` without either.

    Raises:
        ConfigError: The format is none of `FORMATS`, or the suffix is that of none.
    """
    if not name and suffix.lower() not in SUFFIXES:
        raise ConfigError(
            f"No report is written as {suffix}; end the name of --out in {', '.join(filter(None, SUFFIXES))}, or "
            "name the form by --format."
        )
    form = name or SUFFIXES[suffix.lower()]
    if form not in FORMATS:
        raise ConfigError(f"Unknown format {form!r}; known: {', '.join(FORMATS)}.")
    return form


def render(document: Document, form: str) -> str:
    """Write a document as ``md``, ``csv``, ``latex``, ``json`` or ``html``.

    Markdown and LaTeX (packages booktabs and graphicx) round numbers for people; CSV (one line a number, percentages
    from 0 to 100) and JSON (shares from 0 to 1) have them as they are.

    Raises:
        ConfigError: The format is another.
    """
    writers = {"md": _markdown, "csv": _csv, "latex": _latex, "json": _json, "html": html_page}
    if form not in writers:
        raise ConfigError(f"Unknown format {form!r}; known: {', '.join(FORMATS)}.")
    return writers[form](document)


def html_page(
    document: Document, package: str = "vcrgen.report", template: str = "document.html", style: str = "", **values: Any
) -> str:
    """Write a document as a page, by a package's own template if it has one.

    Args:
        template: Extends ``document.html``; its block ``after`` stands below the sections.
        style: Style sheets of the package, which follow that of documents.
        **values: Further values of the template.
    """
    from vcrgen.report.templating import page_templates  # which takes long to load

    templates = page_templates(package, style=f"document.css {style}")
    return templates.render(template, document=document, title=document.title, limitations=LIMITATIONS, **values)


def _markdown(document: Document) -> str:
    parts = [f"# {escape_markdown(document.title)}", _markdown_list(document.summary), escape_markdown(document.lead)]
    parts += [f"> **Warning:** {escape_markdown(text)}" for text in document.alerts]
    for section in document.sections:
        tables = (*section.tables, *section.details)
        if not (section.text or section.notes or tables):
            continue  # of charts alone
        parts += [f"## {escape_markdown(section.title)}"] if section.title else []
        parts += map(escape_markdown, section.text)
        for table in tables:
            parts += [f"**{escape_markdown(table.title)}**", as_markdown(table)]
        parts.append(_markdown_list(section.notes))
    if document.limitations:
        parts += [f"## {LIMITATIONS}", _markdown_list(document.limitations)]
    settings = one_line(document.settings)
    parts.append(escape_markdown(settings) if "`" in settings else f"`{settings}`" if settings else "")
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown_list(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {escape_markdown(text)}" for text in sentences)


def _latex(document: Document) -> str:
    long = LONG_ROWS if document.long_tables else math.inf
    packages = "booktabs,graphicx,longtable,array" if document.long_tables else "booktabs,graphicx"
    parts = [f"% {one_line(document.settings)}"]
    parts += [rf"\par\noindent {escape_latex(text)}" for text in document.summary]
    parts += [rf"\par\noindent\textbf{{Warning:}} {escape_latex(text)}" for text in document.alerts]
    for section in document.sections:
        parts += [f"% {one_line(text)}" for text in section.text]
        for table in (*section.tables, *(section.details if document.long_tables else ())):
            parts.append(f"\n\\par\\medskip\\noindent {escape_latex(table.title)}\n\\par\\smallskip")
            parts.append(as_long_latex(table) if len(table.rows) > long else as_narrow_latex(table))
        parts += [f"% {one_line(text)}" for text in section.notes]
    omitted = not document.long_tables and any(section.details for section in document.sections)
    parts += [f"\n% {LONG_TABLES_OMITTED}"] if omitted else []
    if document.limitations:
        parts += [rf"\par\medskip\noindent\textbf{{{LIMITATIONS}.}}", *map(escape_latex, document.limitations)]
    text = "\n".join(parts)
    return f"{latex_head(text.splitlines(), packages)}\n{text}\n"


def _csv(document: Document) -> str:
    return as_csv(document.csv_table or Table(title="", heads=CSV_COLUMNS, labels=0, rows=list(_csv_rows(document))))


def _csv_rows(document: Document) -> Iterator[tuple[TableCell, ...]]:
    """Yield a line for each warning, each number or text of a table, and each limitation."""
    for text in document.alerts:
        yield ("Warning", "", "", None, None, None, text)
    for table in _tables(document):
        labels = table.labels if table.labels < len(table.heads) else 1  # of a table of texts, the first names the row
        for row in table.rows:
            name = " / ".join(show(cell) for cell in row[:labels])
            for head, cell in zip(table.heads[labels:], row[labels:], strict=True):
                if cell is not None:
                    yield (table.title, name, head, *_csv_cell(cell))
    for text in document.limitations:
        yield (LIMITATIONS, "", "", None, None, None, text)


def _csv_cell(cell: TableCell) -> tuple[TableCell, ...]:
    if isinstance(cell, NumberInterval):
        kind = Percent if isinstance(cell, Interval) else Number
        return None, kind(cell.low), kind(cell.high), None
    return (None, None, None, cell) if isinstance(cell, str) else (cell, None, None, None)


def _json(document: Document) -> str:
    value = document.json_value or {
        "schema": SCHEMA,
        "title": document.title,
        "lead": document.lead,
        "summary": list(document.summary),
        "private": document.private,
        "warnings": list(document.alerts),
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
        "sentences": {
            section.title: [*section.text, *section.notes]
            for section in document.sections
            if section.text or section.notes
        },
        "limitations": list(document.limitations),
    }
    indent = None if document.compact_json else 1
    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False) + "\n"


def _plain(cell: TableCell) -> Any:
    """Return a cell as a JSON value: shares as shares, both ends of an interval as a list."""
    if isinstance(cell, NumberInterval):
        return [_finite(cell.low), _finite(cell.high)]
    if isinstance(cell, Number | PValue):
        return _finite(cell.value)
    return _finite(cell.share) if isinstance(cell, Percent) else cell


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _tables(document: Document) -> Iterator[Table]:
    for section in document.sections:
        yield from (*section.tables, *section.details)
