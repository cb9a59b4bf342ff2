"""Records of typesetting: glyphs, lines, layouts, covers.

Offsets are character offsets into the shown caption. Pixels are counted from the top left corner of the strip; a box
holds its ``x0``/``y0`` and not its ``x1``/``y1``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from vcrgen.core.records import Span
from vcrgen.text.normalise import as_typed

WHITE = 255


@dataclass(frozen=True, slots=True, eq=False)
class Glyph:
    """A drawn form of one face: of a character, of several, or of a part of one."""

    face: int  # index of the face in the chain
    advance: int  # pixels to the next pen position
    right: int  # pixels from the pen position to the right end of the ink, at least ``advance``
    ink: npt.NDArray[np.uint8]  # darkness, shape (height, width), 0 = nothing, 255 = black
    x: int  # left end of ``ink``, in pixels from the pen position
    y: int  # top of ``ink``, in pixels from the baseline, negative above it


class PlacedGlyph(NamedTuple):
    """A glyph in a line, and the characters that it represents.

    A ligature represents two characters or more. If several characters are drawn together as several glyphs (a letter
    and a mark that is moved over it), each of these represents all of them.

    Attributes:
        pen: Pixels from the left end of the line to the pen position; the glyph extends to ``pen + glyph.advance``.
    """

    start: int  # first character that the glyph represents
    end: int  # the character after the last one
    pen: int
    glyph: Glyph


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One rendered line."""

    start: int  # its first character
    end: int  # the character after its last one
    x: int  # left end of the line, in pixels of the strip
    glyphs: tuple[PlacedGlyph, ...]  # from left to right, in either direction of reading


class Box(NamedTuple):
    """A rectangle of pixels."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def area(self) -> tuple[slice, slice]:
        """Index of the rectangle's rows and columns in an image."""
        return slice(self.y0, self.y1), slice(self.x0, self.x1)

    def around(self, other: "Box") -> "Box":
        """The smallest rectangle around both."""
        return Box(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def within(self, width: int, height: int) -> "Box":
        """What lies in an image of that size."""
        return Box(max(0, self.x0), max(0, self.y0), min(width, self.x1), min(height, self.y1))


class Margins(NamedTuple):
    """Pixels that ink reaches beyond a text's pen positions and the rows of its line."""

    left: int = 0
    above: int = 0
    right: int = 0
    below: int = 0


NO_MARGINS = Margins()


class Cell(NamedTuple):
    """A place of the strip that shows a part of a span.

    Attributes:
        line_box: From the first pen position to the last one, and from the top row of the line to the next line.
        ink_box: The smallest rectangle around `line_box` and the ink of its glyphs, as far as the strip reaches.
        glyphs: Its glyphs that have ink, and where that is drawn.
    """

    line_box: Box
    ink_box: Box
    glyphs: tuple[tuple[PlacedGlyph, Box], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A caption broken into lines."""

    text: str  # the shown caption as it is drawn: a line may end at a plain space, at a no-break space of them not
    lines: tuple[Line, ...]  # from the top
    width: int  # width of the strip in pixels
    line_height: int  # distance between baselines in pixels
    baseline: int  # pixels from the top of a line to its baseline
    rows_above: int = 0  # rows of the strip above those that it has in VCR-WIKI
    rows_below: int = 0  # the same below them

    @property
    def caption(self) -> str:
        """The shown caption as a reader types it, with plain spaces; as long as `text`."""
        return as_typed(self.text)

    @property
    def height(self) -> int:
        """Height of the strip in pixels: one row more than its lines, as in VCR-WIKI, and those for whole letters."""
        return self.rows_above + self.line_height * len(self.lines) + 1 + self.rows_below

    def top_of(self, index: int) -> int:
        """First row of a line in the strip; the next line begins ``line_height`` rows below."""
        return self.rows_above + self.line_height * index

    def ink_boxes(self, index: int) -> Iterator[tuple[PlacedGlyph, Box]]:
        """Yield the glyphs of a line that have ink, and where it is drawn: beyond the line or the strip, too.

        It alone says so, in pixels of the strip: strips, boxes of glyphs, cells of spans and the size of strips are
        made from it.
        """
        line, baseline = self.lines[index], self.top_of(index) + self.baseline
        for placed in line.glyphs:
            _, _, pen, glyph = placed
            rows, columns = glyph.ink.shape
            if rows and columns:
                x, y = line.x + pen + glyph.x, baseline + glyph.y
                yield placed, Box(x, y, x + columns, y + rows)

    def with_whole_letters(self) -> Self:
        """Add enough rows for all ink: above it for accents and vowel signs, below it for tails."""
        boxes = [box for index in range(len(self.lines)) for _, box in self.ink_boxes(index)]
        above = -min([0, *(box.y0 for box in boxes)])
        below = max([0, *(box.y1 - self.height for box in boxes)])
        return replace(self, rows_above=self.rows_above + above, rows_below=self.rows_below + below)


class GlyphBox(NamedTuple):
    """The smallest rectangle of the strip around the ink of a glyph, and the characters that the glyph represents."""

    start: int
    end: int
    box: Box

    def as_row(self, down: int = 0) -> dict[str, int]:
        """Offsets and sides; ``down`` moves the box down by rows."""
        x0, y0, x1, y1 = self.box
        return {"start": self.start, "end": self.end, "x0": x0, "y0": y0 + down, "x1": x1, "y1": y1 + down}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cover:
    """Hidden pixels of one place of a strip, and their new brightness.

    White rows, as in VCR-WIKI, are a box without a mask.

    Attributes:
        mask: Hidden pixels of the rectangle, shape (height, width); None for all of them.
        fill: Brightness, 0 is black and 255 white: of all hidden pixels, or with a mask of each pixel of the box.
    """

    box: Box  # the bounding box of the hidden pixels
    mask: npt.NDArray[np.bool_] | None = None
    fill: int | npt.NDArray[np.uint8] = WHITE

    @property
    def shade(self) -> int | npt.NDArray[np.uint8]:
        """Brightness of the hidden pixels: one for all, or one for each, row after row."""
        return self.fill if isinstance(self.fill, int) else self.fill[self.mask]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedSpan:
    """A span under its covers, in one mode.

    Attributes:
        covers: One for every place of the strip that shows a part of it: one a line, or more if a line has text of two
            directions.
    """

    span: Span
    covers: tuple[Cover, ...]
    visible_ink: float  # darkness under covers, as a share of the darkness without (0 to 1)
    rows_above: int  # rows of the span's ink that are visible above the cover; the least over its places
    rows_below: int  # the same below the cover
