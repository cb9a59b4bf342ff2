"""How far a stream is: which windows of its order are whose, and what of them is done.

A place does not know how many workers there were: it tells what is left, and that is divided anew, window by
window, among however many go on with it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Any, Self

from vcrgen.stream.order import Order

Windows = Iterator[tuple[int, int]]
"""Numbers of windows, each with the rows of it that are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What is done of some windows."""

    start: int = 0  # all of them before this number are done
    rows: Mapping[int, int] = field(default_factory=dict)  # for later ones, the rows that are done, if there are any

    def left(self, windows: Iterable[tuple[int, int]], order: Order) -> Windows:
        """The windows that are not done."""
        for window, before in windows:
            if window >= self.start:
                done = max(before, self.rows.get(window, 0))
                if not done or done < order.size(window):
                    yield window, done

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {"start": self.start, "rows": {str(window): rows for window, rows in sorted(self.rows.items())}}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """From what :meth:`to_json` gave; ValueError, KeyError or TypeError for anything else."""
        start, rows = int(value["start"]), {int(window): int(done) for window, done in dict(value["rows"]).items()}
        if min([start, *rows, *rows.values()]) < 0:
            raise ValueError("negative")
        return cls(start=start, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of what was left: every ``count``-th window from the ``index``-th on."""

    done: Progress  # what was done before
    index: int  # from 0
    count: int  # how many shares there are


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Whose windows, and what of them is done."""

    shares: tuple[Share, ...] = ()  # the share of a rank, and inside it the share of a worker
    done: Progress = field(default_factory=Progress)  # what is done of that
    until: int | None = None  # the epoch before which the iteration that is under way ends, or None

    @property
    def start(self) -> int:
        """The number before which no window is left."""
        return max([self.done.start, *(share.done.start for share in self.shares)])

    def windows(self, order: Order) -> Windows:
        """The windows that are left, without end."""
        first = self.shares[0].done if self.shares else self.done
        found: Iterator[tuple[int, int]] = ((window, 0) for window in count(first.start))
        for share in self.shares:
            found = islice(share.done.left(found, order), share.index, None, share.count)
        return self.done.left(found, order)

    def share(self, index: int, count: int) -> Self:
        """A share of what is left."""
        return replace(self, shares=(*self.shares, Share(done=self.done, index=index, count=count)), done=Progress())

    def at(self, window: int, rows: int) -> Self:
        """The place with all windows before one, and so many rows of that one, done."""
        later = {number: done for number, done in self.done.rows.items() if number > window}
        return replace(self, done=Progress(start=window, rows={window: rows} | later if rows else later))

    def merged(self, parts: Sequence[Progress], order: Order) -> Self:
        """The place after what is left of it was divided, and so much of each part is done."""
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
        """As JSON values."""
        shares = [{"done": share.done.to_json(), "share": [share.index, share.count]} for share in self.shares]
        # `deals` is what states are called by that users have kept.
        return {"deals": shares, "done": self.done.to_json(), "until": self.until}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """From what :meth:`to_json` gave; ValueError, KeyError or TypeError for anything else."""
        shares = []
        for share in value["deals"]:
            index, number = map(int, share["share"])
            if not 0 <= index < number:
                raise ValueError("no share")
            shares.append(Share(done=Progress.from_json(share["done"]), index=index, count=number))
        until = None if value["until"] is None else int(value["until"])
        return cls(shares=tuple(shares), done=Progress.from_json(value["done"]), until=until)


class Tracker:
    """Finds the place of a stream that several workers go through from a place on, by the steps that they hand out."""

    def __init__(self, place: Place, workers: int, order: Order) -> None:
        self._place, self._order = place, order
        self._done = [Progress() for _ in range(workers)]
        self._windows = enumerate(place.windows(order))
        self._workers: dict[int, int] = {}
        self._last = -1

    def handed_out(self, step: int) -> bool:
        """Note a row; whether it is one that was left at the start."""
        window, row = self._order.find(step)
        while self._last < window:
            number, (self._last, _) = next(self._windows)
            self._workers[self._last] = number % len(self._done)
        if window not in self._workers:
            return False
        self._done[self._workers[window]] = Progress(start=window, rows={window: row + 1})
        return True

    def place(self) -> Place:
        """The place after all that was noted."""
        return self._place.merged(self._done, self._order)
