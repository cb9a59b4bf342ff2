"""Scoring one file for a board: complete or refused, and never a word of an answer in what a team is told."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vcrgen.errors import PredictionError
from vcrgen.leaderboard.outcome import CellOutcome, ScoringOutcome, Triple
from vcrgen.plurals import counted
from vcrgen.scorer.curves import has_curve
from vcrgen.scorer.join import STRICT, problem_name
from vcrgen.scorer.predictions import PredictionFile, open_predictions
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.results import Estimate, RunResult
from vcrgen.scorer.run import AnySession, Session, Validation

NO_MODE = "any"  # of outputs that state no mode, where the set has none
_MARK = 8  # bytes of a fingerprint of one output
_UNSEEN = ("Mn", "Me", "Cf")  # marks on letters, and characters that show nothing


def score_file(
    session: AnySession, file: Path, *, shown_as: str, of_part: AnySession | None = None, earlier: Sequence[bytes] = (),
    left: int | None = None,
) -> ScoringOutcome:  # fmt: skip
    """Score a file of outputs.

    Args:
        session: The whole set, for which the file has to be complete.
        file: The file.
        shown_as: What messages call it.
        of_part: The part of a hidden set that is scored; None for the whole set.
        earlier: Of a hidden set, the fingerprints of what the team handed in before.
        left: How many figures the team may still ask of the key; None for any number.

    Returns:
        Scores, or the problems: the file cannot be read, is not complete, asks for more than is left, or (hidden sets)
        is nearly one of before.
    """
    scored = of_part or session
    try:
        opened = open_predictions(file, name=shown_as)
        check = session.validate(opened)
        problems = tuple(_flaws(session, check, scored.options.view))
        asked = 1 if scored.options.view else len(check.cells)
        if not problems and left is not None and asked > left:
            problems = (
                f"The file holds {counted(asked, 'view')}, each of which asks the key for a figure; your team has "
                f"{left} left.",
            )
        outputs = fingerprint(session, opened) if session.key.hidden and not problems else None
        task = session.task
        if outputs is not None and any(
            near_copy(outputs, other, kinds=len(session.kinds), most=task.near_copy) for other in earlier
        ):
            problems = (
                f"More than {task.near_copy:.0%} of the outputs of a view are those of a file that your team handed in "
                "before. A hidden set does not score near copies, as the differences would tell the answers.",
            )
        if problems:
            return ScoringOutcome(problems=problems)
        result = scored.score(opened)
        if unranked := [cell for cell in result.cells if task.shown[0] not in cell.metrics]:
            where = ", ".join(f"{cell.view} {cell.variant}" for cell in unranked)
            return ScoringOutcome(problems=(f"The file has no outputs of {where}; the board ranks by what they say.",))
        if isinstance(scored, Session) and has_curve(result):
            result = scored.with_curves(result)
    except PredictionError as problem:
        return ScoringOutcome(problems=(_told(problem, file, shown_as),))
    return ScoringOutcome(
        signature=str(result.signature), result=_finite(result.as_json()), cells=tuple(_cells(result)), outputs=outputs,
        asked=asked,
    )  # fmt: skip


def check_file(session: AnySession, file: Path, *, shown_as: str, view: str | None) -> tuple[str, ...]:
    """What would keep a file from being scored, in the words of :func:`score_file`; no answer is looked at.

    ``view`` is the only one that the set scores, if there is one.
    """
    try:
        return tuple(_flaws(session, session.validate(open_predictions(file, name=shown_as)), view))
    except PredictionError as problem:
        return (_told(problem, file, shown_as),)


def _told(problem: PredictionError, file: Path, shown_as: str) -> str:
    """A problem for pages, for JSON and for maintainers' terminals; it may quote the file."""
    text = str(problem).replace(str(file), shown_as)
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def fingerprint(session: AnySession, file: Path | PredictionFile) -> bytes:
    """Eight bytes for each kind of output and question of a hidden set; zeros where there is no output.

    Only letters and digits count: not their case, nor accents, nor the form in which Unicode writes them.
    """
    questions, kinds = len(session.key.questions), session.kinds
    marks = bytearray(_MARK * questions * len(kinds))
    for kind, row, said in session.said(file):
        text = " ".join(_words(said))
        at = _MARK * (kinds.index(kind) * questions + row)
        mark = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_MARK).digest()
        marks[at : at + _MARK] = mark
    return bytes(marks)


def _words(text: str) -> list[str]:
    plain = (
        char for char in unicodedata.normalize("NFKD", text).casefold() if unicodedata.category(char) not in _UNSEEN
    )
    return "".join(char if char.isalnum() else " " for char in plain).split()


def near_copy(a: bytes, b: bytes, *, kinds: int, most: float) -> bool:
    """Whether in one of so many kinds more than a share of the outputs in two fingerprints are the same."""
    import numpy as np

    if len(a) != len(b):  # the set has other questions now
        return False
    ours, theirs = (np.frombuffer(marks, "<u8").reshape(kinds, -1) for marks in (a, b))
    there = (ours != 0) | (theirs != 0)
    same = ((ours == theirs) & there).sum(axis=1)
    return bool((same > most * there.sum(axis=1)).any())


def _flaws(session: AnySession, check: Validation, view: str | None) -> Iterator[str]:
    """What keeps a file from being complete; ``view`` is one that it has to hold."""
    for kind in STRICT:
        if kind in check.problems:
            count, places = check.problems[kind]
            head = problem_name(kind).rpartition(" (")[0]
            more = ", …" if count > len(places) else ""
            yield f"{head[0].upper()}{head[1:]}: {count} ({', '.join(places)}{more})."
    if len(session.key.modes) > 1 and any(mode == UNSTATED for mode, _ in check.cells):
        stated = " or ".join(f'"mode": "{mode}"' for mode in session.key.modes)
        several = "both" if len(session.key.modes) == 2 else "several"
        yield f"The set has {several} modes, and some outputs do not say theirs: add {stated}."
    for seen in dict.fromkeys(seen for _, seen in check.cells if seen not in session.task.board_views):
        why = "for which no image was shown, are not ranked: leave them out of the file."
        yield f"Outputs of the view {seen.value!r}, {why}"
    if view is not None and not any(view == seen for _, seen in check.cells):
        yield f"The file holds no outputs of the view {view!r}, by which this set is scored."


def _cells(result: RunResult) -> Iterator[CellOutcome]:
    import numpy as np

    task = result.task
    differences = {each.variant: each.metrics for each in result.differences if each.of == task.contrast_name}
    for cell in result.cells:
        shown = [metric for metric in task.shown if metric in cell.metrics]
        resamples = result.resamples[cell.variant, cell.view]
        paired = differences.get(cell.variant) if cell.view is task.view_contrast[0] else None
        yield CellOutcome(
            mode=NO_MODE if cell.variant == UNSTATED else cell.variant,
            view=cell.view.value,
            figures={metric: _triple(cell.metrics[metric]) for metric in shown},
            difference=None if paired is None else {name: _triple(of) for name, of in paired.items() if name in shown},
            means={metric: resamples.means[metric].to_bytes() for metric in shown},
            hits=np.packbits(resamples.scores[task.shown[0]] == 1).tobytes(),
        )


def _triple(estimate: Estimate) -> Triple:
    return estimate.value, estimate.low, estimate.high


def _finite(value: Any) -> Any:
    """JSON values without NaN, which databases refuse: the interval of a group that a resample can miss."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
