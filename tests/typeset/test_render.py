import numpy as np
import pytest
from PIL import Image, ImageDraw

from tests.text.language_data import language_data
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.fonts import FontChain, default_chain, font_registry, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.render import _paste, render_strip


@pytest.mark.parametrize("lang", [code for code, row in LANGUAGES.items() if row.shaper == "basic"])
def test_characters_side_by_side_are_pillows_line(lang: str) -> None:
    # Rounding of Pillow's kerning, which is off by a factor of 64, may move a glyph by a pixel at other sizes.
    assert different_share(lang, 20) == 0 and different_share(lang, 31) < 0.02


def different_share(lang: str, size: int) -> float:
    row = LANGUAGES[lang]
    chain = default_chain(row.fonts, size=size)
    layout = layout_caption(
        language_data(lang)["line"], BasicShaper(chain), width=300, max_lines=9, break_unit=row.break_unit
    )
    image = Image.new("L", (layout.width, layout.height), 255)
    draw = ImageDraw.Draw(image)
    for index, line in enumerate(layout.lines):
        place = (0, index * layout.line_height + chain.baseline)
        draw.text(place, layout.text[line.start : line.end], font=chain.faces[0].font, fill=0, anchor="ls")
    return float((np.asarray(image) != render_strip(layout)).mean())


def test_a_face_of_the_fallback_stands_on_the_same_baseline() -> None:
    chain = default_chain(LANGUAGES["en"].fonts, size=20)
    layout = layout_caption("国", BasicShaper(chain), width=300, max_lines=1, break_unit="word")
    rows = np.flatnonzero((render_strip(layout) < 128).any(axis=1))
    assert rows[0] >= 1 and rows[-1] <= 22  # nothing is cut off


def test_ink_that_sticks_out_is_cut_off() -> None:
    chain = FontChain([font_registry()["dejavu-sans"].path], size=20)
    # j begins left of its pen.
    layout = layout_caption("jjj", BasicShaper(chain), width=8, max_lines=3, break_unit="character")
    assert render_strip(layout).shape == (layout.height, 8)


@pytest.mark.parametrize("font", ["liberation-sans", "open-sans", "caladea-bold", "ar-pl-sungti-gb"])
def test_where_glyphs_overlap_they_lie_over_one_another(font: str) -> None:
    """As if each glyph were laid over what is there, which is only done where it may overlap."""
    chain = default_chain(LANGUAGES["en"].fonts, size=33, first=resolve_font(font))
    text = "fÅj \u0301gg \u0327ÅÇ fjf\u0302\u0302 gÅfj"
    layout = layout_caption(text, BasicShaper(chain), width=90, max_lines=9, break_unit="character")
    ink = np.zeros((layout.height, layout.width), dtype=np.uint8)
    for index, line in enumerate(layout.lines):
        pen = line.x
        for character in layout.text[line.start : line.end]:
            if glyph := chain.glyph(character):
                _paste(ink, glyph.ink, pen + glyph.x, layout.top_of(index) + chain.baseline + glyph.y)
                pen += glyph.advance
    assert len(layout.lines) > 2 and (render_strip(layout) == 255 - ink).all()
