"""The first sentences of a page of scores: at most five, with what was found and what to do."""

from collections.abc import Iterator, Sequence

from vcrgen.core.plurals import pluralize
from vcrgen.report.table import percent
from vcrgen.scorer.citation import leading_metric
from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.results import CellResult, Estimate, RunResult
from vcrgen.stats.sign_flips import ALPHA

WIDE = 0.05  # of an interval, from which on more images are advised
_NO_OUTPUT = ("missing", "failed", "null", "empty")


def score_summary(results: Sequence[RunResult], comparisons: Sequence[Comparison], notes: int) -> Iterator[str]:
    """Yield the sentences on results of one signature, below whose figures so many notes stand."""
    yield _scores(results)
    if comparisons:
        yield _comparisons(comparisons)
    lacking = [_without_output(cell) for result in results for cell in result.cells]
    if any(lacking):
        task, units = results[0].task, sum(cell.units for result in results for cell in result.cells)
        yield (
            f"Ask again for what has no output (missing, failed, null or empty): {sum(lacking):,} of {units:,} "
            f"{task.units} count as wrong for that alone."
        )
    yield _precision(results)
    if notes:
        yield f"Read the {pluralize(notes, 'note')} below before you publish."


def _first(result: RunResult) -> tuple[CellResult, Estimate]:
    cell = result.cells[0]
    return cell, cell.metrics[leading_metric(result.task, cell)]


def _scores(results: Sequence[RunResult]) -> str:
    """A sentence on the first cell of each run, and how many more there are."""
    task, cell = results[0].task, results[0].cells[0]
    label = task.metrics[leading_metric(task, cell)].label
    where = cell.view.label if cell.variant == UNSTATED else f"{cell.variant}, {cell.view.label}"
    same = [
        result for result in results if (result.cells[0].variant, result.cells[0].view) == (cell.variant, cell.view)
    ]
    ranked = sorted(same, key=lambda result: -_first(result)[1].value)
    if len(ranked) == 1:
        estimate = _first(ranked[0])[1]
        sentence = f"{label} of {ranked[0].title} is {_interval(estimate)} in {where}"
        chance = cell.chance_of(task)
        if chance is not None and estimate.low <= chance:
            sentence += f", not shown to be above chance ({percent(chance)} %)"
    else:
        ends = (
            f"{result.title} is {place} with {_interval(_first(result)[1])}"
            for result, place in zip((ranked[0], ranked[-1]), ("first", "last"), strict=True)
        )
        sentence = f"{label} of {len(ranked)} runs in {where}: {' and '.join(ends)}"
    more = sum(len(result.cells) for result in results) - len(ranked)
    return f"{sentence}; the figures have {pluralize(more, 'more value')}." if more else f"{sentence}."


def _comparisons(comparisons: Sequence[Comparison]) -> str:
    if len(comparisons) == 1:
        return comparisons[0].conclusion
    apart = sum(comparison.p_corrected < ALPHA for comparison in comparisons)
    sentence = f"{apart} of {len(comparisons)} comparisons are significant after correction for their number"
    return f"{sentence}." if apart == len(comparisons) else f"{sentence}: do not rank the others by these scores."


def _without_output(cell: CellResult) -> int:
    return sum(cell.outcomes.get(kind, 0) for kind in _NO_OUTPUT)


def _precision(results: Sequence[RunResult]) -> str:
    """A sentence on the widest interval of a first cell."""
    task = results[0].task
    cell, estimate = max((_first(result) for result in results), key=lambda first: first[1].high - first[1].low)
    width = estimate.high - estimate.low
    measured = f"with {pluralize(cell.clusters, task.cluster)} the interval is {100 * width:.1f} points wide"
    if width >= WIDE:
        return f"Take more {task.clusters} to say more: {measured}."
    return f"{measured.capitalize()}, so smaller differences are not shown."


def _interval(estimate: Estimate) -> str:
    return f"{percent(estimate.value)} % (95 % interval {percent(estimate.low)} to {percent(estimate.high)})"
