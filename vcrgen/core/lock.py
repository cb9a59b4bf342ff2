"""Locks between processes."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vcrgen.core.errors import VcrgenError


@contextmanager
def locked(file: Path, busy: VcrgenError, *, wait: float = 0) -> Iterator[None]:
    """Hold a lock in a block; the operating system releases the lock of a process that dies.

    Args:
        file: File of the lock, removed after the block; its folder is created.
        busy: Raised if another process holds the lock.
        wait: Seconds to wait for the other process.
    """
    from filelock import FileLock, Timeout

    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()  # in a folder that cannot be written, the lock itself would look like one that is taken
    lock = FileLock(file)
    try:
        lock.acquire(timeout=wait)
    except Timeout:
        raise busy from None
    try:
        yield
    finally:
        # Before the lock is let go: a moment later the file may be another process's. Windows does not remove an open
        # file; there the lock removes it when it is let go.
        with suppress(OSError):
            file.unlink(missing_ok=True)
        lock.release()
