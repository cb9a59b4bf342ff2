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
    image_views: tuple[View, ...]  # those that show an image; the first is the main one
    board_views: tuple[View, ...]  # those that boards take
    metrics: Mapping[str, Metric]  # by name, in the order of files and tables
    shown: tuple[str, str]  # the two that every table and every group has; the first ranks and is tested
    outcomes: Mapping[str, str]  # what can become of a unit, with words for pages; the first is the good one
    counts: tuple[str, ...]  # what is counted of the outputs of a cell, in the order of tables
    # Paired differences of two views (first minus second), of each two values of the axis, and of each two metrics.
    view_contrast: tuple[View, View]
    axis_contrasts: bool = False
    metric_contrasts: tuple[tuple[str, str], ...] = ()
    macros: tuple[str, ...] = ()  # ways to divide units whose labels' means are averaged, each label counting alike
    protocols: tuple[str, ...]  # by which its outputs are read; the first is the default
    does: str  # what the better of two models does, as in "A restores more than B"
    did: str  # what two models have done that no unit tells apart
    lengths: bool = False  # whether outputs and answers are texts of which the lengths can be compared
    right: str  # what a model has done with a unit, as in "only A restored 3 texts"
    subjects: str  # the units on pages of boards
    size: str  # how many `questions` and `units` a set has, for pages
    basis: str  # the same, after "In percent, over"
    asks: str  # what a model has to do, for boards
    how: str  # how outputs are scored, for boards
    people: str  # what people of a study have done, for boards
    near_copy: float  # share of outputs that two files of a team on a hidden set may have in common, at most
    evidence: Mapping[str, type] = field(default_factory=dict)  # columns of evidence between view and metrics
    # Outcomes that the table of outputs counts beside them, with their heads.
    outcome_heads: Mapping[str, str] = field(default_factory=dict)

    @property
    def leading(self) -> Metric:
        """The metric that ranks and is tested."""
        return self.metrics[self.shown[0]]

    @property
    def units(self) -> str:
        """The word for several units."""
        return f"{self.unit}s"

    @property
    def clusters(self) -> str:
        """The word for several clusters."""
        return f"{self.cluster}s"

    @property
    def unit_head(self) -> str:
        """The units as the head of a column on boards: one word, such as "Texts"."""
        return self.subjects.split()[-1].capitalize()

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
    board_views=IMAGE_VIEWS,
    metrics={
        "exact": Metric("Exact match"), "jaccard": Metric("Jaccard"), "precision": Metric("Precision"),
        "recall": Metric("Recall"), "f1": Metric("F1"), "rouge1": Metric("ROUGE-1"),
        "similarity": Metric("Similarity"), "character": Metric("Character"),
    },
    shown=("exact", "jaccard"),
    outcomes={
        "exact": "restored exactly", "wrong": "another text", "short": "output too short",
        "cut": "not in the part that is read", "refused": "refused", "empty": "empty output", "null": "null output",
        "failed": "failed call", "missing": "no output",
    },
    counts=("answered", "refused", "empty", "null", "failed", "missing", "thinking", "cut"),
    outcome_heads={"short": "No n-gram"},
    lengths=True,
    view_contrast=(View.STACKED, View.TEI),
    protocols=("paper", "vlmevalkit", "lmms-eval"),
    does="restores more",
    did="restored exactly the same spans",
    right="restored",
    subjects="covered texts",
    size="{questions:,} images, {units:,} covered texts",
    basis="{units:,} hidden texts in {questions:,} images",
    asks=(
        "A picture has its caption in it, below or above what it shows, and some words of the caption are covered, so "
        "that only parts of their letters are left. A model has to write the covered texts. Easy covers leave more of "
        "the letters than hard ones; a level such as ink-0.20 says what share of their ink is left."
    ),
    how=(
        "The protocol is paper-v2. For every covered text the scorer takes all n-grams of the output with as many "
        "tokens, and of them the nearest one by Levenshtein distance. Exact match is 1 if that n-gram is the text; "
        "Jaccard is the overlap of their sets of tokens. Nothing is normalised: case, width and composition count. A "
        "score is the mean over all covered texts."
    ),
    people="restored images",
    near_copy=0.9,
    evidence={
        "span": int, "answer": str, "outcome": str, "ngram": str, "start": int, "end": int, "distance": int,
        "verbatim": bool,
    },
)  # fmt: skip
QUESTIONS = ScoredTask(
    name="bloom",
    unit="item",
    cluster="picture",
    axis="lang",
    axis_label="Language",
    views=(View.IMAGE, View.BLIND),
    image_views=(View.IMAGE,),
    board_views=(View.IMAGE, View.BLIND),
    metrics={
        "rae": Metric("RAE", chance=0.25, said="RAE"), "circular": Metric("Circular"),
        "trap": Metric("Trap", chance=1 / 3), "lbs": Metric("LBS", chance=0.25, said="LBS"),
        "lbs_sum": Metric("LBS, sum", chance=0.25), "lbs_byte": Metric("LBS, byte", chance=0.25),
        "lbs_char": Metric("LBS, character", chance=0.25), "lbs_pmi": Metric("LBS, PMI", chance=0.25),
        "letter": Metric("Letter", chance=0.25), "confidence": Metric("Confidence"), "brier": Metric("Brier", most=2.0),
    },
    shown=("rae", "lbs"),
    outcomes={
        "right": "the right option", "wrong": "another option", "ambiguous": "two options or more",
        "invalid": "no option", "refused": "refused", "empty": "empty output", "null": "null output",
        "failed": "failed call", "missing": "no output",
    },
    counts=(),
    outcome_heads={
        "right": "Right", "wrong": "Wrong", "ambiguous": "Ambiguous", "invalid": "Invalid", "refused": "Refused",
        "empty": "Empty", "null": "Null", "failed": "Failed", "missing": "Missing",
    },
    view_contrast=(View.IMAGE, View.BLIND),
    axis_contrasts=True,
    metric_contrasts=(("rae", "lbs"),),
    macros=("level", "leaf"),
    protocols=("bloom-v1", "bloom-code"),
    does="gets more items right",
    did="got exactly the same items right",
    right="got right",
    subjects="items",
    size="{units:,} questions",
    basis="{units:,} questions",
    asks=(
        "A picture has a question with four options, of which one is right. A model has to choose it. A set may ask in "
        "several languages, each of which has a table of its own."
    ),
    how=(
        "Of a question set the scorer reads which of the four options an output chooses (protocol bloom-v1). RAE is "
        "the share of questions with the right one; who guesses has 25 %. LBS takes the option with the highest mean "
        "log-probability of a token, where a file has log-probabilities."
    ),
    people="answered questions",
    # Two models that are right on nine of ten questions agree on most of them: only files that differ in hardly any
    # answer tell what the key is.
    near_copy=0.95,
    evidence={"path": str, "answer": str, "outcome": str, "choice": str},
)  # fmt: skip
TASKS = {task.name: task for task in (RESTORATION, QUESTIONS)}
DEFAULT = RESTORATION  # the task of files that name none: those from before there were others, and all of its own
LABELS = {name: metric.label for task in TASKS.values() for name, metric in task.metrics.items()}
