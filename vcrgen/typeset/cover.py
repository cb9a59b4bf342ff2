"""Which pixels of the strip hide a span, and how much of its ink they leave."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vcrgen.records import Span
from vcrgen.text.graphemes import boundaries
from vcrgen.typeset.records import Box, Cover, CoveredSpan, Layout, Line

Gray = npt.NDArray[np.uint8]


class CoverRule(Protocol):
    """How a cover looks, whatever it covers."""

    @property
    def name(self) -> str:
        """What signatures and tables call it."""

    def cover(self, cell: Box) -> Cover:
        """Hide the text of a cell: a part of a line from its top row to the next line, in pixels of the strip."""


@dataclass(frozen=True, slots=True)
class WhiteRows:
    """Hides some rows of a line with white, as VCR-WIKI does."""

    rows: range  # the hidden rows, the top row of a line being 0

    @property
    def name(self) -> str:
        """First and last hidden row: ``"10-16"``."""
        return f"{self.rows.start}-{self.rows.stop - 1}"

    def cover(self, cell: Box) -> Cover:
        """The rows of a cell."""
        return Cover(box=Box(x0=cell.x0, y0=cell.y0 + self.rows.start, x1=cell.x1, y1=cell.y0 + self.rows.stop))


def span_cells(span: Span, layout: Layout) -> tuple[Box, ...]:
    """The places of the strip that show a span, from the top: at least one for every line that the span runs over.

    A cell is as high as a line. It reaches over the whole glyphs and the whole grapheme clusters that the span has a
    part in, from the first pen position to the last one. A line has several cells where other text stands between
    glyphs of the span: in a text of two directions.
    """
    bounds = boundaries(layout.text)
    first, last = bounds[bisect_right(bounds, span.start) - 1], bounds[bisect_left(bounds, span.end)]
    cells = []
    for index, line in enumerate(layout.lines):
        start, end = max(first, line.start), min(last, line.end)
        if start < end:
            top = index * layout.line_height
            for left, right in _stretches(line, start, end):
                x0, x1 = max(0, line.x + left), min(line.x + right, layout.width)
                cells.append(Box(x0=x0, y0=top, x1=x1, y1=top + layout.line_height))
    return tuple(cells)


def _stretches(line: Line, start: int, end: int) -> list[tuple[int, int]]:
    """From where to where the glyphs of some characters take up a line, from left to right."""
    stretches: list[tuple[int, int]] = []
    for placed in line.glyphs:
        if placed.start < end and start < placed.end:
            left, right = placed.pen, placed.pen + placed.glyph.advance
            if stretches and left <= stretches[-1][1]:
                left, right = stretches.pop()[0], right
            stretches.append((left, right))
    return stretches


def measure_cover(span: Span, cells: Sequence[Box], covers: Sequence[Cover], ink: Gray) -> CoveredSpan:
    """What covers leave of a span.

    Args:
        span: The span.
        cells: The places that show it, as :func:`span_cells` gives them.
        covers: The cover of each place.
        ink: Darkness of the uncovered strip, shape (height, width), 0 = white, 255 = black.
    """
    total = hidden = 0
    above, below = [], []
    for cell, cover in zip(cells, covers, strict=True):
        rows = ink[cell.area].sum(axis=1, dtype=np.int64)
        total += int(rows.sum())
        hidden += int(_hidden_pixels(ink, cover).sum(dtype=np.int64))
        above.append(int(np.count_nonzero(rows[: cover.box.y0 - cell.y0])))
        below.append(int(np.count_nonzero(rows[cover.box.y1 - cell.y0 :])))
    return CoveredSpan(
        span=span,
        covers=tuple(covers),
        visible_ink=round(1 - hidden / total, 4) if total else 0.0,
        rows_above=min(above),
        rows_below=min(below),
    )


def is_covered(strip: Gray, cover: Cover) -> bool:
    """Whether a strip shows nothing of what a cover hides.

    Args:
        strip: The covered strip, shape (height, width) or (height, width, 3), 255 = white.
        cover: The cover, which hides at least one pixel of the strip.
    """
    pixels = _hidden_pixels(strip, cover)
    return pixels.size > 0 and bool((pixels == cover.fill).all())


def _hidden_pixels(image: Gray, cover: Cover) -> Gray:
    box = image[cover.box.area]
    return box if cover.mask is None else box[cover.mask]
