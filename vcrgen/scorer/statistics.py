"""From per-span scores to means with intervals: views on the tally, nothing is matched again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vcrgen.dataset.views import View
from vcrgen.scorer.groups import NO_LABEL, Property
from vcrgen.scorer.records import METRICS
from vcrgen.scorer.results import CellResult, Difference, Estimate, GroupResult, Resamples
from vcrgen.scorer.tally import OUTCOMES, Tally
from vcrgen.stats.bootstrap import Resampled, means_of, resampled_means
from vcrgen.stats.intervals import deviation, spreads
from vcrgen.stats.paired import paired

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Floats, Ints, Records

GROUP_METRICS = ("exact", "jaccard")  # the published two

CellName = tuple[str, View]


class _Column(NamedTuple):
    """What one column of a table of sums is about: a metric over all spans of a cell, or over those of a group."""

    cell: CellName
    metric: str
    # name of a property and number of a label (two labels can read the same); None for all spans
    group: tuple[str, int] | None = None


def summarise(tally: Tally, *, seed: int) -> tuple[list[CellResult], dict[CellName, Resamples]]:
    """Results for each mode and view, easy before hard and stacked before TEI, and what comparisons need of each."""
    import numpy as np

    names = sorted(tally.cells, key=lambda name: (name[0], list(View).index(name[1])))
    of_modes = {mode: tally.properties.of_mode(mode) for mode in dict.fromkeys(mode for mode, _ in names)}
    drawn = _Drawn({name: tally.cells[name].scores for name in names}, tally.starts, of_modes, seed)
    estimates, results = drawn.estimates(), []
    for name in names:
        cell = tally.cells[name]
        groups = [
            GroupResult(
                by=part.by,
                label=label,
                spans=int((part.codes == code).sum()),
                metrics={metric: estimates[_Column(name, metric, (part.by, code))] for metric in GROUP_METRICS},
            )
            for part in of_modes[cell.mode]
            for code, label in enumerate(part.labels)
        ]
        codes = np.bincount(cell.outcomes, minlength=len(OUTCOMES)).tolist()
        results.append(
            CellResult(
                mode=cell.mode,
                view=cell.view,
                images=len(tally.key),
                spans=len(cell.scores),
                metrics={metric: estimates[_Column(name, metric)] for metric in METRICS},
                counts=dict(sorted(cell.counts.items())),
                outcomes={outcome.value: count for outcome, count in zip(OUTCOMES, codes, strict=True)},
                length_ratio=cell.length_ratio,
                groups=tuple(groups),
            )
        )
    return results, drawn.resamples()


def resample(scores: Mapping[CellName, Records], starts: Ints, *, seed: int) -> dict[CellName, Resamples]:
    """What comparisons need of scores that were kept: as :func:`summarise` gives it, by mode and view.

    ``starts`` is, of each image, how many spans stand before it, and last how many there are.
    """
    return _Drawn(scores, starts, {mode: () for mode, _ in scores}, seed).resamples()


def view_differences(cells: Sequence[CellResult], resamples: Mapping[CellName, Resamples]) -> tuple[Difference, ...]:
    """VI+TEI minus TEI for every mode that has both; paired, because both were resampled alike."""
    names = {(cell.mode, cell.view) for cell in cells}
    pairs = [((mode, View.STACKED), (mode, View.TEI)) for mode in dict.fromkeys(cell.mode for cell in cells)]
    return tuple(
        Difference(mode=a[0], metrics=differences(resamples[a], resamples[b]))
        for a, b in pairs
        if a in names and b in names
    )


def differences(a: Resamples, b: Resamples) -> dict[str, Estimate]:
    """The differences of two cells on the same questions, metric by metric."""
    estimates = {}
    for metric in METRICS:
        value, sd, low, high, _ = paired(a.means[metric], b.means[metric])
        sd_spans = float(deviation(a.means_of_spans[metric] - b.means_of_spans[metric]))
        estimates[metric] = Estimate(value=value, sd_spans=sd_spans, sd_images=sd, low=low, high=high)
    return estimates


class _Drawn:
    """The resamples of all modes and views: to draw them is most of the work, and what makes differences paired."""

    def __init__(
        self,
        scores: Mapping[CellName, Records],
        starts: Ints,
        properties: Mapping[str, Sequence[Property]],
        seed: int,
    ) -> None:
        self._scores, self._starts = scores, starts
        self._spans, self._images = _SpanSums(scores), _ImageSums(starts, scores, properties)
        self._span_means = resampled_means(self._spans, seed=seed, unit="span")
        self._image_means = resampled_means(self._images, seed=seed, unit="image")
        self._means, self._counting = means_of(self._images)

    def estimates(self) -> dict[_Column, Estimate]:
        """The mean of every column with its interval."""
        sd_spans = dict(zip(self._spans.columns, deviation(self._span_means).tolist(), strict=True))
        known = spreads(self._means, self._image_means, self._counting)
        return {
            column: Estimate(value=value, sd_spans=sd_spans.get(column), sd_images=sd, low=low, high=high)
            for column, value, (sd, low, high) in zip(self._images.columns, self._means.tolist(), known, strict=True)
        }

    def resamples(self) -> dict[CellName, Resamples]:
        """What a comparison needs of every mode and view."""
        by_span = dict(zip(self._spans.columns, self._span_means.T, strict=True))
        by_image = {
            column: Resampled(len(self._images), float(mean), means)
            for column, mean, means in zip(self._images.columns, self._means, self._image_means.T, strict=True)
        }
        return {
            name: Resamples(
                means={metric: by_image[_Column(name, metric)] for metric in METRICS},
                means_of_spans={metric: by_span[_Column(name, metric)] for metric in METRICS},
                scores=scores,
                starts=self._starts,
            )
            for name, scores in self._scores.items()
        }


class _SpanSums:
    """The scores of single spans, for a bootstrap that takes them as independent, as the published one does."""

    def __init__(self, scores: Mapping[CellName, Records]) -> None:
        self._scores = [of_cell.view(float).reshape(-1, len(METRICS)) for of_cell in scores.values()]
        self.columns = [_Column(name, metric) for name in scores for metric in METRICS]
        self.column = [0] * len(self.columns)

    def __len__(self) -> int:
        return len(self._scores[0])

    def part(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Some of the spans."""
        import numpy as np

        return np.hstack([scores[start:stop] for scores in self._scores]), np.ones((stop - start, 1))


class _ImageSums:
    """Sums over the spans of each image, and over those of them that are in a group; summed when they are asked for."""

    def __init__(
        self, starts: Ints, scores: Mapping[CellName, Records], properties: Mapping[str, Sequence[Property]]
    ) -> None:
        self._starts = starts
        self._scores = scores
        self._properties = properties
        # Cells of one mode share their groups, and so the numbers of spans in them.
        groups = ((mode, group) for mode, parts in properties.items() for part in parts for group in part.groups)
        kinds = {group: number for number, group in enumerate(groups, start=1)}
        self.columns: list[_Column] = []
        for name in scores:
            self.columns += [_Column(name, metric) for metric in METRICS]
            for part in properties[name[0]]:
                self.columns += [_Column(name, metric, group) for metric in GROUP_METRICS for group in part.groups]
        self.column = [0 if c.group is None else kinds[c.cell[0], c.group] for c in self.columns]

    def __len__(self) -> int:
        return len(self._starts) - 1

    def part(self, start: int, stop: int) -> tuple[Floats, Floats]:
        """Some of the images."""
        import numpy as np

        images = stop - start
        starts = self._starts[start : stop + 1]
        spans = slice(int(starts[0]), int(starts[-1]))
        image = np.repeat(np.arange(images), np.diff(starts))

        def per_image(codes: Property | None, weights: Floats | None) -> Floats:
            """Images x labels: sums of weights, or numbers of spans."""
            where, labels = image, 1
            if codes is not None:
                labels = len(codes.labels)
                inside = codes.codes[spans]
                known = inside != NO_LABEL
                where = (image * labels + inside)[known]
                weights = None if weights is None else weights[known]
            summed: Floats = np.bincount(where, weights, images * labels).reshape(images, labels).astype(np.float64)
            return summed

        counts = [per_image(None, None)]
        counts += [per_image(part, None) for parts in self._properties.values() for part in parts]
        sums = []
        for (mode, _), of_cell in self._scores.items():
            scores = of_cell[spans]
            sums += [per_image(None, scores[metric]) for metric in METRICS]
            sums += [per_image(part, scores[metric]) for part in self._properties[mode] for metric in GROUP_METRICS]
        return np.hstack(sums), np.hstack(counts)
