"""Tables of a board as a document, for papers and other programs: Markdown, CSV, LaTeX and JSON.

Names in them come from strangers; `vcrgen.report.escape` keeps them from being markup.
"""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import date, datetime
from functools import cache
from types import NoneType
from typing import Any

from vcrgen.data.key import Pictures, note_of
from vcrgen.data.tasks.task import LABELS, TASKS, VCR_TASK, ScoredTask
from vcrgen.data.tasks.wording import wording_of
from vcrgen.data.views import View
from vcrgen.leaderboard import times
from vcrgen.leaderboard.disclosure import in_points
from vcrgen.leaderboard.page_records import (
    BoardTable,
    Estimate,
    Estimates,
    LadderRow,
    PixelScore,
    RankedModel,
    Ranking,
    Track,
)
from vcrgen.report.document import Document, Section, render
from vcrgen.report.forms import LONG_ROWS
from vcrgen.report.published.fields import Access, show_size
from vcrgen.report.published.human_baseline import HumanScore
from vcrgen.report.published.results import ReportedResult, reported_metrics
from vcrgen.report.table import DASH, Interval, Number, Percent, Table, TableCell

SCHEMA = "vcrgen-board-1"
FORMATS = ("md", "csv", "latex", "json")
FILES_HEAD = "Files of team"
PIXEL_BASELINE = "Visible pixels alone"
SETTLED = (
    "Settled by pixels: the visible pixels alone tell most of the masked spans, without the picture and the rest of "
    "the caption. A score here does not show reading in context; compare it with the template baseline."
)
_WHERE_TRUE = ("humans", "pictures", "pixels", "settled_by_pixels")  # fields of JSON that are left out otherwise
_PLAIN = frozenset((str, int, bool, NoneType))  # what JSON has as it is
_NOT_COMPARABLE = "Scores of different signatures cannot be compared; ranks hold within a signature."
_BEFORE_FIGURES = (
    "kind",
    "set",
    "hidden",
    "language",
    "mode",
    "view",
    "signature",
    "rank",
    "rank_lowest",
    "model",
    "team",
    "access",
    "size_b",
    "released",
    "link",
    "received",
    "team_files",
)


def cautions(track: Track) -> dict[str, str]:
    """What scores in a table do not show: a sentence or two by a short name."""
    settled = {"settled by pixels": SETTLED} if track.settled_by_pixels else {}
    note = note_of({"pictures": track.pictures} if track.pictures else {}, mcq=track.task is not VCR_TASK)
    names = {Pictures.PUBLIC: "public pictures", Pictures.DRAWN: "drawn scenes"}
    return settled | ({names[Pictures(track.pictures)]: note} if note else {})


def csv_columns(tasks: Sequence[ScoredTask]) -> tuple[str, ...]:
    """The columns of a CSV, in the middle the two metrics of each task and the difference of views in the first."""
    metrics = [name for task in tasks for name in (*task.main_metrics, f"{task.main_metrics[0]}_difference")]
    estimates = (f"{name}{end}" for name in metrics for end in ("", "_low", "_high"))
    return (*_BEFORE_FIGURES, *estimates, "source", "corrected")


def export(tables: Sequence[BoardTable], form: str, *, with_reported: bool = True) -> str:
    """Write tables in one of `FORMATS`, with rows from publications or without."""
    return render(_document(tables if with_reported else [replace(table, reported=()) for table in tables], form), form)


def _document(tables: Sequence[BoardTable], form: str) -> Document:
    """Tables as a document of one form: others would take as long to make, with thousands of models."""
    document = Document(title="Leaderboard", sections=[], long_tables=True)
    if form == "csv":
        return replace(document, csv_table=csv_table(tables))
    if form == "json":
        value = {"schema": SCHEMA, "tables": [_plain(table) for table in tables]}
        return replace(document, json_value=value, compact_json=True)
    return replace(document, sections=[_section(board) for board in tables])


def csv_table(tables: Sequence[BoardTable]) -> Table:
    """One row for each set, mode, view and model.

    Scores are shares from 0 to 1 as they are stored: those of hidden sets are rounded there, and nothing is here.
    ``size_b`` is in billions of parameters. A row of the kind ``feedback`` is of an open set: the step that its team
    was shown, or none. One of the kind ``human`` is a human baseline on some items of the set, one of the kind
    ``pixels`` the template baseline; both are without signature and rank. A reported result has its data as its set,
    and no signature and no rank; it comes once, however many tables show it.
    """
    rows = [row for table in tables for ranking in table.rankings for row in _ranked_rows(table.track, ranking)]
    rows += [_ladder_row(table.track, row) for table in tables for row in table.ladder_rows]
    rows += [
        _baseline_row("human", table.track, human_name(score), score) for table in tables for score in table.humans
    ]
    rows += [_baseline_row("pixels", table.track, PIXEL_BASELINE, score) for table in tables for score in table.pixels]
    reported = dict.fromkeys(row for table in tables for row in table.reported)
    rows += [_reported_row(row) for row in reported]
    tasks = [task for task in TASKS.values() if any(table.track.task is task for table in tables)]
    columns = csv_columns(tasks or [VCR_TASK])
    return Table(title="", heads=columns, labels=0, rows=[[row.get(name) for name in columns] for row in rows])


def _ranking(board: BoardTable, ranking: Ranking) -> Table:
    """One ranking under the columns that all rankings of the board's table need."""
    heads = ["Rank", "Model", "Team", "Access", "Size"]
    labels, views, differences = len(heads), board.views, board.has_differences
    task = board.track.task
    first, second = (task.metrics[metric].label for metric in task.main_metrics)
    for view in views:
        heads += [f"{first} ({view.label})", "95 % interval", f"{second} ({view.label})"]
    if differences:
        heads += [f"{first}, {task.contrast_label}", "95 % interval"]
    return Table(
        title=f"{board.track.set}: {_where(board.track)}. Signature {ranking.short}. {_basis(board.track)}",
        heads=[*heads, FILES_HEAD, "Submitted"],
        labels=labels,
        rows=[list(_ranked_cells(task, row, views, differences)) for row in ranking.rows],
        best=[column for first in range(labels, labels + 3 * len(views), 3) for column in (first, first + 2)],
        # A short table is scaled as a whole; a long one cannot be.
        breaks=range(labels + 3, len(heads), 3) if len(ranking.rows) > LONG_ROWS else (),
    )


def _ranked_cells(task: ScoredTask, row: RankedModel, views: Sequence[View], differences: bool) -> Iterator[TableCell]:
    first, second = task.main_metrics
    yield str(row.rank) if row.rank == row.worst_rank else f"{row.rank} ({row.rank}{DASH}{row.worst_rank})"
    yield from (row.facts.model, row.facts.team, _show_access(row.facts.access), show_size(row.facts.size) or None)
    for view in views:
        estimates = row.scores.get(view, {})
        yield from (_share(estimates, first), _interval(estimates, first), _share(estimates, second))
    if differences:
        difference = row.difference or {}
        yield from (_share(difference, first, sign=True), _interval(difference, first, sign=True))
    yield from (row.files, times.day(row.received))


def _ladder_rows(board: BoardTable) -> Table:
    """The models of a set that is still open: what the ladders of their teams show."""
    metric = board.track.task.leading.label
    return Table(
        title="Feedback, not ranked",
        heads=["Model", "Team", "Access", "Size", f"{metric} ({board.track.view.label})", FILES_HEAD, "Submitted"],
        labels=4,
        rows=[
            [
                row.facts.model,
                row.facts.team,
                _show_access(row.facts.access),
                show_size(row.facts.size) or None,
                Percent(row.best),
                row.files,
                times.day(row.received),
            ]
            for row in board.ladder_rows
        ],
    )


def _reported(reported: Sequence[ReportedResult]) -> Table:
    notes = {note: number for number, note in enumerate(dict.fromkeys(map(_note, reported)), 1)}
    metrics = reported_metrics(reported)
    estimates = (head for label in metrics.values() for head in (label, "sd"))
    return Table(
        title="Reported in publications, not ranked",
        heads=("Model", "Access", "Size", "Measured on", "Images", *estimates, "Note"),
        labels=4,
        rows=[
            (
                row.model,
                _show_access(row.access),
                show_size(row.size) or None,
                row.data or None,
                row.items or None,
                *(Percent(share) for metric in metrics for share in row.score(metric)),
                notes[_note(row)],
            )
            for row in reported
        ],
        notes=list(notes),
    )


def pixel_table(task: ScoredTask, scores: Sequence[PixelScore]) -> Table:
    """The template baseline on a set, with the bits that its visible pixels leave."""
    heads = [
        "Baseline",
        task.clusters.capitalize(),
        wording_of(task).unit_head,
        "Not read",
        task.leading.label,
        "95 % interval",
        "Bits, median",
        "10th percentile",
        "Below 1 bit",
    ]
    rows: list[list[TableCell]] = [
        [
            PIXEL_BASELINE,
            score.images,
            score.spans,
            score.unread,
            Percent(score.exact),
            Interval(score.low, score.high),
            Number(score.bits),
            Number(score.bits_p10),
            Percent(score.below_one_bit),
        ]
        for score in scores
    ]
    return Table(title="Template baseline, not ranked", heads=heads, labels=1, rows=rows)


def human_table(task: ScoredTask, scores: Sequence[HumanScore]) -> Table:
    """Studies of people on items of a set."""
    rows: list[list[TableCell]] = [
        [
            human_name(score),
            score.items,
            score.spans,
            Percent(score.exact),
            Percent(score.sd),
            Interval(score.low, score.high),
        ]
        for score in scores
    ]
    heads = [
        "Raters",
        task.clusters.capitalize(),
        wording_of(task).unit_head,
        task.leading.label,
        "sd",
        "95 % interval",
    ]
    return Table(title="Human baseline, not ranked", heads=heads, labels=1, rows=rows)


def human_name(score: HumanScore) -> str:
    """What the raters of a study are called on a board: ``Humans (n = 7)``."""
    return f"Humans (n = {score.raters:,})"


def _note(row: ReportedResult) -> tuple[str, str]:
    corrected = f"Corrected: {row.corrected}" if row.corrected else ""
    sentences = (text.rstrip(".") + "." for text in (f"Source: {row.source}", corrected, row.note) if text)
    return " ".join(sentences), row.url


def _show_access(access: Access) -> str | None:
    return None if access == Access.UNKNOWN else access.value


def _share(estimates: Estimates, metric: str, *, sign: bool = False) -> Percent:
    estimate = estimates.get(metric)
    return Percent(estimate.value if estimate else None, sign=sign)


def _interval(estimates: Estimates, metric: str, *, sign: bool = False) -> Interval | None:
    estimate = estimates.get(metric)
    return Interval(estimate.low, estimate.high, sign=sign) if estimate else None


def _where(track: Track) -> str:
    return ", ".join(dict.fromkeys((track.language, track.mode, track.view.label)))


def _basis(track: Track) -> str:
    rounded = f", rounded to {in_points(track.step)}" if track.step else ""
    secret = " The answers are secret." if track.lifecycle.has_secret(hidden=track.hidden) else ""
    over = wording_of(track.task).basis(track.questions, track.spans)
    return f"In percent{rounded}, over {over}.{secret}"


def _section(board: BoardTable) -> Section:
    signatures = [f"Signature {ranking.short}: {ranking.signature}." for ranking in board.rankings]
    return Section(
        title=f"{board.track.set}: {_where(board.track)}",
        text=[*cautions(board.track).values(), *signatures],
        tables=[*(_ranking(board, ranking) for ranking in board.rankings), *_unranked(board)],
        notes=[_NOT_COMPARABLE] if len(board.rankings) > 1 else (),
    )


def _unranked(board: BoardTable) -> Iterator[Table]:
    if board.ladder_rows:
        yield _ladder_rows(board)
    if board.pixels:
        yield pixel_table(board.track.task, board.pixels)
    if board.humans:
        yield human_table(board.track.task, board.humans)
    if board.reported:
        yield _reported(board.reported)


def _ranked_rows(track: Track, ranking: Ranking) -> Iterator[dict[str, TableCell]]:
    first, second = track.task.main_metrics
    for row in ranking.rows:
        estimates = row.scores[track.view]
        yield {
            **_track_cells("ranked", track),
            "signature": ranking.signature,
            "rank": row.rank,
            "rank_lowest": row.worst_rank,
            **_model_cells(row),
            **_numbers(first, estimates.get(first)),
            **_numbers(second, estimates.get(second)),
            **_numbers(f"{first}_difference", (row.difference or {}).get(first)),
        }


def _ladder_row(track: Track, row: LadderRow) -> dict[str, TableCell]:
    return {**_track_cells("feedback", track), **_model_cells(row), track.task.main_metrics[0]: Number(row.best)}


def _baseline_row(kind: str, track: Track, name: str, score: PixelScore | HumanScore) -> dict[str, TableCell]:
    estimate = Estimate(score.exact, score.low, score.high)
    return {**_track_cells(kind, track), "model": name, **_numbers(track.task.main_metrics[0], estimate)}


def _track_cells(kind: str, track: Track) -> dict[str, TableCell]:
    return {
        "kind": kind,
        "set": track.set,
        "hidden": "true" if track.hidden else "false",
        "language": track.language,
        "mode": track.mode,
        "view": track.view.value,
    }


def _model_cells(row: RankedModel | LadderRow) -> dict[str, TableCell]:
    facts = row.facts
    return {
        "model": facts.model,
        "team": facts.team,
        "access": facts.access.value,
        "size_b": Number(facts.size),
        "released": _day(facts.released),
        "link": facts.link,
        "received": times.iso_minute(row.received),
        "team_files": row.files,
    }


def _reported_row(row: ReportedResult) -> dict[str, TableCell]:
    return {
        "kind": "reported",
        "set": row.data,
        "language": row.language,
        "mode": row.mode,
        "view": row.view.value,
        "model": row.model,
        "access": row.access.value,
        "size_b": Number(row.size),
        "released": _day(row.released),
        "link": row.url,
        **{metric: Number(row.score(metric)[0]) for metric in row.task.main_metrics},
        "source": row.source,
        "corrected": row.corrected,
    }


def _day(released: date | None) -> str | None:
    return released.isoformat() if released else None


def _numbers(name: str, estimate: Estimate | None) -> dict[str, TableCell]:
    if estimate is None:
        return {}
    return {name: Number(estimate.value), f"{name}_low": Number(estimate.low), f"{name}_high": Number(estimate.high)}


def _plain(value: Any) -> Any:
    """A record as JSON values."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        if not math.isfinite(value):
            raise ValueError(f"a score is {value}")
        return value
    if isinstance(value, ScoredTask):
        return value.name
    if names := _field_names(kind):  # type: ignore[arg-type] # mypy takes no class for hashable
        parts = {name: getattr(value, name) for name in names}
        if isinstance(value, ReportedResult):  # has fields for the metrics of every task
            metrics = {name: name.removesuffix("_sd") for name in parts}
            own = value.task.metrics
            parts = {name: parts[name] for name, metric in metrics.items() if metric not in LABELS or metric in own}
        # The task is named where it is another than that of boards from before there were several.
        # So are people, who stand on few boards, and what the visible pixels tell.
        return {
            name: _plain(part)
            for name, part in parts.items()
            if (part or name not in _WHERE_TRUE) and part is not VCR_TASK
        }
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return times.iso_minute(value)
    return value.isoformat() if isinstance(value, date) else value


@cache
def _field_names(kind: Hashable) -> tuple[str, ...]:
    """The names of a record's fields; none of other classes."""
    return tuple(field.name for field in fields(kind)) if isinstance(kind, type) and is_dataclass(kind) else ()
