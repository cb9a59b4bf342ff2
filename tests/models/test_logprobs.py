"""Checks of log-probabilities, whoever computed them."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.models.base import RequestProblem
from vcrgen.models.logprobs import (
    LOWEST,
    candidate_start,
    require_different_logprobs,
    split_at_line_ends,
    validate_tokens,
)


def spelt(*tokens: str) -> list[tuple[str, float]]:
    return [(token, -1.0) for token in tokens]


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["it", " was", "\n", "the", " caf", "é"], "it was\nthe café"),
        (["it", "was"], "it was"),  # a tokenizer that keeps the spaces elsewhere
        ([" it", " was.", "\n"], "it was.\n"),
        (["it was.\n", "the"], "it was.\nthe"),
        (["caf", "\ufffd", "\ufffd"], "café"),  # each holds a part of the letter
        (["\ufffd", "\ufffd", "\ufffd", "的", "\ufffd"], "猫的狗"),
        (["\ufffd"], "é"),
        (["a\ufffdc", "a\ufffd"], "abcab"),
    ],
)
def test_tokens_that_spell_a_text(tokens: list[str], text: str) -> None:
    assert [token for token, _ in validate_tokens(spelt(*tokens), text)] == tokens


@pytest.mark.parametrize(
    ("tokens", "text", "reason"),
    [
        (["it", " is"], "it was", "other_text"),
        (["it"], "it was", "other_text"),
        (["it", " was", " it"], "it was", "other_text"),
        ([], "it", "other_text"),
        (["It"], "it", "other_text"),
        (["it", " was"], "it\nwas", "other_text"),
        (["caf", "\ufffd", "s"], "café", "other_text"),
        (["\ufffd", "x", "\ufffd"], "abc", "other_text"),
        (["ab", "\ufffd", "ab"], "ab", "other_text"),
        (["it", "\nwas"], "it\nwas", "token_boundary"),
        (["it", ".\nwas"], "it.\nwas", "token_boundary"),
    ],
)
def test_tokens_that_do_not(tokens: list[str], text: str, reason: str) -> None:
    with pytest.raises(RequestProblem) as problem:
        validate_tokens(spelt(*tokens), text)
    assert problem.value.reason == reason


@pytest.mark.parametrize("value", [math.nan, 0.5, math.inf, True, None, "-1", [-1.0], 10**400])
def test_figures_that_are_no_log_probabilities(value: Any) -> None:
    with pytest.raises(RequestProblem, match="not logarithms of probabilities"):
        validate_tokens([("it", value)], "it")


@pytest.mark.parametrize(
    ("value", "kept"), [(-math.inf, LOWEST), (-(10**400), LOWEST), (1e-5, 0.0), (-2, -2.0), (0, 0.0)]
)
def test_figures_that_are(value: float, kept: float) -> None:
    assert validate_tokens([("it", value)], "it") == (("it", kept),)


@given(st.lists(st.text(), max_size=8), st.text(max_size=20))
def test_any_tokens_are_a_result_or_a_problem(tokens: list[str], text: str) -> None:
    try:
        assert len(validate_tokens(spelt(*tokens), text)) == len(tokens)
    except RequestProblem as problem:
        assert problem.reason in ("other_text", "token_boundary")


@given(st.lists(st.text("ab ", min_size=1).filter(str.strip), min_size=1, max_size=4), st.data())
def test_a_token_belongs_to_the_line_that_it_stands_in(lines: list[str], data: Any) -> None:
    tokens = []
    for number, line in enumerate(lines):
        if number:
            tokens.append("\n")
        cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(line) - 1)), max_size=3)))
        tokens += [
            line[start:end] for start, end in zip([0, *cuts], [*cuts, len(line)], strict=True) if line[start:end]
        ]
    found = split_at_line_ends(validate_tokens(spelt(*tokens), "\n".join(lines)))
    assert ["".join(token for token, _ in line) for line in found] == lines


def test_a_token_with_the_end_of_a_line_belongs_to_the_line() -> None:
    assert split_at_line_ends((("it.\n", -1.0), ("was", -2.0))) == ((("it.\n", -1.0),), (("was", -2.0),))
    assert split_at_line_ends((("it", -1.0), ("\n", -9.0), ("was", -2.0))) == ((("it", -1.0),), (("was", -2.0),))


def test_where_a_candidate_begins() -> None:
    assert candidate_start([1, 2], [1, 2, 3]) == 2
    for whole, reason in (([1, 2], "no_tokens"), ([1, 9, 3], "token_boundary"), ([1], "token_boundary")):
        with pytest.raises(RequestProblem) as problem:
            candidate_start([1, 2], whole)
        assert problem.value.reason == reason


def test_one_figure_for_everything_is_no_measurement() -> None:
    require_different_logprobs((("it", -1.0), (" was", -1.5)), (("qzx", -1.0), ("jv", -9.0)))
    for absurd in (spelt("x", "y", "z"), spelt("x")):
        with pytest.raises(RequestProblem, match="an absurd answer gets the same log-probability"):
            require_different_logprobs(tuple(spelt("it", " was")), tuple(absurd))
