"""An independent count of a span's bits: every word of its width is drawn in its place, and the whole strip compared.

Nothing of ``vcrgen.pixels`` is used but the lexicon. All other text is known, also the other words of the span.
"""

import numpy as np

from vcrgen.pixels.lexicon import Lexicon
from vcrgen.typeset.fonts import FontChain
from vcrgen.typeset.records import Glyph, Layout

SIGMA = 4.0


def paste(ink: np.ndarray, glyph: Glyph, x: int, y: int) -> None:
    height, width = glyph.ink.shape
    x0, y0, x1, y1 = max(0, x), max(0, y), min(ink.shape[1], x + width), min(ink.shape[0], y + height)
    if x0 < x1 and y0 < y1:
        under, over = ink[y0:y1, x0:x1].astype(int), glyph.ink[y0 - y : y1 - y, x0 - x : x1 - x].astype(int)
        ink[y0:y1, x0:x1] = under + ((255 - under) * over + 127) // 255


class WholeStrip:
    """Counts bits in strips of one font."""

    def __init__(self, lexicon: Lexicon, chain: FontChain) -> None:
        self._lexicon, self._chain = lexicon, chain
        glyphs = {letter: chain.glyph(letter) for letter in lexicon.alphabet}
        self._advance = {letter: glyph.advance if glyph else 0 for letter, glyph in glyphs.items()}
        inked = [glyph for glyph in glyphs.values() if glyph and glyph.ink.size]
        self._top, self._bottom = min(g.y for g in inked), max(g.y + len(g.ink) for g in inked)
        self._left = min(0, *(g.x for g in inked))
        self._right = max(0, *(g.x + g.ink.shape[1] - g.advance for g in inked))
        self._of_width: dict[int, list[int]] = {}
        for number, unit in enumerate(lexicon.units):
            if all(map(self._advance.get, unit)):
                self._of_width.setdefault(sum(map(self._advance.__getitem__, unit)), []).append(number)
        self._drawn: dict[int, np.ndarray] = {}

    def bits(self, layout: Layout, strip: np.ndarray, hidden: np.ndarray, start: int, end: int) -> float:
        """Return the bits that the pixels of a strip leave of a span, if those under covers are hidden."""
        total = 0.0
        for index, line in enumerate(layout.lines):
            first, last = max(start, line.start), min(end, line.end)
            words = layout.text[first:last].split(" ") if self._lexicon.separator else layout.text[first:last]
            for word in words if first < last else ():
                total += self._word_bits(layout, strip, hidden, index, range(first, first + len(word)))
                first += len(word) + len(self._lexicon.separator)
        return total

    def _word_bits(self, layout: Layout, strip: np.ndarray, hidden: np.ndarray, index: int, word: range) -> float:
        own = [placed for placed in layout.lines[index].glyphs if placed.start in word]
        units = self._of_width.get(sum(placed.glyph.advance for placed in own), []) if own else []
        if not units:
            return 0.0
        images = self._images(units)
        x = layout.lines[index].x + own[0].pen + self._left
        y = layout.top_of(index) + layout.baseline + self._top
        others = np.zeros(images.shape[1:], np.uint8)
        for number, line in enumerate(layout.lines):
            for placed in line.glyphs:
                if number != index or placed.start not in word:
                    at = line.x + placed.pen + placed.glyph.x - x
                    paste(others, placed.glyph, at, layout.top_of(number) + layout.baseline + placed.glyph.y - y)
        rows, columns = (np.arange(at, at + size) for at, size in zip((y, x), others.shape, strict=True))
        inside = ((rows >= 0) & (rows < len(strip)))[:, None] & ((columns >= 0) & (columns < strip.shape[1]))
        place = np.ix_(rows.clip(0, len(strip) - 1), columns.clip(0, strip.shape[1] - 1))
        seen = inside & ~hidden[place] & (images.max(axis=0) > 0)
        known = others[seen].astype(int)
        drawn = known + ((255 - known) * images[:, seen].astype(int) + 127) // 255
        energy = ((drawn - (255 - strip[place].astype(int))[seen]) ** 2).sum(axis=1)
        weights = self._lexicon.log_prior[units] - energy / (2 * SIGMA**2)
        shares = np.exp(weights - weights.max())
        shares = shares[shares > 0] / shares.sum()
        return float(-(shares * np.log2(shares)).sum())

    def _images(self, units: list[int]) -> np.ndarray:
        width = sum(map(self._advance.__getitem__, self._lexicon.units[units[0]]))
        if width not in self._drawn:
            shape = len(units), self._bottom - self._top, width + self._right - self._left
            self._drawn[width] = np.zeros(shape, np.uint8)
            for image, unit in zip(self._drawn[width], units, strict=True):
                pen = -self._left
                for letter in self._lexicon.units[unit]:
                    glyph = self._chain.glyph(letter)
                    assert glyph is not None
                    paste(image, glyph, pen + glyph.x, glyph.y - self._top)
                    pen += glyph.advance
        return self._drawn[width]
