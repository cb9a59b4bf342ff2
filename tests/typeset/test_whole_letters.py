"""Strips against the same lines on a canvas without edges: every pixel of ink is in the strip, and no row is idle."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.samples.pairs import caption
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.fonts import FontChain, default_chain, font_registry
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.records import Layout
from vcrgen.typeset.render import render_strip
from vcrgen.typeset.shaping import Shaper
from vcrgen.typeset.style import make_shaper

MARGIN = 60
SIZES = (12, 20, 40)
# Letters that reach far, beside the built-in captions, by the script.
FAR = {
    "LATIN": "Índice ÂÃÄÅŐŮ ç, jota Ŷÿ Ţģ (gjpqy) Às j",
    "CYRILLIC": "Йод Ёлка щука (ф) Ђј",
    "CJK": "一二（三）“j”，",
    "HIRAGANA": "図か゚（ぱ）゛j",
    "HANGUL": "뷁꿹 (j) 뽥",
    "ARABIC": "اللُّغَةُ إلّا مُعَلِّمٌ بدلًا إِنَّ (ج) ى",
    "DEVANAGARI": "किर्त्तिं ऊँचाई ट्ठू श्रृंखला (र्‍ह)",
}


@cache
def shaper_of(name: str, lang: str, size: int) -> Shaper:
    entry = font_registry()[name]
    return make_shaper(LANGUAGES[lang], FontChain([(entry.path, entry.index)], size=size))


def lay_out(text: str, shaper: Shaper, lang: str, width: int) -> Layout:
    return layout_caption(text, shaper, width=width, max_lines=5, break_unit=LANGUAGES[lang].break_unit)


def unlimited(layout: Layout) -> np.ndarray:
    """The lines on a canvas that is larger by a margin on each side."""
    lines = tuple(replace(line, x=line.x + MARGIN) for line in layout.lines)
    below = layout.rows_below + MARGIN
    return render_strip(
        replace(
            layout,
            lines=lines,
            width=layout.width + 2 * MARGIN,
            rows_above=layout.rows_above + MARGIN,
            rows_below=below,
        )
    )


def check_whole(layout: Layout) -> None:
    strip, canvas = render_strip(layout), unlimited(layout)
    assert (canvas < 255).sum() == (strip < 255).sum()
    assert (canvas[MARGIN:-MARGIN, MARGIN:-MARGIN] == strip).all()
    assert not layout.rows_above or (strip[:2] < 255).any()  # FreeType leaves the first row of some letters empty
    assert not layout.rows_below or (strip[-1] < 255).any()


def faces() -> Iterator[tuple[str, str, int]]:
    """Every face in each of its languages, and in every size in each of its scripts."""
    for name, entry in font_registry().items():
        by_script: dict[str, list[str]] = {}
        for lang in () if entry.fetched else entry.text:
            by_script.setdefault(LANGUAGES[lang].script, []).append(lang)
        for langs in by_script.values():
            for number in range(max(len(langs), len(SIZES))):
                yield name, langs[number % len(langs)], SIZES[number % len(SIZES)]


@pytest.mark.parametrize(("name", "lang", "size"), list(faces()))
def test_no_ink_is_outside_of_the_strip(name: str, lang: str, size: int) -> None:
    shaper = shaper_of(name, lang, size)
    captions = [FAR[LANGUAGES[lang].script]]
    if (name, lang) in (("liberation-sans", lang), ("open-sans", lang)) or LANGUAGES[lang].script not in (
        "LATIN",
        "CYRILLIC",
    ):
        captions += [caption(lang, number) for number in range(3) if lang != "it"]
    for text in captions:
        check_whole(lay_out(text, shaper, lang, 15 * size))


@pytest.mark.parametrize(
    ("lang", "font", "size", "text", "above", "below", "x"),
    [
        ("en", "liberation-sans", 20, "The quick brown fox jumps (over)", 0, 0, 0),
        ("es", "liberation-sans", 12, "Índice de la casa", 1, 0, 0),
        ("es", "liberation-sans", 12, "El índice de la casa", 0, 0, 0),
        ("pt", "liberation-sans", 20, "criança", 0, 1, 0),
        ("pt", "liberation-sans", 20, "criança de uma casa que fica longe daqui", 0, 0, 0),  # not on the last line
        ("pt", "open-sans", 20, "a praia", 0, 1, 0),
        ("en", "caladea", 20, "jam", 0, 0, 1),
        ("ar", "noto-sans-arabic", 20, "هذا مُعَلِّمٌ قديم", 5, 0, None),
        ("ar", "noto-sans-arabic", 20, "بيت", 0, 0, None),
    ],
)
def test_strips_grow_by_what_the_ink_needs(
    lang: str, font: str, size: int, text: str, above: int, below: int, x: int | None
) -> None:
    layout = lay_out(text, shaper_of(font, lang, size), lang, 300)
    assert (layout.rows_above, layout.rows_below) == (above, below)
    assert layout.height == layout.line_height * len(layout.lines) + 1 + above + below
    assert x in (None, layout.lines[0].x)
    assert layout.top_of(0) == above


LETTERS = st.text("abcfgjpqyç ÍÂŐ̧́jT,(Ŵ", min_size=1, max_size=40).filter(str.strip)


@settings(max_examples=40, deadline=None)
@given(
    text=LETTERS,
    font=st.sampled_from(["caladea", "liberation-serif-bold", "open-sans-bold"]),
    width=st.integers(40, 200),
)
def test_any_letters_are_whole(text: str, font: str, width: int) -> None:
    check_whole(lay_out(" ".join(text.split()), shaper_of(font, "en", 20), "en", width))


@settings(max_examples=30, deadline=None)
@given(text=st.text("اللُّغَةُمعِّٰ جىabj123() ", min_size=1, max_size=40).filter(str.strip), width=st.integers(80, 200))
def test_any_arabic_letters_are_whole(text: str, width: int) -> None:
    check_whole(lay_out(" ".join(text.split()), shaper_of("noto-sans-arabic", "ar", 20), "ar", width))


def test_the_lines_of_vcr_wiki_stand_where_they_did() -> None:
    shaper = make_shaper(LANGUAGES["en"], default_chain(LANGUAGES["en"].fonts, size=20))
    for number in range(100):
        layout = lay_out(caption("en", number), shaper, "en", 300)
        assert (layout.rows_above, layout.rows_below, {line.x for line in layout.lines}) == (0, 0, {0})
