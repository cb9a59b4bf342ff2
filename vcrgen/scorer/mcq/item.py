"""Scores of one item of an MCQ benchmark, from all responses of a model in one language and view."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vcrgen.scorer.mcq.choices import RULES, Reading, read_choice
from vcrgen.scorer.mcq.likelihood import OTHER_COUNTS, TIED, Logprobs, likeliest, likelihood_scores, same_counts

NAN = math.nan


class ItemScores(NamedTuple):
    """The metrics of one item, each 0 or 1 but for the last two; NaN where it was not requested.

    ``docs/bloom-scores.md`` says what each is. Reports, JSON and evidence have them under these names, in this order.
    """

    rae: float = NAN  # regex-based answer extraction: the option read in the output is right
    circular: float = NAN  # it is right in all orders of the options, as many as there are options
    trap: float = NAN  # of a wrong option: whether it is the trap
    lbs: float = NAN  # likelihood-based scoring
    lbs_sum: float = NAN
    lbs_byte: float = NAN
    lbs_char: float = NAN
    lbs_pmi: float = NAN
    letter: float = NAN  # the likeliest label is the right one's
    confidence: float = NAN
    brier: float = NAN


class RequestedMetrics(NamedTuple):
    """The inputs of metrics that some item of a cell has; of an item that lacks one it is missing, which is wrong."""

    outputs: bool = False
    rotations: bool = False  # outputs in other orders than the dataset's
    logprobs: bool = False
    text_only: bool = False  # log-probabilities without the picture
    label_logprobs: bool = False


class ItemResponse(NamedTuple):
    """The response of a model to one item in one order of its options."""

    output: str | None = None
    rotation: int = 0  # of the options, 0 to 3
    logprobs: Logprobs | None = None  # as `parse_logprobs` gives them
    label_logprobs: tuple[float, ...] | None = None  # as `parse_label_logprobs` gives them, in the dataset's order


class ScoredItem(NamedTuple):
    """The scores of an item, and how its output was read."""

    scores: ItemScores
    reading: Reading | None  # of the output in the dataset's order of options; None where there is none
    problems: tuple[str, ...]  # by the names of `likelihood.py`


def score_item(
    options: Sequence[str],
    answer: int,
    responses: Sequence[ItemResponse],
    *,
    requested: RequestedMetrics,
    trap: int | None = None,
    text_only: Logprobs | None = None,
    protocol: str = RULES,
    judged: Mapping[int, Reading] | None = None,
) -> ScoredItem:
    """Score an item.

    Args:
        options: The texts of the options in the dataset's order.
        answer: Number of the right one, from 0.
        responses: The responses in this language and view, at most one for each rotation.
        requested: The metrics of the cell; the others are NaN.
        trap: Number of the option that is the trap; None where the item has none.
        text_only: Log-probabilities of the options in the view without the picture.
        protocol: As of `read_choice`.
        judged: By rotation, the readings of a judge, which take the place of those by the protocol.
    """
    readings = {
        response.rotation: read_choice(response.output, options, rotation=response.rotation, protocol=protocol)
        for response in responses
        if response.output is not None
    } | dict(judged or {})
    scores: dict[str, float] = {}
    reading = readings.get(0)
    choice = reading.choice if reading else None
    if requested.outputs:
        scores["rae"] = float(choice == answer)
        if choice not in (None, answer) and trap is not None:
            scores["trap"] = float(choice == trap)
    if requested.rotations:
        scores["circular"] = float(sum(reading.choice == answer for reading in readings.values()) == len(options))
    problems: list[str] = []
    if requested.logprobs:
        scores |= _likelihoods(options, answer, responses, text_only, requested, problems)
    if requested.label_logprobs:
        labels = next(
            (response.label_logprobs for response in responses if response.label_logprobs and response.rotation == 0),
            None,
        )
        scores["letter"] = float(labels is not None and likeliest(labels) == answer)
    return ScoredItem(ItemScores(**scores), reading, tuple(problems))


def _likelihoods(
    options: Sequence[str],
    answer: int,
    responses: Sequence[ItemResponse],
    text_only: Logprobs | None,
    requested: RequestedMetrics,
    problems: list[str],
) -> Mapping[str, float]:
    """The scores by likelihood; 0 where the log-probabilities are missing or contradict one another."""
    scores = dict.fromkeys(("lbs", "lbs_sum", "lbs_byte", "lbs_char"), 0.0)
    if requested.text_only:
        scores["lbs_pmi"] = 0.0
    several = [response.logprobs for response in responses if response.logprobs is not None]
    if not same_counts([*several, *([text_only] if text_only else [])]):
        problems.append(OTHER_COUNTS)
    elif several:
        likelihoods = likelihood_scores(several[0], answer=answer, texts=options, text_only=text_only)
        scores |= likelihoods.scores
        if likelihoods.tied:
            problems.append(TIED)
    return scores
