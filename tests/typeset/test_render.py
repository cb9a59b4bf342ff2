import numpy as np
import pytest
from PIL import Image, ImageDraw

from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.fonts import FontChain, default_chain, font_register, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.records import Box, Cover
from vcrgen.typeset.render import _paste, cover_strip, render_strip

CAPTIONS = {
    "en": 'AVATAR: Jet Ski is the brand name of a (personal) water craft, "fjord" fly-by, Wörgl café ffi 1872-1916.',
    "fr": "L'été où Zoé, née à Nîmes, reçut « cent œufs » et vingt-deux gâteaux: Ça alors! ÉÀÇ 1872.",
    "de": "Übergrößen, Äpfel & Öl: »Heiß!«, rief Zoë — „Größer als 12,5 Fuß?“ ÄÖÜ 1872.",
    "es": "¿Qué señala el pingüino, «Íñigo» o Zoé? ¡Cuánto frío, año tras año! ÁÉÍÓÚÑ 1872.",
    "pt": "À beira-mar, «João» lançou três anzóis: que tubarões! ÁÂÃÇÉÊÍÓÔÕÚ pôs, às 18h30.",
    "ru": "Съешь ещё этих мягких французских булок, да выпей же чаю — №5, «Ёж»! ЩЪЫЬЭЮЯ 1872.",
    "ja": "「古い港」の灯台、コーヒー・ショップへ2014年に来たAbcの人々。",
    "ko": "낡은 등대(燈臺) 아래 “고깃배” 두 척이, 2014년 Abc 항구에 떠 있다.",
    "zh": "本表列举瑞士联邦各州现存的各类城堡建筑，2014年《希伯来圣经》Abc中的人物。",
}


@pytest.mark.parametrize("lang", [code for code, row in LANGUAGES.items() if row.shaper == "basic"])
@pytest.mark.parametrize("size", [12, 20, 31])
def test_characters_side_by_side_are_pillows_line(lang: str, size: int) -> None:
    row = LANGUAGES[lang]
    chain = default_chain(row.fonts, size=size)
    layout = layout_caption(CAPTIONS[lang], BasicShaper(chain), width=300, max_lines=9, break_unit=row.break_unit)
    image = Image.new("L", (layout.width, layout.height), 255)
    draw = ImageDraw.Draw(image)
    for index, line in enumerate(layout.lines):
        place = (0, index * layout.line_height + chain.baseline)
        draw.text(place, layout.text[line.start : line.end], font=chain.faces[0].font, fill=0, anchor="ls")
    # Rounding of Pillow's kerning, which is off by a factor of 64, may move a glyph by a pixel at other sizes.
    different = np.asarray(image) != render_strip(layout)
    assert different.mean() == 0 if size == 20 else different.mean() < 0.02


def test_a_face_of_the_fallback_stands_on_the_same_baseline() -> None:
    chain = default_chain(LANGUAGES["en"].fonts, size=20)
    layout = layout_caption("国", BasicShaper(chain), width=300, max_lines=1, break_unit="word")
    rows = np.flatnonzero((render_strip(layout) < 128).any(axis=1))
    assert rows[0] >= 1 and rows[-1] <= 22  # nothing is cut off


def test_ink_that_sticks_out_is_cut_off() -> None:
    chain = FontChain([font_register()["dejavu-sans"].path], size=20)
    # j begins left of its pen.
    layout = layout_caption("jjj", BasicShaper(chain), width=8, max_lines=3, break_unit="character")
    assert render_strip(layout).shape == (layout.height, 8)


def test_a_cover_is_white_and_nothing_else_changes() -> None:
    strip = np.zeros((23, 40), np.uint8)
    covered = cover_strip(strip, [Cover(box=Box(x0=5, y0=10, x1=9, y1=17))])
    assert (covered[10:17, 5:9] == 255).all() and covered.sum() == 7 * 4 * 255
    assert strip.sum() == 0


@pytest.mark.parametrize("font", ["liberation-sans", "carlito", "caladea-bold", "ar-pl-kaiti-gb"])
def test_where_glyphs_overlap_they_lie_over_one_another(font: str) -> None:
    """As if each glyph were laid over what is there, which is only done where it may overlap."""
    chain = default_chain(LANGUAGES["en"].fonts, size=33, first=resolve_font(font))
    text = "fÅj \u0301gg \u0327ÅÇ fjf\u0302\u0302 gÅfj"
    layout = layout_caption(text, BasicShaper(chain), width=90, max_lines=9, break_unit="character")
    ink = np.zeros((layout.height, layout.width), dtype=np.uint8)
    for index, line in enumerate(layout.lines):
        pen = 0
        for character in layout.text[line.start : line.end]:
            if glyph := chain.glyph(character):
                _paste(ink, glyph.ink, pen + glyph.x, index * layout.line_height + chain.baseline + glyph.y)
                pen += glyph.advance
    assert len(layout.lines) > 2 and (render_strip(layout) == 255 - ink).all()
