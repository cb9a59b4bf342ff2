"""The template baseline on the first strips of a hidden set's public part, without key or font."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vcrgen.core.errors import HiddenSetError
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import SILENT, ProgressListener, counted
from vcrgen.data.key import is_key, read_answers
from vcrgen.data.pictures import Picture, PictureSelection, open_pictures
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.data.views import View
from vcrgen.models.base import Reply, Request, RequestProblem
from vcrgen.models.predict.template import COLOURED_PAPER, TemplateModel

SETTLED = 1.0  # bits below which the pixels settle a span
WEAK = 0.25  # share of restored spans from which on a set is said to be settled by its pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class StripAttack:
    """The outcome of an attack.

    Attributes:
        strips: The strips that were attacked.
        unread: Those of them that it cannot read, so nothing is known of their spans.
        coloured: Those of them whose paper is not white, which is why.
        spans: The covered texts found in the others.
        settled: Those of them whose pixels leave less than :data:`SETTLED` bits.
        answers: The spans of the attacked strips by the key; None without a key.
        restored: Those of them that were restored, of all strips.
    """

    strips: int
    unread: int
    coloured: int
    spans: int
    settled: int
    answers: int | None
    restored: int

    @property
    def is_weak(self) -> bool:
        """True if the pixels alone give many of the answers."""
        read, total = (self.settled, self.spans) if self.answers is None else (self.restored, self.answers)
        return read > WEAK * total

    def __str__(self) -> str:
        outcome = f"{self.settled} of {pluralize(self.spans, 'covered text')} have less than {SETTLED:g} bit to infer"
        if self.answers is not None:
            share = f" ({self.restored / self.answers:.0%})" if self.answers else ""
            outcome = f"restores {self.restored} of {pluralize(self.answers, 'span')}{share}; {outcome}"
        unread = f", of which it cannot read {self.unread}" if self.unread else ""
        if self.coloured:
            some = "" if self.coloured == self.unread else f"{self.coloured} of them "
            unread += f", {some}as their paper is not white"
        return f"Template baseline on {pluralize(self.strips, 'strip')}{unread}: {outcome}."


def attack_strips(folder: Path, limit: int, listener: ProgressListener = SILENT) -> StripAttack:
    """Read the first strips of a hidden set as the template baseline; the key only tells which texts are right.

    Args:
        folder: The folder of the public part and the key, if that is there.
        limit: Strips at most.
        listener: Is told of each strip.

    Raises:
        ConfigError: The language has no templates.
        DatasetError: The public part is damaged.
        HiddenSetError: The key is damaged.
    """
    key = folder / "key"
    answers = {str(row["question_id"]): row for row in read_answers(key)} if is_key(key) else None
    opened = open_pictures(open_dataset(folder / "public", VCR), PictureSelection(views=(View.TEI,), limit=limit))
    outcomes = list(_read_strips(counted(opened.stream(), opened.total, listener)))
    right = [
        (text, outcome)
        for question_id, outcome in outcomes
        if answers and question_id in answers
        for text in _texts(answers[question_id])
    ]
    problems = [outcome.reason for _, outcome in outcomes if isinstance(outcome, RequestProblem)]
    spans = [span for _, outcome in outcomes if isinstance(outcome, Reply) for span in outcome.spans]
    return StripAttack(
        strips=len(outcomes),
        unread=len(problems),
        coloured=problems.count(COLOURED_PAPER),
        spans=len(spans),
        settled=sum(span["bits"] is not None and span["bits"] < SETTLED for span in spans),
        answers=None if answers is None else len(right),
        restored=sum(isinstance(outcome, Reply) and _holds(outcome.text, text) for text, outcome in right),
    )


def _read_strips(pictures: Iterable[Picture]) -> Iterator[tuple[str, Reply | RequestProblem]]:
    """Yield the question of each strip, and the template baseline's reply, or why it cannot read the strip.

    Raises:
        ConfigError: The language has no templates.
    """
    model = TemplateModel()
    for picture in pictures:
        outcome: Reply | RequestProblem
        try:
            outcome = model.reply(Request(images=(picture.data or b"",), language=picture.lang))
        except RequestProblem as problem:
            outcome = problem
        yield picture.question_id, outcome


def _holds(reply: str, text: str) -> bool:
    """Tell whether a reply has a text, as whole words in languages with spaces."""
    matches = [match.span() for match in re.finditer(re.escape(text), reply)]
    return any(not _is_inside(reply, begin) and not _is_inside(reply, end) for begin, end in matches)


def _is_inside(text: str, place: int) -> bool:
    """Tell whether a place is inside of a word; characters without case are words of their own."""
    around = text[max(0, place - 1) : place + 1]
    return len(around) == 2 and around.isalpha() and any(c.lower() != c.upper() for c in around)


def _texts(row: object) -> Sequence[str]:
    texts = row.get("crossed_text") if isinstance(row, dict) else None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise HiddenSetError("The key has an item without texts of its spans.")
    return texts
