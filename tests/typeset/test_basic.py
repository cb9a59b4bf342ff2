import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.fonts import default_chain, resolve_font
from vcrgen.typeset.harfbuzz import HarfBuzzFace

CHAIN = default_chain(LANGUAGES["ja"].fonts, size=20)
SHAPER = BasicShaper(CHAIN)
HARFBUZZ = HarfBuzzFace(CHAIN.faces[0], 20)


@pytest.mark.parametrize("text", ["か゚", "き゚", "く゚", "け゚", "こ゚", "カ゚", "セ゚", "ツ゚", "ト゚", "ㇷ゚"])
def test_a_kana_with_a_mark_is_the_glyph_that_the_font_has_for_both(text: str) -> None:
    (placed,) = SHAPER.shape(f"図{text}図", 1, 3)
    assert (placed.start, placed.end, placed.pen, placed.glyph.advance) == (1, 3, 0, 20)
    assert not SHAPER.missing(text) and SHAPER.width(text, 0, 2) == 20
    (oracle,) = HARFBUZZ.shape(text, 0, 2, "Kana", 0, 0)
    ink, _, top = HARFBUZZ.draw(oracle.glyph_id, 0, 0)  # without hints
    assert int(placed.glyph.ink.sum()) == pytest.approx(int(ink.sum()), rel=0.2)
    assert abs(placed.glyph.y - top) <= 1
    assert placed.glyph.ink.sum() > CHAIN.glyph(text[0]).ink.sum()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("図か゚書", [(0, 1), (1, 3), (3, 4)]),
        ("図゚", [(0, 1), (1, 2)]),  # no font has a glyph for both
        ("か゚゚", [(0, 2), (2, 3)]),
        ("゚か゚", [(0, 1), (1, 3)]),
        ("がぱ", [(0, 1), (1, 2)]),
    ],
)
def test_other_characters_are_glyphs_of_their_own(text: str, parts: list[tuple[int, int]]) -> None:
    assert [(start, end) for start, end, _, _ in SHAPER.shape(text, 0, len(text))] == parts
    assert SHAPER.width(text, 0, len(text)) == 20 * len(parts)


@given(st.text("か゚゙は図a", max_size=8))
def test_widths_grow_as_the_text(text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    glyphs = SHAPER.shape(text, 0, len(text))
    assert SHAPER.advance(text) == sum(placed.glyph.advance for placed in glyphs)
    covered = [place for placed in glyphs for place in range(placed.start, placed.end)]
    assert covered == list(range(len(text)))


def test_a_font_without_such_glyphs_draws_the_mark_beside_its_kana() -> None:
    shaper = BasicShaper(default_chain((), size=20, first=resolve_font("wenquanyi-micro-hei")))
    assert [end - start for start, end, _, _ in shaper.shape("か゚", 0, 2)] == [1, 1]
