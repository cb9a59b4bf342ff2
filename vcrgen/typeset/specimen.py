"""A specimen image of a font under its covers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from vcrgen.errors import ConfigError
from vcrgen.files import atomic_path, output_errors
from vcrgen.records import NAMED_MODES, Mode, Span
from vcrgen.text.languages import LanguageRow, language_row
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.calibrate import Calibration
from vcrgen.typeset.cover import cover_spans, span_cells, surrounding_ink, with_seed
from vcrgen.typeset.cover_kinds import COVER_KINDS, ROWS
from vcrgen.typeset.fonts import default_chain, resolve_font
from vcrgen.typeset.ink_sample import WINDOW
from vcrgen.typeset.layout import layout_caption, line_units
from vcrgen.typeset.records import Layout
from vcrgen.typeset.render import cover_strip, render_strip
from vcrgen.typeset.style import Style, make_style

EMS = 25  # width of the image over the font size
SAMPLE = 1  # a caption of several lines
MAX_LINES = 4
GAP = 2  # readable units between two masked windows


def draw_specimen(
    lang: str, font: str | None, size: int, target: Path, *, cover: str = ROWS
) -> Mapping[Mode, Calibration]:
    """Write a specimen of a language's text in a font as a PNG.

    Args:
        lang: Language code.
        font: A font file or a name in ``fonts.toml``; None for the language's own font.
        size: Font size in pixels.
        target: The image file.
        cover: The kind of cover.

    Returns:
        The calibration of each mode.

    Raises:
        ConfigError: The language or the kind of cover is unknown.
        FontError: The font cannot be used or lacks the language, or the targets cannot be reached.
        OutputError: The image cannot be written.
    """
    language = language_row(lang)
    if cover not in COVER_KINDS:
        raise ConfigError(f"Unknown cover {cover!r}; known: {', '.join(COVER_KINDS)}.")
    chain = default_chain(language.fonts, size=size, first=resolve_font(font) if font else None)
    style = make_style(language, chain, width=EMS * size, max_height=EMS * size, cover=cover)
    with output_errors(target), atomic_path(target) as temporary:
        specimen(style, language).save(temporary, "PNG", optimize=True)
    return style.calibrations


def specimen(style: Style, language: LanguageRow) -> Image.Image:
    """Draw a caption without covers, then under the cover of every mode.

    Returns:
        A gray image, as wide as the style's strips.
    """
    text = calibration_sample(language.code)[SAMPLE]
    layout = layout_caption(text, style.shaper, width=style.width, max_lines=MAX_LINES, break_unit=language.break_unit)
    strip = render_strip(layout)
    cells = {span: span_cells(span, layout) for span in _every_other_window(layout, language)}
    strips = [strip]
    for mode in NAMED_MODES:
        rules = {span: with_seed(style.calibrations[mode].rule, span.start) for span in cells}
        covered = cover_spans(rules, cells, strip, partial(surrounding_ink, layout=layout))
        strips.append(cover_strip(strip, (cover for span in covered for cover in span.covers)))
    gap = np.full((layout.line_height // 3, layout.width), 224, dtype=np.uint8)
    return Image.fromarray(np.concatenate([part for strip in strips for part in (strip, gap)][:-1]))


def _every_other_window(layout: Layout, language: LanguageRow) -> Iterator[Span]:
    """Yield windows of the size of calibration, with readable text between them."""
    size = WINDOW[language.break_unit]
    units = line_units(layout.text, language.break_unit)
    for first in range(GAP, len(units) - size + 1, size + GAP):
        start, end = units[first][0], units[first + size - 1][1]
        yield Span(start=start, end=end, text=layout.text[start:end], tokens=())
