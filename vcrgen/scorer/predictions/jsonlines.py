"""JSON Lines: vcrgen's own form, and the sample logs of lmms-eval (``--log_samples``)."""

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vcrgen.core.errors import PredictionError
from vcrgen.core.reading import as_id, as_texts, describe, encodable, iter_json_lines, parse_json
from vcrgen.core.records import is_mode
from vcrgen.data.tasks.bloom import MAX_OPTIONS
from vcrgen.scorer.predictions.output import read_mode, read_output, read_view, row_number
from vcrgen.scorer.records import Prediction


def read_canonical(file: Path) -> Iterator[Prediction]:
    """``{"question_id": …, "output": …}``, optionally with ``view``, ``mode`` and ``model``."""
    for number, row in iter_json_lines(file, PredictionError):
        yield canonical_prediction(file, f"line {number}", row)


def canonical_prediction(file: Path, short: str, row: Mapping[str, Any]) -> Prediction:
    """One object of vcrgen's own form, which stands in ``file`` at the place ``short``.

    In place of ``output`` it may have ``"answers": […]``, one for each span, which stand for their list in JSON.
    """
    place = f"{file}, {short}"
    keys = f"its keys are {', '.join(sorted(row))[:200]}"
    question_id = as_id(row.get("question_id"))
    if question_id is None:
        raise PredictionError(f"{place}: no `question_id` (a text or a whole number); {keys}.")
    if "output" not in row and "answers" in row:
        answers = as_texts(row["answers"])
        if answers is None:
            raise PredictionError(f"{place}: `answers` is {describe(row['answers'])}; it has to be a list of texts.")
        row = {**row, "output": json.dumps(answers, ensure_ascii=False)}
    likelihoods = "logprobs" in row or "label_logprobs" in row  # of an MCQ benchmark may be all that a line has
    if "output" not in row and not likelihoods:
        raise PredictionError(f"{place}: no `output`; {keys}.")
    output, flaws = read_output(row["output"], place) if "output" in row else (None, ())
    if row.get("outcome") == "truncated":  # as `vcrgen predict` writes it
        flaws = (*flaws, "truncated")
    model, lang, rotation = row.get("model"), row.get("lang"), row.get("rotation", 0)
    for name, value in (("model", model), ("lang", lang)):
        if value is not None and not isinstance(value, str):
            raise PredictionError(f"{place}: `{name}` is {describe(value)}; it has to be text.")
    if type(rotation) is not int or not 0 <= rotation < MAX_OPTIONS:
        raise PredictionError(f"{place}: `rotation` is {describe(rotation)}; it has to be 0 to {MAX_OPTIONS - 1}.")
    return Prediction(
        place=short,
        question_id=question_id,
        view=read_view(row.get("view"), place),
        mode=read_mode(row.get("mode"), place),
        model=encodable(model) if model else None,
        output=output,
        flaws=flaws,
        lang=lang,
        rotation=rotation,
        logprobs=row.get("logprobs"),
        label_logprobs=row.get("label_logprobs"),
    )


def read_lmms_eval(file: Path) -> Iterator[Prediction]:
    """lmms-eval's lines: ``doc_id`` (the row number), ``target``, ``filtered_resps`` or ``resps``."""
    for number, row in iter_json_lines(file, PredictionError):
        yield lmms_prediction(row, f"{file}, line {number}", f"line {number}")


def lmms_prediction(row: Mapping[str, Any], place: str, short: str) -> Prediction:
    """One sample of an lmms-eval log."""
    number = row_number(as_id(row.get("doc_id")))
    if number is None:
        raise PredictionError(f"{place}: no `doc_id` (a row number).")
    responses = row.get("filtered_resps", row.get("resps"))
    if "filtered_resps" not in row and "resps" not in row:
        raise PredictionError(f"{place}: no `filtered_resps` and no `resps`.")
    output, flaws = read_output(responses, place)
    doc = row["doc"] if isinstance(row.get("doc"), dict) else {}  # newer versions leave the question's columns out
    return Prediction(
        place=short,
        question_id=as_id(doc.get("question_id")),
        row=number,
        view=read_view(row.get("view"), place),
        mode=read_mode(row.get("mode"), place) or (doc["mode"] if is_mode(doc.get("mode")) else None),
        output=output,
        answers=read_target(row.get("target"), place),
        flaws=tuple(flaw for flaw in flaws if flaw != "listed"),  # lists are this format's form, not an oddity
    )


def read_target(value: Any, place: str) -> tuple[str, ...] | None:
    """Answers that a file itself holds: a list, or a list written as JSON or as a Python literal; else None."""
    if isinstance(value, str) and value.startswith("["):
        value = _literal(value, place)
    return as_texts(value)


def _literal(text: str, place: str) -> Any:
    """A list literal without ``eval``: nothing but literals is understood, and only short ones."""
    if len(text) > 100_000:
        return None
    try:
        return parse_json(text, place, PredictionError)
    except PredictionError:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
