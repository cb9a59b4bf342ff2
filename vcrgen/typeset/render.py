"""Draw strips and covers; no random or textual decision is made here."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from vcrgen.typeset.records import WHITE, Box, Cover, GlyphBox, Layout, PlacedGlyph

Gray = npt.NDArray[np.uint8]


def render_strip(layout: Layout) -> Gray:
    """Draw the caption, black on white, without covers.

    Returns:
        Brightness, shape (height, width), 255 = white.
    """
    height, width = layout.height, layout.width
    ink = np.zeros((height, width), dtype=np.uint8)
    free_below = 0  # first row without ink of earlier lines
    for index in range(len(layout.lines)):
        free_right = 0
        lowest = free_below
        for placed, (x, y, right, bottom) in layout.ink_boxes(index):
            if free_right <= x and right <= width and free_below <= y and bottom <= height:
                ink[y:bottom, x:right] = placed.glyph.ink
            else:
                _paste(ink, placed.glyph.ink, x, y)
            free_right, lowest = max(free_right, right), max(lowest, bottom)
        free_below = lowest
    return WHITE - ink


def _paste(ink: Gray, glyph: Gray, x: int, y: int) -> None:
    """Draw a glyph over other ink, as Pillow does; parts outside of the strip are cut off."""
    left, top = max(0, -x), max(0, -y)
    bottom, right = max(0, y + glyph.shape[0]), max(0, x + glyph.shape[1])
    target = ink[y + top : bottom, x + left : right]
    glyph = glyph[top : top + target.shape[0], left : left + target.shape[1]]
    if target.any():
        glyph = ((255 - target.astype(np.uint16)) * glyph + 127) // 255
    np.add(target, glyph, out=target, casting="unsafe")


def draw_ink(glyphs: Iterable[tuple[PlacedGlyph, Box]], box: Box) -> Gray:
    """Draw the darkness of glyphs in a rectangle of the strip, and of its shape; each comes with its ink's place."""
    ink = np.zeros((box.y1 - box.y0, box.x1 - box.x0), dtype=np.uint8)
    for placed, place in glyphs:
        _paste(ink, placed.glyph.ink, place.x0 - box.x0, place.y0 - box.y0)
    return ink


def glyph_boxes(layout: Layout) -> tuple[GlyphBox, ...]:
    """Box of every glyph that has ink in the strip, line by line, in reading order of the text."""
    boxes = []
    for index in range(len(layout.lines)):
        drawn = sorted(layout.ink_boxes(index), key=lambda drawn: (drawn[0].start, drawn[0].pen))
        for (start, end, _, glyph), (left, top, _, _) in drawn:
            ink = glyph.ink[max(0, -top) : max(0, layout.height - top), max(0, -left) : max(0, layout.width - left)]
            rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
            if rows.size:
                left, top = max(0, left), max(0, top)
                x0, y0 = left + int(columns[0]), top + int(rows[0])
                box = Box(x0, y0, left + int(columns[-1]) + 1, top + int(rows[-1]) + 1)
                boxes.append(GlyphBox(start, end, box))
    return tuple(boxes)


def cover_strip(strip: Gray, covers: Iterable[Cover]) -> Gray:
    """Copy a strip, or another gray or RGB image, and hide its pixels under covers."""
    covered = strip.copy()
    for cover in covers:
        box = covered[cover.box.area]
        shade = cover.shade
        if strip.ndim == 3 and not isinstance(shade, int):
            shade = shade[:, None]
        box[... if cover.mask is None else cover.mask] = shade
    return covered
