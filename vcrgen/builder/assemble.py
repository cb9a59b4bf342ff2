"""Assembly of finished parts into a dataset: deduplication, splits, file names.

On a disk, the dataset is assembled in the work folder and then moved. An object store cannot move folders, so it is
assembled in place there. ``assembly.json`` is written before the first part is moved, so a killed assembly can resume.
Files are made as tasks of the engine that built the parts.
"""

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from typing import BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from vcrgen.builder.advice import advice
from vcrgen.builder.figures import count_figures
from vcrgen.builder.options import BuildConfig, parse_splits
from vcrgen.builder.shards import (
    FILE_BYTES,
    KEYS,
    PART,
    REJECTS,
    ShardResult,
    part_writer,
    read_figures,
    reject_line,
)
from vcrgen.builder.sources import RowCounts, Source, describe_unmatched
from vcrgen.builder.splits import KeyColumns, Keys, Rows, assign
from vcrgen.core.errors import ConfigError, NoPairsError, OutputError
from vcrgen.core.files import indented_json, sha256_file
from vcrgen.core.records import Mode, Reject, RejectReason
from vcrgen.core.storage import Folder
from vcrgen.data.manifest import DatasetFile
from vcrgen.data.tasks.vcr import Figures

ASSEMBLY = "assembly.json"
DUPLICATES = "rejects/duplicates.jsonl"
REJECTS_FILE = "rejects.jsonl"
MOST_FILES = 10_000  # in a folder, as the Hub advises
Selection: TypeAlias = npt.NDArray[np.void]  # of SELECTION_DTYPE
SELECTION = "selections/{}-{:05d}.npy"  # of a split: the rows of a file of it
SELECTION_DTYPE = np.dtype([("part", "<i4"), ("row", "<i4")])  # a row of a part by number; ascending
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
class DataFile:
    """A Parquet file of the dataset: a whole part, or rows of several parts."""

    path: str  # relative to the dataset's folder
    mode: str
    split: str
    rows: int  # pairs in it
    part: int | None  # the whole part that it is
    sha256: str | None  # of that
    selection: str | None  # otherwise the file of the work folder with its rows: an array of `SELECTION_DTYPE`


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFile:
    """A finished file of the dataset."""

    file: DatasetFile
    figures: Figures  # of its rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """The content of a file in every mode: a whole part, or rows of several ones."""

    part: int | None
    selection: Selection | None
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """The planned content of a dataset."""

    files: tuple[DataFile, ...]
    rejected: dict[str, int]  # number of rejected pairs in the whole build, by reason
    cleaned: dict[str, int]  # number of pairs by kind of what was cleaned in their captions, duplicates among them
    refused: int  # groups of too many pictures that look alike, which were not looked through for near copies
    source: RowCounts  # what the whole build read


def plan_assembly(results: Sequence[ShardResult], config: BuildConfig, source: Source, *, work: Folder) -> Assembly:
    """Decide which row goes into which file, and save the rows of files that are no whole parts.

    Raises:
        ConfigError: The splits ask for more than there is.
        NoPairsError: No pair at all was usable.
    """
    rejected, cleaned = Counter[str](), Counter[str]()
    for result in results:
        rejected.update(result.rejected)
        cleaned.update(result.cleaned)
    starts = np.cumsum([0, *(result.rows for result in results)])
    if not starts[-1]:
        why_nothing = describe_unmatched(source, config) or "it is empty"
        summary = _rejection_summary(rejected, results, work) if rejected else f"rejected: none; {why_nothing}"
        raise NoPairsError(f"The source has no usable pair ({summary}). {advice(rejected, config.lang)}".rstrip())
    seed = config.seed if config.split_seed is None else config.split_seed
    try:
        assignment = assign(
            _read_keys(results, starts, work),
            parse_splits(config.splits),
            seed=seed,
            near_copies=config.near_copies == "on",
        )
    except ConfigError as error:
        mostly_rejected = rejected.total() > starts[-1]
        raise ConfigError(f"{error} {advice(rejected, config.lang)}" if mostly_rejected else str(error)) from None
    work.subfolder("selections").make()
    contents = {
        split: list(_plan_files(rows, starts, results, config.shard_size)) for split, rows in assignment.splits.items()
    }
    for split, plans in contents.items():
        for _ in work.map(partial(_save_selection, split=split, work=work), enumerate(plans)):
            pass
    if len(assignment.duplicates):
        rejected[str(RejectReason.DUPLICATE)] += len(assignment.duplicates)
    _log_duplicates(assignment.duplicates, starts, config.modes[0], work)
    counts = sum((result.source for result in results), RowCounts())
    return Assembly(
        files=tuple(_name_files(contents, results, config.modes)),
        rejected=dict(sorted(rejected.items())),
        cleaned=dict(sorted(cleaned.items())),
        source=counts,
        refused=assignment.refused,
    )


def _rejection_summary(rejected: Counter[str], results: Sequence[ShardResult], work: Folder) -> str:
    """The most frequent reasons and the first pair rejected for the most frequent one."""
    counts = ", ".join(f"{reason} {count}" for reason, count in rejected.most_common(3))
    [(most_frequent, _)] = rejected.most_common(1)
    part = next(result for result in results if result.rejected.get(most_frequent))
    rejects = map(json.loads, work.read_text(REJECTS.format(part.index)).split("\n"))
    first = next(reject for reject in rejects if reject["reason"] == most_frequent)
    return f"rejected: {counts}; the first {most_frequent} is {first['source_id']}: {first['detail']}"


def _read_keys(results: Sequence[ShardResult], starts: Rows, work: Folder) -> KeyColumns:
    """The hashes of all pairs."""

    def read(index: int) -> Keys:
        with work.open(KEYS.format(index), ahead=True) as handle:
            hashes: Keys = np.load(io.BytesIO(handle.read()), allow_pickle=False)
            return hashes

    keys = KeyColumns(int(starts[-1]))
    for start, part in zip(starts[:-1], work.map(read, [result.index for result in results]), strict=True):
        keys.put(start, part)
    return keys


def _split_by_part(rows: Rows, starts: Rows) -> Iterator[tuple[int, Rows]]:
    """Group ascending row numbers by part; yield each part and the row numbers within it."""
    parts = np.searchsorted(starts, rows, side="right") - 1
    for inside in np.split(rows, np.flatnonzero(np.diff(parts)) + 1) if len(rows) else []:
        part = int(np.searchsorted(starts, inside[0], side="right") - 1)
        yield part, inside - starts[part]


def _plan_files(rows: Rows, starts: Rows, results: Sequence[ShardResult], most_rows: int | None) -> Iterator[_Content]:
    """Yield the content of every file. A whole part stays one file; rows of incomplete parts are merged.

    Args:
        rows: Rows of one split by number, ascending.
        starts: The first row of each part.
        results: Those of the parts.
        most_rows: That merged rows may be; None for as many as make a file of about `FILE_BYTES`.
    """
    slices: list[Selection] = []
    filled, size = 0, 0.0
    for part, inside in _split_by_part(rows, starts):
        whole = len(inside) == results[part].rows
        more = max(results[part].bytes.values()) * len(inside) / results[part].rows
        full = size + more > FILE_BYTES if most_rows is None else filled + len(inside) > most_rows
        if slices and (whole or full):
            yield _Content(part=None, selection=np.concatenate(slices), rows=filled)
            slices, filled, size = [], 0, 0.0
        if whole:
            yield _Content(part=part, selection=None, rows=len(inside))
            continue
        selection = np.empty(len(inside), SELECTION_DTYPE)
        selection["part"], selection["row"] = part, inside
        slices.append(selection)
        filled, size = filled + len(inside), size + more
    if slices:
        yield _Content(part=None, selection=np.concatenate(slices), rows=filled)


def _save_selection(numbered: tuple[int, _Content], *, split: str, work: Folder) -> None:
    number, content = numbered
    if content.selection is not None:
        with work.writing(SELECTION.format(split, number)) as file, file.open("wb") as handle:
            np.save(handle, content.selection, allow_pickle=False)


def _name_files(
    contents: Mapping[str, Sequence[_Content]], results: Sequence[ShardResult], modes: Sequence[Mode]
) -> Iterator[DataFile]:
    """Yield the files of a dataset, by split. With more than `MOST_FILES` in a mode, they are in subfolders of it."""
    nested = sum(map(len, contents.values())) > MOST_FILES
    before = 0  # files of earlier splits
    for split, plans in contents.items():
        digits = max(5, len(str(len(plans))))  # so that names sort
        for mode in modes:
            for number, content in enumerate(plans):
                folder = f"{mode}/{(before + number) // MOST_FILES:03d}" if nested else str(mode)
                whole = None if content.part is None else results[content.part]
                yield DataFile(
                    path=f"{folder}/{split}-{number:0{digits}d}-of-{len(plans):0{digits}d}.parquet",
                    mode=str(mode),
                    split=split,
                    rows=content.rows,
                    part=content.part,
                    sha256=whole.sha256[mode] if whole else None,
                    selection=None if whole else SELECTION.format(split, number),
                )
        before += len(plans)


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


def make_file(file: DataFile, *, config: BuildConfig, folders: BuildFolders) -> MadeFile:
    """Create one data file from the parts and describe it.

    A whole part is moved. Otherwise rows are copied with their images undecoded. A file that exists is only described.

    Raises:
        OSError: A part is missing, or the file cannot be written.
    """
    try:
        if folders.holding(file.path) is None:
            if file.part is None:
                return _merge_rows(file, config, folders)
            folders.work.transfer(PART.format(file.part, file.mode), folders.final, file.path)
    except FileNotFoundError:
        if folders.holding(file.path) is None:
            raise  # else another attempt was faster
    folder = folders.holding(file.path) or folders.final
    if file.part is not None:
        figures = read_figures(file.part, file.mode, folders.work)
    else:
        with folder.open(file.path) as handle:
            figures = count_figures(handle)
    return _describe(file, folder.size(file.path) or 0, file.sha256 or folder.sha256(file.path), figures)


def _describe(file: DataFile, size: int, sha256: str, figures: Figures) -> MadeFile:
    described = DatasetFile(path=file.path, mode=file.mode, split=file.split, rows=file.rows, bytes=size, sha256=sha256)
    return MadeFile(file=described, figures=figures)


def _merge_rows(file: DataFile, config: BuildConfig, folders: BuildFolders) -> MadeFile:
    """Write a file of rows of several parts.

    On a disk it is moved when it is complete: unlike a whole folder that is moved, a half-written file may stay behind.
    """
    assert file.selection is not None
    with folders.work.open(file.selection, ahead=True) as handle:
        selection = np.load(io.BytesIO(handle.read()), allow_pickle=False)
    final = folders.final
    place, name = (folders.work, MERGED.format(file.path.replace("/", "-"))) if final.local_path else (final, file.path)
    with place.writing(name) as temporary:
        with part_writer(temporary, config) as writer:
            for rows in np.split(selection, np.flatnonzero(np.diff(selection["part"])) + 1):
                with folders.work.open(PART.format(rows["part"][0], file.mode), ahead=True) as handle:
                    _copy_rows(handle, rows["row"], writer)
        made = _describe(file, temporary.stat().st_size, sha256_file(temporary), count_figures(temporary))
    if place is not final:
        place.transfer(name, final, file.path)
    return made


def _copy_rows(source: BinaryIO, rows: npt.NDArray[np.int32], writer: pq.ParquetWriter) -> None:
    """Copy rows, ascending; row groups without a selected row are not read."""
    with pq.ParquetFile(source, pre_buffer=False) as parquet:
        start = 0
        for group in range(parquet.num_row_groups):
            stop = start + parquet.metadata.row_group(group).num_rows
            selected = rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)] - start
            if len(selected):
                table = parquet.read_row_group(group, use_threads=False).take(pa.array(selected))
                writer.write_table(table, row_group_size=len(selected))
            start = stop


def join_rejects(shards: int, *, work: Folder, final: Folder) -> None:
    """Concatenate all rejects: those of the shards in order, then the duplicates."""
    names = [*(REJECTS.format(index) for index in range(shards)), DUPLICATES]
    with final.writing(REJECTS_FILE) as file, file.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(work.map(work.read_text, names))
