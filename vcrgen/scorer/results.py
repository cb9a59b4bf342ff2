"""Results of a scoring: estimates with intervals, counts and signature, ready for any report or a JSON file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vcrgen.core.errors import ScoreError
from vcrgen.core.plurals import pluralize
from vcrgen.core.signature import Signature
from vcrgen.data.tasks.task import ScoredTask
from vcrgen.data.views import View
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import Interval, Percent, Table, TableCell, percent
from vcrgen.scorer.key_letters import KeyLetter, letter_test
from vcrgen.scorer.records import CellName
from vcrgen.stats.arrays import Floats, Ids, Ints, Records

if TYPE_CHECKING:
    from vcrgen.stats.bootstrap import BootstrapMean

SCHEMA = "vcrgen-scores-7"
MIN_EFFECTIVE = 30  # clusters of equal size; with fewer, intervals can be too short
MOST_NAMED = 4  # scores in a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over units, as a share; files call units and clusters by the words of their task."""

    value: float
    sd_units: float | None  # bootstrap standard deviation over units, as published; None for groups
    sd_clusters: float  # bootstrap standard deviation over clusters, such as images
    low: float  # lower end of the 95 % interval over clusters
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """Scores of some of the units."""

    by: str
    label: str
    units: int
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """Scores of one cell: a mode of covers, or a language of an MCQ benchmark, and a view.

    Attributes:
        variant: The value of the task's axis, such as `hard`.
        view: The view of its prompts.
        clusters: What is resampled, such as images.
        effective_clusters: How many with equal numbers of units would weigh as much.
        units: What has a score, such as spans.
        metrics: Those that some unit has.
        counts: As in `Cell`.
        outcomes: Number of units by outcome.
        length_ratio: Characters of the outputs over characters of the answers.
        groups: The same scores for parts of the units.
        key_letters: Of an MCQ benchmark with outputs, unless its key is hidden.
        chance: Expected value of a random choice, where it is not the task's: items with more or fewer options.
    """

    variant: str
    view: View
    clusters: int
    effective_clusters: float
    units: int
    metrics: Mapping[str, Estimate]
    counts: Mapping[str, int]
    outcomes: Mapping[str, int]
    length_ratio: float | None
    groups: tuple[GroupResult, ...]
    key_letters: tuple[KeyLetter, ...] = ()
    chance: float | None = None

    def chance_of(self, task: ScoredTask) -> float | None:
        """The expected value of a random choice, of this cell if it has its own, else of the task; None for neither."""
        return task.leading.chance if self.chance is None else self.chance

    def __repr__(self) -> str:
        shown = list(self.metrics.items())[:MOST_NAMED]
        scores = ", ".join(f"{name} {percent(estimate.value)} %" for name, estimate in shown)
        return f"<CellResult {self.variant}, {self.view.label}: {scores}>"

    @property
    def spans(self) -> int:
        """Spans that have a score; of an MCQ benchmark, items."""
        return self.units

    @property
    def images(self) -> int:
        """Images that are resampled; of an MCQ benchmark, pictures."""
        return self.clusters

    @property
    def missing(self) -> int:
        """Questions without an output, whose units count as wrong."""
        return self.counts.get("missing", 0)

    def questions_of(self, task: ScoredTask) -> int:
        """Questions that were asked."""
        return {task.unit: self.units, task.cluster: self.clusters}[task.question]

    def missing_in_words(self, task: ScoredTask) -> str:
        """``240 of 300 items missing``; empty where every question has an output."""
        count = pluralize(self.questions_of(task), task.question)
        return f"{self.missing:,} of {count} missing" if self.missing else ""

    def as_json(self, task: ScoredTask) -> dict[str, Any]:
        """The cell as JSON values, with what is missing and the p-values of its key letters."""
        values = asdict(self)
        values["missing"] = {"count": self.missing, "of": self.questions_of(task)}
        for name in ("key_letters", "chance"):
            if not values[name]:
                del values[name]
        return values | ({"key_letters_p": letter_test(self.key_letters)._asdict()} if self.key_letters else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A paired difference on the same units, such as VI+TEI minus TEI: what the picture adds."""

    of: str  # what is taken from what, such as `stacked - tei`
    variant: str = ""  # where it is; empty where two variants are compared
    view: View | None = None  # where it is; None where two views are compared
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resamples:
    """The bootstrap replicates of a cell, for comparisons with other runs."""

    means: Mapping[str, BootstrapMean]  # for each metric its mean, with those over resamples of images
    means_of_units: Mapping[str, Floats]  # for each metric its means over resamples of units
    scores: Records  # the scores of each unit, by metric: `scores["exact"]`; NaN where it has none
    starts: Ints  # of each cluster, how many units stand before it; and last, how many there are
    seed: int  # of the bootstrap
    cluster: str  # what was drawn, by which the random stream is named

    def per_cluster(self, scores: Floats) -> tuple[Floats, Floats]:
        """Of each cluster the sum of the scores of its units, and how many of them have one; NaN is none."""
        clusters = len(self.starts) - 1
        cluster = np.repeat(np.arange(clusters), np.diff(self.starts))
        sums: Floats = np.bincount(cluster, np.nan_to_num(scores), clusters).astype(np.float64)
        return sums, np.bincount(cluster, ~np.isnan(scores), clusters).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunResult(NotebookResult):
    """Everything a scoring of one file gives.

    ``to_pandas()`` has a row for each metric of each cell, of each group of its spans, and of each difference. Its
    columns are ``run``, ``model``, ``mode`` (``lang`` of an MCQ benchmark), ``view``, ``group`` and ``value`` (such as
    ``part of speech`` and ``noun``; None for all spans), ``metric``, ``score``, ``sd_spans``, ``sd_images``, ``low``,
    ``high``, ``spans``, ``images`` and ``missing``; of an MCQ benchmark ``items`` and ``pictures`` stand for spans and
    images.

    Attributes:
        name: The file's name without its suffix.
        model: The model the file names, or None.
        format: Format of the file.
        lang: Language of the answers.
        signature: What the scores can be compared with.
        task: The task.
        cells: One for each variant and view in the file.
        differences: Paired differences.
        problems: Outputs that could not be used, by what is wrong: their number, and the first ones.
        notes: Sentences a reader of the scores should know.
        resamples: Resampled metrics of each cell, for comparisons; empty for saved scores of a hidden set.
        cluster_ids: As in `QuestionTable`, by which two datasets are paired; empty for those, too.
        from_pixels: The template baseline, beside which the others are shown.
        label: Stands for the run in tables where neither model nor file name is its own.
        next_command: The command that shows the outputs beside the images, if `vcrgen.score` made the result.
        saved_in: The file of saved scores that the result was read from, if it was.
    """

    name: str
    model: str | None
    format: str
    lang: str
    signature: Signature
    task: ScoredTask
    cells: tuple[CellResult, ...]
    differences: tuple[Difference, ...]
    problems: Mapping[str, tuple[int, tuple[str, ...]]]
    notes: tuple[str, ...]
    resamples: Mapping[CellName, Resamples] = field(default_factory=dict, repr=False, compare=False)
    cluster_ids: Ids = field(default_factory=lambda: np.empty(0, np.uint64), repr=False, compare=False)
    from_pixels: bool = False
    label: str = ""
    next_command: Sequence[str] = field(default=(), compare=False)
    saved_in: str = field(default="", compare=False)

    @property
    def scores(self) -> tuple[CellResult, ...]:
        """The scores of each mode (or language) and view, under the name that saved files have for them."""
        return self.cells

    @property
    def headline(self) -> str:
        """The run, and its scores of the metric that ranks."""
        metric = self.task.main_metrics[0]
        scores = [
            f"{cell.variant} {cell.view.label} {percent(cell.metrics[metric].value)} %"
            for cell in self.cells
            if metric in cell.metrics
        ]
        more = f" and {len(scores) - MOST_NAMED} more" if len(scores) > MOST_NAMED else ""
        named = ", ".join(scores[:MOST_NAMED]) + more
        return f"{self.title}, {self.lang}: {self.task.leading.in_text} {named}" if named else f"{self.title}: no score"

    @property
    def summary_table(self) -> Table:
        """The main metrics of each cell."""
        metrics = [name for name in self.task.main_metrics if any(name in cell.metrics for cell in self.cells)]
        heads = [text for name in metrics for text in (self.task.metrics[name].label, "95 % interval")]
        rows: list[list[TableCell]] = []
        for cell in self.cells:
            row: list[TableCell] = [cell.variant, cell.view.label, cell.units, cell.clusters]
            for estimate in map(cell.metrics.get, metrics):
                row += [Percent(estimate.value), Interval(estimate.low, estimate.high)] if estimate else [None, None]
            rows.append(row)
        counts = (self.task.units.capitalize(), self.task.clusters.capitalize())
        return Table(
            title=f"Scores, in percent; intervals over {self.task.clusters}",
            heads=(self.task.axis_label, "View", *counts, *heads),
            labels=2,
            rows=rows,
        )

    def long_rows(self) -> Iterator[LongRow]:
        """Yield each metric of each cell, of each of its groups, and of each difference of two cells."""
        for cell in self.cells:
            where = {"variant": cell.variant, "view": cell.view.value}
            size = {"clusters": cell.clusters, "missing": cell.missing}
            yield from self._long_rows(where, cell.metrics, {"units": cell.units} | size)
            for group in cell.groups:
                part = where | {"group": group.by, "value": group.label}
                yield from self._long_rows(part, group.metrics, {"units": group.units} | size)
        for difference in self.differences:
            # One of two views, or of two variants, minus the other: its name stands in the column of what differs.
            view = difference.view.value if difference.view else difference.of
            yield from self._long_rows(
                {"variant": difference.variant or difference.of, "view": view}, difference.metrics, {}
            )

    def _long_rows(
        self, where: Mapping[str, str], metrics: Mapping[str, Estimate], size: Mapping[str, int]
    ) -> Iterator[LongRow]:
        names = self.task.field_names
        for metric, estimate in metrics.items():
            row = {
                "run": self.name,
                "model": self.model,
                "variant": where["variant"],
                "view": where["view"],
                "group": where.get("group"),
                "value": where.get("value"),
                "metric": metric,
                "score": estimate.value,
                "sd_units": estimate.sd_units,
                "sd_clusters": estimate.sd_clusters,
                "low": estimate.low,
                "high": estimate.high,
                **{count: size.get(count) for count in ("units", "clusters", "missing")},
            }
            yield {names.get(column, column): value for column, value in row.items()}

    @property
    def title(self) -> str:
        """The name of the run in tables: the model, or else the file."""
        return self.label or self.model or self.name

    def cell(self, view: str | None = None, mode: str | None = None) -> CellResult:
        """The scores of one view, by default the main one, and of one mode (or language) where there are several.

        Raises:
            ScoreError: There are none of these, or several.
        """
        view = view or self.task.image_views[0].value
        cells = [cell for cell in self.cells if cell.view == view and mode in (None, cell.variant)]
        if len(cells) != 1:
            have = ", ".join(f"{cell.view}/{cell.variant}" for cell in self.cells)
            axis = self.task.axis
            raise ScoreError(f"{self.name}: {len(cells)} scores of view {view!r}, {axis} {mode!r}; there are {have}.")
        return cells[0]

    def as_json(self) -> dict[str, Any]:
        """The result as JSON values: shares, unrounded."""
        return {
            "schema": SCHEMA,
            "task": self.task.name,
            "name": self.name,
            "model": self.model,
            "format": self.format,
            "language": self.lang,
            "signature": {"text": str(self.signature), "short": self.signature.short, **dict(self.signature.facts)},
            "scores": [as_named(cell.as_json(self.task), self.task.field_names) for cell in self.cells],
            "differences": [self._difference(difference) for difference in self.differences],
            "problems": {kind: {"count": count, "first": list(f)} for kind, (count, f) in self.problems.items()},
            "notes": list(self.notes),
        }

    def _difference(self, difference: Difference) -> dict[str, Any]:
        values = {name: value for name, value in asdict(difference).items() if value}
        return {**as_named(values, self.task.field_names)}


def as_named(value: Any, names: Mapping[str, str]) -> Any:
    """JSON values with other names for some keys, however deep they stand."""
    if isinstance(value, dict):
        return {names.get(name, name): as_named(part, names) for name, part in value.items()}
    return [as_named(part, names) for part in value] if isinstance(value, list | tuple) else value


def missing_sentences(results: Iterable[RunResult]) -> Iterator[str]:
    """A sentence for each cell that lacks outputs, which every report of its scores shows; not of the baseline."""
    for result in results:
        for cell in result.cells if not result.from_pixels else ():
            if words := cell.missing_in_words(result.task):
                yield f"{result.title}, {cell.variant}, {cell.view.label}: {words}, which count as wrong."


def warning_sentences(results: Sequence[RunResult]) -> Iterator[str]:
    """What every report of results says first: what is missing, and whose images are too few for the intervals."""
    yield from missing_sentences(results)
    yield from few_clusters_sentences(results)


def few_clusters_sentences(results: Iterable[RunResult]) -> Iterator[str]:
    """A sentence for each size of data that has few effective clusters: of each run, that of the smallest cell."""
    said = set()
    for result in results:
        task, cell = result.task, min(result.cells, key=lambda cell: cell.effective_clusters)
        size = f"{pluralize(cell.units, task.unit)} in {pluralize(cell.clusters, task.cluster)}"
        if cell.effective_clusters < MIN_EFFECTIVE and size not in said:
            said.add(size)
            yield (
                f"The evidence of {size} is that of {cell.effective_clusters:.1f} {task.clusters} with equally many "
                f"{task.units} each. With fewer than {MIN_EFFECTIVE}, intervals can be too narrow where a few "
                f"{task.clusters} hold most {task.units}: in simulations, 95 % intervals held the true score in 70 to "
                "95 % of the test sets."
            )


def effective_range(results: Iterable[RunResult]) -> str:
    """The effective numbers of clusters of all cells: ``33.1``, or ``12.0 to 33.1``."""
    numbers = sorted(cell.effective_clusters for result in results for cell in result.cells)
    return " to ".join(dict.fromkeys(f"{number:,.1f}" for number in (numbers[0], numbers[-1])))


def assign_titles(results: Sequence[RunResult]) -> list[RunResult]:
    """The results, labelled so that no two have the same title."""
    labels = [result.title for result in results]
    if len(set(labels)) < len(labels):
        labels = [f"{result.model} ({result.name})" if result.model else result.name for result in results]
    if len(set(labels)) < len(labels):
        labels = [f"{text}, file {number}" for number, text in enumerate(labels, start=1)]
    return [replace(result, label=text) for result, text in zip(results, labels, strict=True)]


def by_score(results: Sequence[RunResult]) -> list[int]:
    """The positions of results, the best first: by the leading metric of the first cell that all have.

    Those that have no such cell, or equal scores but for rounding, stay in the order they have. The template baseline
    stands last.
    """
    if places := [place for place, result in enumerate(results) if result.from_pixels]:
        others = [place for place in range(len(results)) if place not in places]
        return [*(others[place] for place in by_score([results[place] for place in others])), *places]
    cells = [{(cell.variant, cell.view): cell for cell in result.cells} for result in results]
    shared = next((name for name in cells[0] if all(name in run for run in cells)), None) if cells else None
    if shared is None:
        return list(range(len(results)))
    metric = results[0].task.main_metrics[0]
    scores = [run[shared].metrics[metric].value if metric in run[shared].metrics else -1.0 for run in cells]
    return sorted(range(len(results)), key=lambda position: -round(scores[position], 12))


def require_one_signature(results: Sequence[RunResult]) -> None:
    """Refuse to put scores side by side that were not made in the same way; says in what they differ."""
    for other in results[1:]:
        if parts := signature_differences(results[0].signature, other.signature):
            raise ScoreError(
                f"The scores of {results[0].name} and {other.name} cannot stand in one table: {parts}. "
                "Score both in the same way."
            )


def signature_differences(ours: Signature, theirs: Signature) -> str:
    """In what two signatures differ, in words; empty where they are the same."""
    a, b = ours.facts, theirs.facts
    return ", ".join(f"{name} is {a.get(name)} and {b.get(name)}" for name in {**a, **b} if a.get(name) != b.get(name))
