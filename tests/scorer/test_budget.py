"""A list of guesses does not win: of an answer only as many tokens are searched as the length budget gives."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen import score
from vcrgen.scorer.protocols import VCRGEN
from vcrgen.scorer.scorer import make_scorer

IMAGES, SPANS, WORDS = 40, 3, 5
Write = Callable[[str, Sequence[Any]], Path]


def guess(image: int, span: int, number: int) -> str:
    return " ".join(f"{letter}{image}x{span}y{number}" for letter in "abcde"[:WORDS])


@pytest.fixture
def key(write_lines: Write) -> Path:
    rows = [
        {"question_id": f"q{image}", "answers": [guess(image, s, 0) for s in range(SPANS)]} for image in range(IMAGES)
    ]
    return write_lines("key.jsonl", [{**row, "language": "en"} for row in rows])


def list_of_guesses(count: int) -> list[str]:
    """Of each span so many guesses, the right one at a random place; first one of each span, then the next ones."""
    rng, outputs = random.Random(7), []
    for image in range(IMAGES):
        orders = [rng.sample(range(count), count) for _ in range(SPANS)]
        outputs.append("\n".join(guess(image, s, orders[s][turn]) for turn in range(count) for s in range(SPANS)))
    return outputs


def honest() -> list[str]:
    """Everything right in seven of eight pictures, in a numbered list behind a first sentence."""
    return [
        "The covered texts in the image are:\n"
        + "\n".join(f'{s + 1}. "{guess(image, s, 0 if image % 8 else 1)}"' for s in range(SPANS))
        for image in range(IMAGES)
    ]


def exact(write_lines: Write, key: Path, outputs: Sequence[str], **options: Any) -> float:
    rows = [{"question_id": f"q{image}", "view": "stacked", "output": text} for image, text in enumerate(outputs)]
    return score(write_lines("o.jsonl", rows), data=key, **options).cell().metrics["exact"].value


def test_sixteen_guesses_for_each_span_lose(write_lines: Write, key: Path) -> None:
    listed, right = list_of_guesses(16), honest()
    assert exact(write_lines, key, listed, protocol="paper") == 1.0  # the attack is one
    assert exact(write_lines, key, right) == exact(write_lines, key, right, protocol="paper") == 7 / 8
    assert exact(write_lines, key, listed) < 0.4
    assert exact(write_lines, key, listed, max_output_tokens=0) < 0.4  # no option takes the budget away


@given(st.lists(st.integers(1, 8), min_size=1, max_size=12), st.sampled_from(["{}", "{n}. {}", '- "{}"']))
def test_a_list_of_the_answers_fits(lengths: list[int], form: str) -> None:
    answers = [" ".join(f"w{at}x{word}" for word in range(length)) for at, length in enumerate(lengths)]
    output = "\n".join(form.format(answer, n=n) for n, answer in enumerate(answers, start=1))
    scored = make_scorer("en")(answers, output)
    budget = VCRGEN.budget
    assert budget is not None
    beyond = len(make_scorer("en").segmenter(output).texts) > budget.tokens(sum(lengths))
    assert scored.over_tokens == beyond
    assert beyond or all(match.exact for match in scored.matches)


@pytest.mark.parametrize(("words", "exact_match"), [(22, True), (23, False)])
def test_the_budget_is_of_tokens_that_are_masked(words: int, exact_match: bool) -> None:
    (match,) = make_scorer("en")(["the answer"], "word " * words + "the answer").matches
    assert match.exact == exact_match and match.outcome == ("exact" if exact_match else "beyond_limit")


def test_thinking_takes_nothing_of_the_budget() -> None:
    output = "<think>" + "word " * 400 + "</think>the answer"
    assert make_scorer("en")(["the answer"], output).matches[0].exact


def test_the_signature_says_it_and_published_protocols_have_none() -> None:
    assert make_scorer("en").facts["budget"] == "2x+20" and make_scorer("en").protocol.name == "vcrgen-v1"
    for protocol, name in (("paper", "paper-v2"), ("vlmevalkit", "vlmevalkit-v2"), ("lmms-eval", "lmms-eval-v2")):
        scorer = make_scorer("en", protocol=protocol)
        assert "budget" not in scorer.facts and scorer.protocol.name == name
