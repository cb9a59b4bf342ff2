"""Cost estimates of builds, measured on a sample of the pairs. Nothing is written."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from vcrgen.builder.pipeline import Pipeline, batched
from vcrgen.builder.records import Pair
from vcrgen.builder.run import plan_build
from vcrgen.builder.shards import ROW_GROUP, Plan, Task, parquet_writer, write_rows
from vcrgen.builder.sources import Source, items_at
from vcrgen.config.build import BuildConfig
from vcrgen.records import Item, Mode, Reject
from vcrgen.samples import sample_pair
from vcrgen.work.progress import ProgressListener

SAMPLE = 64  # rows
WINDOWS = 16  # places of the source that they come from
CONDITION_ROWS = 32  # rows at each place where conditions leave out some
COSTLY_BYTES = 64 << 20  # of a row group: what each process may well read again
NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True)
class Range:
    """A prediction with its 95 % interval, which treats the sample as a random one."""

    value: float
    low: float
    high: float

    def times(self, factor: float, *, plus: float = 0.0) -> Self:
        """Return the range scaled by ``factor`` and shifted by ``plus``."""
        return type(self)(*(factor * end + plus for end in (self.value, self.low, self.high)))


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildEstimate:
    """The predicted size and cost of a build, on machines like this one."""

    source: str  # one line on where the pairs come from
    source_files: int  # files, or other partitions, that are read
    rows: int  # rows that are read; exact
    shards: int  # tasks; exact
    shard_size: int  # rows of a task, at most
    row_group_rows: int  # rows of the largest row group that several processes would read from its beginning; 0: none
    row_group_bytes: int  # its size, about
    sampled: int  # rows of the sample
    skipped: int  # those that do not meet the conditions
    rejected: dict[str, int]  # number of rejected rows by reason, without duplicates
    pairs: Range  # pairs that will be built
    seconds_per_row: Range  # of one core
    core_hours: Range  # for all rows
    files: int  # data files written, where no file is put together from others (one split, no duplicates)
    bytes: dict[str, Range]  # size of the data files of each mode
    total_bytes: Range  # of all modes

    @property
    def share_rejected(self) -> float:
        """Return the share of rejected rows among the sampled rows that meet the conditions."""
        return sum(self.rejected.values()) / max(1, self.sampled - self.skipped)


class _SampledRows:
    """The first rows of tasks, built by the real stages and written to nowhere, with times and sizes."""

    def __init__(self, pipeline: Pipeline, source: Source, tasks: Sequence[Task], rows: int) -> None:
        self._pipeline = pipeline
        self.opening: list[float] = []  # seconds to the first row of a task
        self.seconds: list[float] = []  # by row, without the opening of a task
        self.images: list[dict[Mode, int]] = []  # by row, bytes of its images; empty where no pair was built
        self.rejected = Counter[str]()
        self.skipped = 0
        self.writing = 0.0  # seconds
        self.file_bytes = self._write([])  # of a file without rows, by mode
        self.bytes = self._write(self._pairs(source, tasks, rows))  # of one file of all pairs, by mode

    def _pairs(self, source: Source, tasks: Sequence[Task], rows: int) -> Iterator[Pair]:
        for task in tasks:
            numbers = range(task.start, min(task.start + rows, task.stop))
            items = items_at(source, self._pipeline.config, task.partition, numbers)
            clock = time.perf_counter()
            for number, item in enumerate(items):
                spent = time.perf_counter() - clock
                if not number:
                    self.opening.append(spent)
                self.seconds.append(spent if number else 0.0)
                self.images.append({})
                yield from self._build(item)
                clock = time.perf_counter()

    def _build(self, item: Item | None) -> Iterator[Pair]:
        """Build the pair of the row read last; yields nothing for a rejected or filtered row."""
        if item is None:
            self.skipped += 1
            return
        clock = time.perf_counter()
        (pair,) = self._pipeline.pairs([item])
        self.seconds[-1] += time.perf_counter() - clock
        if isinstance(pair, Reject):
            self.rejected[str(pair.reason)] += 1
            return
        for mode, images in pair.images.items():
            sizes = map(len, (pair.photo, images.stacked, images.only_it, images.only_it_small))
            self.images[-1][mode] = sum(sizes)
        yield pair

    def _write(self, pairs: Iterable[Pair]) -> dict[Mode, int]:
        """Return the file size of every mode for these pairs."""
        sinks = {mode: pa.MockOutputStream() for mode in self._pipeline.config.modes}
        writers = {mode: parquet_writer(sink, self._pipeline.config) for mode, sink in sinks.items()}
        for group in batched(pairs, ROW_GROUP):
            clock = time.perf_counter()
            for mode, writer in writers.items():
                write_rows(writer, [self._pipeline.row(pair, mode) for pair in group])
            self.writing += time.perf_counter() - clock
        for writer in writers.values():
            writer.close()
        return {mode: sink.size() for mode, sink in sinks.items()}


def estimate(config: BuildConfig, *, listener: ProgressListener | None = None) -> BuildEstimate:
    """Plan a build, send some of its rows through the real stages, and predict the whole.

    The sample is the first rows of tasks spread over the source. Time is that of one process on this machine, as busy
    as it is; writing to the disk is left out.

    About 64 rows are read; with conditions on rows, some hundred.

    Raises:
        VcrgenError: As a build of the same configuration.
    """
    listener = listener or ProgressListener()
    plan, source, pipeline = plan_build(config, listener)
    listener.stage("measuring a sample")
    warm = sample_pair(config.lang, 0)
    list(pipeline.pairs([Item(source_id="", image=warm.image, caption=warm.caption)]))  # loads jieba
    places = min(WINDOWS, len(plan.tasks))
    tasks = [plan.tasks[(2 * number + 1) * len(plan.tasks) // (2 * places)] for number in range(places)]
    measured = _SampledRows(pipeline, source, tasks, CONDITION_ROWS if config.where else -(-SAMPLE // len(tasks)))
    return _predict(plan, source, config, measured)


def _predict(plan: Plan, source: Source, config: BuildConfig, sample: _SampledRows) -> BuildEstimate:
    rows, sampled = plan.rows, len(sample.seconds)
    built = [1.0 if images else 0.0 for images in sample.images]
    opening = len(plan.tasks) * float(np.mean(sample.opening)) / rows
    writing = sample.writing / sampled
    seconds = _mean(sample.seconds, rows, plus=opening + writing)
    sizes = {}
    for mode in config.modes:
        images = [float(image.get(mode, 0)) for image in sample.images]
        # Captions, spans and the file's own marks come on top of the images.
        overhead = (sample.bytes[mode] - sample.file_bytes[mode]) / max(1.0, sum(images))
        sizes[mode] = _mean(images, rows).times(rows * overhead, plus=len(plan.tasks) * sample.file_bytes[mode])
    ranges = sizes.values()
    group_rows, group_bytes = _largest_row_group(plan, source)
    return BuildEstimate(
        source=source.description,
        source_files=1 + max(task.partition for task in plan.tasks),
        rows=rows,
        shards=len(plan.tasks),
        shard_size=plan.shard_size,
        row_group_rows=group_rows,
        row_group_bytes=group_bytes,
        sampled=sampled,
        skipped=sample.skipped,
        rejected=dict(sample.rejected.most_common()),
        pairs=_share(built, rows).times(rows),
        seconds_per_row=seconds,
        core_hours=seconds.times(rows / 3600),
        files=len(plan.tasks) * len(config.modes),
        bytes={str(mode): size for mode, size in sizes.items()},
        total_bytes=Range(*(sum(ends) for ends in zip(*((s.value, s.low, s.high) for s in ranges), strict=True))),
    )


def _largest_row_group(plan: Plan, source: Source) -> tuple[int, int]:
    """Return the rows and bytes of the largest row group, if it is larger than a shard and costly to read again."""
    largest = (0, 0)
    partitions = source.partitions()
    for number, stop in {task.partition: task.stop for task in plan.tasks}.items():
        rows = min(source.chunk_rows(number), stop)
        size = partitions[number].size * rows // max(1, partitions[number].rows)
        if rows > plan.shard_size and size > COSTLY_BYTES:
            largest = max(largest, (rows, size), key=lambda group: group[1])
    return largest


def _mean(values: Sequence[float], population: int, *, plus: float = 0.0) -> Range:
    """Return the mean of a sample with its interval (finite population)."""
    count = len(values)
    mean = float(np.mean(values))
    spread = float(np.std(values, ddof=1)) if count > 1 else mean
    half = NORMAL_95 * spread / np.sqrt(count) * _finite_correction(count, population)
    return Range(mean + plus, max(0.0, mean - half) + plus, mean + half + plus)


def _share(values: Sequence[float], population: int) -> Range:
    """Return the share of ones with its Wilson interval."""
    count, share = len(values), float(np.mean(values))
    z = NORMAL_95 * _finite_correction(count, population)
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return Range(share, max(0.0, float(middle - half)), min(1.0, float(middle + half)))


def _finite_correction(count: int, population: int) -> float:
    """Return the finite population correction of the standard error."""
    return float(np.sqrt(max(0.0, 1 - count / population)))
