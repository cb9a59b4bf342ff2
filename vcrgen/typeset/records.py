"""What the steps from a caption to a covered strip hand one another.

Offsets are character offsets into the shown caption. Pixels are counted from the top left corner of the strip; a box
holds its ``x0``/``y0`` and not its ``x1``/``y1``.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.records import Span

WHITE = 255


@dataclass(frozen=True, slots=True, eq=False)
class Glyph:
    """A drawn form of one face: of a character, of several, or of a part of one.

    Attributes:
        face: Index of the face in the chain.
        advance: Pixels to the next pen position.
        right: Pixels from the pen position to the right end of the ink, at least ``advance``.
        ink: Darkness, shape (height, width), 0 = nothing, 255 = black.
        x: Left end of ``ink``, in pixels from the pen position.
        y: Top of ``ink``, in pixels from the baseline, negative above it.
    """

    face: int
    advance: int
    right: int
    ink: npt.NDArray[np.uint8]
    x: int
    y: int


class PlacedGlyph(NamedTuple):
    """A glyph in a line, and the characters that it stands for.

    A ligature stands for two characters or more. Where several characters are drawn together as several glyphs (a
    letter and a mark that is moved over it), each of these stands for all of them.

    Attributes:
        start: First character that the glyph stands for.
        end: The character after the last one.
        pen: Pixels from the left end of the line to the pen position; the glyph takes the place from there to
            ``pen + glyph.advance``.
        glyph: What is drawn.
    """

    start: int
    end: int
    pen: int
    glyph: Glyph


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One rendered line.

    Attributes:
        start: Its first character.
        end: The character after its last one.
        x: Left end of the line, in pixels of the strip.
        glyphs: Its glyphs, from left to right, whatever the direction of reading.
    """

    start: int
    end: int
    x: int
    glyphs: tuple[PlacedGlyph, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A caption broken into lines.

    Attributes:
        text: The shown caption: all lines, joined by the language's joiner.
        lines: The rendered lines, from the top.
        width: Width of the strip in pixels.
        line_height: Distance between baselines in pixels.
        baseline: Pixels from the top of a line to its baseline.
    """

    text: str
    lines: tuple[Line, ...]
    width: int
    line_height: int
    baseline: int

    @property
    def height(self) -> int:
        """Height of the strip in pixels: one row more than its lines, as in VCR-WIKI."""
        return self.line_height * len(self.lines) + 1


class Box(NamedTuple):
    """A rectangle of pixels."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def area(self) -> tuple[slice, slice]:
        """The rectangle as an index of an image's rows and columns."""
        return slice(self.y0, self.y1), slice(self.x0, self.x1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cover:
    """Hidden pixels of one place of a strip, and what stands there instead.

    White rows, as in VCR-WIKI, are a box without a mask.

    Attributes:
        box: The least rectangle that holds the hidden pixels.
        mask: Which pixels of the rectangle are hidden, shape (height, width); None for all of them.
        fill: Brightness of the hidden pixels: 0 is black, 255 white.
    """

    box: Box
    mask: npt.NDArray[np.bool_] | None = None
    fill: int = WHITE


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredSpan:
    """A span under its covers, in one mode.

    Attributes:
        span: The span.
        covers: What hides it, one for every place of the strip that shows a part of it: one a line, and more where
            the characters of a line do not stand in the order of the text.
        visible_ink: Darkness left after covering, as a share of the darkness before (0 to 1).
        rows_above: Rows of the span's ink that are visible above the cover; the least over its places.
        rows_below: The same below the cover.
    """

    span: Span
    covers: tuple[Cover, ...]
    visible_ink: float
    rows_above: int
    rows_below: int
