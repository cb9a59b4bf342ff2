"""Scores by likelihood: worked by hand, against a slow oracle, ties, and figures that are none."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.scorer.mcq.likelihood import (
    NO_TOKENS,
    NOT_LOGARITHMS,
    NOT_THE_OPTIONS,
    likeliest,
    likelihood_scores,
    parse_label_logprobs,
    parse_logprobs,
    same_counts,
    softmax,
)

TEXTS = ("a cat", "dog", "a horse", "بقرة")
# Sums -4, -3, -6, -5; tokens 4, 1, 3, 5; bytes 5, 3, 7, 8; characters 5, 3, 7, 4.
LOGPROBS = ((-1.0,) * 4, (-3.0,), (-2.0,) * 3, (-1.0,) * 5)
BLIND = ((-2.0,) * 4, (-3.5,), (-3.0,) * 3, (-1.0,) * 5)


def test_each_normalisation_worked_by_hand() -> None:
    # Means -1, -3, -2, -1: options 0 and 3 tie. A byte -0.8, -1, -0.857, -0.625; a character -0.8, -1, -0.857, -1.25.
    found = {
        answer: likelihood_scores(LOGPROBS, answer=answer, texts=TEXTS, text_only=BLIND).scores for answer in range(4)
    }
    right = {name: [answer for answer in range(4) if found[answer][name] == 1.0] for name in found[0]}
    assert right == {
        "lbs": [],
        "lbs_sum": [1],
        "lbs_byte": [3],
        "lbs_char": [0],
        "lbs_pmi": [0],
        "confidence": [],
        "brier": [],
    }
    assert likelihood_scores(LOGPROBS, answer=0, texts=TEXTS).tied
    total = 2 * math.exp(-1) + math.exp(-2) + math.exp(-3)
    shares = [math.exp(mean) / total for mean in (-1, -3, -2, -1)]
    assert found[0]["confidence"] == pytest.approx(shares[0], abs=1e-15)
    assert found[1]["brier"] == pytest.approx((1 - shares[1]) ** 2 + shares[0] ** 2 * 2 + shares[2] ** 2, abs=1e-15)


FIGURES = st.floats(-50, 0, allow_nan=False)
OPTION = st.lists(FIGURES, min_size=1, max_size=20)


@settings(max_examples=200, deadline=None)
@given(st.lists(OPTION, min_size=4, max_size=4), st.integers(0, 3))
def test_against_an_obvious_oracle(logprobs: list[list[float]], answer: int) -> None:
    scores, tied = likelihood_scores(logprobs, answer=answer, texts=TEXTS)
    means = [math.fsum(tokens) / len(tokens) for tokens in logprobs]
    alone = all(means[answer] > other for number, other in enumerate(means) if number != answer)
    assert scores["lbs"] == alone and tied == (sorted(means)[-1] == sorted(means)[-2])
    shares = [math.exp(mean) for mean in means]
    shares = [share / sum(shares) for share in shares]
    assert scores["confidence"] == pytest.approx(max(shares), rel=1e-9)
    assert scores["brier"] == pytest.approx(
        sum((share - (n == answer)) ** 2 for n, share in enumerate(shares)), rel=1e-9, abs=1e-12
    )
    assert scores["confidence"] + 1e-12 >= 0.25 and 0 <= scores["brier"] <= 2


def test_a_likelihood_of_nothing_but_zeros_ties() -> None:
    found = likelihood_scores(((0.0,), (0.0, 0.0), (0.0,), (0.0,)), answer=0, texts=TEXTS)
    assert found.tied and found.scores["lbs"] == found.scores["lbs_sum"] == 0.0 and found.scores["confidence"] == 0.25


def test_softmax_of_far_apart_values_is_finite() -> None:
    assert softmax([-1e9, -2e9, 0.0, -3e9]) == [0.0, 0.0, 1.0, 0.0]
    assert likeliest([-math.inf, -1.0, -math.inf, -2.0]) == 1


GOOD = [[-0.5], [-1, -2.5], [-9999.0], [0.0]]


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("[[-1],[-1],[-1]]", NOT_THE_OPTIONS),
        ("[[-1],[-1],[-1],[-1],[-1]]", NOT_THE_OPTIONS),
        ('{"0": [-1]}', NOT_THE_OPTIONS),
        ("null", NOT_THE_OPTIONS),
        ("[[-1],[-1],[-1],[]]", NO_TOKENS),
        ("[[-1],[-1],[-1],-1]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[NaN]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[-2, NaN]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[-2, NaN, 1]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[0.5]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[-Infinity]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[Infinity]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[-1e400]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[-1" + "0" * 400 + "]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[1" + "0" * 400 + "]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[true]]", NOT_LOGARITHMS),
        ('[[-1],[-1],[-1],["-1"]]', NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[null]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[[-1]]]", NOT_LOGARITHMS),
        ("[[-1],[-1],[-1],[" + "-1," * 5000 + "-1]]", NOT_LOGARITHMS),
    ],
)
def test_figures_that_are_no_likelihoods_are_named(written: str, problem: str) -> None:
    assert parse_logprobs(json.loads(written), 4) == problem


def test_good_figures_come_back() -> None:
    assert parse_logprobs(GOOD, 4) == ((-0.5,), (-1, -2.5), (-9999.0,), (0.0,))
    assert parse_logprobs([[-0.5], [-1], [0.0004], [0]], 4) == ((-0.5,), (-1,), (0.0,), (0,))  # rounded figures


@pytest.mark.parametrize(
    ("given_letters", "found"),
    [
        ([-0.1, -2, -3.5, -9999.0], (-0.1, -2, -3.5, -9999.0)),
        ([None, -0.2, None, None], (-math.inf, -0.2, -math.inf, -math.inf)),
        ([None] * 4, NOT_LOGARITHMS),
        ([-1, -1, -1], NOT_THE_OPTIONS),
        ([-1] * 5, NOT_THE_OPTIONS),
        ([-1, -1, -1, math.nan], NOT_LOGARITHMS),
        ([-1, -1, -1, 2], NOT_LOGARITHMS),
        ([-1, -1, -1, "A"], NOT_LOGARITHMS),
        ("ABCD", NOT_THE_OPTIONS),
    ],
)
def test_letters(given_letters: object, found: object) -> None:
    assert parse_label_logprobs(given_letters, 4) == found


def test_counts_of_tokens_are_the_same_in_each_reading() -> None:
    assert same_counts([]) and same_counts([GOOD]) and same_counts([GOOD, [[-3], [-1, -1], [0], [0]]])
    assert not same_counts([GOOD, GOOD, [[-3], [-1], [0], [0]]])
