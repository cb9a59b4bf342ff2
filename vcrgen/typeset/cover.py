"""Which pixels of the strip hide a span, and how much of its ink they leave."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vcrgen.records import Span
from vcrgen.text.graphemes import boundaries
from vcrgen.typeset.occlusions import OCCLUSIONS, Occlusion
from vcrgen.typeset.records import WHITE, Box, Cover, CoveredSpan, Layout, Line
from vcrgen.typeset.render import render_strip

Gray = npt.NDArray[np.uint8]

ROWS = "rows"  # the kind of cover that VCR-WIKI has
COVERS = (ROWS, *OCCLUSIONS)  # all kinds of covers


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


def seeded(rule: CoverRule, seed: int) -> CoverRule:
    """The rule of one span's cover: a rule whose covers have a random form takes that of a seed."""
    return replace(rule, seed=seed) if isinstance(rule, Occlusion) else rule


def span_cells(span: Span, layout: Layout) -> tuple[Box, ...]:
    """The places of the strip that show a span, from the top: at least one for every line that the span runs over.

    A cell is as high as a line. It reaches over the whole glyphs and the whole grapheme clusters that the span has a
    part in, from the first pen position to the last one. A line has several cells where other text stands between
    glyphs of the span: in a text of two directions.
    """
    first, last = _whole_clusters(span, layout)
    cells = []
    for index, line in enumerate(layout.lines):
        start, end = max(first, line.start), min(last, line.end)
        if start < end:
            top = index * layout.line_height
            for left, right in _stretches(line, start, end):
                x0, x1 = max(0, line.x + left), min(line.x + right, layout.width)
                cells.append(Box(x0=x0, y0=top, x1=x1, y1=top + layout.line_height))
    return tuple(cells)


def _whole_clusters(span: Span, layout: Layout) -> tuple[int, int]:
    """First and last offset of the grapheme clusters that a span has a part in."""
    bounds = boundaries(layout.text)
    return bounds[bisect_right(bounds, span.start) - 1], bounds[bisect_left(bounds, span.end)]


def other_ink(span: Span, layout: Layout) -> Gray:
    """Darkness of the text around a span, the span's own glyphs left out; as large as the strip.

    Text that is more than the height of a line away is not drawn: no cover reaches it.
    """
    first, last = _whole_clusters(span, layout)
    height, cells = layout.line_height, span_cells(span, layout)
    lines = []
    for index, line in enumerate(layout.lines):
        near = [(c.x0 - height - line.x, c.x1 + height - line.x) for c in cells if abs(c.y0 - index * height) <= height]
        glyphs = (
            placed
            for placed in line.glyphs
            if not (placed.start < last and first < placed.end)
            and any(x0 <= placed.pen + placed.glyph.right and placed.pen <= x1 for x0, x1 in near)
        )
        lines.append(replace(line, glyphs=tuple(glyphs)))
    return WHITE - render_strip(replace(layout, lines=tuple(lines)))


def keep_clear(cover: Cover, taken: npt.NDArray[np.bool_]) -> Cover:
    """A cover without what would hide other text, without what lies outside of an image, in its least rectangle.

    Args:
        cover: A cover with a mask.
        taken: Where the image has other text or another cover, shape (height, width) of the image.
    """
    assert cover.mask is not None
    height, width = taken.shape
    box = Box(max(0, cover.box.x0), max(0, cover.box.y0), min(width, cover.box.x1), min(height, cover.box.y1))
    mask = cover.mask[_within(box, cover.box)] & ~taken[box.area]
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if rows.size:
        box = Box(box.x0 + columns[0], box.y0 + rows[0], box.x0 + columns[-1] + 1, box.y0 + rows[-1] + 1)
        box = Box(*map(int, box))
        mask = cover.mask[_within(box, cover.box)] & ~taken[box.area]
    fill = cover.fill if isinstance(cover.fill, int) else cover.fill[_within(box, cover.box)]
    return Cover(box=box, mask=mask, fill=fill)


def _within(inner: Box, outer: Box) -> tuple[slice, slice]:
    """The place of a rectangle in another one, as an index of rows and columns."""
    return Box(inner.x0 - outer.x0, inner.y0 - outer.y0, inner.x1 - outer.x0, inner.y1 - outer.y0).area


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


def cover_spans(
    rules: Mapping[Span, CoverRule],
    cells: Mapping[Span, tuple[Box, ...]],
    strip: Gray,
    others: Callable[[Span], Gray],
) -> tuple[CoveredSpan, ...]:
    """Cover spans, each by its own rule, and measure what is left of them.

    A cover with a mask is kept clear of all other text and of the covers before it: no pixel is hidden twice, and text
    beside a span loses nothing.

    Args:
        rules: The spans in reading order, each with the rule of its cover.
        cells: The places that show each of them, as :func:`span_cells` gives them.
        strip: The uncovered strip, 255 = white.
        others: The other ink of a span, as :func:`other_ink` gives it.
    """
    ink = WHITE - strip
    taken = np.zeros(strip.shape, dtype=bool)
    spans = []
    for span, rule in rules.items():
        covers = [rule.cover(cell) for cell in cells[span]]
        if any(cover.mask is not None for cover in covers):
            text = others(span) > 0
            for number, cover in enumerate(covers):
                if cover.mask is not None:
                    covers[number] = cover = keep_clear(cover, taken | text)
                    taken[cover.box.area] |= cover.mask
        spans.append(measure_cover(span, cells[span], covers, ink))
    return tuple(spans)


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
        hidden += _hidden_ink(ink, cell, cover)
        above.append(int(np.count_nonzero(rows[: max(0, cover.box.y0 - cell.y0)])))
        below.append(int(np.count_nonzero(rows[max(0, cover.box.y1 - cell.y0) :])))
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
    if pixels.ndim == 2 and cover.mask is not None:  # RGB: every channel has the brightness
        pixels = pixels.T
    return pixels.size > 0 and bool((pixels == cover.shade).all())


def _hidden_ink(ink: Gray, cell: Box, cover: Cover) -> int:
    """The darkness under a cover; what it hides outside of the cell does not count."""
    if cover.mask is None:
        return int(ink[cover.box.area].sum(dtype=np.int64))
    box = cover.box
    inside = Box(max(cell.x0, box.x0), max(cell.y0, box.y0), min(cell.x1, box.x1), min(cell.y1, box.y1))
    if inside.x0 >= inside.x1 or inside.y0 >= inside.y1:
        return 0
    return int(ink[inside.area][cover.mask[_within(inside, box)]].sum(dtype=np.int64))


def _hidden_pixels(image: Gray, cover: Cover) -> Gray:
    box = image[cover.box.area]
    return box if cover.mask is None else box[cover.mask]
