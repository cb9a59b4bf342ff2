"""Templates: the glyphs of a lexicon in a face at a size, as they are drawn next to each other.

Darkness has 128 steps here, so that all sums of products are whole numbers below 2**24: they are exact in 32 bits, in
any order, on any processor.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.core.products import product
from vcrgen.pixels.lexicon import Lexicon
from vcrgen.text.normalise import NO_BREAK_SPACES
from vcrgen.typeset.records import Glyph, Margins

STEP = 2  # grey levels in a step of darkness

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


class Overlaps(NamedTuple):
    """Pairs of characters whose inks overlap, and what the overlap adds to the sum of their templates.

    Columns are counted from ``Templates.left`` before the pen position of the second character.

    Attributes:
        number: Number of the pair, shape (characters, characters), -1 for pairs without overlap.
        square: Squared darkness of both together less that of each, shape (pairs, rows, columns).
        linear: Darkness of both together less that of each, of the same shape.
    """

    number: npt.NDArray[np.int32]
    square: Floats
    linear: Floats


class Templates:
    """The glyphs of a lexicon's characters in a face at a size.

    Args:
        glyph_of: Function from a character to its glyph: ``chain.glyph`` of fonts at their size, or glyphs cut from
            images.
        lexicon: The units.

    Attributes:
        advance: Pixels to the next pen position, by character; 0 for characters without a glyph.
        space: The advance of the separator.
        spaces: The advance of each space that a text may have for the separator; empty without one.
        stride: Pixels between the pen positions of a text: the advance of most characters, or 1.
        left: Least column of any ink, from the pen position; at most 0.
        top: Least row of any ink, from the baseline.
        overhang: Most columns of any ink after the next pen position.
        ink: Darkness, shape (characters, rows, columns), from ``left`` and ``top`` on.
    """

    def __init__(self, glyph_of: Callable[[str], Glyph | None], lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        drawn = [glyph_of(character) for character in lexicon.alphabet]
        glyphs = [glyph for glyph in drawn if glyph is not None and glyph.ink.size]
        separator = glyph_of(lexicon.separator) if lexicon.separator else None
        self.space = separator.advance if separator else 0
        drawn_spaces = {space: glyph_of(space) for space in f" {NO_BREAK_SPACES}"} if separator else {}
        self.spaces = {space: glyph.advance for space, glyph in drawn_spaces.items() if glyph}
        self.advance: Ints = np.array([glyph.advance if glyph else 0 for glyph in drawn], dtype=np.intp)
        usual = np.bincount(self.advance[self.advance > 0], minlength=2)
        self.stride = int(usual.argmax()) if 2 * usual.max() > len(drawn) else 1
        self.left = min([0, *(glyph.x for glyph in glyphs)])
        self.top = min([0, *(glyph.y for glyph in glyphs)])
        self.overhang = max([0, *(glyph.x + glyph.ink.shape[1] - glyph.advance for glyph in glyphs)])
        right = max([1, *self.advance, *(glyph.x + glyph.ink.shape[1] for glyph in glyphs)])
        bottom = max([1, *(glyph.y + glyph.ink.shape[0] for glyph in glyphs)])
        self.ink = np.zeros((len(drawn), bottom - self.top, right - self.left), dtype=np.uint8)
        for image, glyph in zip(self.ink, drawn, strict=True):
            if glyph is not None:
                self._draw(image, glyph)

    def _draw(self, image: npt.NDArray[np.uint8], glyph: Glyph) -> None:
        rows, columns = glyph.ink.shape
        if rows and columns:
            y, x = glyph.y - self.top, glyph.x - self.left
            image[y : y + rows, x : x + columns] = glyph.ink

    def margins(self, line_height: int, baseline: int) -> Margins:
        """How far the characters reach beyond a line and their pen positions."""
        lowest = self.top + self.ink.shape[1]
        return Margins(-self.left, max(0, -self.top - baseline), self.overhang, max(0, lowest + baseline - line_height))

    @property
    def ink_steps(self) -> Floats:
        """The ink in steps of darkness."""
        return (self.ink // STEP).astype(np.float32)

    @cached_property
    def flat(self) -> Floats:
        """The ink in steps, for matrix products, shape (pixels, characters): some pixels are cut out quickly."""
        return np.ascontiguousarray(self.ink_steps.reshape(len(self.ink), -1).T)

    @cached_property
    def flat_square(self) -> Floats:
        """The squares of `flat`."""
        return self.flat * self.flat

    @cached_property
    def tails(self) -> tuple[Ints, int, Floats, Floats]:
        """The characters with ink beyond the next pen position, its first column, that ink in steps, and its squares.

        The inks have shape (characters, pixels).
        """
        beyond = np.arange(self.ink.shape[2]) + self.left >= self.advance[:, None]
        tails = self.ink_steps * beyond[:, None, :]
        codes, columns = np.flatnonzero(tails.any(axis=(1, 2))), np.flatnonzero(tails.any(axis=(0, 1)))
        first = int(columns[0]) if len(columns) else self.ink.shape[2]
        flat = tails[codes][:, :, first:].reshape(len(codes), tails[0, :, first:].size)
        return codes, first, flat, flat * flat

    @cached_property
    def widths(self) -> Ints:
        """The advance of each unit; -1 of units with a character that has no glyph."""
        codes = self.lexicon.codes
        advance = np.append(self.advance, 0)[codes]  # code -1, after the end, is the appended 0
        widths: Ints = advance.sum(axis=1)
        widths[((advance == 0) & (codes >= 0)).any(axis=1)] = -1
        return widths

    @cached_property
    def _by_width(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.widths, kind="stable")
        return order, self.widths[order]

    def units_of_width(self, width: int) -> Ints:
        """Numbers of the units with an advance of so many pixels."""
        order, widths = self._by_width
        first, last = np.searchsorted(widths, [width, width + 1])
        return order[first:last]

    @cached_property
    def overlaps(self) -> Overlaps:
        """The pairs of adjacent characters of the units whose inks overlap."""
        count, (first, second) = len(self.ink), self.lexicon.pairs
        tails, heads = self._tails_and_heads(set(first.tolist()))
        tail_pixels, head_pixels = ((part.reshape(count, -1) > 0).astype(np.float32) for part in (tails, heads))
        meets = product(tail_pixels, head_pixels.T)
        touching = np.flatnonzero(meets[first, second])
        first, second = first[touching], second[touching]
        index = np.full((count, count), -1, dtype=np.int32)
        index[first, second] = np.arange(len(touching))
        a, b = tails[first].astype(np.int32), heads[second].astype(np.int32)
        both = (a + ((255 - a) * b + 127) // 255) // STEP  # as typeset.render draws one over the other
        a, b = a // STEP, b // STEP
        return Overlaps(index, (both * both - a * a - b * b).astype(np.float32), (both - a - b).astype(np.float32))

    def _tails_and_heads(self, first: set[int]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Ends and beginnings of all characters around the next one's and their own pen position."""
        right = np.flatnonzero(self.ink.any(axis=(0, 1))).max(initial=0) + self.left + 1
        least = min((int(self.advance[code]) for code in first if self.advance[code]), default=0)
        at = np.arange(self.left, max(self.left + 1, right - least))  # columns from the second pen position
        columns = self.advance[:, None] + at - self.left
        inside = columns < self.ink.shape[2]
        tails = np.take_along_axis(self.ink, np.where(inside, columns, 0)[:, None, :], axis=2) * inside[:, None, :]
        used = np.flatnonzero(tails.any(axis=(0, 1))).max(initial=0) + 1
        return tails[:, :, :used], self.ink[:, :, :used]


def entropy_of(log_weights: Doubles) -> float:
    """Entropy in nats of a distribution, given the logarithms of its weights, which need not sum to 1."""
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    return float(-(weights * np.log(np.maximum(weights, 1e-300))).sum())
