"""Tables of outputs, as CSV, TSV or rows: ``question_id`` and ``output``, or VLMEvalKit's columns.

Those are ``index``, ``question``, ``answer`` (a list literal) and ``prediction``.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vcrgen.core.errors import PredictionError
from vcrgen.core.reading import as_id, read_csv
from vcrgen.scorer.predictions.jsonlines import read_target
from vcrgen.scorer.predictions.output import read_mode, read_output, read_view, row_number
from vcrgen.scorer.records import Prediction

ID_COLUMNS = ("question_id", "index")  # of which the first that a table has counts
OUTPUT_COLUMNS = ("prediction", "output")
NEEDED_COLUMNS = "the columns question_id or index, and output or prediction"
# Texts that pandas writes for a missing value, and reads back as one.
MISSING_VALUES = {"", "nan", "NaN", "NULL", "null", "None", "N/A", "NA", "<NA>", "#N/A"}


def has_outputs(columns: Collection[str]) -> bool:
    """Whether a table with these columns holds outputs."""
    return all(any(name in columns for name in names) for names in (ID_COLUMNS, OUTPUT_COLUMNS))


def read_table(file: Path, *, delimiter: str) -> Iterator[Prediction]:
    """A table with commas or tabs between cells."""
    rows = read_csv(file, PredictionError, delimiters=delimiter, strict=False)
    return read_rows(file, ((number, row) for number, (_, row) in enumerate(rows, start=1)), missing=MISSING_VALUES)


def read_rows(
    file: Path, rows: Iterable[tuple[int, Mapping[str, Any]]], *, missing: Collection[str] = ()
) -> Iterator[Prediction]:
    """Predictions from rows of a table.

    Rows are matched by ``question_id`` where the table has that column, and by ``index`` otherwise. ``missing`` are
    texts that stand for no value, as in CSV files of pandas.
    """
    for number, row in rows:
        place = f"{file}, row {number}"
        if not has_outputs(row.keys()):
            raise PredictionError(f"{place}: a table needs {NEEDED_COLUMNS}.")
        fallback = "index" if "index" in row else "question_id"
        named, index = as_id(row.get("question_id")), as_id(row[fallback])
        if index is None or not index.strip():
            raise PredictionError(f"{place}: its `{fallback}` is empty or no id.")
        value = next(row[name] for name in OUTPUT_COLUMNS if name in row)
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
    return cell is None or cell != cell or (isinstance(cell, str) and cell in MISSING_VALUES)
