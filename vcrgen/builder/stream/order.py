"""The order of a stream through a source, epoch by epoch, independent of workers."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, TypeVar

from vcrgen.builder.shards import Task
from vcrgen.core.rng import rng_for, shuffled

T = TypeVar("T")
REMEMBERED = 4  # cached epochs: workers may be in neighbouring ones


class Epoch(NamedTuple):
    """The windows of one epoch."""

    windows: Sequence[Sequence[int]]  # indexes of the runs of each window, in order
    before: Sequence[int]  # rows of the epoch before each window


class Order:
    """An endless sequence of windows of a source's rows. Every row is in one window of each epoch.

    Windows and rows (steps) are numbered from 0 over all epochs. Both depend on source and seed alone.

    Args:
        tasks: Runs of neighbouring rows, in source order.
        shuffle: Runs are put into windows at random, and rows are permuted inside of a window.
        runs: Number of the runs of a window; the last one of an epoch may have fewer.
    """

    def __init__(self, tasks: Sequence[Task], *, seed: int, shuffle: bool, runs: int = 1) -> None:
        self._tasks, self._seed, self._shuffle, self._runs = tasks, seed, shuffle, runs
        self._epochs: dict[int, Epoch] = {}
        self.windows = -(-len(tasks) // runs)  # of an epoch
        self.rows = sum(task.stop - task.start for task in tasks)  # of an epoch

    def epoch(self, window: int) -> int:
        """The epoch of a window, from 0."""
        return window // self.windows

    def runs(self, window: int) -> list[Task]:
        """Runs of neighbouring rows in a window, in the order of its epoch."""
        epoch, place = divmod(window, self.windows)
        return [self._tasks[index] for index in self._order(epoch).windows[place]]

    def size(self, window: int) -> int:
        """Rows in a window."""
        return sum(run.stop - run.start for run in self.runs(window))

    def step(self, window: int, row: int) -> int:
        """The step of a row, numbered over all epochs; ``row`` counts from 0 in its window."""
        epoch, place = divmod(window, self.windows)
        return epoch * self.rows + self._order(epoch).before[place] + row

    def find(self, step: int) -> tuple[int, int]:
        """The inverse of `step`: a step's window, and its row in the window."""
        epoch, row = divmod(step, self.rows)
        before = self._order(epoch).before
        place = bisect_right(before, row) - 1
        return epoch * self.windows + place, row - before[place]

    def shuffled_rows(self, window: int, values: Sequence[T]) -> Sequence[T]:
        """A window's values, given run by run, permuted for its epoch; unchanged without shuffling."""
        if not self._shuffle:
            return values
        rng = rng_for(self._seed, f"stream rows {self.epoch(window)}", str(self.runs(window)[0].index))
        return shuffled(rng, values)

    def _order(self, epoch: int) -> Epoch:
        if epoch not in self._epochs:
            while len(self._epochs) >= REMEMBERED:
                del self._epochs[min(self._epochs)]
            tasks: Sequence[int] = range(len(self._tasks))
            if self._shuffle:
                tasks = shuffled(rng_for(self._seed, "stream windows", str(epoch)), tasks)
            windows = [tasks[start : start + self._runs] for start in range(0, len(tasks), self._runs)]
            sizes = (sum(self._tasks[index].stop - self._tasks[index].start for index in window) for window in windows)
            self._epochs[epoch] = Epoch(windows, [0, *accumulate(sizes)][:-1])
        return self._epochs[epoch]
