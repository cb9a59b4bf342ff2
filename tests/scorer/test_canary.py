"""Replies to the prompts for a canary: how many repeat it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.data.canary import LINE

DIGITS = "00112233445566778899aabbccddeeff"
FIRST = f"no {DIGITS[:16]}"  # what the prompt `half` shows


@pytest.fixture
def public(hidden: Callable[..., Path]) -> Path:
    folder = hidden()
    (folder / "manifest.json").write_text(json.dumps({"canary": LINE + DIGITS}), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("replies", "repeated", "sentence"),
    [
        ({}, [], "m: none of 5 replies repeats the canary, which is no proof that"),
        ({"line": FIRST}, ["line"], "m: 1 of 5 replies repeats digits of the canary that were not shown"),
        ({"half": FIRST}, [], "m: none of 5 replies repeats the canary"),
        ({"half": DIGITS, "row": FIRST}, ["half", "row"], "m: 2 of 5 replies repeat digits of the canary"),
        ({"question": None, "readme": FIRST}, ["readme"], "m: 1 of 4 replies repeats digits of the canary"),
    ],
)
def test_replies_that_repeat_it(
    run: Any, write_lines: Any, public: Path, replies: dict[str, str | None], repeated: list[str], sentence: str
) -> None:
    outputs = dict.fromkeys(("line", "half", "readme", "row", "question"), "I do not know.") | replies
    lines = [{"question_id": way, "output": text, "model": "m"} for way, text in outputs.items()]
    words = ["score", write_lines("canary.jsonl", lines), "--data", public]
    code, out, err = run(*words)
    assert code == 0 and sentence in " ".join(out.split()), (out, err)
    value = json.loads(run(*words, "--format", "json")[1])
    assert value["schema"] == "vcrgen-canary-1"
    (found,) = value["runs"]
    assert [way for way, each in found["repeated"].items() if each] == repeated
    assert not list(public.parent.glob("*.scores.json"))  # as nothing was scored


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ([{"question_id": "a", "output": "x"}], [], "is the public part of a hidden test set, which has no answers"),
        (
            [{"question_id": "line", "output": "x"}],
            ["--compare"],
            "These are replies about a canary, which have no spans",
        ),
        ([{"question_id": "line", "output": "x"}], ["--spans", "s.jsonl"], "leave --compare, --spans, --details out"),
    ],
)
def test_what_is_refused(
    run: Any, write_lines: Any, public: Path, rows: list[dict[str, str]], more: list[str], message: str
) -> None:
    code, out, err = run("score", write_lines("canary.jsonl", rows), "--data", public, *more)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
