"""A leaderboard's tables as texts, for papers and other programs: Markdown, CSV, LaTeX and JSON.

Names in them come from strangers; each form escapes them in its own way.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from typing import Any

from vcrgen.dataset.views import View
from vcrgen.files import indented_json
from vcrgen.leaderboard.facts import Access, show_size
from vcrgen.leaderboard.quoted import Quoted
from vcrgen.leaderboard.records import SHOWN_METRICS, BoardTable, Figure, Figures, Ranking, Row, Track
from vcrgen.scorer.report.plain import escape_formula, escape_latex, escape_markdown
from vcrgen.scorer.report.tables import DASH, MINUS, percent

SCHEMA = "vcrgen-board-1"
CSV_COLUMNS = (
    "kind", "set", "hidden", "language", "mode", "view", "signature", "rank", "rank_lowest", "model", "team", "access",
    "size_b", "released", "link", "received", "exact", "exact_low", "exact_high", "jaccard", "jaccard_low",
    "jaccard_high", "exact_difference", "exact_difference_low", "exact_difference_high", "source", "corrected",
)  # fmt: skip
# What GitHub makes a link of even though nothing marks it as one.
_BARE_LINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def as_markdown(tables: Sequence[BoardTable]) -> str:
    """Tables of GitHub's Markdown, in percent: one for each ranking and one for what is quoted."""
    return "\n".join(f"{part}\n" for table in tables for part in _markdown(table))


def as_csv(tables: Sequence[BoardTable]) -> str:
    """One line for each set, mode, view and model.

    Scores are shares from 0 to 1 as they are stored: those of hidden sets are rounded there, and nothing is here.
    ``size_b`` is in billions of parameters. A quoted row has what it was measured on as its set, and no signature and
    no rank; it comes once, however many tables show it. Texts are in quotes, and where a spreadsheet would run one as a
    formula it gets an apostrophe; numbers are bare.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS, restval="", quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writeheader()
    rows = [row for table in tables for ranking in table.rankings for row in _ranked_rows(table.track, ranking)]
    rows += [_quoted_row(quoted) for quoted in dict.fromkeys(quoted for table in tables for quoted in table.quoted)]
    for row in rows:
        writer.writerow({name: escape_formula(v) if isinstance(v, str) else v for name, v in row.items()})
    return out.getvalue()


def as_latex(tables: Sequence[BoardTable]) -> str:
    """Tables for the package booktabs, in percent; the highest score of a ranking is bold."""
    needs = (
        r"% needs \usepackage{booktabs} and, under pdfLaTeX, \usepackage[T1]{fontenc};",
        r"% names that are not in Latin script need XeLaTeX or LuaLaTeX, and a font that has them",
    )
    return "\n\n".join(["\n".join(needs), *(part for table in tables for part in _latex(table))]) + "\n"


def as_json(tables: Sequence[BoardTable]) -> str:
    """Everything in the records: dates in ISO 8601, scores as shares from 0 to 1 as they are stored."""
    return indented_json({"schema": SCHEMA, "tables": [_plain(table) for table in tables]})


FORMATS: dict[str, Callable[[Sequence[BoardTable]], str]] = {
    "md": as_markdown,
    "csv": as_csv,
    "latex": as_latex,
    "json": as_json,
}


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of Markdown and LaTeX: its head, its texts, and the numbers of which the highest is best."""

    head: str
    text: Callable[[Row], str]
    number: Callable[[Row], float | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table as texts.

    Attributes:
        heads: The heads of the columns.
        rows: The cells below.
        labels: Columns before the first number.
        best: Line and column of the cells that are best.
        notes: Sentences to number and put below, each with an address or nothing.
    """

    heads: list[str]
    rows: list[list[str]]
    labels: int
    best: frozenset[tuple[int, int]] = frozenset()
    notes: Sequence[tuple[str, str]] = ()


def _ranking_grid(track: Track, rankings: Sequence[Ranking], ranking: Ranking) -> _Grid:
    """One ranking under the columns that all rankings of the table need."""
    rows = [row for each in rankings for row in each.rows]
    columns = [
        _Column("Rank", _show_rank),
        _Column("Model", lambda row: row.facts.model),
        _Column("Team", lambda row: row.facts.team),
        _Column("Access", lambda row: _show_access(row.facts.access)),
        _Column("Size", lambda row: show_size(row.facts.size) or DASH),
    ]
    labels = len(columns)
    for view in (track.view, *(view for view in View if view != track.view and any(view in r.scores for r in rows))):
        columns += _score_columns(view)
    if any(row.difference for row in rows):
        difference = f"Exact match, {View.STACKED.label} {MINUS} {View.TEI.label}"
        columns += [
            _Column(difference, lambda row: percent(_value(row.difference, "exact"), sign=True)),
            _Column("95 % interval", lambda row: _interval(row.difference, sign=True)),
        ]
    columns.append(_Column("Handed in", lambda row: row.received.date().isoformat()))
    return _Grid(
        heads=[column.head for column in columns],
        rows=[[column.text(row) for column in columns] for row in ranking.rows],
        labels=labels,
        best=frozenset(_best(columns, ranking.rows)),
    )


def _score_columns(view: View) -> Iterator[_Column]:
    exact, jaccard = (_score_column(view, metric) for metric in SHOWN_METRICS)
    yield exact
    yield _Column("95 % interval", lambda row: _interval(row.scores.get(view)))
    yield jaccard


def _score_column(view: View, metric: str) -> _Column:
    def number(row: Row) -> float | None:
        return _value(row.scores.get(view), metric)

    label = {"exact": "Exact match", "jaccard": "Jaccard"}[metric]
    return _Column(f"{label} ({view.label})", lambda row: percent(number(row)), number)


def _best(columns: Sequence[_Column], rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """The cells with the highest score that is shown; none where there is nothing to be better than."""
    for at, column in enumerate(columns):
        shown = {line: percent(n) for line, row in enumerate(rows) if (n := column.number(row)) is not None}
        if len(shown) > 1:
            highest = max(shown.values(), key=float)
            yield from ((line, at) for line, text in shown.items() if text == highest)


def _quoted_grid(quoted: Sequence[Quoted]) -> _Grid:
    notes = {note: number for number, note in enumerate(dict.fromkeys(map(_note, quoted)), 1)}
    heads = ["Model", "Access", "Size", "Measured on", "Images", "Exact match", "sd", "Jaccard", "sd", "Note"]
    rows = [
        [
            row.model,
            _show_access(row.access),
            show_size(row.size) or DASH,
            row.data or DASH,
            str(row.items or DASH),
            *map(percent, (row.exact, row.exact_sd, row.jaccard, row.jaccard_sd)),
            str(notes[_note(row)]),
        ]
        for row in quoted
    ]
    return _Grid(heads, rows, labels=4, notes=list(notes))


def _note(row: Quoted) -> tuple[str, str]:
    corrected = f"Corrected: {row.corrected}" if row.corrected else ""
    sentences = (text.rstrip(".") + "." for text in (f"Source: {row.source}", corrected, row.note) if text)
    return " ".join(sentences), row.url


def _show_rank(row: Row) -> str:
    return str(row.rank) if row.rank == row.lowest else f"{row.rank} ({row.rank}{DASH}{row.lowest})"


def _show_access(access: Access) -> str:
    return DASH if access == Access.UNKNOWN else access.value


def _value(figures: Figures | None, metric: str) -> float | None:
    figure = figures.get(metric) if figures else None
    return figure.value if figure else None


def _interval(figures: Figures | None, *, sign: bool = False) -> str:
    figure = figures.get("exact") if figures else None
    return f"{percent(figure.low, sign=sign)} to {percent(figure.high, sign=sign)}" if figure else DASH


def _where(track: Track) -> str:
    return f"{track.language}, {track.mode}, {track.view.label}"


def _basis(track: Track) -> str:
    rounded = f", rounded to {100 * track.step:g} points" if track.step else ""
    secret = " The answers are secret." if track.hidden else ""
    return f"In percent{rounded}, over {track.spans:,} hidden texts in {track.questions:,} images.{secret}"


def _markdown(table: BoardTable) -> Iterator[str]:
    track = table.track
    yield f"## {_markdown_text(f'{track.set}: {_where(track)}')}"
    yield _markdown_text(_basis(track))
    for number, ranking in enumerate(table.rankings):
        if number:
            yield f"**Not to be compared with the above: signature {_markdown_text(ranking.short)}**"
        yield from _markdown_grid(_ranking_grid(track, table.rankings, ranking))
        yield f"Signature {_markdown_text(ranking.short)}: {_markdown_text(ranking.signature)}"
    if table.quoted:
        yield "**Quoted, not ranked**"
        yield from _markdown_grid(_quoted_grid(table.quoted))


def _markdown_grid(grid: _Grid) -> Iterator[str]:
    lines = [[_markdown_text(cell) for cell in line] for line in (grid.heads, *grid.rows)]
    lines.insert(1, ["---"] * grid.labels + ["---:"] * (len(grid.heads) - grid.labels))
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
    if grid.notes:
        notes = ((_markdown_text(text), f" <{url}>" if url else "") for text, url in grid.notes)
        yield "\n".join(f"{number}. {text}{link}" for number, (text, link) in enumerate(notes, 1))


def _markdown_text(text: str) -> str:
    return _BARE_LINK.sub(lambda mark: f"&#{ord(mark[0])};", escape_markdown(text))


def _latex(table: BoardTable) -> Iterator[str]:
    track = table.track
    for ranking in table.rankings:
        caption = f"{track.set}: {_where(track)}. Signature {ranking.short}. {_basis(track)}"
        yield _latex_grid(_ranking_grid(track, table.rankings, ranking), caption, f"signature {ranking.signature}")
    if table.quoted:
        yield _latex_grid(_quoted_grid(table.quoted), f"Quoted, not ranked: {_where(track)}. In percent.", "quoted")


def _latex_grid(grid: _Grid, caption: str, comment: str) -> str:
    cells = [[escape_latex(cell) for cell in line] for line in grid.rows]
    for line, column in grid.best:
        cells[line][column] = rf"\textbf{{{cells[line][column]}}}"
    lines = [
        f"% {' '.join(comment.split())}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(caption)}}}",
        rf"\begin{{tabular}}{{{'l' * grid.labels}{'r' * (len(grid.heads) - grid.labels)}}}",
        r"\toprule",
        _latex_row([escape_latex(head) for head in grid.heads]),
        r"\midrule",
        *map(_latex_row, cells),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    for number, (text, url) in enumerate(grid.notes, 1):
        lines.append(rf"\par\footnotesize {number}. {escape_latex(f'{text} {url}')}")
    return "\n".join([*lines, r"\end{table}"])


def _latex_row(cells: Sequence[str]) -> str:
    # The end of a line and \midrule take a star or a bracket that follows for a setting of theirs.
    guard = "{}" if cells[0][:1] in ("[", "*") else ""
    return f"{guard}{' & '.join(cells)} \\\\"


def _ranked_rows(track: Track, ranking: Ranking) -> Iterator[dict[str, Any]]:
    for row in ranking.rows:
        figures = row.scores[track.view]
        facts = row.facts
        yield {
            "kind": "ranked",
            "set": track.set,
            "hidden": "true" if track.hidden else "false",
            "language": track.language,
            "mode": track.mode,
            "view": track.view.value,
            "signature": ranking.signature,
            "rank": row.rank,
            "rank_lowest": row.lowest,
            "model": facts.model,
            "team": facts.team,
            "access": facts.access.value,
            "size_b": facts.size,
            "released": facts.released and facts.released.isoformat(),
            "link": facts.link,
            "received": row.received.isoformat(),
            **_numbers("exact", figures.get("exact")),
            **_numbers("jaccard", figures.get("jaccard")),
            **_numbers("exact_difference", row.difference.get("exact") if row.difference else None),
        }


def _quoted_row(row: Quoted) -> dict[str, Any]:
    return {
        "kind": "quoted",
        "set": row.data,
        "language": row.language,
        "mode": row.mode,
        "view": row.view.value,
        "model": row.model,
        "access": row.access.value,
        "size_b": row.size,
        "released": row.released and row.released.isoformat(),
        "link": row.url,
        "exact": row.exact,
        "jaccard": row.jaccard,
        "source": row.source,
        "corrected": row.corrected,
    }


def _numbers(name: str, figure: Figure | None) -> dict[str, float]:
    return {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high} if figure else {}


def _plain(value: Any) -> Any:
    """A record as JSON values."""
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a score is {value}")
    return value
