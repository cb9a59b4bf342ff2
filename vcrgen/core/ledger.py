"""A ledger of results, from which a killed job resumes."""

import json
import threading
import zlib
from collections.abc import Callable, Iterator
from itertools import chain, count
from pathlib import Path
from shutil import copyfile
from typing import Any, Self

from vcrgen.core.errors import OutputError
from vcrgen.core.files import atomic_path
from vcrgen.core.plurals import pluralize

_OPENING = b'{"key": '
_CHECKSUM = b', "crc32": "%08x"}\n'  # the end of a line, over all bytes before it
_CHECKSUM_BYTES = len(_CHECKSUM % 0)
_NAMED = 3  # damaged lines that a warning names


class Ledger:
    r"""An append-only file of JSON lines, one for each result.

    ``ledger.add("item-7", 3)`` appends ``{"key": "item-7", "value": 3, "crc32": "5462a074"}\n``. Opened again, a
    torn last line is cut off. Other damaged lines are left out, and the file as it was is kept as ``NAME.damaged``.
    Only keys are in memory. Threads may add concurrently; processes need `vcrgen.core.lock.locked`.

    Args:
        file: Created if missing; removed at the end of the block if it is empty.
        warn: Receives a sentence about damaged lines.
        read_only: Only read the file, which has to be there; damaged lines stay in it.

    Attributes:
        damaged: Numbers of the lines that were left out.

    Raises:
        OutputError: The file is no ledger, or its first line is damaged.
    """

    def __init__(self, file: Path, warn: Callable[[str], None] = lambda text: None, *, read_only: bool = False) -> None:
        self._file, self._read_only = file, read_only
        self._lock = threading.Lock()
        self._starts: dict[str, int] = {}  # of the lines, in bytes
        _check_first_line(file)
        self._lines = file.open("rb" if read_only else "a+b")
        self.damaged, end = self._read_keys()
        if not self.damaged and not read_only:
            self._lines.truncate(end)
        if self.damaged:
            advice = "" if read_only else f"; the file as it was is kept as {self._leave_out_damaged().name}"
            lines = ", ".join(map(str, self.damaged[:_NAMED])) + (", ..." if len(self.damaged) > _NAMED else "")
            subject = pluralize(len(self.damaged), "line is", "lines are")
            warn(f"{file}: {subject} damaged and left out (line {lines}){advice}.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._lines.close()
        if not self._starts and not self._read_only:
            self._file.unlink(missing_ok=True)

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._starts))

    def __contains__(self, key: str) -> bool:
        return key in self._starts

    def __getitem__(self, key: str) -> Any:
        """Read a result from the file; a KeyError if the key has none."""
        with self._lock:
            self._lines.seek(self._starts[key])
            return json.loads(self._lines.readline())["value"]

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield keys with their results, in the order of writing."""
        for key in self:
            yield key, self[key]

    def add(self, key: str, value: Any) -> None:
        """Append a result; the first one of a key counts."""
        line = ledger_line(key, value)
        with self._lock:
            if key in self._starts:
                return
            start = self._lines.seek(0, 2)
            self._lines.write(line)
            self._lines.flush()
            self._starts[key] = start

    def clear(self) -> None:
        """Remove all results."""
        with self._lock:
            self._lines.truncate(0)
            self._starts.clear()

    def _read_keys(self) -> tuple[list[int], int]:
        """Read the keys; return the numbers of damaged lines, and the end of the last line that is not torn."""
        damaged, end = [], 0
        self._starts.clear()
        self._lines.seek(0)
        for number, line in enumerate(self._lines, 1):
            if not line.endswith(b"\n"):
                break
            key = _key_of_line(line)
            if key is None:
                damaged.append(number)
            else:
                self._starts.setdefault(key, end)
            end += len(line)
        return damaged, end

    def _leave_out_damaged(self) -> Path:
        """Take damaged lines, and a torn last one, out of the file, and return the copy of it with them."""
        names = chain([f"{self._file.name}.damaged"], (f"{self._file.name}.damaged-{number}" for number in count(2)))
        copy = next(path for name in names if not (path := self._file.with_name(name)).exists())
        copyfile(self._file, copy)
        left_out = set(self.damaged)
        with atomic_path(self._file) as temporary, temporary.open("wb") as whole:
            self._lines.seek(0)
            lines = (line for number, line in enumerate(self._lines, 1) if number not in left_out)
            whole.writelines(line for line in lines if line.endswith(b"\n"))
            self._lines.close()
        self._lines = self._file.open("a+b")
        self._read_keys()
        return copy


def ledger_line(key: str, value: Any) -> bytes:
    """One line of the file: key, result and the checksum of both."""
    # As ASCII, which can say every text that JSON can, half a surrogate pair too.
    text = json.dumps({"key": key, "value": value}, sort_keys=True).encode("ascii")[:-1]
    return text + _CHECKSUM % zlib.crc32(text)


def _key_of_line(line: bytes) -> str | None:
    """Key of a line; None if the line is damaged."""
    text = line[:-_CHECKSUM_BYTES]
    if line[-_CHECKSUM_BYTES:] != _CHECKSUM % zlib.crc32(text):
        return None
    try:
        key = json.loads(line)["key"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return key if isinstance(key, str) else None


def _check_first_line(file: Path) -> None:
    """Check that a file, if it is there, begins as a ledger does, before anything of it is changed."""
    if not file.exists():
        return
    with file.open("rb") as lines:
        first = lines.readline()
    # Of a job that was killed in its first line, a piece of the opening may be all there is.
    torn = not first.endswith(b"\n") and (first.startswith(_OPENING) or _OPENING.startswith(first))
    if not torn and _key_of_line(first) is None:
        raise OutputError(
            f"{file} is not the ledger of a run, or is of an earlier version, or its first line is damaged; move it "
            "away, or choose another name."
        )
