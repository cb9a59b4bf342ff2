"""What raters say of items: JSON Lines that a page exports, read as the files of strangers.

A line is ``{"audit": "...", "rater": 1, "question_id": "...", "answer": "B", "verdict": "approve", "note": ""}``. A
line that cannot be used is counted by its reason; a file that is no JSON Lines, or too large, is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from vcrgen.bloom.audit.draw import Draw
from vcrgen.errors import DatasetError
from vcrgen.reading import check_file_size, encodable, iter_json_lines
from vcrgen.tasks.bloom import LETTERS

T = TypeVar("T")
MAX_BYTES = 64 << 20  # of one file
MAX_NOTE = 2_000  # characters; the page takes no more


class AuditVerdict(StrEnum):
    """What a rater says of an item: it is good, or what is wrong with it."""

    APPROVE = "approve"
    IMAGE = "image"  # image quality and alignment
    QUESTION = "question"  # question integrity
    CHOICES = "choices"  # choice validity
    TRANSLATION = "translation"  # translation fidelity


ERRORS = tuple(verdict for verdict in AuditVerdict if verdict is not AuditVerdict.APPROVE)


class Problem(StrEnum):
    """Why a line does not count."""

    OTHER_AUDIT = "other_audit"  # of another draw
    OTHER_ITEM = "other_item"  # not drawn
    OTHER_RATER = "other_rater"  # the item was not this rater's
    NO_VERDICT = "no_verdict"  # none of the five, or several
    BAD_ANSWER = "bad_answer"  # the rater's own answer is none of A to D, nor empty
    BAD_NOTE = "bad_note"  # no text, or too long
    CONTRADICTORY = "contradictory"  # the same rater (or the judge) said something else of this item on another line
    REPEATED = "repeated"  # the same line again
    BLOCKED = "blocked"  # a judge that gave no verdict, such as for a filter of its server


class RaterVerdict(NamedTuple):
    """What one rater says of one item."""

    verdict: AuditVerdict
    answer: str  # the rater's own, before the key was shown: A to D, or empty
    note: str


@dataclass(frozen=True, slots=True)
class RaterAnswers:
    """What counts of some files."""

    said: dict[str, dict[int, RaterVerdict]] = field(default_factory=dict)  # by question_id and rater; none is empty
    problems: Counter[Problem] = field(default_factory=Counter)  # lines that do not count, by reason


def read_answers(files: Sequence[Path], draw: Draw) -> RaterAnswers:
    """Read what raters exported; see :func:`take_answers`.

    Raises:
        DatasetError: A file cannot be read, is too large, or is no JSON Lines.
    """
    return take_answers(_lines(files), draw)


def take_answers(rows: Iterable[dict[str, Any]], draw: Draw) -> RaterAnswers:
    """What counts of some lines, in any order. Where a rater says two different things of an item, neither counts."""
    raters = {item.question_id: item.raters for item in draw.items}
    answers, name = RaterAnswers(), draw.name
    said: dict[tuple[str, int], list[RaterVerdict]] = {}
    for row in rows:
        who, question_id = row.get("rater"), row.get("question_id")
        if row.get("audit") != name:
            answers.problems[Problem.OTHER_AUDIT] += 1
        elif not isinstance(question_id, str) or question_id not in raters:
            answers.problems[Problem.OTHER_ITEM] += 1
        elif type(who) is not int or who not in raters[question_id]:
            answers.problems[Problem.OTHER_RATER] += 1
        elif isinstance(one := _said(row), Problem):
            answers.problems[one] += 1
        else:
            said.setdefault((question_id, who), []).append(one)
    # In the order of the draw, so that the order of the lines changes no digit of a figure.
    for item in draw.items:
        for who in sorted(item.raters):
            if verdict := _only(said.get((item.question_id, who), []), answers.problems):
                answers.said.setdefault(item.question_id, {})[who] = verdict
    return answers


def read_judge(file: Path, draw: Draw) -> tuple[dict[str, AuditVerdict], Counter[Problem]]:
    """Read the verdicts of a judge: lines with ``question_id`` and ``verdict``, of any items of the set.

    Returns:
        The verdicts of items that were drawn, and how many lines of drawn items do not count, by reason.

    Raises:
        DatasetError: The file cannot be read, is too large, or is no JSON Lines.
    """
    drawn = {item.question_id for item in draw.items}
    said: dict[str, list[AuditVerdict]] = {}
    problems: Counter[Problem] = Counter()
    for row in _lines([file]):
        question_id = row.get("question_id")
        if not isinstance(question_id, str) or question_id not in drawn:
            continue
        if row.get("verdict") == Problem.BLOCKED:
            problems[Problem.BLOCKED] += 1
        elif isinstance(one := _said({"verdict": row.get("verdict")}), Problem):
            problems[one] += 1
        else:
            said.setdefault(question_id, []).append(one.verdict)
    verdicts = {question_id: _only(every, problems) for question_id, every in said.items()}
    return {question_id: verdict for question_id, verdict in verdicts.items() if verdict}, problems


def _only(every: Sequence[T], problems: Counter[Problem]) -> T | None:
    """The one thing that lines say of an item; None where they say several things. Lines that do not count are told."""
    if len(set(every)) > 1:
        problems[Problem.CONTRADICTORY] += len(every)
        return None
    if len(every) > 1:
        problems[Problem.REPEATED] += len(every) - 1
    return every[0] if every else None


def _said(row: dict[str, Any]) -> RaterVerdict | Problem:
    verdict, answer, note = row.get("verdict"), row.get("answer", ""), row.get("note", "")
    if not isinstance(verdict, str) or verdict not in tuple(AuditVerdict):
        return Problem.NO_VERDICT
    if not isinstance(answer, str) or answer not in ("", *LETTERS):
        return Problem.BAD_ANSWER
    if not isinstance(note, str) or len(note) > MAX_NOTE:
        return Problem.BAD_NOTE
    return RaterVerdict(AuditVerdict(verdict), answer, encodable(note))


def _lines(files: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        check_file_size(file, MAX_BYTES, "no rater wrote it", DatasetError)
        for _, row in iter_json_lines(file, DatasetError):
            yield row
