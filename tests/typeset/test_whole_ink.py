"""All ink of a covered text is under its cover: below and above the line, left and right of its pen positions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

import numpy as np
import pytest

from vcrgen.core.records import Span
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.sample import calibration_sample
from vcrgen.typeset.cover import InkLayers, cover_spans, draw_layers, span_cells
from vcrgen.typeset.fonts import FontChain, font_registry, resolve_font
from vcrgen.typeset.ink_sample import measure_sample
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.patterns import PatternCover
from vcrgen.typeset.records import Box, Cell, Layout, Margins
from vcrgen.typeset.render import cover_strip, render_strip
from vcrgen.typeset.style import make_shaper

FACES = [name for name, entry in font_registry().items() if entry.is_installed]
SIZES = (12, 20, 40)
WORDS = 40  # of a script
# Letters that reach far: accents on capitals, cedillas, overhangs, stacked marks.
MORE = {
    "LATIN": ["ÉÂÃÄÅÑ", "façade", "jufyf", "Ẫỹģ", "(Çğ)", "ĵÏ", "fjord"],
    "CYRILLIC": ["Ёйцщ", "фруф", "Ґђј"],
    "ARABIC": ["اللُّغَةُ", "مُعَلِّمٌ", "بدلًا", "إلّا"],
    "DEVANAGARI": ["ट्ठीँ", "र्कि", "द्ध्रू", "ॐ"],
}


@cache
def words_of(script: str) -> tuple[str, ...]:
    """Words that have all letters of the samples of a script's languages, and letters that reach far."""
    rows = [row for row in LANGUAGES.values() if row.script == script]
    texts = [(row, text) for row in rows for text in calibration_sample(row.code)]
    words = {word for row, text in texts for word in (text.split() if row.joiner else [text[:4]])}
    seen: set[str] = set()
    chosen = []
    for word in sorted(words, key=lambda word: (-len(set(word)), word)):
        if set(word) - seen:
            seen |= set(word)
            chosen.append(word)
    return (*MORE.get(script, ()), *chosen[:WORDS])


def setting(lang: str, fonts: FontChain, width: int) -> tuple[Layout, list[Span]]:
    row = LANGUAGES[lang]
    shaper = make_shaper(row, fonts)
    words = [word for word in words_of(row.script) if not shaper.missing(word)]
    text = row.joiner.join(words)
    layout = layout_caption(text, shaper, width=width, max_lines=99, break_unit=row.break_unit)
    spans, start = [], 0
    for word in words:
        start = text.index(word, start)
        spans.append(Span(start=start, end=start + len(word), text=word, tokens=(word,)))
        start += len(word)
    return layout, spans


def without(layout: Layout, spans: Iterable[Span]) -> np.ndarray:
    """Draw a strip without the glyphs that stand for characters of spans."""
    hidden = {place for span in spans for place in range(span.start, span.end)}
    lines = [
        replace(line, glyphs=tuple(g for g in line.glyphs if hidden.isdisjoint(range(g.start, g.end))))
        for line in layout.lines
    ]
    return render_strip(replace(layout, lines=tuple(lines)))


def covered(layout: Layout, spans: Sequence[Span], rule: PatternCover) -> tuple[np.ndarray, np.ndarray, InkLayers]:
    """Return a covered strip, its pixels under covers, and its ink."""
    cells = {span: span_cells(span, layout) for span in spans}
    layers = draw_layers(layout, chain.from_iterable(cells.values()))
    masked = cover_spans(dict.fromkeys(spans, rule), cells, 255 - layers.ink, layers)
    covers = [cover for span in masked for cover in span.covers]
    hidden = np.zeros(layers.ink.shape, bool)
    for cover in covers:
        hidden[cover.box.area] |= cover.mask
    return cover_strip(255 - layers.ink, covers), hidden, layers


def all_of(kind: str, layout: Layout) -> PatternCover:
    """A cover that hides all of a place, of a face whose letters were not measured."""
    return PatternCover(kind=kind, hidden=2.0, rows=(1.0,) * layout.line_height)


@pytest.mark.parametrize("face", FACES)
def test_nothing_of_a_covered_text_stands_outside_its_cover(face: str) -> None:
    """In every script and size: outside of covers the strip is as if the texts were not there."""
    languages = {LANGUAGES[lang].script: lang for lang in font_registry()[face].languages}
    for lang in languages.values():
        for size in SIZES:
            layout, words = setting(lang, FontChain([resolve_font(face)], size=size), 15 * size)
            for spans in (words[::2], words[1::2]):
                strip, hidden, _ = covered(layout, spans, all_of("bars", layout))
                apart = (strip != without(layout, spans)) & ~hidden
                assert not apart.any(), (lang, size, np.argwhere(apart)[:5])


@pytest.mark.parametrize("kind", ["bars", "stripes", "fold", "dropout"])
def test_every_kind_hides_all_of_a_text(kind: str) -> None:
    layout, words = setting("pt", FontChain([resolve_font("liberation-serif")], size=20), 300)
    strip, hidden, _ = covered(layout, words[::2], all_of(kind, layout))
    assert ((strip == without(layout, words[::2])) | hidden).all()


@pytest.mark.parametrize("lang", ["en", "ar"])
def test_no_pixel_mixes_a_span_with_other_text(lang: str) -> None:
    """Of lines that stand so near that their letters meet, other text is drawn as if the spans were not there."""
    row = LANGUAGES[lang]
    layout, words = setting(lang, FontChain([resolve_font(row.fonts[0])], size=20), 300)
    layout = replace(layout, line_height=round(0.5 * layout.line_height))
    spans = words[::2]
    strip, hidden, layers = covered(layout, spans, all_of("bars", layout))
    bare = without(layout, spans)
    assert (bare < 255)[layers.text].all() and np.count_nonzero(layers.text) == np.count_nonzero(bare < 255)
    assert ((strip == bare) | hidden).all()
    mixed = render_strip(layout) != 255 - layers.ink
    assert np.count_nonzero(mixed) > 50 and not hidden[layers.text].any()


@pytest.mark.parametrize(
    ("lang", "face"), [("en", "liberation-sans"), ("fr", "open-sans"), ("hi", "noto-sans-devanagari")]
)
def test_the_form_of_a_cover_does_not_tell_how_far_its_letters_reach(lang: str, face: str) -> None:
    """A text without descenders has the cover of one with them: it reaches as far as letters of the face do."""
    shaper = make_shaper(LANGUAGES[lang], FontChain([resolve_font(face)], size=20))
    sample = measure_sample(shaper, LANGUAGES[lang], calibration_sample(lang))
    assert max(sample.margins) > 0 and len(sample.rows) == shaper.line_height + sample.margins[1] + sample.margins[3]
    rule = PatternCover(kind="bars", hidden=0.6, rows=sample.rows, margins=sample.margins)
    reached = set()
    for word in {word for text in calibration_sample(lang)[:60] for word in text.split()}:
        layout = layout_caption(word, shaper, width=900, max_lines=1, break_unit="word")
        line = replace(layout.lines[0], x=100)
        layout = replace(layout, lines=(replace(line, end=line.start, glyphs=()), line), width=1000, rows_below=99)
        (cell,) = span_cells(Span(start=0, end=len(word), text=word, tokens=(word,)), layout)
        reached.add(Margins(*(abs(a - b) for a, b in zip(rule.cover(cell).box, cell.line_box, strict=True))))
    assert reached == {sample.margins}


def test_a_rare_letter_that_reaches_further_is_hidden_too() -> None:
    place = Box(50, 22, 90, 44)
    for side, ink_box in enumerate([(41, 22, 90, 44), (50, 9, 90, 44), (50, 22, 97, 44), (50, 22, 90, 53)]):
        rule = PatternCover(kind="bars", hidden=0.5, rows=(1.0,) * 24, margins=Margins(1, 1, 1, 1))
        box = rule.cover(Cell(place, Box(*ink_box))).box
        usual = rule.cover(Cell(place, place)).box
        assert box[side] == ink_box[side] and usual == Box(49, 21, 91, 45)
