"""A whole scoring: answers + predictions -> match -> tally -> statistics. The only place that knows the order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from vcrgen.config import ScoreOptions
from vcrgen.dataset.views import View
from vcrgen.errors import PredictionError, ScoreError
from vcrgen.plurals import counted
from vcrgen.reading import encodable
from vcrgen.records import is_mode
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.answers import load_answers
from vcrgen.scorer.blocks import scored_blocks
from vcrgen.scorer.clean import LONGEST_OUTPUT
from vcrgen.scorer.curves import curves_of
from vcrgen.scorer.evidence import EvidenceWriter, span_rows, write_evidence
from vcrgen.scorer.groups import SpanProperties
from vcrgen.scorer.join import NOT_ASKED, PROBLEMS, STRICT, AnyKey, Join, Joined, problem_text
from vcrgen.scorer.predictions import PredictionFile, receive
from vcrgen.scorer.predictions.output import KNOWN_MODES
from vcrgen.scorer.records import UNSTATED, CellName, Outcome, SpanMatch
from vcrgen.scorer.results import CellResult, RunResult
from vcrgen.scorer.scorer import Scorer, make_scorer, unanswered
from vcrgen.scorer.statistics import contrasts, summarise
from vcrgen.scorer.tally import AnyTally, Tally
from vcrgen.signature import Signature
from vcrgen.stats.bootstrap import RESAMPLES
from vcrgen.stats.intervals import METHOD
from vcrgen.tasks.task import RESTORATION, ScoredTask

Options = ScoreOptions
Run = tuple[PredictionFile, ...]
"""The files of one run of one model."""
Outputs = Path | PredictionFile | Sequence[PredictionFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One output of one question with its evidence, for people to look at."""

    question_id: str
    mode: str
    view: View
    output: str | None
    matches: tuple[SpanMatch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What is odd about a file, without a score."""

    name: str
    format: str
    outputs: int
    models: tuple[str, ...]  # models it names
    cells: Mapping[CellName, int]  # questions with an output for each mode and view
    asked: Mapping[CellName, int]  # questions that each of them asks: items may lack a language
    questions: int  # questions of the dataset that are asked for
    subset: str | None  # what the signature calls them, or None for all
    problems: Mapping[str, tuple[int, tuple[str, ...]]]  # by kind: how many, and the first places

    @property
    def fit(self) -> bool:
        """Whether ``strict`` would let it pass."""
        return not any(kind in self.problems for kind in STRICT)


class AnySession(ABC):
    """Answers and options, loaded once for any number of files, of whichever task."""

    task: ScoredTask
    options: Options
    key: AnyKey

    def _asked_view(self) -> View | None:
        """The only view that is scored, or None for all; refuses one that the task does not have."""
        view = self.options.view
        if view is not None and view not in self.task.views:
            raise ScoreError(f"Unknown view {view!r}; known: {', '.join(self.task.views)}.")
        return None if view is None else View(view)

    @property
    @abstractmethod
    def protocol(self) -> str:
        """The protocol, with its version."""

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, str]:
        """What a signature says of how outputs are read."""

    @property
    def signature(self) -> Signature:
        """What the session's scores can be compared with."""
        from importlib.metadata import version

        facts = {"vcrgen": version("vcrgen"), **self.facts, "missing": "wrong"}
        facts |= {"boot": f"{RESAMPLES}", "interval": METHOD, "seed": str(self.options.seed)}
        return Signature({**facts, **self.key.facts})

    def runs(self, files: Sequence[Path]) -> list[Run]:
        """Which files are scored together: those of one model that have no mode and view in common.

        Example: what VLMEvalKit or lmms-eval wrote of a model that was shown VI+TEI, and of the same model that was
        shown TEI; or two files that name one model, one a view. Files of a model that overlap are runs of their own.

        Raises:
            PredictionError: A file cannot be read, or fits the dataset nowhere.
        """
        runs: list[Run] = [(receive(file),) for file in files]
        by_model: dict[str, list[Run]] = {}
        for run in runs if len(runs) > 1 else ():
            if model := _model(run):
                by_model.setdefault(model, []).append(run)
        for same in by_model.values():
            cells = [cell for run in same for cell in self._read(run).seen] if len(same) > 1 else []
            if cells and len(set(cells)) == len(cells):
                runs[runs.index(same[0])] = tuple(file for run in same for file in run)
                runs = [run for run in runs if run not in same[1:]]
        return runs

    @abstractmethod
    def score(self, outputs: Outputs, evidence: EvidenceWriter | None = None) -> RunResult:
        """Score a file, or several as one; ``evidence`` takes what became of every unit.

        Raises:
            PredictionError: A file cannot be read, fits the dataset nowhere, or (strictly) not wholly.
        """

    @abstractmethod
    def find(self, outputs: Outputs, question_ids: set[str]) -> Iterator[Any]:
        """What a run says of some questions, for people to look at; reads its files once more."""

    @property
    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """The kinds of what :meth:`said` gives."""

    @abstractmethod
    def said(self, outputs: Outputs) -> Iterator[tuple[str, int, str]]:
        """What a run says, to tell near copies: the kind, the row of the question, and the text or the choice."""

    @abstractmethod
    def warm(self) -> None:
        """Do at once what scoring any file needs, so that processes which are forked share it."""

    def validate(self, file: Path | PredictionFile) -> Validation:
        """Check one file without scoring it; refuses one that cannot be read or fits the dataset nowhere."""
        run = opened(file)
        join = self._read(run)
        return Validation(
            name=run[0].path.name,
            format=run[0].format,
            outputs=join.total,
            models=tuple(sorted(join.models)),
            cells={name: len(seen) - seen.count(0) - seen.count(NOT_ASKED) for name, seen in join.seen.items()},
            asked={name: len(seen) - seen.count(NOT_ASKED) for name, seen in join.seen.items()},
            questions=len(self.key),
            subset=self.key.facts.get("subset"),
            problems=_problems(join),
        )

    def joined(self, outputs: Outputs) -> Iterator[Joined]:
        """The usable outputs with their questions, as they are scored."""
        return self._join()(opened(outputs))

    def _result(self, run: Run, join: Join, tally: AnyTally, model: str | None) -> RunResult:
        """What a tally says of a run; refuses one that is not complete where that is asked for."""
        flaws = [problem_text(kind, join.counts[kind]) for kind in STRICT if join.counts[kind]]
        if self.options.strict and flaws:
            names = " and ".join(str(file.path) for file in run)
            raise PredictionError(
                f"{names} {'is' if len(run) == 1 else 'are'} not complete (--strict): {'; '.join(flaws)}."
            )
        cells, resamples = summarise(tally, seed=self.options.seed)
        return RunResult(
            name=run_name(run),
            model=model,
            format=" + ".join(dict.fromkeys(file.format for file in run)),
            lang=self.key.lang,
            signature=self.signature,
            task=self.task,
            cells=tuple(cells),
            differences=contrasts(self.task, resamples),
            problems=_problems(join),
            notes=tuple(self._notes(run, cells)),
            resamples=resamples,
        )

    @abstractmethod
    def _join(self) -> Join:
        """What joins outputs to the key."""

    def _read(self, run: Run) -> Join:
        """The run's outputs joined and counted, and not scored."""
        join = self._join()
        for joined in join(run):
            if joined.prediction.output is not None and not joined.prediction.output.strip():
                join.note("empty", joined.prediction.place)
        return join

    def _notes(self, run: Run, cells: Sequence[CellResult]) -> Iterator[str]:
        """What a reader of the scores should know."""
        if len(run) > 1:
            yield f"Files of one model, scored as one: {', '.join(encodable(file.path.name) for file in run)}."
        if self.key.hidden:
            yield "The answers are secret, and --spans, --explain and the HTML report show them: keep those."
        if subset := self.key.facts.get("subset"):
            yield (
                f"Scored on the subset {subset}: {len(self.key)} of {self.key.questions.total} questions. Scores of it "
                "stand in no table with those of all."
            )


class Session(AnySession):
    """Answers and scorer of Visual Caption Restoration; ``data`` as for :func:`load_answers`.

    Raises:
        VcrgenError: The answers cannot be read, or an option is wrong.
    """

    task = RESTORATION
    key: AnswerKey

    def __init__(self, data: Path, options: Options) -> None:
        self._data, self.options = data, options
        if options.mode is not None and not is_mode(options.mode):
            raise ScoreError(f"Unknown mode {options.mode!r}; known: {KNOWN_MODES}.")
        self._view = self._asked_view()
        self.key = load_answers(data, mode=options.mode, split=options.split, subset=options.subset, lang=options.lang)

    def __reduce__(self) -> tuple[type[Session], tuple[Path, Options]]:
        """Another process, where it is not forked, reads the answers for itself."""
        return Session, (self._data, self.options)

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer of the dataset's language; made when first used."""
        names = ("segmenter", "strip_thinking", "max_output_tokens", "refusals", "normalise")
        options = {name: getattr(self.options, name) for name in names}
        return make_scorer(self.key.lang, protocol=self.options.protocol or self.task.protocols[0], **options)

    @property
    def protocol(self) -> str:
        """The protocol, with its version."""
        return self.scorer.protocol.name

    @property
    def facts(self) -> Mapping[str, str]:
        """What a signature says of the scorer."""
        return self.scorer.facts

    @cached_property
    def properties(self) -> SpanProperties:
        """What divides the dataset's spans into groups; the same for all files."""
        return SpanProperties(self.key, self.scorer)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The views."""
        return self.task.board_views

    def said(self, outputs: Outputs) -> Iterator[tuple[str, int, str]]:
        """The view of each output, the row of its question, and the output."""
        for prediction, row, (_, view) in self.joined(outputs):
            yield view, row, prediction.output or ""

    def warm(self) -> None:
        """Tokenise all answers."""
        for question in self.key.questions:
            for answer in question.answers:
                self.scorer.prepare(answer)

    def score(self, outputs: Outputs, evidence: EvidenceWriter | None = None) -> RunResult:
        """Score a file, or several as one; ``evidence`` takes every span's match."""
        evidence = evidence or EvidenceWriter()
        run = opened(outputs)
        join = self._join()
        tally = Tally(self.key, self.properties)
        name, model, signature = run_name(run), None, str(self.signature)
        for block in scored_blocks(self, self._join, run, join, evidence=evidence.wanted):
            tally.add(block.cells)
            for said in block.evidence:
                model = said.model or model
                evidence.add(name, model, said.question_id, *said.cell, said.spans, signature)
            model = block.model or model
        for cell, rows in tally.missing():
            for row in rows.tolist() if evidence.wanted else ():
                question = self.key.question(row)
                matches = unanswered(question.answers, Outcome.MISSING)
                evidence.add(name, model, question.question_id, cell.variant, cell.view, span_rows(matches), signature)
        # Problems that only show when outputs and answers are tokenised.
        if empty := sum(cell.counts[Outcome.EMPTY.value] for cell in tally.cells.values()):
            join.counts["empty"] = empty
        without_tokens, first = self.properties.empty
        if without_tokens:
            join.counts["empty_spans"] = without_tokens
            join.examples["empty_spans"] = list(map(repr, first))
        result = self._result(run, join, tally, model)
        return self.with_curves(result) if self.options.curve else result

    def with_curves(self, result: RunResult) -> RunResult:
        """A result of this session with its accuracy against visible ink; refuses one of fewer than three levels."""
        ink = {cell.variant: self.properties.ink_of(cell.variant) for cell in result.cells}
        return replace(result, curves=curves_of(result, ink, seed=self.options.seed))

    def find(self, outputs: Outputs, question_ids: set[str]) -> Iterator[Found]:
        """The outputs of some questions with their matches, in the order of the files; reads them once more."""
        for joined in self.joined(outputs):
            question = self.key.question(joined.question)
            if question.question_id in question_ids:
                output = joined.prediction.output
                matches = unanswered(question.answers, Outcome.NULL)
                if output is not None:
                    matches = self.scorer(question.answers, output, failed=joined.prediction.failed).matches
                mode, view = joined.cell
                yield Found(question_id=question.question_id, mode=mode, view=view, output=output, matches=matches)

    def _join(self) -> Join:
        return Join(self.key, self.task, self.options.mode, self._view)

    def _notes(self, run: Run, cells: Sequence[CellResult]) -> Iterator[str]:
        yield from super()._notes(run, cells)
        recorded, used = self.key.segmenter, self.scorer.segmenter.name
        if recorded is not None and recorded != used:
            yield f"The dataset's spans were chosen with the segmenter {recorded}; these scores use {used}."
        if len(self.key.modes) > 1 and any(cell.variant == UNSTATED for cell in cells):
            yield (
                "The outputs do not say their mode, and the dataset has several: the scores are the same for each, but "
                "not labelled, and visible ink is left out. Name it with --mode."
            )
        for cell in cells:
            where = f"{cell.view.label}, {cell.variant}"
            if missing := cell.counts.get("missing", 0):
                one = f"of {cell.clusters} questions has no output; it counts as wrong"
                many = f"of {cell.clusters} questions have no output; they count as wrong"
                yield f"{where}: {counted(missing, one, many)}."
            if cut := cell.counts.get("cut", 0):
                limit = self.scorer.max_tokens
                shown = counted(cut, "output was", "outputs were")
                yield f"{where}: {shown} cut after {limit} tokens (--max-output-tokens)."
            if long := cell.counts.get("long", 0):
                shown = counted(long, "output is", "outputs are")
                yield f"{where}: {shown} longer than {LONGEST_OUTPUT:,} characters; the rest was not read."
            if verbatim := cell.counts.get("verbatim", 0):
                yield (
                    f"{where}: spans that stand in their output as text, but not as tokens: {verbatim}. The "
                    "segmenter cut the output elsewhere; the metric `character` does not depend on that."
                )


def open_session(data: Path, options: Options) -> AnySession:
    """The session of a dataset or a key, whichever task it is of; see :class:`Session`.

    Raises:
        VcrgenError: The answers cannot be read, or an option is wrong.
    """
    from vcrgen.scorer.choices.session import ItemSession, has_items

    return ItemSession(data, options) if has_items(data) else Session(data, options)


def score(
    predictions: str | Path | Sequence[str | Path], *, data: str | Path, spans: str | Path | None = None, **options: Any
) -> RunResult:
    """Score a file of model outputs against a VCR dataset.

    Args:
        predictions: JSON Lines with ``question_id`` and ``output``, or what the VCR repository, VLMEvalKit or
            lmms-eval wrote. Several files are scored as one: each of them holds other modes or views.
        data: A dataset that vcrgen built, VCR-WIKI's Parquet, or what ``datasets.save_to_disk`` wrote, on a disk or in
            an object store; or the key of a hidden set, or a JSON Lines key.
        spans: Write the per-span evidence here (``.parquet`` or ``.jsonl``).
        **options: Fields of :class:`Options`: ``protocol`` (``paper``, ``vlmevalkit`` or ``lmms-eval``), ``mode``,
            ``view``, ``split``, ``subset``, ``lang``, ``segmenter``, ``strip_thinking``, ``max_output_tokens``,
            ``refusals``, ``normalise``, ``seed``, ``strict``, ``curve``.

    Raises:
        VcrgenError: The user can mend it; the message says how.
    """
    session = open_session(Path(data), Options(**options))
    with write_evidence(Path(spans) if spans is not None else None, session.task) as evidence:
        files = [predictions] if isinstance(predictions, str | Path) else predictions
        return session.score([receive(Path(file)) for file in files], evidence)


def opened(outputs: Outputs) -> Run:
    """The files of a run, by whatever stands for them."""
    if isinstance(outputs, Path):
        return (receive(outputs),)
    return (outputs,) if isinstance(outputs, PredictionFile) else tuple(outputs)


def _model(run: Run) -> str | None:
    """The model that a file's name or its first output names."""
    return run[0].task.model or next((prediction.model for prediction in run[0]), None)


def run_name(run: Run) -> str:
    """What a run is called where no model is named: by its file, or by the tool that wrote its files."""
    if len(run) > 1 and run[0].task.model:
        return encodable(run[0].task.model)
    return encodable(" + ".join(file.stem for file in run))


def _problems(join: Join) -> dict[str, tuple[int, tuple[str, ...]]]:
    return {kind: (join.counts[kind], tuple(join.examples.get(kind, ()))) for kind in PROBLEMS if join.counts[kind]}
