"""The position of a stream: the shares of ranks and workers, and their finished windows.

A position does not depend on the number of workers: the remaining windows are divided anew among the next workers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Any, Self

from vcrgen.stream.order import Order

Windows = Iterator[tuple[int, int]]
"""Window numbers, each with the number of its finished rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The finished windows of a share."""

    start: int = 0  # all of them before this number are done
    rows: Mapping[int, int] = field(default_factory=dict)  # finished rows of later windows

    def left(self, windows: Iterable[tuple[int, int]], order: Order) -> Windows:
        """Yield the unfinished windows."""
        for window, before in windows:
            if window >= self.start:
                done = max(before, self.rows.get(window, 0))
                if not done or done < order.size(window):
                    yield window, done

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"start": self.start, "rows": {str(window): rows for window, rows in sorted(self.rows.items())}}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read the result of :meth:`to_json`; ValueError, KeyError or TypeError for other values."""
        start, rows = int(value["start"]), {int(window): int(done) for window, done in dict(value["rows"]).items()}
        if min([start, *rows, *rows.values()]) < 0:
            raise ValueError("negative")
        return cls(start=start, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of the remaining windows: every ``count``-th from the ``index``-th on."""

    done: Progress  # progress before the division
    index: int  # from 0
    count: int  # number of shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The position of a rank or worker."""

    shares: tuple[Share, ...] = ()  # the share of a rank, and inside it the share of a worker
    done: Progress = field(default_factory=Progress)  # progress within the share
    until: int | None = None  # the epoch at which the running iteration ends, or None

    @property
    def start(self) -> int:
        """Return the number of the first window that may be unfinished."""
        return max([self.done.start, *(share.done.start for share in self.shares)])

    def windows(self, order: Order) -> Windows:
        """Yield the unfinished windows, endlessly."""
        first = self.shares[0].done if self.shares else self.done
        found: Iterator[tuple[int, int]] = ((window, 0) for window in count(first.start))
        for share in self.shares:
            found = islice(share.done.left(found, order), share.index, None, share.count)
        return self.done.left(found, order)

    def share(self, index: int, count: int) -> Self:
        """Return a share of the remaining windows."""
        return replace(self, shares=(*self.shares, Share(done=self.done, index=index, count=count)), done=Progress())

    def at(self, window: int, rows: int) -> Self:
        """Return the position with all windows before one, and some rows of it, finished."""
        later = {number: done for number, done in self.done.rows.items() if number > window}
        return replace(self, done=Progress(start=window, rows={window: rows} | later if rows else later))

    def merged(self, parts: Sequence[Progress], order: Order) -> Self:
        """Return the position after its remaining windows were divided, given the progress of each part."""
        rows: dict[int, int] = {}
        start: int | None = None
        last = max(max(part.start, *part.rows, 0) for part in parts)
        for number, (window, before) in enumerate(self.windows(order)):
            size = order.size(window)
            part = parts[number % len(parts)]
            done = max(before, size if window < part.start else part.rows.get(window, 0))
            if start is None and done < size:
                start = window
            if start is not None and done:
                rows[window] = done
            if start is not None and window >= last:
                break
        assert start is not None
        before_this = {window: done for window, done in self.done.rows.items() if window >= start}
        return replace(self, done=Progress(start=start, rows=before_this | rows))

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        shares = [{"done": share.done.to_json(), "share": [share.index, share.count]} for share in self.shares]
        return {"shares": shares, "done": self.done.to_json(), "until": self.until}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read the result of :meth:`to_json`; ValueError, KeyError or TypeError for other values."""
        shares = []
        for share in value["shares"]:
            index, number = map(int, share["share"])
            if not 0 <= index < number:
                raise ValueError("no share")
            shares.append(Share(done=Progress.from_json(share["done"]), index=index, count=number))
        until = None if value["until"] is None else int(value["until"])
        return cls(shares=tuple(shares), done=Progress.from_json(value["done"]), until=until)


class Tracker:
    """Tracks the position of a stream with several workers by the steps of their examples."""

    def __init__(self, place: Position, workers: int, order: Order) -> None:
        self._place, self._order = place, order
        self._done = [Progress() for _ in range(workers)]
        self._windows = enumerate(place.windows(order))
        self._workers: dict[int, int] = {}
        self._last = -1

    def record(self, step: int) -> bool:
        """Record a row; False if it was finished before the start."""
        window, row = self._order.find(step)
        while self._last < window:
            number, (self._last, _) = next(self._windows)
            self._workers[self._last] = number % len(self._done)
        if window not in self._workers:
            return False
        self._done[self._workers[window]] = Progress(start=window, rows={window: row + 1})
        return True

    def place(self) -> Position:
        """Return the current position."""
        return self._place.merged(self._done, self._order)
