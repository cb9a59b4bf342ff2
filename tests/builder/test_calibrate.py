"""Covers that mean the same in every font."""

from pathlib import Path

import numpy as np
import pytest

from vcrgen.builder.calibrate import calibrate
from vcrgen.builder.cover import cover_boxes, measure_cover
from vcrgen.builder.fonts import default_chain, font_register
from vcrgen.builder.layout import layout_caption
from vcrgen.builder.pipeline import make_style
from vcrgen.builder.render import render_strip
from vcrgen.records import Mode, Span
from vcrgen.text.languages import LANGUAGES

# As measured in VCR-WIKI: first and last covered row of a line of 22.
PUBLISHED = {
    ("en", Mode.EASY): "10-16",
    ("en", Mode.HARD): "9-17",
    ("zh", Mode.EASY): "8-13",
    ("zh", Mode.HARD): "5-16",
}
CASES = [(entry, lang) for entry in font_register().values() for lang in entry.languages]


@pytest.mark.parametrize(("lang", "mode"), list(PUBLISHED))
def test_the_default_fonts_have_the_published_rows(lang: str, mode: Mode) -> None:
    row = LANGUAGES[lang]
    style = make_style(row, default_chain(row.fonts, size=20), width=300, max_height=900)
    assert style.covers[mode].shown == PUBLISHED[lang, mode]


@pytest.mark.parametrize(("size", "tolerance"), [(20, 0.05), (28, 0.03), (40, 0.03)])
@pytest.mark.parametrize(("entry", "lang"), CASES, ids=[f"{entry.name}-{lang}" for entry, lang in CASES])
def test_every_font_comes_near_the_target(entry, lang: str, size: int, tolerance: float) -> None:  # type: ignore[no-untyped-def]
    chain = default_chain(LANGUAGES[lang].fonts, size=size, first=entry.path)
    for mode, cover in make_style(LANGUAGES[lang], chain, width=300, max_height=900).covers.items():
        assert abs(cover.visible - LANGUAGES[lang].covers[mode].visible) <= tolerance
        assert 0.3 < cover.above < 0.8  # something is left on either side
        assert cover.low <= cover.visible <= cover.high


def test_hard_hides_what_easy_hides() -> None:
    row = LANGUAGES["en"]
    for size in (12, 20, 33, 60):
        covers = make_style(row, default_chain(row.fonts, size=size), width=300, max_height=900).covers
        easy, hard = covers[Mode.EASY].rows, covers[Mode.HARD].rows
        assert hard.start <= easy.start and easy.stop <= hard.stop


def test_the_prediction_is_what_spans_have() -> None:
    """The median over the sample's windows is the ink that covered windows really keep in a strip."""
    row = LANGUAGES["en"]
    chain = default_chain(row.fonts, size=20)
    text = "the quick brown fox jumps over some lazy dogs near the river bank"
    cover = calibrate(chain, row, [text])[Mode.EASY]
    layout = layout_caption(text, chain, width=4000, max_lines=1, break_unit="word")
    ink = 255 - render_strip(layout, chain)
    words = text.split()
    shares = []
    for start in range(len(words) - 4):
        piece = " ".join(words[start : start + 5])
        at = text.index(piece)
        span = Span(start=at, end=at + len(piece), text=piece, tokens=())
        shares.append(measure_cover(span, cover_boxes(span, layout, chain, cover.rows), ink, 22).visible_ink)
    assert cover.visible == pytest.approx(float(np.median(shares)), abs=0.01)


def test_a_text_without_letters_of_the_font_changes_nothing(tmp_path: Path) -> None:
    row = LANGUAGES["en"]
    chain = default_chain(row.fonts, size=20)
    sample = ["one two three four five six seven eight"]
    assert calibrate(chain, row, [*sample, "\ue000 \ue000 \ue000 \ue000 \ue000"]) == calibrate(chain, row, sample)
