"""The order in which a line shows text of two directions."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest

from vcrgen.typeset.bidi import levels, visual_order


@pytest.mark.parametrize(
    ("text", "direction", "expected"),
    [
        ("abc", "ltr", "000"),
        ("قط", "rtl", "11"),
        ("قط ab", "rtl", "11122"),
        ("ab قط", "ltr", "00011"),
        ("قط 12", "rtl", "11122"),  # a number is read from left to right
        ("قط 12,5", "rtl", "1112222"),
        ("(ab) قط", "rtl", "1221111"),  # the bracket goes with the line, the letters do not
        ("ab, cd قط", "rtl", "222222111"),
        ("क ab", "ltr", "0000"),
        ("", "rtl", ""),
        ("قط\ud800", "rtl", "111"),
        ("قط\U0001f642x", "rtl", "1112"),
    ],
)
def test_levels(text: str, direction: str, expected: str) -> None:
    assert "".join(map(str, levels(text, direction))) == expected


@pytest.mark.parametrize("control", "\u202b\u202e\u2066\u2067\u202c\u2069")
def test_controls_without_their_partners_leave_one_level_a_character(control: str) -> None:
    for direction in ("ltr", "rtl"):
        assert len(levels(f"قط {control}abc 12", direction)) == 10


def test_the_cases_of_unicode() -> None:
    """A part of BidiCharacterTest.txt; all of its 91,707 cases were run once."""
    lines = Path(__file__).with_name("bidi-cases.txt").read_text("utf-8").splitlines()
    cases = [line.split(";") for line in lines if not line.startswith("#")]
    assert len(cases) == 564
    for characters, base, expected in cases:
        text = "".join(chr(int(code, 16)) for code in characters.split())
        found = of_a_line(text, int(base), levels(text, "rtl" if base == "1" else "ltr"))
        shown = ["x" if level == "x" else str(own) for level, own in zip(expected.split(), found, strict=True)]
        assert shown == expected.split(), characters


def of_a_line(text: str, base: int, levels: Sequence[int]) -> list[int]:
    """Rule L1: separators, and the white space before them or at the end of a line, have the paragraph's level."""
    found, ends = list(levels), True
    for place in reversed(range(len(text))):
        name = unicodedata.bidirectional(text[place])
        if name in ("B", "S"):
            ends = True
        elif name not in ("WS", "FSI", "LRI", "RLI", "PDI", "LRE", "RLE", "LRO", "RLO", "PDF", "BN"):
            ends = False
        if ends:
            found[place] = base
    return found


@pytest.mark.parametrize(("open_before", "level"), [(62, 1), (63, 0)])
def test_no_more_brackets_than_63_are_open(open_before: int, level: int) -> None:
    text = "\u0642" + "(" * open_before + "(\u0642) a"
    assert levels(text, "ltr")[-3] == level


def test_every_paragraph_begins_anew() -> None:
    assert levels("ab\u2029\u0642 \u202eab\u2029ab", "rtl") == (2, 2, 1, 1, 1, 1, 3, 3, 1, 2, 2)


@pytest.mark.parametrize(
    ("of_parts", "expected"),
    [
        ([], []),
        ([0, 0, 0], [0, 1, 2]),
        ([1, 1, 1], [2, 1, 0]),
        ([1, 2, 2, 1], [3, 1, 2, 0]),
        ([0, 1, 1, 0], [0, 2, 1, 3]),
        ([0, 1, 2, 1, 0, 1], [0, 3, 2, 1, 4, 5]),
        ([2, 1, 2], [2, 1, 0]),
    ],
)
def test_parts_from_left_to_right(of_parts: list[int], expected: list[int]) -> None:
    assert visual_order(of_parts) == expected
