"""Our way through jieba's dictionary gives jieba's own words, character for character."""

from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.text.jieba_zh import TOTAL, load_jieba

WIKI = Path(__file__).resolve().parents[3] / "shared" / "data" / "wiki"


@pytest.fixture(scope="module")
def oracle() -> Any:
    """jieba's tokenizer with its packaged dictionary, without its cache in the temporary folder."""
    import jieba

    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


@pytest.fixture(scope="module")
def words(oracle: Any) -> list[str]:
    """Words and beginnings of words of the dictionary, every hundredth."""
    return sorted(oracle.FREQ)[::100]


def words_of(cutter: Any, text: str) -> list[str]:
    """The words without white space, which the tokenizers around jieba treat in their own way."""
    return [word for word in cutter.cut(text) if not word.isspace()]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "他来到了网易杭研大厦",
        "结婚的和尚未结婚的",
        "南京市长江大桥",
        "小明硕士毕业于中国科学院计算所,后在日本京都大学深造",
        "在3.14%和abc-def之间\r\n,\t 第2行",
        "龘" * 300,
        "鿖鿕\U00020000〇々㐀",
        "Ａ１é中文",
        "abc 123 c++ c# 100%",
        "大S和阿Q在办公枱品嚐保溼",  # words that end in a character which is no word by itself
    ],
)
def test_words_are_jiebas(oracle: Any, text: str) -> None:
    assert words_of(load_jieba(), text) == words_of(oracle, text)


@given(data=st.data())
def test_words_of_any_text_are_jiebas(oracle: Any, words: list[str], data: st.DataObject) -> None:
    part = st.one_of(
        st.sampled_from(words),
        st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF),
        st.sampled_from(list("的一是在不了有和人这 \n\r，。a1.-%#é")),
    )
    text = "".join(data.draw(st.lists(part, max_size=40)))
    assert words_of(load_jieba(), text) == words_of(oracle, text)


def test_words_of_captions_are_jiebas(oracle: Any) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    if not (WIKI / "pairs_zh.parquet").exists():
        pytest.skip("needs ../shared/data/wiki/pairs_zh.parquet")
    captions = pq.read_table(WIKI / "pairs_zh.parquet", columns=["caption"])["caption"].to_pylist()
    assert [words_of(load_jieba(), text) for text in captions] == [words_of(oracle, text) for text in captions]


def test_the_whole_list_is_read(oracle: Any) -> None:
    dictionary = load_jieba().dictionary
    characters = set(sorted({word[0] for word in oracle.FREQ})[::10])
    frequencies = dict(chain.from_iterable(map(dictionary.frequencies, characters)))
    assert frequencies == {word: oracle.FREQ[word] for word in frequencies}
    assert all(w in frequencies for w, frequency in oracle.FREQ.items() if frequency and w[0] in characters)
    assert oracle.total == TOTAL
    with oracle.get_dict_file() as lines:
        entries = [line.decode("utf-8").split() for line in islice(lines, 0, None, 100)]
    assert [dictionary.flag(word) for word, _, _ in entries] == [flag for _, _, flag in entries]
    assert [dictionary.flag(word) for word in ("", "龘龘", "é", "\U0010ffff")] == [None] * 4


def test_only_short_runs_are_remembered() -> None:
    """Or memory would grow with what strangers write."""
    cutter = load_jieba().cutter
    cutter._unknown.cache_clear()
    for text in ("龘靐", "龘靐" * 8, "龘靐" * 9, "a" * 1000):
        cutter.cut(text)
    assert cutter._unknown.cache_info().currsize == 2
