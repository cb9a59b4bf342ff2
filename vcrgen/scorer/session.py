"""The base of scoring sessions: answers and options of any task, loaded once for any number of files."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from vcrgen.core.errors import PredictionError, ScoreError
from vcrgen.core.progress import SILENT, ProgressListener
from vcrgen.core.reading import encodable
from vcrgen.core.signature import Signature
from vcrgen.data.key import note_of
from vcrgen.data.tasks.task import VCR_TASK, ScoredTask
from vcrgen.data.views import View
from vcrgen.scorer.evidence import EvidenceWriter
from vcrgen.scorer.key import BaseKey
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.output_matcher import NOT_ASKED, PROBLEMS, STRICT, MatchedOutput, OutputMatcher, describe_problem
from vcrgen.scorer.predictions import PredictionFile, receive
from vcrgen.scorer.reader import STEPS, end_token, read_output
from vcrgen.scorer.records import CellName
from vcrgen.scorer.results import CellResult, Resamples, RunResult
from vcrgen.scorer.statistics import contrasts, summarise
from vcrgen.scorer.tally import Tally
from vcrgen.stats.bootstrap import RESAMPLES
from vcrgen.stats.intervals import METHOD

Run = tuple[PredictionFile, ...]
"""The files of one run of one model."""
Outputs = str | Path | PredictionFile | Sequence[PredictionFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """Problems of a file, without a score."""

    name: str
    format: str
    outputs: int
    models: tuple[str, ...]  # models it names
    cells: Mapping[CellName, int]  # questions with an output for each mode and view
    requested: Mapping[CellName, int]  # questions that each of them asks: items may lack a language
    questions: int  # questions of the dataset that are asked for
    subset: str | None  # what the signature calls them, or None for all
    problems: Mapping[str, tuple[int, tuple[str, ...]]]  # by kind: how many, and the first places
    steps: Mapping[str, int]  # steps of the reader, and how many outputs each changes
    ending: str  # the commonest token by which outputs end, such as <|im_end|>; empty if there is none
    protocol: str  # the task's protocol that reads by these steps

    @property
    def fit(self) -> bool:
        """True where ``strict`` would let the file pass."""
        return not any(kind in self.problems for kind in STRICT)


class BaseScoringSession(ABC):
    """Answers and options, loaded once for any number of files, of whichever task."""

    task: ScoredTask
    options: ScoreOptions
    key: BaseKey[Any]
    _view: View | None  # the only view that is scored
    listener: ProgressListener = SILENT  # is told of the outputs that are read

    @classmethod
    def of_key(cls, key: BaseKey[Any], options: ScoreOptions) -> Self:
        """A session that only validates: of a key whose questions may have no answers."""
        session = cls.__new__(cls)
        session.options, session.key = options, key
        session._view = session._requested_view()
        return session

    def _requested_view(self) -> View | None:
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
        """Facts of a signature about the reading of outputs."""

    @property
    def signature(self) -> Signature:
        """The signature of all scores of the session."""
        from importlib.metadata import version

        facts = {"vcrgen": version("vcrgen"), **self.facts, "missing": "wrong"}
        facts |= {"boot": f"{RESAMPLES}", "interval": METHOD, "seed": str(self.options.seed)}
        return Signature({**facts, **self.key.facts})

    def runs(self, files: Sequence[str | Path]) -> list[Run]:
        """Group files that are scored together: those of one model that have no mode and view in common.

        Example: what VLMEvalKit or lmms-eval wrote of a model that was shown VI+TEI, and of the same model that was
        shown TEI; or two files that name one model, one a view. Files of a model that overlap are runs of their own.

        Raises:
            PredictionError: A file cannot be read, or fits the dataset nowhere.
        """
        runs: list[Run] = [(receive(Path(file)),) for file in files]
        by_model: dict[str, list[Run]] = {}
        for run in runs if len(runs) > 1 else ():
            if model := _model(run):
                by_model.setdefault(model, []).append(run)
        for same in by_model.values():
            cells = [cell for run in same for cell in self._read(run, Counter(), Counter()).seen] if same[1:] else []
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

    def score_baseline(self, outputs: Outputs) -> RunResult:
        """Score the template baseline in the view that it has, whatever view the models are scored in."""
        session = copy(self)
        session._view = None
        return replace(session.score(outputs), from_pixels=True)

    @abstractmethod
    def find_examples(self, outputs: Outputs, question_ids: set[str]) -> Iterator[Any]:
        """Score the outputs of some questions, for people to look at; reads the files once more."""

    @abstractmethod
    def searched_texts(self, outputs: Outputs) -> Iterator[tuple[str, int, str]]:
        """Give of each response its kind, the row of its question, and the text or the choice that is scored."""

    @abstractmethod
    def preload(self) -> None:
        """Prepare what scoring any file needs, so that processes which are forked share it."""

    def validate(self, file: str | Path | PredictionFile) -> Validation:
        """Check one file without scoring it; refuses one that cannot be read or fits the dataset nowhere."""
        run = open_run(file)
        steps, endings = Counter[str](), Counter[str]()
        matcher = self._read(run, steps, endings)
        return Validation(
            name=run[0].path.name,
            format=run[0].format,
            outputs=matcher.total,
            models=tuple(sorted(matcher.models)),
            cells={name: len(seen) - seen.count(0) - seen.count(NOT_ASKED) for name, seen in matcher.seen.items()},
            requested={name: len(seen) - seen.count(NOT_ASKED) for name, seen in matcher.seen.items()},
            questions=len(self.key),
            subset=self.key.facts.get("subset"),
            problems=_problems(matcher),
            steps={step: steps[step] for step in STEPS if steps[step]},
            ending=next((token for token, _ in endings.most_common(1)), ""),
            protocol=self.task.protocols[0],
        )

    def matched_outputs(self, outputs: Outputs) -> Iterator[MatchedOutput]:
        """The usable outputs with their questions, as they are scored."""
        return self._matcher()(open_run(outputs))

    def _result(self, run: Run, matcher: OutputMatcher, tally: Tally, model: str | None) -> RunResult:
        """Summarise a run; refuses one that is not complete where the options are strict."""
        flaws = [describe_problem(kind, matcher.counts[kind]) for kind in STRICT if matcher.counts[kind]]
        if self.options.strict and flaws:
            names = " and ".join(str(file.path) for file in run)
            raise PredictionError(
                f"{names} {'is' if len(run) == 1 else 'are'} not complete (--strict): {'; '.join(flaws)}."
            )
        self.listener.stage(f"resampling the {self.task.clusters}")
        cells, resamples = self._summarised(tally)
        return RunResult(
            name=run_name(run),
            model=model,
            format=" + ".join(dict.fromkeys(file.format for file in run)),
            lang=self.key.lang,
            signature=self.signature,
            task=self.task,
            cells=tuple(cells),
            differences=contrasts(self.task, resamples),
            problems=_problems(matcher),
            notes=tuple(self._notes(run, cells)),
            resamples=resamples,
            cluster_ids=self.key.questions.cluster_ids,
        )

    def _summarised(self, tally: Tally) -> tuple[list[CellResult], Mapping[CellName, Resamples]]:
        """The results of all cells, with their bootstrap replicates."""
        return summarise(tally, seed=self.options.seed)

    @abstractmethod
    def _matcher(self) -> OutputMatcher:
        """A new matcher of outputs to the key."""

    def _read(self, run: Run, steps: Counter[str], endings: Counter[str]) -> OutputMatcher:
        """The run's outputs matched to questions and counted, not scored.

        Args:
            steps: Takes the steps of the reader that change an output.
            endings: Takes the tokens by which outputs end.
        """
        matcher = self._matcher()
        for prediction, *_ in matcher(run):
            if prediction.output is None:
                continue
            if not prediction.output.strip():
                matcher.note("empty", prediction.place)
            steps.update(read_output(prediction.output, thinking_tags=self.options.thinking_tags).steps)
            endings.update(end_token(prediction.output))
        return matcher

    def _reader_note(self, cell: CellResult) -> Iterator[str]:
        """Say how many outputs of a cell the steps of the reader changed."""
        if steps := {step: count for step in STEPS if (count := cell.counts.get(step, 0))}:
            counts = ", ".join(f"{step} {count}" for step, count in steps.items())
            yield f"{cell.view.label}, {cell.variant}: outputs that a step of the reader changed: {counts}."

    def _notes(self, run: Run, cells: Sequence[CellResult]) -> Iterator[str]:
        """Sentences that a reader of the scores should know."""
        if len(run) > 1:
            yield f"Files of one model, scored as one: {', '.join(encodable(file.path.name) for file in run)}."
        if self.key.hidden:
            yield "The answers are secret, and --spans and vcrgen view show them: show those to nobody."
        if note := note_of(self.key.facts, mcq=self.task is not VCR_TASK):
            yield note
        if subset := self.key.facts.get("subset"):
            yield (
                f"Scored on the subset {subset}: {len(self.key)} of {self.key.questions.total} questions. Scores of it "
                "stand in no table with those of all."
            )


def open_run(outputs: Outputs) -> Run:
    """The files of a run, by whatever stands for them."""
    if isinstance(outputs, str | Path):
        return (receive(Path(outputs)),)
    return (outputs,) if isinstance(outputs, PredictionFile) else tuple(outputs)


def _model(run: Run) -> str | None:
    """The model that a file's name or its first output names."""
    return run[0].task.model or next((prediction.model for prediction in run[0]), None)


def run_name(run: Run) -> str:
    """Name a run without a model: by its file, or by the tool that wrote its files."""
    if len(run) > 1 and run[0].task.model:
        return encodable(run[0].task.model)
    return encodable(" + ".join(file.stem for file in run))


def _problems(matcher: OutputMatcher) -> dict[str, tuple[int, tuple[str, ...]]]:
    return {
        kind: (matcher.counts[kind], tuple(matcher.examples.get(kind, ()))) for kind in PROBLEMS if matcher.counts[kind]
    }
