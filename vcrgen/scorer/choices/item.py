"""The scores of one item of a question set, from all that a model said of it in one language and view."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vcrgen.scorer.choices.grammar import GRAMMAR, Reading, read_choice
from vcrgen.scorer.choices.likelihood import OTHER_COUNTS, TIED, Logprobs, likeliest, likelihood_scores, same_counts
from vcrgen.tasks.bloom import LETTERS

NAN = math.nan


class ItemScores(NamedTuple):
    """The metrics of one item, each 0 or 1 but for the last two; NaN where nobody asked for it.

    ``docs/bloom-scores.md`` says what each is. Reports, JSON and evidence have them under these names, in this order.
    """

    rae: float = NAN  # the option read in the output is right
    circular: float = NAN  # it is right in all four orders of the options
    trap: float = NAN  # of a wrong option: whether it is the trap
    lbs: float = NAN
    lbs_sum: float = NAN
    lbs_byte: float = NAN
    lbs_char: float = NAN
    lbs_pmi: float = NAN
    letter: float = NAN  # the likeliest label is the right one's
    confidence: float = NAN
    brier: float = NAN


class Asked(NamedTuple):
    """What a model was asked of a whole cell. Of an item that lacks it, it is missing, which is wrong."""

    outputs: bool = False
    rotations: bool = False  # outputs in other orders than the dataset's
    logprobs: bool = False
    blind: bool = False  # log-probabilities without the picture
    letters: bool = False


class Said(NamedTuple):
    """What a model said of one item in one order of its options."""

    output: str | None = None
    rotation: int = 0  # of the options, 0 to 3
    logprobs: Logprobs | None = None  # as `checked_logprobs` gives them
    letters: tuple[float, ...] | None = None  # as `checked_letters` gives them, in the dataset's order


class ScoredItem(NamedTuple):
    """What became of an item."""

    scores: ItemScores
    reading: Reading | None  # of the output in the dataset's order of options; None where there is none
    problems: tuple[str, ...]  # by the names of `likelihood.py`


def score_item(
    options: Sequence[str],
    answer: int,
    said: Sequence[Said],
    *,
    asked: Asked,
    trap: int | None = None,
    blind: Logprobs | None = None,
    protocol: str = GRAMMAR,
) -> ScoredItem:
    """Score an item.

    Args:
        options: The texts of the four options in the dataset's order.
        answer: Number of the right one, from 0.
        said: What the model said in this language and view, at most once for each rotation.
        asked: What it was asked of the other items of the cell. The scores of what nobody asked for are NaN.
        trap: Number of the option that is the trap; None where the item has none.
        blind: Log-probabilities of the options in the view without the picture.
        protocol: As of :func:`vcrgen.scorer.choices.grammar.read_choice`.
    """
    readings = {
        each.rotation: read_choice(each.output, options, rotation=each.rotation, protocol=protocol)
        for each in said
        if each.output is not None
    }
    found: dict[str, float] = {}
    reading = readings.get(0)
    choice = reading.choice if reading else None
    if asked.outputs:
        found["rae"] = float(choice == answer)
        if choice not in (None, answer) and trap is not None:
            found["trap"] = float(choice == trap)
    if asked.rotations:
        found["circular"] = float(sum(each.choice == answer for each in readings.values()) == len(LETTERS))
    problems: list[str] = []
    if asked.logprobs:
        found |= _likelihoods(options, answer, said, blind, asked, problems)
    if asked.letters:
        letters = next((each.letters for each in said if each.letters and each.rotation == 0), None)
        found["letter"] = float(letters is not None and likeliest(letters) == answer)
    return ScoredItem(ItemScores(**found), reading, tuple(problems))


def _likelihoods(
    options: Sequence[str],
    answer: int,
    said: Sequence[Said],
    blind: Logprobs | None,
    asked: Asked,
    problems: list[str],
) -> Mapping[str, float]:
    """The scores by likelihood; 0 where the log-probabilities are missing or contradict one another."""
    found = dict.fromkeys(("lbs", "lbs_sum", "lbs_byte", "lbs_char"), 0.0)
    if asked.blind:
        found["lbs_pmi"] = 0.0
    several = [each.logprobs for each in said if each.logprobs is not None]
    if not same_counts([*several, *([blind] if blind else [])]):
        problems.append(OTHER_COUNTS)
    elif several:
        likelihoods = likelihood_scores(several[0], answer=answer, texts=options, blind=blind)
        found |= likelihoods.scores
        if likelihoods.tied:
            problems.append(TIED)
    return found
