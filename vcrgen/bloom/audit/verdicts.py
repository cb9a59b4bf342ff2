"""Verdicts of raters and of a judge: JSON Lines, read as the files of strangers.

A line is ``{"audit": "...", "rater": 1, "question_id": "...", "answer": "B", "verdict": "approve", "note": ""}``, as
``vcrgen study export`` writes it. A line that cannot be used is counted by its reason; a file that is no JSON Lines, or
too large, is refused.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from vcrgen.bloom.audit.draw import Draw
from vcrgen.core.errors import DatasetError
from vcrgen.core.reading import check_file_size, encodable, iter_json_lines
from vcrgen.data.tasks.bloom import LETTERS

T = TypeVar("T")
MAX_BYTES = 64 << 20  # of a file
MAX_NOTE = 2_000  # characters; the page takes no more


class AuditVerdict(StrEnum):
    """The verdict on an item: approved, or the class of its error."""

    APPROVE = "approve"
    IMAGE = "image"  # image quality and alignment
    QUESTION = "question"  # question integrity
    CHOICES = "choices"  # choice validity
    TRANSLATION = "translation"  # translation fidelity


ERRORS = tuple(verdict for verdict in AuditVerdict if verdict is not AuditVerdict.APPROVE)


class LineProblem(StrEnum):
    """The reason why a line is rejected."""

    OTHER_AUDIT = "other_audit"  # of another draw
    OTHER_ITEM = "other_item"  # not drawn
    OTHER_RATER = "other_rater"  # the item was not this rater's
    NO_VERDICT = "no_verdict"  # none of the five, or several
    BAD_ANSWER = "bad_answer"  # the rater's own answer is no option of the item, nor empty
    BAD_NOTE = "bad_note"  # no text, or too long
    CONTRADICTORY = "contradictory"  # another line of the same rater (or the judge) on this item differs
    REPEATED = "repeated"  # the same line again
    BLOCKED = "blocked"  # a judge that gave no verdict, such as for a filter of its server


class RaterVerdict(NamedTuple):
    """The verdict of one rater on one item."""

    verdict: AuditVerdict
    answer: str  # the rater's own, before the key was shown: the letter of an option, or empty
    note: str


@dataclass(frozen=True, slots=True)
class AuditVerdicts:
    """The accepted verdicts of an audit, and the rejected lines."""

    by_item: dict[str, dict[int, RaterVerdict]] = field(default_factory=dict)  # then by rater; none is empty
    problems: Counter[LineProblem] = field(default_factory=Counter)  # rejected lines, by reason


def read_verdicts(file: Path, draw: Draw) -> AuditVerdicts:
    """Read the verdicts of raters; see `collect_verdicts`.

    Raises:
        DatasetError: The file cannot be read, is too large, or is no JSON Lines.
    """
    return collect_verdicts(_lines(file), draw)


def collect_verdicts(rows: Iterable[dict[str, Any]], draw: Draw) -> AuditVerdicts:
    """The accepted verdicts of some lines, in any order. Of contradictory verdicts of a rater none counts."""
    drawn = {item.question_id: item for item in draw.items}
    verdicts, name = AuditVerdicts(), draw.name
    candidates: dict[tuple[str, int], list[RaterVerdict]] = {}
    for row in rows:
        rater, question_id = row.get("rater"), row.get("question_id")
        if row.get("audit") != name:
            verdicts.problems[LineProblem.OTHER_AUDIT] += 1
        elif not isinstance(question_id, str) or question_id not in drawn:
            verdicts.problems[LineProblem.OTHER_ITEM] += 1
        elif type(rater) is not int or rater not in drawn[question_id].raters:
            verdicts.problems[LineProblem.OTHER_RATER] += 1
        elif isinstance(verdict := _parse(row, drawn[question_id].choices), LineProblem):
            verdicts.problems[verdict] += 1
        else:
            candidates.setdefault((question_id, rater), []).append(verdict)
    # In the order of the draw, so that the order of the lines changes no digit of an estimate.
    for item in draw.items:
        for rater in sorted(item.raters):
            if accepted := _unique(candidates.get((item.question_id, rater), []), verdicts.problems):
                verdicts.by_item.setdefault(item.question_id, {})[rater] = accepted
    return verdicts


def read_judge(file: Path, draw: Draw) -> tuple[dict[str, AuditVerdict], Counter[LineProblem]]:
    """Read the verdicts of a judge: lines with ``question_id`` and ``verdict``, of any items of the benchmark.

    Returns:
        The verdicts on items that were drawn, and the number of rejected lines on drawn items, by reason.

    Raises:
        DatasetError: The file cannot be read, is too large, or is no JSON Lines.
    """
    drawn = {item.question_id for item in draw.items}
    candidates: dict[str, list[AuditVerdict]] = {}
    problems: Counter[LineProblem] = Counter()
    for row in _lines(file):
        question_id = row.get("question_id")
        if not isinstance(question_id, str) or question_id not in drawn:
            continue
        if row.get("verdict") == LineProblem.BLOCKED:
            problems[LineProblem.BLOCKED] += 1
        elif isinstance(verdict := _parse({"verdict": row.get("verdict")}, 0), LineProblem):
            problems[verdict] += 1
        else:
            candidates.setdefault(question_id, []).append(verdict.verdict)
    accepted = {question_id: _unique(verdicts, problems) for question_id, verdicts in candidates.items()}
    return {question_id: verdict for question_id, verdict in accepted.items() if verdict}, problems


def _unique(verdicts: Sequence[T], problems: Counter[LineProblem]) -> T | None:
    """The only verdict of some lines, or None where they differ; count the rejected lines."""
    if len(set(verdicts)) > 1:
        problems[LineProblem.CONTRADICTORY] += len(verdicts)
        return None
    if len(verdicts) > 1:
        problems[LineProblem.REPEATED] += len(verdicts) - 1
    return verdicts[0] if verdicts else None


def _parse(row: dict[str, Any], choices: int) -> RaterVerdict | LineProblem:
    """The verdict of a line on an item with so many options, or the reason to reject it."""
    verdict, answer, note = row.get("verdict"), row.get("answer", ""), row.get("note", "")
    if not isinstance(verdict, str) or verdict not in tuple(AuditVerdict):
        return LineProblem.NO_VERDICT
    if not isinstance(answer, str) or answer not in ("", *LETTERS[:choices]):
        return LineProblem.BAD_ANSWER
    if not isinstance(note, str) or len(note) > MAX_NOTE:
        return LineProblem.BAD_NOTE
    return RaterVerdict(AuditVerdict(verdict), answer, encodable(note))


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    check_file_size(file, MAX_BYTES, "no rater wrote it", DatasetError)
    return (row for _, row in iter_json_lines(file, DatasetError))
