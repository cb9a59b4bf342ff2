"""The scorer's tokens are the dataset's, for texts of any length."""

import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.text import segmenters
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.pipelines import load_pipeline
from vcrgen.text.segmenters import load_segmenter
from vcrgen.text.space_delimited import BY_RULES

WORDS = st.sampled_from(
    [
        "don't",
        "aujourd'hui",
        "l’",
        "-t-il",
        "U.S.",
        "(a)",
        "e.g.,",
        "\n",
        "  ",
        " ",
        "x",
        ":)",
        "http://a.b/c",
        "中文",
        "«",
        "10km",
    ]
)
CHARS = st.sampled_from(list("位于上海市的人民，。 \n\r\tab1.%"))
HAN = st.one_of(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FD5), st.sampled_from("的一是不了在人有我他这"))
LATIN = st.sampled_from(["abc", "3.14", "50%", "C++", "e-mail", "\r\n", "\u3000", "é", "…"])
SPACED = sorted(lang for lang, row in LANGUAGES.items() if row.segmenter == "spacy")


@cache
def blank(lang: str) -> Any:
    """spaCy's empty pipeline of a language."""
    import spacy

    return spacy.blank(lang, config=BY_RULES if lang in SPACED else {})


@pytest.mark.sweep
@given(st.sampled_from(SPACED), st.lists(WORDS, max_size=30).map("".join), st.booleans())
def test_written_words_are_spacys(lang: str, text: str, spaces: bool) -> None:
    found = load_segmenter(lang)(text, spaces=spaces)
    assert found.texts == [token.text for token in blank(lang).tokenizer(text) if spaces or not token.is_space]
    assert all(text.startswith(token, start) for token, start in zip(found.texts, found.starts, strict=True))


@cache
def plain_jieba() -> Any:
    """jieba as it is, without its cache in the temporary folder."""
    from jieba import Tokenizer  # type: ignore[import-untyped, unused-ignore]

    tokenizer = Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


@pytest.mark.sweep
@settings(deadline=None)
@given(st.lists(CHARS, max_size=60).map("".join), st.booleans())
def test_chinese_is_spacys_with_jieba(text: str, spaces: bool) -> None:
    found = load_segmenter("zh")(text, spaces=spaces)
    doc = load_pipeline("zh").nlp.tokenizer(text)
    assert found.texts == [token.text for token in doc if spaces or not token.text.isspace()]
    assert all(text.startswith(token, start) for token, start in zip(found.texts, found.starts, strict=True))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_names_are_those_of_datasets(lang: str) -> None:
    assert load_segmenter(lang).name == load_pipeline(lang).segmenter


@pytest.mark.sweep
@given(text=st.lists(CHARS, max_size=60).map("".join), spaces=st.booleans())
@settings(deadline=None)
def test_pieces_change_nothing_in_chinese(text: str, spaces: bool) -> None:
    """A piece could end between a comma and one space, which then came in as a token."""
    whole = load_segmenter("zh")(text, spaces=spaces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segmenters, "PIECE", 7)
        assert load_segmenter("zh")(text, spaces=spaces) == whole


@pytest.mark.sweep
def test_a_long_chinese_text_has_the_tokens_of_the_whole() -> None:
    """Pieces end at 4,096 characters, and inside a run of more than 1,000 without a boundary."""
    import spacy

    oracle = spacy.blank("zh", config={"nlp": {"tokenizer": {"segmenter": "char"}}}).tokenizer
    oracle.segmenter, oracle.jieba_seg = "jieba", plain_jieba()
    sentences = ["位于上海市的人民，", " 广场和abc 1.5%。", "\n\n红色的狗 ", "、 ", "，  ", "龘靐齉的"]
    rng = random.Random(0)
    texts = ["".join(rng.choices(sentences, k=1200)) for _ in range(5)]
    texts += ["位于" * 2100 + "， 的，" + "上海" * 2000, "龘靐" * 700 + "abc" * 500 + "的人民"]
    for text in texts:
        for spaces in (False, True):
            wanted = [token.text for token in oracle(text) if spaces or not token.text.isspace()]
            assert load_segmenter("zh")(text, spaces=spaces).texts == wanted


@pytest.mark.sweep
@given(lang=st.sampled_from(SPACED), text=st.lists(WORDS, max_size=60).map(" ".join), spaces=st.booleans())
@settings(deadline=None)
def test_pieces_change_nothing(lang: str, text: str, spaces: bool) -> None:
    whole = load_segmenter(lang)(text, spaces=spaces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segmenters, "PIECE", 7)
        assert load_segmenter(lang)(text, spaces=spaces) == whole


def test_a_run_without_boundary_is_cut() -> None:
    found = load_segmenter("en")("a" * 2500)
    assert [len(token) for token in found.texts] == [1000, 1000, 500]


def test_a_chinese_run_is_not_cut_and_takes_linear_time() -> None:
    """jieba copies the path so far at every character that its dictionary lacks."""
    text = "龘" * 100_000
    segment = load_segmenter("zh")
    assert "".join(segment(text).texts) == text and segment.longest_run == "whole"


def test_a_pipeline_that_reads_words_of_white_space_whole(tmp_path: Path) -> None:
    blank("zh").to_disk(tmp_path / "zh_char")  # single characters; pkuseg, too, reads what white space parts
    segment = load_segmenter("zh", str(tmp_path / "zh_char"))
    assert segment.longest_run == "whole"
    assert segment("，  位于 " * 2000).texts == list("，位于" * 2000)
    assert [found.end() for found in segment.boundary.finditer("位，于 上")] == [4]


def test_the_limit() -> None:
    assert load_segmenter("en")("a b c", limit=3).beyond_limit is False
    found = load_segmenter("en")("a b c d", limit=3)
    assert (found.texts, found.beyond_limit) == (["a", "b", "c"], True)
