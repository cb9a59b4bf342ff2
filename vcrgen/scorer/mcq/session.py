"""The session of MCQ benchmarks: lines of a run are matched to items, and each item is scored from all of its lines."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median_low
from typing import NamedTuple
from urllib.parse import quote

from vcrgen.core.errors import PredictionError, ScoreError
from vcrgen.data.tasks.bloom import LETTERS, ChoiceQuestion
from vcrgen.data.tasks.task import MCQ_TASK
from vcrgen.data.tasks.wording import LBS_WINDOW
from vcrgen.data.views import View
from vcrgen.scorer.evidence import EvidenceWriter
from vcrgen.scorer.key_letters import UNREAD, KeyLetter, key_letter_warnings
from vcrgen.scorer.mcq.choices import PUBLISHED, Reading, ReadingKind, read_choice
from vcrgen.scorer.mcq.item import ItemResponse, RequestedMetrics, ScoredItem, score_item
from vcrgen.scorer.mcq.judge import JUDGED, Judgement, Output, judge_outputs, ledger_file, open_judge
from vcrgen.scorer.mcq.key import ItemKey, KeyItem, item_breakdowns
from vcrgen.scorer.mcq.likelihood import NOT_USED, likeliest, parse_label_logprobs, parse_logprobs
from vcrgen.scorer.mcq.loading import categories_of, load_items
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.output_matcher import NOT_ASKED, MatchedOutput, OutputMatcher, describe_problem
from vcrgen.scorer.reader import read_output, without_tagged
from vcrgen.scorer.records import CellName, Prediction
from vcrgen.scorer.results import CellResult, Resamples, RunResult
from vcrgen.scorer.session import BaseScoringSession, Outputs, Run, open_run, run_name
from vcrgen.scorer.tally import NO_OUTCOME, Cell, Tally

# Options that say how free texts are read.
_OF_TEXTS = ("pixels", "mode", "normalise", "segmenter", "strip_thinking", "max_output_tokens", "refusals")


class ItemOutcome(NamedTuple):
    """Scores and outcome of one item in one cell."""

    scores: Sequence[float]
    outcome: str
    choice: int | None  # the option that was read, from 0


class ItemExample(NamedTuple):
    """An item with the responses of a model, for people to look at."""

    item: KeyItem
    lang: str
    view: View
    responses: Sequence[ItemResponse]
    result: ItemOutcome


@dataclass
class ItemMatcher(OutputMatcher):
    """Lines to items: each by item, language, view and the order of the options."""

    key: ItemKey

    def _unseen(self, variant: str) -> MutableSequence[int]:
        complete = (variant in self.key.question(row).questions for row in range(len(self.key)))
        # Bytes have no room for ten orders.
        return array("H", (0 if is_complete else NOT_ASKED for is_complete in complete))

    def _match(self, prediction: Prediction) -> MatchedOutput | tuple[str, str]:
        if self.mode is not None and prediction.lang not in (None, self.mode):
            return "other_lang", f"{prediction.place}: {prediction.lang}"
        matched = super()._match(prediction)
        if isinstance(matched, MatchedOutput) and prediction.rotation:
            options = self.key.question(matched.question).options
            if prediction.rotation >= options:
                raise PredictionError(
                    f"{self._file.path}, {prediction.place}: its `rotation` is {prediction.rotation}, and its item has "
                    f"{options} options, so it goes to {options - 1}."
                )
        return matched

    def _variant(self, prediction: Prediction) -> str:
        """The language to file it under."""
        languages = self.key.variants
        stated = prediction.lang or self.mode or (languages[0] if len(languages) == 1 else None)
        where = f"{self._file.path}, {prediction.place}"
        if stated is None:
            names = ", ".join(languages)
            raise PredictionError(
                f"{where}: it does not say its language (`lang`), and the set has {names}; name it with --lang."
            )
        if stated not in languages:
            raise PredictionError(f"{where}: its language is {stated[:20]!r}, and the set has {', '.join(languages)}.")
        return stated

    def _view(self, prediction: Prediction) -> View:
        """The view to file it under; a line that says none is of the picture."""
        view = prediction.view or self.view or View.IMAGE
        if view not in self.key.views:
            where, views = f"{self._file.path}, {prediction.place}", ", ".join(self.key.views)
            raise PredictionError(f"{where}: its view is {view}, and an MCQ benchmark has {views}.")
        return view


@dataclass
class CellResponses:
    """The responses of a model to the items of one cell."""

    responses: dict[int, list[ItemResponse]] = field(default_factory=lambda: defaultdict(list))
    failures: dict[int, str] = field(default_factory=dict)  # of items without an output: `null` or `failed`

    def steps(self) -> Counter[str]:
        """The steps of the reader of outputs, and how many outputs each changes."""
        texts = (line.output for lines in self.responses.values() for line in lines if line.output)
        return Counter(step for text in texts for step in read_output(text).steps)

    def requested(self, text_only: CellResponses | None) -> RequestedMetrics:
        """The metrics for which some item of the cell has an input."""
        lines = [response for responses in self.responses.values() for response in responses]
        return RequestedMetrics(
            outputs=bool(self.failures) or any(response.output is not None for response in lines),
            rotations=any(response.rotation and response.output is not None for response in lines),
            logprobs=any(response.logprobs is not None for response in lines),
            text_only=text_only is not None
            and any(response.logprobs for responses in text_only.responses.values() for response in responses),
            label_logprobs=any(response.label_logprobs is not None for response in lines),
        )


class ItemSession(BaseScoringSession):
    """Items and options of an MCQ benchmark.

    Raises:
        VcrgenError: The set cannot be read, or an option is wrong.
    """

    task = MCQ_TASK
    key: ItemKey

    def __init__(self, data: Path, options: ScoreOptions) -> None:
        self.options = options
        for name in _OF_TEXTS:
            if getattr(options, name) != ScoreOptions.model_fields[name].default:
                option = name.replace("_", "-")
                raise ScoreError(f"--{option} is of masked spans; an MCQ benchmark has --lang, --view and --protocol.")
        if self._rules not in self.task.protocols:
            raise ScoreError(f"Unknown protocol {self._rules!r}; known: {', '.join(self.task.protocols)}.")
        if options.thinking_tags is not None and self._rules == PUBLISHED:
            raise ScoreError(f"{PUBLISHED} reads outputs as they are; leave --thinking-tags out.")
        self._judge = open_judge(options)
        self._view = self._requested_view()
        self.key = load_items(data, split=options.split, subset=options.subset, lang=options.lang)
        paths = [] if self.key.images is None else categories_of(self.key.images)
        self.breakdowns = item_breakdowns(self.key.questions, paths)

    @property
    def protocol(self) -> str:
        """The protocol, with its version."""
        return self._rules if self.options.judge is None else JUDGED[self._rules]

    @property
    def _rules(self) -> str:
        """The protocol by which outputs are read without a judge."""
        return self.options.protocol or self.task.protocols[0]

    @property
    def facts(self) -> Mapping[str, str]:
        """Facts of a signature about the reading of outputs."""
        judge = {"judge": self._judge.name} if self._judge is not None else {}
        tags = self.options.thinking_tags
        think = {"think": f"strip+{quote('..'.join(tags), safe='<>[]/: ')}"} if tags else {}
        return {"task": self.task.name, "protocol": self.protocol, **think, **judge}

    def searched_texts(self, outputs: Outputs) -> Iterator[tuple[str, int, str]]:
        """The choice of each line, by its output and by its likelihoods; other words for one choice are the same."""
        lines, _ = self._lines(self._matcher(), open_run(outputs))
        for (lang, view), here in lines.items():
            for row, responses in here.responses.items():
                options = self.key.question(row).questions[lang].options
                for response in responses:
                    if response.rotation == 0 and response.output is not None:
                        choice = read_choice(response.output, options, protocol=self._rules).choice
                        yield f"{lang} {view} output", row, _letter(choice)
                    if response.logprobs is not None:
                        means = [sum(tokens) / len(tokens) for tokens in response.logprobs]
                        yield f"{lang} {view} likelihood", row, _letter(likeliest(means))

    def preload(self) -> None:
        """All is in memory already."""

    def score(self, outputs: Outputs, evidence: EvidenceWriter | None = None) -> RunResult:
        """Score a file, or several as one; ``evidence`` takes what became of every item."""
        run, matcher = open_run(outputs), self._matcher()
        lines, model = self._lines(matcher, run)
        tally, problems = Tally(self.task, self.key, lambda lang: self.breakdowns, self.key.variants), Counter[str]()
        signature, judgement = str(self.signature), self._judged(run, lines)
        for name, results in self._scored(lines, problems, judgement):
            cell = tally.cell(name)
            for row, result in enumerate(results):
                if result is None:
                    cell.exclude(row)
                    continue
                cell.set_scores(row, result.scores, result.outcome)
                if evidence is not None and evidence.wanted:
                    self._keep(evidence, run_name(run), model, row, name, result, signature)
            cell.counts["missing"] = int(cell.missing.sum())
            if self._rules != PUBLISHED:
                cell.counts.update(lines[name].steps())
        for kind, count in problems.items():
            matcher.counts[kind] += count
        whole = self._result(run, matcher, tally, model)
        notes = [*_window_notes(lines), *([] if judgement is None else [judgement.note])]
        return replace(whole, notes=(*whole.notes, *notes))

    def _judged(self, run: Run, lines: Mapping[CellName, CellResponses]) -> Judgement | None:
        """The readings of the judge, if there is one."""
        if self._judge is None:
            return None
        outputs = (
            Output(response.output, self.key.question(row).questions[lang], response.rotation, self._rules)
            for (lang, _), here in lines.items()
            for row, responses in here.responses.items()
            for response in responses
            if response.output is not None
        )
        return judge_outputs(outputs, self._judge, ledger_file(run[0].path, self._judge))

    def _summarised(self, tally: Tally) -> tuple[list[CellResult], Mapping[CellName, Resamples]]:
        """The cells, with their counts by key letter; not those of a hidden set, as they tell of its key."""
        cells, resamples = super()._summarised(tally)
        cells = [replace(cell, chance=self._chance(cell.variant)) for cell in cells]
        if self.key.hidden:
            return cells, resamples
        return [
            replace(cell, key_letters=self._key_letters(tally.cell((cell.variant, cell.view))))
            if "rae" in cell.metrics
            else cell
            for cell in cells
        ], resamples

    def _chance(self, lang: str) -> float | None:
        """The expected accuracy of random choices in a language; None where it is the task's."""
        counts = [item.options for item in self.key.questions if lang in item.questions]
        chance = math.fsum(1 / count for count in counts) / len(counts)
        return None if math.isclose(chance, self.task.leading.chance or 0) else chance

    def _key_letters(self, cell: Cell) -> tuple[KeyLetter, ...]:
        counts_of: dict[int, list[Counter[str]]] = {}
        for item, code in zip(self.key.questions, cell.outcomes.tolist(), strict=True):
            if code != NO_OUTCOME:
                counts = counts_of.setdefault(item.options, [Counter() for _ in range(item.options)])
                counts[item.answer][self.task.outcomes[code]] += 1
        return tuple(
            KeyLetter(
                letter=letter,
                units=letter_counts.total(),
                right=letter_counts["right"],
                unread=sum(letter_counts[kind] for kind in UNREAD),
                options=options,
            )
            for options, counts in sorted(counts_of.items())
            for letter, letter_counts in zip(LETTERS, counts, strict=False)
        )

    def find_examples(self, outputs: Outputs, question_ids: set[str]) -> Iterator[ItemExample]:
        """The responses to some items with their scores."""
        run = open_run(outputs)
        lines, _ = self._lines(self._matcher(), run)
        for (lang, view), results in self._scored(lines, Counter(), self._judged(run, lines)):
            for row, result in enumerate(results):
                item = self.key.question(row)
                if result is not None and item.question_id in question_ids:
                    yield ItemExample(item, lang, view, lines[lang, view].responses.get(row, ()), result)

    def _lines(self, matcher: OutputMatcher, run: Run) -> tuple[dict[CellName, CellResponses], str | None]:
        """The responses of a run by cell, and the model that it names; refuses a cell without usable responses."""
        lines: dict[CellName, CellResponses] = defaultdict(CellResponses)
        model = None
        for prediction, row, cell in matcher(run):
            model = prediction.model or model
            here, output = lines[cell], None if prediction.failed else prediction.output
            if output is not None and self.options.thinking_tags is not None:
                output = without_tagged(output, self.options.thinking_tags)
            if output is None and prediction.rotation == 0 and (prediction.failed or "null" in prediction.flaws):
                here.failures[row] = "failed" if prediction.failed else "null"
            options, labels = self.key.question(row).options, prediction.label_logprobs
            logprobs = None if prediction.logprobs is None else parse_logprobs(prediction.logprobs, options)
            labels = None if labels is None else parse_label_logprobs(labels, options)
            for wrong in (logprobs, labels):
                if isinstance(wrong, str):
                    matcher.note(wrong, prediction.place)
            here.responses[row].append(
                ItemResponse(
                    output,
                    prediction.rotation,
                    None if isinstance(logprobs, str) else logprobs,
                    None if isinstance(labels, str) else labels,
                )
            )
        for (lang, view), here in lines.items():
            if not any(here.requested(None)):
                left_out = [describe_problem(kind, matcher.counts[kind]) for kind in NOT_USED if matcher.counts[kind]]
                raise PredictionError(
                    f"{run_name(run)}: nothing of {lang}, {view} can be scored: {', '.join(['no output', *left_out])}."
                )
        return lines, model

    def _scored(
        self, lines: Mapping[CellName, CellResponses], problems: Counter[str], judgement: Judgement | None
    ) -> Iterator[tuple[CellName, Iterator[ItemOutcome | None]]]:
        """Of each cell all items in their order; None for one that is not complete in the language."""
        for (lang, view), here in lines.items():
            text_only = lines.get((lang, View.TEXT_ONLY)) if view is View.IMAGE else None
            yield (lang, view), self._results(lang, here, text_only, problems, judgement)

    def _results(
        self,
        lang: str,
        here: CellResponses,
        text_only: CellResponses | None,
        problems: Counter[str],
        judgement: Judgement | None,
    ) -> Iterator[ItemOutcome | None]:
        requested = here.requested(text_only)
        for row, item in enumerate(self.key.questions):
            question = item.questions.get(lang)
            if question is None:
                yield None
                continue
            responses = here.responses.get(row, [])
            without = text_only.responses.get(row, []) if text_only is not None else []
            scored = score_item(
                question.options,
                item.answer,
                responses,
                requested=requested,
                trap=item.trap,
                text_only=next((response.logprobs for response in without if response.logprobs), None),
                protocol=self._rules,
                judged=self._readings(judgement, question, responses),
            )
            problems.update(scored.problems)
            if responses:
                if requested.outputs and scored.reading is None and row not in here.failures:
                    problems["no_output"] += 1
                if requested.logprobs and not any(response.logprobs for response in responses):
                    problems["no_likelihoods"] += 1
            outcome = _outcome(scored, requested, bool(responses), here.failures.get(row))
            yield ItemOutcome(scored.scores, outcome, scored.reading.choice if scored.reading else None)

    def _readings(
        self, judgement: Judgement | None, question: ChoiceQuestion, responses: Sequence[ItemResponse]
    ) -> Mapping[int, Reading]:
        if judgement is None:
            return {}
        return {
            response.rotation: judgement.readings[output]
            for response in responses
            if response.output is not None
            and (output := Output(response.output, question, response.rotation, self._rules)) in judgement.readings
        }

    def _keep(
        self,
        evidence: EvidenceWriter,
        run: str,
        model: str | None,
        row: int,
        cell: CellName,
        result: ItemOutcome,
        signature: str,
    ) -> None:
        item = self.key.question(row)
        choice = None if result.choice is None else LETTERS[result.choice]
        columns = (item.path, LETTERS[item.answer], result.outcome, choice)
        evidence.add(run, model, item.question_id, *cell, [(columns, result.scores)], signature)

    def _matcher(self) -> OutputMatcher:
        return ItemMatcher(self.key, self.task, self.options.lang, self._view, listener=self.listener)

    def _notes(self, run: Run, cells: Sequence[CellResult]) -> Iterator[str]:
        yield from super()._notes(run, cells)
        if any("rae" in cell.metrics and "lbs" in cell.metrics for cell in cells):
            yield (
                "RAE shows the model the options and LBS does not, so their difference is not one of confidence alone: "
                "questions that point at the options mean nothing without them."
            )
        yield from key_letter_warnings([(f"{cell.view.label}, {cell.variant}", cell.key_letters) for cell in cells])
        for cell in cells:
            yield from self._reader_note(cell)


def _window_notes(lines: Mapping[CellName, CellResponses]) -> Iterator[str]:
    """Say which window of tokens is scored, where a file has log-probabilities of options."""
    counts = sorted(
        len(tokens)
        for here in lines.values()
        for responses in here.responses.values()
        for response in responses
        for tokens in response.logprobs or ()
    )
    if counts:
        sizes = f"{counts[0]} to {counts[-1]} tokens here, the median one {median_low(counts)}"
        yield f"{LBS_WINDOW} An option has {sizes}."


def _letter(choice: int | None) -> str:
    return "" if choice is None else LETTERS[choice]


_OUTCOMES = {
    ReadingKind.AMBIGUOUS: "ambiguous",
    ReadingKind.INVALID: "invalid",
    ReadingKind.REFUSED: "refused",
    ReadingKind.EMPTY: "empty",
}


def _outcome(scored: ScoredItem, requested: RequestedMetrics, answered: bool, failure: str | None) -> str:
    """The outcome of an item, by its output; where no outputs were requested, by its likelihoods."""
    if scored.reading is not None and (outcome := _OUTCOMES.get(scored.reading.kind)):
        return outcome
    scores = scored.scores
    right = scores.rae if requested.outputs else scores.lbs if requested.logprobs else scores.letter
    if not answered or (requested.outputs and scored.reading is None):
        return failure or "missing"
    return "right" if right == 1 else "wrong"
