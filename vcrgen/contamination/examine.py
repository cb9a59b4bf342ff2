"""All contamination tests of one model: on the set, on fresh pairs, on other spans, and for the canary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from vcrgen.config.score import ScoreOptions
from vcrgen.contamination.evidence import (
    guessed_spans,
    paired_contrast,
    recovered_share,
    text_only_cell,
    unguessed_share,
    unpaired_contrast,
)
from vcrgen.contamination.outputs import Cell, ModelOutputs, read_outputs
from vcrgen.contamination.records import CanaryOutcome, CanaryReply, ContaminationReport, Contrast, UnguessedShare
from vcrgen.dataset.canary import canary_questions, read_canary, repeats_canary
from vcrgen.dataset.reader import open_dataset
from vcrgen.dataset.views import View
from vcrgen.errors import PredictionError
from vcrgen.plurals import pluralize
from vcrgen.reading import encodable
from vcrgen.scorer.predictions import receive
from vcrgen.stats.paired import holm
from vcrgen.tasks.vcr import VCR
from vcrgen.work.folder import differences

Pairs = Sequence[tuple[Path, Path]]
"""Files of outputs, each with the dataset that it is about."""
# Facts in which comparable datasets may differ: the spans, and what is scored apart anyway.
_MAY_DIFFER = {"vcrgen", "seed", "mode", "cover"}


def examine(
    files: Sequence[Path],
    data: Path | None,
    *,
    against: Pairs = (),
    redraw: Pairs = (),
    guesses: Sequence[Path] = (),
    canary: Pairs = (),
    options: ScoreOptions | None = None,
) -> ContaminationReport:
    """Look for signs that a model had seen a set.

    Args:
        files: Outputs of the model on the set; several if they are of several views.
        data: The set, or None to look for a canary only.
        against: Outputs of the same model on fresh pairs, each with its dataset.
        redraw: Outputs of the same model on datasets of the same pairs with other spans.
        guesses: Outputs of other models on the set, without images.
        canary: Replies of the model to the questions for a canary, each with the public part that has it.
        options: How outputs are scored.

    Raises:
        VcrgenError: Something cannot be read, does not fit, or nothing is asked for.
    """
    options = options or ScoreOptions()
    if bool(files) != (data is not None):
        raise PredictionError("Give a file of outputs and, with --data, the dataset that they are about.")
    if data is None and (against or redraw or guesses):
        raise PredictionError(
            "--against, --redraw and --guesses need outputs on the set to compare with: give them first, with --data."
        )
    if data is None and not canary:
        raise PredictionError("Nothing is asked for: give a file of outputs with --data, or --canary FILE=PUBLIC.")
    asked, named = [], dict[str, str]()
    for file, public in canary:
        replies, model = _canary_replies(file, public)
        asked += replies
        if model:
            named[encodable(str(file))] = model
    if data is None:
        report = ContaminationReport(model="", data="", signature="")
        first = encodable(str(canary[0][0]))
    else:
        ours = read_outputs(files, data, options)
        fresh, redrawn = ([read_outputs(*pair, options) for pair in _by_data(pairs)] for pairs in (against, redraw))
        named = {each.place: each.model for each in (ours, *fresh, *redrawn) if each.model} | named
        guessers = [read_outputs([file], data, options) for file in guesses]
        report, first = _report(ours, fresh, redrawn, guessers, options.seed), ours.place
    models = set(named.values())
    if len(models) > 1:
        told = ", ".join(f"{model!r} ({place})" for place, model in named.items())
        raise PredictionError(f"These are outputs of several models: {told}. Give those of one model.")
    return replace(report, model=next(iter(models), first), canary=tuple(asked))


def _by_data(pairs: Pairs) -> Iterator[tuple[list[Path], Path]]:
    """The files of each dataset together."""
    by_data: dict[Path, list[Path]] = {}
    for file, data in pairs:
        by_data.setdefault(data, []).append(file)
    return ((files, data) for data, files in by_data.items())


def _report(
    ours: ModelOutputs,
    fresh: Sequence[ModelOutputs],
    redrawn: Sequence[ModelOutputs],
    guessers: Sequence[ModelOutputs],
    seed: int,
) -> ContaminationReport:
    for other in (*fresh, *redrawn):
        if other.language != ours.language:
            raise PredictionError(f"{ours.data} is of language {ours.language!r}, {other.data} of {other.language!r}.")
    for run in guessers:
        if text_only_cell(run) is None:
            raise PredictionError(
                f"{run.place} holds no outputs of the view 'text-only', so --guesses learns nothing of it."
            )
    fresh = [_not_in(ours, other) for other in fresh]
    every = (ours, *fresh, *redrawn)
    against_fresh = [
        unpaired_contrast(ours, other, cell, seed=seed) for other in fresh for cell in _common(ours, other)
    ]
    against_redrawn = [each for other in redrawn for each in _paired(ours, other, seed)]
    corrected = _corrected([*against_fresh, *against_redrawn])
    return ContaminationReport(
        model="",
        data=ours.data,
        signature=ours.signature,
        guessed=tuple(
            recovered_share(each, cell, seed=seed)
            for each in (ours, *fresh)
            if (cell := text_only_cell(each)) is not None
        ),
        unguessed=tuple(_unguessed(ours, guessers, seed)),
        fresh=corrected[: len(against_fresh)],
        redrawn=corrected[len(against_fresh) :],
        notes=tuple(
            [note for each in (*every, *guessers) for note in each.notes]
            + [note for each in (*fresh, *redrawn) for note in _differences(ours, each)]
        ),
    )


def _not_in(ours: ModelOutputs, theirs: ModelOutputs) -> ModelOutputs:
    """The outputs on fresh pairs without those on pairs that the set has, too."""
    ids = {question_id for cell in ours.cells.values() for question_id in cell}
    seen = {question_id for cell in theirs.cells.values() for question_id in cell}
    if not (common := ids & seen):
        return theirs
    if common == seen:
        raise PredictionError(f"{theirs.data} has no pair that is not in {ours.data}; give --against fresh pairs.")
    cells = {
        cell: {question_id: results for question_id, results in answered.items() if question_id not in common}
        for cell, answered in theirs.cells.items()
    }
    note = f"{theirs.data}: {pluralize(len(common), 'pair is', 'pairs are')} in {ours.data}, too (left out)."
    return replace(theirs, cells={cell: left for cell, left in cells.items() if left}, notes=(*theirs.notes, note))


def _unguessed(ours: ModelOutputs, guessers: Sequence[ModelOutputs], seed: int) -> Iterator[UnguessedShare]:
    """Every view with an image, on the spans that no text-only run recovered."""
    runs = [run for run in (ours, *guessers) if text_only_cell(run) is not None]
    if not runs:
        return
    text = text_only_cell(runs[0])
    assert text is not None
    known = set.intersection(*(set(run.cells[text]) for run in runs))
    guessed = guessed_spans(runs, text)
    for cell in _ordered(ours.cells):
        if cell[1] is not View.TEXT_ONLY and (found := unguessed_share(ours, cell, known, guessed, seed=seed)):
            yield found


def _common(ours: ModelOutputs, theirs: ModelOutputs) -> list[Cell]:
    """The modes and views that both have outputs of."""
    cells = [cell for cell in _ordered(ours.cells) if cell in theirs.cells]
    if not cells:
        raise PredictionError(f"{ours.place} and {theirs.place} have no mode and view in common to compare.")
    return cells


def _paired(ours: ModelOutputs, theirs: ModelOutputs, seed: int) -> Iterator[Contrast]:
    cells = _common(ours, theirs)
    if not any(set(ours.cells[cell]) & set(theirs.cells[cell]) for cell in cells):
        raise PredictionError(
            f"{theirs.data} has no image of {ours.data} with an output; build it of the same source with the same "
            "options, another --seed, and the set's seed as --split-seed."
        )
    found = [contrast for cell in cells if (contrast := paired_contrast(ours, theirs, cell, seed=seed))]
    if not found:
        raise PredictionError(f"{theirs.data} covers the same spans as {ours.data}; build it with another --seed.")
    return iter(found)


def _ordered(cells: Mapping[Cell, object]) -> list[Cell]:
    """Without an image first, then by mode and view."""
    return sorted(cells, key=lambda cell: (cell[1] is not View.TEXT_ONLY, cell[0], list(View).index(cell[1])))


def _corrected(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """The contrasts with p-values for their number."""
    p_values = holm([each.p for each in contrasts])
    return tuple(replace(each, p_holm=p) for each, p in zip(contrasts, p_values, strict=True))


def _differences(ours: ModelOutputs, theirs: ModelOutputs) -> Iterator[str]:
    """Differences in building or prompting, which may make spans easier or harder."""
    for what, done, here, there in (
        (f"{ours.data} and {theirs.data}", "built", ours.built, theirs.built),
        (f"{ours.place} and {theirs.place}", "asked for", ours.asked, theirs.asked),
    ):
        facts = [{name: value for name, value in each.items() if name not in _MAY_DIFFER} for each in (there, here)]
        if all(facts) and (parts := differences(*facts)):
            yield f"{what} were not {done} alike ({parts}): a difference may come from that."


def _canary_replies(file: Path, public: Path) -> tuple[list[CanaryReply], str | None]:
    """Read the replies to the questions for a canary, and the model that the file names."""
    digits = read_canary(open_dataset(public, VCR))
    model, texts = None, dict[str, str]()
    for prediction in receive(file):
        model = model or prediction.model
        if prediction.question_id is not None and prediction.output is not None and not prediction.failed:
            texts.setdefault(prediction.question_id, prediction.output)
    questions = list(canary_questions(digits))
    if not any(question.way in texts for question in questions):
        ways = ", ".join(question.way for question in questions)
        raise PredictionError(
            f"{file} holds no reply to a question for a canary: none of its lines has a `question_id` of {ways}, as "
            "those that `vcrgen predict --canary` writes."
        )
    replies = []
    for way, _, shown in questions:
        back = CanaryOutcome.REPEATED if repeats_canary(texts.get(way, ""), digits, shown) else CanaryOutcome.SILENT
        outcome = back if way in texts else CanaryOutcome.NO_REPLY
        replies.append(CanaryReply(data=encodable(str(public)), way=way, outcome=outcome))
    return replies, model
