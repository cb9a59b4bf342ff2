"""The ledger of replies: opened for one run at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vcrgen.errors import OutputError
from vcrgen.work.ledger import Ledger
from vcrgen.work.lock import locked
from vcrgen.work.progress import ProgressListener


@contextmanager
def open_replies(file: Path, listener: ProgressListener, *, offline: bool) -> Iterator[Ledger]:
    """Lock and open the ledger; offline, only read it, maybe from a read-only disk.

    Raises:
        OutputError: Another run has it, it is no ledger, or there is none.
    """
    if offline:
        if not file.is_file():
            raise OutputError(f"There is no ledger {file}; name one with --ledger, or leave out --offline.")
        with Ledger(file, listener.warn, read_only=True) as ledger:
            yield ledger
        return
    busy = OutputError(f"Another run is writing to {file}; wait for it or name another --ledger.")
    with locked(file.with_name(f".{file.name}.lock"), busy), Ledger(file, listener.warn) as ledger:
        yield ledger
