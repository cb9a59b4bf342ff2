"""Texts that look the same."""

import pytest

from vcrgen.text.lookalikes import skeleton


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u0440\u0430\u0443\u0440\u0430l", "paypal"),  # Cyrillic but for the l
        ("Qwen2-VL", "Qwen2\u2010VL"),  # another hyphen
        ("\U0001d413eam", "Team"),  # a bold letter of mathematics
        ("modern", "rnodem".replace("dem", "dern")),
        ("Te\u0430m", "Team"),
        ("a\u0301", "\u00e1"),
        ("0|", "Ol"),
        ("#", "#"),
    ],
)
def test_they_look_the_same(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(("one", "other"), [("Team A", "Team B"), ("Qwen2", "Qwen3"), ("\u89c2\u6d77", "\u89c2\u6d4b")])
def test_they_look_different(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


def test_the_table_is_whole() -> None:
    from vcrgen.text.lookalikes import _table

    assert len(_table()) == 6309
    assert all(char not in _table() or _table()[char] == char for like in _table().values() for char in like)
