"""Composition of a pair and its covers into images."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np

from vcrgen.builder.bands import Band, Pixels, stack_bands, white_band
from vcrgen.builder.records import Mask, PairChoices, PairImages, PairParts, Places, PreparedItem
from vcrgen.core.records import Span
from vcrgen.typeset.cover import CoverRule, clip_cover, cover_spans, draw_layers, mark_hidden, span_cells
from vcrgen.typeset.cover_kinds import ROWS
from vcrgen.typeset.degrade import degrade, warp_mask
from vcrgen.typeset.records import WHITE, Box, Cell, Cover, MaskedSpan
from vcrgen.typeset.render import cover_strip, render_strip

T = TypeVar("T")

MAX_VISIBLE = 0.98  # a span that keeps more of its ink is not covered


@dataclass(frozen=True, slots=True)
class Degradation:
    """Degradation of the finished images of one pair, each by its own random choices."""

    steps: Sequence[tuple[str, float]]  # names and amounts, in this order
    choices: PairChoices

    def image(self, pixels: Pixels, name: str) -> Pixels:
        """Degrade the image of that name, such as ``stacked``."""
        return degrade(pixels, self.steps, self._seed(name))

    def mask(self, mask: Mask, name: str) -> Mask:
        """Warp the mask of covers as the image of that name."""
        return warp_mask(mask, self.steps, self._seed(name))

    def _seed(self, name: str) -> int:
        return self.choices.seed("degrade", f" {name}")


def draw_parts(prepared: PreparedItem, spans: Iterable[Span]) -> PairParts:
    """Draw the parts of a pair's images that do not depend on the covers."""
    layout = prepared.layout
    cells = {span: span_cells(span, layout) for span in spans}
    layers = None if prepared.style.cover == ROWS else draw_layers(layout, chain.from_iterable(cells.values()))
    return PairParts(
        photo=Band(np.asarray(prepared.image)),
        strip=render_strip(layout) if layers is None else WHITE - layers.ink,
        layout=layout,
        cells=cells,
        layers=layers,
    )


def compose_images(
    parts: PairParts,
    rules: Mapping[Span, CoverRule],
    encode: Callable[[tuple[Band, ...]], T],
    *,
    strip_first: bool = False,
    distractors: tuple[Places, Places] = ((), ()),
    degradation: Degradation | None = None,
    with_mask: bool = False,
) -> PairImages[T]:
    """Cover the strip and put the images together.

    Args:
        parts: The pair, from `draw_parts`.
        rules: The spans in reading order, each with the rule of its cover.
        encode: Makes an image of its bands of rows, from the top; ``tuple`` leaves it as bands.
        strip_first: The strip stands above VI, not below it.
        distractors: Covers that hide no text: on VI, and on blank paper, in pixels of the strip.
        degradation: Worsens each finished image before it is encoded.
        with_mask: There is a mask of covers that are boxes, too.
    """
    spans = cover_spans(rules, parts.cells, parts.strip, parts.layers)
    covers = [cover for span in spans for cover in span.covers]
    on_photo, on_paper = _distract(distractors, parts, covers) if any(distractors) else ([], [])
    photo = Band(cover_strip(parts.photo.pixels, on_photo)) if on_photo else parts.photo
    small = Band(cover_strip(parts.strip if parts.printed is None else parts.printed, [*covers, *on_paper]))
    gap = white_band(1, photo.width)
    above = (photo.height + gap.height) // 2
    below = photo.height + gap.height - above
    strip_y = 0 if strip_first else photo.height + gap.height
    photo_y = small.height + gap.height if strip_first else 0

    def image(name: str, *bands: Band) -> T:
        if degradation is None:
            return encode(bands)
        return encode((Band(degradation.image(stack_bands(bands), name)),))

    mask = None
    if with_mask or any(cover.mask is not None for cover in covers):
        mask = np.zeros((photo.height + gap.height + small.height, photo.width), dtype=bool)
        mark_hidden(mask[strip_y:], [*covers, *on_paper])
        mark_hidden(mask[photo_y:], on_photo)
    return PairImages(
        stacked=image("stacked", *((small, gap, photo) if strip_first else (photo, gap, small))),
        only_it=image("only_it", white_band(above, photo.width), small, white_band(below, photo.width)),
        only_it_small=image("only_it_small", small),
        spans=spans,
        distractors=tuple(_lower(cover.box, photo_y) for cover in on_photo)
        + tuple(_lower(cover.box, strip_y) for cover in on_paper),
        cover_mask=mask,
        strip_y=strip_y,
        only_it_strip_y=above,
    )


def has_uncovered_span(spans: Iterable[MaskedSpan]) -> bool:
    """A span keeps nearly all of its ink under a cover with a mask."""
    return any(
        span.visible_ink > MAX_VISIBLE and any(cover.mask is not None for cover in span.covers) for span in spans
    )


def _distract(
    distractors: tuple[Places, Places], parts: PairParts, covers: Sequence[Cover]
) -> tuple[list[Cover], list[Cover]]:
    """Distractors on VI, and those on blank paper; each is clear of text and of the others."""
    paper = parts.strip < WHITE
    mark_hidden(paper, covers)
    photo = np.zeros((parts.photo.height, parts.photo.width), dtype=bool)
    drawn: tuple[list[Cover], list[Cover]] = ([], [])
    for places, occupied, made in zip(distractors, (photo, paper), drawn, strict=True):
        for cell, rule in places:
            cover = rule.cover(Cell(cell, cell))
            made.append(cover if cover.mask is None else clip_cover(cover, occupied))
            mark_hidden(occupied, made[-1:])
    return drawn


def _lower(box: Box, rows: int) -> Box:
    return box._replace(y0=box.y0 + rows, y1=box.y1 + rows)
