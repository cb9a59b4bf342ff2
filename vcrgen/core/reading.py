"""Untrusted text files: bounded memory, and errors of one sentence with file and line."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO, TypeVar

from vcrgen.core.errors import VcrgenError
from vcrgen.core.plurals import pluralize

# One output of 64 MiB is none; a longer line is refused before it is in memory.
MAX_LINE_BYTES = 64 << 20
# A line of nothing but `[],[],` takes twenty times its size in memory; no record has so many values.
MAX_LINE_VALUES = 1 << 20
# Formats that are one JSON value have to be in memory as a whole.
MAX_JSON_BYTES = 512 << 20
MAX_JSON_VALUES = 1 << 24
Cell = TypeVar("Cell")
SURROGATE = re.compile("[\ud800-\udfff]")
# Bytes of lines that are read together by whoever takes a file in blocks: as many as make it cheap to hand a block to
# another process and to add up what came of it, and so few that all processes end at about the same time.


def iter_lines(file: Path, error: type[VcrgenError]) -> Iterator[tuple[int, str]]:
    """Yield the non-blank lines of a UTF-8 file with their numbers from 1, without a byte order mark.

    Raises:
        VcrgenError: Of the class given, where the file cannot be opened, a line is too long, or is not UTF-8.
    """
    try:
        with file.open("rb") as handle:
            number = 1
            while line := handle.readline(MAX_LINE_BYTES + 1):
                if len(line) > MAX_LINE_BYTES:
                    raise error(f"{file}, line {number}: the line is longer than {MAX_LINE_BYTES >> 20} MiB.")
                text = decode(line, file, number, error).strip()
                if text:
                    yield number, text
                number += 1
    except OSError as problem:
        raise error(f"{file} cannot be read: {problem.strerror or problem}.") from None


def decode(line: bytes, file: Path | str, number: int, error: type[VcrgenError]) -> str:
    """Decode a line."""
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise error(f"{file}, line {number}: {_not_utf8(line)}") from None


def _not_utf8(start: bytes) -> str:
    hint = "; it looks like UTF-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start else ""
    return f"not UTF-8 text{hint}; save the file as UTF-8."


def iter_json_lines(file: Path, error: type[VcrgenError]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSON Lines file with their line numbers from 1."""
    name = str(file)
    for number, line in iter_lines(file, error):
        value = parse_json(line, f"{name}, line {number}", error)
        if not isinstance(value, dict):
            raise error(f"{name}, line {number}: not a JSON object but {describe(value)}.")
        yield number, value


def read_csv(
    file: Path, error: type[VcrgenError], *, delimiters: str = ",", required: Collection[str] = (), strict: bool = True
) -> Iterator[tuple[int, dict[str, str]]]:
    """Read a CSV or TSV file in UTF-8, its rows by the names in its first row; blank rows are left out.

    Args:
        file: It is read row by row, of any size.
        error: The class of errors.
        delimiters: Marks that may stand between cells; the one that is most frequent in the first line does.
        required: Names of columns that have to be there; others may be, too.
        strict: Reject what other programs may read otherwise: text behind a closing quote, and a quote left open.

    Yields:
        The number of the row's last line, from 1, and its cells by name.

    Raises:
        VcrgenError: Of the class given, where the file cannot be opened, is not UTF-8 or no such table, lacks a column
            or has one twice, or where a row is too long or has another number of cells than there are names.
    """
    return name_cells(read_csv_cells(file, error, delimiters=delimiters, strict=strict), str(file), error, required)


def read_csv_cells(
    file: Path, error: type[VcrgenError], *, delimiters: str = ",", strict: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a CSV or TSV file, the first one included, as lists; as `read_csv`."""
    try:
        with file.open("rb") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            yield from parse_csv_cells(text, str(file), error, delimiters=delimiters, strict=strict)
    except OSError as problem:
        raise error(f"{file} cannot be read: {problem.strerror or problem}.") from None
    except UnicodeDecodeError as problem:
        raise error(f"{file}: {_not_utf8(problem.object)}") from None


def parse_csv_cells(
    text: TextIO, place: str, error: type[VcrgenError], *, delimiters: str = ",", strict: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Read the rows of a table in an open text, whose line ends are as they are; errors open with ``place``."""
    first = text.readline(MAX_LINE_BYTES)
    delimiter = max(delimiters, key=first.count)
    size = [0, 0]  # characters and delimiters of the row, which may have several lines
    csv.field_size_limit(MAX_LINE_BYTES)
    reader = csv.reader(_bounded_rows(first, text, delimiter, place, error, size), delimiter=delimiter, strict=strict)
    try:
        for cells in reader:
            size[:] = 0, 0
            if cells:
                yield reader.line_num, cells
    except csv.Error as problem:
        raise error(f"{place}, line {reader.line_num}: not a table ({problem}).") from None


def _bounded_rows(
    line: str, text: TextIO, delimiter: str, place: str, error: type[VcrgenError], size: list[int]
) -> Iterator[str]:
    """Yield lines for the csv module, which joins those of a row, as long as the row is within the limits."""
    number = 1
    while line:
        size[0] += len(line)
        size[1] += line.count(delimiter)
        if size[0] >= MAX_LINE_BYTES:
            raise error(f"{place}, line {number}: the row is longer than {MAX_LINE_BYTES >> 20} MiB.")
        if size[1] > MAX_LINE_VALUES:
            raise error(f"{place}, line {number}: the row has more than {MAX_LINE_VALUES:,} cells.")
        yield line.replace("\0", "\ufffd")
        line = text.readline(MAX_LINE_BYTES)
        number += 1


def name_cells(
    rows: Iterable[tuple[int, Sequence[Cell]]], place: str, error: type[VcrgenError], required: Collection[str] = ()
) -> Iterator[tuple[int, dict[str, Cell]]]:
    """Give the cells of rows the names in the first row, without white space around them."""
    names: list[str] | None = None
    for number, cells in rows:
        if names is None:
            names = ["" if name is None else str(name).strip() for name in cells]
            if missing := [name for name in required if name not in names]:
                raise error(f"{place} has no column {missing[0]!r} in its first row; it needs {', '.join(required)}.")
            if twice := [name for name, times in Counter(names).items() if name and times > 1]:
                raise error(f"{place} has two columns {twice[0][:80]!r}; keep one.")
        elif len(cells) != len(names):
            raise error(
                f"{place}, line {number}: {pluralize(len(cells), 'cell')} under {pluralize(len(names), 'column name')}."
            )
        else:
            yield number, dict(zip(names, cells, strict=True))
    if names is None and required:
        raise error(f"{place} is empty; its first row names the columns {', '.join(required)}.")


def check_file_size(file: Path, most: int, so: str, error: type[VcrgenError]) -> None:
    """Raise ``error`` for a missing file, or one of more than ``most`` bytes, with the consequence ``so``."""
    try:
        size = file.stat().st_size
    except (OSError, ValueError) as problem:  # a null byte in the name is a ValueError
        raise error(f"{file} cannot be read: {getattr(problem, 'strerror', None) or problem}.") from None
    if size > most:
        raise error(f"{file} is larger than {most >> 20} MiB, so {so}.")


def read_json(file: Path, error: type[VcrgenError]) -> Any:
    """Read a file that is one JSON value."""
    return parse_json(_read_json_text(file, error), str(file), error, most=MAX_JSON_VALUES)


def read_json_members(file: Path, error: type[VcrgenError]) -> list[tuple[str, Any]]:
    """Read the names and values of a file that is one JSON object; a name may come twice."""
    members: list[tuple[str, Any]] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members[:] = pairs  # the outermost object is complete last
        return dict(pairs)

    parse_json(_read_json_text(file, error), str(file), error, most=MAX_JSON_VALUES, object_of=keep)
    return members


def _read_json_text(file: Path, error: type[VcrgenError]) -> str:
    try:
        size = file.stat().st_size
        if size > MAX_JSON_BYTES:
            raise error(f"{file} is one JSON value of more than {MAX_JSON_BYTES >> 20} MiB; give it as JSON Lines.")
        return decode(file.read_bytes(), file, 1, error)
    except OSError as problem:
        raise error(f"{file} cannot be read: {problem.strerror or problem}.") from None


def parse_json(
    text: str,
    place: str,
    error: type[VcrgenError],
    *,
    most: int = MAX_LINE_VALUES,
    object_of: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Parse a JSON value.

    Args:
        place: Begins the sentences of errors.
        error: Their class.
        most: Values at most, counted by commas and brackets.
        object_of: Makes an object of its names and values; a dict by default.
    """
    if len(text) > most and sum(map(text.count, "[{,")) > most:
        raise error(f"{place}: holds more than {most:,} values.")
    try:
        return json.loads(text, object_pairs_hook=object_of)
    except json.JSONDecodeError as problem:
        at = f" (column {problem.colno})" if problem.lineno == 1 else f" (line {problem.lineno})"
        raise error(f"{place}: not JSON{at}.") from None
    except ValueError:  # an integer of thousands of digits
        raise error(f"{place}: holds a number that is too long.") from None
    except RecursionError:
        raise error(f"{place}: nested too deep.") from None


def describe(value: Any) -> str:
    """Kind of a JSON value in the words of JSON, for messages."""
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def encodable(text: str) -> str:
    """Replace lone surrogates, which no file can hold, by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if SURROGATE.search(text) else text


def as_id(value: Any) -> str | None:
    """Return an id as text, also of a whole number; None for other values."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else None
    return str(value)


def as_texts(value: Any) -> tuple[str, ...] | None:
    """Return a list of texts as a tuple; None for other values."""
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return tuple(value)
    return None


def without_marks(text: str) -> str:
    """Return text as one line without marks of Markdown and HTML."""
    return re.sub(r"[<>`\[\]|\\*_#\s]+", " ", text).strip()
