"""Shares of recovered spans with intervals, and differences with tests; bootstraps are clustered by image."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

import numpy as np

from vcrgen.contamination.outputs import Cell, ModelOutputs, SpanResults
from vcrgen.contamination.records import Contrast, RecoveredShare, UnguessedShare
from vcrgen.dataset.views import View
from vcrgen.scorer.results import Estimate
from vcrgen.stats.arrays import Floats
from vcrgen.stats.bootstrap import BootstrapMean, StoredGroupSums, bootstrap_means, group_means
from vcrgen.stats.intervals import difference_interval, difference_p, sd_and_intervals
from vcrgen.stats.paired import paired_difference

Spans = Set[tuple[str, int]]
"""Spans of a dataset: the id of the question, and the number of the span in it."""


class _Column(NamedTuple):
    """The exact match on some spans of the same images, with its bootstrap."""

    exact: Estimate
    spans: int
    images: int  # that have one of these spans
    resampled: BootstrapMean


def recovered_share(outputs: ModelOutputs, cell: Cell, *, seed: int) -> RecoveredShare:
    """The exact match on all spans of a mode and view."""
    (column,) = _columns([list(outputs.cells[cell].values())], seed)
    return _share(outputs, cell, column)


def guessed_spans(runs: Sequence[ModelOutputs], cell: Cell) -> Spans:
    """The spans that at least one run recovered in a mode and view."""
    return {
        (question_id, number)
        for run in runs
        for question_id, results in run.cells[cell].items()
        for number, result in enumerate(results)
        if result.exact
    }


def unguessed_share(
    outputs: ModelOutputs, cell: Cell, known: Set[str], guessed: Spans, *, seed: int
) -> UnguessedShare | None:
    """The exact match in a view on the questions that are ``known``, on all spans and on those that were not guessed.

    None where there is no such question, or nothing that was not guessed.
    """
    answered = {question_id: results for question_id, results in outputs.cells[cell].items() if question_id in known}
    left = [
        tuple(result for number, result in enumerate(results) if (question_id, number) not in guessed)
        for question_id, results in answered.items()
    ]
    if not any(left):
        return None
    every, unguessed = _columns([list(answered.values()), left], seed)
    return UnguessedShare(all=_share(outputs, cell, every), unguessed=_share(outputs, cell, unguessed))


def unpaired_contrast(ours: ModelOutputs, theirs: ModelOutputs, cell: Cell, *, seed: int) -> Contrast:
    """The set against other pairs, in a mode and view that both have."""
    a, b = (recovered_share(each, cell, seed=seed) for each in (ours, theirs))
    low, high = difference_interval(a.exact, b.exact)
    value = a.exact.value - b.exact.value
    p = difference_p(value, low, high)
    return Contrast(ours=a, theirs=b, value=value, low=low, high=high, p=p, p_holm=p)


def paired_contrast(ours: ModelOutputs, theirs: ModelOutputs, cell: Cell, *, seed: int) -> Contrast | None:
    """The spans of the set against other spans of the same images, in a mode and view that both have.

    A text that both datasets cover in an image says nothing of either, and is left out of both. None where the two have
    no image in common, or nothing is left.
    """
    pairs = [
        (_without(results, others), _without(others, results))
        for question_id, results in ours.cells[cell].items()
        if (others := theirs.cells[cell].get(question_id)) is not None
    ]
    pairs = [pair for pair in pairs if any(pair)]
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if not any(first) or not any(second):
        return None
    a, b = _columns([first, second], seed)
    value, _, low, high, p = paired_difference(a.resampled, b.resampled)
    shares = _share(ours, cell, a), _share(theirs, cell, b)
    return Contrast(ours=shares[0], theirs=shares[1], value=value, low=low, high=high, p=p, p_holm=p)


def _without(results: SpanResults, others: SpanResults) -> SpanResults:
    texts = {result.answer for result in others}
    return tuple(result for result in results if result.answer not in texts)


def _columns(columns: Sequence[Sequence[SpanResults]], seed: int) -> list[_Column]:
    """Shares of several columns of spans, each of them image by image in one order; one image counts as one."""

    def table(count: bool) -> Floats:
        rows = (
            [len(results) if count else sum(result.exact for result in results) for results in column]
            for column in columns
        )
        return np.array(list(rows), dtype=np.float64).T

    sums, counts = table(False), table(True)
    groups = StoredGroupSums(sums, counts, range(len(columns)))
    means, inside = group_means(groups)
    drawn = bootstrap_means(groups, seed=seed, unit="image")
    return [
        _Column(
            exact=Estimate(value=float(mean), sd_units=None, sd_clusters=spread.sd, low=spread.low, high=spread.high),
            spans=int(counts[:, number].sum()),
            images=int(images),
            resampled=BootstrapMean(len(groups), float(mean), drawn[:, number]),
        )
        for number, (mean, images, spread) in enumerate(
            zip(means, inside, sd_and_intervals(means, drawn, inside), strict=True)
        )
    ]


def _share(outputs: ModelOutputs, cell: Cell, column: _Column) -> RecoveredShare:
    mode, view = cell
    return RecoveredShare(
        data=outputs.data, mode=mode, view=view, spans=column.spans, images=column.images, exact=column.exact
    )


def text_only_cell(outputs: ModelOutputs) -> Cell | None:
    """The mode and view of the outputs without an image, if there are any."""
    return next((cell for cell in outputs.cells if cell[1] is View.TEXT_ONLY), None)
