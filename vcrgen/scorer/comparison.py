"""Runs on the same questions, pair by pair: paired bootstrap, sign flips, McNemar's test, and a conclusion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from vcrgen.core.errors import ScoreError
from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.task import ScoredTask
from vcrgen.data.views import View
from vcrgen.report.table import MINUS, percent
from vcrgen.scorer.results import CellResult, Estimate, Resamples, RunResult, require_one_signature
from vcrgen.scorer.statistics import differences
from vcrgen.stats.arrays import Floats
from vcrgen.stats.intervals import Bounded
from vcrgen.stats.paired import discordant, mcnemar
from vcrgen.stats.sign_flips import ALPHA, FlipTests, flipped_sums

_VERB = {True: "leaves out", False: "includes"}
_ANY_VIEW = "; outputs of the template baseline are compared in any view by vcrgen score --pixels FILE"
MAX_CONCLUSIONS = 12  # comparisons that each have a sentence of a report; of more, the table and JSON have all


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Run A minus run B in one cell; the tests are of the metric that ranks, such as exact match."""

    a: str
    b: str
    variant: str
    view: View
    metrics: Mapping[str, Estimate]  # differences with intervals; clusters are resampled, the same for both
    only_a: int  # units that only A has right
    only_b: int  # units that only B has right
    p_mcnemar: float  # exact two-sided p-value of McNemar's test on those; it takes units as independent
    p_clusters: float  # two-sided p-value of sign flips of clusters
    p_corrected: float  # the same, corrected by max-t for all comparisons that were made at once
    conclusion: str  # a plain sentence


def compare(results: Sequence[RunResult], *, in_pairs: bool = True) -> list[Comparison]:
    """Compare runs of one signature, in every cell that two of them have.

    A run from the pixels alone (the template baseline) is what every other run is compared with. It sees the strip
    only, so its one view of a mode is compared with each view with an image. What a run has beyond it is the worth of
    reading in context.

    Args:
        results: Two runs or more.
        in_pairs: Compare every pair of the other runs, too.

    Raises:
        ScoreError: There are fewer runs, or two of them have no cell in common.
    """
    if len(results) < 2:
        raise ScoreError("A comparison needs two runs or more; name another file.")
    require_one_signature(results)
    runs = [result for result in results if not result.from_pixels]
    flips = _SignFlips()
    comparisons = [
        comparison for a, b in combinations(runs if in_pairs else [], 2) for comparison in _compare_runs(a, b, flips)
    ]
    for baseline in results:
        if baseline.from_pixels:
            comparisons += _compare_with_pixels(runs, baseline, flips)
    return _corrected(comparisons, flips.tests.corrected())


class _SignFlips:
    """Tests of runs by sign flips; the scores of each cell are summed and flipped once."""

    def __init__(self) -> None:
        self.tests = FlipTests()
        self._sums: dict[tuple[int, str], Floats] = {}  # by the identity of the cell's resamples, and metric

    def p_value(self, a: Resamples, b: Resamples, metric: str) -> float:
        """The p-value of the difference of two cells in a metric, over the units that have it in both."""
        first, second = a.scores[metric], b.scores[metric]
        if np.array_equal(np.isnan(first), np.isnan(second)):
            return self.tests.p_value(self._flipped(a, metric) - self._flipped(b, metric))
        return self.tests.p_value(_flip(a, first - second))

    def _flipped(self, cell: Resamples, metric: str) -> Floats:
        key = id(cell), metric
        if key not in self._sums:
            self._sums[key] = _flip(cell, cell.scores[metric])
        return self._sums[key]


def _flip(cell: Resamples, scores: Floats) -> Floats:
    sums, _ = cell.per_cluster(scores)
    flipped: Floats = flipped_sums(sums[:, None], seed=cell.seed, unit=cell.cluster)[0]
    return flipped


def _compare_runs(a: RunResult, b: RunResult, flips: _SignFlips) -> list[Comparison]:
    cells = {(cell.variant, cell.view): cell for cell in b.cells}
    common = [cell for cell in a.cells if leading_metric(a.task, cell, cells.get((cell.variant, cell.view)))]
    if not common:
        raise nothing_common(a, b)
    return [_compare_cells(a, b, cell, cell.view, flips) for cell in common]


def _compare_with_pixels(runs: Sequence[RunResult], baseline: RunResult, flips: _SignFlips) -> list[Comparison]:
    views = {cell.variant: cell.view for cell in baseline.cells}
    missing = {cell.variant: cell.counts.get("missing", 0) for cell in baseline.cells}
    comparisons = [
        _say_unread(
            _compare_cells(run, baseline, cell, views[cell.variant], flips), missing[cell.variant], cell.clusters
        )
        for run in runs
        for cell in run.cells
        if cell.view in run.task.image_views and cell.variant in views
    ]
    if not comparisons:
        raise ScoreError(f"{baseline.name} has no mode of the outputs that it is to be compared with.")
    return comparisons


def _say_unread(comparison: Comparison, missing: int, total: int) -> Comparison:
    """Say of how many images the baseline has no output, as these count as wrong for it."""
    said = f" {comparison.b} could not read {missing} of {pluralize(total, 'strip')}, which count as wrong for it."
    return replace(comparison, conclusion=comparison.conclusion + (said if missing else ""))


def nothing_common(a: RunResult, b: RunResult) -> ScoreError:
    """The error of two runs that have no cell in common."""
    metrics = " or ".join(a.task.metrics[metric].in_text for metric in a.task.main_metrics)
    only_views_differ = {cell.variant for cell in a.cells} & {cell.variant for cell in b.cells}
    hint = _ANY_VIEW if only_views_differ and "pixel_bits" in a.task.evidence else ""
    of_a, of_b = (", ".join(f"{cell.variant} {cell.view.label}" for cell in run.cells) for run in (a, b))
    return ScoreError(
        f"{a.name} ({of_a}) and {b.name} ({of_b}) have no {a.task.axis} and view in which both have {metrics}, so "
        f"they cannot be compared{hint}."
    )


def leading_metric(task: ScoredTask, a: CellResult, b: CellResult | None) -> str:
    """The first shown metric that two cells have; empty for none."""
    return next((metric for metric in task.main_metrics if b and metric in a.metrics and metric in b.metrics), "")


def _compare_cells(a: RunResult, b: RunResult, cell: CellResult, view_of_b: View, flips: _SignFlips) -> Comparison:
    task = a.task
    of_a, of_b = a.resamples[cell.variant, cell.view], b.resamples[cell.variant, view_of_b]
    metric = next(name for name in task.main_metrics if name in of_a.means and name in of_b.means)
    only_a, only_b = discordant(of_a.scores[metric] == 1, of_b.scores[metric] == 1)
    metrics, p = differences(task, of_a, of_b), flips.p_value(of_a, of_b, metric)
    sentence = conclude(task, metric, a.title, b.title, metrics[metric], p, only_a + only_b, cell.clusters)
    return Comparison(
        a=a.title,
        b=b.title,
        variant=cell.variant,
        view=cell.view,
        metrics=metrics,
        only_a=only_a,
        only_b=only_b,
        p_mcnemar=mcnemar(only_a, only_b),
        p_clusters=p,
        p_corrected=p,
        conclusion=f"{cell.variant}, {cell.view.label}: {sentence}",
    )


def _corrected(comparisons: Sequence[Comparison], p_values: Sequence[float]) -> list[Comparison]:
    """The comparisons with p-values for their number; says of which that number takes the conclusion away."""
    corrected = []
    for comparison, p in zip(comparisons, p_values, strict=True):
        doubt = correction_doubt(comparison.p_clusters, p, pluralize(len(comparisons), "comparison"))
        corrected.append(replace(comparison, p_corrected=p, conclusion=comparison.conclusion + doubt))
    return corrected


def correction_doubt(p: float, corrected: float, family: str) -> str:
    """Say that a correction for a family such as "3 comparisons" takes a difference away; empty where it does not."""
    if not p < ALPHA <= corrected:
        return ""
    return f" Among {family} chance may give as much (corrected p = {corrected:.2g})."


def conclude(
    task: ScoredTask, metric: str, a: str, b: str, right: Bounded, p: float, discordant: int, clusters: int
) -> str:
    """State the conclusion about two runs, ``a`` and ``b``.

    ``right`` is the metric of ``a`` minus that of ``b``, over so many resampled ``clusters``, and ``p`` the p-value by
    which the verdict goes; ``discordant`` units are right in only one of them. Where one of the two is better, the
    sentence tells its lead, whichever of them it is; where no difference is shown, it tells ``a`` minus ``b``.
    """
    score = task.metrics[metric].in_text
    what, basis = f"points of {score}", f", {pluralize(clusters, task.cluster)} resampled"
    if discordant == 0:
        return f"{a} and {b} {task.verb_identical}, so {score} does not tell them apart; another score may."
    if p < ALPHA:  # the sentence begins with the better one, so its difference is that one's lead
        better, worse = (a, b) if right.value > 0 else (b, a)
        gap = format_gap(right, what, basis, turned=right.value < 0)
        return f"{better} {task.verb_better} than {worse} on this data: {gap}.{disagreement(right, p)}"
    return no_difference(task, a, b, right, p, format_gap(right, what, basis))


def no_difference(task: ScoredTask, a: str, b: str, right: Bounded, p: float, gap: str) -> str:
    """The sentences about two scores whose difference, ``gap`` in words, is not significant."""
    includes = "" if disagreement(right, p) else " includes 0"
    return (
        f"No difference between {a} and {b} is shown: {gap}{includes}.{disagreement(right, p)} More {task.clusters} "
        "could show one."
    )


def disagreement(right: Bounded, p: float) -> str:
    """Say that the p-value and the interval of a difference disagree, as may be near 0.05; empty where they agree."""
    leaves_out = right.low > 0 or right.high < 0
    if leaves_out == (p < ALPHA):
        return ""
    return f" The verdict goes by p = {p:.4f} (sign flips), although the interval {_VERB[leaves_out]} 0."


def format_gap(right: Bounded, what: str, basis: str, *, turned: bool = False) -> str:
    """A difference with its interval in a sentence; ``turned``: as the second minus the first."""
    figures = (-right.value, -right.high, -right.low) if turned else (right.value, right.low, right.high)
    value_, low_, high_ = (percent(figure, sign=True).replace(MINUS, "-") for figure in figures)
    return f"{value_} {what} (95 % interval {low_} to {high_}{basis})"


def conclusions(comparisons: Sequence[Comparison]) -> list[str]:
    """One sentence a comparison; of many comparisons, how many of each mode and view are significant."""
    if len(comparisons) <= MAX_CONCLUSIONS:
        return [comparison.conclusion for comparison in comparisons]
    by_cell: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        by_cell.setdefault(f"{comparison.variant}, {comparison.view.label}", []).append(comparison)
    return [
        f"{cell}: {sum(comparison.p_corrected < ALPHA for comparison in group)} of {len(group)} pairs differ "
        f"significantly after correction for all {len(comparisons)} comparisons."
        for cell, group in by_cell.items()
    ]
