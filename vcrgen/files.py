"""Files that appear whole or not at all, and what is said when they cannot be written."""

import contextlib
import errno
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vcrgen.errors import OutputError

_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@contextlib.contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """A temporary path beside ``target`` that becomes ``target`` when the block ends well.

    The file is flushed to disk before it is renamed, and the folder after, so that a crash leaves the old state or
    the new one. When the block raises, the temporary file is removed.
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
    """Say in one sentence what kept a file, a folder or a place in a store from being written.

    Args:
        target: What is written, as the user named it.

    Raises:
        OutputError: In place of every OSError of the block.
    """
    try:
        yield
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {_why(error, Path(str(target)))}.") from None


def _why(error: OSError, target: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full; free some space and run the same command again"
    if error.strerror is None:  # of an object store, a sentence of ours
        return str(error) or type(error).__name__
    # Of a file beside the target the name is one that we made up.
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


def indented_json(value: Any) -> str:
    """JSON for people, with sorted keys: the text that :func:`write_json` writes."""
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def canonical_json(value: Any) -> str:
    """One line of JSON with sorted keys: what hashes are taken of."""
    return _CANONICAL.encode(value)


def sha256_file(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
