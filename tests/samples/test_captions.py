"""Captions as data: what they say of the facts, in every language, and what is refused with the line that is wrong."""

import re
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core.errors import VcrgenError
from vcrgen.samples.captions import Captions
from vcrgen.samples.facts import Chart, Facts, Harbour, chance, tints
from vcrgen.samples.pairs import captions
from vcrgen.samples.table import SCENES


class Pond(Facts):
    """A kind of scene of these tests."""

    ducks: tuple[str, ...] = tints(1, 3)
    frozen: bool = chance()

    @property
    def season(self) -> str:
        return "winter" if self.frozen else "summer"


FILE = """
# Captions of a pond.
[settings]
end = .
space = " "
comma = ", "
length = 90
vowels = aeiou

[joins]
a~ VOWEL = an
of~ the = of~the

[words]
number n = {n: 1 = one | 2..3 = a few
  | many}
year [5 bits] = {earliest..2024}
place = 25% {Oak | Elm}ford | Ash
shout text = {text}!

[any picture]
* made in {year}
@ {place}, {year}

[pond]
n = {ducks.count}
- {LINE}
+ if frozen: ice covers it
+ if not frozen: frogs sing
"""
LINE = FILE[: FILE.index("{LINE}")].count("\n") + 1
POND = Pond(ducks=("red", "orange"), frozen=True)


def first_sentences(line: str, facts: Facts = POND, *, times: int = 60) -> set[str]:
    """The first sentences that a line of the pond can become."""
    read = Captions(FILE.replace("{LINE}", line), {"pond": Pond}, file="pond.txt")
    return {re.split(r"[.!] |[.]$", read.render("pond", facts, Random(i), 0))[0] for i in range(times)}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a pond", {"A pond"}),
        ("{n} ducks", {"2 ducks"}),
        ("{number n} ducks", {"A few ducks"}),
        ("{number 1} duck", {"One duck"}),
        ("{number 9} ducks", {"Many ducks"}),
        ("{*ducks} ducks", {"Red, orange ducks"}),
        ("{ducks.first} and {ducks.last}", {"Red and orange"}),
        ("{shout *ducks}", {"Red!, orange!"}),
        ('{shout "{n} ducks"} they fly', {"2 ducks"}),
        ("{frozen ? ice | water}", {"Ice"}),
        ("{not frozen ? water | ice}", {"Ice"}),
        ("{frozen ? ice} only", {"Ice only"}),
        ("{season = spring, winter ? cold | warm}", {"Cold"}),
        ("{ducks.same ? alike | all different}", {"All different"}),
        ("{season: winter = snow | rain}", {"Snow"}),
        ("{season: spring, summer = sun | rain}", {"Rain"}),
        ("{n: 0..1 = few | 2..9 = {ducks.first: red = two | some}}", {"Two"}),
        ("{one | two | three}", {"One", "Two", "Three"}),
        ("{place}", {"Oakford", "Elmford", "Ash"}),
        ("{3..5}", {"3", "4", "5"}),
        ("{00..10 by 5}", {"00", "05", "10"}),
        ("{100..300 by 100}", {"100", "200", "300"}),
        ("a~ owl and a~ cat", {"An owl and a cat"}),
        ("A~ {ducks.last} duck", {"An orange duck"}),
        ("all of~ the ducks", {"All ofthe ducks"}),
    ],
)
def test_what_stands_in_braces_is_put_in(line: str, expected: set[str]) -> None:
    assert first_sentences(line) == expected


def test_a_name_is_decided_once_and_a_word_anew() -> None:
    text = FILE.replace("n = {ducks.count}", "tree = {place}{place}").replace("{LINE}", "{tree} {tree}")
    read = Captions(text, {"pond": Pond}, file="pond.txt")
    firsts = {tuple(read.render("pond", POND, Random(i), 0).split(" ")[:2]) for i in range(60)}
    assert all(one.rstrip(".") == two.rstrip(".") for one, two in firsts)
    assert len({first for first, _ in firsts}) > 3


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("{LINE}", "{nothing}", LINE, "nothing is called 'nothing'"),
        ("{LINE}", "{n ducks}", LINE, "nothing is called 'n'"),
        ("{LINE}", "{number n n}", LINE, "'number' takes 1 values, not 2"),
        ("{LINE}", "{ducks.middle}", LINE, "a value has no 'middle', only count, first, last, rest, same"),
        ("{LINE}", "{n", LINE, "braces do not match"),
        ("{LINE}", "n}", LINE, "braces do not match"),
        ("{LINE}", "{}", LINE, "{} is not understood"),
        ("{LINE}", "{&}", LINE, "{&} is not understood"),
        ("{LINE}", "{9..3}", LINE, "no number is in 9..3"),
        ("if frozen", "if frozen and cold", LINE + 1, "'frozen and cold' is no condition"),
        ("if frozen", "if melted", LINE + 1, "nothing is called 'melted'"),
        ("[pond]", "[lake]", LINE - 2, "there is no scene 'lake'"),
        ("n = {ducks.count}", "n {ducks.count}", LINE - 1, "'n {ducks.count}' is not understood"),
        ("a~ VOWEL = an", "a becomes an", 11, "'a becomes an' is not understood"),
        ("length = 90", "length = long", 7, "the length is a number of characters"),
    ],
)
def test_a_wrong_line_is_named(old: str, new: str, where: int, message: str) -> None:
    text = FILE.replace(old, new, 1).replace("{LINE}", "a pond")
    with pytest.raises(VcrgenError, match=re.escape(f"pond.txt, line {where}: {message}.")):
        Captions(text, {"pond": Pond}, file="pond.txt")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("end = .", "", "the setting 'end' is missing"),
        ("- {LINE}", "- if frozen: ice", "the section [pond] needs a line with - and no condition"),
        ("@ {place}, {year}", "", "the section [any picture] needs a line with @ and no condition"),
    ],
)
def test_what_is_missing_is_named(old: str, new: str, message: str) -> None:
    with pytest.raises(VcrgenError, match=re.escape(f"pond.txt: {message}.")):
        Captions(FILE.replace(old, new, 1).replace("{LINE}", "a pond"), {"pond": Pond}, file="pond.txt")


def test_a_scene_without_a_section_is_named() -> None:
    with pytest.raises(VcrgenError, match=re.escape("[lake]")):
        Captions(FILE.replace("{LINE}", "a pond"), {"pond": Pond, "lake": Pond}, file="pond.txt")


def test_a_value_without_a_text_is_named_with_its_line() -> None:
    with pytest.raises(
        VcrgenError, match=re.escape(f"pond.txt, line {LINE}: 'season' is 'winter', which has no text.")
    ):
        first_sentences("{season: summer = sun}")


PIECES = ["{", "{", "}", "}", "|", ":", "?", "=", "*", '"', "%", "..", "3", "9", " ", "not ", "n", "season", "frozen"]
PIECES += ["ducks", "ducks.first", ".count", "number ", "place", "shout", "a~", "if ", "[pond]", "\n"]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_line_is_told_or_refused_in_a_sentence(line: str) -> None:
    try:
        first_sentences(line, times=3)
    except VcrgenError as error:
        assert str(error).startswith("pond.txt")


def test_a_word_that_is_made_of_itself_is_refused() -> None:
    with pytest.raises(VcrgenError, match=f"pond.txt, line {LINE}: this cannot be expanded"):
        Captions(
            FILE.replace("{text}!", "{shout text}").replace("{LINE}", "{shout n}"), {"pond": Pond}, file="pond.txt"
        ).render("pond", POND, Random(0), 0)


@given(st.integers(0, 10**6), st.integers(0, 10**5))
def test_a_caption_has_one_to_four_sentences(seed: int, turn: int) -> None:
    text = Captions(FILE.replace("{LINE}", "a pond"), {"pond": Pond}, file="pond.txt").render(
        "pond", POND, Random(seed), turn
    )
    assert text.startswith("A pond")
    assert text == "A pond" or text.endswith(".")
    assert 0 <= text.count(".") <= 4


def say(kind: str, lang: str, facts: Any, times: int = 60, turn: int = 0) -> list[str]:
    return [captions(lang).render(kind, facts, Random(i), turn) for i in range(times)]


def test_sentence_plans_vary_within_a_scene() -> None:
    for scene in SCENES:
        openings = {text[:40] for text in say(scene.kind, "en", scene.facts.sample(Random(0)), 40)}
        assert len(openings) >= 4, scene.kind


def test_captions_name_no_colour_that_is_not_in_the_facts() -> None:
    for seed in range(200):
        facts = Harbour.sample(Random(seed))
        text = captions("en").render("harbour", facts, Random(seed), 0).lower()
        # White is the other stripe of every lighthouse, green are the hills.
        allowed = {*facts.boats, facts.stripe, "white", "green"}
        named = set(re.findall(r"\b(red|orange|yellow|green|teal|blue|purple|pink|white)\b", text))
        named -= {"blue"} if "blue sky" in text else set()
        named -= {"red"} if "red evening sky" in text else set()
        assert named <= allowed, text


def test_the_trend_of_a_chart_is_first_sentences() -> None:
    for seed in range(300):
        facts = Chart.sample(Random(seed))
        text = captions("en").render("chart", facts, Random(seed), 0)
        rises = {a < b for a, b in pairwise(facts.bars)}
        assert "taller and taller" not in text or rises == {True}
        assert "shorter and shorter" not in text or rises == {False}
        assert "up and down" not in text or len(rises) == 2
