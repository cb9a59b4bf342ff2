"""The interface of shapers, which turn text into placed glyphs.

Lines, covers and measured ink are made from placed glyphs. So a script with complex shaping (Arabic, Devanagari) needs
a class with one method, and nothing else changes.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.typeset.fonts import FontChain
from vcrgen.typeset.records import Glyph, PlacedGlyph


class GlyphCounts(NamedTuple):
    """The number of times that texts have glyphs."""

    glyphs: list[Glyph]
    counts: npt.NDArray[np.float64]  # whole numbers, texts x glyphs
    drawn: frozenset[str]  # characters that the first face draws


class Shaper(ABC):
    """Sets text in a chain of fonts.

    Args:
        chain: The fonts, at their size.
        direction: Of a line: ``"ltr"`` begins at the left end of the strip, ``"rtl"`` at the right end.

    Attributes:
        engine: Name and version of the layout engine, for signatures.
        line_height: Pixels between two baselines.
        baseline: Pixels from the top of a line to its baseline.
    """

    engine: str

    def __init__(self, chain: FontChain, direction: str) -> None:
        self.chain = chain
        self.direction = direction
        self.line_height, self.baseline = chain.line_height, chain.baseline

    @abstractmethod
    def shape(self, text: str, start: int, end: int) -> tuple[PlacedGlyph, ...]:
        """Set characters ``start`` to ``end`` of a text as one line, and return its glyphs from left to right.

        The left end of the line is pen position 0. A glyph's ``start`` and ``end`` are offsets into ``text``. A
        character that no font can draw belongs to no glyph.
        """

    def count_glyphs(self, texts: Sequence[str]) -> GlyphCounts:
        """Count the glyphs of texts, each set as a line of its own."""
        numbers: dict[Glyph, int] = {}
        drawn, lines = set[str](), []
        for text in texts:
            placed = self.shape(text, 0, len(text))
            lines.append(Counter(numbers.setdefault(glyph, len(numbers)) for _, _, _, glyph in placed))
            drawn.update(*(text[start:end] for start, end, _, glyph in placed if glyph.face == 0))
        counts = np.zeros((len(lines), len(numbers)))
        for row, line in zip(counts, lines, strict=True):
            row[list(line)] = list(line.values())
        return GlyphCounts(list(numbers), counts, frozenset(drawn))

    def width(self, text: str, start: int, end: int) -> int:
        """Width of a line in pixels: from its first pen position or ink to its last one."""
        reach = ink_reach(self.shape(text, start, end))
        return reach.right - reach.left

    def growing_width(self, text: str, start: int) -> Callable[[int], int]:
        """Make a function from a line's end to its `width` or a little more, to be called with rising ends."""
        return lambda end: self.width(text, start, end)

    def missing(self, text: str) -> list[str]:
        """Characters of a text that no font can draw, each once, in order."""
        drawn = {at for start, end, _, _ in self.shape(text, 0, len(text)) for at in range(start, end)}
        return list(dict.fromkeys(character for at, character in enumerate(text) if at not in drawn))


class Reach(NamedTuple):
    """The columns of a line's ink and pen positions, from its first pen position."""

    left: int  # at most 0
    right: int


def ink_reach(glyphs: Iterable[PlacedGlyph]) -> Reach:
    """Measure how far the ink and pen positions of a line reach."""
    left = right = 0
    for _, _, pen, glyph in glyphs:
        left, right = min(left, pen + glyph.x), max(right, pen + glyph.right)
    return Reach(left, right)


def line_length(glyphs: Sequence[PlacedGlyph]) -> int:
    """Pixels from the left end of a line to its last pen position."""
    return max([0, *(pen + glyph.advance for _, _, pen, glyph in glyphs)])
