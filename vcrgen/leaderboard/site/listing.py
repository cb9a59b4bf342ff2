"""Rows of long tables as a reader asks for them: found, sorted, and a hundred at a time.

A table of at most a hundred rows, and every table of an exported folder, stands on its page as a whole: there the
page's own script finds and sorts. Longer tables of a service have a part of their rows on the page, and the address of
the page says which: ``?search=vlm&sort=received&page=2``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from vcrgen.leaderboard.site.names import PAGE_ROWS
from vcrgen.leaderboard.site.texts import iso_day

MAX_WORDS = 200  # characters of a search
FIELDS = ("search", "access", "least", "most", "received", "released", "sort")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """The wishes of a reader for the tables of a page; words that mean nothing ask for nothing."""

    search: str = ""
    access: str = ""
    least: str = ""  # billions of parameters, as they were typed
    most: str = ""
    received: str = ""  # a day, as all days in ISO 8601
    released: str = ""
    sort: str = ""  # name of a column, behind a hyphen where the highest come first
    page: int = 1
    whole: bool = False  # whether every row stands on the page, so that the page's script can search

    @classmethod
    def parse(cls, asked: Mapping[str, str]) -> TableRequest:
        """Read the parameters of an address."""
        texts: dict[str, Any] = {name: asked.get(name, "").strip()[:MAX_WORDS] for name in FIELDS}
        texts |= {name: iso_day(texts[name]) for name in ("received", "released")}
        texts |= {name: texts[name] if _number(texts[name]) is not None else "" for name in ("least", "most")}
        page = asked.get("page", "")
        return cls(**texts, page=int(page) if page.isdecimal() and len(page) < 7 else 1)

    @property
    def is_first(self) -> bool:
        """True for a page as it is without any parameter."""
        return self == TableRequest()

    @property
    def is_filter(self) -> bool:
        """True if some rows may be left out."""
        return any(getattr(self, name) for name in FIELDS if name != "sort")

    def link(self, **changed: Any) -> str:
        """The address of the same page with some parameters changed; those that mean nothing are left out."""
        values = {name: getattr(self, name) for name in (*FIELDS, "page")} | changed
        return "?" + urlencode(
            {name: value for name, value in values.items() if value and (name, value) != ("page", 1)}
        )


WHOLE = TableRequest(whole=True)


class RowTraits(NamedTuple):
    """The text and traits by which a row is found."""

    text: str
    access: str = ""
    billions: str = ""
    released: str = ""
    received: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The rows of a table that stand on a page."""

    rows: Sequence[Any]
    asked: TableRequest
    total: int  # rows without any search
    matching: int  # rows that the search lets through
    first: int = 0  # rows before these

    @property
    def pages(self) -> int:
        """The number of pages."""
        return max(1, math.ceil(self.matching / PAGE_ROWS))

    @property
    def page(self) -> int:
        """The number of this page."""
        return self.first // PAGE_ROWS + 1

    def sorting(self, column: str, first: str = "") -> str:
        """The address that sorts by a column; the other way round where the rows are sorted so.

        ``first`` is ``descending`` where the highest come first.
        """
        ways = [column, f"-{column}"]
        up, down = reversed(ways) if first else ways
        return self.asked.link(sort=down if self.asked.sort == up else up, page=1)

    def sorted_by(self, column: str) -> str:
        """``aria-sort`` of a column; empty where the rows are not sorted by it."""
        return {column: "ascending", f"-{column}": "descending"}.get(self.asked.sort, "")


def settle(asked: TableRequest, *sizes: int) -> TableRequest:
    """The request itself, or that for all rows where none of the tables of a page has more than stand on one."""
    return asked if max(sizes, default=0) > PAGE_ROWS else WHOLE


def list_rows(
    rows: Sequence[Any],
    asked: TableRequest,
    *,
    traits: Callable[[Any], RowTraits],
    keys: Mapping[str, Callable[[Any], Any]] | None = None,
) -> Listing:
    """The rows that stand on a page: found, sorted, and cut to a page.

    Args:
        rows: All of them, in their own order.
        asked: By the reader.
        traits: What a row is found by.
        keys: By name of a column the value that it is sorted by, or None for a row without one, which comes last.
    """
    if asked.whole:
        return Listing(rows=rows, asked=asked, total=len(rows), matching=len(rows))
    matching = [row for row in rows if _passes(traits(row), asked)] if asked.is_filter else list(rows)
    if key := (keys or {}).get(asked.sort.removeprefix("-")):
        without = [row for row in matching if key(row) is None]
        sortable = [row for row in matching if key(row) is not None]
        matching = sorted(sortable, key=key, reverse=asked.sort.startswith("-")) + without
    pages = max(1, math.ceil(len(matching) / PAGE_ROWS))
    first = (min(max(asked.page, 1), pages) - 1) * PAGE_ROWS
    on_page = matching[first : first + PAGE_ROWS]
    return Listing(rows=on_page, asked=asked, total=len(rows), matching=len(matching), first=first)


def _passes(row: RowTraits, asked: TableRequest) -> bool:
    text, size, least, most = row.text.casefold(), _number(row.billions), _number(asked.least), _number(asked.most)
    return (
        all(word in text for word in asked.search.casefold().split())
        and asked.access in ("", row.access)
        # What a row does not say never passes.
        and (least is None or (size is not None and size >= least))
        and (most is None or (size is not None and size <= most))
        and (not asked.received or row.received >= asked.received)
        and (not asked.released or row.released >= asked.released)
    )


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
