"""VLMEvalKit's tables: ``index``, ``question``, ``answer`` (a list literal), ``prediction``, as CSV, TSV or rows."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from vcrgen.errors import PredictionError
from vcrgen.plurals import counted
from vcrgen.reading import MAX_LINE_BYTES, MAX_LINE_VALUES, as_id
from vcrgen.scorer.predictions.jsonlines import read_target
from vcrgen.scorer.predictions.output import read_mode, read_output, read_view, row_number
from vcrgen.scorer.records import Prediction

NEEDED = ("index", "prediction")
# What pandas writes for a missing value, and reads back as one.
NO_VALUE = {"", "nan", "NaN", "NULL", "null", "None", "N/A", "NA", "<NA>", "#N/A"}


def read_table(file: Path, *, delimiter: str) -> Iterator[Prediction]:
    """A table with commas or tabs between cells."""
    return read_rows(file, _table(file, delimiter), missing=NO_VALUE)


def read_rows(
    file: Path, rows: Iterable[tuple[int, Mapping[str, Any]]], *, missing: Collection[str] = ()
) -> Iterator[Prediction]:
    """Predictions from rows of VLMEvalKit's columns.

    Rows are joined by ``question_id`` where the table has that column, and by ``index`` otherwise. ``missing`` are
    texts that stand for no value, as in CSV files of pandas.
    """
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
        output, flaws = (None, ("nan",)) if isinstance(value, str) and value in missing else read_output(value, place)
        view, mode = (None if _is_none(row.get(name)) else row[name] for name in ("view", "mode"))
        yield Prediction(
            place=f"row {number}",
            question_id=named or index,
            row=None if named else row_number(index),
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
            size = Counter[str]()
            reader = csv.reader(_lines(text, file, delimiter, size), delimiter=delimiter)
            header = next(reader, [])
            number = 0
            for cells in reader:
                size.clear()
                if not cells:
                    continue
                number += 1
                if len(cells) != len(header):
                    raise PredictionError(
                        f"{file}, row {number}: {counted(len(cells), 'cell')} under {counted(len(header), 'column')}."
                    )
                yield number, dict(zip(header, cells, strict=True))
    except UnicodeDecodeError:
        raise PredictionError(f"{file}: not UTF-8 text; save the table as UTF-8.") from None
    except csv.Error as problem:
        raise PredictionError(f"{file}, line {reader.line_num}: not a table ({problem}).") from None
    except OSError as problem:
        raise PredictionError(f"{file} cannot be read: {problem.strerror or problem}.") from None


def _lines(text: io.TextIOWrapper, file: Path, delimiter: str, size: Counter[str]) -> Iterator[str]:
    """The lines of a table for the csv module, which joins those of a row: no row is larger than the limits.

    ``size`` counts characters and delimiters of the row; whoever takes a row from the csv module clears it.
    """
    for number in count(1):
        line = text.readline(MAX_LINE_BYTES)
        if not line:
            return
        size["characters"] += len(line)
        size["delimiters"] += line.count(delimiter)
        place = f"{file}, line {number}"
        if size["characters"] >= MAX_LINE_BYTES:
            raise PredictionError(f"{place}: the row is longer than {MAX_LINE_BYTES >> 20} MiB.")
        if size["delimiters"] > MAX_LINE_VALUES:
            raise PredictionError(f"{place}: the row has more than {MAX_LINE_VALUES:,} cells.")
        yield line.replace("\0", "\ufffd")
