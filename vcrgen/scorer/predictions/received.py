"""Outputs that are no plain file: standard input, a pipe, a file compressed with gzip or zstd, or one in UTF-16.

A file of outputs is read more than once: to know its format, to score it, and for a report's examples. So such outputs
are first copied, unpacked, into a temporary file, which is gone when nobody holds them any more.

    vcrgen score - --data data/my-vcr < preds.jsonl
    vcrgen score preds.jsonl.zst --data data/my-vcr
    vcrgen score <(grep stacked preds.jsonl) --data data/my-vcr
"""

import gzip
import os
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from vcrgen.core.errors import PredictionError
from vcrgen.scorer.predictions.recognise import SUFFIXES, PredictionFile, open_predictions, utf16_of

STDIN = Path("-")
MAX_UNPACKED = 4 << 30
WAIT_SECONDS = 10.0  # for whoever is to write to a named pipe
_MARKS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}  # how a file begins that is compressed so
_BLOCK = 1 << 20


def receive(file: Path) -> PredictionFile:
    """The outputs of a file of any kind; ``-`` is standard input.

    Raises:
        PredictionError: It cannot be read or unpacked, unpacks to more than 4 GiB, is a pipe to which nobody writes, or
            holds no outputs.
    """
    if file.is_dir():
        raise PredictionError(f"{file} is a folder; name the file of outputs in it.")
    piped = file == STDIN or (file.exists() and not file.is_file())
    if not piped and _compression(file) is None and utf16_of(_start(file)) is None:
        return open_predictions(file)
    try:
        folder = tempfile.TemporaryDirectory(prefix="vcrgen-outputs-")  # it lives as long as the outputs
    except OSError as problem:
        why = problem.strerror or problem
        raise PredictionError(f"There is no room for a copy of {file} in the temporary folder ({why}).") from None
    source = file
    if piped:
        source = Path(folder.name) / "piped"
        _write(source, _piped(file), file)
    kind = _compression(source)
    if kind is not None:
        packed, source = source, Path(folder.name) / "unpacked"
        _write(source, _unpacked(packed, kind), file)
    if encoding := utf16_of(_start(source)):
        wide, source = source, Path(folder.name) / "utf-8"
        _write(source, _as_utf8(wide, encoding), file)
    label = Path("standard input") if file == STDIN else file
    name = label.with_suffix("") if label.suffix in SUFFIXES else label
    try:
        opened = open_predictions(source, name=str(name))
    except PredictionError as problem:
        raise PredictionError(str(problem).replace(str(source), str(label))) from None
    return replace(opened, path=label, copy=source, folder=folder)


def _compression(file: Path) -> str | None:
    """The compression of a file; None also where it cannot be read, which its reader reports."""
    return next((kind for mark, kind in _MARKS.items() if _start(file).startswith(mark)), None)


def _start(file: Path) -> bytes:
    """The first bytes of a file; none of one that cannot be read."""
    try:
        with file.open("rb") as handle:
            return handle.read(4)
    except OSError:
        return b""


def _write(target: Path, blocks: Iterable[bytes], file: Path) -> None:
    """Copy what a file gives, up to a limit."""
    size = 0
    try:
        with target.open("wb") as handle:
            for block in blocks:
                size += len(block)
                if size > MAX_UNPACKED:
                    raise PredictionError(f"{file} holds more than {MAX_UNPACKED >> 30} GiB; split it.")
                handle.write(block)
    except UnicodeDecodeError:
        raise PredictionError(f"{file} begins as UTF-16, but is none; save it as UTF-8.") from None
    except (OSError, EOFError, zlib.error) as problem:
        raise PredictionError(f"{file} cannot be read: {getattr(problem, 'strerror', None) or problem}.") from None


def _unpacked(file: Path, kind: str) -> Iterator[bytes]:
    from pyarrow import CompressedInputStream

    with file.open("rb") as raw, gzip.open(raw) if kind == "gzip" else CompressedInputStream(raw, kind) as source:
        yield from iter(partial(source.read, _BLOCK), b"")


def _as_utf8(file: Path, encoding: str) -> Iterator[bytes]:
    with file.open(encoding=encoding, newline="") as source:
        yield from (text.encode("utf-8") for text in iter(partial(source.read, _BLOCK), ""))


def _piped(file: Path) -> Iterator[bytes]:
    if file == STDIN:
        yield from iter(partial(sys.stdin.buffer.read, _BLOCK), b"")
    elif stat.S_ISFIFO(file.stat().st_mode):
        yield from _from_named_pipe(file)
    else:  # a device, or a folder, which cannot be read
        with file.open("rb") as source:
            yield from iter(partial(source.read, _BLOCK), b"")


def _from_named_pipe(file: Path) -> Iterator[bytes]:
    """Read a named pipe; opening one waits for ever where nobody writes, so this polls."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    try:
        until, block = time.monotonic() + WAIT_SECONDS, b""
        while not block:
            try:
                block = os.read(descriptor, _BLOCK)
            except BlockingIOError:  # somebody has opened it and will write
                break
            if not block and time.monotonic() > until:
                raise PredictionError(f"{file} is a pipe to which nobody wrote for {WAIT_SECONDS:g} seconds.")
            time.sleep(0 if block else 0.05)
        os.set_blocking(descriptor, True)
        yield block
        yield from iter(partial(os.read, descriptor, _BLOCK), b"")
    finally:
        os.close(descriptor)
