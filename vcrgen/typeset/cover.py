"""Covers of spans: the pixels of the strip that they hide, and the share of ink that they leave."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vcrgen.core.records import Span
from vcrgen.text.graphemes import boundaries
from vcrgen.typeset.patterns import PatternCover
from vcrgen.typeset.records import WHITE, Box, Cell, Cover, Layout, Line, MaskedSpan, PlacedGlyph
from vcrgen.typeset.render import draw_ink, render_strip

Gray = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
PAPER, TEXT = 0, 1  # layers of a strip without ink, and with ink of text that is in no span


class CoverRule(Protocol):
    """The form of a cover, for any text."""

    @property
    def name(self) -> str:
        """The name in signatures and tables."""

    def cover(self, cell: Cell) -> Cover:
        """Hide the text of a cell."""


@dataclass(frozen=True, slots=True)
class WhiteRows:
    """Hides some rows of a line with white, as VCR-WIKI does: ink above and below the line stands out by definition."""

    rows: range  # the hidden rows, the top row of a line being 0

    @property
    def name(self) -> str:
        """First and last hidden row: ``"10-16"``."""
        return f"{self.rows.start}-{self.rows.stop - 1}"

    def cover(self, cell: Cell) -> Cover:
        """The rows of a cell's line."""
        x0, top, x1, _ = cell.line_box
        return Cover(box=Box(x0=x0, y0=top + self.rows.start, x1=x1, y1=top + self.rows.stop))


def with_seed(rule: CoverRule, seed: int) -> CoverRule:
    """Rule of one span's cover: a rule whose covers have a random form takes the seed."""
    return replace(rule, seed=seed) if isinstance(rule, PatternCover) else rule


def span_cells(span: Span, layout: Layout) -> tuple[Cell, ...]:
    """Find the places of the strip that show a span, from the top: at least one for every line of the span.

    A cell has all glyphs and grapheme clusters that the span has a part in. A line has several cells if other text
    stands between glyphs of the span, in text of two directions.
    """
    first, last = _whole_clusters(span, layout)
    cells = []
    for index, line in enumerate(layout.lines):
        start, end = max(first, line.start), min(last, line.end)
        if start < end:
            top = layout.top_of(index)
            drawn = [(placed, box) for placed, box in layout.ink_boxes(index) if _is_of(placed, start, end)]
            for left, right in _stretches(line, start, end):
                x0, x1 = max(0, line.x + left), min(line.x + right, layout.width)
                line_box = Box(x0=x0, y0=top, x1=x1, y1=top + layout.line_height)
                own = tuple(glyph for glyph in drawn if left <= glyph[0].pen <= right)
                ink_box = reduce(Box.around, (box for _, box in own), line_box)
                cells.append(Cell(line_box, ink_box.within(layout.width, layout.height), own))
    return tuple(cells)


def cell_texts(span: Span, layout: Layout) -> tuple[str, ...]:
    """Text in each cell of a span whose lines have one direction."""
    parts = ((max(span.start, line.start), min(span.end, line.end)) for line in layout.lines)
    return tuple(layout.text[start:end] for start, end in parts if start < end)


def _whole_clusters(span: Span, layout: Layout) -> tuple[int, int]:
    """First and last offset of the grapheme clusters that a span has a part in."""
    bounds = boundaries(layout.text)
    return bounds[bisect_right(bounds, span.start) - 1], bounds[bisect_left(bounds, span.end)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InkLayers:
    """The ink of a strip, and whose it is: no pixel mixes the ink of a span with that of another text.

    Where glyphs of both meet, the text outside of spans is drawn alone, or else the span that comes first. So a pixel
    of other text tells nothing of a span, and a cover need not hide it.

    Attributes:
        ink: Darkness, shape (height, width) of the strip.
        layers: Whose ink a pixel shows, of the same shape: `PAPER`, `TEXT` outside of spans, or the number of a cell.
        numbers: The number of each cell, by its `line_box`.
    """

    ink: Gray
    layers: npt.NDArray[np.uint16]
    numbers: Mapping[Box, int]

    @property
    def text(self) -> Bools:
        """Pixels with ink of the text outside of spans."""
        text: Bools = self.layers == TEXT
        return text

    def own(self, cell: Cell) -> Gray:
        """Darkness of a cell's own glyphs, of the shape of its `ink_box`."""
        own: Gray = self.ink[cell.ink_box.area] * (self.layers[cell.ink_box.area] == self.numbers[cell.line_box])
        return own

    def others(self, cell: Cell) -> Bools:
        """Pixels of the strip that show ink of another text than a cell's."""
        others: Bools = (self.layers != PAPER) & (self.layers != self.numbers[cell.line_box])
        return others


def draw_layers(layout: Layout, cells: Iterable[Cell]) -> InkLayers:
    """Draw the ink of a strip: the text outside of cells first, then what each cell adds where nothing is yet."""
    cells = tuple(cells)
    covered = {placed for cell in cells for placed, _ in cell.glyphs}
    lines = (
        replace(line, glyphs=tuple(placed for placed in line.glyphs if placed not in covered)) for line in layout.lines
    )
    ink = WHITE - render_strip(replace(layout, lines=tuple(lines)))
    layers = (ink > 0).astype(np.uint16)  # `TEXT` is 1
    for number, cell in enumerate(cells, start=TEXT + 1):
        own, area = draw_ink(cell.glyphs, cell.ink_box), cell.ink_box.area
        free = (layers[area] == PAPER) & (own > 0)
        ink[area][free] = own[free]
        layers[area][free] = number
    return InkLayers(
        ink=ink,
        layers=layers,
        numbers={cell.line_box: number for number, cell in enumerate(cells, start=TEXT + 1)},
    )


def clip_cover(cover: Cover, taken: Bools) -> Cover:
    """Clip a cover at other text and at the edges of the image.

    Args:
        cover: A cover with a mask.
        taken: Pixels of other text or other covers, shape (height, width) of the image.
    """
    assert cover.mask is not None
    height, width = taken.shape
    box = cover.box.within(width, height)
    mask = cover.mask[_within(box, cover.box)] & ~taken[box.area]
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if rows.size:
        box = Box(box.x0 + columns[0], box.y0 + rows[0], box.x0 + columns[-1] + 1, box.y0 + rows[-1] + 1)
        box = Box(*map(int, box))
        mask = cover.mask[_within(box, cover.box)] & ~taken[box.area]
    fill = cover.fill if isinstance(cover.fill, int) else cover.fill[_within(box, cover.box)]
    return Cover(box=box, mask=mask, fill=fill)


def mark_hidden(mask: Bools, covers: Iterable[Cover]) -> None:
    """Set the pixels of a mask that covers hide, whose boxes are counted from its top left corner."""
    for cover in covers:
        mask[cover.box.area] |= True if cover.mask is None else cover.mask


def _within(inner: Box, outer: Box) -> tuple[slice, slice]:
    """Index of a rectangle's rows and columns in another rectangle."""
    return Box(inner.x0 - outer.x0, inner.y0 - outer.y0, inner.x1 - outer.x0, inner.y1 - outer.y0).area


def _is_of(placed: PlacedGlyph, start: int, end: int) -> bool:
    return placed.start < end and start < placed.end


def _stretches(line: Line, start: int, end: int) -> list[tuple[int, int]]:
    """Left and right ends of the stretches of a line that show characters, from left to right."""
    stretches: list[tuple[int, int]] = []
    for placed in line.glyphs:
        if _is_of(placed, start, end):
            left, right = placed.pen, placed.pen + placed.glyph.advance
            if stretches and left <= stretches[-1][1]:
                left, right = stretches.pop()[0], right
            stretches.append((left, right))
    return stretches


def cover_spans(
    rules: Mapping[Span, CoverRule],
    cells: Mapping[Span, tuple[Cell, ...]],
    strip: Gray,
    layers: InkLayers | None,
) -> tuple[MaskedSpan, ...]:
    """Cover spans, each by its own rule, and measure their visible ink.

    A cover with a mask is clipped at text outside of spans and at earlier covers: no pixel is hidden twice, and text
    beside a span loses nothing.

    Args:
        rules: The spans in reading order, each with the rule of its cover.
        cells: The cells of each, as `span_cells` returns them.
        strip: The uncovered strip, 255 = white.
        layers: Its ink; None if no cover has a mask.
    """
    ink = WHITE - strip
    taken = np.zeros(strip.shape, dtype=bool)
    spans = []
    for span, rule in rules.items():
        covers = draw_covers(rule, cells[span], layers, taken)
        spans.append(measure_span(span, cells[span], covers, ink, layers))
    return tuple(spans)


def draw_covers(rule: CoverRule, cells: Sequence[Cell], layers: InkLayers | None, taken: Bools) -> list[Cover]:
    """Draw the cover of each cell of a span, and add its pixels to those that are ``taken`` by covers with masks."""
    covers = [rule.cover(cell) for cell in cells]
    for number, cover in enumerate(covers):
        if cover.mask is not None:
            assert layers is not None
            covers[number] = clipped = clip_cover(cover, taken | layers.text)
            taken[clipped.box.area] |= True if clipped.mask is None else clipped.mask
    return covers


def measure_span(
    span: Span, cells: Sequence[Cell], covers: Sequence[Cover], ink: Gray, layers: InkLayers | None = None
) -> MaskedSpan:
    """Measure the share of a span that covers leave visible.

    Args:
        cells: Its cells, as `span_cells` returns them.
        ink: Darkness of the uncovered strip, shape (height, width), 0 = white, 255 = black.
        layers: The same with whose ink it is: then all ink of the span's glyphs counts and no other. None for white
            rows, of which all ink in the rows of the line counts, as in VCR-WIKI.
    """
    total = hidden = 0
    above, below = [], []
    for cell, cover in zip(cells, covers, strict=True):
        box = cell.ink_box if layers else cell.line_box
        own = layers.own(cell) if layers else ink[box.area]
        rows = own.sum(axis=1, dtype=np.int64)
        total += int(rows.sum())
        hidden += _hidden_ink(own, box, cover)
        above.append(int(np.count_nonzero(rows[: max(0, cover.box.y0 - box.y0)])))
        below.append(int(np.count_nonzero(rows[max(0, cover.box.y1 - box.y0) :])))
    return MaskedSpan(
        span=span,
        covers=tuple(covers),
        visible_ink=round(1 - hidden / total, 4) if total else 0.0,
        rows_above=min(above),
        rows_below=min(below),
    )


def is_covered(strip: Gray, cover: Cover) -> bool:
    """True if a strip shows nothing of the text under a cover.

    Args:
        strip: The covered strip, shape (height, width) or (height, width, 3), 255 = white.
        cover: The cover, which hides at least one pixel of the strip.
    """
    pixels = _hidden_pixels(strip, cover)
    if pixels.ndim == 2 and cover.mask is not None:  # RGB: every channel has the brightness
        pixels = pixels.T
    return pixels.size > 0 and bool((pixels == cover.shade).all())


def _hidden_ink(ink: Gray, place: Box, cover: Cover) -> int:
    """Darkness under a cover, of ink that is given for a place of the strip."""
    box = cover.box
    inside = Box(max(place.x0, box.x0), max(place.y0, box.y0), min(place.x1, box.x1), min(place.y1, box.y1))
    if inside.x0 >= inside.x1 or inside.y0 >= inside.y1:
        return 0
    own = ink[_within(inside, place)]
    return int((own if cover.mask is None else own[cover.mask[_within(inside, box)]]).sum(dtype=np.int64))


def _hidden_pixels(image: Gray, cover: Cover) -> Gray:
    box = image[cover.box.area]
    return box if cover.mask is None else box[cover.mask]
