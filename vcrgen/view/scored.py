"""Outputs of models, scored as `vcrgen score` does: for the index a letter a span, for a page what was matched.

They are scored in batches, of one run after another: so the first items soon have the outputs of all models.
"""

from __future__ import annotations

import json
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from vcrgen.core.errors import VcrgenError
from vcrgen.data.tasks.task import MCQ_TASK
from vcrgen.report.table import percent
from vcrgen.scorer.mcq.choices import choice_place, read_choice
from vcrgen.scorer.mcq.session import ItemExample, ItemSession
from vcrgen.scorer.output_matcher import MatchedOutput
from vcrgen.scorer.records import UNSTATED, CellName, Outcome, SpanMatch
from vcrgen.scorer.saved import ENDING, SavedUnits, load_units, reject_duplicate_files
from vcrgen.scorer.scorer import unanswered
from vcrgen.scorer.session import BaseScoringSession, Run, run_name
from vcrgen.scorer.span_session import Session
from vcrgen.view.index import OUTCOMES, IndexedOutput, StoredOutput, ViewIndex

NEAR = 0.5  # Jaccard index from which a wrong n-gram is called near
MAX_SHOWN = 20_000  # characters of an output on a page
BATCH = 100  # outputs that are scored at a time
Json = dict[str, Any]
SessionT = TypeVar("SessionT", bound=BaseScoringSession)
_GROUPS = {
    **dict.fromkeys(("exact", "right"), "exact"),
    **dict.fromkeys(("wrong", "short"), "wrong"),
    **dict.fromkeys(("beyond_limit", "ambiguous", "invalid"), "unread"),
    "refused": "refused",
    **dict.fromkeys(("empty", "null", "failed", "missing"), "missing"),
}


class Turns:
    """Whose turn it is to use the scorer, as a segmenter is used by one thread at a time.

    Scoring waits before each output while a page is made, and a page waits for one output at most.
    """

    def __init__(self) -> None:
        self._next, self._turn = threading.Lock(), threading.Lock()

    @contextmanager
    def page(self) -> Iterator[None]:
        """Of one page at a time."""
        with self._next, self._turn:
            yield

    @contextmanager
    def output(self) -> Iterator[None]:
        """Of one output."""
        with self._next:
            pass  # a page that waits or is made holds it
        with self._turn:
            yield


@dataclass
class Progress:
    """How far the scoring of outputs is."""

    scored: int = 0  # outputs
    expected: int = 0  # one for each question in every mode and view that a run was seen to have
    finished: bool = False
    problem: str = ""  # for which it ended early


class Scored(ABC, Generic[SessionT]):
    """Runs and their titles: those given, or else the models or the names of their files.

    Raises:
        VcrgenError: Nothing in a file fits the dataset, or there is no such scorer.
    """

    def __init__(self, session: SessionT, runs: Sequence[Run], titles: Sequence[str] = ()) -> None:
        self.session = session
        self.runs = runs
        self.turns = Turns()
        self.signature = str(session.signature)
        first = [next(session.matched_outputs(run)) for run in runs]
        names = [matched.prediction.model or run_name(run) for matched, run in zip(first, runs, strict=True)]
        self.titles = list(titles) or [
            f"{name} ({run_name(run)}, {number})" if names.count(name) > 1 else name
            for number, (name, run) in enumerate(zip(names, runs, strict=True), start=1)
        ]
        # Of each run the modes and views that have outputs, as far as they are scored.
        self._cells = [{(mode, view.value) for mode in self._modes_of(stated)} for _, _, (stated, view) in first]
        self.progress = Progress(expected=len(session.key) * len(runs))

    @property
    def views(self) -> list[str]:
        """The views that have outputs, as far as they are scored, in the order of tables."""
        views = {view for cells in self._cells for _, view in cells}
        return [view.value for view in self.session.task.views if view.value in views]

    def add_to(self, index: ViewIndex, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Score every output, and put it into the index, unless stopped before.

        Raises:
            PredictionError: An output does not fit the dataset; the progress says so, too.
        """
        try:
            self._add_outputs(index, is_stopped)
        except VcrgenError as problem:
            self.progress.problem = str(problem)
            raise

    def _add_outputs(self, index: ViewIndex, is_stopped: Callable[[], bool]) -> None:
        unread = {number: self._outputs(run) for number, run in enumerate(self.runs)}
        while unread:
            for number, outputs in list(unread.items()):
                batch = list(islice(outputs, BATCH))
                if is_stopped():
                    return
                if not batch:
                    del unread[number]
                    continue
                index.add_outputs(number, batch)
                self._cells[number] = self._cells[number] | {(output.mode, output.view) for output in batch}
                self.progress.scored += len(batch)
                self.progress.expected = len(self.session.key) * sum(map(len, self._cells))
        for number, cells in enumerate(self._cells):
            for mode, view in sorted(cells):
                self._add_missing(index, number, mode, view)
        index.finish()
        self.progress.finished = True

    @abstractmethod
    def details(self, question_id: str, output: StoredOutput) -> Json:
        """What a page shows of an output."""

    @abstractmethod
    def _outputs(self, run: Run) -> Iterator[IndexedOutput]:
        """The outputs of a run for the index."""

    def _add_missing(self, index: ViewIndex, number: int, mode: str, view: str) -> None:
        """Add what a run lacks in a mode and a view."""

    def _modes_of(self, mode: str) -> Sequence[str]:
        """The modes in which an output of a mode is shown."""
        return (mode,)


class ScoredSpans(Scored[Session]):
    """Outputs of Visual Caption Restoration."""

    def details(self, question_id: str, output: StoredOutput) -> Json:
        """The output in pieces with their marks, and of each span its outcome and its nearest n-gram."""
        text, flaw = json.loads(output.details)
        row = self.session.key.row_of(question_id)
        answers = self.session.key.question(row).answers if row is not None else ()
        if text is None:
            matches = unanswered(answers, Outcome(flaw))
        else:
            matches = self.session.scorer(answers, text, failed=flaw == Outcome.FAILED).matches
        spans = [
            {
                "answer": match.answer,
                "outcome": match.outcome.value,
                "group": _group(match.outcome, match.jaccard),
                "nearest": match.ngram,
                "scores": scores_text(match),
            }
            for match in matches
        ]
        pieces = [] if text is None else marked(text[:MAX_SHOWN], matches)
        return {"spans": spans, "responses": [{"pieces": pieces, "cut": len(text or "") > MAX_SHOWN}]}

    def _outputs(self, run: Run) -> Iterator[IndexedOutput]:
        saved = _saved_cells(self.session, run)
        for matched in self.session.matched_outputs(run):
            prediction, row, (mode, view) = matched
            with self.turns.output():
                codes, score = self._codes(matched, saved)
            flaw = Outcome.FAILED.value if prediction.failed else "" if prediction.output is not None else "null"
            details = json.dumps([prediction.output, flaw], ensure_ascii=False)
            question_id = self.session.key.question(row).question_id
            for variant in self._modes_of(mode):
                yield IndexedOutput(question_id, variant, view.value, codes, score, prediction.output or "", details)

    def _modes_of(self, mode: str) -> Sequence[str]:
        """The modes in which an output is shown: of one that states none, all."""
        return self.session.key.variants or (UNSTATED,) if mode == UNSTATED else (mode,)

    def _codes(self, matched: MatchedOutput, saved: Mapping[CellName, _SavedCell]) -> tuple[str, float]:
        """The outcome of each span by its letter, and the sum of exact match and Jaccard, averaged over spans."""
        answers = self.session.key.question(matched.question).answers
        output, failed = matched.prediction.output, matched.prediction.failed
        if cell := saved.get(matched.cell):
            letters, score = cell.of_question(matched.question)
            if cell.unexplained not in letters:
                return letters, score
            # Why a span is neither exact nor near only the output tells; nothing has to be matched for that.
            why = Outcome.NULL if output is None else self.session.scorer.failure(answers, output, failed=failed)
            return letters.replace(cell.unexplained, OUTCOMES[_group(why)]), score
        if output is None:
            matches = unanswered(answers, Outcome.NULL)
        else:
            matches = self.session.scorer(answers, output, failed=failed).matches
        letters = "".join(OUTCOMES[_group(match.outcome, match.jaccard)] for match in matches)
        return letters, _mean([match.scores.exact + match.jaccard for match in matches])

    def _add_missing(self, index: ViewIndex, number: int, mode: str, view: str) -> None:
        index.add_missing(number, mode, view, json.dumps([None, Outcome.MISSING.value]))


class ScoredItems(Scored[ItemSession]):
    """Outputs of multiple-choice benchmarks. A mode is a language."""

    def details(self, question_id: str, output: StoredOutput) -> Json:
        """The choice and the outputs in every order of the options."""
        details: Json = json.loads(output.details)
        return details

    def _outputs(self, run: Run) -> Iterator[IndexedOutput]:
        question_ids = {item.question_id for item in self.session.key.questions}
        for example in self.session.find_examples(run, question_ids):
            group = _group(example.result.outcome)
            texts = "\n".join(response.output for response in example.responses if response.output)
            details = json.dumps(self._details(example, group), ensure_ascii=False)
            right = float(group == "exact")
            cell = (example.lang, example.view.value)
            yield IndexedOutput(example.item.question_id, *cell, OUTCOMES[group], right, texts, details)

    def _details(self, example: ItemExample, group: str) -> Json:
        options = example.item.questions[example.lang].options
        scores = zip(MCQ_TASK.metrics.values(), example.result.scores, strict=True)
        responses = []
        for response in example.responses:
            text = response.output
            choice, pieces = self._read(text, options, response.rotation, example.item.answer)
            logprobs = response.logprobs and [sum(tokens) / len(tokens) for tokens in response.logprobs]
            figures = {"log-probability a token": logprobs, "labels": response.label_logprobs}
            responses.append(
                {
                    "rotation": response.rotation,
                    "choice": choice,
                    "pieces": pieces,
                    "cut": len(text or "") > MAX_SHOWN,
                    "figures": [[name, [round(value, 3) for value in row]] for name, row in figures.items() if row],
                }
            )
        return {
            "choice": example.result.choice,
            "spans": [
                {
                    "outcome": example.result.outcome,
                    "group": group,
                    "nearest": "",
                    "scores": ", ".join(
                        f"{metric.label} {percent(score)}" for metric, score in scores if score == score
                    ),
                }
            ],
            "responses": responses,
        }

    def _read(
        self, output: str | None, options: Sequence[str], rotation: int, answer: int
    ) -> tuple[int | None, list[tuple[str, str]]]:
        """The option that an output chooses, and the output in pieces, with what was read as that marked."""
        text, protocol = output or "", self.session.protocol
        choice = read_choice(text, options, rotation=rotation, protocol=protocol).choice
        if choice is None:
            return None, pieces_of(text[:MAX_SHOWN], [])
        place = choice_place(text, options, choice, rotation=rotation, protocol=protocol)
        stretches = [(*place, "exact" if choice == answer else "near")] if place else []
        return choice, pieces_of(text[:MAX_SHOWN], stretches)


def open_scored(session: BaseScoringSession, runs: Sequence[Run], titles: Sequence[str] = ()) -> Scored[Any]:
    """Runs under a session, with titles or without."""
    return ScoredSpans(session, runs, titles) if isinstance(session, Session) else ScoredItems(session, runs, titles)  # type: ignore[arg-type]


def read_runs(session: BaseScoringSession, files: Sequence[Path]) -> list[Run]:
    """The runs of files, grouped as `vcrgen score` groups them.

    Raises:
        VcrgenError: A file cannot be read, fits the dataset nowhere, or is named twice.
    """
    reject_duplicate_files(files, [file.resolve() for file in files])
    return session.runs(files)


def marked(output: str, matches: Sequence[SpanMatch]) -> list[tuple[str, str]]:
    """An output in pieces with the mark of each: ``exact``, ``near`` (the nearest to a span), or nothing."""
    ordered = sorted(matches, key=lambda match: match.exact)  # where two overlap, the exact one is shown
    return pieces_of(output, [(match.start, match.end, "exact" if match.exact else "near") for match in ordered])


def pieces_of(output: str, stretches: Sequence[tuple[int, int, str]]) -> list[tuple[str, str]]:
    """An output in pieces, each with the mark of the last stretch that has it, or none."""
    marks = [""] * len(output)
    for start, end, mark in stretches:
        for position in range(max(start, 0), min(end, len(output))):
            marks[position] = mark
    pieces = groupby(zip(output, marks, strict=True), key=lambda pair: pair[1])
    return [("".join(char for char, _ in pairs), mark) for mark, pairs in pieces]


def scores_text(match: SpanMatch) -> str:
    """How near an output is to a span that is not exact, in words; empty where nothing of it is near."""
    shares = [f"Jaccard {100 * match.jaccard:.0f} %"] if match.ngram else []
    shares += [f"character {100 * match.scores.character:.0f} %"] if match.ngram or match.scores.character else []
    shares += [f"distance {match.distance}"] if match.ngram else []
    # The segmenter cut the output elsewhere, or it is beyond what is read.
    shares += ["it stands in the output as text, not as tokens"] if match.verbatim and not match.exact else []
    return ", ".join(shares)


def _group(outcome: str, jaccard: float = 0.0) -> str:
    """The outcome as pages group it: of a span that is not exact, near from a Jaccard index of `NEAR` on."""
    group = _GROUPS[outcome]
    return "near" if group != "exact" and jaccard >= NEAR else group


def _mean(scores: Sequence[float]) -> float:
    return math.fsum(scores) / max(len(scores), 1)


class _SavedCell:
    """The scores of the spans of one mode and view, as the index has them."""

    unexplained = "?"  # the letter of a span that is neither exact nor near

    def __init__(self, saved: SavedUnits, name: CellName) -> None:
        self._starts = saved.starts.tolist()
        exact, jaccard = saved.scores[name]["exact"], saved.scores[name]["jaccard"]
        near = np.where(jaccard >= NEAR, OUTCOMES["near"], self.unexplained)
        self._letters = "".join(np.where(exact == 1, OUTCOMES["exact"], near).tolist())
        self._scores = (exact + jaccard).tolist()

    def of_question(self, question: int) -> tuple[str, float]:
        """The letters of its spans, and their mean score."""
        spans = slice(self._starts[question], self._starts[question + 1])
        return self._letters[spans], _mean(self._scores[spans])


def _saved_cells(session: Session, run: Run) -> Mapping[CellName, _SavedCell]:
    """The scores beside the outputs of a run; empty where they are not of these outputs and this signature."""
    if len(run) > 1 or not run[0].path.is_file():
        return {}
    file = run[0].path.with_name(f"{run[0].stem}{ENDING}")
    try:
        if file.stat().st_mtime_ns < run[0].path.stat().st_mtime_ns:
            return {}
        saved = load_units(file)
    except (VcrgenError, OSError):
        return {}
    if saved.signature != session.signature:
        return {}
    return {name: _SavedCell(saved, name) for name in saved.scores}
