"""Predictions to questions, by id and never by position; everything that does not fit is counted and kept in view."""

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from vcrgen.core.errors import PredictionError
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import SILENT, ProgressListener
from vcrgen.data.tasks.task import VCR_TASK, ScoredTask
from vcrgen.data.views import View
from vcrgen.scorer.key import BaseKey
from vcrgen.scorer.predictions import PredictionFile
from vcrgen.scorer.records import UNSTATED, CellName, Prediction

# What can be odd about a file of outputs, in the order and the words of reports: of one, and of none or several.
PROBLEMS: Mapping[str, str] = {
    "missing": "[question|questions] without an output (scored as wrong)",
    "unknown": "[id|ids] that the dataset does not have (left out)",
    "outside": "[output|outputs] for questions outside of the subset (left out)",
    "other_mode": "[output|outputs] of the other mode (left out)",
    "other_view": "[output|outputs] of another view (left out)",
    "duplicate": "further [output|outputs] for a question that had the same one (left out)",
    "conflict": "further [output|outputs] for a question that had another one (left out; the first counts)",
    "null": "null instead of an output (scored as wrong)",
    "nan": "no value (NaN) instead of an output (scored as wrong)",
    "empty": "empty [output|outputs], or nothing but thinking (scored as wrong)",
    "failed": "[output that says|outputs that say] that the call to the model failed (counted apart)",
    "truncated": "[output|outputs] that ended at the model's limit of tokens (scored as [it is|they are])",
    "listed": "[output|outputs] wrapped in a list (unwrapped)",
    "number": "[output that is a number|outputs that are numbers] (read as text)",
    "object": "[object|objects] instead of an output (read as empty)",
    "surrogates": "[output|outputs] with half characters (replaced by U+FFFD)",
    "replaced": "[output|outputs] with U+FFFD: wrongly decoded text, probably",
    "other_lang": "[output|outputs] of another language (left out)",
    "not_in_language": "[output|outputs] for items that are not complete in their language (left out)",
    "not_four": "[list|lists] of likelihoods that are not one for each option (not used)",
    "not_logarithms": "[list|lists] of likelihoods that are no logarithms of probabilities (not used)",
    "no_tokens": "[list|lists] of likelihoods of an option without a token (not used)",
    "token_counts": "[item|items] whose options have other numbers of tokens in another line "
    "(likelihoods scored as wrong)",
    "tied": "[item|items] of which two options are equally likely (scored as wrong)",
    "no_output": "[item|items] without an output where others have one (scored as wrong)",
    "no_likelihoods": "[item|items] without likelihoods where others have them (scored as wrong)",
    "empty_spans": "[answer|answers] without a token (which no output can match; scored as wrong)",
}
_ONE_OR_MANY = re.compile(r"\[(.*?)\|(.*?)\]")
STRICT = ("missing", "unknown", "duplicate", "conflict", "null", "nan", "failed")
EXAMPLES = 5
_NONE: Counter[str] = Counter()  # rejected items, for a listener
SEEN, NOT_ASKED = 0x01, 0x80  # of a question in a cell: there is an output; it is not asked there


def problem_name(kind: str, *, singular: bool = False) -> str:
    """The words for a problem of several outputs, or of one."""
    return _ONE_OR_MANY.sub(r"\1" if singular else r"\2", PROBLEMS[kind])


def describe_problem(kind: str, count: int) -> str:
    """Say how many outputs have a problem: ``2 empty outputs (scored as wrong)``."""
    return f"{count} {problem_name(kind, singular=count == 1)}"


class MatchedOutput(NamedTuple):
    """A prediction that has a question: the first for its question, its cell and the order of its options."""

    prediction: Prediction
    question: int
    cell: CellName

    @property
    def mark(self) -> int:
        """Its bit in `seen`."""
        rotation = self.prediction.rotation
        return SEEN << (rotation + (rotation > 6))  # without the bit of `NOT_ASKED`


def _content(prediction: Prediction) -> int:
    """A hash of what a model gave: its output and log-probabilities."""
    if prediction.logprobs is None and prediction.label_logprobs is None:
        return hash(prediction.output)
    return hash((prediction.output, repr(prediction.logprobs), repr(prediction.label_logprobs)))


@dataclass
class OutputMatcher:
    """Match the predictions of a run to the questions of a key."""

    key: BaseKey[Any]
    task: ScoredTask = VCR_TASK
    mode: str | None = None  # the mode asked for, or None
    view: View | None = None  # the view asked for, or None
    counts: Counter[str] = field(default_factory=Counter)  # problems by kind
    examples: dict[str, list[str]] = field(default_factory=dict)  # the first places of each kind
    # for each mode and view, which questions have an output
    listener: ProgressListener = SILENT  # is told of every output
    seen: dict[CellName, MutableSequence[int]] = field(default_factory=dict)
    models: set[str] = field(default_factory=set)  # the models that are named
    total: int = 0
    _file: PredictionFile = field(init=False, repr=False)
    _head: str = field(default="", init=False, repr=False)  # names the file in the places of more than one
    # for each mode, view and order of options a hash of the first output of each question
    _hashes: dict[tuple[CellName, int], MutableSequence[int]] = field(default_factory=dict, init=False, repr=False)
    _left_out: int = field(default=0, init=False, repr=False)
    _first: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, files: Sequence[PredictionFile]) -> Iterator[MatchedOutput]:
        """The usable predictions of the files of a run, in their order.

        Raises:
            PredictionError: A file mixes models, names a mode the dataset does not have, does not say the view, holds
                the answers of another dataset, or nothing in it fits the dataset or what is asked for.
        """
        for file in files:
            self._file, self._left_out, self._first, before = file, 0, {}, self.total
            self._head = f"{file.path.name}, " if len(files) > 1 else ""
            yield from self._match_file(file)
            self._check_anything(self.total - before)
        self._note_missing()

    def _match_file(self, file: PredictionFile) -> Iterator[MatchedOutput]:
        for prediction in file:
            self.total += 1
            self.listener.advance(1, 1, _NONE)
            self._check_model(prediction)
            matched = self._match(prediction)
            if not isinstance(matched, MatchedOutput):
                self._left_out += 1
                self._first.setdefault(*matched)
                self.note(*matched)
                continue
            self._check_answers(matched)
            for flaw in prediction.flaws:
                self.note(flaw, prediction.place)
            yield matched

    def _note_missing(self) -> None:
        """Count the questions without an output, and keep the first few."""
        for (mode, view), seen in self.seen.items():
            if missing := seen.count(0):
                self.counts["missing"] += missing
                places = self.examples.setdefault("missing", [])
                for row in islice((row for row, mark in enumerate(seen) if not mark), EXAMPLES - len(places)):
                    places.append(f"{self.key.question(row).question_id!r} ({view}, {mode})")

    def note(self, kind: str, place: str) -> None:
        """Count a problem and keep the first few places."""
        self.counts[kind] += 1
        places = self.examples.setdefault(kind, [])
        if len(places) < EXAMPLES:
            places.append(self._head + place)

    def _match(self, prediction: Prediction) -> MatchedOutput | tuple[str, str]:
        """The prediction with its question, or the problem that keeps it out and its place."""
        row, named = self._row(prediction), prediction.question_id
        if row is None:
            name = f"row {prediction.row}" if named is None else repr(named[:80])
            return "unknown", f"{prediction.place}: {name}"
        if row >= len(self.key):
            return "outside", prediction.place
        if self.mode is not None and prediction.mode not in (None, self.mode):
            return "other_mode", f"{prediction.place}: {prediction.mode}"
        if self.view is not None and prediction.view not in (None, self.view):
            return "other_view", f"{prediction.place}: {prediction.view}"
        cell = (self._variant(prediction), self._view(prediction))
        seen = self.seen.get(cell)
        if seen is None:
            seen = self.seen[cell] = self._unseen(cell[0])
        matched = MatchedOutput(prediction, row, cell)
        if seen[row] & (matched.mark | NOT_ASKED):
            kind = "not_in_language" if seen[row] & NOT_ASKED else self._kind_of_double(matched)
            return kind, f"{prediction.place}: {self.key.question(row).question_id!r}"
        seen[row] |= matched.mark
        self._contents(matched)[row] = _content(prediction)
        return matched

    def _kind_of_double(self, matched: MatchedOutput) -> str:
        is_same = self._contents(matched)[matched.question] == _content(matched.prediction)
        return "duplicate" if is_same else "conflict"

    def _contents(self, matched: MatchedOutput) -> MutableSequence[int]:
        """Hashes of the first outputs, by question."""
        name = (matched.cell, matched.prediction.rotation)
        if name not in self._hashes:
            self._hashes[name] = array("q", bytes(8 * len(self.key)))
        return self._hashes[name]

    def _unseen(self, variant: str) -> MutableSequence[int]:
        """A number for each question, without outputs; or marked as not in the cell."""
        return bytearray(len(self.key))

    def _row(self, prediction: Prediction) -> int | None:
        """The question's row: that of the id which the file names, or the one which it names itself."""
        row = None if prediction.question_id is None else self.key.row_of(prediction.question_id)
        if row is None and prediction.row is not None:
            return self.key.questions.row_at(prediction.row)
        return row

    def _variant(self, prediction: Prediction) -> str:
        """The mode to file it under."""
        stated, modes = prediction.mode or self.mode, self.key.variants
        if stated is not None and modes and stated not in modes:
            where = f"{self._file.path}, {prediction.place}"
            raise PredictionError(f"{where}: its mode is {stated}, and the dataset has only {', '.join(modes)}.")
        return stated or (modes[0] if len(modes) == 1 else UNSTATED)

    def _view(self, prediction: Prediction) -> View:
        """The view to file it under: to guess it would be to call TEI what is VI+TEI, or the other way round."""
        view = prediction.view or self.view or self._file.view
        if view is None:
            raise PredictionError(
                f"{self._file.path}: neither a column `view` nor the name of a task in the file's name says which "
                f"image the model saw; name it with --view: {', '.join(self.task.views)}."
            )
        if self.key.views and view not in self.key.views:
            where = f"{self._file.path}, {prediction.place}"
            raise PredictionError(f"{where}: its view is {view}, and the dataset has only {', '.join(self.key.views)}.")
        return view

    def _check_model(self, prediction: Prediction) -> None:
        if prediction.model is None or prediction.model in self.models:
            return
        self.models.add(prediction.model)
        if len(self.models) > 1:
            names = " and ".join(repr(name[:60]) for name in sorted(self.models))
            raise PredictionError(
                f"{self._file.path}, {prediction.place}: holds outputs of {names}; a mean over models says nothing of "
                "either, so give each model a file of its own."
            )

    def _check_answers(self, matched: MatchedOutput) -> None:
        theirs = matched.prediction.answers
        # To say that a guess is not an answer of a hidden set would be to give the key away, guess by guess.
        if theirs is None or self.key.hidden:
            return
        question = self.key.question(matched.question)
        if theirs != question.answers:
            raise PredictionError(
                f"{self._file.path}, {matched.prediction.place}: its answers are not those of "
                f"{question.question_id!r} in {self.key.name}; the outputs were made from other data (or another "
                "split; see --split)."
            )

    def _check_anything(self, outputs: int) -> None:
        """Refuse a file of which no output matched."""
        file = self._file.path
        if outputs == 0:
            raise PredictionError(f"{file} holds no outputs.")
        if self._left_out == outputs:
            kind, place = next(iter(self._first.items()))
            asked = {"other_mode": f"--mode {self.mode}", "other_lang": f"--lang {self.mode}"}
            fits = (asked | {"other_view": f"--view {self.view}"}).get(kind, self.key.name)
            ids, doubt = "", ""
            if kind == "unknown":
                ids = f"; it has ids such as {self.key.question(0).question_id!r}"
                doubt = " Is the file of another set or split?"
            raise PredictionError(
                f"{file}: of {pluralize(outputs, 'output')} none fits {fits}: {problem_name(kind)}, first {place}{ids}."
                f"{doubt}"
            )
