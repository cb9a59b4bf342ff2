"""A leaderboard's tables as documents, for papers and other programs: Markdown, CSV, LaTeX and JSON.

Names in them come from strangers; :mod:`vcrgen.report.escape` keeps them from being markup.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any

from vcrgen.dataset.views import View
from vcrgen.files import indented_json
from vcrgen.leaderboard.disclosure import in_points
from vcrgen.leaderboard.records import BoardTable, Climber, Figure, Figures, RankedModel, Ranking, Track
from vcrgen.published.facts import Access, show_size
from vcrgen.published.people import PeopleScore
from vcrgen.published.quoted import Quoted, quoted_metrics
from vcrgen.report import forms
from vcrgen.report.escape import escape_latex, escape_markdown
from vcrgen.report.table import DASH, Interval, Number, Percent, Table, TableCell
from vcrgen.scorer.curve_tables import bound_shown
from vcrgen.stats.psychometric import Bound
from vcrgen.tasks.task import DEFAULT, LABELS, TASKS, ScoredTask

SCHEMA = "vcrgen-board-1"
_BEFORE_FIGURES = (
    "kind", "set", "hidden", "language", "mode", "view", "signature", "rank", "rank_lowest", "model", "team", "access",
    "size_b", "released", "link", "received",
)  # fmt: skip


def csv_columns(tasks: Sequence[ScoredTask]) -> tuple[str, ...]:
    """The columns of a CSV, in the middle the two metrics of each task and the difference of views in the first."""
    metrics = [name for task in tasks for name in (*task.shown, f"{task.shown[0]}_difference")]
    figures = (f"{name}{end}" for name in metrics for end in ("", "_low", "_high"))
    return (*_BEFORE_FIGURES, *figures, "source", "corrected")


def as_markdown(tables: Sequence[BoardTable]) -> str:
    """Tables of GitHub's Markdown, in percent: one for each ranking and one for what is quoted."""
    return "\n".join(f"{part}\n" for table in tables for part in _markdown(table))


def as_csv(tables: Sequence[BoardTable]) -> str:
    """One line for each set, mode, view and model.

    Scores are shares from 0 to 1 as they are stored: those of hidden sets are rounded there, and nothing is here.
    ``size_b`` is in billions of parameters. A row of the kind ``feedback`` is of a set that takes files: the step that
    its team was shown, or none. One of the kind ``people`` is of a study on some items of the set: no signature and no
    rank. A quoted row has what it was measured on as its set, and no signature and no rank; it comes once, however many
    tables show it. Texts are in quotes, and where a spreadsheet would run one as a formula it gets an apostrophe;
    numbers are bare.
    """
    rows = [row for table in tables for ranking in table.rankings for row in _ranked_rows(table.track, ranking)]
    rows += [_climbing_row(table.track, row) for table in tables for row in table.climbers]
    rows += [_people_row(table.track, score) for table in tables for score in table.people]
    rows += [_quoted_row(quoted) for quoted in dict.fromkeys(quoted for table in tables for quoted in table.quoted)]
    tasks = [task for task in TASKS.values() if any(table.track.task is task for table in tables)]
    columns = csv_columns(tasks or [DEFAULT])
    cells = [[row.get(name) for name in columns] for row in rows]
    return forms.as_csv(Table(title="", heads=columns, labels=0, rows=cells), quote_texts=True)


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


FORMATS: dict[str, Callable[[Sequence[BoardTable]], str]]
FORMATS = {"md": as_markdown, "csv": as_csv, "latex": as_latex, "json": as_json}


def _ranking(board: BoardTable, ranking: Ranking) -> Table:
    """One ranking under the columns that all rankings of the board's table need."""
    heads = ["Rank", "Model", "Team", "Access", "Size"]
    labels, views, differences = len(heads), board.views, board.has_differences
    task = board.track.task
    first, second = (task.metrics[metric].label for metric in task.shown)
    for view in views:
        heads += [f"{first} ({view.label})", "95 % interval", f"{second} ({view.label})"]
    if differences:
        heads += [f"{first}, {task.contrast_label}", "95 % interval"]
    return Table(
        title="", heads=[*heads, "Handed in"], labels=labels,
        rows=[list(_ranked_cells(task, row, views, differences)) for row in ranking.rows],
        best=[column for first in range(labels, labels + 3 * len(views), 3) for column in (first, first + 2)],
    )  # fmt: skip


def _ranked_cells(task: ScoredTask, row: RankedModel, views: Sequence[View], differences: bool) -> Iterator[TableCell]:
    first, second = task.shown
    yield str(row.rank) if row.rank == row.lowest else f"{row.rank} ({row.rank}{DASH}{row.lowest})"
    yield from (row.facts.model, row.facts.team, _show_access(row.facts.access), show_size(row.facts.size) or None)
    for view in views:
        figures = row.scores.get(view, {})
        yield from (_share(figures, first), _interval(figures, first), _share(figures, second))
    if differences:
        of = row.difference or {}
        yield from (_share(of, first, sign=True), _interval(of, first, sign=True))
    yield row.received.date().isoformat()


def _climbers(board: BoardTable) -> Table:
    """The models of a set that still takes files: what the ladders of their teams show."""
    metric = board.track.task.leading.label
    return Table(
        title="Feedback, not ranked",
        heads=["Model", "Team", "Access", "Size", f"{metric} ({board.track.view.label})", "Handed in"],
        labels=4,
        rows=[
            [
                row.facts.model, row.facts.team, _show_access(row.facts.access), show_size(row.facts.size) or None,
                Percent(row.best), row.received.date().isoformat(),
            ]
            for row in board.climbers
        ],
    )  # fmt: skip


def _quoted(quoted: Sequence[Quoted]) -> Table:
    notes = {note: number for number, note in enumerate(dict.fromkeys(map(_note, quoted)), 1)}
    metrics = quoted_metrics(quoted)
    figures = (head for label in metrics.values() for head in (label, "sd"))
    return Table(
        title="Quoted, not ranked",
        heads=("Model", "Access", "Size", "Measured on", "Images", *figures, "Note"),
        labels=4,
        rows=[
            (
                row.model, _show_access(row.access), show_size(row.size) or None, row.data or None, row.items or None,
                *(Percent(share) for metric in metrics for share in row.figure(metric)), notes[_note(row)],
            )
            for row in quoted
        ],
        notes=list(notes),
    )  # fmt: skip


def people_table(task: ScoredTask, scores: Sequence[PeopleScore]) -> Table:
    """Studies of people on items of a set, with their threshold where one has any."""
    rows: list[list[TableCell]] = [
        [
            people_name(score), score.items, score.spans, Percent(score.exact), Percent(score.sd),
            Interval(score.low, score.high), *threshold_cells(score),
        ]
        for score in scores
    ]  # fmt: skip
    heads = [
        "People", task.clusters.capitalize(), task.unit_head, task.leading.label, "sd", "95 % interval", "Threshold",
        "95 % interval",
    ]  # fmt: skip
    if not any(score.threshold for score in scores):
        heads, rows = heads[:-2], [row[:-2] for row in rows]
    return Table(title="People, not ranked", heads=heads, labels=1, rows=rows)


def people_name(score: PeopleScore) -> str:
    """What a board calls the people of a study: ``People (n = 7)``."""
    return f"People (n = {score.people:,})"


def threshold_cells(score: PeopleScore) -> tuple[str | None, str | None]:
    """A threshold in percent of the ink, and its interval; None where there is none."""
    if score.threshold is None:
        return None, None
    value, low, high = (
        bound_shown(Bound(each.value, each.side))
        for each in (score.threshold.value, score.threshold.low, score.threshold.high)
    )
    return value, f"{low} to {high}"


def _note(row: Quoted) -> tuple[str, str]:
    corrected = f"Corrected: {row.corrected}" if row.corrected else ""
    sentences = (text.rstrip(".") + "." for text in (f"Source: {row.source}", corrected, row.note) if text)
    return " ".join(sentences), row.url


def _show_access(access: Access) -> str | None:
    return None if access == Access.UNKNOWN else access.value


def _share(figures: Figures, metric: str, *, sign: bool = False) -> Percent:
    figure = figures.get(metric)
    return Percent(figure.value if figure else None, sign=sign)


def _interval(figures: Figures, metric: str, *, sign: bool = False) -> Interval | None:
    figure = figures.get(metric)
    return Interval(figure.low, figure.high, sign=sign) if figure else None


def _where(track: Track) -> str:
    return ", ".join(dict.fromkeys((track.language, track.mode, track.view.label)))


def _basis(track: Track) -> str:
    rounded = f", rounded to {in_points(track.step)}" if track.step else ""
    secret = " The answers are secret." if track.hidden else ""
    over = track.task.basis.format(units=track.spans, questions=track.questions)
    return f"In percent{rounded}, over {over}.{secret}"


def _markdown(board: BoardTable) -> Iterator[str]:
    track = board.track
    yield f"## {escape_markdown(f'{track.set}: {_where(track)}')}"
    yield escape_markdown(_basis(track))
    for number, ranking in enumerate(board.rankings):
        short = escape_markdown(ranking.short)
        if number:
            yield f"**Not to be compared with the above: signature {short}**"
        yield forms.as_markdown(_ranking(board, ranking))
        yield f"Signature {short}: {escape_markdown(ranking.signature)}"
    for table in _unranked(board):
        yield from (f"**{table.title}**", forms.as_markdown(table))


def _latex(board: BoardTable) -> Iterator[str]:
    track = board.track
    for ranking in board.rankings:
        caption = f"{track.set}: {_where(track)}. Signature {ranking.short}. {_basis(track)}"
        yield _latex_float(_ranking(board, ranking), caption, f"signature {ranking.signature}")
    for table in _unranked(board):
        yield _latex_float(table, f"{table.title}: {_where(track)}. In percent.", table.title.partition(",")[0].lower())


def _unranked(board: BoardTable) -> Iterator[Table]:
    if board.climbers:
        yield _climbers(board)
    if board.people:
        yield people_table(board.track.task, board.people)
    if board.quoted:
        yield _quoted(board.quoted)


def _latex_float(table: Table, caption: str, comment: str) -> str:
    head = [f"% {' '.join(comment.split())}", r"\begin{table}", r"\centering", rf"\caption{{{escape_latex(caption)}}}"]
    return "\n".join([*head, forms.as_latex(table), r"\end{table}"])


def _ranked_rows(track: Track, ranking: Ranking) -> Iterator[dict[str, TableCell]]:
    first, second = track.task.shown
    for row in ranking.rows:
        figures, facts = row.scores[track.view], row.facts
        yield {
            "kind": "ranked", "set": track.set, "hidden": "true" if track.hidden else "false",
            "language": track.language, "mode": track.mode, "view": track.view.value, "signature": ranking.signature,
            "rank": row.rank, "rank_lowest": row.lowest, "model": facts.model, "team": facts.team,
            "access": facts.access.value, "size_b": Number(facts.size), "released": _day(facts.released),
            "link": facts.link, "received": row.received.isoformat(),
            **_numbers(first, figures.get(first)), **_numbers(second, figures.get(second)),
            **_numbers(f"{first}_difference", (row.difference or {}).get(first)),
        }  # fmt: skip


def _climbing_row(track: Track, row: Climber) -> dict[str, TableCell]:
    facts = row.facts
    return {
        "kind": "feedback", "set": track.set, "hidden": "true", "language": track.language, "mode": track.mode,
        "view": track.view.value, "model": facts.model, "team": facts.team, "access": facts.access.value,
        "size_b": Number(facts.size), "released": _day(facts.released), "link": facts.link,
        "received": row.received.isoformat(), track.task.shown[0]: Number(row.best),
    }  # fmt: skip


def _people_row(track: Track, score: PeopleScore) -> dict[str, TableCell]:
    return {
        "kind": "people", "set": track.set, "hidden": "true" if track.hidden else "false", "language": track.language,
        "mode": track.mode, "view": track.view.value, "model": people_name(score),
        **_numbers(track.task.shown[0], Figure(score.exact, score.low, score.high)),
    }  # fmt: skip


def _quoted_row(row: Quoted) -> dict[str, TableCell]:
    return {
        "kind": "quoted", "set": row.data, "language": row.language, "mode": row.mode, "view": row.view.value,
        "model": row.model, "access": row.access.value, "size_b": Number(row.size), "released": _day(row.released),
        "link": row.url, **{metric: Number(row.figure(metric)[0]) for metric in row.task.shown}, "source": row.source,
        "corrected": row.corrected,
    }  # fmt: skip


def _day(released: date | None) -> str | None:
    return released.isoformat() if released else None


def _numbers(name: str, figure: Figure | None) -> dict[str, TableCell]:
    if figure is None:
        return {}
    return {name: Number(figure.value), f"{name}_low": Number(figure.low), f"{name}_high": Number(figure.high)}


def _plain(value: Any) -> Any:
    """A record as JSON values."""
    if isinstance(value, ScoredTask):
        return value.name
    if is_dataclass(value):
        parts = {each.name: getattr(value, each.name) for each in fields(value)}
        if isinstance(value, Quoted):  # has fields for the metrics of every task
            metrics = {name: name.removesuffix("_sd") for name in parts}
            parts = {name: parts[name] for name, of in metrics.items() if of not in LABELS or of in value.task.metrics}
        # The task is named where it is another than that of boards from before there were several.
        # So are people, who stand on few boards.
        parts = {name: part for name, part in parts.items() if name != "people" or part}
        return {name: _plain(part) for name, part in parts.items() if part is not DEFAULT}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a score is {value}")
    return value
