"""Joined letters, ligatures, reordered vowel signs and lines of two directions, beside HarfBuzz and Chromium."""

import base64
import json
import random
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import uharfbuzz as hb
from fontTools.ttLib import TTFont

from vcrgen.builder.options import load_build_config
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import Pair
from vcrgen.core.errors import FontError
from vcrgen.core.records import Item, Mode, Reject, RejectReason, Span
from vcrgen.samples import sample_pair
from vcrgen.samples.pairs import caption, captions
from vcrgen.samples.table import SCENES
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import span_cells
from vcrgen.typeset.fonts import FontChain, default_chain, find_font
from vcrgen.typeset.harfbuzz import UNIT, HarfBuzzShaper, script_of
from vcrgen.typeset.layout import WORD, layout_caption
from vcrgen.typeset.shaping import Shaper
from vcrgen.typeset.style import make_shaper

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
Image = npt.NDArray[np.float64]
SHAPERS = {lang: make_shaper(LANGUAGES[lang], default_chain(LANGUAGES[lang].fonts, size=40)) for lang in ("ar", "hi")}
FONTS = {lang: find_font(LANGUAGES[lang].fonts[0]).verified_path() for lang in SHAPERS}
# Text of every kind that a caption may show: joined and stacked letters, marks, numbers, Latin words, brackets.
TEXTS = {
    "ar": [
        "قطة رمادية تجلس على حافة النافذة",
        "لا إله إلا الله",
        "مُحَمَّدٌ يَشْرَبُ الماءَ",
        "في عام 2024 كان 12,5 كم من هنا",
        "هاتف iPhone 15 (جديد) من الصين",
        "قال: «نعم» [ثم] ذهب، أليس كذلك؟",
        "السعر ٣٤ دينارا و50 %",
    ],
    "hi": [
        "एक भूरी बिल्ली खिड़की के पास बैठी है।",
        "क्षत्रिय विद्यार्थी ने श्री कृष्ण का चित्र लिया",
        "कि हिन्दी में र्क ट्र ड्ढ ज्ञान शृंगार",
        "2024 में iPhone 15 (नया) ₹145 का था",
        "पाँच लाख, दो-तीन; क्यों?",
    ],
}


def shaper(lang: str) -> HarfBuzzShaper:
    made = SHAPERS[lang]
    assert isinstance(made, HarfBuzzShaper)
    return made


def glyph_ids(lang: str, text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Face and number of each glyph of some characters, word by word in reading order, each word from left to right."""
    runs = shaper(lang).runs(text, start, len(text) if end is None else end)
    return [(one.face, one.glyph_id) for _, run in sorted(runs, key=lambda item: item[0]) for one in run.glyphs]


def shown(lang: str, text: str) -> list[str]:
    """The characters of each glyph of a line, from left to right."""
    return [text[placed.start : placed.end] for placed in shaper(lang).shape(text, 0, len(text))]


def of_harfbuzz(lang: str, word: str) -> list[int]:
    """The glyphs of a word as HarfBuzz shapes it in the language's first font."""
    buffer = hb.Buffer()
    buffer.add_str(word)
    buffer.guess_segment_properties()
    hb.shape(hb.Font(hb.Face(hb.Blob.from_file_path(str(FONTS[lang])))), buffer)
    return [info.codepoint for info in buffer.glyph_infos]


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("ar", "لا", ["ا", "ل"]),
        ("ar", "محمد", ["د", "م", "ح", "م"]),
        ("ar", "بيت", ["ت", "ت", "ي", "ي", "ب", "ب"]),  # this font draws dots by themselves
        ("ar", "دَ", ["دَ", "دَ"]),
        ("ar", "دم 12", ["1", "2", " ", "م", "د"]),
        ("ar", "دم ab", ["a", "b", " ", "م", "د"]),
        ("ar", "دم (ab)", [")", "a", "b", "(", " ", "م", "د"]),
        ("hi", "कि", ["कि", "कि"]),  # the vowel sign is drawn before its letter
        ("hi", "क्ष", ["क्ष"]),
        ("hi", "क ab", ["क", " ", "a", "b"]),
        ("hi", "ab دم", ["a", "b", " ", "م", "د"]),
    ],
)
def test_glyphs_stand_from_left_to_right_for_their_characters(lang: str, text: str, expected: list[str]) -> None:
    assert shown(lang, text) == expected


def test_letters_are_joined_and_brackets_mirrored() -> None:
    alone = {glyph_ids("ar", letter)[0] for letter in "محمد"}
    assert not alone & {*glyph_ids("ar", "محمد")}
    assert glyph_ids("ar", "دم (") == [*glyph_ids("ar", "دم "), *glyph_ids("ar", "ab) a")[2:3]]


def test_a_joiner_keeps_letters_apart() -> None:
    assert glyph_ids("ar", "\u0646\u200c\u0647") != glyph_ids("ar", "\u0646\u0647")
    assert glyph_ids("hi", "\u0915\u094d\u200c\u0937") != glyph_ids("hi", "\u0915\u094d\u0937")


@pytest.mark.parametrize("lang", TEXTS)
def test_words_have_the_glyphs_that_harfbuzz_gives_them(lang: str) -> None:
    kind = LANGUAGES[lang].script
    own = [word for text in TEXTS[lang] for word in text.split() if word.isalpha() or kind == "DEVANAGARI"]
    words = [word for word in own if len({script_of(char) for char in word} - {""}) == 1]
    assert len(words) > 15
    for word in words:
        assert glyph_ids(lang, word) == [(0, glyph_id) for glyph_id in of_harfbuzz(lang, word)], word


def drawn_by_harfbuzz(lang: str, word: str) -> Image:
    """The ink of a word, drawn at once; pixel (100, 100) is at its left end on the baseline."""
    font = hb.Font(hb.Face(hb.Blob.from_file_path(str(FONTS[lang]))))
    font.scale = (40 * UNIT, 40 * UNIT)
    buffer = hb.Buffer()
    buffer.add_str(word)
    buffer.guess_segment_properties()
    hb.shape(font, buffer)
    pen, drawing = 0, hb.RasterDraw()
    drawing.scale_factor = (UNIT, UNIT)
    for info, at in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
        drawing.transform = (1, 0, 0, 1, pen + at.x_offset, at.y_offset)
        drawing.draw_glyph(font, info.codepoint)
        pen += at.x_advance
    image = drawing.render()
    at = image.extents
    rows = np.frombuffer(image.buffer, np.uint8).reshape(at.height, at.stride)[::-1, : at.width]
    canvas = np.zeros((200, 400))
    canvas[100 - at.y_origin - at.height : 100 - at.y_origin, 100 + at.x_origin : 100 + at.x_origin + at.width] = rows
    return canvas


@pytest.mark.parametrize(("lang", "text"), [(lang, text) for lang in TEXTS for text in TEXTS[lang][:3]])
def test_words_are_drawn_as_harfbuzz_draws_them(lang: str, text: str) -> None:
    """All glyphs of a word in one drawing, and one by one: no pixel is far from the other."""
    for word in text.split():
        expected, drawn = drawn_by_harfbuzz(lang, word), np.zeros((200, 400))
        for _, _, pen, glyph in shaper(lang).shape(word, 0, len(word)):
            y, x = 100 + glyph.y, 100 + pen + glyph.x
            part = drawn[y : y + glyph.ink.shape[0], x : x + glyph.ink.shape[1]]
            part[...] = 255 - (255 - part) * (255 - glyph.ink) / 255
        # A glyph stands within an eighth of a pixel of its place.
        assert np.abs(drawn - expected).max() < 90 and np.abs(drawn - expected).sum() < 0.07 * expected.sum(), word


@pytest.mark.parametrize("lang", TEXTS)
def test_a_line_takes_the_place_that_its_width_says(lang: str) -> None:
    """The width that adds up words while a line is filled is that of the glyphs, and a pixel or two more."""
    for text in TEXTS[lang]:
        words = [match.span() for match in WORD.finditer(text)]
        for first, (start, _) in enumerate(words):
            growing = shaper(lang).growing_width(text, start)
            for _, end in words[first:]:
                assert 0 <= growing(end) - Shaper.width(shaper(lang), text, start, end) <= 3


@pytest.mark.parametrize("lang", TEXTS)
def test_a_line_ends_where_no_other_word_fits(lang: str) -> None:
    setter, captions = shaper(lang), [caption(lang, index) for index in range(60)]
    for text in captions:
        layout = layout_caption(text, setter, width=300, max_lines=9, break_unit="word")
        for line, following in pairwise(layout.lines):
            word = text[following.start :].split(" ")[0]
            assert Shaper.width(setter, text, line.start, line.end) <= 300
            assert Shaper.width(setter, text, line.start, following.start + len(word)) > 300


@pytest.mark.parametrize("lang", TEXTS)
def test_what_no_font_has_is_missing_and_what_is_joined_is_not(lang: str) -> None:
    text = TEXTS[lang][0]
    assert shaper(lang).missing(f"{text} \U000131a0\ud800") == ["\U000131a0", "\ud800"]
    assert shaper(lang).missing(text) == []


def test_ten_thousand_marks_are_set_in_time() -> None:
    text = "ب" + "\u064b" * 10_000
    glyphs = shaper("ar").shape(text, 0, len(text))
    assert {(placed.start, placed.end) for placed in glyphs} == {(0, len(text))}


@pytest.mark.parametrize("lang", TEXTS)
def test_a_font_without_the_rules_of_its_letters_is_refused(lang: str, tmp_path: Path) -> None:
    font = TTFont(FONTS[lang])
    del font["GSUB"]
    font.save(tmp_path / "plain.ttf")
    with pytest.raises(FontError, match=r"plain\.ttf has letters such as .* \(a GSUB table\).*choose another font"):
        make_shaper(LANGUAGES[lang], FontChain([tmp_path / "plain.ttf"], size=20))


def test_a_fallback_without_rules_draws_no_letter_of_the_script() -> None:
    chain = default_chain(["liberation-sans"], size=20)
    assert HarfBuzzShaper(chain, "rtl").missing("ab قط") == list("قط")


def planned(lang: str, count: int) -> list[tuple[Pipeline, Pair]]:
    pipeline = Pipeline(load_build_config(None, {"lang": lang}))
    pairs = pipeline.pairs(
        Item(source_id=str(index), image=pair.image, caption=pair.caption)
        for index, pair in enumerate(sample_pair(lang, index) for index in range(count))
    )
    return [(pipeline, pair) for pair in pairs if isinstance(pair, Pair)]


@pytest.mark.parametrize("lang", TEXTS)
def test_a_span_has_the_glyphs_of_its_label(lang: str) -> None:
    pairs = planned(lang, 12)
    assert len(pairs) >= 8
    for _, pair in pairs:
        for covered in pair.images[Mode.EASY].spans:
            span = covered.span
            assert glyph_ids(lang, pair.caption, span.start, span.end) == glyph_ids(lang, span.text)


@pytest.mark.parametrize("lang", TEXTS)
def test_cells_hold_the_ink_of_a_span_and_no_other_letter(lang: str) -> None:
    text = TEXTS[lang][-2]
    layout = layout_caption(text, shaper(lang), width=2000, max_lines=1, break_unit="word")
    line = layout.lines[0]
    start = 0
    for word in text.split():
        start = text.index(word, start)
        span = Span(start=start, end=start + len(word), text=word, tokens=(word,))
        cells = [cell.line_box for cell in span_cells(span, layout)]
        inside = {
            placed.start
            for placed in line.glyphs
            for cell in cells
            if cell.x0 - line.x <= placed.pen and placed.pen + placed.glyph.advance <= cell.x1 - line.x
            if placed.glyph.advance
        }
        assert inside and inside <= set(range(start, start + len(word)))
        start += len(word)


PAGE = """<meta charset="utf-8"><style>@font-face { font-family: f; src: url(data:font/ttf;base64,FONT) }
p { font: 40px f; white-space: nowrap; position: absolute; left: 0; top: 0; margin: 0;
  text-rendering: geometricPrecision }
</style><body></body><script>
const texts = TEXTS, out = [];
document.fonts.load("40px f", texts[0][0]).then(() => {
  for (const [text, dir] of texts) {
    const p = document.body.appendChild(document.createElement("p"));
    p.dir = dir; p.textContent = text;
    const node = p.firstChild, places = [];
    for (let at = 0; at < text.length; at++) {
      const range = document.createRange();
      range.setStart(node, at); range.setEnd(node, at + 1);
      const box = range.getBoundingClientRect();
      places.push([box.left - p.getBoundingClientRect().left, box.width]);
    }
    out.push([p.getBoundingClientRect().width, places]);
    p.remove();
  }
  document.body.textContent = JSON.stringify(out);
});
</script>"""


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed: text is not compared with its drawing of it")
@pytest.mark.parametrize("lang", TEXTS)
def test_widths_and_order_are_those_of_chromium(lang: str, tmp_path: Path) -> None:
    direction = LANGUAGES[lang].direction
    rng = random.Random(5)
    told = [captions(lang).render(s.kind, s.facts.sample(rng), rng, 0) for s in SCENES]
    texts = [text for text in [*TEXTS[lang], *told] if "€" not in text and "₹" not in text]
    font = base64.b64encode(FONTS[lang].read_bytes()).decode()
    pairs = json.dumps([[text, direction] for text in texts]).replace("<", "\\u003c")
    (tmp_path / "page.html").write_text(PAGE.replace("FONT", font).replace("TEXTS", pairs), "utf-8")
    command = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=20000",
        f"--user-data-dir={tmp_path / 'profile'}",  # that of the user may be in use
        "--dump-dom",
    ]
    page = subprocess.run(
        [*command, str(tmp_path / "page.html")], capture_output=True, text=True, timeout=180, check=True
    ).stdout
    seen = json.loads(page[page.index("[[") : page.rindex("]]") + 2])
    assert len(seen) == len(texts)
    for text, (width, places) in zip(texts, seen, strict=True):
        glyphs = shaper(lang).shape(text, 0, len(text))
        # Pen positions are whole pixels here, so a line of some dozen words is off by less than one.
        assert abs(max(placed.pen + placed.glyph.advance for placed in glyphs) - width) <= 1.0, text
        left = {}
        for placed in glyphs:
            left.setdefault((placed.start, placed.end), placed.pen)
        for (start, end), pen in left.items():
            boxes = [place for place in places[start:end] if place[1] > 0.01]
            if boxes:
                assert abs(min(place[0] for place in boxes) - pen) <= 1.5, (text, text[start:end])


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("ب" + "\u064b" * 10_000 + " بيت كبير قرب البحر الأزرق الواسع", RejectReason.STACKED_MARKS),
        ("The old house stands at the edge of the quiet wood", RejectReason.OTHER_SCRIPT),
        ("Старый дом стоит у тихого леса и моря", RejectReason.OTHER_SCRIPT),
        ("قطة बड़ा घर नदी के पास खड़ा है", RejectReason.NO_GLYPH),
        ("قطة صغيرة\ud800 تجلس على حافة النافذة", RejectReason.NO_GLYPH),
    ],
)
def test_a_caption_that_cannot_be_set_has_a_reason(caption: str, reason: RejectReason) -> None:
    pipeline = Pipeline(load_build_config(None, {"lang": "ar"}))
    item = Item(source_id="1", image=sample_pair("ar", 0).image, caption=caption)
    (outcome,) = pipeline.pairs([item])
    assert isinstance(outcome, Reject) and outcome.reason is reason


def test_controls_of_direction_are_taken_out() -> None:
    pipeline = Pipeline(load_build_config(None, {"lang": "ar"}))
    caption = sample_pair("ar", 0).caption
    items = [
        Item(source_id="1", image=sample_pair("ar", 0).image, caption=text)
        for text in (caption, "\u202e" + caption[:10] + "\u2067" + caption[10:] + "\u202c\u202c")
    ]
    plain, mixed = pipeline.pairs(items)
    assert isinstance(plain, Pair) and isinstance(mixed, Pair)
    assert mixed.caption == caption
    assert mixed.images[Mode.EASY].stacked == plain.images[Mode.EASY].stacked
