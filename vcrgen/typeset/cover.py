"""Covers of spans: the pixels of the strip that they hide, and the share of ink that they leave."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vcrgen.core.records import Span
from vcrgen.text.graphemes import boundaries
from vcrgen.typeset.patterns import PatternCover
from vcrgen.typeset.records import WHITE, Box, Cover, Layout, Line, MaskedSpan
from vcrgen.typeset.render import render_strip

Gray = npt.NDArray[np.uint8]


class CoverRule(Protocol):
    """The form of a cover, for any text."""

    @property
    def name(self) -> str:
        """The name in signatures and tables."""

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


def with_seed(rule: CoverRule, seed: int) -> CoverRule:
    """Return the rule of one span's cover: a rule whose covers have a random form takes the seed."""
    return replace(rule, seed=seed) if isinstance(rule, PatternCover) else rule


def span_cells(span: Span, layout: Layout) -> tuple[Box, ...]:
    """Return the places of the strip that show a span, from the top: at least one for every line of the span.

    A cell is as high as a line. It contains all glyphs and grapheme clusters that the span has a part in, from the
    first pen position to the last one. A line has several cells if other text stands between glyphs of the span, in
    text of two directions.
    """
    first, last = _whole_clusters(span, layout)
    cells = []
    for index, line in enumerate(layout.lines):
        start, end = max(first, line.start), min(last, line.end)
        if start < end:
            top = layout.top_of(index)
            for left, right in _stretches(line, start, end):
                x0, x1 = max(0, line.x + left), min(line.x + right, layout.width)
                cells.append(Box(x0=x0, y0=top, x1=x1, y1=top + layout.line_height))
    return tuple(cells)


def cell_texts(span: Span, layout: Layout) -> tuple[str, ...]:
    """Return the text in each cell of a span whose lines have one direction."""
    parts = ((max(span.start, line.start), min(span.end, line.end)) for line in layout.lines)
    return tuple(layout.text[start:end] for start, end in parts if start < end)


def _whole_clusters(span: Span, layout: Layout) -> tuple[int, int]:
    """Return first and last offset of the grapheme clusters that a span has a part in."""
    bounds = boundaries(layout.text)
    return bounds[bisect_right(bounds, span.start) - 1], bounds[bisect_left(bounds, span.end)]


def surrounding_ink(span: Span, layout: Layout) -> Gray:
    """Draw the darkness of the text around a span, without the span's glyphs; as large as the strip.

    Text that is more than a line height away is not drawn: no cover reaches it.
    """
    first, last = _whole_clusters(span, layout)
    height, cells = layout.line_height, span_cells(span, layout)
    lines = []
    for index, line in enumerate(layout.lines):
        near = [
            (c.x0 - height - line.x, c.x1 + height - line.x)
            for c in cells
            if abs(c.y0 - layout.top_of(index)) <= height
        ]
        glyphs = (
            placed
            for placed in line.glyphs
            if not (placed.start < last and first < placed.end)
            and any(x0 <= placed.pen + placed.glyph.right and placed.pen <= x1 for x0, x1 in near)
        )
        lines.append(replace(line, glyphs=tuple(glyphs)))
    return WHITE - render_strip(replace(layout, lines=tuple(lines)))


def clip_cover(cover: Cover, taken: npt.NDArray[np.bool_]) -> Cover:
    """Clip a cover at other text and at the edges of the image.

    Args:
        cover: A cover with a mask.
        taken: Pixels of other text or other covers, shape (height, width) of the image.
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


def mark_hidden(mask: npt.NDArray[np.bool_], covers: Iterable[Cover]) -> None:
    """Set the pixels of a mask that covers hide, whose boxes are counted from its top left corner."""
    for cover in covers:
        mask[cover.box.area] |= True if cover.mask is None else cover.mask


def _within(inner: Box, outer: Box) -> tuple[slice, slice]:
    """Return the index of a rectangle's rows and columns in another rectangle."""
    return Box(inner.x0 - outer.x0, inner.y0 - outer.y0, inner.x1 - outer.x0, inner.y1 - outer.y0).area


def _stretches(line: Line, start: int, end: int) -> list[tuple[int, int]]:
    """Return left and right ends of the stretches of a line that show characters, from left to right."""
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
) -> tuple[MaskedSpan, ...]:
    """Cover spans, each by its own rule, and measure their visible ink.

    A cover with a mask is clipped at all other text and at earlier covers: no pixel is hidden twice, and text beside a
    span loses nothing.

    Args:
        rules: The spans in reading order, each with the rule of its cover.
        cells: The cells of each, as `span_cells` returns them.
        strip: The uncovered strip, 255 = white.
        others: Function from a span to its surrounding ink, as `surrounding_ink` returns it.
    """
    ink = WHITE - strip
    taken = np.zeros(strip.shape, dtype=bool)
    spans = []
    for span, rule in rules.items():
        covers = draw_covers(span, rule, cells[span], others, taken)
        spans.append(measure_span(span, cells[span], covers, ink))
    return tuple(spans)


def draw_covers(
    span: Span, rule: CoverRule, cells: Sequence[Box], others: Callable[[Span], Gray], taken: npt.NDArray[np.bool_]
) -> list[Cover]:
    """Draw the cover of each cell of a span, and add its pixels to those that are ``taken`` by covers with masks."""
    covers = [rule.cover(cell) for cell in cells]
    if any(cover.mask is not None for cover in covers):
        text = others(span) > 0
        for number, cover in enumerate(covers):
            if cover.mask is not None:
                covers[number] = clipped = clip_cover(cover, taken | text)
                taken[clipped.box.area] |= clipped.mask if clipped.mask is not None else True
    return covers


def measure_span(span: Span, cells: Sequence[Box], covers: Sequence[Cover], ink: Gray) -> MaskedSpan:
    """Measure the share of a span that covers leave visible.

    Args:
        span: The span.
        cells: Its cells, as `span_cells` returns them.
        covers: The cover of each cell.
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
    return MaskedSpan(
        span=span,
        covers=tuple(covers),
        visible_ink=round(1 - hidden / total, 4) if total else 0.0,
        rows_above=min(above),
        rows_below=min(below),
    )


def is_covered(strip: Gray, cover: Cover) -> bool:
    """Return true if a strip shows nothing of the text under a cover.

    Args:
        strip: The covered strip, shape (height, width) or (height, width, 3), 255 = white.
        cover: The cover, which hides at least one pixel of the strip.
    """
    pixels = _hidden_pixels(strip, cover)
    if pixels.ndim == 2 and cover.mask is not None:  # RGB: every channel has the brightness
        pixels = pixels.T
    return pixels.size > 0 and bool((pixels == cover.shade).all())


def _hidden_ink(ink: Gray, cell: Box, cover: Cover) -> int:
    """Return the darkness of a cell under its cover."""
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
