"""From per-span scores to means with intervals: views on the tally, nothing is matched again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vcrgen.dataset.views import View
from vcrgen.scorer.groups import Group, group_spans
from vcrgen.scorer.records import METRICS
from vcrgen.scorer.results import CellResult, Difference, Estimate, GroupResult, Resamples
from vcrgen.scorer.tally import OUTCOMES, Cell, Tally
from vcrgen.stats.bootstrap import deviation, interval, resampled_means

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Floats

GROUP_METRICS = ("exact", "jaccard")  # the published two; the first columns of METRICS


def summarise(tally: Tally, *, seed: int) -> tuple[list[CellResult], dict[tuple[str, View], Resamples]]:
    """Means, standard deviations and intervals of every cell of a tally.

    Args:
        tally: Scores of all predictions.
        seed: Seed of the bootstrap.

    Returns:
        A result for each mode and view, easy before hard and stacked before TEI, and what comparisons need of each.
    """
    import numpy as np

    names = sorted(tally.cells, key=lambda cell: (cell[0], list(View).index(cell[1])))
    cells = [tally.cells[name] for name in names]
    groups = {cell.mode: group_spans(tally.key, tally.scorer, cell.mode) for cell in cells}
    # All cells share the resamples: drawing them is most of the work, and what makes differences paired.
    scores = np.hstack([cell.scores for cell in cells])
    by_span = resampled_means(scores, np.ones((len(scores), 1)), [0] * scores.shape[1], seed=seed, unit="span")
    tables = [_columns(cell, groups[cell.mode]) for cell in cells]
    sums = _per_image(tally, np.hstack([columns for columns, _, _ in tables]))
    counts = _per_image(tally, np.hstack([sizes for _, sizes, _ in tables]))
    kinds, before = [], 0
    for _, sizes, column in tables:
        kinds += [before + kind for kind in column]
        before += sizes.shape[1]
    by_image = resampled_means(sums, counts, kinds, seed=seed, unit="image")
    values = sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)[kinds]

    results, resamples, start, total = [], {}, 0, len(METRICS)
    for number, (name, cell) in enumerate(zip(names, cells, strict=True)):
        end = start + tables[number][0].shape[1]
        spans = by_span[:, number * total : (number + 1) * total]
        means = by_image[:, start:end]
        results.append(_cell_result(tally, cell, groups[cell.mode], values[start:end].tolist(), means, spans))
        resamples[name] = Resamples(means=means[:, :total], means_of_spans=spans, scores=cell.scores)
        start = end
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


def _columns(cell: Cell, groups: Sequence[Group]) -> tuple[Floats, Floats, list[int]]:
    """What is summed of a cell: all metrics over all spans, then two metrics over the spans of each group.

    Returns:
        Spans x columns of scores, spans x kinds of ones where a span counts, and each column's kind.
    """
    import numpy as np

    sizes = np.zeros((len(cell.scores), 1 + len(groups)))
    sizes[:, 0] = 1
    for number, group in enumerate(groups, start=1):
        sizes[group.spans, number] = 1
    width = len(GROUP_METRICS)
    parts = [cell.scores[:, :width] * sizes[:, number : number + 1] for number in range(1, 1 + len(groups))]
    kinds = [0] * len(METRICS) + [number for number in range(1, 1 + len(groups)) for _ in range(width)]
    return np.hstack([cell.scores, *parts]), sizes, kinds


def _cell_result(
    tally: Tally, cell: Cell, groups: Sequence[Group], values: Sequence[float], means: Floats, spans: Floats
) -> CellResult:
    import numpy as np

    total = len(METRICS)
    codes = np.bincount(cell.outcomes, minlength=len(OUTCOMES)).tolist()
    return CellResult(
        mode=cell.mode,
        view=cell.view,
        images=len(tally.key.questions),
        spans=len(cell.scores),
        metrics=_estimates(METRICS, values[:total], means[:, :total], spans),
        counts={name: cell.counts[name] for name in sorted(cell.counts)},
        outcomes={outcome.value: count for outcome, count in zip(OUTCOMES, codes, strict=True)},
        length_ratio=cell.length_ratio,
        groups=tuple(_group_results(groups, values[total:], means[:, total:])),
    )


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
