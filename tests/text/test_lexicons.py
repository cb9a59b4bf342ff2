"""Word lists are read when they are first used, each under the name of its file."""

from copy import copy

import pytest

from vcrgen.text.lexicons import WordLists


def test_a_list_has_one_entry_a_line() -> None:
    lists = WordLists("en")
    assert "january" in lists.months and "new york" in lists.places
    assert lists.months is lists.months
    assert copy(lists).months == lists.months


def test_entries_of_one_line() -> None:
    assert {"江主席"}.isdisjoint(WordLists("zh", by_words=True).titles)
    assert {"主席", "教授"} <= WordLists("zh", by_words=True).titles


def test_a_list_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        _ = WordLists("en").nothing
