"""One glyph a character, from left to right: Pillow's BASIC layout.

Only a kana and its voicing mark are one glyph, where Unicode has no character of both and the first face has the glyph.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.typeset.fonts import VOICING_MARKS, FontChain
from vcrgen.typeset.records import PlacedGlyph
from vcrgen.typeset.shaping import GlyphCounts, Shaper

_VOICED = re.compile(f".[{VOICING_MARKS}]", re.DOTALL)
MAX_EXTENTS = 100_000  # words whose widths are cached
_PLACE = partial(tuple.__new__, PlacedGlyph)  # half the time of PlacedGlyph(...), of which a build makes millions


class Extent(NamedTuple):
    """The width of a text, in pixels from its first pen position."""

    advance: int
    left: int  # of its ink, at most 0
    right: int  # of its ink, at least ``advance``

    def followed_by(self, other: "Extent") -> "Extent":
        """Extent of this text and another one behind it."""
        pen = self.advance
        return Extent(pen + other.advance, min(self.left, pen + other.left), max(self.right, pen + other.right))


class BasicShaper(Shaper):
    """Sets every character beside the one before it.

    Args:
        chain: The fonts, at their size.
        direction: ``"ltr"``.
    """

    def __init__(self, chain: FontChain, direction: str = "ltr") -> None:
        if direction != "ltr":
            raise ValueError(f"the basic shaper sets text from left to right, not {direction!r}")
        super().__init__(chain, direction)
        self.engine = f"pillow-{version('pillow')}-basic"
        self._extents: dict[str, Extent] = {}

    def shape(self, text: str, start: int, end: int) -> tuple[PlacedGlyph, ...]:
        """As `Shaper.shape`: one glyph a character."""
        placed = []
        pen = 0
        parts = self._split(text[start:end])
        ends = accumulate(map(len, parts), initial=start)
        for (first, last), glyph in zip(pairwise(ends), map(self.chain.glyph, parts), strict=True):
            if glyph is not None:
                placed.append((first, last, pen, glyph))
                pen += glyph.advance
        return tuple(map(_PLACE, placed))

    def _split(self, text: str) -> Sequence[str]:
        """Split a text into parts that have one glyph each: its characters, mostly."""
        if not _VOICED.search(text):
            return text
        parts = re.findall(f".[{VOICING_MARKS}]|.", text, re.DOTALL)
        return [part for pair in parts for part in ([pair] if self.chain.glyph(pair) else pair)]

    def count_glyphs(self, texts: Sequence[str]) -> GlyphCounts:
        """As `Shaper.count_glyphs`: the characters of texts are counted once for all fonts."""
        characters, counts = _count_characters(tuple(texts))
        glyphs = {number: glyph for number, glyph in enumerate(map(self.chain.glyph, characters)) if glyph is not None}
        drawn = frozenset(characters[number] for number, glyph in glyphs.items() if glyph.face == 0)
        return GlyphCounts(list(glyphs.values()), counts[:, list(glyphs)], drawn)

    def width(self, text: str, start: int, end: int) -> int:
        """As `Shaper.width`."""
        extent = self.extent(text[start:end])
        return extent.right - extent.left

    def growing_width(self, text: str, start: int) -> Callable[[int], int]:
        """As `Shaper.growing_width`: widths add up, so only new text is measured."""
        line, position = Extent(0, 0, 0), start

        def width(end: int) -> int:
            nonlocal line, position
            line, position = line.followed_by(self.extent(text[position:end])), end
            return line.right - line.left

        return width

    def missing(self, text: str) -> list[str]:
        """As `Shaper.missing`."""
        lacking = [part for part in self._split(text) if self.chain.glyph(part) is None]
        return list(dict.fromkeys(lacking))

    def advance(self, text: str) -> int:
        """Sum of the advances of a text's glyphs in pixels; a character without a glyph counts 0."""
        return sum(glyph.advance for glyph in map(self.chain.glyph, self._split(text)) if glyph)

    def extent(self, text: str) -> Extent:
        """Measure a text, in pixels; cached, so meant for words."""
        if text not in self._extents:
            if len(self._extents) >= MAX_EXTENTS:
                self._extents.clear()
            extent = Extent(0, 0, 0)
            for glyph in filter(None, map(self.chain.glyph, self._split(text))):
                extent = extent.followed_by(Extent(glyph.advance, min(0, glyph.x), glyph.right))
            self._extents[text] = extent
        return self._extents[text]


@lru_cache(maxsize=8)
def _count_characters(texts: tuple[str, ...]) -> tuple[tuple[str, ...], npt.NDArray[np.float64]]:
    """Distinct characters of texts, and the number of each in each text, shape (texts, characters)."""
    characters = sorted(set().union(*texts))
    numbers = {character: number for number, character in enumerate(characters)}
    counts = np.zeros((len(texts), len(characters)))
    for row, text in zip(counts, texts, strict=True):
        for character, count in Counter(text).items():
            row[numbers[character]] = count
    return tuple(characters), counts
