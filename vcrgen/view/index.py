"""The index of a view: of each item and each output what filters and orders need, in SQLite.

Pictures and captions stay in the dataset and are read for a page at a time. The database is a temporary one that SQLite
keeps in memory as far as it fits and else in a file without a name; that of a hidden set stays in memory.
"""

import functools
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from vcrgen.core.errors import ConfigError
from vcrgen.view.query import Query

# What became of a span or an item, as pages group the outcomes of a scoring; a letter each in `IndexedOutput.codes`.
OUTCOMES = {"exact": "e", "near": "n", "wrong": "w", "missing": "m", "unread": "u", "refused": "r"}
ORDERS_KEPT = 8
_TABLES = """
CREATE TABLE items (
  place INTEGER PRIMARY KEY, id TEXT, lang TEXT, split TEXT, length INTEGER, spans INTEGER, text TEXT);
CREATE INDEX items_by_id ON items (id);
CREATE TABLE rows (place INTEGER, mode TEXT, row INTEGER, bits REAL, PRIMARY KEY (place, mode)) WITHOUT ROWID;
CREATE TABLE outputs (run INTEGER, view TEXT, mode TEXT, place INTEGER, codes TEXT, score REAL, text TEXT, details TEXT,
  PRIMARY KEY (view, mode, place, run)) WITHOUT ROWID;
"""
_OUTPUT = "o.view = :view AND o.mode = :mode AND o.place = items.place"


class IndexedItem(NamedTuple):
    """An item, without its rows."""

    id: str
    lang: str
    split: str
    length: int  # characters of the caption or question
    spans: int  # that have an outcome each; 1 of a question
    text: str  # in which a search looks


class IndexedRow(NamedTuple):
    """Where a mode of an item stands in the dataset."""

    id: str
    mode: str
    row: int  # among those of the mode
    bits: float | None  # the smallest of its spans


class IndexedOutput(NamedTuple):
    """What a model answered to an item in a mode and a view."""

    id: str
    mode: str
    view: str
    codes: str  # a letter of `OUTCOMES` for each span
    score: float  # higher is better
    text: str  # in which a search looks
    details: str  # what `details` of a scoring reads


class Selection(NamedTuple):
    """The items of a page."""

    total: int  # that the filters let through
    start: int  # how many stand before the page
    places: Sequence[int]
    previous: str  # the id before the one asked for, or empty
    next: str


class StoredOutput(NamedTuple):
    """An output of the index."""

    run: int
    mode: str
    view: str
    codes: str
    score: float
    details: str


class ViewIndex:
    """Filters and orders items. Outputs may be added by one thread while others select items.

    Args:
        secret: Keep everything in memory.
    """

    def __init__(self, *, secret: bool = False) -> None:
        self._database = sqlite3.connect(":memory:" if secret else "", check_same_thread=False)
        self._database.executescript(_TABLES)
        self._database.create_function("lower_case", 1, lambda text: text.lower(), deterministic=True)
        self._database.create_function("right_and_wrong", 2, _right_and_wrong, deterministic=True)
        self._lock = threading.Lock()
        self._order = functools.lru_cache(ORDERS_KEPT)(self._places)

    def add_items(self, items: Iterable[IndexedItem]) -> None:
        """Add items in the order of the dataset."""
        self._database.executemany(
            "INSERT INTO items (id, lang, split, length, spans, text) VALUES (?, ?, ?, ?, ?, ?)",
            (item._replace(text=item.text.lower()) for item in items),
        )

    def add_rows(self, rows: Iterable[IndexedRow]) -> None:
        """Add the rows of items that are there; those of others are left out."""
        self._database.executemany(
            "INSERT OR IGNORE INTO rows SELECT place, ?2, ?3, ?4 FROM items WHERE id = ?1 ORDER BY place LIMIT 1", rows
        )

    def add_outputs(self, run: int, outputs: Sequence[IndexedOutput]) -> None:
        """Add outputs of a run to items that are there."""
        with self._lock:
            self._database.executemany(
                f"INSERT OR IGNORE INTO outputs SELECT {run:d}, ?3, ?2, place, ?4, ?5, ?6, ?7 FROM items "  # noqa: S608
                "WHERE id = ?1 ORDER BY place LIMIT 1",
                outputs,
            )

    def add_missing(self, run: int, mode: str, view: str, details: str) -> None:
        """Add an output that is missing to every item that has none of a run in a mode and a view."""
        with self._lock:
            self._database.execute(
                "INSERT OR IGNORE INTO outputs SELECT ?, ?, ?, place, replace(hex(zeroblob(spans)), '00', 'm'), 0, '', "
                "? FROM items WHERE spans > 0",
                (run, view, mode, details),
            )

    def finish(self) -> None:
        """Let queries be planned by what is in the tables now."""
        with self._lock:
            self._database.commit()
            self._database.execute("ANALYZE")

    def distinct(self, column: str) -> list[str]:
        """The values of ``lang``, ``split``, or of the ``mode`` of rows."""
        table = {"lang": "items", "split": "items", "mode": "rows"}[column]
        query = f"SELECT DISTINCT {column} FROM {table} ORDER BY {column}"  # noqa: S608 - of the table above
        return [value for (value,) in self._fetch(query, {}) if value]

    @property
    def has_bits(self) -> bool:
        """Whether bits of some item are known."""
        return bool(self._fetch("SELECT EXISTS (SELECT 1 FROM rows WHERE bits IS NOT NULL)", {})[0][0])

    @property
    def total(self) -> int:
        """All items."""
        return int(self._fetch("SELECT COUNT(*) FROM items", {})[0][0])

    def select(self, query: Query, size: int) -> Selection:
        """The items of a page of ``size``, or the one that the query names by its id.

        Raises:
            ConfigError: An outcome is none.
        """
        places = self._order(query.selection)
        if not query.id:
            start = query.page * size
            return Selection(len(places), start, places[start : start + size], "", "")
        place = next(iter(self._fetch("SELECT place FROM items WHERE id = :id", {"id": query.id})), None)
        if place is None:
            return Selection(len(places), 0, [], "", "")
        position = places.index(place[0]) if place[0] in places else -1
        before = places[position - 1 : position] if position > 0 else []
        after = places[position + 1 : position + 2] if position >= 0 else places[:1]
        ids = self.ids([*before, *after])
        return Selection(
            len(places),
            max(position, 0),
            [place[0]],
            *(ids[part[0]] if part else "" for part in (before, after)),
        )

    def ids(self, places: Sequence[int]) -> dict[int, str]:
        """The ids of places."""
        return dict(self._fetch(f"SELECT place, id FROM items WHERE place IN ({_listed(places)})", {}))  # noqa: S608

    def items(self, places: Sequence[int]) -> dict[int, IndexedItem]:
        """The items of places."""
        query = f"SELECT place, id, lang, split, length, spans, text FROM items WHERE place IN ({_listed(places)})"  # noqa: S608
        return {place: IndexedItem(*values) for place, *values in self._fetch(query, {})}

    def rows(self, places: Sequence[int]) -> list[tuple[int, str, int, float | None]]:
        """Of places the mode, the row in it, and its bits."""
        query = f"SELECT place, mode, row, bits FROM rows WHERE place IN ({_listed(places)})"  # noqa: S608
        return self._fetch(query, {})

    def outputs(self, places: Sequence[int]) -> list[tuple[int, StoredOutput]]:
        """Of places the outputs, run by run."""
        columns = "place, run, mode, view, codes, score, details"
        query = f"SELECT {columns} FROM outputs WHERE place IN ({_listed(places)}) ORDER BY run, mode, view"  # noqa: S608
        return [(place, StoredOutput(*values)) for place, *values in self._fetch(query, {})]

    def _places(self, query: Query) -> list[int]:
        """The places of all items that the filters let through, in the order of the query."""
        values: dict[str, Any] = {name: value for name, value in query.model_dump().items() if value is not None}
        conditions = [*_conditions(query, values), *_word_conditions(query, values)]
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        down = "DESC" if query.direction == "down" else "ASC"
        sort = _sorted_by(query, values)
        select = "SELECT items.place FROM items LEFT JOIN rows ON rows.place = items.place AND rows.mode = :mode"
        rows = self._fetch(f"{select} {where} ORDER BY {sort} {down} NULLS LAST, items.place", values)
        return [place for (place,) in rows]

    def _fetch(self, query: str, values: Mapping[str, Any]) -> list[Any]:
        with self._lock:
            return self._database.execute(query, values).fetchall()


def _listed(places: Sequence[int]) -> str:
    return ",".join(str(int(place)) for place in places)


def _conditions(query: Query, values: dict[str, Any]) -> list[str]:
    """Conditions of the filters, in SQL; ``values`` takes what they name."""
    conditions = [f"items.{name} = :{name}" for name in ("lang", "split") if getattr(query, name)]
    for column, name in (("rows.bits", "bits"), ("items.length", "length")):
        if getattr(query, f"{name}_min") is not None:
            conditions.append(f"{column} >= :{name}_min")
        if getattr(query, f"{name}_max") is not None:
            conditions.append(f"{column} <= :{name}_max")
    if query.outcome:
        if query.outcome not in OUTCOMES:
            raise ConfigError(f"The filter has the outcome {query.outcome!r}; there are {', '.join(OUTCOMES)}.")
        values["code"] = OUTCOMES[query.outcome]
        of_run = "o.run = :run AND " if query.run is not None else ""
        conditions.append(_some_output(f"{of_run}instr(o.codes, :code)"))
    if query.right is not None and query.wrong is not None:
        conditions.append(
            f"EXISTS (SELECT 1 FROM outputs o JOIN outputs p USING (view, mode, place) WHERE {_OUTPUT} "  # noqa: S608
            "AND o.run = :right AND p.run = :wrong AND right_and_wrong(o.codes, p.codes))"
        )
    elif query.right is not None:
        conditions.append(_some_output("o.run = :right AND instr(o.codes, 'e')"))
    elif query.wrong is not None:
        conditions.append(_some_output("o.run = :wrong AND trim(o.codes, 'e') != ''"))
    return conditions


def _some_output(condition: str) -> str:
    return f"EXISTS (SELECT 1 FROM outputs o WHERE {_OUTPUT} AND {condition})"  # noqa: S608


def _word_conditions(query: Query, values: dict[str, Any]) -> list[str]:
    """A condition for each word of the search: it stands in the item, or in an output."""
    conditions = []
    for number, word in enumerate(query.words):
        values[f"word{number}"] = word
        conditions.append(
            f"(instr(items.text, :word{number}) OR EXISTS (SELECT 1 FROM outputs o WHERE {_OUTPUT} "  # noqa: S608
            f"AND instr(lower_case(o.text), :word{number})))"
        )
    return conditions


def _sorted_by(query: Query, values: dict[str, Any]) -> str:
    """The expression by which items are ordered."""
    if query.sort == "bits":
        return "rows.bits"
    if not query.sort.startswith("score"):
        return f"items.{'place' if query.sort == 'order' else query.sort}"
    of_run = ""
    if query.sort != "score":
        values["scored"] = int(query.sort.removeprefix("score-"))
        of_run = " AND o.run = :scored"
    return f"(SELECT AVG(o.score) FROM outputs o WHERE {_OUTPUT}{of_run})"  # noqa: S608


def _right_and_wrong(right: str, wrong: str) -> bool:
    """Whether one output has a span right that the other has not."""
    return any(a == "e" != b for a, b in zip(right, wrong, strict=True))
