r"""What of an output is compared with the masked spans: the answers that it lists, or as much text as one guess takes.

    listed = list_answers(read_output("The covered texts are:\n1. a red dog\n2. a big cat"), 2)
    [listed.text.text[start:end] for start, end in listed.places]                # ["a red dog", "a big cat"]

An output that lists exactly one answer for each span, in reading order, is compared answer by answer, each as a whole.
Any other output is text: it is searched for the spans within a budget that has no room for a second guess.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vcrgen.scorer.clean import Cleaned, Edit
from vcrgen.scorer.reader import WRAPPERS
from vcrgen.text.segmenters import Tokens

_MARK = re.compile(
    r"^[^\S\n]*(?:[-\u2013\u2014*+•·▪‣◦●○]|\(?\d{1,3}[.)、:\uff0e\uff09](?!\d)|\d{1,3}\s[-\u2013]\s|[①-⑳])[^\S\n]*",
    re.MULTILINE,
)
_LINE = re.compile(r"[^\n]+")
_LEAD_IN = re.compile(r"[^\n\"]{1,300}?[:\uff1a](?!\d)")
_QUOTED = re.compile(r'"([^"\n]+)"|(?<!\w)\'([^\n\']+(?:\'\w[^\n\']*)*)\'(?!\w)|「([^「」\n]+)」|『([^『』\n]+)』')
_SEPARATORS = (re.compile(r"[;\uff1b|]"), re.compile(r"\s/\s"), re.compile(r"[,、\uff0c]"))
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Listed:
    """An output, and where its answers stand."""

    text: Cleaned  # without list marks
    places: tuple[Place, ...]  # of the answers; empty where it does not list one for each span
    start: int  # where the text begins that is searched otherwise: behind a lead-in that ends in a colon


def list_answers(cleaned: Cleaned, count: int) -> Listed:
    """Find the answers that an output lists.

    Args:
        cleaned: What the reader of outputs left.
        count: Spans of the image.
    """
    marks = _list_marks(cleaned.text)
    text = cleaned.edited(marks, WRAPPERS)
    removed, marked = 0, set[int]()  # where a line begins that had a mark, in the text without marks
    for mark in marks:
        marked.add(mark.start - removed)
        removed += mark.end - mark.start
    lines = [line.span() for line in _LINE.finditer(text.text) if not line[0].isspace()]
    contents = [place for line in lines if (place := _behind_lead_in(text.text, line)) is not None]
    start = contents[0][0] if contents and _has_lead_in(text.text, lines) else 0
    return Listed(text, tuple(_answers(text.text, lines, contents, marked, count)), start)


def without_list_marks(cleaned: Cleaned) -> Cleaned:
    """The text without the numbers and bullets that begin its lines."""
    return cleaned.edited(_list_marks(cleaned.text), WRAPPERS)


def _list_marks(text: str) -> list[Edit]:
    """The edits that take out the marks of lines, each looked for where a line begins."""
    marks, end = list[Edit](), 0
    for line in _LINE.finditer(text):
        if line.start() >= end and (mark := _MARK.match(text, line.start())):
            marks.append(Edit(*mark.span()))
            end = mark.end()
    return marks


def _answers(
    text: str, lines: Sequence[Place], contents: Sequence[Place], marked: set[int], count: int
) -> Sequence[Place]:
    """The answers by the first form that has as many of them as there are spans."""
    has_quotes = any(mark in text for mark in "\"'「『")
    quoted = [match.span(match.lastindex or 0) for match in _QUOTED.finditer(text)] if has_quotes else []
    if len(quoted) == count:
        return quoted
    items = [_behind_lead_in(text, line) or line for line in lines if line[0] in marked]
    if len(items) == count:
        return items
    # One line that nothing sets apart as the answer may be a sentence around it: it is searched.
    if len(contents) == count and (count > 1 or _has_lead_in(text, lines)):
        return contents
    if len(contents) == 1 and count > 1:
        for separator in _SEPARATORS:
            parts = _split(text, contents[0], separator)
            if len(parts) == count:
                return parts
    return ()


def _has_lead_in(text: str, lines: Sequence[Place]) -> bool:
    return bool(lines) and _LEAD_IN.match(text, *lines[0]) is not None


def _behind_lead_in(text: str, line: Place) -> Place | None:
    """What stands behind a line's lead-in, or the line; None for a line that is nothing but a lead-in."""
    start, end = line
    if lead_in := _LEAD_IN.match(text, start, end):
        start = lead_in.end()
    return (start, end) if text[start:end].strip() else None


def _split(text: str, line: Place, separator: re.Pattern[str]) -> list[Place]:
    """The parts of a line that hold something."""
    cuts = [line[0], *(edge for cut in separator.finditer(text, *line) for edge in cut.span()), line[1]]
    return [(start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=True) if text[start:end].strip()]


def within_budget(tokens: Tokens, lengths: Sequence[int]) -> Tokens:
    """The tokens that are searched: as many as the spans have, and fewer more than the shortest span has.

    Args:
        tokens: Of a text; marks are not counted.
        lengths: Tokens of each span.
    """
    budget = sum(lengths) + max(min(lengths, default=0) - 1, 0)
    if not sum(lengths):  # spans without a token, which nothing can match
        return tokens
    for place, token in enumerate(tokens.texts):
        if any(map(str.isalnum, token)):
            if not budget:
                return Tokens(tokens.texts[:place], tokens.starts[:place], beyond_limit=True)
            budget -= 1
    return tokens


def without_outer_marks(tokens: Tokens) -> Tokens:
    """The tokens of an answer without the marks before and behind it."""
    words = [place for place, token in enumerate(tokens.texts) if any(map(str.isalnum, token))]
    if not words:
        return Tokens([], [])
    return Tokens(tokens.texts[words[0] : words[-1] + 1], tokens.starts[words[0] : words[-1] + 1])
