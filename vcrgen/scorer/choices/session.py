"""Scoring a question set: the lines of a run are joined to its items, and each item is scored from all of its lines."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vcrgen.config import ScoreOptions
from vcrgen.dataset.key import read_key
from vcrgen.dataset.views import View
from vcrgen.errors import PredictionError, ScoreError, VcrgenError
from vcrgen.plurals import counted
from vcrgen.scorer.answers import hidden_folder
from vcrgen.scorer.choices.answers import divisions_of, load_items
from vcrgen.scorer.choices.grammar import ReadingKind, read_choice
from vcrgen.scorer.choices.item import Asked, Said, ScoredItem, score_item
from vcrgen.scorer.choices.key import ItemKey, KeyItem
from vcrgen.scorer.choices.likelihood import NOT_USED, checked_letters, checked_logprobs, likeliest
from vcrgen.scorer.evidence import EvidenceWriter
from vcrgen.scorer.join import NOT_ASKED, Join, Joined, problem_text
from vcrgen.scorer.records import CellName, Prediction
from vcrgen.scorer.results import CellResult, RunResult
from vcrgen.scorer.run import AnySession, Outputs, Run, opened, run_name
from vcrgen.scorer.tally import Cell, Properties
from vcrgen.tasks.bloom import LETTERS, TASK
from vcrgen.tasks.opening import is_question_set
from vcrgen.tasks.task import QUESTIONS

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Ints


def has_items(data: Path) -> bool:
    """Whether a place holds a question set, or the key of a hidden one."""
    folder = hidden_folder(data)
    try:
        return read_key(folder).task == TASK if folder else not data.is_file() and is_question_set(data)
    except VcrgenError:
        return False  # whoever reads the key says what is wrong


# Options that say how free texts are read.
_OF_TEXTS = ("mode", "curve", "normalise", "segmenter", "strip_thinking", "max_output_tokens", "refusals")


class ItemOutcome(NamedTuple):
    """What became of one item in one cell."""

    scores: Sequence[float]
    outcome: str
    choice: int | None  # the option that was read, from 0


class FoundItem(NamedTuple):
    """An item with what a model said of it, for people to look at."""

    item: KeyItem
    lang: str
    view: View
    said: Sequence[Said]
    result: ItemOutcome


@dataclass
class ItemJoin(Join):
    """Lines to items: each by item, language, view and the order of the options."""

    key: ItemKey

    def _nothing_seen(self, variant: str) -> bytearray:
        asked = (variant in self.key.question(row).questions for row in range(len(self.key)))
        return bytearray(0 if each else NOT_ASKED for each in asked)

    def _join(self, prediction: Prediction) -> Joined | tuple[str, str]:
        if self.mode is not None and prediction.lang not in (None, self.mode):
            return "other_lang", f"{prediction.place}: {prediction.lang}"
        return super()._join(prediction)

    def _variant(self, prediction: Prediction) -> str:
        """The language to file it under."""
        languages = self.key.modes
        stated = prediction.lang or self.mode or (languages[0] if len(languages) == 1 else None)
        where = f"{self._file.path}, {prediction.place}"
        if stated is None:
            known = ", ".join(languages)
            raise PredictionError(
                f"{where}: it does not say its language (`lang`), and the set has {known}; name it with --lang."
            )
        if stated not in languages:
            raise PredictionError(f"{where}: its language is {stated[:20]!r}, and the set has {', '.join(languages)}.")
        return stated

    def _view(self, prediction: Prediction) -> View:
        """The view to file it under; a line that says none is of the picture."""
        view = prediction.view or self.view or View.IMAGE
        if view not in self.key.views:
            where, known = f"{self._file.path}, {prediction.place}", ", ".join(self.key.views)
            raise PredictionError(f"{where}: its view is {view}, and a question set has {known}.")
        return view


@dataclass
class ItemLines:
    """What a model said of the items of one cell."""

    said: dict[int, list[Said]] = field(default_factory=lambda: defaultdict(list))
    nothing: dict[int, str] = field(default_factory=dict)  # of items without an output: `null` or `failed`

    def asked(self, blind: ItemLines | None) -> Asked:
        """What was asked of the cell: all that some item of it has."""
        lines = [each for said in self.said.values() for each in said]
        return Asked(
            outputs=bool(self.nothing) or any(each.output is not None for each in lines),
            rotations=any(each.rotation and each.output is not None for each in lines),
            logprobs=any(each.logprobs is not None for each in lines),
            blind=blind is not None and any(each.logprobs for said in blind.said.values() for each in said),
            letters=any(each.letters is not None for each in lines),
        )


@dataclass
class ItemTally:
    """The scores of the items of a run."""

    key: ItemKey
    properties: Properties
    cells: dict[CellName, Cell] = field(default_factory=dict)
    task = QUESTIONS

    @property
    def variants(self) -> Sequence[str]:
        """The languages in the order of the set."""
        return self.key.modes

    @property
    def starts(self) -> Ints:
        """Of each picture, how many items stand before it."""
        return self.key.questions.starts


class ItemSession(AnySession):
    """Items and options of a question set.

    Raises:
        VcrgenError: The set cannot be read, or an option is wrong.
    """

    task = QUESTIONS
    key: ItemKey

    def __init__(self, data: Path, options: ScoreOptions) -> None:
        self.options = options
        for name in _OF_TEXTS:
            if getattr(options, name) != ScoreOptions.model_fields[name].default:
                shown = name.replace("_", "-")
                raise ScoreError(f"--{shown} is of covered texts; a question set has --lang, --view and --protocol.")
        if self.protocol not in self.task.protocols:
            raise ScoreError(f"Unknown protocol {self.protocol!r}; known: {', '.join(self.task.protocols)}.")
        self._view = self._asked_view()
        self.key = load_items(data, split=options.split, subset=options.subset, lang=options.lang)
        self.properties = divisions_of(self.key)

    @property
    def protocol(self) -> str:
        """The protocol, with its version."""
        return self.options.protocol or self.task.protocols[0]

    @property
    def facts(self) -> Mapping[str, str]:
        """What a signature says of how outputs are read."""
        return {"task": self.task.name, "protocol": self.protocol}

    @property
    def kinds(self) -> tuple[str, ...]:
        """Languages, views, and the two ways to choose."""
        return tuple(
            f"{lang} {view} {way}" for lang in self.key.modes for view in self.task.board_views for way in _CHOSEN_BY
        )

    def said(self, outputs: Outputs) -> Iterator[tuple[str, int, str]]:
        """What each line chooses, by its output and by its likelihoods; other words for one choice are the same."""
        lines, _ = self._lines(self._join(), opened(outputs))
        for (lang, view), here in lines.items():
            for row, said in here.said.items():
                options = self.key.question(row).questions[lang].options
                for each in said:
                    if each.rotation == 0 and each.output is not None:
                        choice = read_choice(each.output, options, protocol=self.protocol).choice
                        yield f"{lang} {view} output", row, _letter(choice)
                    if each.logprobs is not None:
                        means = [sum(tokens) / len(tokens) for tokens in each.logprobs]
                        yield f"{lang} {view} likelihood", row, _letter(likeliest(means))

    def warm(self) -> None:
        """All is in memory already."""

    def score(self, outputs: Outputs, evidence: EvidenceWriter | None = None) -> RunResult:
        """Score a file, or several as one; ``evidence`` takes what became of every item."""
        run, join = opened(outputs), self._join()
        lines, model = self._lines(join, run)
        tally, problems = ItemTally(self.key, self.properties), Counter[str]()
        signature = str(self.signature)
        for name, results in self._scored(lines, problems):
            cell = tally.cells[name] = Cell(self.task, *name, len(self.key))
            for row, result in enumerate(results):
                if result is None:
                    cell.leave_out(row)
                    continue
                cell.put(row, (result,))
                if evidence is not None and evidence.wanted:
                    self._keep(evidence, run_name(run), model, row, name, result, signature)
            cell.counts["missing"] = int(cell.missing.sum())
        for kind, count in problems.items():
            join.counts[kind] += count
        return self._result(run, join, tally, model)

    def find(self, outputs: Outputs, question_ids: set[str]) -> Iterator[FoundItem]:
        """What a run says of some items, and what became of them."""
        lines, _ = self._lines(self._join(), opened(outputs))
        for (lang, view), results in self._scored(lines, Counter()):
            for row, result in enumerate(results):
                item = self.key.question(row)
                if result is not None and item.question_id in question_ids:
                    yield FoundItem(item, lang, view, lines[lang, view].said.get(row, ()), result)

    def _lines(self, join: Join, run: Run) -> tuple[dict[CellName, ItemLines], str | None]:
        """What a run says of the items of each cell, and the model that it names; refuses a cell that says nothing."""
        lines: dict[CellName, ItemLines] = defaultdict(ItemLines)
        model = None
        for prediction, row, cell in join(run):
            model = prediction.model or model
            here, output = lines[cell], None if prediction.failed else prediction.output
            if output is None and prediction.rotation == 0 and (prediction.failed or "null" in prediction.flaws):
                here.nothing[row] = "failed" if prediction.failed else "null"
            logprobs = None if prediction.logprobs is None else checked_logprobs(prediction.logprobs)
            letters = None if prediction.letters is None else checked_letters(prediction.letters)
            for wrong in (logprobs, letters):
                if isinstance(wrong, str):
                    join.note(wrong, prediction.place)
            here.said[row].append(
                Said(
                    output,
                    prediction.rotation,
                    None if isinstance(logprobs, str) else logprobs,
                    None if isinstance(letters, str) else letters,
                )
            )
        for (lang, view), here in lines.items():
            if not any(here.asked(None)):
                left_out = [problem_text(kind, join.counts[kind]) for kind in NOT_USED if join.counts[kind]]
                raise PredictionError(
                    f"{run_name(run)}: nothing of {lang}, {view} can be scored: {', '.join(['no output', *left_out])}."
                )
        return lines, model

    def _scored(
        self, lines: Mapping[CellName, ItemLines], problems: Counter[str]
    ) -> Iterator[tuple[CellName, Iterator[ItemOutcome | None]]]:
        """Of each cell all items in their order; None for one that is not complete in the language."""
        for (lang, view), here in lines.items():
            blind = lines.get((lang, View.BLIND)) if view is View.IMAGE else None
            yield (lang, view), self._results(lang, here, blind, problems)

    def _results(
        self, lang: str, here: ItemLines, blind: ItemLines | None, problems: Counter[str]
    ) -> Iterator[ItemOutcome | None]:
        asked = here.asked(blind)
        for row, item in enumerate(self.key.questions):
            question = item.questions.get(lang)
            if question is None:
                yield None
                continue
            said = here.said.get(row, [])
            without = blind.said.get(row, []) if blind is not None else []
            scored = score_item(
                question.options,
                item.answer,
                said,
                asked=asked,
                trap=item.trap,
                blind=next((each.logprobs for each in without if each.logprobs), None),
                protocol=self.protocol,
            )
            problems.update(scored.problems)
            if said:
                if asked.outputs and scored.reading is None and row not in here.nothing:
                    problems["no_output"] += 1
                if asked.logprobs and not any(each.logprobs for each in said):
                    problems["no_likelihoods"] += 1
            outcome = _outcome(scored, asked, bool(said), here.nothing.get(row))
            yield ItemOutcome(scored.scores, outcome, scored.reading.choice if scored.reading else None)

    def _keep(
        self, evidence: EvidenceWriter, run: str, model: str | None, row: int, cell: CellName,
        result: ItemOutcome, signature: str,
    ) -> None:  # fmt: skip
        item = self.key.question(row)
        choice = None if result.choice is None else LETTERS[result.choice]
        columns = (item.path, LETTERS[item.answer], result.outcome, choice)
        evidence.add(run, model, item.question_id, *cell, [(columns, result.scores)], signature)

    def _join(self) -> Join:
        return ItemJoin(self.key, self.task, self.options.lang, self._view)

    def _notes(self, run: Run, cells: Sequence[CellResult]) -> Iterator[str]:
        yield from super()._notes(run, cells)
        if any("rae" in cell.metrics and "lbs" in cell.metrics for cell in cells):
            yield (
                "RAE shows the model the options and LBS does not, so their difference is not one of confidence alone: "
                "questions that point at the options mean nothing without them."
            )
        for cell in cells:
            where = f"{cell.view.label}, {cell.variant}"
            if missing := cell.counts.get("missing", 0):
                one = f"of {cell.units} items has no output; it counts as wrong"
                many = f"of {cell.units} items have no output; they count as wrong"
                yield f"{where}: {counted(missing, one, many)}."


_CHOSEN_BY = ("output", "likelihood")


def _letter(choice: int | None) -> str:
    return "" if choice is None else LETTERS[choice]


_OUTCOMES = {
    ReadingKind.AMBIGUOUS: "ambiguous", ReadingKind.INVALID: "invalid", ReadingKind.REFUSED: "refused",
    ReadingKind.EMPTY: "empty",
}  # fmt: skip


def _outcome(scored: ScoredItem, asked: Asked, said: bool, nothing: str | None) -> str:
    """What became of an item, by its output; where no outputs were asked for, by its likelihoods."""
    if scored.reading is not None and (known := _OUTCOMES.get(scored.reading.kind)):
        return known
    scores = scored.scores
    right = scores.rae if asked.outputs else scores.lbs if asked.logprobs else scores.letter
    if not said or (asked.outputs and scored.reading is None):
        return nothing or "missing"
    return "right" if right == 1 else "wrong"
