"""Answers that an output lists are compared one by one; a list of guesses does not win."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen import score
from vcrgen.core.errors import PredictionError
from vcrgen.scorer.listed import list_answers
from vcrgen.scorer.reader import read_output
from vcrgen.scorer.scorer import make_scorer

FIRST, SECOND = "red dog runs over the", "big cat and small bird"
WORDS = [f"w{number}" for number in range(40)]


def listed(output: str, count: int) -> list[str]:
    found = list_answers(read_output(output), count)
    return [found.text.text[start:end].strip() for start, end in found.places]


@pytest.mark.parametrize(
    "output",
    [
        f"{FIRST}\n{SECOND}",
        f"1. {FIRST}\n2. {SECOND}",
        f"(1) {FIRST}\n(2) {SECOND}\n\nBoth are certain.",
        f"① {FIRST}\n② {SECOND}",
        f"The covered texts are:\n- {FIRST}\n- {SECOND}\nI hope it helps.",
        f"The covered texts are: {FIRST}, {SECOND}",
        f"{FIRST}; {SECOND}",
        f"{FIRST} / {SECOND}",
        f"Span 1: {FIRST}\nSpan 2: {SECOND}",
        f'It says "{FIRST}" and "{SECOND}" there.',
        f"It says 「{FIRST}」 and 「{SECOND}」 there.",
        json.dumps([FIRST, SECOND]),
    ],
)
def test_forms_of_a_list(output: str) -> None:
    assert listed(output, 2) == [FIRST, SECOND]
    matches = make_scorer("en")([FIRST, SECOND], output).matches
    assert [match.exact for match in matches] == [True, True]
    assert [" ".join(output[match.start : match.end].split()) for match in matches] == [FIRST, SECOND]
    wrong_order = make_scorer("en")([SECOND, FIRST], output).matches
    assert not any(match.exact for match in wrong_order)


@pytest.mark.parametrize("output", [FIRST, f"{FIRST} {SECOND}", f"{FIRST}\n{SECOND}\nanother guess of it", ""])
def test_what_lists_no_answer_for_each_span_is_searched(output: str) -> None:
    assert listed(output, 2) == [] or not output


def test_one_line_is_searched_for_one_span_and_compared_behind_a_colon() -> None:
    score = make_scorer("en")
    assert score([FIRST], f"so {FIRST} grass").matches[0].exact
    assert score([FIRST], f"The text is: {FIRST}").matches[0].exact
    assert score([FIRST], f"The text is: {FIRST}.").matches[0].exact
    assert score([FIRST], f"The text is: so {FIRST}").matches[0].outcome == "wrong"  # compared as a whole


@pytest.mark.parametrize(("before", "outcome"), [(4, "exact"), (5, "beyond_limit")])
def test_a_text_is_read_within_the_budget_of_one_guess(before: int, outcome: str) -> None:
    scored = make_scorer("en")([FIRST], f"{'so ' * before}{FIRST}")
    assert scored.matches[0].outcome == outcome and scored.over_tokens == (outcome != "exact")
    marks = make_scorer("en")([FIRST], f"{'so, ! ' * before}{FIRST}")  # marks are not counted
    assert marks.matches[0].outcome == outcome


def test_the_budget_has_more_room_once_for_the_whole_output() -> None:
    score = make_scorer("en")
    text = f"so so so so {FIRST} {SECOND}"
    assert all(match.exact for match in score([FIRST, SECOND], text).matches)
    assert score([FIRST, SECOND], f"so {text}").matches[1].outcome == "beyond_limit"
    assert score.facts["budget"] == "x+min-1"
    assert all("budget" not in make_scorer("en", protocol=name).facts for name in ("paper", "vlmevalkit", "lmms-eval"))


@given(
    st.lists(st.integers(1, 8), min_size=1, max_size=6), st.sampled_from(["{}", "{n}. {}", '- "{}"', "({n}) **{}**"])
)
def test_a_list_of_the_answers_fits(lengths: list[int], form: str) -> None:
    answers = [" ".join(f"w{at}x{word}" for word in range(length)) for at, length in enumerate(lengths)]
    output = "\n".join(form.format(answer, n=n) for n, answer in enumerate(answers, start=1))
    assert all(match.exact for match in make_scorer("en")(answers, output).matches)


FORMS = {
    "lines": lambda rounds: "\n".join(text for texts in rounds for text in texts),
    "span by span": lambda rounds: "\n".join(text for texts in zip(*rounds, strict=True) for text in texts),
    "commas in lines": lambda rounds: "\n".join(map(", ".join, zip(*rounds, strict=True))),
    "numbered": lambda rounds: "\n".join(
        f"{n}. {' / '.join(texts)}" for n, texts in enumerate(zip(*rounds, strict=True))
    ),
    "spaces": lambda rounds: "\n".join(map(" ".join, zip(*rounds, strict=True))),
    "quoted": lambda rounds: " ".join(f'"{text}"' for texts in rounds for text in texts),
    "JSON": lambda rounds: json.dumps([text for texts in rounds for text in texts]),
    "JSON of lists": lambda rounds: json.dumps(list(zip(*rounds, strict=True))),
    "lead-ins": lambda rounds: "\n".join(f"They are: {', '.join(texts)}" for texts in rounds),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("skill", [0.6, 0.9])
def test_a_list_of_guesses_gains_nothing(form: str, skill: float) -> None:
    """Paired by the first guess: 300 images of two spans; the docs have the table of `measure_guesses.py`."""
    rng, score = random.Random(f"{form} {skill}"), make_scorer("en")
    gains = 0
    for _ in range(300):
        spans = [" ".join(rng.sample(WORDS, 5)) for _ in range(2)]
        rounds = [[_guess(span, skill, rng) for span in spans] for _ in range(4)]
        gains += _exact(score, spans, FORMS[form](rounds)) - _exact(score, spans, "\n".join(rounds[0]))
    assert gains <= 0.01 * 600 + 3  # a point, and what a few lucky spans make of it


def _guess(span: str, skill: float, rng: random.Random) -> str:
    return " ".join(word if rng.random() < skill else rng.choice(WORDS) for word in span.split())


def _exact(score: object, spans: Sequence[str], output: str) -> int:
    return sum(match.exact for match in score(spans, output).matches)  # type: ignore[operator]


def test_a_line_of_a_file_may_hold_its_answers_as_a_list(tmp_path: Path) -> None:
    key, outputs = tmp_path / "key.jsonl", tmp_path / "outputs.jsonl"
    key.write_text(json.dumps({"question_id": "q", "answers": [FIRST, SECOND], "language": "en"}))
    line = {"question_id": "q", "view": "stacked"}
    for answers, share in (
        ([FIRST, SECOND], 1),
        ([FIRST, "x"], 0.5),
        ([FIRST], 0.5),
        ([FIRST, "a b c d e", SECOND], 0.5),
    ):
        outputs.write_text(json.dumps(line | {"answers": answers}))
        assert score(outputs, data=key).cell().metrics["exact"].value == share
    for wrong in ("red dog", [1], {"a": "b"}):
        outputs.write_text(json.dumps(line | {"answers": wrong}))
        with pytest.raises(PredictionError, match="it has to be a list of texts"):
            score(outputs, data=key)
