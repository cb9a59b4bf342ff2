"""Chinese eligibility: cases that are not in the data of the language, and jieba's cache left alone."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vcrgen.text.eligibility import ineligible_reason, selectable_ngrams
from vcrgen.text.jieba_zh import load_jieba
from vcrgen.text.lexicons_zh import load_lexicons
from vcrgen.text.pipelines import load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language


@pytest.fixture(scope="module")
def nlp() -> Language:
    return load_pipeline("zh").nlp


def test_names_in_traditional_text_are_seen(nlp: Language) -> None:
    doc = nlp("日本海軍在珍珠港襲擊美國艦隊，臺灣大學的學生很多。")
    ineligible = {token.text for token in doc if ineligible_reason(token)}
    assert {"珍珠港", "美國"} <= ineligible
    assert all(ineligible_reason(token) for token in doc if "灣" in token.text)


def test_a_quoted_sentence_stays_eligible(nlp: Language) -> None:
    doc = nlp("他说：“我们应该谨慎地引导它们向着新的方向发展。”")
    assert selectable_ngrams(doc, 5)


def test_a_long_title_reads_as_text_and_a_short_one_as_a_name(nlp: Language) -> None:
    assert selectable_ngrams(nlp("论文《疏散星团的结构特性及其在空间的分布》"), 5)
    assert not selectable_ngrams(nlp("论文《空间结构的分布》"), 1)[1:]


def test_a_common_word_in_quotes_is_no_name_elsewhere(nlp: Language) -> None:
    doc = nlp("经济高度发达，被列为“高度发达”国家。")
    assert [bool(ineligible_reason(token)) for token in doc if token.text == "高度发达"] == [False, True]


def test_sentences_end_at_full_stops_and_keep_the_closing_quote(nlp: Language) -> None:
    doc = nlp("他说：“你好。”然后走了！真的？是的；好，再见。")
    assert [sentence.text for sentence in doc.sents] == [
        "他说：“你好。”",
        "然后走了！",
        "真的？",
        "是的；",
        "好，再见。",
    ]


def test_tags_are_jiebas_flags(nlp: Language) -> None:
    tags = {token.text: token.tag_ for token in nlp("美国学者写了KONAMI 2012 镽蠿")}
    assert tags["美国"] == "ns"
    assert tags["KONAMI"] == "eng"
    assert tags["2012"] == "m"
    assert tags["镽蠿"[0]] == "x" if "镽" in tags else tags["镽蠿"] == "x"


def test_tokens_are_those_of_jieba(nlp: Language) -> None:
    text = "昂贝略昂比热是位于法国东南部的一个市镇，人口11,927。"
    assert [token.text for token in nlp(text)] == list(load_jieba().cut(text))


SCRIPT = """
from vcrgen.text.pipelines import load_pipeline
print("|".join(token.text for token in load_pipeline("zh").nlp("中国的街道")))
"""


def test_jiebas_cache_is_neither_read_nor_written(tmp_path: Path) -> None:
    planted = tmp_path / "jieba.cache"
    planted.write_bytes(marshal.dumps(({"中国的街道": 10**9, "中": 0, "中国": 0, "中国的": 0, "中国的街": 0}, 10**9)))
    before = planted.read_bytes()
    root = Path(__file__).parents[2]
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(root), "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, env=environment, encoding="utf-8", check=True
    )
    assert run.stdout.strip() == "中国|的|街道"
    assert run.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["jieba.cache"]
    assert planted.read_bytes() == before


def test_every_traditional_pair_has_two_different_characters() -> None:
    simplified = load_lexicons().simplified
    assert all(len(character) == 1 and ord(character) != key for key, character in simplified.items())
