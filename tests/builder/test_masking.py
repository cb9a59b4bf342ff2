"""The mask plan: textual decisions only, no pixel."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.builder.masking import is_whole_words, locate_answers, occurs_once, plan_mask
from vcrgen.builder.options import BuildConfig
from vcrgen.core.records import Span
from vcrgen.core.rng import rng_for
from vcrgen.text.eligibility import ineligible_reason
from vcrgen.text.pipelines import load_pipeline

EN_WORDS = st.sampled_from(
    [
        "the",
        "old",
        "harbour",
        "wall",
        "keeps",
        "its",
        "stones",
        "while",
        "gulls",
        "cry",
        "over",
        "small",
        "boats",
        "near",
        "Paris",
        ",",
        ".",
        "12",
        "co-op",
    ]
)
EN_TEXT = st.lists(EN_WORDS, min_size=1, max_size=60).map(" ".join)
ZH_TEXT = st.text(alphabet="老人在公园里看报纸并且喝着热茶。，北京三天", min_size=1, max_size=100)


def plan(text: str, lang: str = "en", seed: int = 0, **options: object) -> tuple[Span, ...]:
    defaults: dict[str, object] = {"mask": "ngram", "ngram_size": 5, "max_share": 0.5, "percentage": 0.3}
    config = BuildConfig.model_validate(defaults | options)
    return plan_mask(load_pipeline(lang).nlp(text), rng_for(seed, "mask", text), config, word_boundaries=lang == "en")


@settings(max_examples=150, deadline=None)
@given(EN_TEXT, st.integers(0, 5), st.integers(1, 10))
def test_invariants_of_english_plans(text: str, seed: int, n: int) -> None:
    check_invariants(text, "en", seed, n)


@settings(max_examples=100, deadline=None)
@given(ZH_TEXT, st.integers(0, 5), st.integers(1, 6))
def test_invariants_of_chinese_plans(text: str, seed: int, n: int) -> None:
    check_invariants(text, "zh", seed, n)


def check_invariants(text: str, lang: str, seed: int, n: int) -> None:
    spans = plan(text, lang, seed, ngram_size=n)
    doc = load_pipeline(lang).nlp(text)
    assert spans == plan(text, lang, seed, ngram_size=n)
    assert list(spans) == sorted(spans, key=lambda span: span.start)
    for span in spans:
        tokens = [t for t in doc if span.start <= t.idx < span.end]
        assert text[span.start : span.end] == span.text
        assert [t.text for t in tokens] == list(span.tokens) and len(tokens) == n
        assert all(ineligible_reason(t) is None for t in tokens)
        assert len({t.sent.start for t in tokens}) == 1
        assert occurs_once(span.text, text)
        assert lang != "en" or is_whole_words(text, span.start, span.end)
    assert sum(len(span.tokens) for span in spans) <= 0.5 * sum(not t.is_space for t in doc)
    starts = {t.idx: t.i for t in doc}
    for left, right in itertools.pairwise(spans):
        assert starts[right.start] - (starts[left.start] + n) >= 1  # never touching


SENTENCES = (
    "The quiet old man was reading a long book there before the evening came. "
    "A small green boat went slowly along the far side of the water. "
    "It was late and the light was fading over all of the fields."
)


def test_a_sentence_with_a_candidate_gets_a_span() -> None:
    for seed in range(20):
        spans = plan(SENTENCES, seed=seed)
        for sentence in load_pipeline("en").nlp(SENTENCES).sents:
            assert any(sentence.start_char <= span.start < sentence.end_char for span in spans)


def test_spans_stop_at_half_of_what_is_eligible() -> None:
    """13 to 14 eligible tokens a sentence: one span and its margin cover 7 of them, or 6 at the sentence's start."""
    doc = load_pipeline("en").nlp(SENTENCES)
    for seed in range(40):
        for sentence in doc.sents:
            inside = [s for s in plan(SENTENCES, seed=seed) if sentence.start_char <= s.start < sentence.end_char]
            assert len(inside) <= 2
            if len(inside) == 2:  # the first one left less than half covered: it lies at an end of the sentence
                assert min(s.start for s in inside) == sentence.start_char or any(
                    s.end >= sentence.end_char - 1 for s in inside
                )


@pytest.mark.parametrize(
    ("text", "start", "end", "whole"),
    [
        ("He was also the co-founder", 0, 18, False),
        ("He was also the co-founder", 0, 15, True),
        ("we don't know", 0, 5, False),
        ("(a small boat) went", 1, 13, True),
        ("and/or else", 0, 3, False),
        ("abc", 1, 3, False),
        ("\u0915\u093f \u0924\u093e\u092c", 0, 1, False),  # inside a cluster
        ("\u0915\u093f \u0924\u093e\u092c", 0, 2, True),
        (
            "\u0915\u093f\u0924\u093e\u092c",
            2,
            5,
            False,
        ),  # a vowel sign is no letter, its cluster is
        ("\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", 4, 9, False),  # a joiner inside a word
    ],
)
def test_whole_words(text: str, start: int, end: int, whole: bool) -> None:
    assert is_whole_words(text, start, end) is whole


@pytest.mark.parametrize(
    ("text", "caption", "once"),
    [("aa", "aaa", False), ("a b", "a b c", True), ("x", "abc", False), ("the old", "the old and the old", False)],
)
def test_occurs_once_counts_overlaps(text: str, caption: str, once: bool) -> None:
    assert occurs_once(text, caption) is once


def test_a_phrase_that_occurs_twice_is_never_masked() -> None:
    text = "many people walk by the river and Many people walk by the river"
    for seed in range(30):
        for span in plan(text, seed=seed):
            assert span.text.casefold() not in ("many people walk by the", "people walk by the river")


def test_sentence_mask_covers_one_whole_sentence() -> None:
    text = "The old man was reading. A boat went by while he turned the page of his paper slowly."
    (span,) = plan(text, mask="sentence")
    assert span.text == "The old man was reading"
    assert plan("One single sentence has no half.", mask="sentence") == ()
    assert (
        plan("One single sentence has no half.", mask="sentence", max_share=1.0)[0].text
        == "One single sentence has no half"
    )


def test_percentage_mask_takes_its_share_of_tokens() -> None:
    text = "quiet little streams carry fallen leaves past mossy stones toward some deep green lake beyond hills"
    spans = plan(text, mask="percentage", percentage=0.2)
    assert len(spans) == 4  # a fifth of 16 tokens, rounded up
    assert all(len(span.tokens) == 1 for span in spans)


def test_noun_mask_takes_common_nouns_of_jieba() -> None:
    spans = plan("一位老人在公园里的长椅上看报纸，旁边的孩子在草地上放风筝。", "zh", mask="nouns")
    texts = {span.text for span in spans}
    assert {"老人", "公园", "长椅", "报纸"} <= texts
    assert not {"看", "在", "上", "一位"} & texts


def test_given_answers_are_located() -> None:
    doc = load_pipeline("en").nlp("the old man was reading and the boat went by")
    spans = locate_answers(doc, ["boat went by", "old man"])
    assert spans is not None
    assert [(span.text, span.tokens) for span in spans] == [
        ("old man", ("old", "man")),
        ("boat went by", ("boat", "went", "by")),
    ]


@pytest.mark.parametrize("answers", [["the"], ["missing"], [""], ["old man was", "was reading"]])
def test_answers_that_cannot_be_covered(answers: list[str]) -> None:
    assert locate_answers(load_pipeline("en").nlp("the old man was reading and the boat went by"), answers) is None
