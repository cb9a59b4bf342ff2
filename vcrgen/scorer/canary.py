"""Replies to the prompts for a hidden set's canary: how many repeat it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from vcrgen.core.errors import VcrgenError
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import encodable
from vcrgen.data.canary import canary_questions, read_canary, repeats_canary
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.report.document import Document, Section
from vcrgen.report.table import Table
from vcrgen.scorer.predictions import receive

SCHEMA = "vcrgen-canary-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryReplies:
    """The replies of one file of outputs."""

    name: str  # of the file
    model: str | None  # as the file names it
    repeated: dict[str, bool]  # by the name of the prompt; those without a reply are left out

    @property
    def conclusion(self) -> str:
        """How many replies repeat the canary, and what follows."""
        count, total = sum(self.repeated.values()), len(self.repeated)
        who = self.model or self.name
        if not count:
            none = f"{who}: none of {pluralize(total, 'reply', 'replies')} repeats the canary"
            return f"{none}, which is no proof that no file of the set was in the training data."
        repeats = f"{count} of {pluralize(total, 'reply', 'replies')} {'repeats' if count == 1 else 'repeat'}"
        return (
            f"{who}: {repeats} digits of the canary that were not shown, which nobody can guess: it was trained on a "
            "file of the set."
        )


def public_part(data: Path) -> Dataset | None:
    """The public part of a hidden set in a place, or None for anything else."""
    try:
        dataset = open_task_dataset(data)
    except (VcrgenError, OSError, ValueError):
        return None
    return dataset if dataset.is_hidden else None


def canary_replies(files: Sequence[Path], public: Dataset) -> list[CanaryReplies]:
    """Read files of ``vcrgen predict --canary``; empty if one of them holds no reply to a prompt for a canary.

    Raises:
        VcrgenError: A file cannot be read, or the public part has no canary.
    """
    questions, runs = list(canary_questions(digits := read_canary(public))), []
    for file in files:
        model, texts = None, dict[str, str]()
        for prediction in receive(file):
            model = model or prediction.model
            if prediction.question_id is not None and prediction.output is not None and not prediction.failed:
                texts.setdefault(prediction.question_id, prediction.output)
        repeated = {
            question.way: repeats_canary(texts[question.way], digits, question.shown)
            for question in questions
            if question.way in texts
        }
        if not repeated:
            return []
        runs.append(CanaryReplies(name=encodable(file.stem), model=model, repeated=repeated))
    return runs


def canary_document(runs: Sequence[CanaryReplies], data: Path) -> Document:
    """Make the document of some files of replies."""
    rows = [
        (run.model or run.name, way, "repeated" if repeated else "not repeated")
        for run in runs
        for way, repeated in run.repeated.items()
    ]
    return Document(
        title=f"The canary of {encodable(str(data))}",
        sections=[
            Section(
                text=[run.conclusion for run in runs],
                tables=[Table(title="Replies", heads=("Model", "Prompt", "Canary"), labels=3, rows=rows)],
            )
        ],
        json_value={"schema": SCHEMA, "data": encodable(str(data)), "runs": [asdict(run) for run in runs]},
    )
