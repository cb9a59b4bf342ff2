"""From finished parts to a dataset: duplicates out, splits apart, files named, and all of it seen at once.

On a disk, everything is made in a folder beside the dataset's place and moved there when it is whole; in an object
store, which shows whole objects and cannot move folders, it is made in its place. ``assembly.json`` is written before
the first part is moved, so that a killed assembly goes on where it was.
"""

import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from vcrgen.builder.records import KEY_DTYPE
from vcrgen.builder.shards import KEYS, PART, REJECTS, ShardResult, part_writer, reject_line
from vcrgen.builder.splits import Rows, assign
from vcrgen.config import BuildConfig, parse_splits
from vcrgen.dataset.manifest import DatasetFile
from vcrgen.errors import NoPairsError, OutputError
from vcrgen.files import indented_json, sha256_file
from vcrgen.records import Mode, Reason, Reject
from vcrgen.storage import Folder

ASSEMBLY = "assembly.json"
DUPLICATES = "rejects/duplicates.jsonl"
REJECTS_FILE = "rejects.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Rows of one part by number, or None for all of them: then the piece is a file of its own."""

    part: int
    rows: list[int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A Parquet file of the dataset, and the pieces it is put together from."""

    path: str  # relative to the dataset's folder
    mode: str
    split: str
    rows: int  # pairs in it
    pieces: tuple[Piece, ...]  # in the order of the rows
    sha256: str | None  # hash of its bytes where it is a whole part as it stands, whose hash is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """What the dataset will consist of."""

    files: tuple[DataFile, ...]
    drops: dict[str, int]  # pairs set aside in the whole build, by reason


def plan_assembly(results: Sequence[ShardResult], config: BuildConfig, *, work: Folder, shard_size: int) -> Assembly:
    """Decide which row goes into which file.

    Raises:
        ConfigError: The splits ask for more than there is.
        NoPairsError: No pair at all was usable.
    """
    drops = Counter[str]()
    for result in results:
        drops.update(result.drops)
    keys = list(work.each(lambda result: _read_keys(work, result.index), results))
    assignment = assign(np.concatenate([*keys, np.empty(0, KEY_DTYPE)]), parse_splits(config.splits), seed=config.seed)
    if not any(len(rows) for rows in assignment.splits.values()):
        raise NoPairsError(f"The source has no usable pair ({_why_none(drops, results, work, config.where)}).")
    starts = np.cumsum([0, *(result.rows for result in results)])
    files = []
    for split, rows in assignment.splits.items():
        contents = list(_files_of_split(rows, starts, shard_size))
        for mode in config.modes:
            for number, pieces in enumerate(contents):
                whole = results[pieces[0].part] if pieces[0].rows is None else None
                count = whole.rows if whole else sum(len(piece.rows or ()) for piece in pieces)
                digest = whole.sha256[mode] if whole else None
                path = f"{mode}/{split}-{number:05d}-of-{len(contents):05d}.parquet"
                files.append(DataFile(path=path, mode=str(mode), split=split, rows=count, pieces=pieces, sha256=digest))
    if len(assignment.duplicates):
        drops[str(Reason.DUPLICATE)] += len(assignment.duplicates)
    _log_duplicates(assignment.duplicates, starts, config.modes[0], work)
    return Assembly(files=tuple(files), drops=dict(sorted(drops.items())))


def _why_none(drops: Counter[str], results: Sequence[ShardResult], work: Folder, where: Sequence[str]) -> str:
    """The most frequent reasons, and the first pair that the most frequent one set aside."""
    if not drops:
        return f"set aside: none; {'no row matches ' + ' and '.join(where) if where else 'it is empty'}"
    counts = ", ".join(f"{reason} {count}" for reason, count in drops.most_common(3))
    [(most, _)] = drops.most_common(1)
    part = next(result for result in results if result.drops.get(most))
    rejects = map(json.loads, work.read_text(REJECTS.format(part.index)).split("\n"))
    first = next(reject for reject in rejects if reject["reason"] == most)
    return f"set aside: {counts}; the first {most} is {first['source_id']}: {first['detail']}"


def _read_keys(work: Folder, index: int) -> Any:
    with work.open(KEYS.format(index), ahead=True) as handle:
        return np.load(io.BytesIO(handle.read()), allow_pickle=False)


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


def _log_duplicates(rows: Rows, starts: Rows, mode: Mode, work: Folder) -> None:
    """Write the rejects of duplicates while the parts, which know their ids, are still in place."""

    def ids_of(piece: tuple[int, Rows]) -> list[str]:
        part, inside = piece
        with work.open(PART.format(part, mode)) as handle:
            ids = pq.read_table(handle, columns=["source_id"], pre_buffer=False)["source_id"]
        return [ids[row].as_py() for row in inside.tolist()]

    detail = "an earlier pair has the same image and caption"
    with work.writing(DUPLICATES) as file, file.open("w", encoding="utf-8", newline="\n") as log:
        for name in chain.from_iterable(work.each(ids_of, list(_by_part(rows, starts)))):
            log.write(reject_line(Reject(source_id=name, reason=Reason.DUPLICATE, detail=detail)))


def save_assembly(assembly: Assembly, fingerprint: str, work: Folder) -> None:
    """Freeze the decision; from now on parts may be moved.

    Raises:
        OutputError: Another decision was frozen before.
    """
    if not work.create(ASSEMBLY, indented_json(asdict(assembly) | {"fingerprint": fingerprint})):
        read_assembly(fingerprint, work)


def read_assembly(fingerprint: str, work: Folder) -> Assembly | None:
    """The decision of another run of the same plan, interrupted or at work; None if there is none yet.

    Raises:
        OutputError: It is another decision, and its files may have been moved already.
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


def make_file(file: DataFile, *, config: BuildConfig, work: Folder, final: Folder, out: Folder) -> DatasetFile:
    """Put one data file together in ``final`` from the parts in ``work``, and describe it.

    A file that is one whole part is that part as it stands. Otherwise rows are copied as they are, images undecoded.
    One that is in ``final`` already, or in ``out``, where the dataset will be, is only described.
    """
    there = next((place for place in (final, out) if place.size(file.path) is not None), None)
    sha256 = file.sha256
    if there is None:
        there = final
        final.below(file.mode).make()  # only here: an empty one would be in the way of what is published already
        if file.sha256:  # a whole part
            work.bring(PART.format(file.pieces[0].part, file.mode), final, file.path)
        else:
            with final.writing(file.path) as temporary:
                with part_writer(temporary, config) as writer:
                    for piece in file.pieces:
                        with work.open(PART.format(piece.part, file.mode), ahead=True) as handle:
                            _copy_rows(handle, piece.rows or [], writer)
                sha256 = sha256_file(temporary)
    size, sha256 = there.size(file.path) or 0, sha256 or there.sha256(file.path)
    return DatasetFile(path=file.path, mode=file.mode, split=file.split, rows=file.rows, bytes=size, sha256=sha256)


def _copy_rows(source: BinaryIO, rows: list[int], writer: pq.ParquetWriter) -> None:
    """Copy row group by row group; groups of which no row is wanted are not read."""
    with pq.ParquetFile(source, pre_buffer=False) as parquet:
        start = 0
        for group in range(parquet.num_row_groups):
            stop = start + parquet.metadata.row_group(group).num_rows
            wanted = [row - start for row in rows if start <= row < stop]
            if wanted:
                table = parquet.read_row_group(group, use_threads=False).take(pa.array(wanted))
                writer.write_table(table, row_group_size=len(wanted))
            start = stop


def join_rejects(shards: int, *, work: Folder, final: Folder) -> None:
    """All rejects in one file: those of the shards in order, then the duplicates."""
    names = [*(REJECTS.format(index) for index in range(shards)), DUPLICATES]
    with final.writing(REJECTS_FILE) as file, file.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(work.each(work.read_text, names))
