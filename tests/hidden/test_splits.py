"""The feedback part: as large as asked for, like the final part, and foreseen by nobody who lacks the secret."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.data.key import FEEDBACK, FINAL
from vcrgen.hidden import HiddenResult, verify
from vcrgen.hidden.secret import Secret
from vcrgen.hidden.splits import draw_splits

Make = Callable[..., HiddenResult]
Answers = Callable[[Path], list[dict[str, Any]]]


def items(count: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [
        {
            "strip": ("above", "below")[number % 2],
            "font": f"font {number % 6}",
            "spans": [{"cover": rng.choice(("easy", "hard"))} for _ in range(rng.randint(1, 4))],
        }
        for number in range(count)
    ]


@pytest.mark.parametrize(("count", "feedback"), [(1, 0), (1, 1), (6, 2), (40, 13), (40, 0), (90, 30), (7, 7)])
def test_as_many_as_asked_for(count: int, feedback: int) -> None:
    parts = draw_splits(Secret(b"s" * 16), 0, items(count), feedback)
    assert Counter(parts) == Counter({FEEDBACK: feedback, FINAL: count - feedback}) + Counter()
    assert parts == draw_splits(Secret(b"s" * 16), 0, items(count), feedback)


@pytest.mark.parametrize("seed", range(3))
def test_both_parts_are_alike(seed: int) -> None:
    """In sets of 48 pictures a third of the spans of each mode, the fonts and the places."""
    answers = items(48, seed)
    parts = draw_splits(Secret(b"s" * 16), seed, answers, 16)
    inside = [answer for answer, part in zip(answers, parts, strict=True) if part == FEEDBACK]
    for mode in ("easy", "hard"):
        shares = [
            sum(span["cover"] == mode for answer in some for span in answer["spans"]) for some in (inside, answers)
        ]
        assert abs(shares[0] - shares[1] / 3) <= 2
    assert Counter(answer["strip"] for answer in inside) == {"above": 8, "below": 8}
    assert all(1 <= count <= 5 for count in Counter(answer["font"] for answer in inside).values())


def test_the_draw_is_secret_and_of_its_form() -> None:
    answers = items(60)
    drawn = {tuple(draw_splits(Secret(key), form, answers, 20)) for key in (b"1" * 16, b"2" * 16) for form in (0, 1)}
    assert len(drawn) == 4


def test_the_parts_change_nothing_that_is_public(make: Make, answers: Answers, finished: Path, tmp_path: Path) -> None:
    make(tmp_path / "out", feedback=0)
    assert {answer["part"] for answer in answers(tmp_path / "out")} == {FINAL}
    assert not [check for check in verify(tmp_path / "out") if check.ok is False]
    for name in ("metadata.jsonl", *(f"stacked_image/{a['question_id']}.png" for a in answers(finished))):
        assert (tmp_path / "out/public" / name).read_bytes() == (finished / "public" / name).read_bytes()
