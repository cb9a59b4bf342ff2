"""From the scores of units to means with intervals: views on the tally, nothing is matched again."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from vcrgen.data.tasks.task import ScoredTask
from vcrgen.data.views import View
from vcrgen.scorer.groups import NO_LABEL, Breakdown
from vcrgen.scorer.records import CellName
from vcrgen.scorer.results import CellResult, Difference, Estimate, GroupResult, Resamples
from vcrgen.scorer.tally import Tally
from vcrgen.stats.arrays import Bits, Floats, Ints, Records
from vcrgen.stats.bootstrap import BootstrapMean, StoredGroupSums, bootstrap_means, group_means
from vcrgen.stats.intervals import deviation, effective_groups, sd_and_intervals
from vcrgen.stats.paired import paired_difference

MACRO = "macro"  # what groups are by whose score is the mean of those of other groups


class _Column(NamedTuple):
    """One column of a table of sums: a metric over all units of a cell, or over those of a group."""

    cell: CellName
    metric: str
    # name of a property and number of a label (two labels can read the same); None for all units
    group: tuple[str, int] | None = None


def summarise(tally: Tally, *, seed: int) -> tuple[list[CellResult], dict[CellName, Resamples]]:
    """Results for each cell, in the order of variants and of views, and what comparisons need of each."""
    task, order = tally.task, list(View)
    variants = {variant: number for number, variant in enumerate(tally.variants)}
    names = sorted(tally.cells, key=lambda name: (variants.get(name[0], len(variants)), name[0], order.index(name[1])))
    divided = {variant: tally.breakdowns(variant) for variant in dict.fromkeys(name[0] for name in names)}
    drawn = _BootstrapDraws(task, {name: tally.cells[name].scores for name in names}, tally.starts, divided, seed)
    estimates, results = drawn.estimates(), []
    for name in names:
        cell, present = tally.cells[name], drawn.metrics[name]
        inside = cell.requested
        groups = [
            GroupResult(
                by=part.by,
                label=label,
                units=int((part.codes[inside] == code).sum()),
                metrics={
                    metric: estimates[_Column(name, metric, (part.by, code))] for metric in _main_metrics(task, present)
                },
            )
            for part in divided[cell.variant]
            for code, label in enumerate(part.labels)
            if (part.codes[inside] == code).any()
        ]
        codes = np.bincount(cell.outcomes[inside], minlength=len(task.outcomes)).tolist()
        results.append(
            CellResult(
                variant=cell.variant,
                view=cell.view,
                clusters=len(tally.starts) - 1,
                effective_clusters=_effective_clusters(tally.starts, inside),
                units=int(inside.sum()),
                metrics={metric: estimates[_Column(name, metric)] for metric in present},
                counts=dict(sorted(cell.counts.items())),
                outcomes=dict(zip(task.outcomes, codes, strict=True)),
                length_ratio=cell.length_ratio,
                groups=(*drawn.macros(name), *groups),
            )
        )
    return results, drawn.resamples()


def _effective_clusters(starts: Ints, inside: Bits) -> float:
    """How many clusters with equal numbers of units would weigh as much; ``inside`` is a mask of the units."""
    before = np.concatenate([[0], np.cumsum(inside)])[starts]
    return float(effective_groups(np.diff(before).astype(np.float64)))


def estimate_saved(
    task: ScoredTask, scores: Mapping[CellName, Records], starts: Ints, *, seed: int
) -> tuple[dict[CellName, dict[str, Estimate]], dict[CellName, Resamples]]:
    """Estimate the metrics of saved scores, by cell, and draw their bootstrap replicates, as `summarise` does.

    ``starts`` is, of each cluster, how many units stand before it, and last how many there are.
    """
    drawn = _BootstrapDraws(task, scores, starts, {variant: () for variant, _ in scores}, seed)
    estimates: dict[CellName, dict[str, Estimate]] = {name: {} for name in scores}
    for column, estimate in drawn.estimates().items():
        estimates[column.cell][column.metric] = estimate
    return estimates, drawn.resamples()


def contrasts(task: ScoredTask, resamples: Mapping[CellName, Resamples]) -> tuple[Difference, ...]:
    """The differences that a task asks for, wherever both sides are there; all are paired, unit by unit."""
    return tuple(_contrasts(task, resamples))


def _contrasts(task: ScoredTask, resamples: Mapping[CellName, Resamples]) -> Iterator[Difference]:
    variants = list(dict.fromkeys(variant for variant, _ in resamples))
    first, second = task.view_contrast
    for variant in variants:
        if (variant, first) in resamples and (variant, second) in resamples:
            metrics = differences(task, resamples[variant, first], resamples[variant, second])
            yield Difference(of=task.contrast_name, variant=variant, metrics=metrics)
    for view in task.image_views if task.axis_contrasts else ():
        for a, b in combinations([variant for variant in variants if (variant, view) in resamples], 2):
            metrics = differences(task, resamples[a, view], resamples[b, view])
            yield Difference(of=f"{a} - {b}", view=view, metrics=metrics)
    for metric_a, metric_b in task.metric_contrasts:
        for (variant, view), cell in resamples.items():
            if view in task.image_views and metric_a in cell.means and metric_b in cell.means:
                estimate = _difference(cell, cell, [(metric_a, metric_b)])[0]
                yield Difference(
                    of=f"{metric_a} - {metric_b}", variant=variant, view=view, metrics={metric_a: estimate}
                )


def differences(task: ScoredTask, a: Resamples, b: Resamples) -> dict[str, Estimate]:
    """The differences of two cells on the same units, metric by metric; of a metric, those units that have both."""
    common = [metric for metric in task.metrics if metric in a.means and metric in b.means]
    return dict(zip(common, _difference(a, b, [(metric, metric) for metric in common]), strict=True))


def _difference(a: Resamples, b: Resamples, metrics: Sequence[tuple[str, str]]) -> list[Estimate]:
    """One metric of ``a`` minus one of ``b``, for pairs of them."""
    lacking: dict[int, Floats] = {}  # differences of pairs of which one lacks units that the other has
    for number, (metric_a, metric_b) in enumerate(metrics):
        first, second = a.scores[metric_a], b.scores[metric_b]
        if not np.array_equal(np.isnan(first), np.isnan(second)):
            lacking[number] = first - second
    partial = dict(zip(lacking, _partial_differences(a, list(lacking.values())), strict=True))
    estimates = []
    for number, (metric_a, metric_b) in enumerate(metrics):
        ours, theirs = partial.get(number) or (a.means[metric_a], b.means[metric_b])
        value, sd, low, high = paired_difference(ours, theirs)
        sd_units = None if number in partial else deviation(a.means_of_units[metric_a] - b.means_of_units[metric_b])
        deviation_units = None if sd_units is None else float(sd_units)
        estimates.append(Estimate(value=value, sd_units=deviation_units, sd_clusters=sd, low=low, high=high))
    return estimates


def _partial_differences(a: Resamples, scores: Sequence[Floats]) -> list[tuple[BootstrapMean, BootstrapMean]]:
    """The means of scores (NaN for units that are left out) over the resamples of ``a``, each to be compared with 0."""
    if not scores:
        return []
    sums, counts = zip(*map(a.per_cluster, scores), strict=True)
    groups = StoredGroupSums(np.column_stack(sums), np.column_stack(counts), range(len(scores)))
    means, inside = group_means(groups)
    drawn = np.nan_to_num(bootstrap_means(groups, seed=a.seed, unit=a.cluster))
    nothing = np.zeros(len(drawn))
    return [
        (BootstrapMean(int(count), float(mean), column), BootstrapMean(int(count), 0.0, nothing))
        for mean, count, column in zip(means, inside, drawn.T, strict=True)
    ]


def _main_metrics(task: ScoredTask, present: Sequence[str]) -> list[str]:
    """Those of the two shown metrics that a cell has."""
    return [metric for metric in task.main_metrics if metric in present]


class _BootstrapDraws:
    """The resamples of all cells: to draw them is most of the work, and what makes differences paired."""

    def __init__(
        self,
        task: ScoredTask,
        scores: Mapping[CellName, Records],
        starts: Ints,
        properties: Mapping[str, Sequence[Breakdown]],
        seed: int,
    ) -> None:
        self._task, self._scores, self._starts, self._seed = task, scores, starts, seed
        self._properties = properties
        # Metrics that no unit of a cell has are not its metrics.
        self.metrics = {
            name: [metric for metric in task.metrics if not np.isnan(of_cell[metric]).all()]
            for name, of_cell in scores.items()
        }
        self._units = _Sums(task, np.arange(starts[-1] + 1), scores, self.metrics, dict.fromkeys(properties, ()))
        self._clusters = _Sums(task, starts, scores, self.metrics, properties)
        # Side by side, as NumPy lets other threads run while it draws and multiplies.
        with ThreadPoolExecutor(1) as thread:
            unit_means = thread.submit(bootstrap_means, self._units, seed=seed, unit=task.unit)
            self._cluster_means = bootstrap_means(self._clusters, seed=seed, unit=task.cluster)
            self._unit_means = unit_means.result()
        self._means, self._counting = group_means(self._clusters)

    def estimates(self) -> dict[_Column, Estimate]:
        """The mean of every column with its interval."""
        sd_units = dict(zip(self._units.columns, deviation(self._unit_means).tolist(), strict=True))
        there = self._counting > 0  # a group may have no unit in a language
        columns = [column for column, has_units in zip(self._clusters.columns, there, strict=True) if has_units]
        # In rows, as they were: deviations of scores that are all the same hang on the order of the sum.
        means, resampled = self._means[there], np.compress(there, self._cluster_means, axis=1)
        intervals = self._estimates([c.metric for c in columns], means, resampled, self._counting[there])
        return {
            column: Estimate(value=value, sd_units=sd_units.get(column), sd_clusters=sd, low=low, high=high)
            for column, (value, sd, low, high) in zip(columns, intervals, strict=True)
        }

    def macros(self, cell: CellName) -> Iterator[GroupResult]:
        """The means of the scores of levels, or of categories: each label counts alike, however many units it has."""
        parts = {part.by: part for part in self._properties[cell[0]]}
        places = {column: number for number, column in enumerate(self._clusters.columns)}
        for by in (by for by in self._task.macros if by in parts):
            estimates = {}
            for metric in _main_metrics(self._task, self.metrics[cell]):
                numbers = [places[_Column(cell, metric, group)] for group in parts[by].groups]
                numbers = [number for number in numbers if self._counting[number]]
                mean = self._means[numbers].mean(keepdims=True)
                means = np.nanmean(self._cluster_means[:, numbers], axis=1, keepdims=True)
                clusters = self._counting[[places[_Column(cell, metric)]]]
                value, sd, low, high = self._estimates([metric], mean, means, clusters)[0]
                estimates[metric] = Estimate(value=value, sd_units=None, sd_clusters=sd, low=low, high=high)
            if estimates:
                yield GroupResult(by=MACRO, label=by, units=len(numbers), metrics=estimates)

    def _estimates(
        self, metrics: Sequence[str], means: Floats, resampled: Floats, counting: Ints
    ) -> list[tuple[float, float, float, float]]:
        """Mean, standard deviation and ends of the interval of columns; a metric that goes up to 2 is halved for it."""
        most = np.array([self._task.metrics[metric].maximum for metric in metrics])
        intervals = sd_and_intervals(means / most, resampled / most, counting)
        return [
            (value, sd * scale, low * scale, high * scale)
            for value, scale, (sd, low, high) in zip(means.tolist(), most.tolist(), intervals, strict=True)
        ]

    def resamples(self) -> dict[CellName, Resamples]:
        """The bootstrap replicates of every cell, for comparisons."""
        by_unit = dict(zip(self._units.columns, self._unit_means.T, strict=True))
        by_cluster = {
            # A resample that drew no unit with a score says nothing: it is taken to have the mean itself.
            column: BootstrapMean(len(self._clusters), float(mean), np.where(np.isnan(means), mean, means))
            for column, mean, means in zip(self._clusters.columns, self._means, self._cluster_means.T, strict=True)
            if column.group is None
        }
        return {
            name: Resamples(
                means={metric: by_cluster[_Column(name, metric)] for metric in self.metrics[name]},
                means_of_units={metric: by_unit[_Column(name, metric)] for metric in self.metrics[name]},
                scores=scores,
                starts=self._starts,
                seed=self._seed,
                cluster=self._task.cluster,
            )
            for name, scores in self._scores.items()
        }


@dataclass(frozen=True, slots=True)
class _Counts:
    """Which numbers of units are asked for: of each label of a division, or of all; of those with a score."""

    part: Breakdown | None
    scored: Bits | None  # a mask of the units with a score; None where all have one
    first: int  # the column of counts where they begin


@dataclass(frozen=True, slots=True)
class _Scores:
    """Which scores are summed: of one metric of a cell, for each label of a division, or for all units."""

    scores: Floats
    counts: _Counts  # of the same units


class _Sums:
    """Sums over the units of each cluster, and over those of them that are in a group.

    They are summed when asked for, some clusters at a time: all of them would take a kilobyte a cluster.
    """

    def __init__(
        self,
        task: ScoredTask,
        starts: Ints,
        scores: Mapping[CellName, Records],
        metrics: Mapping[CellName, Sequence[str]],
        properties: Mapping[str, Sequence[Breakdown]],
    ) -> None:
        self._starts = starts
        self._sums: list[_Scores] = []
        self._counts: dict[tuple[int, bytes], _Counts] = {}  # by division and by which units lack a score
        self.columns: list[_Column] = []
        self.column: list[int] = []  # of each sum its column of counts: metrics that have the same units share them
        kinds = 0
        for name, of_cell in scores.items():
            divided: list[tuple[Breakdown | None, Sequence[str]]] = [(None, metrics[name])]
            divided += [(part, _main_metrics(task, metrics[name])) for part in properties[name[0]]]
            known_of = {metric: _score_mask(of_cell[metric]) for metric in metrics[name]}
            for part, part_metrics in divided:
                labels: Sequence[tuple[str, int] | None] = part.groups if part is not None else [None]
                for metric in part_metrics:
                    has_score, without = known_of[metric]
                    counts = self._counts.setdefault((id(part), without), _Counts(part, has_score, kinds))
                    kinds = max(kinds, counts.first + len(labels))
                    self._sums.append(_Scores(of_cell[metric], counts))
                    self.columns += [_Column(name, metric, group) for group in labels]
                    self.column += range(counts.first, counts.first + len(labels))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def part(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Some of the clusters."""
        clusters = stop - start
        starts = self._starts[start : stop + 1]
        units = slice(int(starts[0]), int(starts[-1]))
        cluster = np.repeat(np.arange(clusters), np.diff(starts))

        def per_cluster(part: Breakdown | None, weights: Floats | Bits | None) -> Floats:
            """Clusters x labels: sums of weights, or numbers of units."""
            where, labels = cluster, 1
            if part is not None:
                labels = len(part.labels)
                inside = part.codes[units]
                labelled = inside != NO_LABEL
                where = (cluster * labels + inside)[labelled]
                weights = None if weights is None else weights[labelled]
            totals: Floats = np.bincount(where, weights, clusters * labels).reshape(clusters, labels).astype(np.float64)
            return totals

        counts = [
            per_cluster(count.part, None if count.scored is None else count.scored[units])
            for count in self._counts.values()
        ]
        sums = [per_cluster(summed.counts.part, np.nan_to_num(summed.scores[units])) for summed in self._sums]
        return np.hstack(sums), np.hstack(counts)


def _score_mask(scores: Floats) -> tuple[Bits | None, bytes]:
    """A mask of the units that have a score, and the same as bytes; None and nothing where all have one."""
    lacking = np.isnan(scores)
    return (~lacking, np.packbits(lacking).tobytes()) if lacking.any() else (None, b"")
