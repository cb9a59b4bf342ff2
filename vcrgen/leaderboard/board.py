"""A board: a folder with its settings, the files of teams, and (unless another is named) its database."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

from sqlalchemy import Connection, Engine

from vcrgen.core.errors import ConfigError, LeaderboardError
from vcrgen.core.files import fsync
from vcrgen.leaderboard.records import TestSet
from vcrgen.leaderboard.settings import FILE, Settings, read_settings
from vcrgen.leaderboard.store.engine import check_board, open_engine
from vcrgen.leaderboard.store.log import note_foreign_change
from vcrgen.leaderboard.store.sets import all_sets
from vcrgen.leaderboard.store.tracking import tracked
from vcrgen.leaderboard.uploads import read_upload
from vcrgen.web.database.engine import reading, writing

FOLDER = "files"
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Board:
    """An open board."""

    folder: Path
    settings: Settings  # the content of board.yaml
    engine: Engine  # of its database
    vault: Vault  # the files that were submitted

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the board."""
        return reading(self.engine)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction, safe on disk when the block has ended; whatever it changes, it records in the log."""
        with writing(self.engine) as connection:
            note_foreign_change(connection)
            with tracked(connection):
                yield connection

    def queueing(self) -> AbstractContextManager[Connection]:
        """A transaction of which the log does not tell: of what waits, is scored, or of ranks that are refreshed."""
        return writing(self.engine)

    @property
    def sets(self) -> Sequence[TestSet]:
        """The test sets."""
        with self.reading() as connection:
            return all_sets(connection)


def open_board(folder: Path) -> Board:
    """Open the board of a folder.

    Raises:
        LeaderboardError: There is no board, or its database cannot be used or is of another version.
        ConfigError: Its settings are wrong.
    """
    board = open_unapplied(folder)
    check_overall(board, board.sets)
    return board


def open_unapplied(folder: Path) -> Board:
    """Open the board of a folder whose settings may name sets that are not in use yet; it raises as open_board."""
    if not (folder / FILE).is_file():
        raise LeaderboardError(
            f"{folder} is no board (it has no {FILE}); `vcrgen leaderboard init {folder} --data NAME:DATA` makes one."
        )
    settings = read_settings(folder)
    board = Board(folder, settings, open_engine(folder, settings.database), Vault(folder))
    check_board(board.engine)
    return board


def check_overall(board: Board, sets: Sequence[TestSet]) -> None:
    """Refuse, with a ConfigError, an overall score over a set that the board does not have, or that is copied."""
    names = [test_set.name for test_set in sets]
    for name in board.settings.overall:
        if name not in names:
            raise ConfigError(
                f"{board.folder / FILE}: overall names {name[:40]!r}, which is no set of the board; it has "
                f"{', '.join(names)}."
            )
    if copied := next(
        (test_set.name for test_set in sets if test_set.is_copied and test_set.name in board.settings.overall), ""
    ):
        raise ConfigError(
            f"{board.folder / FILE}: overall names {copied!r}, whose answers can be taken from public questions about "
            "drawn scenes; leave it out."
        )


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in the vault."""

    sha256: str
    bytes: int


class Vault:
    """The files in a board's folder by their content; each is there whole or not at all, and never written twice."""

    def __init__(self, board: Path) -> None:
        self._folder = board / FOLDER

    def path(self, sha256: str) -> Path:
        """Where a file is or would be.

        Raises:
            ValueError: The text is no SHA-256 in hex, so that no file here can be called so.
        """
        if not _DIGEST.fullmatch(sha256):
            raise ValueError("not a SHA-256 in hex")
        return self._folder / sha256[:2] / sha256

    def free(self) -> int:
        """Free bytes of the disk that holds the vault."""
        return shutil.disk_usage(self._folder if self._folder.exists() else self._folder.parent).free

    @contextmanager
    def temporary_copy(self, stream: IO[bytes], *, most: int, taker: str = "this board") -> Iterator[Path]:
        """A file of at most so many bytes on the disk, as long as it is needed; a refusal names who takes no more.

        Raises:
            LeaderboardError: It is empty, too large, or packed.
        """
        temporary = self._temporary()
        try:
            _copy(stream, temporary, most, taker)
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)

    def _temporary(self) -> Path:
        incoming = self._folder / "incoming"
        incoming.mkdir(parents=True, exist_ok=True)
        return incoming / uuid4().hex

    def store(self, stream: IO[bytes], *, most: int) -> StoredFile:
        """Store a file of outputs of at most so many bytes; it is on disk when this returns.

        Raises:
            LeaderboardError: It is empty, too large, or packed.
        """
        temporary = self._temporary()
        try:
            stored = _copy(stream, temporary, most, "this board")
            target = self.path(stored.sha256)
            if not target.exists():
                # The bytes first, then the name: after a loss of power a name without its bytes would be a whole file.
                fsync(temporary)
                target.parent.mkdir(exist_ok=True)
                temporary.replace(target)
                fsync(target.parent)
                fsync(self._folder)
            return stored
        finally:
            temporary.unlink(missing_ok=True)


def _copy(stream: IO[bytes], target: Path, most: int, taker: str) -> StoredFile:
    digest, size = hashlib.sha256(), 0
    with target.open("xb") as out:
        for block in read_upload(stream, most=most, taker=taker):
            size += len(block)
            digest.update(block)
            out.write(block)
    return StoredFile(digest.hexdigest(), size)
