"""Assembly of finished parts into a dataset: deduplication, splits, file names.

On a disk, the dataset is assembled in the work folder and then moved. An object store cannot move folders, so it is
assembled in place there. ``assembly.json`` is written before the first part is moved, so a killed assembly can resume.
"""

import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from vcrgen.builder.advice import advice
from vcrgen.builder.options import BuildConfig, parse_splits
from vcrgen.builder.records import KEY_DTYPE
from vcrgen.builder.shards import KEYS, PART, REJECTS, ShardResult, part_writer, reject_line
from vcrgen.builder.sources import RowCounts
from vcrgen.builder.splits import Keys, Rows, assign
from vcrgen.core.errors import NoPairsError, OutputError
from vcrgen.core.files import indented_json, sha256_file
from vcrgen.core.records import Mode, Reject, RejectReason
from vcrgen.core.storage import Folder
from vcrgen.data.manifest import DatasetFile

ASSEMBLY = "assembly.json"
DUPLICATES = "rejects/duplicates.jsonl"
REJECTS_FILE = "rejects.jsonl"
MERGED = "files/{}"  # of the work folder: a file of the dataset until it is complete


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFolders:
    """The folders of a build."""

    work: Folder
    out: Folder  # of the dataset

    @property
    def final(self) -> Folder:
        """Where the dataset is assembled: a store cannot move folders."""
        return self.work.subfolder("final") if self.out.local_path else self.out

    def holding(self, path: str) -> Folder | None:
        """The folder that has a file of the dataset already."""
        return next((place for place in (self.final, self.out) if place.size(path) is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSlice:
    """Rows of one part by number; with None, the whole part is a file of its own."""

    part: int
    rows: list[int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A Parquet file of the dataset and the row slices that it consists of."""

    path: str  # relative to the dataset's folder
    mode: str
    split: str
    rows: int  # pairs in it
    slices: tuple[RowSlice, ...]  # in the order of the rows
    sha256: str | None  # hash of its bytes where it is a whole part as it stands, whose hash is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """The planned content of a dataset."""

    files: tuple[DataFile, ...]
    rejected: dict[str, int]  # number of rejected pairs in the whole build, by reason
    cleaned: dict[str, int]  # number of pairs by kind of what was cleaned in their captions, duplicates among them
    refused: int  # groups of too many pictures that look alike, which were not looked through for near copies
    source: RowCounts  # what the whole build read


def plan_assembly(results: Sequence[ShardResult], config: BuildConfig, *, work: Folder, shard_size: int) -> Assembly:
    """Decide which row goes into which file.

    Raises:
        ConfigError: The splits ask for more than there is.
        NoPairsError: No pair at all was usable.
    """
    rejected, cleaned = Counter[str](), Counter[str]()
    for result in results:
        rejected.update(result.rejected)
        cleaned.update(result.cleaned)
    starts = np.cumsum([0, *(result.rows for result in results)])
    seed = config.seed if config.split_seed is None else config.split_seed
    assignment = assign(
        _read_keys(results, starts, work),
        parse_splits(config.splits),
        seed=seed,
        near_copies=config.near_copies == "on",
    )
    if not any(len(rows) for rows in assignment.splits.values()):
        raise NoPairsError(
            f"The source has no usable pair ({_rejection_summary(rejected, results, work, config.where)}). "
            f"{advice(rejected)}".rstrip()
        )
    files = []
    for split, rows in assignment.splits.items():
        contents = list(_plan_files(rows, starts, shard_size))
        for mode in config.modes:
            for number, slices in enumerate(contents):
                whole = results[slices[0].part] if slices[0].rows is None else None
                count = whole.rows if whole else sum(len(slice_.rows or ()) for slice_ in slices)
                digest = whole.sha256[mode] if whole else None
                path = f"{mode}/{split}-{number:05d}-of-{len(contents):05d}.parquet"
                files.append(DataFile(path=path, mode=str(mode), split=split, rows=count, slices=slices, sha256=digest))
    if len(assignment.duplicates):
        rejected[str(RejectReason.DUPLICATE)] += len(assignment.duplicates)
    _log_duplicates(assignment.duplicates, starts, config.modes[0], work)
    counts = sum((result.source for result in results), RowCounts())
    return Assembly(
        files=tuple(files),
        rejected=dict(sorted(rejected.items())),
        cleaned=dict(sorted(cleaned.items())),
        source=counts,
        refused=assignment.refused,
    )


def _rejection_summary(
    rejected: Counter[str], results: Sequence[ShardResult], work: Folder, where: Sequence[str]
) -> str:
    """The most frequent reasons and the first pair rejected for the most frequent one."""
    if not rejected:
        return f"rejected: none; {'no row matches ' + ' and '.join(where) if where else 'it is empty'}"
    counts = ", ".join(f"{reason} {count}" for reason, count in rejected.most_common(3))
    [(most_frequent, _)] = rejected.most_common(1)
    part = next(result for result in results if result.rejected.get(most_frequent))
    rejects = map(json.loads, work.read_text(REJECTS.format(part.index)).split("\n"))
    first = next(reject for reject in rejects if reject["reason"] == most_frequent)
    return f"rejected: {counts}; the first {most_frequent} is {first['source_id']}: {first['detail']}"


def _read_keys(results: Sequence[ShardResult], starts: Rows, work: Folder) -> Keys:
    """The hashes of all pairs, in one array of `KEY_DTYPE`."""

    def read(index: int) -> Keys:
        with work.open(KEYS.format(index), ahead=True) as handle:
            hashes: Keys = np.load(io.BytesIO(handle.read()), allow_pickle=False)
            return hashes

    keys = np.empty(starts[-1], KEY_DTYPE)
    for start, part in zip(starts[:-1], work.map(read, [result.index for result in results]), strict=True):
        keys[start : start + len(part)] = part
    return keys


def _split_by_part(rows: Rows, starts: Rows) -> Iterator[tuple[int, Rows]]:
    """Group ascending row numbers by part; yield each part and the row numbers within it."""
    parts = np.searchsorted(starts, rows, side="right") - 1
    for inside in np.split(rows, np.flatnonzero(np.diff(parts)) + 1) if len(rows) else []:
        part = int(np.searchsorted(starts, inside[0], side="right") - 1)
        yield part, inside - starts[part]


def _plan_files(rows: Rows, starts: Rows, shard_size: int) -> Iterator[tuple[RowSlice, ...]]:
    """Yield the slices of every file. A whole part stays one file; rows of incomplete parts are merged."""
    slices: list[RowSlice] = []
    filled = 0
    for part, inside in _split_by_part(rows, starts):
        whole = len(inside) == starts[part + 1] - starts[part]
        if slices and (whole or filled + len(inside) > shard_size):
            yield tuple(slices)
            slices, filled = [], 0
        if whole:
            yield (RowSlice(part=part, rows=None),)
        else:
            slices.append(RowSlice(part=part, rows=inside.tolist()))
            filled += len(inside)
    if slices:
        yield tuple(slices)


def _log_duplicates(rows: Rows, starts: Rows, mode: Mode, work: Folder) -> None:
    """Write the rejects of duplicates while the parts, which hold their ids, are still in place."""

    def ids_of(slice_: tuple[int, Rows]) -> list[str]:
        part, inside = slice_
        with work.open(PART.format(part, mode)) as handle:
            ids = pq.read_table(handle, columns=["source_id"], pre_buffer=False)["source_id"]
        return [ids[row].as_py() for row in inside.tolist()]

    detail = "an earlier pair has the same image and caption"
    with work.writing(DUPLICATES) as file, file.open("w", encoding="utf-8", newline="\n") as log:
        for name in chain.from_iterable(work.map(ids_of, list(_split_by_part(rows, starts)))):
            log.write(reject_line(Reject(source_id=name, reason=RejectReason.DUPLICATE, detail=detail)))


def save_assembly(assembly: Assembly, fingerprint: str, work: Folder) -> None:
    """Save the assembly; from now on parts may be moved.

    Raises:
        OutputError: Another assembly was saved before.
    """
    if not work.create(ASSEMBLY, indented_json(asdict(assembly) | {"fingerprint": fingerprint})):
        read_assembly(fingerprint, work)


def read_assembly(fingerprint: str, work: Folder) -> Assembly | None:
    """The assembly saved by another run of the same plan, or None.

    Raises:
        OutputError: The saved assembly has other splits, and its files may have been moved already.
    """
    try:
        values = json.loads(work.read_text(ASSEMBLY))
    except FileNotFoundError:
        return None
    if values.pop("fingerprint") != fingerprint:
        raise OutputError(
            f"{work} holds an unfinished build with other splits; finish that one with its own command, or remove that "
            "folder."
        )
    return TypeAdapter(Assembly).validate_python(values)


def make_file(file: DataFile, *, config: BuildConfig, folders: BuildFolders) -> DatasetFile:
    """Create one data file from the parts and return its description.

    A whole part is moved. Otherwise rows are copied with their images undecoded. A file that exists is only described.

    Raises:
        OSError: A part is missing, or the file cannot be written.
    """
    folder, sha256 = folders.holding(file.path), file.sha256
    if folder is None:
        folder = folders.final
        try:
            sha256 = sha256 or _merge_slices(file, config, folders)
            if file.sha256:
                folders.work.transfer(PART.format(file.slices[0].part, file.mode), folder, file.path)
        except FileNotFoundError:
            folder, sha256 = folders.holding(file.path), file.sha256
            if folder is None:
                raise  # else another attempt was faster
    size, sha256 = folder.size(file.path) or 0, sha256 or folder.sha256(file.path)
    return DatasetFile(path=file.path, mode=file.mode, split=file.split, rows=file.rows, bytes=size, sha256=sha256)


def _merge_slices(file: DataFile, config: BuildConfig, folders: BuildFolders) -> str:
    """Write a file of rows of several parts and return its hash.

    On a disk it is moved when it is complete: unlike a whole folder that is moved, a half-written file may stay behind.
    """
    final = folders.final
    place, name = (folders.work, MERGED.format(file.path.replace("/", "-"))) if final.local_path else (final, file.path)
    with place.writing(name) as temporary:
        with part_writer(temporary, config) as writer:
            for slice_ in file.slices:
                with folders.work.open(PART.format(slice_.part, file.mode), ahead=True) as handle:
                    _copy_rows(handle, slice_.rows or [], writer)
        sha256 = sha256_file(temporary)
    if place is not final:
        place.transfer(name, final, file.path)
    return sha256


def _copy_rows(source: BinaryIO, rows: list[int], writer: pq.ParquetWriter) -> None:
    """Copy rows; row groups without a selected row are not read."""
    with pq.ParquetFile(source, pre_buffer=False) as parquet:
        start = 0
        for group in range(parquet.num_row_groups):
            stop = start + parquet.metadata.row_group(group).num_rows
            selected = [row - start for row in rows if start <= row < stop]
            if selected:
                table = parquet.read_row_group(group, use_threads=False).take(pa.array(selected))
                writer.write_table(table, row_group_size=len(selected))
            start = stop


def join_rejects(shards: int, *, work: Folder, final: Folder) -> None:
    """Concatenate all rejects: those of the shards in order, then the duplicates."""
    names = [*(REJECTS.format(index) for index in range(shards)), DUPLICATES]
    with final.writing(REJECTS_FILE) as file, file.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(work.map(work.read_text, names))
