"""Atomic files, errors of writing, hashes and JSON."""

import contextlib
import errno
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vcrgen.core.errors import OutputError

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)  # no room on the disk, or in the quota
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def is_disk_full(error: BaseException) -> bool:
    """Whether an error says that the disk, or the quota, has no room."""
    return isinstance(error, OSError) and error.errno in DISK_FULL


@contextlib.contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces ``target`` when the block ends well, and is removed otherwise.

    File and folder are flushed, so that a crash leaves the old state or the new one.
    """
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        yield temporary
        fsync(temporary)
        temporary.replace(target)
        fsync(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def output_errors(target: object) -> Iterator[None]:
    """Turn each OSError of a block into an OutputError of one sentence about ``target``."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {_why(error, Path(str(target)))}.") from None


def _why(error: OSError, target: Path) -> str:
    if is_disk_full(error):
        return "the disk is full; free some space and run the same command again"
    if error.strerror is None:  # from an object store, a sentence already
        return str(error) or type(error).__name__
    # Names beside the target are temporary ones.
    elsewhere = error.filename and Path(str(error.filename)).parent != target.parent
    return f"{error.strerror.lower()} ({error.filename})" if elsewhere else error.strerror.lower()


def fsync(path: Path) -> None:
    """Flush a file or folder to disk; a no-op for folders on systems that cannot open them."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_text(target: Path, text: str) -> None:
    """Write UTF-8 text with line feeds as they are, atomically."""
    with atomic_path(target) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def write_json(target: Path, value: Any) -> None:
    """Write a value as indented JSON, atomically; the same value gives the same bytes."""
    write_text(target, indented_json(value))


def write_new(target: Path, text: str) -> None:
    """Write a text to a file that is not there yet, with its folders; the same text again is no error.

    Raises:
        OutputError: The file holds another text, or cannot be written.
    """
    with output_errors(target):
        if target.exists() and (target.stat().st_size > 4 * len(text) or target.read_text("utf-8", "replace") != text):
            raise OutputError(f"{target} holds something else; remove it, or name another place with --out.")
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target, text)


def indented_json(value: Any) -> str:
    """Return indented JSON with sorted keys."""
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def canonical_json(value: Any) -> str:
    """Return one line of JSON with sorted keys, for hashes."""
    return _CANONICAL.encode(value)


def sha256_file(path: Path) -> str:
    """SHA-256 of a file in hex, read in pieces."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
