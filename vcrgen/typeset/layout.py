"""From a caption to lines: greedy filling, as in VCR-WIKI."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from vcrgen.records import Layout, Line
from vcrgen.typeset.fonts import FontChain

# A word keeps its trailing white space out; combining marks stay with the character before them.
WORD = re.compile(r"\S+")


def layout_caption(text: str, chain: FontChain, *, width: int, max_lines: int, break_unit: str) -> Layout:
    """Fill lines greedily while their ink fits, and cut after ``max_lines``.

    Args:
        text: A caption with single spaces, none at its ends. A character without a glyph counts no width.
        chain: The fonts.
        width: Width of the strip in pixels.
        max_lines: Lines to keep.
        break_unit: ``"word"`` (break at spaces, which are then not drawn) or ``"character"``.

    Returns:
        The lines, and the text they show. A word wider than a line is broken between characters; a character wider
        than a line has a line of its own.
    """
    units = _words(text) if break_unit == "word" else _clusters(text, 0, len(text))
    lines: list[Line] = []
    start = end = x = 0
    for unit_start, unit_end in _fitting(units, text, chain, width):
        gap = chain.extent(text[end:unit_start])[0] if end > start else 0
        advance, ink = chain.extent(text[unit_start:unit_end])
        if end > start and x + gap + ink > width:
            lines.append(Line(start=start, end=end))
            if len(lines) == max_lines:
                break
            start, x, gap = unit_start, 0, 0
        x += gap + advance
        end = unit_end
    else:
        lines.append(Line(start=start, end=end))
    return Layout(text=text[: lines[-1].end], lines=tuple(lines), width=width, line_height=chain.line_height)


def _words(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in WORD.finditer(text))


def _clusters(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Characters with the combining marks that follow them."""
    for position in range(start + 1, end):
        if not unicodedata.combining(text[position]):
            yield start, position
            start = position
    yield start, end


def _fitting(units: Iterable[tuple[int, int]], text: str, chain: FontChain, width: int) -> Iterator[tuple[int, int]]:
    """The units, those wider than a line broken into characters."""
    for start, end in units:
        if end - start > 1 and chain.extent(text[start:end])[1] > width:
            yield from _clusters(text, start, end)
        else:
            yield start, end
