"""The order in which a line shows text of two directions."""

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


def test_what_a_text_says_is_no_level() -> None:
    assert levels("Level(7,)\n    levels: [ ق", "ltr") == (0,) * 24 + (1,)


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
