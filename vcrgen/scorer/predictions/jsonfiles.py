"""Files that are one JSON value: vcrgen's own form, the VCR repository's, VLMEvalKit's, and logs of lmms-eval."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vcrgen.core.errors import PredictionError
from vcrgen.core.reading import as_id, as_texts, describe, read_json, read_json_members
from vcrgen.data.views import IMAGE_VIEWS
from vcrgen.scorer.predictions.jsonlines import canonical_prediction, lmms_prediction
from vcrgen.scorer.predictions.output import read_output, row_number
from vcrgen.scorer.predictions.tables import read_rows
from vcrgen.scorer.records import Prediction

OUTPUT_FIELDS = {"output", "answers", "logprobs", "label_logprobs"}  # one of which an object of vcrgen's form has
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


def read_vcrgen_json(file: Path) -> Iterator[Prediction]:
    """An array of the objects of JSON Lines, or an object from ids to outputs.

    An output is then a text, null, a list of texts, one for each span, or an object as in JSON Lines without its id.
    """
    value = read_json(file, PredictionError)
    if is_canonical(value):
        value = [value]
    if isinstance(value, list):
        for number, row in enumerate(value, start=1):
            if not isinstance(row, dict):
                raise PredictionError(f"{file}, object {number}: not an object but {describe(row)}.")
            yield canonical_prediction(file, f"object {number}", row)
        return
    for question_id, output in read_json_members(file, PredictionError):
        fields = output if isinstance(output, dict) else {_field_of(output): output}
        short = f"key {question_id[:80]!r}"
        if as_id(fields.get("question_id", question_id)) != question_id:
            raise PredictionError(f"{file}, {short}: its `question_id` is another one; keep one of them.")
        yield canonical_prediction(file, short, {**fields, "question_id": question_id})


def _field_of(output: Any) -> str:
    return "answers" if isinstance(output, list) else "output"


def is_canonical(value: Any) -> bool:
    """Tell whether a JSON value is an object of vcrgen's own form."""
    return isinstance(value, dict) and "question_id" in value


def maps_ids_to_outputs(value: Mapping[str, Any]) -> bool:
    """Tell whether every value of an object can be an output, so that its names are ids."""
    return bool(value) and all(
        bool(OUTPUT_FIELDS & output.keys())
        if isinstance(output, dict)
        else output is None or isinstance(output, str) or as_texts(output) is not None
        for output in value.values()
    )


def read_lmms_eval_json(file: Path) -> Iterator[Prediction]:
    """The samples of lmms-eval as an array, or under ``logs``, as older versions wrote them."""
    value = read_json(file, PredictionError)
    for number, sample in enumerate(value if isinstance(value, list) else value["logs"], start=1):
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
