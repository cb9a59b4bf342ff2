"""The ledger of replies: opened for one run at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfile

from vcrgen.errors import OutputError
from vcrgen.work.ledger import Ledger, key_of_line
from vcrgen.work.lock import locked

_OPENING = b'{"key": '


@contextmanager
def open_replies(file: Path, *, offline: bool) -> Iterator[Ledger]:
    """Lock and open the ledger; offline, open a copy of it, which may be on a read-only disk.

    Raises:
        OutputError: Another run has it, it is no ledger or damaged, or there is none.
    """
    if offline:
        if not file.is_file():
            raise OutputError(f"There is no ledger {file}; name one with --ledger, or leave out --offline.")
        _check(file)
        with tempfile.TemporaryDirectory() as folder:
            copyfile(file, Path(folder, "ledger"))
            with Ledger(Path(folder, "ledger")) as ledger:
                yield ledger
        return
    busy = OutputError(f"Another run is writing to {file}; wait for it or name another --ledger.")
    with locked(file.with_name(f".{file.name}.lock"), busy):
        if file.exists():
            _check(file)
        with Ledger(file) as ledger:
            yield ledger


def _check(file: Path) -> None:
    """Check that a file is a ledger, and that only its last line is torn: the ledger drops that one."""
    torn = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            # Of a run that was killed in its first line, a piece of the opening may be all there is.
            if number == 1 and not line.startswith(_OPENING) and not _OPENING.startswith(line):
                raise OutputError(f"{file} is not the ledger of a run; name another --ledger, or move that file.")
            if key_of_line(line) is None:
                torn = torn or number
            elif torn:
                raise OutputError(
                    f"{file} is damaged in line {torn}; remove that line, whose reply is then asked for again, or name "
                    "another --ledger."
                )
