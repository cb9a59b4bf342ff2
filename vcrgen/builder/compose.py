"""From a pair and its covers to the images that show them."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import numpy as np

from vcrgen.builder.bands import Band, white_band
from vcrgen.builder.records import PairImages, Parts, Prepared
from vcrgen.records import Span
from vcrgen.typeset.cover import CoverRule, measure_cover, span_cells
from vcrgen.typeset.records import WHITE
from vcrgen.typeset.render import cover_strip, render_strip

T = TypeVar("T")


def draw_parts(prepared: Prepared, spans: Iterable[Span]) -> Parts:
    """What the images of a pair are put together from, whatever covers the spans."""
    return Parts(
        photo=Band(np.asarray(prepared.image)),
        strip=render_strip(prepared.layout),
        cells={span: span_cells(span, prepared.layout) for span in spans},
    )


def compose_images(
    parts: Parts, rules: Mapping[Span, CoverRule], encode: Callable[[tuple[Band, ...]], T], *, strip_first: bool = False
) -> PairImages[T]:
    """Cover the strip and put the images together.

    Args:
        parts: The pair, from :func:`draw_parts`.
        rules: The spans in reading order, each with the rule of its cover.
        encode: Makes an image of its bands of rows, from the top; ``tuple`` leaves it as bands.
        strip_first: The strip stands above VI, not below it.
    """
    ink = WHITE - parts.strip
    covered = []
    for span, rule in rules.items():
        cells = parts.cells[span]
        covered.append(measure_cover(span, cells, [rule.cover(cell) for cell in cells], ink))
    photo = parts.photo
    small = Band(cover_strip(parts.strip, (cover for span in covered for cover in span.covers)))
    gap = white_band(1, photo.width)
    above = (photo.height + gap.height) // 2
    below = photo.height + gap.height - above
    return PairImages(
        stacked=encode((small, gap, photo) if strip_first else (photo, gap, small)),
        only_it=encode((white_band(above, photo.width), small, white_band(below, photo.width))),
        only_it_small=encode((small,)),
        spans=tuple(covered),
        strip_y=0 if strip_first else photo.height + gap.height,
        only_it_strip_y=above,
    )
