"""Metrics, outcomes and contrasts of each task: one record for each kind of data that is scored.

Example: in Visual Caption Restoration a unit is a span, bootstrap replicates draw images, a cell is a mode and a view,
and the two main metrics are exact match and Jaccard. Scoring, statistics, reports, saved scores and boards read this
record and know no task by name. Sentences for web pages are in ``wording.py``, the columns of datasets in
``vcr.py`` and ``bloom.py``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vcrgen.data.views import IMAGE_VIEWS, View


class Metric(NamedTuple):
    """One metric of a unit."""

    label: str  # in tables
    maximum: float = 1.0  # the minimum is 0
    chance: float | None = None  # expected value of a random choice, or None where there is no such figure
    in_sentence: str = ""  # where that is not the label in small letters

    @property
    def in_text(self) -> str:
        """The name within a sentence, as in "3 points of exact match"."""
        return self.in_sentence or self.label.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredTask:
    """One kind of data that is scored."""

    name: str  # in manifests
    unit: str  # what has a score of its own; with an s it is the plural
    cluster: str  # what units share, and what the bootstrap draws: units of one cluster are correlated
    question: str  # what one output answers: a cluster or a unit
    axis: str  # what cells differ in besides the view, as files of outputs call it
    axis_label: str  # the same in tables
    views: tuple[View, ...]  # in the order of tables
    image_views: tuple[View, ...]  # those that show an image; the first is the main one
    board_views: tuple[View, ...]  # those that boards take
    metrics: Mapping[str, Metric]  # by name, in the order of files and tables
    main_metrics: tuple[str, str]  # the two that every table and every group has; the first ranks and is tested
    outcomes: tuple[str, ...]  # what can become of a unit; the first is the good one
    counts: tuple[str, ...] = ()  # what is counted of the outputs of a cell, in the order of tables
    # Outcomes that the table of outputs counts beside them, with their heads.
    outcome_heads: Mapping[str, str] = field(default_factory=dict)
    # Paired differences of two views (first minus second), of each two values of the axis, and of each two metrics.
    view_contrast: tuple[View, View]
    axis_contrasts: bool = False
    metric_contrasts: tuple[tuple[str, str], ...] = ()
    macros: tuple[str, ...] = ()  # breakdowns whose labels' means are averaged, each label with the same weight
    protocols: tuple[str, ...]  # by which its outputs are read; the first is the default
    verb_better: str  # of the better of two models, as in "A recovers more than B"
    verb_identical: str  # of two models that no unit distinguishes
    has_lengths: bool = False  # whether outputs and answers are texts of which the lengths can be compared
    evidence: Mapping[str, type] = field(default_factory=dict)  # columns of evidence between view and metrics

    @property
    def leading(self) -> Metric:
        """The metric that ranks and is tested."""
        return self.metrics[self.main_metrics[0]]

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
        """Names of result fields in files, where the task has a word of its own."""
        return {
            "variant": self.axis,
            "units": self.units,
            "clusters": self.clusters,
            "effective_clusters": f"effective_{self.clusters}",
            "sd_units": f"sd_{self.units}",
            "sd_clusters": f"sd_{self.clusters}",
            "p_clusters": f"p_{self.clusters}",
        }


VCR_TASK = ScoredTask(
    name="vcr",
    unit="span",
    cluster="image",
    question="image",
    axis="mode",
    axis_label="Mode",
    views=(View.STACKED, View.TEI, View.STRIP, View.TEXT_ONLY),
    image_views=IMAGE_VIEWS,
    board_views=IMAGE_VIEWS,
    metrics={
        "exact": Metric("Exact match"),
        "jaccard": Metric("Jaccard"),
        "precision": Metric("Precision"),
        "recall": Metric("Recall"),
        "f1": Metric("F1"),
        "rouge1": Metric("ROUGE-1"),
        "similarity": Metric("Similarity"),
        "character": Metric("Character"),
    },
    main_metrics=("exact", "jaccard"),
    outcomes=("exact", "wrong", "short", "beyond_limit", "refused", "empty", "null", "failed", "missing"),
    counts=("answered", "refused", "empty", "null", "failed", "missing", "thinking", "beyond_limit"),
    outcome_heads={"short": "No n-gram"},
    view_contrast=(View.STACKED, View.TEI),
    protocols=("vcrgen", "paper", "vlmevalkit", "lmms-eval"),
    verb_better="recovers more",
    verb_identical="recovered exactly the same spans",
    has_lengths=True,
    evidence={
        "span": int,
        "answer": str,
        "outcome": str,
        "ngram": str,
        "start": int,
        "end": int,
        "distance": int,
        "verbatim": bool,
        "pixel_bits": float,
    },
)
_MCQ_OUTCOMES = ("right", "wrong", "ambiguous", "invalid", "refused", "empty", "null", "failed", "missing")
MCQ_TASK = ScoredTask(
    name="bloom",
    unit="item",
    cluster="picture",
    question="item",
    axis="lang",
    axis_label="Language",
    views=(View.IMAGE, View.TEXT_ONLY),
    image_views=(View.IMAGE,),
    board_views=(View.IMAGE, View.TEXT_ONLY),
    metrics={
        "rae": Metric("RAE", chance=0.25, in_sentence="RAE"),
        "circular": Metric("Circular"),
        "trap": Metric("Trap", chance=1 / 3),
        "lbs": Metric("LBS", chance=0.25, in_sentence="LBS"),
        "lbs_sum": Metric("LBS, sum", chance=0.25),
        "lbs_byte": Metric("LBS, byte", chance=0.25),
        "lbs_char": Metric("LBS, character", chance=0.25),
        "lbs_pmi": Metric("LBS, PMI", chance=0.25),
        "letter": Metric("Letter", chance=0.25),
        "confidence": Metric("Confidence"),
        "brier": Metric("Brier", maximum=2.0),
    },
    main_metrics=("rae", "lbs"),
    outcomes=_MCQ_OUTCOMES,
    outcome_heads={outcome: outcome.capitalize() for outcome in _MCQ_OUTCOMES},
    view_contrast=(View.IMAGE, View.TEXT_ONLY),
    axis_contrasts=True,
    metric_contrasts=(("rae", "lbs"),),
    macros=("level", "category"),
    protocols=("bloom-v5", "bloom-code", "bloom-open"),
    verb_better="gets more items right",
    verb_identical="got exactly the same items right",
    evidence={"path": str, "answer": str, "outcome": str, "choice": str},
)
TASKS = {task.name: task for task in (VCR_TASK, MCQ_TASK)}
LABELS = {name: metric.label for task in TASKS.values() for name, metric in task.metrics.items()}
