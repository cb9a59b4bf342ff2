"""Rows of long tables: found, sorted, a hundred at a time."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.leaderboard.site.listing import PAGE_ROWS, WHOLE, RowTraits, TableRequest, list_rows, settle

# Name, access, billions of parameters, released, received; what is not known is empty.
ROWS = [
    ("Qwen 7B Team A", "open", "7", "2026-01-31", "2026-03-01"),
    ("GPT Team B", "closed", "", "", "2026-02-28"),
    ("Straße 70B Team A", "open", "70", "2025-05-05", "2026-03-02"),
    ("Unknown Team C", "", "0.5", "2024-01-01", "2025-12-31"),
]


def names(**asked: str) -> list[str]:
    listing = list_rows(
        ROWS,
        TableRequest.parse(asked),
        traits=lambda row: RowTraits(*row),
        keys={"size": lambda row: float(row[2]) if row[2] else None},
    )
    return [row[0].split()[0] for row in listing.rows]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["Qwen", "GPT", "Straße", "Unknown"]),
        ({"search": "team qw"}, ["Qwen"]),
        ({"search": "STRASSE 70b"}, ["Straße"]),
        ({"search": "qwen gpt"}, []),
        ({"access": "open"}, ["Qwen", "Straße"]),
        ({"access": "free"}, []),
        ({"least": "7"}, ["Qwen", "Straße"]),
        ({"least": "1", "most": "10"}, ["Qwen"]),
        ({"most": "nan"}, ["Qwen", "GPT", "Straße", "Unknown"]),
        ({"least": "x", "released": "yesterday"}, ["Qwen", "GPT", "Straße", "Unknown"]),
        ({"released": "2025-05-05"}, ["Qwen", "Straße"]),
        ({"received": "2026-03-01"}, ["Qwen", "Straße"]),
        ({"received": "2026-02-30"}, ["Qwen", "GPT", "Straße", "Unknown"]),
        ({"sort": "size"}, ["Unknown", "Qwen", "Straße", "GPT"]),
        ({"sort": "-size"}, ["Straße", "Qwen", "Unknown", "GPT"]),
        ({"sort": "-nothing"}, ["Qwen", "GPT", "Straße", "Unknown"]),
        ({"page": "9999999999"}, ["Qwen", "GPT", "Straße", "Unknown"]),
    ],
)
def test_what_is_found(asked: dict[str, str], found: list[str]) -> None:
    assert names(**asked) == found


@given(st.integers(0, 5 * PAGE_ROWS), st.booleans())
def test_pages_hold_every_row_once(rows: int, descending: bool) -> None:
    def page(number: int) -> Any:
        asked = TableRequest(page=number, sort=f"{'-' * descending}value")
        return list_rows(range(rows), asked, traits=lambda row: RowTraits(str(row)), keys={"value": lambda row: row})

    first = page(1)
    pages = [page(number + 1) for number in range(first.pages)]
    assert [row for one in pages for row in one.rows] == sorted(range(rows), reverse=descending)
    assert all(len(one.rows) <= PAGE_ROWS and one.page == number for number, one in enumerate(pages, 1))
    assert page(first.pages + 1).rows == pages[-1].rows


def test_links_keep_what_was_asked() -> None:
    asked = TableRequest.parse({"search": "a&b", "page": "2", "other": "x", "access": "open"})
    assert asked.link() == "?search=a%26b&access=open&page=2"
    assert asked.link(page=1) == "?search=a%26b&access=open"
    listing = list_rows([], asked, traits=lambda row: RowTraits(""))
    assert listing.sorting("exact", "descending").endswith("sort=-exact")
    again = list_rows([], TableRequest(sort="-exact"), traits=lambda row: RowTraits(""))
    assert (again.sorting("exact", "descending"), again.sorted_by("exact")) == ("?sort=exact", "descending")


@pytest.mark.parametrize(("sizes", "whole"), [((), True), ((PAGE_ROWS,), True), ((3, PAGE_ROWS + 1), False)])
def test_a_short_table_stands_on_its_page(sizes: tuple[int, ...], whole: bool) -> None:
    asked = TableRequest(search="x")
    assert settle(asked, *sizes) == (WHOLE if whole else asked)
