"""Shards: a frozen plan of tasks, and the function that turns one task into finished files.

Inside the work folder:

    plan.json               the tasks, and a fingerprint of everything that decides the bytes
    parts/00007-hard.parquet    one mode of one task, under its final name before its manifest
    keys/00007.npy          hashes of its pairs, for deduplication and splits
    rejects/00007.jsonl     the rejected pairs of the task
    manifests/00007.json    written last: the task is done; with how often each figure of the card occurs in its rows

A task may run twice or be killed anywhere: its files appear whole or not at all, with the same bytes each time.
"""

import errno
import hashlib
import importlib.metadata
import json
import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import features

from vcrgen.builder.engines.base import Report
from vcrgen.builder.figures import count_figures
from vcrgen.builder.images import RULE as PICTURE_RULE
from vcrgen.builder.options import SPLIT_FIELDS, BuildConfig
from vcrgen.builder.pipeline import Pipeline, batched
from vcrgen.builder.records import KEY_DTYPE, Pair
from vcrgen.builder.sources import Partition, RowCounts, Source, iter_items
from vcrgen.builder.splits import RULE as SPLIT_RULE
from vcrgen.core.files import canonical_json, sha256_file
from vcrgen.core.folder import PLAN
from vcrgen.core.records import Reject
from vcrgen.core.signature import Signature
from vcrgen.core.storage import Folder
from vcrgen.data.arrays import record_batch
from vcrgen.data.tasks.vcr import VCR, Figures

ROW_GROUP = 64  # rows in memory at a time, and in a row group
FILE_BYTES = 400_000_000  # of a file of the dataset, about
PAIR_BYTES = 215_000  # of a pair in one mode, 300 pixels wide
MIN_SHARD, SHARDS = 16, 32  # small sources have smaller shards for several workers
SHARD_ROWS, MANY_SHARDS = 512, 2048  # pairs of a shard until there are so many shards; then they grow to whole files
NEIGHBOURS, TURNS = 16, 2  # at most so many tasks go together; each process has at least so many groups of tasks
# Files of a task, by its number: the part of a mode, the hashes of its pairs (an array of KEY_DTYPE in the order of the
# rows), its rejects (one JSON object a line), and the mark that it is done.
PART, KEYS = "parts/{:05d}-{}.parquet", "keys/{:05d}.npy"
REJECTS, DONE = "rejects/{:05d}.jsonl", "manifests/{:05d}.json"
# Packages whose version may change the bytes of a dataset.
BYTE_PACKAGES = ("vcrgen", "pillow", "numpy", "zlib-ng", "deflate", "pyarrow", "regex", "spacy", "jieba")
SIGNED_PACKAGES = ("uharfbuzz",)  # those that only some languages use, whose signatures name them


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Rows ``start`` to ``stop`` of one partition."""

    index: int
    partition: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The frozen plan of a build."""

    fingerprint: str  # hash of everything that decides the bytes of the parts
    dataset_fingerprint: str  # hash of that and of the splits
    facts: dict[str, Any]  # the hashed facts by name, for messages on other plans
    shard_size: int  # pairs that a task reads at most
    tasks: tuple[Task, ...]  # in the order of the source

    @property
    def rows(self) -> int:
        """Rows of all its tasks."""
        return sum(task.stop - task.start for task in self.tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """The result of a finished task: the content of its manifest, beside the figures."""

    index: int  # the task's
    fingerprint: str  # the plan's
    rows: int  # pairs built; each is one row in the part of every mode
    rejected: dict[str, int]  # number of rejected pairs by reason
    cleaned: dict[str, int]  # number of pairs by kind of what was cleaned in their captions
    source: RowCounts  # what it read
    bytes: dict[str, int]  # size of the part of each mode
    sha256: dict[str, str]  # hash of the part of each mode


def make_plan(config: BuildConfig, partitions: list[Partition], *, signature: Signature) -> Plan:
    """Divide partitions into tasks and compute the fingerprints."""

    def hash_of(value: Any) -> str:
        return hashlib.sha256(canonical_json(value).encode()).hexdigest()

    size, tasks = divide_tasks(config, partitions)
    inputs = [asdict(partition) for partition in partitions]
    process_facts = environment()
    fingerprint = hash_of(
        {"config": config.content_hash(), "signature": str(signature), "partitions": inputs, **process_facts}
    )
    splits = " ".join(str(getattr(config, name)) for name in SPLIT_FIELDS) + f" {SPLIT_RULE}"
    dataset = hashlib.sha256(f"{fingerprint} {splits}".encode()).hexdigest()
    facts = dict(signature.facts) | config.public_fields() | process_facts["versions"] | process_facts["codecs"]
    facts |= {
        "freetype": process_facts["freetype"],
        "machine": process_facts["machine"],
        "pictures": process_facts["pictures"],
        "files of the source": hash_of(inputs),
    }
    part_facts = {name: value for name, value in facts.items() if name not in SPLIT_FIELDS}
    return Plan(fingerprint=fingerprint, dataset_fingerprint=dataset, facts=part_facts, shard_size=size, tasks=tasks)


def divide_tasks(config: BuildConfig, partitions: list[Partition]) -> tuple[int, tuple[Task, ...]]:
    """Divide partitions into tasks; return the maximal rows of a task, and the tasks in source order."""
    rows = sum(partition.rows for partition in partitions)
    size = config.shard_size or default_shard_size(rows, config.width)
    tasks: list[Task] = []
    for number, partition in enumerate(partitions):
        for start in range(0, partition.rows, size):
            stop = min(start + size, partition.rows)
            tasks.append(Task(index=len(tasks), partition=number, start=start, stop=stop))
    return size, tuple(tasks)


def default_shard_size(rows: int, width: int) -> int:
    """Pairs of a shard for a source of so many rows and images of such a width."""
    most = int(FILE_BYTES / PAIR_BYTES * (300 / width) ** 2)
    return max(MIN_SHARD, min(most, max(min(SHARD_ROWS, -(-rows // SHARDS)), -(-rows // MANY_SHARDS))))


def neighbours(tasks: Sequence[Task], source: Source, processes: int) -> list[tuple[Task, ...]]:
    """Group the tasks whose rows are decoded together, so that one process decodes them.

    Row groups larger than a task are decoded from their first row on, by each process that reads in one. Each process
    has at least `TURNS` groups, so that none waits long for the others at the end.
    """
    most = min(NEIGHBOURS, len(tasks) // (TURNS * processes))
    groups: list[tuple[Task, ...]] = []
    previous: tuple[int, int] | None = None
    for task in tasks:
        rows = source.chunk_rows(task.partition)
        place = (task.partition, task.start // rows)
        alone = rows <= task.stop - task.start or place != previous or len(groups[-1]) >= most
        groups.append((task,) if alone else (*groups.pop(), task))
        previous = place
    return groups


def environment() -> dict[str, Any]:
    """The facts of this process that decide bytes, beside configuration and signature."""
    return {
        "versions": byte_versions(),
        "freetype": features.version("freetype2"),
        "codecs": {name: features.version(name) for name in ("jpg", "libjpeg_turbo", "webp", "libtiff", "littlecms2")},
        "machine": platform.machine(),
        "pictures": PICTURE_RULE,
    }


@cache
def byte_versions() -> dict[str, str]:
    """The versions of the installed packages that decide bytes."""
    return {name: importlib.metadata.version(name) for name in BYTE_PACKAGES}


def parquet_writer(sink: Any, config: BuildConfig) -> pq.ParquetWriter:
    """Open a Parquet writer with the columns of a build."""
    return pq.ParquetWriter(sink, VCR.schema(*VCR.features, *config.optional_columns), **VCR.parquet_options())


@contextmanager
def part_writer(file: Path, config: BuildConfig) -> Iterator[pq.ParquetWriter]:
    """Open the writer of a new file, which is complete after the block."""
    with pa.OSFile(str(file), "wb") as sink:
        writer = parquet_writer(sink, config)
        try:
            yield writer
            writer.close()
        finally:
            # After an error, nothing more is written: the writer, collected some time later, would complain that the
            # disk is still full.
            writer.is_open = False


def write_rows(writer: pq.ParquetWriter, rows: list[dict[str, Any]]) -> None:
    """Write rows as one row group."""
    writer.write_batch(record_batch(rows, writer.schema))


def read_results(plan: Plan, work: Folder) -> dict[int, ShardResult]:
    """The results of finished tasks by index; a task with incomplete files is unfinished."""
    names = {f"manifests/{name}" for name in work.subfolder("manifests").entries()}
    done = [task.index for task in plan.tasks if DONE.format(task.index) in names]
    results = work.map(partial(_read_result, plan=plan, work=work), done)
    return {result.index: result for result in results if result}


def _read_result(index: int, *, plan: Plan, work: Folder) -> ShardResult | None:
    """The result of a task; None if it is unfinished or of another plan."""
    try:
        values = json.loads(work.read_text(DONE.format(index)))
        del values["figures"]  # they would be most of what is held
        result = ShardResult(**values | {"source": RowCounts(**values["source"])})
    except (ValueError, TypeError, KeyError):
        return None
    whole = all(work.size(PART.format(index, mode)) == size for mode, size in result.bytes.items())
    return result if whole and result.fingerprint == plan.fingerprint else None


def process_shards(
    tasks: Sequence[Task], report: Report, *, plan: Plan, pipeline: Pipeline, source: Source, work: Folder
) -> list[ShardResult]:
    """Run tasks that go together; those of them that an earlier attempt finished are not run again."""
    results = []
    for task in tasks:
        tried = len(tasks) > 1 and work.size(DONE.format(task.index)) is not None
        done = _read_result(task.index, plan=plan, work=work) if tried else None
        results.append(done or process_shard(task, report, plan=plan, pipeline=pipeline, source=source, work=work))
    return results


def process_shard(
    task: Task, report: Report, *, plan: Plan, pipeline: Pipeline, source: Source, work: Folder
) -> ShardResult:
    """Run one task. Idempotent and independent of the engine that calls it.

    Raises:
        OSError: The folder cannot be written, or the build was finished by others meanwhile.
        SourceError: Its pairs and rejects do not add up to its rows.
    """
    counts = RowCounts()
    items = iter_items(source, pipeline.config, task.partition, task.start, task.stop, counts=counts)
    keys: list[bytes] = []
    rejected: Counter[str] = Counter()
    cleaned: Counter[str] = Counter()
    reported = 0  # rows
    with ExitStack() as whole:  # when this ends well, the files appear under their names
        parts = {
            mode: whole.enter_context(work.writing(PART.format(task.index, mode))) for mode in pipeline.config.modes
        }
        log_file, keys_file = (
            whole.enter_context(work.writing(name)) for name in (REJECTS.format(task.index), KEYS.format(task.index))
        )
        with ExitStack() as writing:
            writers = {mode: writing.enter_context(part_writer(part, pipeline.config)) for mode, part in parts.items()}
            log = writing.enter_context(log_file.open("w", encoding="utf-8", newline="\n"))
            for outcomes in batched(pipeline.pairs(items), ROW_GROUP):
                pairs = [outcome for outcome in outcomes if isinstance(outcome, Pair)]
                rejects = [outcome for outcome in outcomes if isinstance(outcome, Reject)]
                for mode, writer in writers.items():
                    if pairs:
                        write_rows(writer, [pipeline.row(pair, mode) for pair in pairs])
                log.writelines(reject_line(reject) for reject in rejects)
                keys.extend(pair.key_record for pair in pairs)
                dropped = Counter(str(reject.reason) for reject in rejects)
                rejected.update(dropped)
                cleaned.update(kind for pair in pairs for kind in pair.cleaned)
                report(counts.rows - reported, len(pairs), dropped)
                reported = counts.rows
        report(counts.rows - reported, 0, Counter())  # rows after the last pair that do not meet the conditions
        name = source.partitions()[task.partition].name
        counts.check(
            task.stop - task.start,
            outcomes=len(keys) + rejected.total(),
            place=f"{name}, rows {task.start} to {task.stop - 1} (shard {task.index})",
        )
        with keys_file.open("wb") as handle:
            np.save(handle, np.frombuffer(b"".join(keys), KEY_DTYPE), allow_pickle=False)
        result = ShardResult(
            index=task.index,
            fingerprint=plan.fingerprint,
            rows=len(keys),
            rejected=dict(sorted(rejected.items())),
            cleaned=dict(sorted(cleaned.items())),
            source=counts,
            bytes={str(mode): part.stat().st_size for mode, part in parts.items()},
            sha256={str(mode): sha256_file(part) for mode, part in parts.items()},
        )
        figures = {str(mode): count_figures(part).as_json() for mode, part in parts.items()}
        if work.size(PLAN) is None:  # an object store would take the files all the same
            raise FileNotFoundError(errno.ENOENT, "the build is over", str(work))
    work.write_text(DONE.format(task.index), canonical_json(asdict(result) | {"figures": figures}))
    return result


def read_figures(index: int, mode: str, work: Folder) -> Figures:
    """The figures of the part of one mode of a finished task."""
    return Figures.from_json(json.loads(work.read_text(DONE.format(index)))["figures"][mode])


def reject_line(reject: Reject) -> str:
    """A reject as one line of JSON."""
    return canonical_json(asdict(reject)) + "\n"
