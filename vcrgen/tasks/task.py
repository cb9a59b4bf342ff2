"""What a scoring, its reports and a board have to know of a task: one record for each kind of data that is scored.

Example: of Visual Caption Restoration a unit is a span, an image is resampled, a cell is a mode and a view, and the two
metrics that every table shows are exact match and Jaccard. Join, tally, statistics, reports, saved scores and boards
read this record and know no task by name. AGENTS.md says what another task needs.

Nothing heavy is imported here: the columns of a task's datasets are in ``tasks/vcr.py`` and its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vcrgen.dataset.views import IMAGE_VIEWS, View


class Metric(NamedTuple):
    """One metric of a unit."""

    label: str  # in tables
    most: float = 1.0  # the largest value; the smallest is 0
    chance: float | None = None  # the mean of who knows nothing, or None where there is no such figure
    needed: bool = True  # whether a unit without it counts as 0 where others of its cell have it
    said: str = ""  # in a sentence, where that is not the label in small letters

    @property
    def in_text(self) -> str:
        """What it is called in a sentence, as in "3 points of exact match"."""
        return self.said or self.label.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredTask:
    """One kind of data that is scored."""

    name: str  # in manifests; those that say nothing are of Visual Caption Restoration
    unit: str  # what has a score of its own; with an s it is the plural
    cluster: str  # what units share, and what is resampled: units of one of them are not independent
    axis: str  # what cells differ in besides the view, as files of outputs call it
    axis_label: str  # the same in tables
    views: tuple[View, ...]  # in the order of tables
    image_views: tuple[View, ...]  # those that show an image: boards rank by these only; the first is the main one
    metrics: Mapping[str, Metric]  # by name, in the order of files and tables
    shown: tuple[str, str]  # the two that every table and every group has; the first ranks and is tested
    outcomes: tuple[str, ...]  # what can become of a unit; the first is the good one
    counts: tuple[str, ...]  # what is counted of the outputs of a cell, in the order of tables
    # Paired differences of two views (first minus second), of each two values of the axis, and of each two metrics.
    view_contrast: tuple[View, View]
    axis_contrasts: bool = False
    metric_contrasts: tuple[tuple[str, str], ...] = ()
    macros: tuple[str, ...] = ()  # ways to divide units whose labels' means are averaged, each label counting alike
    protocols: tuple[str, ...]  # by which its outputs are read; the first is the default
    does: str  # what a model does with a unit that it has right, as in "A restores more than B"
    did: str
    lengths: bool = False  # whether outputs and answers are texts of which the lengths can be compared
    near_copy: float  # share of outputs that two files of a team on a hidden set may have in common, at most
    evidence: Mapping[str, type] = field(default_factory=dict)  # columns of evidence between view and metrics
    extra_counts: Mapping[str, str] = field(default_factory=dict)  # further columns of `outputs`: outcome to its head

    @property
    def units(self) -> str:
        """The word for several units."""
        return f"{self.unit}s"

    @property
    def clusters(self) -> str:
        """The word for several clusters."""
        return f"{self.cluster}s"

    @property
    def contrast_label(self) -> str:
        """The difference of views in tables: ``VI+TEI − TEI``."""
        first, second = self.view_contrast
        return f"{first.label} \N{MINUS SIGN} {second.label}"

    @property
    def contrast_name(self) -> str:
        """The difference of views in files: ``stacked - tei``."""
        return " - ".join(self.view_contrast)

    @property
    def field_names(self) -> dict[str, str]:
        """What fields of results are called in files, where that is this task's own word."""
        return {
            "variant": self.axis, "units": self.units, "clusters": self.clusters, "sd_units": f"sd_{self.units}",
            "sd_clusters": f"sd_{self.clusters}", "p_clusters": f"p_{self.clusters}",
        }  # fmt: skip


RESTORATION = ScoredTask(
    name="vcr",
    unit="span",
    cluster="image",
    axis="mode",
    axis_label="Mode",
    views=(View.STACKED, View.TEI, View.STRIP, View.TEXT),
    image_views=IMAGE_VIEWS,
    metrics={
        "exact": Metric("Exact match"), "jaccard": Metric("Jaccard"), "precision": Metric("Precision"),
        "recall": Metric("Recall"), "f1": Metric("F1"), "rouge1": Metric("ROUGE-1"),
        "similarity": Metric("Similarity"), "character": Metric("Character"),
    },
    shown=("exact", "jaccard"),
    outcomes=("exact", "wrong", "short", "cut", "refused", "empty", "null", "failed", "missing"),
    counts=("answered", "refused", "empty", "null", "failed", "missing", "thinking", "cut"),
    extra_counts={"short": "No n-gram"},
    lengths=True,
    view_contrast=(View.STACKED, View.TEI),
    protocols=("paper", "vlmevalkit", "lmms-eval"),
    does="restores",
    did="restored",
    near_copy=0.9,
    evidence={
        "span": int, "answer": str, "outcome": str, "ngram": str, "start": int, "end": int, "distance": int,
        "verbatim": bool,
    },
)  # fmt: skip
TASKS = {task.name: task for task in (RESTORATION,)}
DEFAULT = RESTORATION  # the task of files that name none: those from before there were others, and all of its own
LABELS = {name: metric.label for task in TASKS.values() for name, metric in task.metrics.items()}
