"""A whole board as one file, and back: rows as JSON, so that a board can move from SQLite to PostgreSQL."""

import gzip
import io
import json
import re
import tarfile
import tempfile
import zlib
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Date, LargeBinary, String, Table, func, insert, select, text

from vcrgen.core.errors import ConfigError, LeaderboardError, OutputError
from vcrgen.core.files import atomic_path, canonical_json, is_disk_full, output_errors
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.new_board import (
    check_database,
    check_same_data,
    describe_set,
    fresh_folder,
    named_sets,
    new_board,
    settings_of,
)
from vcrgen.leaderboard.settings import Settings, SetTitle, write_settings
from vcrgen.leaderboard.store.log import check_board, log_head, maintainer, record
from vcrgen.leaderboard.store.schema import SCHEMA_VERSION, metadata, submissions
from vcrgen.leaderboard.store.sets import all_sets, change_set, get_set
from vcrgen.leaderboard.store.state import as_json_value
from vcrgen.leaderboard.store.tracking import take_changes
from vcrgen.web.database.schema import Moment

FORMAT = "vcrgen-board-backup-1"
_HEAD = "backup.json"
_MEMBER = re.compile(r"files/([0-9a-f]{64})|tables/([a-z_]+)\.jsonl")
MAX_HEAD = 1 << 20
# An archive larger than the first, unpacked, may not have been packed to less than its 100th part: that of a board has
# a fifth to a twentieth.
FREE_BYTES, MAX_RATIO = 64 << 20, 100
MAX_FILE = 1 << 30  # as `file_mb` of a board
MAX_ROW = 16 << 20
MAX_TEXT = 1 << 20  # characters of a column without a length of its own
_AT_ONCE = 4 << 20  # bytes that a header of the archive, or anything else, is read into memory at once
BATCH, BATCH_BYTES = 500, 16 << 20  # rows that are stored together


@dataclass(frozen=True, slots=True)
class WrittenBackup:
    """A backup that was written and can be restored."""

    bytes: int
    head: str  # number and chain of the last line of its log; empty for an empty log


def backup(board: Board, target: Path) -> WrittenBackup:
    """Write a board into one file, while it is in use: the rows are those of one moment.

    Raises:
        OutputError: The file is there, or cannot be written.
        LeaderboardError: The board or what was written is damaged, so that it could not be restored.
    """
    if target.exists():
        raise OutputError(f"{target} is there already; name a new file.")
    with output_errors(target):
        with board.reading() as connection, atomic_path(target) as temporary:
            _check(connection, board, board.folder)
            last = log_head(connection)
            temporary.touch(mode=0o600)
            with tarfile.open(temporary, "w:gz", format=tarfile.PAX_FORMAT, compresslevel=3) as archive:
                settings = board.settings.model_dump(exclude={"database", "sets"})  # a password, and what a table holds
                titles = {asked.name: asked.title for asked in board.settings.sets if asked.title}
                head = {"format": FORMAT, "schema": SCHEMA_VERSION, "settings": settings, "titles": titles}
                _add(archive, _HEAD, canonical_json(head).encode())
                for table in metadata.sorted_tables:
                    _add(archive, f"tables/{table.name}.jsonl", b"".join(_lines(connection, table)))
                for digest in connection.execute(select(submissions.c.file).distinct().order_by("file")).scalars():
                    archive.add(board.vault.path(digest), f"files/{digest}", recursive=False)
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".vcrgen-") as trial:
                restore(temporary, Path(trial) / "board", database="", data=())  # a backup is what can be restored
        return WrittenBackup(target.stat().st_size, last)


def restore(source: Path, folder: Path, *, database: str, data: Sequence[str]) -> Board:
    """Make a board of a backup.

    Args:
        folder: A new or an empty folder.
        database: URL of an empty database; empty for SQLite in the folder.
        data: ``NAME:PATH`` for sets that are elsewhere on this machine.

    Raises:
        LeaderboardError: The file is no backup, is damaged, or of another version; the folder is not empty; a set's
            data is not its own.
        OSError: The disk is full.
    """
    with fresh_folder(folder):
        moved = named_sets(data)
        try:
            with _opened(source) as archive:
                _check_members(archive, source)
            with _opened(source) as archive:
                return _restore(archive, source, folder, database, moved)
        except (tarfile.TarError, EOFError, OSError, zlib.error, ValueError) as problem:  # ValueError: of a header
            if is_disk_full(problem):
                raise
            reason = next(iter(str(problem).splitlines()), type(problem).__name__)[:200]
            raise LeaderboardError(f"{source} cannot be read as a backup: {reason}.") from None


class _Unpacked(gzip.GzipFile):
    """The unpacked bytes of an archive, up to a limit by its packed size.

    Raises:
        LeaderboardError: More is asked for, all in all or at once.
    """

    def __init__(self, source: Path) -> None:
        super().__init__(source, "rb")
        self._source = source
        self._most = max(FREE_BYTES, MAX_RATIO * source.stat().st_size)

    def read(self, size: int | None = -1) -> bytes:
        """As of any file; `tarfile` asks for as much as a header of the archive says."""
        self._check(self.tell() + (size or 0), at_once=size or 0)
        return super().read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As of any file; `tarfile` goes on behind a member in this way."""
        self._check(offset)
        return super().seek(offset, whence)

    def _check(self, end: int, *, at_once: int = 0) -> None:
        if end > self._most:
            raise LeaderboardError(
                f"{self._source} unpacks to more than {self._most >> 20} MiB, far more than a backup of its size; "
                "nothing was restored."
            )
        if at_once > _AT_ONCE:
            raise LeaderboardError(f"{self._source} is damaged: it has a header of {at_once >> 20} MiB.")


@contextmanager
def _opened(source: Path) -> Iterator[tarfile.TarFile]:
    with _Unpacked(source) as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
        yield archive


def _check_members(archive: tarfile.TarFile, source: Path) -> None:
    """Check names, kinds and sizes of all that an archive holds, before anything of it is stored.

    Raises:
        LeaderboardError: Something is not of a backup, or is larger than a backup's.
    """
    tables = {table.name for table in metadata.sorted_tables}
    _read_head(archive, source)
    for member in _members(archive):
        name = _MEMBER.fullmatch(member.name)
        if name is None or not member.isreg() or member.issparse() or (name[2] and name[2] not in tables):
            raise LeaderboardError(f"{source} holds {member.name[:100]!r}, which no backup does.")
        if name[1] and member.size > MAX_FILE:
            raise LeaderboardError(f"{source} holds a file of {member.size >> 20} MiB, more than any board takes.")


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The members behind the head. `tarfile` would keep all of them in memory, of which there may be any number."""
    while (member := archive.next()) is not None:
        archive.members.clear()  # type: ignore[attr-defined]
        yield member


def _restore(archive: tarfile.TarFile, source: Path, folder: Path, database: str, moved: Mapping[str, Path]) -> Board:
    head = _read_head(archive, source)
    try:
        settings = Settings(**{**head["settings"], "database": database})
        titles = TypeAdapter(dict[str, SetTitle]).validate_python(head["titles"])
    except (ConfigError, ValidationError, KeyError, TypeError):
        raise LeaderboardError(f"{source} is damaged: its settings are none.") from None
    with new_board(folder, settings) as board:
        _load(archive, source, board, head, moved)
        sets = [settings_of(each).model_copy(update={"title": titles.get(each.name, "")}) for each in board.sets]
        settings = settings.model_copy(update={"sets": tuple(sets)})
        write_settings(folder, settings)
        return replace(board, settings=settings)


def _load(
    archive: tarfile.TarFile, source: Path, board: Board, head: Mapping[str, Any], moved: Mapping[str, Path]
) -> None:
    """Everything behind the head, in one transaction."""
    tables = {table.name: table for table in metadata.sorted_tables}
    missing = set(tables)
    with board.writing() as connection:
        if head.get("schema") != SCHEMA_VERSION:
            raise LeaderboardError(f"{source} is of another version of vcrgen; restore it with that one.")
        check_database(connection)
        for member in _members(archive):
            name, content = _MEMBER.fullmatch(member.name), archive.extractfile(member)
            assert name is not None and content is not None  # as was checked
            if name[2]:
                _insert_rows(connection, tables[name[2]], content)
                missing.discard(name[2])
            elif board.vault.store(content, most=member.size).sha256 != name[1]:
                raise LeaderboardError(f"{source} is damaged: the file {name[1]} is not what its name says.")
        assert archive.fileobj is not None
        while archive.fileobj.read(MAX_HEAD):  # to the end, where the checksum is
            pass
        if missing:
            raise LeaderboardError(f"{source} is damaged: the table {min(missing)} is missing.")
        take_changes(connection)  # the sums came with the rows
        _check(connection, board, source)
        _continue_numbers(connection)
        names = [test_set.name for test_set in all_sets(connection)]
        for set_name, path in moved.items():
            if set_name not in names:
                raise LeaderboardError(f"In {source} there is no set {set_name[:40]!r}; there are {', '.join(names)}.")
            stored = get_set(connection, set_name)
            read = describe_set(set_name, path, stored.lifecycle, protocol=stored.protocol)
            check_same_data(read, stored)
            change_set(connection, read)
        record(connection, actor=maintainer(), what="restored", subject="board", facts={"from": source.name[:100]})


def _read_head(archive: tarfile.TarFile, source: Path) -> dict[str, Any]:
    first = archive.next()
    content = archive.extractfile(first) if first is not None and first.name == _HEAD and first.isreg() else None
    try:
        head = json.loads(content.read(MAX_HEAD)) if content is not None else {}
    except (ValueError, RecursionError):
        head = {}
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise LeaderboardError(f"{source} is no backup of a board.")
    return head


def _check(connection: Connection, board: Board, source: Path) -> None:
    """Check that the log is whole, the board is as it says, and no file is missing.

    Raises:
        LeaderboardError: They are not.
    """
    check_board(connection)
    for digest in connection.execute(select(submissions.c.file).distinct()).scalars():
        if not board.vault.path(digest).is_file():
            raise LeaderboardError(f"{source} is damaged: the file {digest} is missing.")


def _continue_numbers(connection: Connection) -> None:
    """Let the numbers that PostgreSQL gives go on after the last one that was restored."""
    if connection.dialect.name == "postgresql":
        for table in metadata.sorted_tables:
            for column in table.primary_key.columns:
                if column is table.autoincrement_column:
                    last = connection.execute(select(func.max(column))).scalar()
                    sequence = text("SELECT setval(pg_get_serial_sequence(:table, :column), :last, :any)")
                    values = {"table": table.name, "column": column.name, "last": last or 1, "any": last is not None}
                    connection.execute(sequence, values)


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = 0o600
    archive.addfile(member, io.BytesIO(content))


def _lines(connection: Connection, table: Table) -> Iterator[bytes]:
    for row in connection.execute(select(table).order_by(*table.primary_key.columns)):
        values = {name: as_json_value(value) for name, value in row._mapping.items()}
        yield canonical_json(values).encode() + b"\n"


def _insert_rows(connection: Connection, table: Table, lines: IO[bytes]) -> None:
    try:
        for batch in _batches(table, lines):
            connection.execute(insert(table), batch)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise LeaderboardError(f"The backup is damaged: table {table.name}.") from None


def _batches(table: Table, lines: IO[bytes]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    while line := lines.readline(MAX_ROW):
        values, size = json.loads(line), size + len(line)
        batch.append({column.name: _read_value(column.type, values[column.name]) for column in table.columns})
        if len(batch) == BATCH or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _read_value(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, String) and (not isinstance(value, str) or len(value) > (kind.length or MAX_TEXT)):
        raise ValueError("the text is too long")
    if isinstance(kind, LargeBinary):
        return b64decode(value)
    if isinstance(kind, Moment):
        return datetime.fromisoformat(value)
    return date.fromisoformat(value) if isinstance(kind, Date) else value
