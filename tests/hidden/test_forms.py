"""Pixels of a hidden set, compared with captions drawn again without covers."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from tests.making import encoded, two_coloured
from vcrgen.builder.options import load_build_config
from vcrgen.builder.records import PreparedItem
from vcrgen.core.records import Item, Reject, Span
from vcrgen.hidden.forms import MAX_RATIO, MIN_LETTER_INK, RARER, FormBuilder, FormItem, PlannedItem
from vcrgen.hidden.secret import Secret
from vcrgen.pixels.lexicon import load_lexicon
from vcrgen.samples import SamplePair, sample_pair
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.cover import span_cells
from vcrgen.typeset.fonts import FontChain, resolve_font
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.records import Layout
from vcrgen.typeset.render import render_strip
from vcrgen.typeset.style import Style

Answers = Callable[[Path], list[dict[str, Any]]]
Pixels = npt.NDArray[np.uint8]
SETS = ("form-3", "chinese")


@pytest.fixture
def folder(request: pytest.FixtureRequest, name: str) -> Path:
    if name == "chinese":
        return request.getfixturevalue("finished_chinese")
    return request.getfixturevalue("finished") if name == "one" else request.getfixturevalue("finished_forms") / name


def pixels(folder: Path, view: str, answer: dict[str, Any]) -> Pixels:
    image = Image.open(folder / "public" / view / f"{answer['question_id']}.png")
    assert (image.mode, image.format) == ("RGB", "PNG")
    return np.asarray(image)


def uncovered(answer: dict[str, Any], lang: str) -> tuple[Pixels, Layout]:
    """The strip as it was before it was covered."""
    unit = LANGUAGES[lang].break_unit
    layout = layout_caption(answer["caption"], shaper_of(answer), width=answer["width"], max_lines=5, break_unit=unit)
    return render_strip(layout), layout


def shaper_of(answer: dict[str, Any]) -> BasicShaper:
    return BasicShaper(FontChain([resolve_font(answer["font"])], size=answer["font_size"]))


def boxes_of(answer: dict[str, Any]) -> list[dict[str, int]]:
    return [box for span in answer["spans"] for box in span["boxes"]]


@pytest.mark.parametrize("name", SETS)
def test_the_views_are_strip_gap_and_picture(folder: Path, name: str, answers: Answers) -> None:
    for answer in answers(folder):
        stacked, only_it = (pixels(folder, view, answer) for view in ("stacked_image", "only_it_image"))
        height, top, alone = answer["strip_height"], answer["strip_y"], answer["only_it_strip_y"]
        assert stacked.shape == only_it.shape and stacked.shape[1] == answer["width"]
        assert stacked.shape[0] <= MAX_RATIO * answer["width"]
        if answer["strip"] == "above":
            assert top == 0
            gap = stacked[height]
        else:
            assert answer["strip"] == "below" and top == len(stacked) - height
            gap = stacked[top - 1]
        assert (gap == 255).all()
        strip = stacked[top : top + height]
        assert (strip == only_it[alone : alone + height]).all()
        assert (strip[:, :, :1] == strip).all()  # gray
        assert (only_it[:alone] == 255).all() and (only_it[alone + height :] == 255).all()
        assert abs(alone - (len(only_it) - height - alone)) <= 1
        picture = stacked[height + 1 :] if answer["strip"] == "above" else stacked[: top - 1]
        assert picture.std() > 5  # the picture, and not white


@pytest.mark.parametrize("name", SETS)
def test_only_the_boxes_differ_from_the_uncovered_caption(folder: Path, name: str, answers: Answers) -> None:
    lang = "zh" if name == "chinese" else "en"
    for answer in answers(folder):
        whole, layout = uncovered(answer, lang)
        assert layout.text == answer["caption"]
        top = answer["strip_y"]
        strip = pixels(folder, "stacked_image", answer)[top : top + answer["strip_height"], :, 0]
        expected = whole.copy()
        for box in boxes_of(answer):
            assert (strip[box["y0"] : box["y1"], box["x0"] : box["x1"]] == 255).all()
            assert (whole[box["y0"] : box["y1"], box["x0"] : box["x1"]] < 255).any()  # something was there
            expected[box["y0"] : box["y1"], box["x0"] : box["x1"]] = 255
        assert (strip == expected).all()


def maker(secret: bytes = b"s" * 32, **options: Any) -> FormBuilder:
    config = load_build_config(None, {"source": "samples", "lang": "en", **options})
    return FormBuilder(config, Secret(secret), ("open-sans", "caladea"))


def forms_of(
    maker: FormBuilder, pair: Item, count: int, *, number: int = 0, before: int = 0
) -> list[FormItem] | Reject:
    """Some forms of the same pair."""
    plans: list[PlannedItem] = []
    for form in range(count):
        planned = maker.plan(pair, number, form, [span for plan in plans for span in plan.covers])
        if isinstance(planned, Reject):
            return planned
        plans.append(planned)
    return [maker.draw(pair, planned, form, before, "00" * 32) for form, planned in enumerate(plans)]


def test_spans_of_rare_words_are_taken_where_there_are_some() -> None:
    """Frequent words tell a span without the picture."""
    lexicon, builder = load_lexicon("en"), maker(cover="rows")
    rarities: list[list[float]] = []
    for index in range(8):
        planned = builder.plan(item(index), index)
        if not isinstance(planned, Reject):
            rarities.append([lexicon.bits_a_unit(span.text) - lexicon.mean_bits for span in planned.covers])
    assert all(len({rarity >= RARER[0] for rarity in spans}) == 1 for spans in rarities)  # never some of them
    assert 2 * sum(spans[0] >= RARER[0] for spans in rarities) >= len(rarities) >= 6


def item(index: int, **changes: Any) -> Item:
    pair = sample_pair("en", index)
    return Item(**{"source_id": pair.id, "image": pair.image, "caption": pair.caption} | changes)


def test_ids_come_from_secret_form_and_content() -> None:
    ids = []
    for secret, index in itertools.product((b"s" * 32, b"t" * 32), (3, 4)):
        forms = forms_of(maker(secret), item(index), 2)
        assert not isinstance(forms, Reject)
        ids += [form.question_id for form in forms]
    assert len(set(ids)) == 8
    again = forms_of(
        maker(), item(3, source_id="other"), 1, number=5, before=7
    )  # neither its name nor its place in the set
    assert not isinstance(again, Reject) and again[0].question_id == ids[0]


def test_a_form_takes_other_texts_where_there_are_some() -> None:
    """A caption of many sentences has new texts for every form; of one that has few, a form has at least one text."""
    verbs = ("opens", "closes", "paints", "mends", "sells", "hides", "finds", "cleans")
    long = " ".join(f"Every morning somebody {verb} a wooden box behind the old stone bridge." for verb in verbs)
    forms = forms_of(maker(), item(3, caption=long), 4)
    assert not isinstance(forms, Reject)
    for one, other in itertools.combinations(forms, 2):
        assert not set(one.answer["crossed_text"]) & set(other.answer["crossed_text"])
    short = forms_of(maker(), item(3, caption="The old man was reading a long book before the evening came."), 4)
    assert not isinstance(short, Reject)
    assert all(len(form.answer["crossed_text"]) == 1 for form in short)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"image": None}, "no_image"),
        ({"image": b"garbage"}, "undecodable_image"),
        ({"caption": " "}, "no_caption"),
        ({"caption": "Two words"}, "short_caption"),
        ({"caption": "Paris, Rome, London, Oslo, Madrid"}, "no_maskable_ngram"),
        ({"caption": "The old man was reading a long book about \U000131a0."}, "no_glyph"),
        ({"caption": "The old man was reading a long book about 水."}, "no_glyph"),  # faces have no fallback
    ],
)
def test_rejected_items(changes: dict[str, Any], reason: str) -> None:
    rejected = forms_of(maker(), item(3, **changes), 2)
    assert isinstance(rejected, Reject) and rejected.reason == reason


def test_a_picture_too_tall_is_rejected() -> None:
    tall = encoded(two_coloured((40, 118), "green"))
    rejected = forms_of(maker(), item(3, image=tall), 1)
    assert isinstance(rejected, Reject) and rejected.reason == "too_tall"


def test_canaries_differ_between_forms_and_secrets() -> None:
    lines = {maker(secret).canary(form) for secret in (b"s" * 32, b"t" * 32) for form in (0, 1)}
    assert len(lines) == 4 and all(line.isascii() and "not for training" in line for line in lines)


@pytest.mark.parametrize("name", ["one", "chinese"])
def test_some_ink_of_every_letter_is_left(folder: Path, name: str, answers: Answers) -> None:
    lang = "zh" if name == "chinese" else "en"
    looked_at = 0
    for answer in answers(folder):
        whole, layout = uncovered(answer, lang)
        top = answer["strip_y"]
        strip = pixels(folder, "stacked_image", answer)[top : top + answer["strip_height"], :, 0]
        for row in answer["spans"]:
            for at in range(row["start"], row["end"]):
                letter = answer["caption"][at]
                if letter.isalnum():
                    (cell,) = span_cells(Span(start=at, end=at + 1, text=letter, tokens=(letter,)), layout)
                    before, after = (255 - image[cell.line_box.area].astype(int) for image in (whole, strip))
                    assert after.sum() >= MIN_LETTER_INK * before.sum() > 0
                    looked_at += 1
    assert looked_at > 20


def test_a_span_with_a_letter_that_would_vanish_is_not_taken() -> None:
    config = load_build_config(None, {"source": "samples", "lang": "zh"})
    chinese = FormBuilder(config, Secret(b"s" * 32), ("ar-pl-sungti-gb",))
    pair = sample_pair("zh", 3)
    flat = Item(source_id="x", image=pair.image, caption="\u4e00\u53ea\u732b\u548c\u4e00\u53ea\u72d7")
    rejected = chinese.plan(flat, 0)
    assert isinstance(rejected, Reject) and rejected.reason == "no_maskable_ngram"
    planned = [chinese.plan(Item(source_id=p.id, image=p.image, caption=p.caption), 0) for p in zh_pairs(12)]
    spans = [span for one in planned if isinstance(one, PlannedItem) for span in one.covers]
    assert len(spans) > 8 and not [span for span in spans if "\u4e00" in span.text]


def zh_pairs(count: int) -> list[SamplePair]:
    pairs = [sample_pair("zh", index) for index in range(count)]
    assert sum("\u4e00" in pair.caption for pair in pairs) > 4
    return pairs


def test_no_letter_of_the_last_line_is_cut() -> None:
    """Open Sans has a `g` that reaches below the line; what covers hide stands where it did."""
    config = load_build_config(None, {"source": "samples", "lang": "en"})
    builder = FormBuilder(config, Secret(b"s" * 32), ("open-sans",))
    pair = item(3, caption="The old man was reading a long and boring book before evening, laughing, jumping.")
    prepared = builder.pipeline.prepare(pair, replace(builder._make_style("open-sans", 30), width=700, max_height=2100))
    assert isinstance(prepared, PreparedItem)
    layout = prepared.layout
    cut = replace(layout, rows_below=0)
    assert layout.rows_below > 0 and not layout.rows_above
    rows = render_strip(layout)
    assert (rows[: cut.height] == render_strip(cut)).all()
    assert (rows[cut.height] < 255).any() and layout.with_whole_letters() == layout


@pytest.mark.parametrize(("lang", "face"), [("ar", "noto-sans-arabic"), ("hi", "noto-sans-devanagari-bold")])
def test_joined_scripts_have_forms(lang: str, face: str) -> None:
    """A letter of a cursive script may vanish under its cover, a word may not."""
    made = FormBuilder(load_build_config(None, {"source": "samples", "lang": lang}), Secret(b"s" * 32), (face,))
    pairs = [sample_pair(lang, index) for index in range(3, 9)]
    items = [Item(source_id="a", image=pair.image, caption=pair.caption) for pair in pairs]
    forms = [forms_of(made, one, 1) for one in items]
    assert sum(not isinstance(form, Reject) for form in forms) >= 4


def test_covers_of_a_font_are_calibrated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, real = [], FormBuilder._make_style

    def counted(self: FormBuilder, font: str, size: int) -> Style:
        made.append((font, size))
        return real(self, font, size)

    monkeypatch.setattr(FormBuilder, "_make_style", counted)
    builder = maker()
    assert builder._style("open-sans", 30) is builder._style("open-sans", 30) and made.count(("open-sans", 30)) == 1
