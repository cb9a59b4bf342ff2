"""Rows in text files: CSV, TSV and JSON lines."""

import csv
import json
import re
import sys
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

from vcrgen.builder.sources.base import MAX_TEXT_BYTES, PROBLEM, Row
from vcrgen.builder.sources.scanned import Record, ScannedSource
from vcrgen.core.errors import SourceError
from vcrgen.core.reading import SURROGATE

_SKIP_BYTES = 1 << 20
_MAX_COLUMNS = 1000
_NOT_UTF8 = "not UTF-8 text; save the file as UTF-8"
_WHITESPACE = b" \t\n\r\x0b\x0c"
_URL = re.compile(r"\s*https?://", re.IGNORECASE)
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


class UnaccountedRowsError(ValueError):
    """Rows that cannot be told apart, or that are not as many as the file has; the text says where."""


class _LineTooLong(ValueError):
    pass


class RowCounter:
    """Counts the rows of a file by its line ends, beside the parser that reads them.

    With a delimiter, fields may be quoted, and a line end within quotes ends no row: a quote at the start of a field
    opens it, the next one that is not doubled closes it. Lines of nothing but ``blank`` bytes are no rows.
    """

    def __init__(self, *, blank: bytes, delimiter: str = "") -> None:
        self.rows = 0
        self.in_quotes = False  # at the end of what was fed
        self._blank = blank
        mark = re.escape(delimiter.encode())
        self._opening = re.compile(b'(?:\\A|%b)"' % mark) if delimiter else None
        self._later_opening = re.compile(b'%b"' % mark)

    def feed(self, data: bytes, *, starts_line: bool = True) -> None:
        """Count a line, or a further piece of a long one."""
        if starts_line and not self.in_quotes:
            self.rows += bool(data.strip(self._blank))
        if self._opening is None or (not self.in_quotes and b'"' not in data):
            return
        opening = self._opening if starts_line else self._later_opening
        at = 0
        while True:
            if self.in_quotes:
                at = data.find(b'"', at) + 1
                if not at:
                    return
                if data[at : at + 1] == b'"':
                    at += 1
                else:
                    self.in_quotes = False
            elif match := opening.search(data, at):
                self.in_quotes, at = True, match.end()
            else:
                return


class _NumberedLines:
    """Lines of bytes, split at line feeds; goes on after one that is too long."""

    def __init__(self, handle: BinaryIO, line: int, counter: RowCounter) -> None:
        self._handle = handle
        self.offset = handle.tell()  # byte after the last line given
        self.line = line  # number of the last line given, from 1
        self.counter = counter
        self._max_bytes: int = getattr(handle, "max_bytes", sys.maxsize)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        data = self._handle.readline(MAX_TEXT_BYTES + 1)
        if not data:
            raise StopIteration
        self.line += 1
        self.offset += len(data)
        self.counter.feed(data)
        if self.offset > self._max_bytes:
            raise UnaccountedRowsError(f"it unpacks to more than {self._max_bytes >> 20} MiB; unpack it")
        if len(data) <= MAX_TEXT_BYTES:
            return data
        while data and not data.endswith(b"\n"):
            data = self._handle.readline(_SKIP_BYTES)
            self.counter.feed(data, starts_line=False)
            self.offset += len(data)
        raise _LineTooLong(f"the line is longer than {MAX_TEXT_BYTES >> 20} MiB")


class _TextSource(ScannedSource):
    """Rows in files of UTF-8 text."""

    def _failures(self) -> tuple[type[Exception], ...]:
        return (OSError, EOFError, zlib.error, UnaccountedRowsError)

    def _after_bom(self, handle: BinaryIO, name: str) -> int:
        """Move past a byte order mark, if there is one; that of UTF-16 is an error."""
        head = handle.read(len(BOM_UTF8))
        if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            raise SourceError(f"{self._full_name(name)} is UTF-16 text; save the file as UTF-8.")
        return handle.seek(len(BOM_UTF8) if head == BOM_UTF8 else 0)


class JsonlSource(_TextSource):
    """One JSON object a line. Empty lines are no rows; any other line that is not an object is a problem."""

    def _begin(self, handle: BinaryIO, name: str) -> tuple[int, Any]:
        start = self._after_bom(handle, name)
        if handle.read(64).lstrip().startswith(b"["):
            file = self._full_name(name)
            raise SourceError(f"{file} is one JSON array; write one object a line, as `jq -c '.[]'` does.")
        handle.seek(start)
        return 0, None

    def _records(self, handle: BinaryIO, line: int, header: Any) -> Iterator[Record]:
        lines = _NumberedLines(handle, line, RowCounter(blank=_WHITESPACE))
        return _records_of(lines, lines)

    def _row(self, record: Record, handle: BinaryIO, header: Any, columns: frozenset[str]) -> Row:
        row = record.raw if isinstance(record.raw, str) else parse_object(record.raw)
        return {PROBLEM: f"line {record.line}: {row}"} if isinstance(row, str) else row


class _TableSource(_TextSource):
    """Text with a header. A row with more or fewer fields than that, a NUL byte or no UTF-8 is a problem."""

    _hint = ""  # added to the problem of a row with more or fewer fields

    def _row(self, record: Record, handle: BinaryIO, header: Any, columns: frozenset[str]) -> Row:
        names: list[str] = header[0]
        if problem := _fields_problem(record.raw):
            return {PROBLEM: f"line {record.line}: {problem}"}
        if len(record.raw) != len(names):
            problem = f"{len(record.raw)} fields where the header has {len(names)}{self._hint}"
            return {PROBLEM: f"line {record.line}: {problem}"}
        return dict(zip(names, record.raw, strict=True))

    def _read_header(self, handle: BinaryIO, name: str, start: int, delimiter: str) -> tuple[int, Any]:
        """Read the header at byte ``start``; the handle then stands at the first row."""
        handle.seek(start)
        first = next(self._records(handle, 0, ([], delimiter)), None)
        names = first.raw if first else []
        if first and (problem := _header_problem(names)):
            raise SourceError(f"{self._full_name(name)} has no usable header: {problem}.")
        handle.seek(first.end if first else start)
        return first.last_line if first else 0, (names, delimiter)


class TsvSource(_TableSource):
    """One row a line, its fields separated by tabs, as the media type ``text/tab-separated-values`` has it.

    A quote never joins lines: that would swallow rows after a caption that begins with a lone one. A field that is
    quoted as a whole, as programs that know CSV write it, is read without its quotes. Where such a program has written
    a line break, so that the rest of a row stands in the next line, the read ends.
    """

    _hint = "; a field of a TSV has no tab and no line break, which CSV and JSON Lines can hold"

    def _begin(self, handle: BinaryIO, name: str) -> tuple[int, Any]:
        return self._read_header(handle, name, self._after_bom(handle, name), "\t")

    def _records(self, handle: BinaryIO, line: int, header: Any) -> Iterator[Record]:
        names, _ = header
        lines = _NumberedLines(handle, line, RowCounter(blank=b"\r\n"))
        opened = 0  # the line before, if a quote that opens its last field is not closed
        for record in _records_of(lines, map(_tsv_fields, lines)):
            fields = record.raw
            if opened and names and len(fields) != len(names):
                raise UnaccountedRowsError(
                    f"the quoted field that line {opened} opens goes on in line {record.line}, and a TSV has no line "
                    "breaks in fields; save the file as CSV or JSON Lines"
                )
            opened = record.line if isinstance(fields, list) and fields[-1].startswith('"') else 0
            yield record


class CsvSource(_TableSource):
    """Fields separated by commas; quoted ones may hold line breaks and doubled quotes (RFC 4180).

    Semicolons or tabs separate the fields where the header has them and no comma: so does Excel write CSV where a comma
    stands in decimal numbers. A quote that is not closed ends the read: what follows it cannot be told apart.
    """

    def _begin(self, handle: BinaryIO, name: str) -> tuple[int, Any]:
        # A limit of the process, not of a reader: the csv module has no other way.
        csv.field_size_limit(MAX_TEXT_BYTES)
        start = self._after_bom(handle, name)
        head = handle.readline(MAX_TEXT_BYTES)
        delimiter = next((mark for mark in ",;\t" if mark.encode() in head), ",")
        return self._read_header(handle, name, start, delimiter)

    def _records(self, handle: BinaryIO, line: int, header: Any) -> Iterator[Record]:
        _, delimiter = header
        lines = _NumberedLines(handle, line, RowCounter(blank=b"\r\n", delimiter=delimiter))
        return _records_of(lines, csv.reader(map(_decoded, lines), delimiter=delimiter, strict=True))


def parse_object(data: bytes) -> dict[str, Any] | str:
    """Read one JSON object, or say what is wrong with it."""
    try:
        loaded = json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys)
    except UnicodeDecodeError:
        return _NOT_UTF8
    except RecursionError:
        return "JSON nested too deeply"
    except _KeyTwice as error:
        return str(error)
    except ValueError:
        return "not JSON"
    return loaded if isinstance(loaded, dict) else "not a JSON object"


class _KeyTwice(ValueError):
    pass


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object; a ValueError if a key comes twice, as the first of its values would be lost."""
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise _KeyTwice(f"the key {twice[:80]!r} comes twice")
    return values


def _decoded(line: bytes) -> str:
    """Bytes that are not UTF-8 become lone surrogates, by which `_fields_problem` knows them."""
    return line.decode("utf-8", "surrogateescape")


def _tsv_fields(line: bytes) -> list[str]:
    text = _decoded(line).removesuffix("\n").removesuffix("\r")
    return [_without_quotes(field) for field in text.split("\t")] if text else []


def _without_quotes(field: str) -> str:
    match = _QUOTED.fullmatch(field)
    return match[1].replace('""', '"') if match else field


def _records_of(lines: _NumberedLines, parsed: Iterator[Any]) -> Iterator[Record]:
    """Records of what a parser gives, or of a sentence where it gave up; it goes on at the next line.

    The parser takes lines one by one, so that after a record ``lines`` stands at the start of the next one.

    Raises:
        UnaccountedRowsError: A quote is not closed, or the parser gave other rows than the lines have.
    """
    rows = 0
    while True:
        offset, line = lines.offset, lines.line + 1
        is_damaged = False
        try:
            raw = next(parsed)
        except StopIteration:
            break
        except (csv.Error, _LineTooLong) as error:
            raw, is_damaged = str(error), True
        if lines.counter.in_quotes or (is_damaged and lines.line > line):
            raise UnaccountedRowsError(
                f"line {line} opens a quote that is not closed; close it, and double the quotes within a quoted field, "
                "or save the file as TSV or JSON Lines"
            )
        if raw and not (isinstance(raw, bytes) and raw.isspace()):
            rows += 1
            yield Record(offset, line, raw, lines.offset, lines.line)
    if rows != lines.counter.rows:
        raise UnaccountedRowsError(f"its lines hold {lines.counter.rows} rows, but {rows} were read")


def _fields_problem(fields: list[str] | str) -> str:
    if isinstance(fields, str):
        return fields
    text = "".join(fields)
    if "\0" in text:
        return "a NUL byte"
    return _NOT_UTF8 if SURROGATE.search(text) else ""


def _header_problem(header: list[str] | str) -> str:
    if problem := _fields_problem(header):
        return problem
    if len(header) > _MAX_COLUMNS:
        return f"more than {_MAX_COLUMNS} columns"
    if any(_URL.match(name) for name in header):
        return (
            "its first line is a row with the address of a picture, and vcrgen does not download; name the columns in "
            "a first line, fetch the pictures with `img2dataset --url_list FILE --input_format tsv --output_format "
            "webdataset --output_folder shards`, then build from 'shards/*.tar'"
        )
    twice = next((column for column, count in Counter(header).items() if count > 1), None)
    return f"column {twice!r} comes twice" if twice is not None else ""
