"""VLMEvalKit's tables: ``index``, ``question``, ``answer`` (a list literal), ``prediction``, as CSV, TSV or rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vcrgen.errors import PredictionError
from vcrgen.reading import MAX_LINE_BYTES, as_id
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
        digits = index.isascii() and index.isdigit() and len(index) <= 18
        yield Prediction(
            place=f"row {number}",
            question_id=named or index,
            row=int(index) if digits and not named else None,
            view=read_view(row.get("view") or None, place),
            mode=read_mode(row.get("mode") or None, place),
            output=output,
            answers=read_target(row.get("answer"), place),
            flaws=flaws,
        )


def _table(file: Path, delimiter: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a CSV or TSV file with their numbers from 1; the header is row 0."""
    csv.field_size_limit(MAX_LINE_BYTES)  # images in base64 stand in some tables
    try:
        with file.open("rb") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            reader = csv.reader(_limited(text, file), delimiter=delimiter)
            header = next(reader, [])
            number = 0
            for cells in reader:
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


def _limited(text: io.TextIOWrapper, file: Path) -> Iterator[str]:
    """The lines of a text file, none longer than the limit."""
    number = 0
    while line := text.readline(MAX_LINE_BYTES):
        number += 1
        if len(line) == MAX_LINE_BYTES:
            raise PredictionError(f"{file}, line {number}: the line is longer than {MAX_LINE_BYTES >> 20} MiB.")
        yield line.replace("\0", "\ufffd")
