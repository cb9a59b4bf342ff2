"""Open answers: outputs of a model that saw no options, matched to their texts."""

import json
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bloom.conftest import made_set, row
from vcrgen.scorer import score
from vcrgen.scorer.mcq.choices import OPEN, ReadingKind, read_choice
from vcrgen.scorer.mcq.open_answers import match_open, normalised_words

BOATS = ("a red boat", "a boat", "two cars", "a bus")
ARABIC = ("القارب الأحمر", "ثلاثة قوارب", "حافلة", "لا شيء")


@pytest.mark.parametrize(
    ("output", "options", "found"),
    [
        ("A red boat.", BOATS, [0]),
        ("It's a RED boat, I think", BOATS, [0]),
        ("boat", BOATS, [1]),
        ("the boat is red", BOATS, [1]),
        ("a red boat and a boat", BOATS, [0, 1]),  # the second one stands alone, too
        ("2 cars", BOATS, [2]),
        ("Two  cars", BOATS, [2]),
        ("two red cars", BOATS, []),
        ("autobus", BOATS, []),
        ("either a bus or two cars", BOATS, [2, 3]),
        ("قاربٌ أحمر", ARABIC, [0]),
        ("٣ قوارب", ARABIC, [1]),
        ("الحافلة", ARABIC, [2]),
        ("ثلاثه قوارب وحافلة", ARABIC, [1]),
        ("7", ("7", "17", "70", "1"), [0]),
        ("07", ("7", "17", "70", "1"), [0]),
        ("", BOATS, []),
        ("...", ("...", "a", "b", "c"), []),
    ],
)
def test_an_option_matches_where_its_words_stand_together(
    output: str, options: tuple[str, ...], found: list[int]
) -> None:
    assert match_open(output, options) == found


@given(st.lists(st.text(string.ascii_lowercase + "  .", min_size=1), min_size=4, max_size=4, unique=True), st.data())
def test_an_option_itself_is_found_wherever_it_stands(options: list[str], data: Any) -> None:
    """Unless it has no words, or those of another option."""
    words = [normalised_words(option) for option in options]
    number = data.draw(st.integers(0, 3))
    if words[number] and words.count(words[number]) == 1:
        assert number in match_open(f"Zz: {options[number].upper()}!", options)


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("<think>a bus?</think> two cars", ReadingKind.CHOSEN),
        ("a bus or two cars", ReadingKind.AMBIGUOUS),
        ("B", ReadingKind.INVALID),
        ("I cannot see it, sorry", ReadingKind.REFUSED),
        (" ", ReadingKind.EMPTY),
    ],
)
def test_what_is_read_of_an_output(output: str, kind: ReadingKind) -> None:
    assert read_choice(output, BOATS, protocol=OPEN).kind == kind


def test_a_model_is_asked_without_the_options_and_scored(
    run: Callable[..., tuple[int, str, str]], serve: Any, faults: Any, tmp_path: Path
) -> None:
    data = made_set(tmp_path / "set", [row(number) for number in range(8)])  # the keys are one, two, three, four boats
    server = serve(lambda call: faults.Answer(text="I see 2 boats."))
    words = ["predict", data, "--endpoint", server.url, "--model", "m", "--lang", "en", "--open-answers"]
    code, out, err = run(*words, "--out", "open.jsonl")
    assert code == 0 and len(server.calls) == 2, out + err  # the items share a question, and some a picture
    asked = server.calls[0].body["messages"][0]["content"]
    assert "one boat" not in json.dumps(asked) and "in a few words" in json.dumps(asked)
    assert json.loads(Path("open.run.json").read_text())["run"]["frame"] == "open-1"
    (cell,) = score(Path("open.jsonl"), data=data, lang="en", protocol="bloom-open").cells
    assert cell.metrics["rae"].value == 0.25 and cell.outcomes["invalid"] == 0
    code, _, err = run(*words, "--rotations", 4, "--out", "more.jsonl")
    assert code == 2 and "--open-answers shows no options" in err
