"""The canary of a hidden set, the five questions for it, and what counts as its coming back."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from vcrgen.core.errors import DatasetError
from vcrgen.data.canary import DIGITS, LINE, MIN_DIGITS, canary_questions, read_canary, repeats_canary
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.hidden.public import PAIR_FORMAT

DIGIT = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"


def test_five_questions_begin_files_of_the_set_and_show_at_most_half() -> None:
    questions = {question.way: question for question in canary_questions(DIGIT)}
    assert list(questions) == ["line", "half", "readme", "row", "question"]
    row = json.dumps(
        PAIR_FORMAT.question_row({"question_id": "0" * 32}, {"language": "en", "canary": LINE + DIGIT}),
        sort_keys=True,
        separators=(",", ":"),
    )
    assert row.startswith(questions["row"].text.splitlines()[-1])
    manifest = {"language": "en", "items": 1, "canary": LINE + DIGIT, "commitment": "0" * 64, "pictures": "compared"}
    assert questions["readme"].text in PAIR_FORMAT.readme(manifest)
    for question in questions.values():
        assert question.text.count(DIGIT[:16]) == (question.way == "half") and DIGIT[16:20] not in question.text
        assert question.shown == (16 if question.way == "half" else 0)
        assert not repeats_canary(question.text, DIGIT, question.shown)  # an echo proves nothing


@pytest.mark.parametrize(
    ("reply", "shown", "back"),
    [
        (DIGIT, 0, True),
        (f"It is {DIGIT.upper()}.", 0, True),
        (" ".join(DIGIT), 0, True),
        (DIGIT[:MIN_DIGITS], 0, True),
        (DIGIT[: MIN_DIGITS - 1], 0, False),
        (DIGIT[:16], 16, False),
        (DIGIT[16:], 16, True),
        (DIGIT[8:24], 16, False),
        ("", 0, False),
        ("I cannot share it. " + "0" * 400, 0, False),
    ],
)
def test_what_comes_back(reply: str, shown: int, back: bool) -> None:
    assert repeats_canary(reply, DIGIT, shown) is back


def test_it_is_read_from_the_public_part(hidden: Callable[..., Path]) -> None:
    public = hidden()
    (public / "manifest.json").write_text(json.dumps({"canary": LINE + DIGIT}), "utf-8")
    assert read_canary(open_dataset(public, VCR)) == DIGIT and len(DIGIT) == DIGITS


@pytest.mark.parametrize(
    "text",
    ["{}", "", "[", "[]", '{"canary": 1}', '{"canary": "x"}', "[" * 10_000, json.dumps({"canary": LINE + "g" * 32})],
)
def test_a_part_without_a_canary(hidden: Callable[..., Path], text: str) -> None:
    public = hidden()
    (public / "manifest.json").write_text(text, "utf-8")
    with pytest.raises(DatasetError, match="has no canary: only the public part of a hidden test set has one"):
        read_canary(open_dataset(public, VCR))
