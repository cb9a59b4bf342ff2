"""A ledger of results, from which a killed job resumes."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self


class Ledger:
    r"""An append-only file of JSON lines, one for each result.

    ``ledger.add("item-7", {"text": "..."})`` appends ``{"key": "item-7", "value": {"text": "..."}}\n``. Opened again,
    the file is truncated at the first torn line. Only keys are in memory. Threads may add concurrently; processes
    need :func:`vcrgen.work.lock.locked`.

    Args:
        file: Created if missing; removed at the end of the block if it is empty.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._starts: dict[str, int] = {}  # of the lines, in bytes
        self._lines = file.open("a+b")
        self._recover()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._lines.close()
        if not self._starts:
            self._file.unlink(missing_ok=True)

    def __len__(self) -> int:
        return len(self._starts)

    def __contains__(self, key: str) -> bool:
        return key in self._starts

    def __getitem__(self, key: str) -> Any:
        """Return the result of a key; a KeyError if it has none."""
        with self._lock:
            self._lines.seek(self._starts[key])
            return json.loads(self._lines.readline())["value"]

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield keys with their results, in the order of writing."""
        for key in list(self._starts):
            yield key, self[key]

    def add(self, key: str, value: Any) -> None:
        """Append a result; the first one of a key counts."""
        # As ASCII, which can say every text that JSON can, half a surrogate pair too.
        line = json.dumps({"key": key, "value": value}, sort_keys=True).encode("ascii") + b"\n"
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

    def _recover(self) -> None:
        end = 0
        self._lines.seek(0)
        for line in self._lines:
            key = key_of_line(line)
            if key is None:
                break
            self._starts.setdefault(key, end)
            end += len(line)
        self._lines.truncate(end)


def key_of_line(line: bytes) -> str | None:
    """Return the key of a line; None if the line is torn."""
    if not line.endswith(b"\n"):
        return None
    try:
        entry = json.loads(line)
        key, _ = entry["key"], entry["value"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return key if isinstance(key, str) else None
