"""How the rows that a transaction changes reach the sums of `state`: each statement is looked at before and after."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Delete, Insert, Select, Table, Update, event, func, select, tuple_

from vcrgen.leaderboard.store.schema import runs, sets
from vcrgen.leaderboard.store.state import MODULUS, SUMMED, Sums, sum_of, summed_rows

_TRACKER = "vcrgen row tracker"  # in the facts of a connection
_KEYS_AT_ONCE = 500


@contextmanager
def tracked(connection: Connection) -> Iterator[None]:
    """Let `take_changes` know what the statements of a connection change, in the block."""
    tracker = RowTracker(connection)
    connection.info[_TRACKER] = tracker
    event.listen(connection, "before_execute", tracker.before)
    event.listen(connection, "after_execute", tracker.after)
    try:
        yield
    finally:
        event.remove(connection, "before_execute", tracker.before)
        event.remove(connection, "after_execute", tracker.after)
        del connection.info[_TRACKER]


def take_changes(connection: Connection) -> Sums:
    """What the statements since the last call add to the sums; nothing where they are not tracked."""
    tracker: RowTracker | None = connection.info.get(_TRACKER)
    return {} if tracker is None else tracker.take()


class RowTracker:
    """Sums of the rows that statements take away and bring."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._changes = Counter[str]()
        self._keys: Sequence[Any] = ()  # primary keys of the rows that the statement changes
        self._newest = 0  # the highest number that a database has given before an insertion

    def take(self) -> Sums:
        """The changes so far, which are forgotten."""
        changes, self._changes = self._changes, Counter[str]()
        return changes

    def before(self, connection: Connection, statement: Any, many: Any, one: Any, options: Mapping[str, Any]) -> None:
        """Subtract the rows that a statement changes or deletes."""
        if (table := _table_of(statement)) is None:
            return
        if table is sets:
            self._add(runs, summed_rows(connection, runs), -1)  # a set that is closed lets its sealed runs be seen
        if isinstance(statement, Insert):
            if (number := table.autoincrement_column) is not None:
                self._newest = connection.execute(select(func.coalesce(func.max(number), 0))).scalar_one()
            return
        matching = statement.whereclause
        query, keys = summed_rows(connection, table), select(*table.primary_key.columns)
        if matching is not None:
            query, keys = query.where(matching), keys.where(matching)
        self._add(table, query, -1)
        self._keys = [tuple(row) for row in connection.execute(keys)]

    def after(
        self, connection: Connection, statement: Any, many: Any, one: Any, options: Mapping[str, Any], result: Any
    ) -> None:
        """Add the rows as they are now."""
        if (table := _table_of(statement)) is None or isinstance(statement, Delete):
            return
        query, number = summed_rows(connection, table), table.autoincrement_column
        if not isinstance(statement, Insert):
            self._add_keys(table, query, self._keys)
        elif number is not None and not any(number.name in row for row in many):
            self._add(table, query.where(number > self._newest), 1)
        else:
            names = [column.name for column in table.primary_key.columns]
            keys = [tuple(row[name] for name in names) for row in many] or [tuple(result.inserted_primary_key)]
            self._add_keys(table, query, keys)
        if table is sets:
            self._add(runs, summed_rows(connection, runs), 1)

    def _add_keys(self, table: Table, query: Select[Any], keys: Sequence[Any]) -> None:
        key = tuple_(*table.primary_key.columns)
        for first in range(0, len(keys), _KEYS_AT_ONCE):
            self._add(table, query.where(key.in_(keys[first : first + _KEYS_AT_ONCE])), 1)

    def _add(self, table: Table, query: Select[Any], sign: int) -> None:
        change = sign * sum_of(self._connection, table, query)
        self._changes[table.name] = (self._changes[table.name] + change) % MODULUS


def _table_of(statement: Any) -> Table | None:
    """The table that a statement changes, if its rows are summed."""
    if not isinstance(statement, Insert | Update | Delete):
        return None
    table = statement.table
    return table if isinstance(table, Table) and table in SUMMED else None
