"""A picture of a font under its covers, to be looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from vcrgen.builder.pipeline import Style, make_style
from vcrgen.errors import ConfigError, OutputError
from vcrgen.files import atomic_path
from vcrgen.records import Layout, Mode, Span
from vcrgen.text.languages import LANGUAGES, LanguageRow
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.calibrate import WINDOW, Calibration
from vcrgen.typeset.cover import cover_boxes
from vcrgen.typeset.fonts import default_chain, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.render import cover_strip, render_strip

EMS = 25  # width of the picture over the font size
SAMPLE = 1  # a text of several lines
MAX_LINES = 4
GAP = 2  # units that stay readable between two covered ones


def draw_specimen(lang: str, font: str | None, size: int, target: Path) -> Mapping[Mode, Calibration]:
    """Write a specimen of a language's text in a font as a PNG.

    Args:
        lang: Language code.
        font: A font file or a name in ``fonts.toml``; None for the language's own font.
        size: Font size in pixels.
        target: The picture.

    Returns:
        What the covers hide.

    Raises:
        ConfigError: The language is not known.
        FontError: The font cannot be used, or lacks the language.
        OutputError: The picture cannot be written.
    """
    if lang not in LANGUAGES:
        raise ConfigError(f"Unknown language {lang!r}; known: {', '.join(LANGUAGES)}.")
    language = LANGUAGES[lang]
    chain = default_chain(language.fonts, size=size, first=resolve_font(font) if font else None)
    style = make_style(language, chain, width=EMS * size, max_height=EMS * size)
    try:
        with atomic_path(target) as temporary:
            specimen(style, language).save(temporary, "PNG", optimize=True)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {(error.strerror or str(error)).lower()}.") from None
    return style.covers


def specimen(style: Style, language: LanguageRow) -> Image.Image:
    """A caption as it is, then under the cover of every mode.

    Returns:
        A gray image as wide as the style's strips.
    """
    text = calibration_sample(language.code)[SAMPLE]
    layout = layout_caption(text, style.chain, width=style.width, max_lines=MAX_LINES, break_unit=language.break_unit)
    strip = render_strip(layout, style.chain)
    spans = list(_every_other_window(layout, language))
    strips = [strip]
    for mode in Mode:
        rows = style.covers[mode].rows
        strips.append(cover_strip(strip, (box for s in spans for box in cover_boxes(s, layout, style.chain, rows))))
    rule = np.full((style.chain.line_height // 3, layout.width), 224, dtype=np.uint8)
    return Image.fromarray(np.concatenate([part for strip in strips for part in (strip, rule)][:-1]))


def _every_other_window(layout: Layout, language: LanguageRow) -> Iterator[Span]:
    """Windows of the size that calibration uses, with readable text between them."""
    size = WINDOW[language.break_unit]
    text = layout.text
    if language.break_unit == "word":
        starts = [0, *(at + 1 for at, character in enumerate(text) if character == " ")]
    else:
        starts = list(range(len(text)))
    ends = [*(start - len(language.joiner) for start in starts[1:]), len(text)]
    for first in range(GAP, len(starts) - size + 1, size + GAP):
        start, end = starts[first], ends[first + size - 1]
        yield Span(start=start, end=end, text=text[start:end], tokens=())
