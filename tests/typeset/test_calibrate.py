"""Covers that mean the same in every font."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._g_l_y_f import Glyph

from vcrgen.core.errors import FontError
from vcrgen.core.records import Mode
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.calibrate import calibrate
from vcrgen.typeset.cover import WhiteRows
from vcrgen.typeset.fonts import default_chain, font_registry, resolve_font
from vcrgen.typeset.ink_sample import _measure
from vcrgen.typeset.style import make_style

# As measured in VCR-WIKI: first and last covered row of a line of 22.
PUBLISHED = {
    ("en", Mode.EASY): "10-16",
    ("en", Mode.HARD): "9-17",
    ("zh", Mode.EASY): "8-13",
    ("zh", Mode.HARD): "5-16",
}


@pytest.mark.parametrize(("lang", "mode"), list(PUBLISHED))
def test_the_default_fonts_have_the_published_rows(lang: str, mode: Mode) -> None:
    row = LANGUAGES[lang]
    style = make_style(row, default_chain(row.fonts, size=20), width=300, max_height=900)
    assert style.calibrations[mode].rule.name == PUBLISHED[lang, mode]


@pytest.mark.sweep
@pytest.mark.parametrize("name", [name for name, entry in font_registry().items() if entry.text and not entry.fetched])
def test_a_shipped_face_reaches_the_targets(name: str) -> None:
    """In its first language at 28 px; `scripts/measure_calibration.py` looks at all languages and sizes."""
    row = LANGUAGES[font_registry()[name].text[0]]
    chain = default_chain(row.fonts, size=28, first=resolve_font(name))
    for mode, cover in make_style(row, chain, width=300, max_height=900).calibrations.items():
        assert abs(cover.visible - row.cover_targets[mode].visible) <= 0.03
        assert cover.low <= cover.visible <= cover.high


def test_a_size_near_an_uneven_one_is_even() -> None:
    row = LANGUAGES["en"]
    chains = [default_chain(row.fonts, size=near, first=resolve_font("caladea-bold")) for near in range(26, 32)]
    even = [make_style(row, chain, width=300, max_height=900).calibrations[Mode.HARD].is_even for chain in chains]
    assert not even[2] and any(even)


def test_a_sample_is_measured_once_in_a_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the same bytes of a font, in one size and language; whatever of these differs is measured by itself."""
    measured = []

    def measure(setting: Any) -> Any:
        measured.append(setting)
        return _measure.__wrapped__(setting)

    monkeypatch.setattr("vcrgen.typeset.ink_sample._measure", lru_cache(measure))
    file = tmp_path / "font.ttf"

    def ink(font: str, size: int, lang: str = "en") -> list[float]:
        file.write_bytes(resolve_font(font)[0].read_bytes())
        chain = default_chain(LANGUAGES[lang].fonts, size=size, first=(file, 0))
        covers = make_style(LANGUAGES[lang], chain, width=300, max_height=900).calibrations
        return [cover.visible for cover in covers.values()]

    first = ink("open-sans", 20)
    assert ink("open-sans", 20) == first and len(measured) == 1
    assert ink("caladea", 20) != first and len(measured) == 2
    assert ink("open-sans", 30) != first and len(measured) == 3
    ink("open-sans", 20, "fr")
    assert len(measured) == 4


def test_hard_hides_what_easy_hides() -> None:
    row = LANGUAGES["en"]
    for size in (12, 20, 33, 60):
        covers = make_style(row, default_chain(row.fonts, size=size), width=300, max_height=900).calibrations
        easy, hard = covers[Mode.EASY].rule, covers[Mode.HARD].rule
        assert isinstance(easy, WhiteRows) and isinstance(hard, WhiteRows)
        assert hard.rows.start <= easy.rows.start and easy.rows.stop <= hard.rows.stop


def test_a_font_of_another_language_is_refused() -> None:
    row = LANGUAGES["zh"]
    with pytest.raises(FontError, match=r"lacks \d+ of \d+ letters of a sample of Chinese"):
        make_style(row, default_chain(row.fonts, size=20, first=resolve_font("open-sans")), width=300, max_height=900)


def test_a_text_without_letters_of_the_font_changes_nothing() -> None:
    row = LANGUAGES["en"]
    shaper = BasicShaper(default_chain(row.fonts, size=20))
    sample = ["one two three four five six seven eight"]
    assert calibrate(shaper, row, [*sample, "\ue000 \ue000 \ue000 \ue000 \ue000"]) == calibrate(shaper, row, sample)


@pytest.mark.parametrize("cover", ["rows", "stain"])
def test_a_font_whose_letters_are_all_empty_is_refused(tmp_path: Path, cover: str) -> None:
    empty = TTFont(font_registry()["caladea"].verified_path())
    for name in empty.getGlyphOrder():
        empty["glyf"][name] = Glyph()
    empty.save(tmp_path / "empty.ttf")
    chain = default_chain(LANGUAGES["en"].fonts, size=20, first=(tmp_path / "empty.ttf", 0))
    with pytest.raises(FontError, match=r"empty\.ttf lacks \d+ of \d+ letters of a sample of English"):
        make_style(LANGUAGES["en"], chain, width=300, max_height=900, cover=cover)
