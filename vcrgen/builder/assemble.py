"""From finished parts to a dataset: duplicates out, splits apart, files named, and all of it seen at once.

Everything is made in ``final`` inside the work folder and moved out when it is whole. ``assembly.json`` is written
before the first part is moved, so that a killed assembly goes on where it was.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.builder.pipeline import KEY_DTYPE
from vcrgen.builder.shards import (
    PartWriter,
    ShardResult,
    keys_file,
    part_file,
    reject_line,
    rejects_file,
)
from vcrgen.builder.splits import Rows, assign
from vcrgen.config import BuildConfig, parse_splits
from vcrgen.errors import NoPairsError
from vcrgen.files import atomic_path, fsync, sha256_file, write_json
from vcrgen.manifest import DatasetFile
from vcrgen.records import Mode, Reason, Reject


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Rows of one part by number, or None for all of them: then the piece is a file of its own."""

    part: int
    rows: list[int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A Parquet file of the dataset, and the pieces it is put together from.

    Attributes:
        path: Relative to the dataset's folder.
        mode: The mode.
        split: The split.
        rows: Pairs in it.
        pieces: In the order of the rows.
        sha256: Hash of its bytes where it is a whole part, whose hash is known.
    """

    path: str
    mode: str
    split: str
    rows: int
    pieces: tuple[Piece, ...]
    sha256: str | None

    @property
    def is_whole_part(self) -> bool:
        """Whether the file is a part as it stands."""
        return len(self.pieces) == 1 and self.pieces[0].rows is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """What the dataset will consist of.

    Attributes:
        files: All data files.
        drops: Pairs set aside in the whole build, by reason.
    """

    files: tuple[DataFile, ...]
    drops: dict[str, int]


def plan_assembly(results: Sequence[ShardResult], config: BuildConfig, *, work: Path, shard_size: int) -> Assembly:
    """Decide which row goes into which file.

    Raises:
        ConfigError: The splits ask for more than there is.
        NoPairsError: No pair at all was usable.
    """
    drops = Counter[str]()
    for result in results:
        drops.update(result.drops)
    keys = [np.load(keys_file(work, result.index), allow_pickle=False) for result in results]
    assignment = assign(np.concatenate([*keys, np.empty(0, KEY_DTYPE)]), parse_splits(config.splits), seed=config.seed)
    if not any(len(rows) for rows in assignment.splits.values()):
        most = ", ".join(f"{reason} {count}" for reason, count in drops.most_common(3))
        raise NoPairsError(f"The source has no usable pair (set aside: {most or 'none; it is empty'}).")
    starts = np.cumsum([0, *(result.rows for result in results)])
    files = []
    for split, rows in assignment.splits.items():
        contents = list(_files_of_split(rows, starts, shard_size))
        for mode in config.modes:
            for number, pieces in enumerate(contents):
                path = f"{mode}/{split}-{number:05d}-of-{len(contents):05d}.parquet"
                files.append(_data_file(path, str(mode), split, pieces, results))
    if len(assignment.duplicates):
        drops[str(Reason.DUPLICATE)] += len(assignment.duplicates)
    _log_duplicates(assignment.duplicates, starts, config.modes[0], work)
    return Assembly(files=tuple(files), drops=dict(sorted(drops.items())))


def _data_file(path: str, mode: str, split: str, pieces: tuple[Piece, ...], results: Sequence[ShardResult]) -> DataFile:
    rows = sum(results[piece.part].rows if piece.rows is None else len(piece.rows) for piece in pieces)
    file = DataFile(path=path, mode=mode, split=split, rows=rows, pieces=pieces, sha256=None)
    return replace(file, sha256=results[pieces[0].part].sha256[mode]) if file.is_whole_part else file


def _by_part(rows: Rows, starts: Rows) -> Iterator[tuple[int, Rows]]:
    """Split ascending row numbers by the part they are in: part, and numbers inside of it."""
    parts = np.searchsorted(starts, rows, side="right") - 1
    for inside in np.split(rows, np.flatnonzero(np.diff(parts)) + 1) if len(rows) else []:
        part = int(np.searchsorted(starts, inside[0], side="right") - 1)
        yield part, inside - starts[part]


def _files_of_split(rows: Rows, starts: Rows, shard_size: int) -> Iterator[tuple[Piece, ...]]:
    """The pieces of every file: a whole part is a file as it is; what is left of others is put together."""
    pieces: list[Piece] = []
    filled = 0
    for part, inside in _by_part(rows, starts):
        whole = len(inside) == starts[part + 1] - starts[part]
        if pieces and (whole or filled + len(inside) > shard_size):
            yield tuple(pieces)
            pieces, filled = [], 0
        if whole:
            yield (Piece(part=part, rows=None),)
        else:
            pieces.append(Piece(part=part, rows=inside.tolist()))
            filled += len(inside)
    if pieces:
        yield tuple(pieces)


def _log_duplicates(rows: Rows, starts: Rows, mode: Mode, work: Path) -> None:
    """Write the rejects of duplicates while the parts, which know their ids, are still in place."""
    with atomic_path(_duplicates_file(work)) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as log:
        for part, inside in _by_part(rows, starts):
            ids = pq.read_table(part_file(work, part, mode), columns=["source_id"])["source_id"]
            for row in inside.tolist():
                detail = "an earlier pair has the same image and caption"
                log.write(reject_line(Reject(source_id=ids[row].as_py(), reason=Reason.DUPLICATE, detail=detail)))


def _duplicates_file(work: Path) -> Path:
    return work / "rejects" / "duplicates.jsonl"


def save_assembly(assembly: Assembly, fingerprint: str, work: Path) -> None:
    """Freeze the decision; from now on parts may be moved."""
    write_json(work / "assembly.json", asdict(assembly) | {"fingerprint": fingerprint})


def read_assembly(fingerprint: str, work: Path) -> Assembly | None:
    """The decision of an earlier, interrupted run of the same plan."""
    try:
        values = json.loads((work / "assembly.json").read_text("utf-8"))
    except OSError:
        return None
    if values.pop("fingerprint") != fingerprint:
        return None
    files = tuple(
        DataFile(**file | {"pieces": tuple(Piece(**piece) for piece in file["pieces"])}) for file in values["files"]
    )
    return Assembly(files=files, drops=values["drops"])


def make_file(file: DataFile, *, work: Path) -> DatasetFile:
    """Put one data file together in ``final``; where it is done, or published, it is only described.

    A file that is one whole part is that part, renamed. Otherwise rows are copied as they are, images undecoded.
    """
    target = work / "final" / file.path
    published = work.parent / file.path
    sha256 = file.sha256
    if not target.exists() and not published.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        sources = [part_file(work, piece.part, Mode(file.mode)) for piece in file.pieces]
        if file.is_whole_part:
            sources[0].replace(target)
            fsync(target.parent)
        else:
            with atomic_path(target) as temporary, PartWriter(temporary) as writer:
                for source, piece in zip(sources, file.pieces, strict=True):
                    _copy_rows(source, piece.rows or [], writer)
                _, sha256 = writer.close()
    there = target if target.exists() else published
    return DatasetFile(
        path=file.path,
        mode=file.mode,
        split=file.split,
        rows=file.rows,
        bytes=there.stat().st_size,
        sha256=sha256 or sha256_file(there),
    )


def _copy_rows(source: Path, rows: list[int], writer: PartWriter) -> None:
    """Copy row group by row group; groups of which no row is wanted are not read."""
    with pq.ParquetFile(source, pre_buffer=False) as parquet:
        start = 0
        for group in range(parquet.num_row_groups):
            stop = start + parquet.metadata.row_group(group).num_rows
            wanted = [row - start for row in rows if start <= row < stop]
            if wanted:
                writer.write_table(parquet.read_row_group(group, use_threads=False).take(pa.array(wanted)))
            start = stop


def join_rejects(shards: int, *, work: Path) -> None:
    """All rejects in one file: those of the shards in order, then the duplicates."""
    with atomic_path(work / "final" / "rejects.jsonl") as temporary, temporary.open("wb") as out:
        for file in [*(rejects_file(work, index) for index in range(shards)), _duplicates_file(work)]:
            with file.open("rb") as part:
                shutil.copyfileobj(part, out)
