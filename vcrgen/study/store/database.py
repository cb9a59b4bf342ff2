"""The file of a study.

A response is acknowledged when its transaction has ended, and then it is on the disk: killing the service or losing
power takes nothing that a page called saved.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import Connection

from vcrgen.core.errors import StudyError
from vcrgen.study.store.tables import VERSION, metadata
from vcrgen.web.database.engine import checkpoint, open_sqlite, reading, writing
from vcrgen.web.database.schema import check_tables, create_tables

FILE = "study.sqlite3"


class StudyStore:
    """The database of a study; close it, or use it as a context.

    Args:
        new: Make the database; otherwise it has to be there.

    Raises:
        StudyError: It is not there.
        DatabaseError: It is of another version, or no database.
    """

    def __init__(self, folder: Path, *, new: bool = False) -> None:
        self.folder = folder
        file = folder / FILE
        if not new and not file.is_file():
            raise StudyError(f"{folder} is not a study (it has no {FILE}); `vcrgen study init` makes one.")
        self._engine = open_sqlite(file)
        try:
            if new:
                create_tables(self._engine, metadata, VERSION)
            check_tables(self._engine, VERSION, f"{file} is of another version of vcrgen, or no study.")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> StudyStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def reading(self) -> AbstractContextManager[Connection]:
        """Connect to one state of the database."""
        return reading(self._engine)

    def writing(self) -> AbstractContextManager[Connection]:
        """Begin a transaction, one at a time. It is on the disk when the block has ended, or nothing of it is."""
        return writing(self._engine)

    def purge(self) -> None:
        """Take removed values out of the files, too: the journal could still hold them."""
        checkpoint(self._engine)
