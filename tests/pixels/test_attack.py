"""The attack on strips that the package draws: places, face and covers are found from the pixels."""

import io
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from PIL import Image

from tests.pixels.test_lexicon import prior
from vcrgen.core.errors import ConfigError
from vcrgen.core.records import Span
from vcrgen.models.base import Request, RequestProblem
from vcrgen.models.predict.template import TemplateModel
from vcrgen.pixels import attack
from vcrgen.pixels.attack import ReadStrip, read_strip
from vcrgen.pixels.characters import character_lexicon
from vcrgen.pixels.faces import FaceFinder, _sizes
from vcrgen.pixels.lexicon import Lexicon, load_lexicon
from vcrgen.pixels.strips import find_covers
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import CoverRule, WhiteRows, cover_spans, draw_layers, mark_hidden, span_cells
from vcrgen.typeset.cover_kinds import PATTERN_KINDS
from vcrgen.typeset.fonts import FontChain, default_chain, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.patterns import PatternCover
from vcrgen.typeset.render import cover_strip, render_strip
from vcrgen.typeset.style import make_shaper

CAPTIONS = {
    "en": (
        "A small fishing boat lies on the beach. In the morning the men of the village carry their nets home.",
        ["fishing boat lies on the", "men of the village carry"],
    ),
    "zh": (
        "一条小河从山谷里流出来，河边有一座古老的石桥。每天早晨都有很多人从桥上走过。",
        ["从山谷里流出来", "一座古老的石桥"],
    ),
    # The most frequent letters are all low, and none of them is the highest of a line.
    # The word before the mark is covered by itself, and the text goes over a line's end.
    "ko": (
        "네 층짜리 긴 책장에는 빈틈이 거의 없다. 1996년에 노성훈 씨가 이 그림을 포항 문화회관에 기증했다.",
        ["빈틈이 거의 없다", "씨가 이 그림을"],
    ),
    "ru": (
        "Молодой человек живёт в большом доме у реки. Каждое утро его брат идёт в город на работу.",
        ["в большом доме у реки", "идёт в город на работу"],
    ),
}
ROWS = {"en": range(9, 18), "zh": range(5, 17), "ru": range(9, 18), "ko": range(6, 19)}


def encoded(strip: np.ndarray, kind: str = "PNG", **options: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(strip).save(file, kind, **options)
    return file.getvalue()


def covered_strip(lang: str, texts: Sequence[str], rows: range, size: int = 20) -> np.ndarray:
    """Draw a caption with white rows over some of its texts, on a page of paper."""
    return strip_under(WhiteRows(rows), lang, texts, size)[0]


def strip_under(rule: CoverRule, lang: str, texts: Sequence[str], size: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Draw a caption with covers over some of its texts, on a page of paper; and return the pixels that they hide."""
    row = LANGUAGES[lang]
    shaper = make_shaper(row, default_chain(row.fonts, size=size))
    layout = layout_caption(CAPTIONS[lang][0], shaper, width=300, max_lines=5, break_unit=row.break_unit)
    strip = render_strip(layout)
    spans = [
        Span(start=start, end=start + len(text), text=text, tokens=(text,))
        for text in texts
        for start in [layout.text.index(text)]
    ]
    cells = {span: span_cells(span, layout) for span in spans}
    layers = draw_layers(layout, chain.from_iterable(cells.values()))
    masked = cover_spans(dict.fromkeys(spans, rule), cells, strip, layers)
    covers = [cover for span in masked for cover in span.covers]
    hidden = np.zeros(strip.shape, dtype=bool)
    mark_hidden(hidden, covers)
    page = (61, 60), (0, 0)
    return np.pad(cover_strip(strip, covers), page, constant_values=255), np.pad(hidden, page)


def words_of(lang: str) -> Lexicon:
    return load_lexicon(lang, size=None if lang in ("zh", "ko") else 8000)


@pytest.mark.parametrize("lang", CAPTIONS)
def test_covered_texts_are_restored_from_the_pixels_alone(lang: str) -> None:
    texts = CAPTIONS[lang][1]
    ink = 255 - covered_strip(lang, texts, ROWS[lang])
    face, baseline = FaceFinder(words_of(lang), LANGUAGES[lang].fonts[0]).candidates(ink)[0]
    strip = read_strip(ink, face, baseline)
    assert [span.text.strip() for span in strip.spans] == texts
    assert [span.bits for span in strip.spans] == pytest.approx([0, 0], abs=4 if lang == "ko" else 0.01)
    assert strip.fit > 0.999 and baseline == 61 + face.baseline


def test_a_word_that_is_in_no_lexicon_is_read_by_its_characters(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("fishing\nlies\non\nthe\nmen\nof\n", "utf-8")
    ink = 255 - covered_strip("en", ["fishing boat lies on the"], range(10, 17))
    words = load_lexicon("en", file=file)
    # The alphabet of the characters is that of the list and ASCII.
    face, baseline = FaceFinder(words, "liberation-sans").candidates(ink)[0]
    (span,) = read_strip(ink, face, baseline).spans
    assert span.bits is None and span.fit < 0.98 and span.text == "fishing boat lies on the"


def test_a_word_like_one_of_the_lexicon_is_read_by_its_characters(tmp_path: Path) -> None:
    """The two differ in few of the visible pixels."""
    file = tmp_path / "words.txt"
    file.write_text("fishing\nboat\nlios\non\nthe\n", "utf-8")
    words = load_lexicon("en", file=file)
    ink = 255 - covered_strip("en", ["fishing boat lies on the"], ROWS["en"])
    face, baseline = FaceFinder(words, "liberation-sans").candidates(ink)[0]
    (span,) = read_strip(ink, face, baseline).spans
    assert span.fit > 0.98 and span.bits is None and span.text == "fishing boat lies on the"


def test_the_size_is_found_of_lines_that_are_nearly_all_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first and the third line are alike then, so twice the line height agrees best."""
    text = "Quand le soleil descend, quatre parasols rayés sont ouverts sur la plage de Beauville."
    monkeypatch.setitem(CAPTIONS, "fr", (text, []))
    ink = 255 - covered_strip("fr", ["parasols rayés sont ouverts sur"], ROWS["en"])
    face, baseline = FaceFinder(load_lexicon("fr", size=8000), "liberation-sans").candidates(ink)[0]
    assert face.size == 20 and baseline == 61 + face.baseline


def test_the_face_is_found_if_all_lines_begin_under_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The men of the village carry their nets home in the morning. The women of the town wait for them there."
    monkeypatch.setitem(CAPTIONS, "en", (text, []))
    covered = ["The men of the", "nets home in the", "women of the town"]
    ink = 255 - covered_strip("en", covered, ROWS["en"])
    face, baseline = FaceFinder(words_of("en"), "liberation-sans").candidates(ink)[0]
    assert face.size == 20 and baseline == 61 + face.baseline


def test_the_model_replies_with_bits_and_refuses_other_faces() -> None:
    image = encoded(covered_strip("en", CAPTIONS["en"][1], ROWS["en"]))
    request = Request(images=(image,), language="en")
    reply = TemplateModel(font="liberation-sans").reply(request)
    assert reply.text.split("\n") == CAPTIONS["en"][1]
    assert [set(span) for span in reply.spans] == [{"text", "bits", "fit", "signature"}] * 2
    with pytest.raises(RequestProblem, match="--font"):
        TemplateModel(font="caladea").reply(request)
    with pytest.raises(RequestProblem):
        TemplateModel().reply(Request(images=(b"no image",), language="en"))
    bare = encoded(covered_strip("en", [], ROWS["en"]))
    with pytest.raises(RequestProblem, match="no covered text was found"):
        TemplateModel(font="liberation-sans").reply(Request(images=(bare,), language="en"))
    with pytest.raises(ConfigError, match="bits of its spans are unknown"):
        TemplateModel().reply(Request(images=(image,), language="ar"))


def test_bars_of_capitals_are_no_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "THE EFFECT OF a boat on the lake is small. In the East wind it drifts far away."
    monkeypatch.setitem(CAPTIONS, "en", (text, []))
    ink = 255 - covered_strip("en", ["lake is small"], range(12, 21), size=24)
    face, baseline = FaceFinder(words_of("en"), "liberation-sans").candidates(ink)[0]
    strip = read_strip(ink, face, baseline)
    assert strip.text.startswith("THE EFFECT OF") and [span.text for span in strip.spans] == ["lake is small"]


@pytest.mark.parametrize(("font", "size"), [("open-sans-bold", 33), ("caladea", 33)])
def test_the_face_is_found_among_all_shipped_ones(font: str, size: int) -> None:
    """Strokes of lighter faces fit into a bold one; the highest letter of a line may be a rare one."""
    shaper = make_shaper(LANGUAGES["en"], FontChain([resolve_font(font)], size=size))
    text = "The Biharis is a demonym given to the inhabitants of the Indian state of Bihar."
    layout = layout_caption(text, shaper, width=500, max_lines=5, break_unit="word")
    ink = 255 - np.pad(render_strip(layout), ((30, 30), (0, 0)), constant_values=255)
    ((face, baseline),) = FaceFinder(words_of("en")).candidates(ink)
    assert face.name == f"{resolve_font(font)[0].stem} {size} px" and baseline == 30 + layout.baseline


def test_a_text_ends_before_a_line_without_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "THE EFFECT OF a boat on the lake is small. In the East wind it drifts far away and the men wait for it."
    monkeypatch.setitem(CAPTIONS, "en", (text, []))
    ink = 255 - covered_strip("en", ["boat on the", "drifts far away"], ROWS["en"])  # ends of lines 1 and 3
    face, baseline = FaceFinder(words_of("en"), "liberation-sans").candidates(ink)[0]
    assert [span.text for span in read_strip(ink, face, baseline).spans] == ["boat on the", "drifts far away"]


def test_an_image_without_text() -> None:
    assert FaceFinder(words_of("en"), "liberation-sans").candidates(np.zeros((50, 300), dtype=np.uint8)) == []


def test_characters_have_digits_marks_and_the_space() -> None:
    shares = prior(character_lexicon("en", words_of("en")))
    assert {"e", "Q", "7", ",", " "} <= set(shares) and shares["e"] > shares["q"]


def test_the_face_is_found_among_bars_that_are_darker_than_letters() -> None:
    """Bars are as high as lines and hold more ink than letters, so they would give another size and another row."""
    shaper = make_shaper(LANGUAGES["en"], FontChain([resolve_font("roboto-slab")], size=30))
    layout = layout_caption(CAPTIONS["en"][0], shaper, width=600, max_lines=5, break_unit="word")
    strip = render_strip(layout)
    pitch = layout.line_height
    for line, left in [(0, 100), (0, 330), (1, 60), (1, 250), (2, 0)]:
        strip[line * pitch : (line + 1) * pitch, left : left + 110] = 160
    ink = 255 - np.pad(strip, ((200, 200), (0, 0)), constant_values=255)
    face, baseline = FaceFinder(words_of("en")).candidates(ink)[0]
    assert face.name == f"{resolve_font('roboto-slab')[0].stem} 30 px" and baseline == 200 + layout.baseline


BARRED = "He has lived in the old house by the river with his brother since the summer of last year."


def barred(covers: Sequence[tuple[int, int, int]], lang: str = "en") -> np.ndarray:
    """Draw a caption with bars, given as a line and columns, on a page of paper."""
    row = LANGUAGES[lang]
    shaper = make_shaper(row, default_chain(row.fonts, size=20))
    caption = BARRED if lang == "en" else CAPTIONS[lang][0]
    layout = layout_caption(caption, shaper, width=300, max_lines=5, break_unit=row.break_unit)
    strip = render_strip(layout)
    for line, left, right in covers:
        strip[line * layout.line_height : (line + 1) * layout.line_height, left:right] = 160
    return np.pad(strip, ((61, 60), (0, 0)), constant_values=255)


def read_barred(*covers: tuple[int, int, int], lang: str = "en") -> ReadStrip:
    ink = 255 - barred(covers, lang)
    face, baseline = FaceFinder(words_of(lang), LANGUAGES[lang].fonts[0]).candidates(ink)[0]
    return read_strip(ink, face, baseline)


def test_letters_beside_bars_keep_their_places() -> None:
    """Those that reach beyond a bar explain ink of the next letter, too, and would win over the right ones."""
    assert [read_barred((0, 42, right)).fit for right in (70, 79)] == [1.0, 1.0]
    assert [read_barred((1, 60, right)).fit for right in (85, 94)] == [1.0, 1.0]


def test_the_narrow_end_of_a_bar_is_a_cover() -> None:
    strip = read_barred((0, 40, 58), (0, 121, 123))
    assert strip.fit == 1 and [span.text for span in strip.spans] == ["has lived in"]


def test_words_seen_between_covered_ones_are_of_one_text_with_them() -> None:
    assert [span.text for span in read_barred((0, 40, 58), (0, 120, 128)).spans] == ["has lived in"]
    assert [span.text for span in read_barred((0, 40, 58), (0, 200, 228)).spans] == ["has", "house"]


def test_a_text_under_a_bar_at_the_end_of_a_line_is_not_cut() -> None:
    (span,) = read_barred((0, 228, 283)).spans
    assert span.text.startswith("house ") and span.bits is not None and span.bits > 4
    (span,) = read_barred((0, 236, 283), (1, 0, 10)).spans
    assert len(span.text.split()) == 3 and span.bits is not None and span.bits > 2


def test_bits_of_a_text_are_those_of_all_its_words() -> None:
    one = read_barred((0, 30, 64)).spans[0]
    (both,) = read_barred((0, 30, 64), (0, 113, 130)).spans
    assert one.bits is not None and both.bits is not None and both.bits > one.bits


def test_a_character_that_is_hidden_whole_is_covered() -> None:
    """It is read as spaces; what is left of its neighbour settles that one only."""
    (span,) = read_barred((0, 100, 118), (0, 140, 151), lang="zh").spans
    assert span.text[1:] == "谷里" and span.bits is not None and span.bits > 5 and span.fit == 1


def test_a_rare_character_is_read_by_its_end() -> None:
    """Letters and digits of which nothing is seen under the bar are many, and more frequent."""
    strip = read_barred((0, 120, 135), lang="zh")
    assert strip.fit == 1 and [span.text for span in strip.spans] == ["谷"]


def test_lines_of_another_face_are_not_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a line in which nothing is explained takes longest."""
    ink = 255 - covered_strip("en", [], ROWS["en"])
    (face,) = [face for face, _ in FaceFinder(words_of("en"), "liberation-sans").candidates(ink)]
    reader = mock.Mock(wraps=attack.read_line)
    monkeypatch.setattr(attack, "read_line", reader)
    strip = read_strip(ink, face, 61 + face.baseline + 2, least=0.9)
    assert reader.call_count == 1 < len(strip.lines)
    read = [bool(reading.characters) for _, reading in strip.lines]
    assert not any(read) and strip.fit == 0
    assert all(reading.characters for _, reading in read_strip(ink, face, 61 + face.baseline + 2).lines)


FOUND = ("stripes", "stain", "leaf", "bars", "blots")  # nearly to the pixel; where print has flaked off, paper is white


@pytest.mark.parametrize("kind", PATTERN_KINDS)
def test_under_a_cover_of_any_kind_no_wrong_text_is_settled(kind: str) -> None:
    """A cover is found, or its line is explained by no text, or the bits say that there are other readings."""
    _, texts = CAPTIONS["en"]
    strip, hidden = strip_under(PatternCover(kind=kind, hidden=0.6, rows=(1.0,) * 22, seed=0), "en", texts)
    ink = 255 - strip
    faces = FaceFinder(words_of("en"), "liberation-sans").candidates(ink)
    reads = [read_strip(ink, face, baseline, least=0.9) for face, baseline in faces]
    for read in reads:
        for span, text in zip(read.spans, texts, strict=read.fit >= 0.9):
            assert span.bits is None or span.bits > 0.5 or span.text == text, (span, text)
    if kind in FOUND:
        covers = find_covers(ink)
        assert not (hidden & ~covers & (strip < 255)).any()
        assert (covers & ~hidden).sum() < 0.05 * hidden.sum()
        assert reads[0].fit > 0.9999 and all(span.bits is not None for span in reads[0].spans)
    elif kind in ("fold", "dropout"):
        assert all(read.fit < 0.9 or {span.bits for span in read.spans} == {None} for read in reads)


def with_noise(strip: np.ndarray, sigma: float) -> bytes:
    noise = np.random.default_rng(0).normal(0, sigma, strip.shape)
    return encoded((strip + noise).clip(0, 255).astype(np.uint8))


@pytest.mark.parametrize("kind", ["rows", "bars"])
def test_noisy_and_compressed_strips_are_read_if_the_noise_is_told(kind: str) -> None:
    _, texts = CAPTIONS["en"]
    rule = WhiteRows(ROWS["en"]) if kind == "rows" else PatternCover(kind=kind, hidden=0.2, rows=(1.0,) * 22, seed=1)
    strip, _ = strip_under(rule, "en", texts)
    for image, sigma in (
        (with_noise(strip, 5), 5.0),
        (with_noise(strip, 10), 10.0),
        (encoded(strip, "JPEG", quality=75), 10.0),
    ):
        reply = TemplateModel(font="liberation-sans", sigma=sigma).reply(Request(images=(image,), language="en"))
        lines = reply.text.split("\n")  # under bars, the words of a span that they cover
        assert lines == texts if kind == "rows" else all(map(str.__contains__, texts, lines)), (sigma, lines)
        with pytest.raises(RequestProblem, match=r"--sigma"):  # of which nothing is known
            TemplateModel(font="liberation-sans").reply(Request(images=(image,), language="en"))


def test_a_thin_line_from_a_cover_on_is_not_followed_to_its_end() -> None:
    """A maze in a stranger's image would be walked pixel by pixel, each time over the whole image."""
    ink = np.zeros((20, 400), np.uint8)
    ink[:9, :9] = np.arange(100, 181).reshape(9, 9)
    ink[4:6, 9:] = np.arange(100, 491).reshape(1, -1) % 90 + 100
    found = find_covers(ink)
    assert found[:9, :9].all() and not found[:, 40:].any()


def test_letters_are_not_taken_for_covers() -> None:
    """Strokes are darker than covers of several shades, and their edges are of many shades."""
    for lang, size in (("en", 12), ("en", 20), ("ru", 14), ("zh", 20), ("ko", 12)):
        assert not find_covers(255 - covered_strip(lang, [], ROWS[lang], size)).any(), (lang, size)


def test_a_face_that_is_unlike_the_strip_is_none_of_its_faces() -> None:
    """Reading a strip in a wrong face takes longest; so its paper and ink are looked at first."""
    ink = 255 - covered_strip("zh", [], ROWS["zh"])
    assert not FaceFinder(words_of("en"), "liberation-sans").candidates(ink)


def test_a_size_is_found_where_every_second_line_is_covered() -> None:
    """Then its rows agree best at twice the line height."""
    ink = np.zeros((6 * 22, 400), np.uint8)
    for line in range(0, 6, 2):
        ink[22 * line + 5 : 22 * line + 15, :300] = 200
    assert 20 in _sizes(ink)


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("shape", [(1, 1), (30, 3), (3, 200), (40, 60)])
def test_images_without_text_are_refused(shape: tuple[int, int], lang: str) -> None:
    """Also those that are narrower than a letter."""
    rng, out = np.random.default_rng(0), io.BytesIO()
    Image.fromarray(np.where(rng.random(shape) < 0.1, 0, 255).astype(np.uint8)).save(out, "PNG")
    with pytest.raises(RequestProblem):
        TemplateModel().reply(Request(images=(out.getvalue(),), language=lang))
