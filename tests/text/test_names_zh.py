"""Chinese eligibility: tables of cases, invariants on arbitrary text, and jieba's cache left alone."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.text.eligibility import ineligible_reason, selectable_ngrams
from vcrgen.text.jieba_zh import load_jieba
from vcrgen.text.lexicons_zh import load_lexicons
from vcrgen.text.pipelines import load_pipeline

if TYPE_CHECKING:
    from spacy.language import Language


@pytest.fixture(scope="module")
def nlp() -> Language:
    return load_pipeline("zh").nlp


# Text -> its eligible tokens.
ELIGIBLE = {
    "乔治街是澳洲悉尼的街道。": "是 的 街道",
    "她在法国巴黎学习油画。": "她 在 学习 油画",
    "约翰·菲茨杰拉德·肯尼迪是一位总统。": "是 一位 总统",
    "公司成立于2003年3月。": "公司 成立 于",
    "该市人口为323人，面积6.72平方公里。": "该市 人口 为 面积",
    "收入增长百分之二十，花费三万美元。": "收入 增长 花费",
    "星期三上午九点开会。": "开会",
    "他写了《年轻的时候》这本书。": "他 写 了 这 本书",
    "这座教堂是一座漂亮的建筑。": "这座 教堂 是 一座 漂亮 的 建筑",
    "他是第一个登上月球的人。": "他 是 第一个 登上 月球 的 人",
    "明朝万历年间盛行。": "年间 盛行",
    "今天仍然在使用KONAMI的软件。": "仍然 在 使用 的 软件",
    # What counts without a number to know is free; a number is not.
    "他有两种想法和几个问题，多次失败。": "他 有 两种 想法 和 几个 问题 多次 失败",
    "他有五个孩子，住了两年。": "他 有 孩子 住 了",
    # Everyday words that jieba's dictionary calls names, times or places.
    "夏天干燥，夜间的阿姨害怕海牛和雷雨。": "夏天 干燥 夜间 的 阿姨 害怕 海牛 和 雷雨",
    "岛屿的东南有一座天文台，属于这一朝代。": "岛屿 的 东南 有 一座 天文台 属于 这一 朝代",
    # A surname before a title is a name, the title alone is not.
    "江主席的讲话和李教授的书。": "的 讲话 和 的 书",
    "高校长和马厂长都来开会。": "校长 和 厂长 都 来 开会",
    "一位教授和校长在开会。": "一位 教授 和 校长 在 开会",
    "老许和小王喜欢看电影。": "和 喜欢 看 电影",
    # Governments by a character, a side, or their short name; the middle of something is no government.
    "中方和美方交换了意见。": "和 交换 了 意见",
    "俄总统在京会见了客人。": "在 会见 了 客人",
    "中央决定派人帮助。": "决定 派 人 帮助",
    "广场中央有一个喷泉。": "广场 中央 有 一个 喷泉",
    "公园的中央是草地。": "公园 的 中央 是 草地",
    "中英关系和中国围棋的发展。": "和 的 发展",
    "欧盟和政协开会。": "和 开会",
    # 都 and 里 are kinds of places only in names.
    "国王和王后都在看书。": "国王 和 王后 都 在 看书",
    # A list in a description is no name of an organisation.
    "这是一座自然史和文化博物馆。": "这是 一座 自然史 和 文化 博物馆",
    "由地方自治市组成。": "由 地方 自治市 组成",
}


@pytest.mark.parametrize(("text", "expected"), ELIGIBLE.items(), ids=list(ELIGIBLE))
def test_eligible_tokens(nlp: Language, text: str, expected: str) -> None:
    assert [token.text for token in nlp(text) if ineligible_reason(token) is None] == expected.split()


# Text -> entities that must be found, as "text/label".
ENTITIES = {
    "她在法国巴黎学习油画。": "法国巴黎/GPE",
    "奖金为三万美元。": "三万美元/MONEY",
    "他出生于明代。": "明代/DATE",
    "根据北京市消防局的说法": "北京市/GPE 消防局/ORG",
    "位于东西路与鼓楼广场之间": "鼓楼广场/FAC",
    "虽然康守时带来了援军": "康守时/PERSON",
    "法国人与日军交战": "法国人/NORP 日军/NORP",
    "中、美、英三国": "中/GPE 美/GPE 英/GPE",
    "他住在保定市": "保定市/GPE",
    "简称铁协，": "铁协/NAME",
    "大津祐树签约": "大津祐树/PERSON",
    "第三大的城市": "第三/ORDINAL",
    "花了两美元，走了两公里": "美元/MONEY 两公里/QUANTITY",
    "两百人": "两百人/CARDINAL",
    "车站位于柏树街西侧": "柏树街/FAC",
    "弗内斯修道院附近": "修道院/FAC",
}


@pytest.mark.parametrize(("text", "expected"), ENTITIES.items(), ids=list(ENTITIES))
def test_entities(nlp: Language, text: str, expected: str) -> None:
    found = {f"{entity.text}/{entity.label_}" for entity in nlp(text).ents}
    assert found >= set(expected.split())


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


def test_lexicons_say_where_they_come_from() -> None:
    folder = Path(__file__).parents[2] / "vcrgen" / "text" / "zh" / "lexicons"
    for name in (
        "common",
        "function",
        "transliteration",
        "surnames",
        "places",
        "eras",
        "units",
        "traditional",
    ):
        text = (folder / f"{name}.txt").read_text(encoding="utf-8")
        assert text.startswith("# Written for vcrgen"), name


def test_every_traditional_pair_has_two_different_characters() -> None:
    simplified = load_lexicons().simplified
    assert all(len(character) == 1 and ord(character) != key for key, character in simplified.items())


PIECES = st.sampled_from(
    list("的是中国美王李人山市公司一三年月·“”《》「」，。！？；、")
    + list(" \n\t()AZaz09%$ａ１①😀國灣々\u3000\x1f\u200b")
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=60).map("".join))


@settings(max_examples=150, deadline=None)
@given(text=TEXTS)
def test_any_text_comes_back_whole_and_the_same_each_time(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    again = nlp(text)
    assert [(t.text, t.tag_, t.ent_type_) for t in doc] == [(t.text, t.tag_, t.ent_type_) for t in again]
    for span in selectable_ngrams(doc, 5):
        assert len({token.sent.start for token in span}) == 1
