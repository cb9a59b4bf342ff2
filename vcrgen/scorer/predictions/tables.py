"""VLMEvalKit's tables: ``index``, ``question``, ``answer`` (a list literal), ``prediction``, as CSV, TSV or rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vcrgen.errors import PredictionError
from vcrgen.reading import MAX_LINE_BYTES, MAX_LINE_VALUES, as_id
from vcrgen.scorer.predictions.jsonlines import read_target
from vcrgen.scorer.predictions.output import read_mode, read_output, read_view
from vcrgen.scorer.records import Prediction

NEEDED = ("index", "prediction")
# What pandas writes for a missing value, and reads back as one.
NO_VALUE = {"", "nan", "NaN", "NULL", "null", "None", "N/A", "NA", "<NA>", "#N/A"}


def read_csv(file: Path) -> Iterator[Prediction]:
    """A table with commas."""
    return read_rows(file, _table(file, ","), missing=NO_VALUE)


def read_tsv(file: Path) -> Iterator[Prediction]:
    """A table with tabs."""
    return read_rows(file, _table(file, "\t"), missing=NO_VALUE)


def read_rows(
    file: Path, rows: Iterable[tuple[int, Mapping[str, Any]]], *, missing: Iterable[str] = ()
) -> Iterator[Prediction]:
    """Predictions from rows of VLMEvalKit's columns.

    Rows are joined by ``question_id`` where the table has that column, and by ``index`` otherwise.

    Args:
        file: Named in messages.
        rows: Number and cells of each row.
        missing: Texts that stand for no value, as in CSV files of pandas.
    """
    none = frozenset(missing)
    for number, row in rows:
        place = f"{file}, row {number}"
        lacking = [name for name in NEEDED if name not in row]
        if lacking:
            raise PredictionError(f"{place}: no column {lacking[0]!r}; a table needs {' and '.join(NEEDED)}.")
        index = as_id(row["index"])
        if index is None or not index.strip():
            raise PredictionError(f"{place}: its `index` is empty or no number.")
        named = as_id(row.get("question_id"))
        value = row["prediction"]
        output, flaws = (None, ("nan",)) if isinstance(value, str) and value in none else read_output(value, place)
        view, mode = (None if _is_none(row.get(name)) else row[name] for name in ("view", "mode"))
        digits = index.isascii() and index.isdigit() and len(index) <= 18
        yield Prediction(
            place=f"row {number}",
            question_id=named or index,
            row=int(index) if digits and not named else None,
            view=read_view(view, place),
            mode=read_mode(mode, place),
            output=output,
            answers=read_target(row.get("answer"), place),
            flaws=flaws,
        )


def _is_none(cell: Any) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and cell in NO_VALUE)


def _table(file: Path, delimiter: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a CSV or TSV file with their numbers from 1; the header is row 0."""
    csv.field_size_limit(MAX_LINE_BYTES)  # images in base64 stand in some tables
    try:
        with file.open("rb") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            lines = _Lines(text, file, delimiter)
            reader = csv.reader(lines, delimiter=delimiter)
            header = next(reader, [])
            number = 0
            for cells in reader:
                lines.next_row()
                if not cells:
                    continue
                number += 1
                if len(cells) != len(header):
                    raise PredictionError(f"{file}, row {number}: {len(cells)} cells under {len(header)} columns.")
                yield number, dict(zip(header, cells, strict=True))
    except UnicodeDecodeError:
        raise PredictionError(f"{file}: not UTF-8 text; save the table as UTF-8.") from None
    except csv.Error as problem:
        raise PredictionError(f"{file}, line {reader.line_num}: not a table ({problem}).") from None
    except OSError as problem:
        raise PredictionError(f"{file} cannot be read: {problem.strerror or problem}.") from None


class _Lines:
    """The lines of a table for the csv module, which joins those of a row: no row is larger than the limits.

    Args:
        text: The open table.
        file: Named in messages.
        delimiter: What stands between two cells.
    """

    def __init__(self, text: io.TextIOWrapper, file: Path, delimiter: str) -> None:
        self._text = text
        self._file = file
        self._delimiter = delimiter
        self._number = 0
        self.next_row()

    def next_row(self) -> None:
        """What follows is another row."""
        self._characters = self._delimiters = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(MAX_LINE_BYTES)
        if not line:
            raise StopIteration
        self._number += 1
        self._characters += len(line)
        self._delimiters += line.count(self._delimiter)
        place = f"{self._file}, line {self._number}"
        if self._characters >= MAX_LINE_BYTES:
            raise PredictionError(f"{place}: the row is longer than {MAX_LINE_BYTES >> 20} MiB.")
        if self._delimiters > MAX_LINE_VALUES:
            raise PredictionError(f"{place}: the row has more than {MAX_LINE_VALUES:,} cells.")
        return line.replace("\0", "\ufffd")
