"""The session of Visual Caption Restoration: outputs are matched span by span."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vcrgen.core.errors import ScoreError
from vcrgen.core.plurals import pluralize
from vcrgen.core.records import is_mode
from vcrgen.data.statistics import BitsSummary
from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.data.views import View
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.answers import load_answers
from vcrgen.scorer.clean import LONGEST_OUTPUT
from vcrgen.scorer.evidence import EvidenceWriter, evidence_rows
from vcrgen.scorer.groups import SpanBreakdowns
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.output_matcher import OutputMatcher
from vcrgen.scorer.predictions.output import KNOWN_MODES
from vcrgen.scorer.records import UNSTATED, Outcome, SpanMatch
from vcrgen.scorer.results import CellResult, RunResult
from vcrgen.scorer.scorer import Scorer, make_scorer, unanswered
from vcrgen.scorer.session import BaseScoringSession, Outputs, Run, open_run, run_name
from vcrgen.scorer.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredExample:
    """One output of one question with its evidence, for people to look at."""

    question_id: str
    mode: str
    view: View
    output: str | None
    matches: tuple[SpanMatch, ...]


class Session(BaseScoringSession):
    """Answers and scorer of Visual Caption Restoration; ``data`` as for `load_answers`.

    Raises:
        VcrgenError: The answers cannot be read, or an option is wrong.
    """

    task = VCR_TASK
    key: AnswerKey

    def __init__(self, data: str | Path, options: ScoreOptions) -> None:
        self.options = options
        if options.mode is not None and not is_mode(options.mode):
            raise ScoreError(f"Unknown mode {options.mode!r}; known: {KNOWN_MODES}.")
        if options.judge is not None:
            raise ScoreError("--judge reads outputs of MCQ benchmarks, and this is none; leave it out.")
        self._view = self._requested_view()
        asked = {name: getattr(options, name) for name in ("mode", "split", "subset", "lang", "pixels")}
        self.key = load_answers(data, **asked)

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer of the dataset's language; made when first used."""
        names = ("segmenter", "strip_thinking", "thinking_tags", "max_output_tokens", "refusals", "normalise")
        options = {name: getattr(self.options, name) for name in names}
        return make_scorer(self.key.lang, protocol=self.options.protocol or self.task.protocols[0], **options)

    @property
    def protocol(self) -> str:
        """The protocol, with its version."""
        return self.scorer.protocol.name

    @property
    def facts(self) -> Mapping[str, str]:
        """Facts of a signature about the scorer."""
        return self.scorer.facts

    @cached_property
    def breakdowns(self) -> SpanBreakdowns:
        """The groups of the dataset's spans; the same for all files."""
        return SpanBreakdowns(self.key, self.scorer)

    def searched_texts(self, outputs: Outputs) -> Iterator[tuple[str, int, str]]:
        """The view of each output, the row of its question, and the part of it that is scored."""
        for prediction, row, (_, view) in self.matched_outputs(outputs):
            answers = self.key.question(row).answers
            yield view, row, self.scorer.searched_text(answers, prediction.output or "")

    def preload(self) -> None:
        """Tokenise all answers."""
        for question in self.key.questions:
            for answer in question.answers:
                self.scorer.prepare(answer)

    def score(self, outputs: Outputs, evidence: EvidenceWriter | None = None) -> RunResult:
        """Score a file, or several as one; ``evidence`` takes every span's match."""
        evidence = evidence or EvidenceWriter()
        run = open_run(outputs)
        matcher = self._matcher()
        tally = Tally(self.task, self.key, self.breakdowns.of_variant)
        name, model, signature = run_name(run), None, str(self.signature)
        for prediction, row, where in matcher(run):
            question, scored = self.key.question(row), None
            if prediction.output is not None:
                scored = self.scorer(question.answers, prediction.output, failed=prediction.failed)
                self.breakdowns.observe(row, question)
            matches = tally.cell(where).add(int(tally.starts[row]), question.answers, scored)
            model = prediction.model or model
            if evidence.wanted:
                span_rows = evidence_rows(matches, question, where[0])
                evidence.add(name, model, question.question_id, *where, span_rows, signature)
        for cell, rows in tally.missing():
            for row in rows.tolist() if evidence.wanted else ():
                question = self.key.question(row)
                matches = unanswered(question.answers, Outcome.MISSING)
                span_rows = evidence_rows(matches, question, cell.variant)
                evidence.add(name, model, question.question_id, cell.variant, cell.view, span_rows, signature)
        # Problems that only show when outputs and answers are tokenised.
        if empty := sum(cell.counts[Outcome.EMPTY.value] for cell in tally.cells.values()):
            matcher.counts["empty"] = empty
        without_tokens, first = self.breakdowns.empty
        if without_tokens:
            matcher.counts["empty_spans"] = without_tokens
            matcher.examples["empty_spans"] = list(map(repr, first))
        return self._result(run, matcher, tally, model)

    def find_examples(self, outputs: Outputs, question_ids: set[str]) -> Iterator[ScoredExample]:
        """The outputs of some questions with their matches, in the order of the files; reads them once more."""
        for matched in self.matched_outputs(outputs):
            question = self.key.question(matched.question)
            if question.question_id in question_ids:
                output = matched.prediction.output
                matches = unanswered(question.answers, Outcome.NULL)
                if output is not None:
                    matches = self.scorer(question.answers, output, failed=matched.prediction.failed).matches
                mode, view = matched.cell
                yield ScoredExample(
                    question_id=question.question_id, mode=mode, view=view, output=output, matches=matches
                )

    def _matcher(self) -> OutputMatcher:
        return OutputMatcher(self.key, self.task, self.options.mode, self._view, listener=self.listener)

    def _notes(self, run: Run, cells: Sequence[CellResult]) -> Iterator[str]:
        yield from super()._notes(run, cells)
        recorded, used = self.key.segmenter, self.scorer.segmenter.name
        if recorded is not None and recorded != used:
            yield f"The dataset's spans were chosen with the segmenter {recorded}; these scores use {used}."
        if len(self.key.variants) > 1 and any(cell.variant == UNSTATED for cell in cells):
            yield (
                "The outputs do not say their mode, and the dataset has several: the scores are the same for each, but "
                "not labelled, and visible ink is left out. Name it with --mode."
            )
        for mode in dict.fromkeys(cell.variant for cell in cells):
            if bits := BitsSummary.of(self.breakdowns.bits_of(mode).tolist()):
                yield f"{mode}: {bits}."
        if self.key.bits_signature:
            yield f"Bits that the dataset itself does not have are of {self.key.bits_signature}."
        for cell in cells:
            where = f"{cell.view.label}, {cell.variant}"
            yield from self._reader_note(cell) if self.scorer.protocol.reader else ()
            if beyond := cell.counts.get("beyond_limit", 0):
                rule = f"{self.scorer.max_tokens} tokens (--max-output-tokens)"
                if self.scorer.protocol.one_guess:
                    rule = f"the tokens of one guess for each span ({self.protocol})"
                yield f"{where}: {pluralize(beyond, 'output was', 'outputs were')} cut after {rule}."
            if long := cell.counts.get("long", 0):
                count = pluralize(long, "output is", "outputs are")
                yield f"{where}: {count} longer than {LONGEST_OUTPUT:,} characters; the rest was not read."
            if verbatim := cell.counts.get("verbatim", 0):
                yield (
                    f"{where}: spans that stand in their output as text, but not as tokens: {verbatim}. The "
                    "segmenter cut the output elsewhere; the metric `character` does not depend on that."
                )
