"""Predictions to questions, by id and never by position; everything that does not fit is counted and kept in view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from vcrgen.dataset.views import View
from vcrgen.errors import PredictionError
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.records import UNSTATED, Prediction

# What can be odd about a file of outputs, in the order and the words of reports.
PROBLEMS: Mapping[str, str] = {
    "missing": "questions without an output (scored as wrong)",
    "unknown": "ids that the dataset does not have (left out)",
    "outside": "outputs for questions outside of the subset (left out)",
    "other_mode": "outputs of the other mode (left out)",
    "duplicate": "further outputs for a question that had one (left out)",
    "null": "null instead of an output (scored as wrong)",
    "nan": "no value (NaN) instead of an output (scored as wrong)",
    "empty": "empty outputs (scored as wrong)",
    "listed": "outputs wrapped in a list (unwrapped)",
    "number": "outputs that are numbers (read as text)",
    "object": "objects instead of an output (read as empty)",
    "surrogates": "outputs with half characters (replaced by U+FFFD)",
    "replaced": "outputs with U+FFFD: wrongly decoded text, probably",
    "empty_spans": "answers without a token (nobody can restore them; scored as wrong)",
}
STRICT = ("missing", "unknown", "duplicate", "null", "nan")
EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Joined:
    """A prediction that has a question: the first for its question, mode and view."""

    prediction: Prediction
    question: int
    cell: tuple[str, View]


@dataclass
class Join:
    """One file's predictions, joined to an answer key.

    Attributes:
        key: The answers.
        mode: The mode asked for, or None.
        file: Named in messages.
        counts: Problems by kind.
        examples: The first places of each kind.
        seen: For each mode and view of the file, which questions have an output.
        models: The models that the file names.
        total: Predictions read.
    """

    key: AnswerKey
    mode: str | None
    file: str
    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    seen: dict[tuple[str, View], bytearray] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)
    total: int = 0

    def __call__(self, predictions: Iterable[Prediction]) -> Iterator[Joined]:
        """The usable predictions, in the order of the file.

        Raises:
            PredictionError: The file mixes models, names a mode the dataset does not have, holds the answers of
                another dataset, or nothing in it fits the dataset.
        """
        for prediction in predictions:
            self.total += 1
            self._check_model(prediction)
            joined = self._join(prediction)
            if joined is not None:
                self._check_answers(joined)
                for flaw in prediction.flaws:
                    self.note(flaw, prediction.place)
                yield joined
        self._check_anything()
        for (mode, view), seen in self.seen.items():
            for number, there in enumerate(seen):
                if not there:
                    self.note("missing", f"{self.key.question(number).question_id!r} ({view}, {mode})")

    def note(self, kind: str, place: str) -> None:
        """Count a problem and keep the first few places."""
        self.counts[kind] += 1
        places = self.examples.setdefault(kind, [])
        if len(places) < EXAMPLES:
            places.append(place)

    def _join(self, prediction: Prediction) -> Joined | None:
        row, named = self._row(prediction), prediction.question_id
        if row is None:
            shown = f"row {prediction.row}" if named is None else repr(named[:80])
            self.note("unknown", f"{prediction.place}: {shown}")
            return None
        if row >= len(self.key):
            self.note("outside", prediction.place)
            return None
        mode = self._mode(prediction)
        if mode is None:
            self.note("other_mode", prediction.place)
            return None
        cell = (mode, prediction.view)
        seen = self.seen.setdefault(cell, bytearray(len(self.key)))
        if seen[row]:
            self.note("duplicate", f"{prediction.place}: {self.key.question(row).question_id!r}")
            return None
        seen[row] = 1
        return Joined(prediction, row, cell)

    def _row(self, prediction: Prediction) -> int | None:
        """The question's row: that of the id which the file names, or the one which it names itself."""
        row = None if prediction.question_id is None else self.key.row_of(prediction.question_id)
        if row is None and prediction.row is not None and prediction.row < self.key.questions.total:
            return prediction.row
        return row

    def _mode(self, prediction: Prediction) -> str | None:
        """The mode to file it under; None where it is not the one asked for."""
        stated, modes = prediction.mode, self.key.modes
        if self.mode is not None:
            return self.mode if stated in (None, self.mode) else None
        if stated is not None and modes and stated not in modes:
            raise PredictionError(
                f"{self.file}, {prediction.place}: its mode is {stated}, and the dataset has only {', '.join(modes)}."
            )
        return stated or (modes[0] if len(modes) == 1 else UNSTATED)

    def _check_model(self, prediction: Prediction) -> None:
        if prediction.model is None or prediction.model in self.models:
            return
        self.models.add(prediction.model)
        if len(self.models) > 1:
            names = " and ".join(repr(name[:60]) for name in sorted(self.models))
            raise PredictionError(
                f"{self.file}, {prediction.place}: holds outputs of {names}; a mean over models says nothing of "
                "either, so give each model a file of its own."
            )

    def _check_answers(self, joined: Joined) -> None:
        theirs, question = joined.prediction.answers, self.key.question(joined.question)
        # To say that a guess is not an answer of a hidden set would be to give the key away, guess by guess.
        if not self.key.hidden and theirs is not None and theirs != question.answers:
            raise PredictionError(
                f"{self.file}, {joined.prediction.place}: its answers are not those of {question.question_id!r} in "
                f"{self.key.name}; the outputs were made from other data (or another split; see --split)."
            )

    def _check_anything(self) -> None:
        if self.total == 0:
            raise PredictionError(f"{self.file} holds no outputs.")
        if not self.seen:
            kind = next(iter(self.counts))
            raise PredictionError(
                f"{self.file}: none of its {self.total} outputs fits {self.key.name}: "
                f"{PROBLEMS[kind]}, first {self.examples[kind][0]}."
            )
