"""Files that are one JSON value: the VCR repository's, VLMEvalKit's, and old logs of lmms-eval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vcrgen.core.errors import PredictionError
from vcrgen.core.reading import describe, read_json
from vcrgen.data.views import IMAGE_VIEWS
from vcrgen.scorer.predictions.jsonlines import lmms_prediction
from vcrgen.scorer.predictions.output import read_output, row_number
from vcrgen.scorer.predictions.tables import read_rows
from vcrgen.scorer.records import Prediction

REPOSITORY_KEYS = {f"res_{view.column}": view for view in IMAGE_VIEWS}


def read_vcr_repository(file: Path) -> Iterator[Prediction]:
    """The VCR repository's object: row number to ``{"res_stacked_image": …, "res_only_it_image": …}``."""
    for row, answers in read_json(file, PredictionError).items():
        place = f"{file}, key {row[:40]!r}"
        if (number := row_number(row)) is None:
            raise PredictionError(f"{place}: not a row number.")
        if not isinstance(answers, dict):
            raise PredictionError(f"{place}: not an object but {describe(answers)}.")
        for key, view in REPOSITORY_KEYS.items():
            if key not in answers:
                continue
            value = answers[key]
            # The repository's own scorer reads an object here as an empty answer.
            output, flaws = ("", ("object",)) if isinstance(value, dict) else read_output(value, place)
            yield Prediction(place=f"key {row!r}", question_id=None, row=number, view=view, output=output, flaws=flaws)


def read_vlmevalkit_json(file: Path) -> Iterator[Prediction]:
    """VLMEvalKit's table as JSON: a list of records, or columns of values."""
    value = read_json(file, PredictionError)
    return read_rows(file, _records(file, value))


def read_lmms_eval_json(file: Path) -> Iterator[Prediction]:
    """An old log of lmms-eval: one object with the samples under ``logs``."""
    for number, sample in enumerate(read_json(file, PredictionError)["logs"], start=1):
        place = f"{file}, sample {number}"
        if not isinstance(sample, dict):
            raise PredictionError(f"{place}: not an object but {describe(sample)}.")
        yield lmms_prediction(sample, place, f"sample {number}")


def _records(file: Path, value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if isinstance(value, list):
        for number, row in enumerate(value, start=1):
            if not isinstance(row, dict):
                raise PredictionError(f"{file}, row {number}: not an object but {describe(row)}.")
            yield number, row
        return
    columns = {name: list(cells.values()) if isinstance(cells, dict) else cells for name, cells in value.items()}
    lists = {name: cells for name, cells in columns.items() if isinstance(cells, list)}
    if len({len(cells) for cells in lists.values()}) != 1:
        raise PredictionError(f"{file}: its columns are not lists of one length.")
    for number, cells in enumerate(zip(*lists.values(), strict=True), start=1):
        yield number, dict(zip(lists, cells, strict=True))
