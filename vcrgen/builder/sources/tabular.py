"""Rows in text files: CSV, TSV and JSON lines."""

import csv
import json
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from vcrgen.builder.sources.base import MAX_TEXT_BYTES, PROBLEM, Row
from vcrgen.builder.sources.scanned import Record, ScannedSource
from vcrgen.core.errors import SourceError
from vcrgen.core.reading import SURROGATE

_SKIP_BYTES = 1 << 20
_MAX_COLUMNS = 1000


class _LineTooLong(ValueError):
    pass


class _NumberedLines:
    """Lines of bytes, split at line feeds; goes on after one that is too long."""

    def __init__(self, handle: BinaryIO, line: int) -> None:
        self._handle = handle
        self.offset = handle.tell()  # byte after the last line given
        self.line = line  # number of the last line given, from 1

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        data = self._handle.readline(MAX_TEXT_BYTES + 1)
        if not data:
            raise StopIteration
        self.line += 1
        self.offset += len(data)
        if len(data) <= MAX_TEXT_BYTES:
            return data
        while data and not data.endswith(b"\n"):
            data = self._handle.readline(_SKIP_BYTES)
            self.offset += len(data)
        raise _LineTooLong(f"the line is longer than {MAX_TEXT_BYTES >> 20} MiB")


class _TextSource(ScannedSource):
    """Rows in files of UTF-8 text."""

    def _after_bom(self, handle: BinaryIO, name: str) -> int:
        """Move past a byte order mark, if there is one; that of UTF-16 is an error."""
        head = handle.read(len(BOM_UTF8))
        if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            raise SourceError(f"{self._shown(name)} is UTF-16 text; save the file as UTF-8.")
        return handle.seek(len(BOM_UTF8) if head == BOM_UTF8 else 0)


class JsonlSource(_TextSource):
    """One JSON object a line. Empty lines are no rows; any other line that is not an object is a problem."""

    def _begin(self, handle: BinaryIO, name: str) -> tuple[int, Any]:
        start = self._after_bom(handle, name)
        if handle.read(64).lstrip().startswith(b"["):
            shown = self._shown(name)
            raise SourceError(f"{shown} is one JSON array; write one object a line, as `jq -c '.[]'` does.")
        handle.seek(start)
        return 0, None

    def _records(self, handle: BinaryIO, line: int, header: Any) -> Iterator[Record]:
        lines = _NumberedLines(handle, line)
        return _records_of(lines, lines)

    def _row(self, record: Record, handle: BinaryIO, header: Any, columns: frozenset[str]) -> Row:
        row = record.raw if isinstance(record.raw, str) else parse_object(record.raw)
        return {PROBLEM: f"line {record.line}: {row}"} if isinstance(row, str) else row


class CsvSource(_TextSource):
    """CSV with a header, separated by commas or, in ``.tsv``, by tabs; quoted fields may hold line breaks.

    Semicolons or tabs separate the fields of a ``.csv`` whose header has them and no comma: so does Excel write CSV
    where a comma stands in decimal numbers.

    A row with more or fewer fields than the header, a NUL byte or bytes that are not UTF-8 is a problem.
    """

    def _begin(self, handle: BinaryIO, name: str) -> tuple[int, Any]:
        # A limit of the process, not of a reader: the csv module has no other way.
        csv.field_size_limit(MAX_TEXT_BYTES)
        start = self._after_bom(handle, name)
        delimiters = "\t" if name.lower().endswith(".tsv") else ",;\t"
        head = handle.readline(MAX_TEXT_BYTES)
        delimiter = next((mark for mark in delimiters if mark.encode() in head), delimiters[0])
        handle.seek(start)
        lines = _NumberedLines(handle, 0)
        first = next(_csv_records(lines, delimiter), None)
        header = first.raw if first else []
        if first and (problem := _header_problem(header)):
            raise SourceError(f"{self._shown(name)} has no usable header: {problem}.")
        handle.seek(lines.offset)
        return lines.line, (header, delimiter)

    def _records(self, handle: BinaryIO, line: int, header: Any) -> Iterator[Record]:
        _, delimiter = header
        return _csv_records(_NumberedLines(handle, line), delimiter)

    def _row(self, record: Record, handle: BinaryIO, header: Any, columns: frozenset[str]) -> Row:
        header, _ = header
        if problem := _fields_problem(record.raw):
            return {PROBLEM: f"line {record.line}: {problem}"}
        if len(record.raw) != len(header):
            return {PROBLEM: f"line {record.line}: {len(record.raw)} fields where the header has {len(header)}"}
        return dict(zip(header, record.raw, strict=True))


def parse_object(data: bytes) -> dict[str, Any] | str:
    """Read one JSON object, or say what is wrong with it."""
    try:
        loaded = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        return "not UTF-8 text"
    except RecursionError:
        return "JSON nested too deeply"
    except ValueError:
        return "not JSON"
    return loaded if isinstance(loaded, dict) else "not a JSON object"


def _csv_records(lines: _NumberedLines, delimiter: str) -> Iterator[Record]:
    # Bytes that are not UTF-8 become lone surrogates, by which `_fields_problem` knows them.
    texts = map(partial(str, encoding="utf-8", errors="surrogateescape"), lines)
    return _records_of(lines, csv.reader(texts, delimiter=delimiter))


def _records_of(lines: _NumberedLines, parsed: Iterator[Any]) -> Iterator[Record]:
    """Records of what a parser gives, or of a sentence where it gave up; it goes on at the next line.

    The parser takes lines one by one, so that after a record ``lines`` stands at the start of the next one.
    """
    while True:
        offset, line = lines.offset, lines.line + 1
        try:
            raw = next(parsed)
        except StopIteration:
            return
        except (csv.Error, _LineTooLong) as error:
            raw = str(error)
        if raw and not (isinstance(raw, bytes) and raw.isspace()):
            yield Record(offset, line, raw)


def _fields_problem(fields: list[str] | str) -> str:
    if isinstance(fields, str):
        return fields
    text = "".join(fields)
    if "\0" in text:
        return "a NUL byte"
    return "not UTF-8 text" if SURROGATE.search(text) else ""


def _header_problem(header: list[str] | str) -> str:
    if problem := _fields_problem(header):
        return problem
    if len(header) > _MAX_COLUMNS:
        return f"more than {_MAX_COLUMNS} columns"
    twice = next((column for column, count in Counter(header).items() if count > 1), None)
    return f"column {twice!r} comes twice" if twice is not None else ""
