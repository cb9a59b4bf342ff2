"""The outputs of a model on one dataset, matched span by span as the scorer does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vcrgen.config.score import ScoreOptions
from vcrgen.dataset.views import View
from vcrgen.errors import PredictionError
from vcrgen.plurals import pluralize
from vcrgen.reading import encodable, read_json
from vcrgen.scorer.output_matcher import OutputMatcher, describe_problem
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.span_session import Session
from vcrgen.signature import Signature

_LEFT_OUT = ("unknown", "duplicate")  # problems that a report tells of


class SpanResult(NamedTuple):
    """One span of an output."""

    answer: str
    exact: bool


SpanResults = tuple[SpanResult, ...]
"""The spans of one question, in reading order."""
Cell = tuple[str, View]
"""A mode and a view. Without an image there are no modes, so the mode is ``-``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutputs:
    """The spans of a dataset that a model recovered.

    A question without an output says nothing here. So a set of which the model answered a part can be compared, and a
    run that broke off does not look like one that failed.
    """

    data: str  # the dataset, as the user named it
    place: str  # the files, for messages
    model: str | None  # as the files name it
    language: str
    signature: str  # of scores on this dataset
    built: Mapping[str, str]  # what its build says of how it was made; empty where nobody knows
    asked: Mapping[str, Any]  # how `vcrgen predict` asked; empty where something else did
    cells: Mapping[Cell, Mapping[str, SpanResults]]  # by question id
    notes: tuple[str, ...]


def read_outputs(files: Sequence[Path], data: Path, options: ScoreOptions) -> ModelOutputs:
    """Match the outputs in some files of one model against the answers of a dataset, in all of its splits.

    Raises:
        VcrgenError: The answers or the outputs cannot be read, do not fit, or are of several runs.
    """
    session = Session(data, options.model_copy(update={"split": "all"}))
    place = encodable(", ".join(map(str, files)))
    runs = session.runs(files)
    if len(runs) > 1:
        raise PredictionError(
            f"{place}: these are outputs of several models, or several of one mode and view; give those of one model, "
            "each mode and view once."
        )
    asked: dict[str, Any] = {}
    for file in files:
        facts = _run_facts(file)
        made_of, images = facts.pop("dataset", None), session.key.images
        # Of the same pairs with other spans the ids fit, and the outputs would look like those of a cheat.
        if made_of is not None and images is not None and made_of != images.identity:
            raise PredictionError(f"{file} was made of another dataset than {data}; give the one that it was made of.")
        asked |= facts
    matcher = OutputMatcher(session.key, mode=options.mode)
    cells: dict[Cell, dict[str, SpanResults]] = {}
    none = 0
    for prediction, row, (mode, view) in matcher(runs[0]):
        if prediction.output is None or prediction.failed:
            none += 1
            continue
        question = session.key.question(row)
        matches = session.scorer(question.answers, prediction.output).matches
        cell = cells.setdefault((UNSTATED if view is View.TEXT_ONLY else mode, view), {})
        cell.setdefault(question.question_id, tuple(SpanResult(match.answer, match.exact) for match in matches))
    notes = [f"{place}: {describe_problem(kind, matcher.counts[kind])}." for kind in _LEFT_OUT if matcher.counts[kind]]
    if none:
        notes.append(f"{place}: {pluralize(none, 'line')} without an output, or of a call that failed (left out).")
    for (mode, view), answered in cells.items():
        if len(answered) < len(session.key):
            what = view.label if mode == UNSTATED else f"{view.label}, {mode}"
            notes.append(
                f"{data}, {what}: {len(answered)} of {len(session.key)} questions have an output; only these count."
            )
    manifest = session.key.images and session.key.images.manifest
    model = next(iter(matcher.models), None) or runs[0][0].task.model
    signature = Signature({**session.signature.facts, "missing": "left-out"})
    return ModelOutputs(
        data=encodable(str(data)),
        place=place,
        model=model,
        language=session.key.lang,
        signature=str(signature),
        built=manifest.signature.facts if manifest else {},
        asked=asked,
        cells=cells,
        notes=tuple(notes),
    )


def _run_facts(file: Path) -> dict[str, Any]:
    """Read the facts that ``vcrgen predict`` wrote beside a file of outputs; none where it did not write the file."""
    try:
        facts = read_json(file.with_name(f"{file.stem}.run.json"), PredictionError)["run"]
        return dict(facts)
    except (PredictionError, LookupError, TypeError, ValueError):
        return {}
