"""Answers of models to the items of a study, graded by the same scorer."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from vcrgen.scorer.mcq.session import ItemSession
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.span_session import Session
from vcrgen.study.records import StudyDesign, StudyItem

Right = dict[str, dict[tuple[int, int], bool]]  # by label of the condition, then by item and place


class ModelAnswers(NamedTuple):
    """The graded answers of a model; items that it lacks are left out."""

    name: str
    right: Mapping[str, Mapping[tuple[int, int], bool]]  # by label of the condition, then by item and place


def read_model_answers(
    data: Path, design: StudyDesign, items: Sequence[StudyItem], files: Sequence[Path]
) -> list[ModelAnswers]:
    """Grade files of model outputs for the same dataset."""
    if not files:
        return []
    numbers = {item.question_id: item.number for item in items if item.answers is None}
    return list((_mcq_answers if design.is_mcq else _vcr_answers)(data, design, numbers, list(files)))


def _mcq_answers(
    data: Path, design: StudyDesign, numbers: Mapping[str, int], files: list[Path]
) -> Iterator[ModelAnswers]:
    session = ItemSession(data, ScoreOptions(split=design.options["split"]))
    for run in session.runs(files):
        right: Right = {condition.label: {} for condition in design.conditions}
        for example in session.find_examples(run, set(numbers)):
            for condition in design.conditions:
                if example.responses and (condition.mode, condition.view) == (example.lang, example.view):
                    place = numbers[example.item.question_id], 0
                    right[condition.label][place] = example.result.choice == example.item.answer
        yield ModelAnswers(run[0].path.stem, right)


def _vcr_answers(
    data: Path, design: StudyDesign, numbers: Mapping[str, int], files: list[Path]
) -> Iterator[ModelAnswers]:
    session = Session(data, ScoreOptions(split=design.options["split"]))
    for run in session.runs(files):
        right: Right = {condition.label: {} for condition in design.conditions}
        for output in session.find_examples(run, set(numbers)):
            for condition in design.conditions:
                if condition.view == output.view and output.mode in (condition.mode, UNSTATED):
                    right[condition.label] |= {
                        (numbers[output.question_id], place): match.exact for place, match in enumerate(output.matches)
                    }
        model = next((output.prediction.model for output in session.matched_outputs(run)), None)
        yield ModelAnswers(model or run[0].path.stem, right)
