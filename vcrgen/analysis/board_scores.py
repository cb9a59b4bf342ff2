"""Scores in files that vcrgen writes: saved scores (``*.scores.json``) and exports of a board (JSON, CSV).

What they hold is handed on as it stands; `vcrgen.analysis.score_table` checks names and numbers.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcrgen.core.errors import AnalysisError

BOARD_COLUMNS = ("kind", "set", "mode", "view", "signature")
BOARD_SCHEMA = "vcrgen-board-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedScore:
    """A model's score in a file of vcrgen, not checked; shares from 0 to 1."""

    place: str  # for messages
    model: Any
    task: str
    signature: str  # short: how it was scored
    share: Any
    low: Any = None  # ends of the 95 % interval
    high: Any = None
    error: float | None = None  # standard error, where it is known as such
    team: Any = None
    missing: str = ""  # what has no output and counts as wrong, in words


def saved_scores(files: Sequence[Path], *, private: bool) -> Iterator[RecordedScore]:
    """Read the scores that ``vcrgen score`` saved: a task for each language or variant and view.

    Raises:
        AnalysisError: A file has another suffix or no exact score, or is of a hidden set and ``private`` is not set.
        ScoreError: A file holds no saved scores, or was changed.
    """
    from vcrgen.scorer.saved import load_means

    for file in files:
        if file.suffix.lower() != ".json":
            raise AnalysisError(
                f"{file}: several files have to be saved scores (preds.scores.json); "
                "join tables to one that has all columns."
            )
        saved = load_means(file)
        if saved.hidden and not private:
            raise AnalysisError(
                f"{file} is of a hidden set, whose exact scores are not for publication; analyse the export of its "
                "board, or mark the report with --private."
            )
        for cell in saved.cells:
            metric = next((name for name in saved.task.main_metrics if name in cell.metrics), None)
            if metric is None:
                raise AnalysisError(
                    f"{file} has neither of {' and '.join(saved.task.main_metrics)}, so there is no score."
                )
            language = "" if saved.task.axis == "lang" else f"{saved.language} "  # which is what its cells differ in
            yield RecordedScore(
                place=str(file),
                model=saved.model,
                task=f"{language}{cell.variant} {cell.view.value}",
                signature=saved.signature.short,
                share=cell.metrics[metric].value,
                error=cell.metrics[metric].sd_clusters,
                missing=cell.missing_in_words(saved.task),
            )


def board_table_scores(rows: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[RecordedScore]:
    """The ranked rows of a board's CSV; what is quoted or fed back has no signature and is not mixed with them."""
    metrics = _ranking_metrics()
    for place, row in rows:
        metric = next((name for name in metrics if row.get(name)), None)  # none: likelihoods alone were handed in
        if row["kind"] == "ranked" and metric:
            ends = row.get(f"{metric}_low"), row.get(f"{metric}_high")
            yield _board_score(row, place, row.get(metric), *ends)


def board_scores(board: Mapping[str, Any], source: str) -> Iterator[RecordedScore]:
    """The ranked rows of a board's JSON.

    Raises:
        AnalysisError: It is not of the form that ``vcrgen leaderboard export`` writes.
    """
    metrics = _ranking_metrics()
    try:
        for table in board["tables"]:
            track = table["track"]
            for ranking in table["rankings"]:
                for row in ranking["rows"]:
                    facts, scores = row["facts"], row["scores"][track["view"]]
                    if (figure := next((scores[name] for name in metrics if name in scores), None)) is None:
                        continue
                    identity = {
                        "set": track["set"],
                        "mode": track["mode"],
                        "view": track["view"],
                        "model": facts["model"],
                        "signature": ranking["signature"],
                        "team": facts["team"],
                    }
                    yield _board_score(identity, source, figure["value"], figure["low"], figure["high"])
    except (KeyError, TypeError, AttributeError):
        raise AnalysisError(f"{source} is not a board as `vcrgen leaderboard export --to json` writes it.") from None


def _ranking_metrics() -> tuple[str, ...]:
    """The metric that ranks, of each kind of task."""
    from vcrgen.data.tasks.task import TASKS

    return tuple(task.main_metrics[0] for task in TASKS.values())


def _board_score(row: Mapping[str, Any], place: str, share: Any, low: Any, high: Any) -> RecordedScore:
    """A model of one team on one set, mode and view."""
    return RecordedScore(
        place=place,
        model=row.get("model"),
        team=row.get("team"),
        task=" ".join(str(row[name])[:80] for name in ("set", "mode", "view")),
        share=share,
        low=low,
        high=high,
        signature=hashlib.sha256(str(row["signature"]).encode()).hexdigest()[:8],
    )
