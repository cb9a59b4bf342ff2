"""What a build will cost, measured on a sample of its pairs before anything runs. Nothing is written."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import Pair
from vcrgen.builder.run import plan_build
from vcrgen.builder.shards import ROW_GROUP, PartWriter, Plan, Task
from vcrgen.builder.sources import Source, iter_rows
from vcrgen.config import BuildConfig
from vcrgen.records import Item, Mode, Reject
from vcrgen.samples import sample_pair
from vcrgen.work.watcher import Watcher

SAMPLE = 64  # rows
WINDOWS = 16  # places of the source that they come from
CONDITION_ROWS = 32  # rows at each place where conditions leave out some
NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A prediction, and the ends of its 95 % interval, as if the rows of the sample had been drawn at random."""

    value: float
    low: float
    high: float

    def times(self, factor: float, *, plus: float = 0.0) -> Range:
        """The range of ``factor`` times the value, plus something known."""
        return Range(value=self.value * factor + plus, low=self.low * factor + plus, high=self.high * factor + plus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a build will consist of and cost, on machines like this one.

    Attributes:
        source: One line on where the pairs come from.
        source_files: Files, or other partitions, that are read.
        rows: Rows that are read; exact.
        shards: Tasks; exact.
        shard_size: Rows of a task, at most.
        sampled: Rows of the sample.
        skipped: Those that do not meet the conditions.
        drops: Those set aside, by reason. Duplicates show only in a build.
        pairs: Pairs that will be built.
        seconds_per_row: Of one core.
        core_hours: For all rows.
        files: Data files written, where no file is put together from others (one split, no duplicates).
        bytes: Size of the data files of each mode.
        total_bytes: Of all modes.
    """

    source: str
    source_files: int
    rows: int
    shards: int
    shard_size: int
    sampled: int
    skipped: int
    drops: dict[str, int]
    pairs: Range
    seconds_per_row: Range
    core_hours: Range
    files: int
    bytes: dict[str, Range]
    total_bytes: Range

    @property
    def share_set_aside(self) -> float:
        """Of the sampled rows that meet the conditions."""
        return sum(self.drops.values()) / max(1, self.sampled - self.skipped)


class _SampleRun:
    """Rows sent through the real stages, into files that go nowhere; each row's time and sizes are kept.

    Args:
        pipeline: The stages.
        source: Where the rows are.
    """

    def __init__(self, pipeline: Pipeline, source: Source) -> None:
        self._pipeline = pipeline
        self._source = source
        self._modes = pipeline.config.modes
        self.opening: list[float] = []  # seconds to the first row of a task
        self.seconds: list[float] = []  # by row, what comes before the first one left out
        self.images: list[dict[Mode, int]] = []  # by row, bytes of its images; empty where no pair was built
        self.drops = Counter[str]()
        self.skipped = 0
        self.writing = 0.0  # seconds
        self.file_bytes: dict[Mode, int] = {}  # of a file without rows
        self.bytes: dict[Mode, int] = {}  # of all pairs, without that

    def take(self, tasks: Sequence[Task], rows: int) -> None:
        """Read, build and write the first rows of some tasks."""
        waiting: list[Pair] = []
        with ExitStack() as stack:
            nowhere = Path(os.devnull)
            writers = {mode: stack.enter_context(PartWriter(nowhere)) for mode in self._modes}
            empty = {mode: stack.enter_context(PartWriter(nowhere)) for mode in self._modes}
            self.file_bytes = {mode: writer.close()[0] for mode, writer in empty.items()}
            for task in tasks:
                for item in self._read(task, min(task.start + rows, task.stop)):
                    waiting += self._build(item)
                    if len(waiting) == ROW_GROUP:
                        self._write(waiting, writers)
                        waiting = []
            self._write(waiting, writers)
            self.bytes = {mode: writer.close()[0] - self.file_bytes[mode] for mode, writer in writers.items()}

    def _read(self, task: Task, stop: int) -> Iterator[Item | None]:
        clock = time.perf_counter()
        opened = False
        for item in iter_rows(self._source, self._pipeline.config, task.partition, task.start, stop):
            spent = time.perf_counter() - clock
            if not opened:
                self.opening.append(spent)
            self.seconds.append(spent if opened else 0.0)
            self.images.append({})
            opened = True
            yield item
            clock = time.perf_counter()

    def _build(self, item: Item | None) -> list[Pair]:
        """The pair of the row read last, if it makes one."""
        if item is None:
            self.skipped += 1
            return []
        clock = time.perf_counter()
        (outcome,) = self._pipeline.pairs([item])
        self.seconds[-1] += time.perf_counter() - clock
        if isinstance(outcome, Reject):
            self.drops[str(outcome.reason)] += 1
            return []
        for mode, view in outcome.views.items():
            images = (outcome.image, view.stacked, view.only_it, view.only_it_small)
            self.images[-1][mode] = sum(map(len, images))
        return [outcome]

    def _write(self, pairs: list[Pair], writers: dict[Mode, PartWriter]) -> None:
        clock = time.perf_counter()
        for mode, writer in writers.items():
            if pairs:
                writer.write([self._pipeline.row(pair, mode) for pair in pairs])
        self.writing += time.perf_counter() - clock


def estimate(config: BuildConfig, *, sample: int = SAMPLE, watcher: Watcher | None = None) -> Estimate:
    """Plan a build, send some of its rows through the real stages, and predict the whole.

    The sample is the first rows of tasks spread over the source. Time is that of one process on this machine, as busy
    as it is; writing to the disk is left out.

    Args:
        config: What would be built.
        sample: Rows to read; with conditions on rows, some hundred are read.
        watcher: Told of the stages.

    Raises:
        VcrgenError: As a build of the same configuration.
    """
    watcher = watcher or Watcher()
    plan, source, pipeline = plan_build(config, watcher)
    watcher.stage("measuring a sample")
    warm = sample_pair(config.lang, 0)
    list(pipeline.pairs([Item(source_id="", image=warm.image, caption=warm.caption)]))  # jieba loads when it is asked
    tasks = _spread(plan.tasks, min(WINDOWS, len(plan.tasks)))
    measured = _SampleRun(pipeline, source)
    measured.take(tasks, CONDITION_ROWS if config.where else -(-sample // len(tasks)))
    return _predict(plan, source, config, measured)


def _spread(tasks: Sequence[Task], count: int) -> list[Task]:
    """Some tasks, evenly spread."""
    return [tasks[(2 * number + 1) * len(tasks) // (2 * count)] for number in range(count)]


def _predict(plan: Plan, source: Source, config: BuildConfig, sample: _SampleRun) -> Estimate:
    rows, sampled = plan.rows, len(sample.seconds)
    built = [1.0 if images else 0.0 for images in sample.images]
    opening = len(plan.tasks) * float(np.mean(sample.opening)) / rows
    writing = sample.writing / sampled
    seconds = _mean(sample.seconds, rows, plus=opening + writing)
    sizes = {}
    for mode in config.modes:
        images = [float(image.get(mode, 0)) for image in sample.images]
        # Captions, spans and the file's own marks come on top of the images.
        more = sample.bytes[mode] / max(1.0, sum(images))
        sizes[mode] = _mean(images, rows).times(rows * more, plus=len(plan.tasks) * sample.file_bytes[mode])
    total = [sizes[mode] for mode in config.modes]
    return Estimate(
        source=source.description,
        source_files=1 + max(task.partition for task in plan.tasks),
        rows=rows,
        shards=len(plan.tasks),
        shard_size=plan.shard_size,
        sampled=sampled,
        skipped=sample.skipped,
        drops=dict(sample.drops.most_common()),
        pairs=_share(built, rows).times(rows),
        seconds_per_row=seconds,
        core_hours=seconds.times(rows / 3600),
        files=len(plan.tasks) * len(config.modes),
        bytes={str(mode): size for mode, size in sizes.items()},
        total_bytes=Range(
            value=sum(size.value for size in total),
            low=sum(size.low for size in total),
            high=sum(size.high for size in total),
        ),
    )


def _mean(values: Sequence[float], population: int, *, plus: float = 0.0) -> Range:
    """The mean of a sample and its interval; of a whole population, the interval is the mean."""
    count = len(values)
    mean = float(np.mean(values))
    spread = float(np.std(values, ddof=1)) if count > 1 else mean
    half = NORMAL_95 * spread / np.sqrt(count) * _unseen(count, population)
    return Range(value=mean + plus, low=max(0.0, mean - half) + plus, high=mean + half + plus)


def _share(values: Sequence[float], population: int) -> Range:
    """The mean of zeros and ones, and its interval after Wilson, which is right near 0 and 1 too."""
    count, share = len(values), float(np.mean(values))
    z = NORMAL_95 * _unseen(count, population)
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return Range(value=share, low=max(0.0, float(middle - half)), high=min(1.0, float(middle + half)))


def _unseen(count: int, population: int) -> float:
    """How much less a sample of a finite population leaves open: nothing where it is all of it."""
    return float(np.sqrt(max(0.0, 1 - count / population)))
