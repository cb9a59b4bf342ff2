import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.text.normalise import normalise_caption


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        (" two\n\twords  ", "two words"),
        ("cafe\u0301", "café"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("soft\u00adhyphen", "softhyphen"),
        ("no\u00a0break\u3000ideographic", "no break ideographic"),
        ("nul\0", "nul"),
        ("two \x1b lines\r\x1b\r\u200b\n", "two lines"),
        ("", ""),
    ],
)
def test_cases(given: str, normal: str) -> None:
    assert normalise_caption(given) == normal


@given(st.text())
def test_it_is_done_once(text: str) -> None:
    normal = normalise_caption(text)
    assert normalise_caption(normal) == normal or unicodedata.normalize("NFC", normal) != normal
    assert normal == normal.strip() and "  " not in normal and "\n" not in normal
