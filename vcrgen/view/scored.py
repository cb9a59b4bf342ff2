"""Outputs of models, scored as `vcrgen score` does: for the index a letter a span, for a page what was matched."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from vcrgen.core.errors import VcrgenError
from vcrgen.data.tasks.task import MCQ_TASK
from vcrgen.report.table import percent
from vcrgen.scorer.mcq.choices import read_choice
from vcrgen.scorer.mcq.session import ItemExample, ItemSession
from vcrgen.scorer.output_matcher import MatchedOutput
from vcrgen.scorer.records import UNSTATED, Outcome, SpanMatch
from vcrgen.scorer.saved import ENDING, SavedUnits, load_units, reject_duplicate_files
from vcrgen.scorer.scorer import unanswered
from vcrgen.scorer.session import BaseScoringSession, Run, run_name
from vcrgen.scorer.span_session import Session
from vcrgen.view.index import OUTCOMES, IndexedOutput, StoredOutput, ViewIndex

NEAR = 0.5  # Jaccard index from which a wrong n-gram is called near
MAX_SHOWN = 20_000  # characters of an output on a page
Json = dict[str, Any]
SessionT = TypeVar("SessionT", bound=BaseScoringSession)
_GROUPS = {
    **dict.fromkeys(("exact", "right"), "exact"),
    **dict.fromkeys(("wrong", "short"), "wrong"),
    **dict.fromkeys(("beyond_limit", "ambiguous", "invalid"), "unread"),
    "refused": "refused",
    **dict.fromkeys(("empty", "null", "failed", "missing"), "missing"),
}


class Scored(ABC, Generic[SessionT]):
    """Runs and their titles: those given, or else the models or the names of their files."""

    def __init__(self, session: SessionT, runs: Sequence[Run], titles: Sequence[str] = ()) -> None:
        self.session = session
        self.runs = runs
        self.titles = list(titles)
        self.views: list[str] = []  # that have outputs, in the order of tables

    def add_to(self, index: ViewIndex) -> None:
        """Score every output, and put them into the index."""
        views, models = set[str](), list[str]()
        for number, run in enumerate(self.runs):
            cells = set[tuple[str, str]]()
            index.add_outputs(number, self._noted(self._outputs(run), cells))
            for mode, view in sorted(cells):
                self._add_missing(index, number, mode, view)
            views |= {view for _, view in cells}
            models.append(next((prediction.model for file in run for prediction in file if prediction.model), ""))
        self.views = [view.value for view in self.session.task.views if view.value in views]
        names = [model or run_name(run) for model, run in zip(models, self.runs, strict=True)]
        if not self.titles:
            self.titles = [
                f"{name} ({run_name(run)}, {number})" if names.count(name) > 1 else name
                for number, (name, run) in enumerate(zip(names, self.runs, strict=True), start=1)
            ]

    @abstractmethod
    def details(self, question_id: str, output: StoredOutput) -> Json:
        """What a page shows of an output."""

    @abstractmethod
    def _outputs(self, run: Run) -> Iterator[IndexedOutput]:
        """The outputs of a run for the index."""

    def _add_missing(self, index: ViewIndex, number: int, mode: str, view: str) -> None:
        """Add what a run lacks in a mode and a view."""

    def _noted(self, outputs: Iterator[IndexedOutput], cells: set[tuple[str, str]]) -> Iterator[IndexedOutput]:
        for output in outputs:
            cells.add((output.mode, output.view))
            yield output


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
                "scores": _scores_text(match),
            }
            for match in matches
        ]
        pieces = [] if text is None else marked(text[:MAX_SHOWN], matches)
        return {"spans": spans, "responses": [{"pieces": pieces, "cut": len(text or "") > MAX_SHOWN}]}

    def _outputs(self, run: Run) -> Iterator[IndexedOutput]:
        saved = _saved_scores(self.session, run)
        for matched in self.session.matched_outputs(run):
            prediction, row, (mode, view) = matched
            codes, score = self._codes(matched, saved)
            flaw = Outcome.FAILED.value if prediction.failed else "" if prediction.output is not None else "null"
            details = json.dumps([prediction.output, flaw], ensure_ascii=False)
            question_id = self.session.key.question(row).question_id
            for variant in self._modes_of(mode):
                yield IndexedOutput(question_id, variant, view.value, codes, score, prediction.output or "", details)

    def _modes_of(self, mode: str) -> Sequence[str]:
        """The modes in which an output is shown: of one that states none, all."""
        return self.session.key.variants or (UNSTATED,) if mode == UNSTATED else (mode,)

    def _codes(self, matched: MatchedOutput, saved: SavedUnits | None) -> tuple[str, float]:
        """The outcome of each span by its letter, and the sum of exact match and Jaccard, averaged over spans.

        Saved scores say which spans are exact or near; why another span is not only the output tells.
        """
        question = self.session.key.question(matched.question)
        if saved is not None and matched.cell in saved.scores:
            scores = saved.scores[matched.cell][saved.starts[matched.question] : saved.starts[matched.question + 1]]
            if len(scores) and (scores["jaccard"] >= NEAR).all():
                letters = np.where(scores["exact"] == 1, OUTCOMES["exact"], OUTCOMES["near"])
                return "".join(letters.tolist()), float((scores["exact"] + scores["jaccard"]).mean())
        prediction = matched.prediction
        if prediction.output is None:
            matches = unanswered(question.answers, Outcome.NULL)
        else:
            matches = self.session.scorer(question.answers, prediction.output, failed=prediction.failed).matches
        total = math.fsum(match.scores.exact + match.jaccard for match in matches)
        return "".join(OUTCOMES[_group(match.outcome, match.jaccard)] for match in matches), total / max(
            len(matches), 1
        )

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
            read = None
            if text is not None:
                read = read_choice(text, options, rotation=response.rotation, protocol=self.session.protocol)
            logprobs = response.logprobs and [sum(tokens) / len(tokens) for tokens in response.logprobs]
            figures = {"log-probability a token": logprobs, "labels": response.label_logprobs}
            responses.append(
                {
                    "rotation": response.rotation,
                    "choice": read.choice if read else None,
                    "pieces": [[text[:MAX_SHOWN], ""]] if text else [],
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
    marks = [""] * len(output)
    for match in sorted(matches, key=lambda match: match.exact):  # where two overlap, the exact one is shown
        for position in range(max(match.start, 0), min(match.end, len(output))):
            marks[position] = "exact" if match.exact else "near"
    pieces = groupby(zip(output, marks, strict=True), key=lambda pair: pair[1])
    return [("".join(char for char, _ in pairs), mark) for mark, pairs in pieces]


def _scores_text(match: SpanMatch) -> str:
    """How near the nearest n-gram is, in words; empty without one."""
    shares = f"Jaccard {100 * match.jaccard:.0f} %, character {100 * match.scores.character:.0f} %"
    return f"{shares}, distance {match.distance}" if match.ngram else ""


def _group(outcome: str, jaccard: float = 0.0) -> str:
    """The outcome as pages group it: of a span that is not exact, near from a Jaccard index of `NEAR` on."""
    group = _GROUPS[outcome]
    return "near" if group != "exact" and jaccard >= NEAR else group


def _saved_scores(session: Session, run: Run) -> SavedUnits | None:
    """The scores beside the outputs of a run, where they are of these outputs and of the session's signature."""
    if len(run) > 1 or not run[0].path.is_file():
        return None
    file = run[0].path.with_name(f"{run[0].stem}{ENDING}")
    try:
        if file.stat().st_mtime_ns < run[0].path.stat().st_mtime_ns:
            return None
        saved = load_units(file)
    except (VcrgenError, OSError):
        return None
    return saved if saved.signature == session.signature else None
