"""The nearest n-gram: against slow oracles, and as a table of cases."""

import json
import random
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.core.errors import PipelineError, ScoreError
from vcrgen.scorer import match_span, match_spans
from vcrgen.scorer.match import NGrams, SpanTokens, nearest_by_difflib, nearest_by_levenshtein
from vcrgen.scorer.metrics import character_similarity
from vcrgen.text.segmenters import Tokens, load_segmenter


@cache
def edit_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        above, row = row, [i]
        for j, y in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def ngrams(tokens: Sequence[str], n: int) -> list[list[str]]:
    return [list(tokens[i : i + n]) for i in range(len(tokens) - n + 1)] if n else []


def paper_oracle(span: Sequence[str], output: Sequence[str], joiner: str) -> tuple[int, int] | None:
    """Index and distance of the nearest n-gram."""
    best = None
    for index, ngram in enumerate(ngrams(output, len(span))):
        distance = edit_distance(joiner.join(ngram), joiner.join(span))
        rank = (distance, -len(set(ngram) & set(span)), index)
        best = rank if best is None or rank < best else best
    return (best[2], best[0]) if best else None


def published_oracle(
    span_text: str, span: Sequence[str], output: Sequence[str], joiner: str
) -> tuple[int, float] | None:
    """Index and ratio of the n-gram that the published loop ends with."""
    best_ratio, best_index = 0.0, -1
    for index, ngram in enumerate(ngrams(output, len(span))):
        if set(ngram).isdisjoint(span):
            continue
        ratio = SequenceMatcher(None, joiner.join(ngram), span_text).ratio()
        if ratio > best_ratio:
            best_ratio, best_index = ratio, index
    return (best_index, best_ratio) if best_index >= 0 else None


TOKEN = st.text("abc中文", min_size=1, max_size=3)
TOKENS = st.lists(TOKEN | st.just("a b"), max_size=30)  # Spanish has one token "EE. UU."
JOINER = st.sampled_from(["", " "])


def span_of(tokens: list[str], joiner: str) -> SpanTokens:
    text = joiner.join(tokens)
    return SpanTokens(text, tuple(tokens), text, frozenset(tokens))


def ngrams_of(tokens: list[str], joiner: str, between: str) -> NGrams:
    """The n-grams of tokens that stand in a text with something between them."""
    starts = accumulate([len(token) + len(between) for token in tokens], initial=0)
    return NGrams(Tokens(tokens, list(starts)[: len(tokens)]), between.join(tokens), joiner)


@pytest.mark.sweep
@settings(max_examples=300)
@given(TOKENS, TOKENS, JOINER, st.sampled_from(["", " ", ", "]), st.data())
def test_paper_agrees_with_the_oracle(
    words: list[str], output: list[str], joiner: str, between: str, data: st.DataObject
) -> None:
    start, n = data.draw(st.integers(0, 30)), data.draw(st.integers(0, 5))
    span = (output if data.draw(st.booleans()) else words)[start : start + n]  # often it is there
    found = nearest_by_levenshtein(span_of(span, joiner), ngrams_of(output, joiner, between))
    expected = paper_oracle(span, output, joiner)
    assert (found and (found.position, found.distance)) == expected


@pytest.mark.parametrize("joiner", [" ", ""])
def test_stretches_hold_all_ngrams_side_by_side(joiner: str) -> None:
    for length in range(1, 14):
        texts = [f"t{number}" for number in range(length)]
        found = ngrams_of(texts, joiner, joiner)
        for n in range(1, length + 1):
            for count in range(1, 6):
                plain = [texts[first : first + count + n - 1] for first in range(0, length - n + 1, count)]
                assert found.stretches(n, count) == [joiner.join(each) + joiner for each in plain]


@pytest.mark.parametrize(
    "output",
    [
        "abcx q q abcy d q",  # the second three tokens have more in common with the span, and are searched first
        "q q abcx abcy q q",  # it is the last of the three that are searched together
        "q q q q abcx",  # or the last of all
    ],
)
def test_of_equally_near_ngrams_the_first_is_found(output: str) -> None:
    found = nearest_by_levenshtein(span_of(["abcd"], " "), ngrams_of(output.split(), " ", " "))
    assert found and (found.string, found.distance) == ("abcx", 1)


@pytest.mark.sweep
@settings(max_examples=300)
@given(st.lists(TOKEN, max_size=5), st.lists(TOKEN, max_size=12), JOINER, st.booleans())
def test_published_agrees_with_the_oracle(span: list[str], output: list[str], joiner: str, glued: bool) -> None:
    prepared = span_of(span, joiner)
    if glued:  # the published code compares with the span's text, not with its joined tokens
        prepared = SpanTokens("".join(span), prepared.tokens, prepared.joined, prepared.unique)
    found = nearest_by_difflib(prepared, ngrams_of(output, joiner, joiner))
    expected = published_oracle(prepared.text, span, output, joiner)
    assert (found and (found.position, found.similarity)) == expected


@pytest.mark.sweep
@given(st.lists(st.sampled_from(["the", "of", "a"]), min_size=1, max_size=4), st.integers(40, 80))
@settings(max_examples=20, deadline=None)
def test_published_agrees_where_difflib_ignores_frequent_characters(span: list[str], times: int) -> None:
    long_span = span * times  # more than 200 characters: difflib's autojunk
    output = [*long_span[3:], "of", *long_span[:-1]]
    prepared = span_of(long_span, " ")
    found = nearest_by_difflib(prepared, ngrams_of(output, " ", " "))
    assert (found and (found.position, found.similarity)) == published_oracle(prepared.text, long_span, output, " ")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_real_spans_agree_with_the_oracles(wiki_dir: Path, lang: str) -> None:
    rng, joiner = random.Random(3), {"en": " ", "zh": ""}[lang]
    segment = load_segmenter(lang)
    spans = [
        s
        for line in (wiki_dir / f"answers_{lang}.jsonl").read_text("utf-8").splitlines()
        for s in json.loads(line)["answers"]
    ]
    for span in rng.sample(spans, 40):
        words = [token for other in [span, *rng.sample(spans, 3)] for token in segment(other).texts]
        output = joiner.join(word for word in words if rng.random() > 0.2)
        tokens, wanted = segment(output).texts, segment(span).texts
        found = match_span(span, output, lang=lang, protocol="paper")
        expected = paper_oracle(wanted, tokens, joiner)
        assert found.distance == (expected and expected[1])
        if expected:
            assert found.ngram == joiner.join(tokens[expected[0] : expected[0] + len(wanted)])
        spaced, spaced_span = segment(output, spaces=True).texts, segment(span, spaces=True).texts
        theirs = published_oracle(span, spaced_span, spaced, joiner)
        ours = match_span(span, output, lang=lang, protocol="vlmevalkit", segmenter="builtin")
        assert ours.as_dict()["similarity"] == (theirs[1] if theirs else 0)
        assert ours.ngram == (joiner.join(spaced[theirs[0] : theirs[0] + len(spaced_span)]) if theirs else "")


# span, output, n-gram, start, end, distance, exact, Jaccard
CASES = {
    "in the middle": ("is a town", "Paris is a town .", "is a town", 6, 15, 0, 1, 1.0),
    "punctuation is a token": ("big, red dog", "a big red dog", "a big red dog", 0, 13, 4, 0, 0.6),
    "punctuation glued": ("big dog", "(big dog)!", "big dog", 1, 8, 0, 1, 1.0),
    "case counts": ("the town", "The Town", "The Town", 0, 8, 2, 0, 0.0),
    "repeated tokens": ("the the cat", "the cat the the cat", "the the cat", 8, 19, 0, 1, 1.0),
    "tie goes to shared tokens": ("ab cd", "abx cdy ab xxcd", "ab xxcd", 8, 15, 2, 0, 1 / 3),
    "then to the earlier": ("ab cd", "ab ce ab cf", "ab ce", 0, 5, 1, 0, 1 / 3),
    "too short": ("one two three", "one two", "", -1, -1, None, 0, 0.0),
    "white space is no token": ("one two", "one \n\n  two", "one two", 0, 11, 0, 1, 1.0),
    "contraction": ("do n't", "don't", "do n't", 0, 5, 0, 1, 1.0),
    "combining marks are not composed": ("café bar", "cafe\u0301 bar", "cafe\u0301 bar", 0, 9, 2, 0, 1 / 3),
    "emoji": ("a 🎉 party", "what a 🎉 party", "a 🎉 party", 5, 14, 0, 1, 1.0),
    "zero-width space glues": ("one two", "one\u200btwo", "", -1, -1, None, 0, 0.0),
    "full-width letters are others": ("AB cd", "ＡＢ cd", "ＡＢ cd", 0, 5, 2, 0, 1 / 3),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_english_cases(case: tuple[str, str, str, int, int, int | None, int, float]) -> None:
    span, output, ngram, start, end, distance, exact, jaccard = case
    found = match_span(span, output, protocol="paper")
    assert (found.ngram, found.start, found.end, found.distance) == (ngram, start, end, distance)
    assert (found.scores[0], found.jaccard) == (exact, pytest.approx(jaccard))


CHINESE = {
    "no spaces": ("位于上海市", "他位于上海市中心", True, True),
    "with noise": ("位于上海市", "它在上海市", False, False),
    "full-width comma ends a word": ("位于上海市", "答案：位于上海市，谢谢", True, True),
    "line break": ("位于上海市", "一\n位于上海市\n二", True, True),
}


@pytest.mark.parametrize(("span", "output", "exact", "verbatim"), CHINESE.values(), ids=CHINESE.keys())
def test_chinese_cases(span: str, output: str, exact: bool, verbatim: bool) -> None:
    found = match_span(span, output, lang="zh", protocol="paper")
    assert (found.exact, found.verbatim) == (exact, verbatim)
    assert (found.as_dict()["character"] == 1.0) == verbatim


def test_lists_are_pairs() -> None:
    with pytest.raises(ScoreError, match="2 answers and 1 output "):
        match_spans(["a", "b"], ["a"])
    with pytest.raises(ScoreError, match="two lists"):
        match_spans("ab", ["a", "b"])


def test_wrong_options_are_sentences() -> None:
    with pytest.raises(ScoreError, match="Unknown protocol 'x'"):
        match_span("a", "b", protocol="x")
    with pytest.raises(PipelineError, match="Unknown language 'xx'"):
        match_span("a", "b", lang="xx")
    with pytest.raises(ScoreError, match="0 \\(all\\) or more"):
        match_span("a", "b", max_output_tokens=-1)


def test_tokens_after_the_limit_are_not_read() -> None:
    output = "word " * 600 + "the answer"
    assert not match_span("the answer", output).exact
    assert match_span("the answer", output, protocol="paper", max_output_tokens=0).exact
    # It is not known to be wrong: the rest of the output was not read.
    assert match_span("the answer", output).outcome == "beyond_limit"
    assert match_span("so sorry", "sorry " * 600).outcome == "refused"
    assert match_span("the answer", output, protocol="vlmevalkit").exact


def test_a_short_output_gains_nothing_in_characters() -> None:
    assert character_similarity("abcdefgh", "a") < 0.25
    assert character_similarity("abc", "xxabcxx") == 1.0
    assert character_similarity("abc", "") == 0.0


@given(st.text("ab c", min_size=1, max_size=8), st.text("ab c", max_size=20))
def test_scores_are_shares(span: str, output: str) -> None:
    for protocol in ("paper", "vlmevalkit"):
        assert all(0 <= value <= 1 for value in match_span(span, output, protocol=protocol).scores)


@given(st.lists(st.sampled_from(["red", "dogs", "run,", "don't", "U.S.", "(a)"]), min_size=1, max_size=5))
def test_the_span_itself_is_a_perfect_output(words: list[str]) -> None:
    span = " ".join(words)
    for protocol in ("paper", "vlmevalkit"):
        assert match_span(span, span, protocol=protocol).scores[:2] == (1.0, 1.0)


@pytest.mark.parametrize("character", [" ", "\t", "\n", "'", "<", "[", "*", "`", "\u200b", "◁", "…"])
def test_a_long_run_of_one_character_is_read_in_linear_time(character: str) -> None:
    """A run of spaces took minutes, one of quotes a second: nobody waits for this test if it does not."""
    assert match_span("a b c d e", character * 100_000).exact is False
