"""``vlmevalkit-v2``, ``lmms-eval-v2``: every rule of the published code, with values derived by hand from its text."""

import pytest

from vcrgen.core.errors import ScoreError
from vcrgen.scorer import SpanMatch, make_scorer, match_span
from vcrgen.text.segmenters import load_segmenter


def match(span: str, output: str) -> SpanMatch:
    return match_span(span, output, protocol="vlmevalkit")


def test_text_up_to_the_last_prefix_is_dropped() -> None:
    assert match("a red dog", "Assistant: a red dog Assistant: a blue cat").ngram == "a blue cat"
    assert match("a red dog", "USER: sorry? Assistant: a red dog").exact  # the refusal word went with the prefix
    found = match("a red dog", "xx Assistant: a red dog")
    assert (found.start, found.end) == (14, 23)
    assert match("a red dog", "Assistant:a red dog").ngram == "a red dog"  # no space after it: no prefix


ECHOED = {
    # output: what the two find of "a red dog"
    "Assistant: a red dog": ("a red dog", "a red dog"),
    "a red dog Assistant: a blue cat": ("a blue cat", "a red dog"),
    "USER: a red dot Assistant: the red cat": ("the red cat", "a red dot"),
    "USER: sorry? Assistant: a red dog": ("a red dog", ""),  # a word of refusal in the prompt counts, too
    "a red dog": ("a red dog", "a red dog"),
}


@pytest.mark.parametrize("output", ECHOED)
def test_lmms_eval_does_not_drop_the_prefix(output: str) -> None:
    found = [match_span("a red dog", output, protocol=name).ngram for name in ("vlmevalkit", "lmms-eval")]
    assert tuple(found) == ECHOED[output]


@pytest.mark.parametrize("span", ["abcd efgh", "the red the dog", "don't stop", "red dog", "so sorry"])
@pytest.mark.parametrize("output", ["abcx efgx", "the red cat dog", "please don't stop", "red\ndog", "so sorry", "x"])
def test_all_other_rules_are_the_same(span: str, output: str) -> None:
    assert match_span(span, output, protocol="lmms-eval") == match(span, output)


@pytest.mark.parametrize("word", ["I can't", "I cannot", "sorry", "SoRRy", "无法", "抱歉"])
def test_refusal_words_score_nothing_even_as_the_answer(word: str) -> None:
    found = match(f"{word} again", f"{word} again")
    assert (found.outcome.value, found.scores) == ("refused", (0.0,) * 8)


def test_other_words_of_refusal_may_be_named() -> None:
    """The VCR repository has some for each model: 我无法 for MiniCPM, and none for idefics2 in English."""
    outputs = ("So Sorry", "无法", "我无法", "SORRY")
    wanted = {None: outputs, "我无法, SORRY ,": ("我无法", "SORRY"), "": (), "sorry": ("So Sorry", "SORRY")}
    named = {words: make_scorer("en", protocol="vlmevalkit", refusals=words) for words in wanted}
    for words, scorer in named.items():
        assert tuple(output for output in outputs if scorer((output,), output).outcome is not None) == wanted[words]
    assert [scorer.facts.get("refuse") for scorer in named.values()] == [None, "SORRY,我无法", "nothing", "sorry"]
    assert make_scorer("en", refusals="sorry,I can't,I cannot,抱歉,无法").facts == make_scorer("en").facts


@pytest.mark.parametrize("words", ["a|b", "a\nb", "\ud800"])
def test_a_word_of_refusal_has_to_fit_a_signature(words: str) -> None:
    with pytest.raises(ScoreError, match="word of refusal"):
        make_scorer("en", refusals=words)


@pytest.mark.parametrize("word", ["i can't", "I CANNOT", "I can not", "cant"])
def test_other_spellings_are_no_refusal(word: str) -> None:
    assert match("red dog", f"{word} red dog").exact


def test_only_ngrams_that_share_a_token_are_candidates() -> None:
    assert match("abcd efgh", "abcx efgx").outcome.value == "short"  # near, but no token in common
    assert match_span("abcd efgh", "abcx efgx").distance == 2  # paper-v2 takes it


def test_the_ratio_is_difflibs_and_the_first_of_equals_wins() -> None:
    found = match("red dog", "red dox red dot")
    # 2 x 6 matching characters ("red do") of 7 + 7.
    assert (found.ngram, found.start, found.as_dict()["similarity"]) == ("red dox", 0, 2 * 6 / 14)


def test_difflibs_ratio_is_no_edit_distance() -> None:
    # The longest block of "ab xy" and "xy ab" is "ab" or "xy" with nothing left to match on its other side.
    assert match("xy ab", "ab xy").as_dict()["similarity"] == 2 * 2 / 10


def test_metrics_over_token_sets() -> None:
    scores = match("the red the dog", "the red cat dog").as_dict()
    # span {the, red, dog}, n-gram {the, red, cat, dog}: 3 shared, 4 in the union.
    assert (scores["exact"], scores["jaccard"], scores["precision"], scores["recall"]) == (0.0, 3 / 4, 3 / 4, 1.0)
    assert scores["f1"] == 2 * 0.75 * 1.0 / 1.75
    # ROUGE-1 counts repetition: shared the, red, dog = 3 of 4 and of 4.
    assert scores["rouge1"] == 2 * 0.75 * 0.75 / 1.5


def test_ngrams_are_compared_joined_with_the_spans_own_text() -> None:
    # Joined tokens are "do n't stop", the span's text is "don't stop": 10 of 10 + 11 characters match.
    scores = match("don't stop", "please don't stop").as_dict()
    assert (scores["exact"], scores["similarity"]) == (1.0, 2 * 10 / 21)
    # ROUGE tokenises the joined n-gram once more: "do n't stop" gives do, n't, stop again.
    assert scores["rouge1"] == 1.0


def test_white_space_tokens_count() -> None:
    # spaCy makes a token of a line break, so these outputs' n-grams are [red, \n] and [\n, dog].
    found = match("red dog", "red\ndog")
    assert not found.exact and found.ngram == "red \n"
    assert match_span("red dog", "red\ndog").exact


def test_chinese_needs_its_pipeline_or_a_named_segmenter() -> None:
    with pytest.raises(ScoreError, match=r"zh_core_web_sm.*--segmenter builtin"):
        make_scorer("zh", protocol="vlmevalkit")
    scorer = make_scorer("zh", protocol="vlmevalkit", segmenter="builtin")
    assert "jieba" in scorer.facts["seg"] and scorer.facts["protocol"] == "vlmevalkit-v2"
    assert scorer(("位于上海市",), "位于上海市").matches[0].exact


def test_chinese_ngrams_are_joined_with_nothing() -> None:
    found = match_span("位于上海市", "它位于上海的", lang="zh", protocol="vlmevalkit", segmenter="builtin")
    assert " " not in found.ngram and found.as_dict()["similarity"] > 0.5


def test_the_english_tokens_are_the_published_pipelines() -> None:
    # en_core_web_sm changes no token of the blank tokenizer: its parts label, none retokenises.
    assert load_segmenter("en")("They don't, e.g. in the U.S.", spaces=True).texts == [
        "They",
        "do",
        "n't",
        ",",
        "e.g.",
        "in",
        "the",
        "U.S.",
    ]
