"""Ranks of a board: each pair of models in a ranking is tested by sign flips, once, when the later of the two comes in.

Kept are the flipped sums of each run, the statistics of its pairs with the runs that were ranked before it, and of each
ranking the largest statistic of all pairs in every flip (`vcrgen.stats.sign_flips`). So a run that comes in is compared
with the others, and no pair of others is looked at again. Which models are significantly better follows from the three
when a page is made.

When a run goes out, its pairs count no more, but the maxima may still be of them. They are too large, so ranges of
ranks are too wide, never too narrow. Such a ranking is stale until `refresh` has computed its maxima anew.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from sqlalchemy import ColumnElement, Connection, Engine, Table, and_, delete, func, insert, select, update

from vcrgen.leaderboard.store.schema import cells, pair_statistics, rankings, runs, sign_flips
from vcrgen.stats import sign_flips as flips
from vcrgen.stats.arrays import Floats, Ints
from vcrgen.stats.ranking import RankRange, rank_ranges

_NUMBERS, _STATISTICS = "<i8", "<f4"  # as arrays are stored
_RUNS_AT_ONCE = 500


class CellKey(NamedTuple):
    """Models with the same four are ranked together."""

    set: str
    mode: str
    view: str
    short: str


def add_to_ranking(connection: Connection, run: int) -> None:
    """Rank a run among the others of its signature."""
    for key in _keys_of(connection, run):
        numbers, others = _kept_sums(connection, key)
        pairs = flips.pair_statistics(_sums_of(connection, run, key), others)
        maxima = pairs.maxima.astype(_STATISTICS)
        ranking = connection.execute(select(rankings).where(_is_ranking(key))).one_or_none()
        if ranking is None:
            values = {**key._asdict(), "maxima": maxima.tobytes(), "stale": False, "changes": 1}
            connection.execute(insert(rankings).values(**values))
        else:
            maxima = np.maximum(maxima, np.frombuffer(ranking.maxima, _STATISTICS))
            _change(connection, key, maxima=maxima.tobytes())
        cell = {"run": run, "mode": key.mode, "view": key.view, "place": ranking.changes + 1 if ranking else 1}
        packed = {"others": numbers.tobytes(), "statistics": pairs.signed.astype(_STATISTICS).tobytes()}
        connection.execute(insert(pair_statistics).values(**cell, **packed))
        connection.execute(update(cells).where(_is_cell(cells, run, key)).values(ranked=True))


def remove_from_ranking(connection: Connection, run: int) -> None:
    """Take a run out of the ranks."""
    for key in _keys_of(connection, run):
        connection.execute(delete(pair_statistics).where(_is_cell(pair_statistics, run, key)))
        connection.execute(update(cells).where(_is_cell(cells, run, key)).values(ranked=False))
        _change(connection, key, stale=True)


class StaleRanking(NamedTuple):
    """A ranking whose maxima may be of pairs that count no more."""

    key: CellKey
    changes: int  # of the ranking until now
    sums: Floats  # flipped sums of its runs, runs x flips


def stale_ranking(connection: Connection) -> StaleRanking | None:
    """The first ranking that is stale, or None."""
    stale = select(rankings).where(rankings.c.stale).order_by(*rankings.primary_key.columns).limit(1)
    if (row := connection.execute(stale).one_or_none()) is None:
        return None
    key = CellKey(row.set, row.mode, row.view, row.short)
    return StaleRanking(key, row.changes, _ranked_sums(connection, key)[1])


def refresh(connection: Connection, ranking: StaleRanking, maxima: Floats) -> None:
    """Give a stale ranking its maxima; if it has changed meanwhile, it stays as it is."""
    changes = connection.execute(select(rankings.c.changes).where(_is_ranking(ranking.key))).scalar_one()
    if changes == ranking.changes:
        _change(connection, ranking.key, maxima=maxima.astype(_STATISTICS).tobytes(), stale=False)


def changed_rankings(connection: Connection) -> Iterator[CellKey]:
    """Rankings whose ranges do not follow from their sign flips: these are compared pair by pair once more."""
    columns = [cells.c[name] for name in CellKey._fields]
    for row in connection.execute(select(*columns).where(cells.c.ranked).distinct().order_by(*columns)).all():
        key = CellKey(*row)
        runs, sums = _ranked_sums(connection, key)
        pairs = [flips.pair_statistics(sums[number], sums[:number]) for number in range(len(sums))]
        maxima = np.max([part.maxima for part in pairs], axis=0).astype(_STATISTICS)
        ranking = connection.execute(select(rankings).where(_is_ranking(key))).one_or_none()
        if ranking is None:
            yield key
            continue
        stored = np.frombuffer(ranking.maxima, _STATISTICS)
        if not (np.array_equal(stored, maxima) or (ranking.stale and (stored >= maxima).all())):
            yield key
            continue
        later, earlier = np.tril_indices(len(sums), -1)
        signed = np.concatenate([part.signed for part in pairs]).astype(_STATISTICS).astype(np.float64)
        expected = rank_ranges(len(sums), later, earlier, signed, flips.critical_value(stored.astype(np.float64)))
        if ranges(connection, key) != dict(zip(runs.tolist(), expected, strict=True)):
            yield key


def count_changes(connection: Connection) -> int:
    """How often rankings have changed: pages of two counts differ."""
    return int(connection.execute(select(func.coalesce(func.sum(rankings.c.changes), 0))).scalar_one())


def ranges(connection: Connection, key: CellKey) -> Mapping[int, RankRange]:
    """The ranks of the runs in a ranking."""
    query = select(pair_statistics).select_from(_ranked_with(pair_statistics)).where(_is_ranked(key))
    rows = connection.execute(query.order_by(cells.c.run)).all()
    if not rows:
        return {}
    runs, places = np.array([row.run for row in rows]), np.array([row.place for row in rows])
    others = np.frombuffer(b"".join(row.others for row in rows), _NUMBERS)
    signed = np.frombuffer(b"".join(row.statistics for row in rows), _STATISTICS)
    owners = np.repeat(np.arange(len(runs)), [len(row.others) // 8 for row in rows])
    partners = np.minimum(np.searchsorted(runs, others), len(runs) - 1)
    # Some have gone out since; one that has come again has the pair in its own row.
    there = (runs[partners] == others) & (places[partners] < places[owners])
    critical = flips.critical_value(_maxima(connection, key))
    found = rank_ranges(len(runs), owners[there], partners[there], signed[there].astype(np.float64), critical)
    return dict(zip(runs.tolist(), found, strict=True))


def pair_p(connection: Connection, key: CellKey, a: int, b: int) -> tuple[float, float]:
    """The p-value of two runs of a ranking, and the same corrected for all of its pairs."""
    difference = _sums_of(connection, a, key).astype(np.float64) - _sums_of(connection, b, key)
    statistics = flips.flip_statistics(difference).astype(_STATISTICS)  # as the maxima are, so that equal ones are
    observed = float(statistics[0])
    return flips.flip_p(statistics, observed), flips.flip_p(_maxima(connection, key), observed)


def _maxima(connection: Connection, key: CellKey) -> Floats:
    packed = connection.execute(select(rankings.c.maxima).where(_is_ranking(key))).scalar_one()
    return np.frombuffer(packed, _STATISTICS).astype(np.float64)


def _change(connection: Connection, key: CellKey, **values: object) -> None:
    changed = update(rankings).where(_is_ranking(key))
    connection.execute(changed.values(changes=rankings.c.changes + 1, **values))


def _keys_of(connection: Connection, run: int) -> list[CellKey]:
    columns = [cells.c[name] for name in CellKey._fields]
    query = select(*columns).where(cells.c.run == run).order_by(cells.c.mode, cells.c.view)
    return [CellKey(*row) for row in connection.execute(query)]


def _sums_of(connection: Connection, run: int, key: CellKey) -> Floats:
    query = select(sign_flips.c.sums).where(_is_cell(sign_flips, run, key))
    return np.frombuffer(connection.execute(query).scalar_one(), _STATISTICS)


def _ranked_sums(connection: Connection, key: CellKey) -> tuple[Ints, Floats]:
    """The runs of a ranking in their order, and their flipped sums, runs x flips."""
    query = select(cells.c.run, sign_flips.c.sums).select_from(_ranked_with(sign_flips)).where(_is_ranked(key))
    rows = connection.execute(query.order_by(cells.c.run)).all()
    sums = np.frombuffer(b"".join(row.sums for row in rows), _STATISTICS)
    return np.array([row.run for row in rows], _NUMBERS), sums.reshape(len(rows), flips.FLIPS)


class _KeptSums:
    """The flipped sums of the runs of a ranking, in the memory of a process that ranks again and again.

    A run is known by its digest, which is over its sums, too: what a number stands for is never guessed.
    """

    def __init__(self) -> None:
        self.sums = np.empty((0, flips.FLIPS), _STATISTICS)
        self.rows: dict[str, int] = {}  # by the digest of the run

    def add(self, packed: Mapping[str, bytes]) -> None:
        """Keep the sums of further runs, by digest."""
        new = np.frombuffer(b"".join(packed.values()), _STATISTICS).reshape(len(packed), flips.FLIPS)
        used = len(self.rows)
        if used + len(new) > len(self.sums):
            grown = np.empty((max(2 * used, used + len(new)), flips.FLIPS), _STATISTICS)
            grown[:used] = self.sums[:used]
            self.sums = grown
        self.sums[used : used + len(new)] = new
        self.rows |= {digest: used + place for place, digest in enumerate(packed)}


_KEPT: WeakKeyDictionary[Engine, dict[CellKey, _KeptSums]] = WeakKeyDictionary()
_MOST_KEPT = 256 << 20  # bytes, of all rankings of a board


def _kept_sums(connection: Connection, key: CellKey) -> tuple[Ints, Floats]:
    """As `_ranked_sums`, but sums that this process has read before are not read again."""
    query = select(cells.c.run, runs.c.digest).join(runs, runs.c.id == cells.c.run).where(_is_ranked(key))
    rows = connection.execute(query.order_by(cells.c.run)).all()
    of_board = _KEPT.setdefault(connection.engine, {})
    kept = of_board.pop(key, None) or _KeptSums()
    missing = {row.run: row.digest for row in rows if row.digest not in kept.rows}
    if missing:
        here = (sign_flips.c.mode == key.mode) & (sign_flips.c.view == key.view)
        packed = {}
        numbers = list(missing)
        for first in range(0, len(numbers), _RUNS_AT_ONCE):
            wanted = sign_flips.c.run.in_(numbers[first : first + _RUNS_AT_ONCE])
            for row in connection.execute(select(sign_flips.c.run, sign_flips.c.sums).where(here & wanted)):
                packed[missing[row.run]] = row.sums
        kept.add(packed)
    of_board[key] = kept  # the last one, as it was used last
    while len(of_board) > 1 and sum(other.sums.nbytes for other in of_board.values()) > _MOST_KEPT:
        del of_board[next(iter(of_board))]
    places = [kept.rows[row.digest] for row in rows]
    in_order = places == list(range(len(places)))
    sums = kept.sums[: len(places)] if in_order else kept.sums[places]
    return np.array([row.run for row in rows], _NUMBERS), sums


def _ranked_with(table: Table) -> Any:
    """Cells joined with the rows of another table that are of them."""
    return cells.join(table, and_(*(table.c[name] == cells.c[name] for name in ("run", "mode", "view"))))


def _is_ranked(key: CellKey) -> ColumnElement[bool]:
    return and_(*(cells.c[name] == value for name, value in key._asdict().items()), cells.c.ranked)


def _is_ranking(key: CellKey) -> ColumnElement[bool]:
    return and_(*(rankings.c[name] == value for name, value in key._asdict().items()))


def _is_cell(table: Table, run: int, key: CellKey) -> ColumnElement[bool]:
    return and_(table.c.run == run, table.c.mode == key.mode, table.c.view == key.view)
