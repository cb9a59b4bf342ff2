"""The order of a stream through a source, epoch by epoch, independent of workers."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, TypeVar

from vcrgen.builder.shards import Task
from vcrgen.rng import rng_for, shuffled

T = TypeVar("T")
REMEMBERED = 4  # cached epochs: workers may be in neighbouring ones


class Epoch(NamedTuple):
    """The windows of one epoch."""

    tasks: Sequence[int]  # indexes of the source's windows, in order
    before: Sequence[int]  # rows of the epoch before each of them


class Order:
    """An endless sequence of windows: blocks of a source's rows, each once in every epoch.

    Windows and rows (steps) are numbered from 0 over all epochs. Both depend on source and seed alone. ``tasks`` are
    the windows in source order; ``shuffle`` permutes windows and the rows inside them.
    """

    def __init__(self, tasks: Sequence[Task], *, seed: int, shuffle: bool) -> None:
        self._tasks, self._seed, self._shuffle = tasks, seed, shuffle
        self._epochs: dict[int, Epoch] = {}
        self.windows = len(tasks)  # of an epoch
        self.rows = sum(task.stop - task.start for task in tasks)  # of an epoch

    def epoch(self, window: int) -> int:
        """Return the epoch of a window."""
        return window // self.windows

    def task(self, window: int) -> Task:
        """Return the rows of a window."""
        epoch, place = divmod(window, self.windows)
        return self._tasks[self._order(epoch).tasks[place]]

    def size(self, window: int) -> int:
        """Return the number of rows of a window."""
        task = self.task(window)
        return task.stop - task.start

    def step(self, window: int, row: int) -> int:
        """Return the step of a row of a window."""
        epoch, place = divmod(window, self.windows)
        return epoch * self.rows + self._order(epoch).before[place] + row

    def find(self, step: int) -> tuple[int, int]:
        """Return the window of a step and its row in it."""
        epoch, row = divmod(step, self.rows)
        before = self._order(epoch).before
        place = bisect_right(before, row) - 1
        return epoch * self.windows + place, row - before[place]

    def shuffled_rows(self, window: int, values: Sequence[T]) -> Sequence[T]:
        """Return the content of a window in the order of its epoch."""
        if not self._shuffle:
            return values
        rng = rng_for(self._seed, f"stream rows {self.epoch(window)}", str(self.task(window).index))
        return shuffled(rng, values)

    def _order(self, epoch: int) -> Epoch:
        if epoch not in self._epochs:
            while len(self._epochs) >= REMEMBERED:
                del self._epochs[min(self._epochs)]
            tasks: Sequence[int] = range(self.windows)
            if self._shuffle:
                tasks = shuffled(rng_for(self._seed, "stream windows", str(epoch)), tasks)
            sizes = (self._tasks[index].stop - self._tasks[index].start for index in tasks)
            self._epochs[epoch] = Epoch(tasks, [0, *accumulate(sizes)][:-1])
        return self._epochs[epoch]
