"""The scorer's tokens are the dataset's, for texts of any length."""

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.text import segmenters
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.pipelines import load_pipeline
from vcrgen.text.segmenters import load_segmenter

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
BLANK = {lang: spacy.blank(lang) for lang in ("en", "fr")}


@given(st.sampled_from(sorted(BLANK)), st.lists(WORDS, max_size=30).map("".join), st.booleans())
def test_written_words_are_spacys(lang: str, text: str, spaces: bool) -> None:
    found = load_segmenter(lang)(text, spaces=spaces)
    assert found.texts == [token.text for token in BLANK[lang].tokenizer(text) if spaces or not token.is_space]
    assert all(text.startswith(token, start) for token, start in zip(found.texts, found.starts, strict=True))


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


@given(lang=st.sampled_from(sorted(BLANK)), text=st.lists(WORDS, max_size=60).map(" ".join), spaces=st.booleans())
@settings(deadline=None)
def test_pieces_change_nothing(lang: str, text: str, spaces: bool) -> None:
    whole = load_segmenter(lang)(text, spaces=spaces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segmenters, "PIECE", 7)
        assert load_segmenter(lang)(text, spaces=spaces) == whole


def test_a_run_without_boundary_is_cut() -> None:
    found = load_segmenter("en")("a" * 2500)
    assert [len(token) for token in found.texts] == [1000, 1000, 500]


def test_a_segmenter_may_be_asked_for_by_its_own_name() -> None:
    assert load_segmenter("zh", "jieba").name == load_segmenter("zh", "builtin").name == load_segmenter("zh").name


def test_the_limit() -> None:
    assert load_segmenter("en")("a b c", limit=3).cut is False
    found = load_segmenter("en")("a b c d", limit=3)
    assert (found.texts, found.cut) == (["a", "b", "c"], True)


def test_the_tokenizer_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmenters, "MOST_STRINGS", 10)
    segment = segmenters._blank("en")
    for number in range(50):
        assert len(segment(f"word{number} other{number}")) == 2
    assert len(segment.tokenize._nlp.vocab.strings) < len(spacy.blank("en").vocab.strings) + 30  # type: ignore[attr-defined]
