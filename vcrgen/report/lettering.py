"""Texts of figures as outlines of glyphs: LaTeX, Inkscape and browsers show the same, whatever fonts they have.

Inkscape and librsvg, by which LaTeX takes SVG, ignore fonts that are embedded in it.
"""

import unicodedata
from functools import lru_cache
from typing import NamedTuple

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen

from vcrgen.typeset.fonts import default_chain
from vcrgen.typeset.harfbuzz import UNIT, HarfBuzzShaper

SIZE = 64  # pixels at which outlines are taken
LATIN = {False: ("liberation-sans", "dejavu-sans"), True: ("liberation-sans-bold", "dejavu-sans")}
OTHERS = ("noto-sans-arabic", "noto-sans-devanagari", "wenquanyi-micro-hei", "nanum-gothic", "droid-sans-fallback")
MOST_OUTLINES = 4096
_RIGHT_TO_LEFT = ("R", "AL")


class Outline(NamedTuple):
    """A line of text as an SVG path that begins at (0, 0) on its baseline."""

    path: str
    width: float  # in pixels


@lru_cache(MOST_OUTLINES)
def outline(text: str, size: float, *, bold: bool = False) -> Outline:
    """The outlines of a line; characters that no shipped font has are left out.

    Args:
        size: Font size in pixels.
        bold: Whether Latin letters are bold.
    """
    is_latin = all(ord(letter) < 0x250 for letter in text)
    strong = (unicodedata.bidirectional(letter) for letter in text)
    first = next((kind for kind in strong if kind in ("L", *_RIGHT_TO_LEFT)), "L")
    shaper = _shaper(LATIN[bold] + (() if is_latin else OTHERS), "rtl" if first in _RIGHT_TO_LEFT else "ltr")
    scale = size / (SIZE * UNIT)
    pen = SVGPathPen(None, ntos=lambda value: f"{value:.2f}".rstrip("0").rstrip("."))
    width = shaper.outline(text, TransformPen(pen, (scale, 0, 0, -scale, 0, 0)))
    return Outline(pen.getCommands(), width * scale)


@lru_cache(8)
def _shaper(names: tuple[str, ...], direction: str) -> HarfBuzzShaper:
    return HarfBuzzShaper(default_chain(names, size=SIZE), direction)
