"""The unit of work: a frozen plan, and a function that turns one task of it into finished files.

Inside the work folder:

    plan.json               what is to be done, and a fingerprint of all that decides the bytes
    parts/00007-hard.parquet    one mode of one task, under its final name before its manifest
    keys/00007.npy          hashes of its pairs, by which duplicates and splits are found
    rejects/00007.jsonl     what the task set aside
    manifests/00007.json    written last: the task is done

A task may run twice or be killed anywhere: its files appear whole or not at all, with the same bytes each time.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.metadata
import io
import json
import platform
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, astuple, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import features

from vcrgen.builder.engines.base import Report
from vcrgen.builder.keys import KEY_DTYPE
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import Pair
from vcrgen.builder.sources import Source, iter_items
from vcrgen.builder.sources.base import Partition
from vcrgen.config import BuildConfig
from vcrgen.files import canonical_json
from vcrgen.records import Mode, Reject
from vcrgen.signature import Signature
from vcrgen.storage import Folder
from vcrgen.tasks.vcr import VCR
from vcrgen.work.folder import PLAN, WorkFolder

ROW_GROUP = 64  # rows held in memory at a time, and read together by whoever loads the dataset
MAX_SHARD = 512  # pairs, about 100 MB a mode
MIN_SHARD, SHARDS = 16, 32  # small sources are cut finer, so that several workers have something to do
# Packages whose version may change the bytes of a dataset.
BYTE_PACKAGES = ("vcrgen", "pillow", "numpy", "zlib-ng", "pyarrow", "regex", "spacy", "jieba")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Rows ``start`` to ``stop`` of one partition."""

    index: int
    partition: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a build consists of.

    Attributes:
        fingerprint: Hash of everything that decides the bytes of the parts.
        dataset_fingerprint: Hash of that and of what decides how parts become a dataset.
        facts: What the fingerprint stands for, by name, to say what another plan differs in.
        shard_size: Pairs that a task reads, and rows that a file of the dataset holds, at most.
        tasks: In the order of the source.
    """

    fingerprint: str
    dataset_fingerprint: str
    facts: dict[str, Any]
    shard_size: int
    tasks: tuple[Task, ...]

    @property
    def rows(self) -> int:
        """Rows that will be read."""
        return sum(task.stop - task.start for task in self.tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """What a finished task has written; the content of its manifest.

    Attributes:
        index: The task's.
        fingerprint: The plan's.
        rows: Pairs built; each is one row in the part of every mode.
        drops: Pairs set aside, by reason.
        bytes: Size of the part of each mode.
        sha256: Hash of the part of each mode.
    """

    index: int
    fingerprint: str
    rows: int
    drops: dict[str, int]
    bytes: dict[str, int]
    sha256: dict[str, str]


def make_plan(config: BuildConfig, partitions: list[Partition], *, signature: str) -> Plan:
    """Cut partitions into tasks.

    Args:
        config: The configuration.
        partitions: Those of the source, cut to the configuration's limit.
        signature: The dataset's, which holds the versions of fonts and pipelines.
    """
    size, tasks = cut_tasks(config, partitions)
    inputs = [asdict(partition) for partition in partitions]
    here = environment()
    fingerprint = _hash({"config": config.part_hash(), "signature": signature, "partitions": inputs, **here})
    dataset = hashlib.sha256(f"{fingerprint} {config.splits}".encode()).hexdigest()
    facts = dict(Signature.parse(signature).facts) | config.published() | here["versions"] | here["codecs"]
    facts |= {"freetype": here["freetype"], "machine": here["machine"], "files of the source": _hash(inputs)}
    del facts["splits"]  # of which the parts know nothing
    return Plan(fingerprint=fingerprint, dataset_fingerprint=dataset, facts=facts, shard_size=size, tasks=tasks)


def _hash(value: Any) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def cut_tasks(config: BuildConfig, partitions: list[Partition]) -> tuple[int, tuple[Task, ...]]:
    """The rows of a task, at most, and the tasks in the order of the source."""
    rows = sum(partition.rows for partition in partitions)
    size = config.shard_size or min(MAX_SHARD, max(MIN_SHARD, -(-rows // SHARDS)))
    tasks: list[Task] = []
    for number, partition in enumerate(partitions):
        for start in range(0, partition.rows, size):
            stop = min(start + size, partition.rows)
            tasks.append(Task(index=len(tasks), partition=number, start=start, stop=stop))
    return size, tuple(tasks)


def environment() -> dict[str, Any]:
    """What of this process decides bytes, beside a configuration and its signature."""
    return {
        "versions": {name: importlib.metadata.version(name) for name in BYTE_PACKAGES},
        "freetype": features.version("freetype2"),
        "codecs": {name: features.version(name) for name in ("jpg", "libjpeg_turbo", "webp", "libtiff")},
        "machine": platform.machine(),
    }


def freeze_plan(plan: Plan, work: WorkFolder) -> None:
    """Write the plan to the work folder, or see that the one there is the same; make the folders of its tasks.

    Raises:
        OutputError: The folder holds the unfinished build of another plan.
    """
    for folder in ("parts", "keys", "rejects", "manifests"):
        work.folder.below(folder).make()
    work.freeze(asdict(plan))


class PartWriter:
    """A Parquet file, written row group by row group and hashed on its way to the disk.

    A context manager: left by an error, it lets go of the file without writing to it again.

    Args:
        file: Where to write.
    """

    def __init__(self, file: Path) -> None:
        self._schema = VCR.schema()
        self._sink = HashingSink(file)
        self._writer = pq.ParquetWriter(self._sink, self._schema, **VCR.parquet_options())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._sink.closed:
            self._sink.discard()
            with contextlib.suppress(OSError, pa.ArrowException):
                self._writer.close()  # now, or the garbage collector does it and complains
            self._sink.close()

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Write rows as one row group."""
        self._writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=self._schema))

    def write_table(self, table: pa.Table) -> None:
        """Write a table as one row group."""
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))

    def close(self) -> tuple[int, str]:
        """Write the footer; return the file's size in bytes and its SHA-256 in hex."""
        self._writer.close()
        self._sink.close()
        return self._sink.size, self._sink.sha256.hexdigest()


class HashingSink(io.RawIOBase):
    """A file for writing that keeps count and hash of what went through it."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("wb")
        self._discarded = False
        self.size = 0
        self.sha256 = hashlib.sha256()

    def discard(self) -> None:
        """From now on, take what is written and drop it."""
        self._discarded = True

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any) -> int:
        """Write bytes."""
        if self._discarded:
            return len(data)
        self.sha256.update(data)
        written = self._file.write(data)
        self.size += written
        return written

    def tell(self) -> int:
        """Bytes written so far."""
        return self.size

    def flush(self) -> None:
        """Hand everything to the operating system."""
        if not self._file.closed and not self._discarded:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError) if self._discarded else contextlib.nullcontext():
            self._file.close()
        super().close()


def part_name(index: int, mode: Mode) -> str:
    """The file of one mode of a task."""
    return f"parts/{index:05d}-{mode}.parquet"


def keys_name(index: int) -> str:
    """The hashes of a task's pairs: an array of :data:`KEY_DTYPE`, in the order of the rows."""
    return f"keys/{index:05d}.npy"


def rejects_name(index: int) -> str:
    """What a task set aside, one JSON object a line."""
    return f"rejects/{index:05d}.jsonl"


def manifest_name(index: int) -> str:
    """The mark that a task is done."""
    return f"manifests/{index:05d}.json"


def read_results(plan: Plan, work: Folder) -> dict[int, ShardResult]:
    """The results of the tasks that are done, by task."""
    there = set(work.below("manifests").entries())
    indices = [task.index for task in plan.tasks if Path(manifest_name(task.index)).name in there]
    found = work.each(lambda index: _read_result(work, index, plan.fingerprint), indices)
    return {result.index: result for result in found if result}


def _read_result(work: Folder, index: int, fingerprint: str) -> ShardResult | None:
    try:
        result = ShardResult(**json.loads(work.read_text(manifest_name(index))))
    except (ValueError, TypeError):
        return None
    whole = all(work.size(part_name(index, Mode(mode))) == size for mode, size in result.bytes.items())
    return result if whole and result.fingerprint == fingerprint else None


def process_shard(
    task: Task, *, plan: Plan, pipeline: Pipeline, source: Source, work: Folder, report: Report
) -> ShardResult:
    """Do one task: idempotent, and knows nothing of the engine that calls it.

    Args:
        task: What to read.
        plan: The plan it belongs to.
        pipeline: The stages, of the plan's configuration.
        source: Where the rows are.
        work: The work folder.
        report: Called every few pairs.

    Raises:
        OSError: The disk is full or the folder cannot be written; or the build is over, as for a process that was
            frozen until others had finished it.
    """
    items = iter_items(source, pipeline.config, task.partition, task.start, task.stop)
    keys: list[tuple[str, str, str]] = []
    drops: Counter[str] = Counter()
    with ExitStack() as stack:
        writers = {
            mode: stack.enter_context(PartWriter(stack.enter_context(work.writing(part_name(task.index, mode)))))
            for mode in pipeline.config.modes
        }
        log_file = stack.enter_context(work.writing(rejects_name(task.index)))
        log = stack.enter_context(log_file.open("w", encoding="utf-8", newline="\n"))
        for outcomes in batched(pipeline.pairs(items), ROW_GROUP):
            pairs = [outcome for outcome in outcomes if isinstance(outcome, Pair)]
            rejects = [outcome for outcome in outcomes if isinstance(outcome, Reject)]
            for mode, writer in writers.items():
                if pairs:
                    writer.write([pipeline.row(pair, mode) for pair in pairs])
            log.writelines(reject_line(reject) for reject in rejects)
            keys.extend(astuple(pair.keys) for pair in pairs)
            dropped = Counter(str(reject.reason) for reject in rejects)
            drops.update(dropped)
            report(len(outcomes), len(pairs), dropped)
        with stack.enter_context(work.writing(keys_name(task.index))).open("wb") as handle:
            np.save(handle, np.array(keys, dtype=KEY_DTYPE), allow_pickle=False)
        written = {str(mode): writer.close() for mode, writer in writers.items()}
        if work.size(PLAN) is None:  # an object store would take the files all the same
            raise FileNotFoundError(errno.ENOENT, "the build is over", str(work))
    result = ShardResult(
        index=task.index,
        fingerprint=plan.fingerprint,
        rows=len(keys),
        drops=dict(sorted(drops.items())),
        bytes={mode: size for mode, (size, _) in written.items()},
        sha256={mode: digest for mode, (_, digest) in written.items()},
    )
    work.write_json(manifest_name(task.index), asdict(result))
    return result


def reject_line(reject: Reject) -> str:
    """A reject as one line of JSON."""
    return canonical_json(asdict(reject)) + "\n"


def batched(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of ``size`` values, the last one shorter."""
    iterator = iter(values)
    while batch := list(islice(iterator, size)):
        yield batch
