"""Scoring one file for a board: complete or rejected, and never a word of an answer in what a team is told."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vcrgen.core.errors import PredictionError
from vcrgen.core.plurals import pluralize
from vcrgen.leaderboard.outcome import CellOutcome, ScoringOutcome, Triple
from vcrgen.scorer.clean import LONGEST_OUTPUT
from vcrgen.scorer.output_matcher import STRICT, problem_name
from vcrgen.scorer.predictions import PredictionFile, open_predictions
from vcrgen.scorer.records import UNSTATED, CellName
from vcrgen.scorer.results import Estimate, RunResult
from vcrgen.scorer.session import BaseScoringSession, Validation
from vcrgen.scorer.span_session import Session

NO_MODE = "any"  # of outputs that state no mode, where the set has none
LONG_RATIO = 3.0  # of outputs to answers: from here on they may be lists of guesses
_UNSEEN = ("Mn", "Me", "Cf")  # marks on letters, and characters that show nothing


def score_file(
    session: BaseScoringSession,
    file: Path,
    *,
    shown_as: str,
    split_session: BaseScoringSession | None = None,
    other_splits: Sequence[BaseScoringSession] = (),
    earlier: Sequence[bytes] = (),
    left: int | None = None,
) -> ScoringOutcome:
    """Score a file of outputs.

    Args:
        session: The whole set, for which the file has to be complete.
        file: The file.
        shown_as: What messages call it.
        split_session: The split of a hidden set that is scored; None for the whole set.
        other_splits: The other splits. They are scored as well, and nothing is kept of it, so that the time does not
            tell in which split a question is.
        earlier: Of a hidden set, the fingerprints of the files that the team submitted before.
        left: How many figures the team may still ask of the key; None for any number.

    Returns:
        Scores, or the problems: the file cannot be read, is not complete, asks for more than is left, or (hidden sets)
        says what one of before said.
    """
    scored = split_session or session
    try:
        opened = open_predictions(file, name=shown_as)
        check = session.validate(opened)
        problems = tuple(_problems(session, check, opened, scored.options.view))
        scores_disclosed = 1 if scored.options.view else len(check.cells)
        if not problems and left is not None and scores_disclosed > left:
            problems = (
                f"The file holds {pluralize(scores_disclosed, 'view')}, each of which discloses a score; your team has "
                f"{left} left.",
            )
        outputs = fingerprint(session, opened) if session.key.hidden and not problems else None
        if outputs is not None and outputs in earlier:
            problems = (
                "All outputs are those of a file that your team submitted before. A hidden set scores them once.",
            )
        if problems:
            return ScoringOutcome(problems=problems)
        result, *others = [each.score(opened) for each in (scored, *other_splits)]
        cells = [cell for each in (result, *others) for cell in each.cells]
        if unranked := [cell for cell in cells if session.task.main_metrics[0] not in cell.metrics]:
            where = ", ".join(dict.fromkeys(f"{cell.view} {cell.variant}" for cell in unranked))
            return ScoringOutcome(problems=(f"The file has no outputs of {where}; the board ranks by what they say.",))
        ratio = {"length_ratio": length_ratio(session, opened)} if isinstance(session, Session) else {}
    except PredictionError as problem:
        return ScoringOutcome(problems=(_printable_problem(problem, file, shown_as),))
    return ScoringOutcome(
        signature=str(result.signature),
        result=_finite(result.as_json() | ratio),
        cells=tuple(_cells(result)),
        outputs=outputs,
        scores_disclosed=scores_disclosed,
    )


def check_file(session: BaseScoringSession, file: Path, *, shown_as: str, view: str | None) -> tuple[str, ...]:
    """Return the problems that would keep a file from being scored, as `score_file` words them.

    Answers are not read.

    ``view`` is the only one that the set scores, if there is one.
    """
    try:
        opened = open_predictions(file, name=shown_as)
        return tuple(_problems(session, session.validate(opened), opened, view))
    except PredictionError as problem:
        return (_printable_problem(problem, file, shown_as),)


def _printable_problem(problem: PredictionError, file: Path, shown_as: str) -> str:
    """A problem for pages, for JSON and for maintainers' terminals; it may quote the file."""
    text = str(problem).replace(str(file), shown_as)
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def length_ratio(session: Session, opened: PredictionFile) -> float | None:
    """Return how many times as long as the answers of all questions the answers of a file are, in its longest view.

    All questions count, whichever are scored and whichever have an output, so that it tells nothing of single ones.
    """
    wanted = sum(len(text) for question in session.key.questions for text in question.answers)
    said = Counter[CellName]()
    for prediction, _, cell in session.matched_outputs(opened):
        said[cell] += len(session.scorer.answer_part(prediction.output or "").text)
    return round(max(said.values(), default=0) / wanted, 1) if wanted else None


def fingerprint(session: BaseScoringSession, file: Path | PredictionFile) -> bytes:
    """Return the digest of all outputs of a file, which is that of every file that says the same in other forms.

    Only letters and digits count: not their case, nor accents, nor the form in which Unicode writes them.
    """
    marks = []
    for kind, row, said in session.searched_texts(file):
        text = " ".join([kind, str(row), *_words(said)])
        marks.append(hashlib.blake2b(text.encode("utf-8", "surrogatepass")).digest())
    return hashlib.blake2b(b"".join(sorted(marks)), digest_size=32).digest()


def _words(text: str) -> list[str]:
    plain = (
        char for char in unicodedata.normalize("NFKD", text).casefold() if unicodedata.category(char) not in _UNSEEN
    )
    return "".join(char if char.isalnum() else " " for char in plain).split()


def _problems(
    session: BaseScoringSession, check: Validation, opened: PredictionFile, view: str | None
) -> Iterator[str]:
    """Yield the reasons why a file is not scored: it is not complete, or has outputs that nobody reads to the end."""
    yield from _incompleteness(session, check, view)
    lengths = ((one.prediction.place, len(one.prediction.output or "")) for one in session.matched_outputs(opened))
    if places := [place for place, length in lengths if length > LONGEST_OUTPUT]:
        shown = ", ".join(places[:3]) + (", …" if len(places) > 3 else "")
        yield (
            f"Outputs of more than {LONGEST_OUTPUT:,} characters: {len(places)} ({shown}). Leave thinking out: it is "
            "not scored."
        )


def _incompleteness(session: BaseScoringSession, check: Validation, view: str | None) -> Iterator[str]:
    """Yield the reasons why a file is not complete; ``view`` is one that it has to hold."""
    for kind in STRICT:
        if kind in check.problems:
            count, places = check.problems[kind]
            head = problem_name(kind).rpartition(" (")[0]
            more = ", …" if count > len(places) else ""
            yield f"{head[0].upper()}{head[1:]}: {count} ({', '.join(places)}{more})."
    if len(session.key.variants) > 1 and any(mode == UNSTATED for mode, _ in check.cells):
        stated = " or ".join(f'"mode": "{mode}"' for mode in session.key.variants)
        several = "both" if len(session.key.variants) == 2 else "several"
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
        shown = [metric for metric in task.main_metrics if metric in cell.metrics]
        resamples = result.resamples[cell.variant, cell.view]
        paired = differences.get(cell.variant) if cell.view is task.view_contrast[0] else None
        yield CellOutcome(
            mode=NO_MODE if cell.variant == UNSTATED else cell.variant,
            view=cell.view.value,
            estimates={metric: _triple(cell.metrics[metric]) for metric in shown},
            difference=None if paired is None else {name: _triple(of) for name, of in paired.items() if name in shown},
            means={metric: resamples.means[metric].to_bytes() for metric in shown},
            hits=np.packbits(resamples.scores[task.main_metrics[0]] == 1).tobytes(),
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
