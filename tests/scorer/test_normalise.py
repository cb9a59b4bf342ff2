"""Normalisation of answers and outputs: only where it is asked for, and then of both."""

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core.errors import ScoreError
from vcrgen.scorer.clean import Cleaned, clean
from vcrgen.scorer.normalise import NORMALISERS, normalised
from vcrgen.scorer.run import score
from vcrgen.scorer.scorer import make_scorer

ARABIC = [
    ("\u0643\u062a\u0627\u0628", "\u0643\u062a\u0640\u0640\u0627\u0628"),  # a tatweel
    ("\u0623\u062d\u0645\u062f", "\u0627\u062d\u0645\u062f"),  # an alef with a hamza, and without
    ("\u0622\u0644\u0629", "\u0671\u0644\u0629"),
    ("\u0644\u0627", "\ufefb"),  # the ligature of lam and alef
    ("\u0627\u0654", "\u0627"),  # a hamza as a mark of its own
]


@pytest.mark.parametrize(("one", "other"), ARABIC)
def test_arabic_letters_that_are_the_same(one: str, other: str) -> None:
    assert NORMALISERS["arabic"](one) == NORMALISERS["arabic"](other)


FULL_WIDTH = "\uff36\uff23\uff32"


@pytest.mark.parametrize(
    ("one", "other"), [("VCR 2", "\uff36\uff23\uff32\u30002"), ("fine", "\ufb01ne"), ("é", "e\u0301")]
)
def test_letters_that_are_the_same(one: str, other: str) -> None:
    assert normalised(Cleaned(other), "nfkc", limit=99).text == one


def text_of(output: str, name: str = "nfkc") -> Cleaned:
    return normalised(clean(output, strip_thinking=True, cut_prefix=False), name, limit=100_000)


@given(st.text(max_size=50))
def test_of_any_text(text: str) -> None:
    """The normal form is that of the standard, but where clusters meet; it is stable, and knows where it was."""
    found = normalised(Cleaned(text), "nfkc", limit=1000)
    assert unicodedata.normalize("NFKC", found.text) == unicodedata.normalize("NFKC", text)
    places = [found.origin(number) for number in range(len(found.text))]
    assert places == sorted(places) and all(0 <= place < len(text) for place in places)
    assert normalised(Cleaned(text), "none", limit=1000) == Cleaned(text)


def test_places_are_those_of_the_output() -> None:
    found = text_of("<think>x</think>a\ufb01\uff36 b")
    assert found.text == "afiV b" and [found.origin(n) for n in range(6)] == [16, 17, 17, 18, 19, 20]


def test_marks_without_end_are_put_in_order_a_few_at_a_time() -> None:
    """To put all of them in order would take quadratic time: 100,000 of them are an attack."""
    found = text_of("a" + "\u0301\u0323" * 50_000).text
    assert found.startswith("\u1ea1\u0323") and len(found) == 99_999  # cut to 100,000, of which one pair is one letter
    assert {"\u0301", "\u0323"} <= set(found[:300])  # those of the first piece, and of the next


def test_an_output_does_not_grow() -> None:
    assert len(normalised(Cleaned("\ufdfa" * 1000), "nfkc", limit=1000).text) == 1000


@pytest.mark.parametrize(("name", "right"), [("none", 0.0), ("nfkc", 1.0)])
def test_answers_and_outputs_are_both_normalised(
    name: str, right: float, write_lines: Callable[[str, Any], Path]
) -> None:
    key = write_lines("key.jsonl", [{"question_id": "a", "crossed_text": ["the \ufb01ne VCR"]}])
    file = write_lines("preds.jsonl", [{"question_id": "a", "view": "stacked", "output": f"so the fine {FULL_WIDTH}."}])
    result = score(file, data=key, normalise=name)
    assert result.cells[0].metrics["exact"].value == right
    assert result.signature.facts["norm"] == name


def test_evidence_has_the_answer_and_the_output_as_they_are() -> None:
    output = f"so the fine {FULL_WIDTH}."
    (match,) = make_scorer("en", normalise="nfkc")(["the \ufb01ne VCR"], output).matches
    assert match.exact and match.answer == "the \ufb01ne VCR"
    assert output[match.start : match.end] == f"the fine {FULL_WIDTH}"


def test_another_name_is_refused(write_lines: Callable[[str, Any], Path], perfect: Path, key: Path) -> None:
    with pytest.raises(ScoreError, match="Unknown normalisation 'NFC'; known: none, nfkc, arabic"):
        score(perfect, data=key, view="stacked", normalise="NFC")
