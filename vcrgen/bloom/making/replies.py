"""The ledger of the replies: opened for one run at a time, and only if it is one."""

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
    """The ledger, kept from other processes; a copy where nothing is to be added, so that it may lie anywhere.

    Args:
        file: Made where it is missing and replies may be added.
        offline: Whether nothing is to be added.

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
    """See that a file is a ledger, and that only its last line is torn: from there on the ledger cuts it off."""
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
