from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

import pytest

from tests.making import two_coloured
from vcrgen.builder import pipeline as stages
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import Pair, PreparedItem
from vcrgen.core.records import Item, Mode, Reject, RejectReason
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.coverage import font_coverage
from vcrgen.typeset.style import make_style

SONG, HEI, FALLBACK = "AR PL SungtiL GB", "WenQuanYi Micro Hei", "Droid Sans Fallback"


def png() -> bytes:
    data = BytesIO()
    two_coloured((300, 60), "black").save(data, "png")
    return data.getvalue()


def prepare(caption: str, *, lang: str, **options: str) -> PreparedItem:
    pipeline = Pipeline(BuildConfig(lang=lang, **options))
    prepared = pipeline.prepare(Item(source_id="1", image=png(), caption=caption), pipeline.style)
    assert isinstance(prepared, PreparedItem)
    return prepared


def families(prepared: PreparedItem, letters: Sequence[str]) -> set[str]:
    """The faces that draw letters."""
    layout, faces = prepared.layout, prepared.style.shaper.chain.faces
    return {
        faces[glyph.face].family
        for line in layout.lines
        for start, _, _, glyph in line.glyphs
        if layout.text[start] in letters
    }


@pytest.mark.parametrize(
    ("caption", "family"),
    [
        ("臺北市立動物園是亞洲最大的動物園之一，每年吸引數百萬名遊客參觀。", HEI),
        ("這張老照片裡有一座木橋。", HEI),
        ("這張 map 裡有 3 座橋。", HEI),
        ("统计人口为二十一万個，比上一次多。", HEI),  # one traditional character in a simplified text
        ("寬寬的窗臺上坐著一隻灰貓，旁邊是㐂字。", FALLBACK),  # the only one with the rare character
        ("一座木桥横跨在小河上，桥边有几只白色的鸭子。", SONG),
        ("2026 年的 map，共 3 页。", SONG),
    ],
)
def test_a_chinese_caption_stands_in_one_face(caption: str, family: str) -> None:
    han = [character for character in caption if "\u3400" <= character <= "\u9fff"]
    assert families(prepare(caption, lang="zh"), han) == {family}
    assert set(han) <= set(font_coverage(caption, lang="zh")[family])


def test_letters_of_other_scripts_choose_no_face() -> None:
    assert families(prepare("The old sign says 橋 in the valley.", lang="en"), "old") == {"Liberation Sans"}


def test_covers_leave_the_ink_that_the_language_asks_for_in_every_face() -> None:
    language, chain = LANGUAGES["zh"], Pipeline(BuildConfig(lang="zh")).style.shaper.chain
    styles = [make_style(language, chain.led_by(index), width=300, max_height=900) for index in range(3)]
    for mode, target in language.cover_targets.items():
        assert all(target.contains(style.calibrations[mode].visible) for style in styles)
    song, hei = (prepare(caption, lang="zh").style for caption in ("一座木桥横跨小河。", "一座木橋橫跨小河。"))
    assert (song.calibrations, hei.calibrations) == (styles[0].calibrations, styles[1].calibrations)
    assert song.calibrations != hei.calibrations


@pytest.mark.parametrize(
    ("lang", "options", "lines"),
    [
        ("zh", {}, ["一座木桥横跨在小河上面桥边有", "鸭。春天的河上是一座石桥和", "Evolution的书"]),
        (
            "zh",
            {"line_breaks": "vcr-wiki"},
            ["一座木桥横跨在小河上面桥边有鸭", "。春天的河上是一座石桥和Evolut", "ion的书"],
        ),
    ],
)
def test_lines_are_native_or_those_of_vcr_wiki(lang: str, options: dict[str, str], lines: list[str]) -> None:
    layout = prepare("一座木桥横跨在小河上面桥边有鸭。春天的河上是一座石桥和Evolution的书", lang=lang, **options).layout
    assert [layout.text[line.start : line.end] for line in layout.lines] == lines


def test_the_signature_names_lines_that_are_not_native() -> None:
    breaks = [
        Pipeline(BuildConfig(lang=lang, line_breaks=name)).signature.facts.get("breaks")
        for lang in ("en", "zh")
        for name in ("native", "vcr-wiki")
    ]
    assert breaks == [None, None, None, "vcr-wiki"]


@pytest.mark.parametrize(
    ("caption", "shown"),
    [
        ("東京都葛\U000e0100飾区東立石四丁目児童遊園。", "東京都葛飾区東立石四丁目児童遊園。"),
        ("鉄道記念館正面玄関前広場", "鉄道記念館正面玄関前広場"),
        ("アイヌ語のイタㇰ゚とㇷ゚という文字。", "アイヌ語のイタㇰ゚とㇷ゚という文字。"),
    ],
)
def test_japanese_of_any_of_its_characters_is_drawn(caption: str, shown: str) -> None:
    assert prepare(caption, lang="ja").layout.caption == shown


def test_a_japanese_caption_of_other_characters_is_rejected() -> None:
    pipeline = Pipeline(BuildConfig(lang="ja"))
    reasons = [
        pipeline.prepare(Item(source_id="1", image=png(), caption=caption), pipeline.style)
        for caption in ("The old harbour at night", "这张老照片里有一座木桥")
    ]
    assert [reject.reason for reject in reasons if isinstance(reject, Reject)] == ["other_script", "no_glyph"]


ORDINARY = "the small green boat lies quietly on the warm sand while gray birds walk slowly"


@pytest.mark.parametrize("mask", ["ngram", "percentage", "sentence"])
@pytest.mark.parametrize(
    ("caption", "image", "reason"),
    [
        (ORDINARY.title(), b"no image", RejectReason.NO_NGRAM),
        (ORDINARY, b"no image", RejectReason.UNDECODABLE),
        (ORDINARY.title(), png(), RejectReason.NO_NGRAM),
        (ORDINARY, png(), None),
    ],
)
def test_a_picture_is_decoded_after_the_spans_are_known(
    caption: str, image: bytes, reason: RejectReason | None, mask: str
) -> None:
    pipeline = Pipeline(BuildConfig(mask=mask, max_share=0.9 if mask != "sentence" else 1))
    (outcome,) = pipeline.plan_items([Item(source_id="1", image=image, caption=caption)])
    if reason is None or (mask == "sentence" and reason == RejectReason.NO_NGRAM):  # a sentence may hold names
        assert isinstance(outcome, Reject) == (image == b"no image")
    else:
        assert isinstance(outcome, Reject) and outcome.reason == reason


def test_large_pictures_wait_for_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = Pipeline(BuildConfig())
    items = [Item(source_id=str(at), image=png(), caption=f"{ORDINARY} {'again ' * at}") for at in range(5)]
    taken: list[Item] = []

    def row(pair: Pair | Reject) -> dict[str, Any]:
        assert isinstance(pair, Pair)
        return pipeline.row(pair, Mode.EASY)

    together = [row(pair) for pair in pipeline.pairs(items)]

    def source() -> Iterator[Item]:
        for item in items:
            taken.append(item)
            yield item

    monkeypatch.setattr(stages, "MAX_BATCH_BYTES", 1)
    one_by_one = map(row, pipeline.pairs(source()))
    assert next(one_by_one) == together[0] and len(taken) == 1
    assert list(one_by_one) == together[1:]
