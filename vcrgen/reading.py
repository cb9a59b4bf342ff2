"""Hostile text files, read line by line: bounded memory, and every problem a sentence with file and line."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from vcrgen.errors import VcrgenError

# One output of 64 MiB is none; a longer line is refused before it is in memory.
MAX_LINE_BYTES = 64 << 20
# A line of nothing but `[],[],` takes twenty times its size in memory; no record has so many values.
MAX_LINE_VALUES = 1 << 20
# Formats that are one JSON value have to be in memory as a whole.
MAX_JSON_BYTES = 512 << 20
MAX_JSON_VALUES = 1 << 24
SURROGATE = re.compile("[\ud800-\udfff]")
# Bytes of lines that are read together by whoever takes a file in blocks: as many as make it cheap to hand a block to
# another process and to add up what came of it, and so few that all processes end at about the same time.
_BLOCK = 1 << 17


class LineBlock(NamedTuple):
    """Lines of a file that follow one another."""

    number: int = 1  # of the first of them
    start: int = 0  # the byte where it begins
    size: int = sys.maxsize  # bytes of them all


ALL_LINES = LineBlock()


def iter_lines(file: Path, error: type[VcrgenError], lines: LineBlock = ALL_LINES) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file that are not blank, with their numbers from 1; a byte order mark is dropped.

    ``lines`` are those that are read.

    Raises:
        VcrgenError: Of the class given, where the file cannot be opened, a line is too long, or is not UTF-8.
    """
    try:
        with file.open("rb") as handle:
            if lines.start:
                handle.seek(lines.start)
            number, left = lines.number, lines.size
            while left > 0 and (line := handle.readline(MAX_LINE_BYTES + 1)):
                if len(line) > MAX_LINE_BYTES:
                    raise error(f"{file}, line {number}: the line is longer than {MAX_LINE_BYTES >> 20} MiB.")
                text = decode(line, file, number, error).strip()
                if text:
                    yield number, text
                number, left = number + 1, left - len(line)
    except OSError as problem:
        raise error(f"{file} cannot be read: {problem.strerror or problem}.") from None


def blocks_of_lines(file: Path, error: type[VcrgenError]) -> Iterator[LineBlock]:
    """The lines of a file in blocks of 128 KiB and the rest of a line, for :func:`iter_lines` in any process."""
    try:
        with file.open("rb") as handle:
            number, start = 1, 0
            while block := handle.read(_BLOCK) + handle.readline(MAX_LINE_BYTES + 1):
                yield LineBlock(number, start, len(block))
                number, start = number + block.count(b"\n"), start + len(block)
    except OSError as problem:
        raise error(f"{file} cannot be read: {problem.strerror or problem}.") from None


def decode(line: bytes, file: Path | str, number: int, error: type[VcrgenError]) -> str:
    """A line as text."""
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        hint = "; it looks like UTF-16" if line[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in line else ""
        raise error(f"{file}, line {number}: not UTF-8 text{hint}; save the file as UTF-8.") from None


def iter_json_lines(
    file: Path, error: type[VcrgenError], lines: LineBlock = ALL_LINES
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file with their line numbers from 1; ``error`` where a line is none."""
    name = str(file)
    for number, line in iter_lines(file, error, lines):
        value = parse_json(line, f"{name}, line {number}", error)
        if not isinstance(value, dict):
            raise error(f"{name}, line {number}: not a JSON object but {describe(value)}.")
        yield number, value


def check_file_size(file: Path, most: int, so: str, error: type[VcrgenError]) -> None:
    """An error of the class given for a file of more than ``most`` bytes, with what follows from that, or for none."""
    try:
        size = file.stat().st_size
    except OSError as problem:
        raise error(f"{file} cannot be read: {problem.strerror or problem}.") from None
    if size > most:
        raise error(f"{file} is larger than {most >> 20} MiB, so {so}.")


def read_json(file: Path, error: type[VcrgenError]) -> Any:
    """A file that is one JSON value; an error of the class given where it is not."""
    try:
        size = file.stat().st_size
        if size > MAX_JSON_BYTES:
            raise error(f"{file} is one JSON value of more than {MAX_JSON_BYTES >> 20} MiB; give it as JSON Lines.")
        return parse_json(decode(file.read_bytes(), file, 1, error), str(file), error, most=MAX_JSON_VALUES)
    except OSError as problem:
        raise error(f"{file} cannot be read: {problem.strerror or problem}.") from None


def parse_json(text: str, place: str, error: type[VcrgenError], *, most: int = MAX_LINE_VALUES) -> Any:
    """One JSON value of ``most`` values at most (commas and brackets in texts count); errors open with ``place``."""
    if len(text) > most and sum(map(text.count, "[{,")) > most:
        raise error(f"{place}: holds more than {most:,} values.")
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        at = f" (column {problem.colno})" if problem.lineno == 1 else f" (line {problem.lineno})"
        raise error(f"{place}: not JSON{at}.") from None
    except ValueError:  # an integer of thousands of digits
        raise error(f"{place}: holds a number that is too long.") from None
    except RecursionError:
        raise error(f"{place}: nested too deep.") from None


def describe(value: Any) -> str:
    """A JSON value's kind, for messages."""
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def encodable(text: str) -> str:
    """The text with lone surrogates, which no file can hold, replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if SURROGATE.search(text) else text


def as_id(value: Any) -> str | None:
    """An id as text; numbers that are whole count as their digits, everything else is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else None
    return str(value)


def as_texts(value: Any) -> tuple[str, ...] | None:
    """A list of texts, or None if it is anything else."""
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return tuple(value)
    return None


def without_marks(text: str) -> str:
    """Text that cannot break out of its paragraph: one line, without Markdown's and HTML's marks."""
    return re.sub(r"[<>`\[\]|\\*_#\s]+", " ", text).strip()
