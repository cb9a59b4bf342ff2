"""The position of a stream: the shares of ranks and workers, and their finished windows.

A position does not depend on the number of workers: the remaining windows are divided anew among the next workers.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Annotated, Self

from pydantic import Field, TypeAdapter

from vcrgen.builder.stream.order import Order

Number = Annotated[int, Field(ge=0)]

Windows = Iterator[tuple[int, int]]
"""Window numbers, each with the number of its finished rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The finished windows of a share."""

    start: Number = 0  # all of them before this number are done
    rows: dict[Number, Number] = field(default_factory=dict)  # finished rows of later windows

    def left(self, windows: Iterable[tuple[int, int]], order: Order) -> Windows:
        """Yield the unfinished windows."""
        for window, before in windows:
            if window >= self.start:
                done = max(before, self.rows.get(window, 0))
                if not done or done < order.size(window):
                    yield window, done


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of the remaining windows: every ``n``-th from the ``i``-th on, for a share ``(i, n)``."""

    done: Progress  # progress before the division
    share: tuple[Number, Number]  # its number, from 0 on, and the number of shares

    def __post_init__(self) -> None:
        index, number = self.share
        if index >= number:
            raise ValueError("no share")


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The position of a rank or worker."""

    shares: tuple[Share, ...] = ()  # the share of a rank, and inside it the share of a worker
    done: Progress = field(default_factory=Progress)  # progress within the share
    until: int | None = None  # the epoch at which the running iteration ends, or None

    @property
    def start(self) -> int:
        """The number of the first window that may be unfinished."""
        return max([self.done.start, *(share.done.start for share in self.shares)])

    @property
    def has_later_rows(self) -> bool:
        """Whether rows after the first window that may be unfinished are finished."""
        return any(done.rows for done in (self.done, *(share.done for share in self.shares)))

    def windows(self, order: Order) -> Windows:
        """Yield the unfinished windows, endlessly."""
        first = self.shares[0].done if self.shares else self.done
        windows: Iterator[tuple[int, int]] = ((window, 0) for window in count(first.start))
        for share in self.shares:
            index, number = share.share
            windows = islice(share.done.left(windows, order), index, None, number)
        return self.done.left(windows, order)

    def share(self, index: int, count: int) -> Self:
        """The remaining windows' share number ``index``, from 0, of ``count``."""
        return replace(self, shares=(*self.shares, Share(done=self.done, share=(index, count))), done=Progress())

    def at(self, window: int, rows: int) -> Self:
        """The position with all windows before one, and some rows of it, finished."""
        later = {number: done for number, done in self.done.rows.items() if number > window}
        return replace(self, done=Progress(start=window, rows={window: rows} | later if rows else later))

    def merged(self, parts: Sequence[Progress], order: Order) -> Self:
        """The position after its remaining windows were divided, given the progress of each part."""
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
        return replace(self, done=Progress(start=start, rows=dict(sorted((before_this | rows).items()))))


POSITIONS = TypeAdapter(Position)
"""Reads and writes positions as JSON values."""


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
        """The position after the last recorded step."""
        return self._place.merged(self._done, self._order)
