"""A paragraph of a figure: text with marked parts, wrapped to a width, as outlines."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from vcrgen.report.figure_svg import INK, Part, text
from vcrgen.report.lettering import outline

LINE = 1.45  # height of a line as a share of the font size
MOST_LINES = 14  # of a paragraph; what follows is cut
_ATOM = re.compile(
    r"\s+|[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]+"
)
_LONGEST = 40  # letters of a word that is not broken


class Atom(NamedTuple):
    """What no line breaks: a word, a space, or a letter of East Asia."""

    text: str
    mark: str
    width: float


def paragraph(pieces: Sequence[tuple[str, str]], width: float, grounds: Mapping[str, str], size: float = 12) -> Part:
    """Text in pieces, each with its mark, on the colour that ``grounds`` has for the mark.

    Args:
        pieces: Texts and marks; an empty mark is none.
        width: In pixels.
        grounds: Colours by mark.
        size: Of the font, in pixels.
    """
    lines = list(_lines(list(_atoms(pieces, size)), width))
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], [*lines[MOST_LINES - 1][:-1], _atom("…", "", size)]]
    strong = (unicodedata.bidirectional(letter) for words, _ in pieces for letter in words)
    is_rtl = next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L"
    elements: list[str] = []
    for number, line in enumerate(lines):
        elements += _line(line, LINE * size * number, width if is_rtl else 0.0, grounds, size, is_rtl=is_rtl)
    return Part(elements=elements, width=width, height=LINE * size * len(lines))


def _atoms(pieces: Sequence[tuple[str, str]], size: float) -> Iterator[Atom]:
    for words, mark in pieces:
        for word in _ATOM.findall(words):
            if word.isspace():
                yield _atom(" ", mark, size)
            else:
                yield from (_atom(word[at : at + _LONGEST], mark, size) for at in range(0, len(word), _LONGEST))


def _atom(words: str, mark: str, size: float) -> Atom:
    return Atom(words, mark, outline(words, size).width)


def _lines(atoms: Sequence[Atom], width: float) -> Iterator[list[Atom]]:
    line: list[Atom] = []
    for atom in atoms:
        if line and sum(each.width for each in line) + atom.width > width and atom.text != " ":
            yield line[:-1] if line[-1].text == " " else line
            line = []
        if line or atom.text != " ":
            line.append(atom)
    if line:
        yield line


def _line(
    line: Sequence[Atom], top: float, start: float, grounds: Mapping[str, str], size: float, *, is_rtl: bool
) -> Iterator[str]:
    """Yield the grounds, then the letters of a line that begins at ``start``."""
    x, letters = start, []
    for atom in line:
        left = x - atom.width if is_rtl else x
        if atom.mark:
            ground = f'x="{left:.2f}" y="{top:.2f}" width="{atom.width + 0.3:.2f}" height="{(LINE - 0.1) * size:.2f}"'
            yield f'<rect {ground} fill="{grounds[atom.mark]}"/>'
        letters.append(text(atom.text, left, top + size * 1.05, size=size, fill=INK))
        x = left if is_rtl else left + atom.width
    yield from filter(None, letters)
