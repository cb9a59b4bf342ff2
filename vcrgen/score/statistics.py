"""From per-span scores to means with intervals: views on the tally, nothing is matched again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vcrgen.score.bootstrap import deviation, interval, resampled_means
from vcrgen.score.groups import Group, group_spans
from vcrgen.score.records import METRICS, View
from vcrgen.score.results import CellResult, Difference, Estimate, GroupResult, Resamples
from vcrgen.score.tally import OUTCOMES, Cell, Tally

if TYPE_CHECKING:
    from vcrgen.score.arrays import Floats

GROUP_METRICS = ("exact", "jaccard")  # the published two; the first columns of METRICS


def summarise(tally: Tally, *, seed: int) -> tuple[list[CellResult], dict[tuple[str, View], Resamples]]:
    """Means, standard deviations and intervals of every cell of a tally.

    Args:
        tally: Scores of all predictions.
        seed: Seed of the bootstrap.

    Returns:
        A result for each mode and view, easy before hard and stacked before TEI, and what comparisons need of each.
    """
    results, resamples = [], {}
    groups: dict[str, list[Group]] = {}
    for name in sorted(tally.cells, key=lambda cell: (cell[0], list(View).index(cell[1]))):
        cell = tally.cells[name]
        if cell.mode not in groups:
            groups[cell.mode] = group_spans(tally.key, tally.scorer, cell.mode)
        result, means, by_span = _summarise_cell(tally, cell, groups[cell.mode], seed)
        results.append(result)
        resamples[name] = Resamples(means=means, means_of_spans=by_span, scores=cell.scores)
    return results, resamples


def view_differences(
    cells: Sequence[CellResult], resamples: dict[tuple[str, View], Resamples]
) -> tuple[Difference, ...]:
    """VI+TEI minus TEI for every mode that has both; paired, because both were resampled alike."""
    by_name = {(cell.mode, cell.view): cell for cell in cells}
    differences = []
    for cell in cells:
        if cell.view is View.STACKED and (tei := by_name.get((cell.mode, View.TEI))):
            name, other = (cell.mode, cell.view), (tei.mode, tei.view)
            metrics = difference_of_means(cell, tei, resamples[name], resamples[other])
            differences.append(Difference(mode=cell.mode, metrics=metrics))
    return tuple(differences)


def difference_of_means(a: CellResult, b: CellResult, of_a: Resamples, of_b: Resamples) -> dict[str, Estimate]:
    """The difference of two cells on the same questions, metric by metric."""
    values = [a.metrics[name].value - b.metrics[name].value for name in METRICS]
    return _estimates(METRICS, values, of_a.means - of_b.means, of_a.means_of_spans - of_b.means_of_spans)


def _summarise_cell(tally: Tally, cell: Cell, groups: Sequence[Group], seed: int) -> tuple[CellResult, Floats, Floats]:
    import numpy as np

    ones = np.ones_like(cell.scores[:, :1])
    by_span = resampled_means(cell.scores, np.broadcast_to(ones, cell.scores.shape), seed=seed, unit="span")
    # Columns: all metrics over all spans, then two metrics over the spans of each group.
    columns, counts = [cell.scores], [np.broadcast_to(ones, cell.scores.shape)]
    for group in groups:
        inside = np.zeros((len(cell.scores), 1))
        inside[group.spans] = 1
        columns.append(cell.scores[:, : len(GROUP_METRICS)] * inside)
        counts.append(np.broadcast_to(inside, columns[-1].shape))
    sums, sizes = _per_image(tally, np.hstack(columns)), _per_image(tally, np.hstack(counts))
    means = resampled_means(sums, sizes, seed=seed, unit="image")
    values = (sums.sum(axis=0) / np.maximum(sizes.sum(axis=0), 1)).tolist()
    total = len(METRICS)
    result = CellResult(
        mode=cell.mode,
        view=cell.view,
        images=len(tally.key.questions),
        spans=len(cell.scores),
        metrics=_estimates(METRICS, values[:total], means[:, :total], by_span),
        counts={name: cell.counts[name] for name in sorted(cell.counts)},
        outcomes={
            outcome.value: int(count)
            for outcome, count in zip(OUTCOMES, np.bincount(cell.outcomes, minlength=len(OUTCOMES)), strict=True)
        },
        length_ratio=cell.length_ratio,
        groups=tuple(_group_results(groups, values[total:], means[:, total:])),
    )
    return result, means[:, :total], by_span


def _group_results(groups: Sequence[Group], values: Sequence[float], means: Floats) -> list[GroupResult]:
    width = len(GROUP_METRICS)
    results = []
    for number, group in enumerate(groups):
        part = slice(number * width, (number + 1) * width)
        metrics = _estimates(GROUP_METRICS, values[part], means[:, part])
        results.append(GroupResult(by=group.by, label=group.label, spans=len(group.spans), metrics=metrics))
    return results


def _per_image(tally: Tally, values: Floats) -> Floats:
    """Column sums over the spans of each question."""
    import numpy as np

    totals = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    sums: Floats = totals[tally.starts[1:]] - totals[tally.starts[:-1]]
    return sums


def _estimates(
    names: Sequence[str], values: Sequence[float], means: Floats, by_span: Floats | None = None
) -> dict[str, Estimate]:
    low, high = interval(means)
    by_image = deviation(means)
    spans = deviation(by_span) if by_span is not None else None
    return {
        name: Estimate(
            value=float(values[i]),
            sd_spans=float(spans[i]) if spans is not None else None,
            sd_images=float(by_image[i]),
            low=float(low[i]),
            high=float(high[i]),
        )
        for i, name in enumerate(names)
    }
