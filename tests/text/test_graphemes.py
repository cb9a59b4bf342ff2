import unicodedata
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.text.graphemes import _SINGLE_CHARACTERS, boundaries, clusters


@pytest.mark.parametrize(
    "expected",
    [
        [],
        ["a", "b"],
        ["一", "只", "。"],
        ["e\u0301", "a"],
        ["क", "ता"],
        ["कि", "ता", "ब"],
        ["क्ष", "मा"],  # a conjunct: GB9c, of Unicode 15.1
        ["क्\u200dष", "a"],
        ["ک\u200c", "ه"],
        ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd"],
        ["\U0001f1eb\U0001f1f7", "\U0001f1e9\U0001f1ea"],
        ["각", "\u1100\u1161\u11a8"],
        ["\r\n", "\n"],
        ["か\u3099", "ｶ\uff9e"],
    ],
)
def test_clusters(expected: list[str]) -> None:
    text = "".join(expected)
    assert [text[start:end] for start, end in clusters(text)] == expected


@given(st.text() | st.text("aé—一。（\u3099\u0301\r\n\u200d\u093fक्"))
def test_the_quick_way_gives_what_the_slow_one_gives(text: str) -> None:
    slow = [match.span() for match in regex.finditer(r"\X", text)]
    assert clusters(text) == slow
    assert list(boundaries(text)) == [0, *(end for _, end in slow)]
    assert all(start < end for start, end in pairwise(boundaries(text)))


def test_no_character_that_is_read_quickly_joins_a_neighbour() -> None:
    quick = [chr(code) for code in range(0x20000) if _SINGLE_CHARACTERS.fullmatch(chr(code))]
    for character in quick:
        for neighbour in "a一か\u00a9\n":
            assert regex.fullmatch(r"\X", neighbour + character) is None, hex(ord(character))
            assert regex.fullmatch(r"\X", character + neighbour) is None, hex(ord(character))
        assert unicodedata.category(character) not in ("Mn", "Mc", "Me"), hex(ord(character))
