"""Covers that mean the same in every font."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._g_l_y_f import Glyph

from vcrgen.errors import FontError
from vcrgen.records import Mode, Span
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.calibrate import _measured, calibrate
from vcrgen.typeset.cover import WhiteRows, measure_cover, span_cells
from vcrgen.typeset.fonts import default_chain, font_register, resolve_font, text_faces
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.render import render_strip
from vcrgen.typeset.style import make_style

# As measured in VCR-WIKI: first and last covered row of a line of 22.
PUBLISHED = {
    ("en", Mode.EASY): "10-16",
    ("en", Mode.HARD): "9-17",
    ("zh", Mode.EASY): "8-13",
    ("zh", Mode.HARD): "5-16",
}
# Where a row more or less is too much of a step; the next size is even.
UNEVEN = [
    *(("en", name, 28) for name in ("liberation-mono", "carlito", "caladea-bold")),
    *(("fr", name, 20) for name in ("liberation-sans-bold", "dejavu-serif", "caladea")),
    *(("fr", name, 28) for name in ("liberation-sans-bold", "roboto-bold", "roboto-slab")),
    *(("es", name, 20) for name in ("dejavu-sans-bold", "dejavu-serif", "caladea")),
    *(("es", name, 28) for name in ("liberation-sans-bold", "dejavu-sans-bold", "open-sans-bold")),
    *(("es", name, 28) for name in ("roboto-bold", "roboto-slab")),
    *(("pt", name, 20) for name in ("liberation-mono-bold", "dejavu-sans-bold", "dejavu-serif", "caladea")),
    *(("pt", name, 28) for name in ("liberation-sans-bold", "liberation-serif-bold", "dejavu-sans-bold")),
    *(("pt", name, 28) for name in ("open-sans-bold", "roboto-bold", "roboto-slab")),
    ("pt", "roboto-slab-bold", 20),
    ("pt", "roboto", 40),
    *(("ru", name, 20) for name in ("liberation-serif", "dejavu-serif", "lato-bold")),
    *(("ru", name, 28) for name in ("liberation-sans-bold", "liberation-serif-bold", "liberation-mono-bold")),
    *(("ru", name, 28) for name in ("open-sans-bold", "roboto-slab", "lato-bold")),
    ("de", "liberation-mono", 28),
    ("de", "open-sans", 28),
]  # all of them hard
CASES = [(name, lang) for lang in LANGUAGES for name in text_faces(lang) if not font_register()[name].fetched]


@pytest.mark.parametrize(("lang", "mode"), list(PUBLISHED))
def test_the_default_fonts_have_the_published_rows(lang: str, mode: Mode) -> None:
    row = LANGUAGES[lang]
    style = make_style(row, default_chain(row.fonts, size=20), width=300, max_height=900)
    assert style.covers[mode].rule.name == PUBLISHED[lang, mode]


@pytest.mark.parametrize(("size", "tolerance"), [(20, 0.05), (28, 0.03), (40, 0.03)])
@pytest.mark.parametrize(("name", "lang"), CASES)
def test_every_font_comes_near_the_target(name: str, lang: str, size: int, tolerance: float) -> None:
    chain = default_chain(LANGUAGES[lang].fonts, size=size, first=resolve_font(name))
    for mode, cover in make_style(LANGUAGES[lang], chain, width=300, max_height=900).covers.items():
        assert abs(cover.visible - LANGUAGES[lang].covers[mode].visible) <= tolerance
        assert cover.even or (mode is Mode.HARD and (lang, name, size) in UNEVEN)
        assert cover.low <= cover.visible <= cover.high


@pytest.mark.parametrize(("lang", "name", "size"), UNEVEN)
def test_a_size_near_an_uneven_one_is_even(lang: str, name: str, size: int) -> None:
    row = LANGUAGES[lang]
    chains = [default_chain(row.fonts, size=near, first=resolve_font(name)) for near in range(size - 2, size + 4)]
    even = [make_style(row, chain, width=300, max_height=900).covers[Mode.HARD].even for chain in chains]
    assert not even[2] and any(even)


def test_a_sample_is_measured_once_in_a_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the same bytes of a font, in one size and language; whatever of these differs is measured by itself."""
    measured = []

    def measure(setting: Any) -> Any:
        measured.append(setting)
        return _measured.__wrapped__(setting)

    monkeypatch.setattr("vcrgen.typeset.calibrate._measured", lru_cache(measure))
    file = tmp_path / "font.ttf"

    def ink(font: str, size: int, lang: str = "en") -> list[float]:
        file.write_bytes(resolve_font(font)[0].read_bytes())
        chain = default_chain(LANGUAGES[lang].fonts, size=size, first=(file, 0))
        covers = make_style(LANGUAGES[lang], chain, width=300, max_height=900).covers
        return [cover.visible for cover in covers.values()]

    first = ink("lato", 20)
    assert ink("lato", 20) == first and len(measured) == 1
    assert ink("carlito", 20) != first and len(measured) == 2
    assert ink("lato", 30) != first and len(measured) == 3
    ink("lato", 20, "fr")
    assert len(measured) == 4


def test_hard_hides_what_easy_hides() -> None:
    row = LANGUAGES["en"]
    for size in (12, 20, 33, 60):
        covers = make_style(row, default_chain(row.fonts, size=size), width=300, max_height=900).covers
        easy, hard = covers[Mode.EASY].rule, covers[Mode.HARD].rule
        assert isinstance(easy, WhiteRows) and isinstance(hard, WhiteRows)
        assert hard.rows.start <= easy.rows.start and easy.rows.stop <= hard.rows.stop


def test_the_prediction_is_what_spans_have() -> None:
    """The median over the sample's windows is the ink that covered windows really keep in a strip."""
    row = LANGUAGES["en"]
    shaper = BasicShaper(default_chain(row.fonts, size=20))
    text = "the quick brown fox jumps over some lazy dogs near the river bank"
    cover = calibrate(shaper, row, [text])[Mode.EASY]
    layout = layout_caption(text, shaper, width=4000, max_lines=1, break_unit="word")
    ink = 255 - render_strip(layout)
    words = text.split()
    shares = []
    for start in range(len(words) - 4):
        piece = " ".join(words[start : start + 5])
        at = text.index(piece)
        span = Span(start=at, end=at + len(piece), text=piece, tokens=())
        cells = span_cells(span, layout)
        shares.append(measure_cover(span, cells, list(map(cover.rule.cover, cells)), ink).visible_ink)
    assert cover.visible == pytest.approx(float(np.median(shares)), abs=0.01)


def test_a_font_of_another_language_is_refused() -> None:
    row = LANGUAGES["zh"]
    with pytest.raises(FontError, match=r"lacks \d+ of \d+ letters of a sample of Chinese"):
        make_style(row, default_chain(row.fonts, size=20, first=resolve_font("lato")), width=300, max_height=900)


def test_a_text_without_letters_of_the_font_changes_nothing() -> None:
    row = LANGUAGES["en"]
    shaper = BasicShaper(default_chain(row.fonts, size=20))
    sample = ["one two three four five six seven eight"]
    assert calibrate(shaper, row, [*sample, "\ue000 \ue000 \ue000 \ue000 \ue000"]) == calibrate(shaper, row, sample)


@pytest.mark.parametrize("cover", ["rows", "stain"])
def test_a_font_whose_letters_are_all_empty_is_refused(tmp_path: Path, cover: str) -> None:
    empty = TTFont(font_register()["caladea"].checked_path())
    for name in empty.getGlyphOrder():
        empty["glyf"][name] = Glyph()
    empty.save(tmp_path / "empty.ttf")
    chain = default_chain(LANGUAGES["en"].fonts, size=20, first=(tmp_path / "empty.ttf", 0))
    with pytest.raises(FontError, match=r"empty\.ttf draws nothing: its letters have no ink; choose another font"):
        make_style(LANGUAGES["en"], chain, width=300, max_height=900, cover=cover)
