"""WebDataset: uncompressed tar files in which the members of one sample stand together and share a key."""

import tarfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from vcrgen.builder.sources.base import MAX_IMAGE_BYTES, MAX_TEXT_BYTES, PROBLEM, ColumnPath, Row, first_line
from vcrgen.builder.sources.scanned import Record, ScannedSource
from vcrgen.builder.sources.tabular import parse_object
from vcrgen.core.errors import SourceError

IMAGE_SUFFIXES = frozenset({"jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff"})

_MAX_HEADER_BYTES = 1 << 20
_MAX_MEMBERS = 100
_PIECE_BYTES = 1 << 20
_DAMAGED = (tarfile.TarError, ValueError, OverflowError, RecursionError, KeyError, TypeError)


class _Sample:
    """The members of one sample: extension, then where its bytes are and how many."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.members: dict[str, tuple[int, int]] = {}
        self.problem = ""


class TarSource(ScannedSource):
    """WebDataset shards. A row is ``{"__key__", "image", "caption", "txt", "json", ...}``.

    The key of a member is its path up to the first dot of the file name; ``image`` is the first member with
    an image's extension; ``caption`` is ``txt`` or, without one, the field ``caption`` of ``json``. Planning
    reads headers only.
    """

    sample_columns = frozenset({"json"})

    def _begin(self, handle: BinaryIO, name: str) -> tuple[int, Any]:
        return 0, self._full_name(name)

    def _records(self, handle: BinaryIO, line: int, header: Any) -> Iterator[Record]:
        sample: _Sample | None = None
        offset = 0
        for member in _members(handle, name=header):
            key, extension = _split_name(member.name)
            if not extension or not member.isreg() or member.issparse():
                continue
            if sample is None or sample.key != key:
                if sample is not None:
                    yield Record(offset, 0, sample)
                sample, offset = _Sample(key), member.offset
            if extension in sample.members:
                sample.problem = f"two .{extension} members with the key {key[:100]!r}"
            elif len(sample.members) == _MAX_MEMBERS:
                sample.problem = f"more than {_MAX_MEMBERS} members with the key {key[:100]!r}"
            else:
                sample.members[extension] = member.offset_data, member.size
        if sample is not None:
            yield Record(offset, 0, sample)

    def _row(self, record: Record, handle: BinaryIO, header: Any, columns: frozenset[str]) -> Row:
        sample: _Sample = record.raw
        if sample.problem:
            return {PROBLEM: sample.problem}
        members = sample.members
        row: dict[str, Any] = {"__key__": sample.key, **dict.fromkeys(members)}
        extensions = columns | ({"txt", "json"} if "caption" in columns else frozenset())
        image = next((extension for extension in members if extension in IMAGE_SUFFIXES), None)
        reads = {extension: extension for extension in members if extension in extensions}
        if image:
            row["image"] = None
            if "image" in columns:
                reads["image"] = image
        for column, extension in reads.items():
            offset, size = members[extension]
            limit = MAX_IMAGE_BYTES if extension in IMAGE_SUFFIXES else MAX_TEXT_BYTES
            if size > limit:
                return {PROBLEM: f"the .{extension} member is larger than {limit >> 20} MiB"}
            handle.seek(offset)
            data = handle.read(size)
            if len(data) != size:
                raise SourceError(f"{header} is cut short; has it changed since the build was planned?")
            row[column] = parse_object(data) if extension == "json" else data
        if isinstance(row.get("json"), str):
            return {PROBLEM: f"the .json member: {row['json']}"}
        if "txt" in row:
            row.setdefault("caption", row["txt"])
        elif row.get("json") and "caption" in row["json"]:
            row.setdefault("caption", row["json"]["caption"])
        return row

    def _read_names(self, index: int) -> list[ColumnPath]:
        return [path for path in super()._read_names(index) if path[0] not in IMAGE_SUFFIXES]


def _split_name(name: str) -> tuple[str, str]:
    """Key and lower-case extension of a member, as WebDataset splits them; both empty where it is no data."""
    folder, slash, base = name.rpartition("/")
    stem, _, extension = base.partition(".")
    return (folder + slash + stem, extension.lower()) if stem and not name.startswith("__") else ("", "")


class _Headers:
    """The file as `tarfile` sees it: headers only, so that a forged size cannot make it read a whole disk."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle
        self.seek = handle.seek
        self.tell = handle.tell

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _MAX_HEADER_BYTES:
            raise tarfile.ReadError("a header has an impossible size")
        return self._handle.read(size)


def _members(handle: BinaryIO, *, name: str) -> Iterator[tarfile.TarInfo]:
    """The members from the handle's position on, forgotten as soon as they are given.

    Raises:
        SourceError: The file is damaged, has no end mark, or something other than zeros after it.
    """
    last = -1
    try:
        with tarfile.open(fileobj=_Headers(handle), mode="r:") as archive:  # type: ignore[call-overload]
            while (member := archive.next()) is not None:
                # A forged size can lead back to an earlier header, and so round and round.
                if member.offset <= last or member.size < 0:
                    raise tarfile.ReadError("a header has an impossible size")
                last = member.offset
                yield member
                archive.members.clear()
            _check_end(handle, archive.offset)
    except _DAMAGED as error:
        raise SourceError(f"{name} is not a complete, uncompressed tar file: {first_line(error)}.") from None


def _check_end(handle: BinaryIO, offset: int) -> None:
    """Raise a ReadError if there is no end mark at an offset, or more than zeros after it.

    Without it, a file that was cut between two members, or several files joined into one, would lose members.
    """
    handle.seek(offset)
    piece = handle.read(_PIECE_BYTES)
    if len(piece) < tarfile.BLOCKSIZE:
        raise tarfile.ReadError("it ends without an end mark")
    while piece:
        if piece.strip(b"\0"):
            raise tarfile.ReadError("it goes on after its end mark; split files that were joined into one")
        piece = handle.read(_PIECE_BYTES)
