"""What a scoring says: numbers with their intervals, counts and signature, ready for any report or a JSON file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from vcrgen.dataset.views import View
from vcrgen.errors import ScoreError
from vcrgen.signature import Signature

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Floats, Records

SCHEMA = "vcrgen-scores-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over spans, as a share.

    Attributes:
        value: The mean.
        sd_spans: Bootstrap standard deviation over spans, as published; None for groups.
        sd_images: Bootstrap standard deviation over images.
        low: Lower end of the 95 % interval over images.
        high: Its upper end.
    """

    value: float
    sd_spans: float | None
    sd_images: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """Scores of some of the spans."""

    by: str
    label: str
    spans: int
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """Scores of one mode and view.

    Attributes:
        mode: ``easy``, ``hard``, or ``-``.
        view: The image the model saw.
        images: Questions.
        spans: Spans of all questions.
        metrics: Means with their intervals.
        counts: As in :class:`vcrgen.scorer.tally.Cell`.
        outcomes: Number of spans by outcome.
        length_ratio: Characters of the outputs over characters of the answers.
        groups: The same scores for parts of the spans.
    """

    mode: str
    view: View
    images: int
    spans: int
    metrics: Mapping[str, Estimate]
    counts: Mapping[str, int]
    outcomes: Mapping[str, int]
    length_ratio: float | None
    groups: tuple[GroupResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """VI+TEI minus TEI on the same spans: what the picture adds."""

    mode: str
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resamples:
    """What a comparison with another run needs of a cell: not written to files.

    Attributes:
        means: For each metric its means over resamples of images.
        means_of_spans: For each metric its means over resamples of spans.
        scores: The scores of each span, by metric: ``scores["exact"]``.
    """

    means: Mapping[str, Floats]
    means_of_spans: Mapping[str, Floats]
    scores: Records


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Everything a scoring of one file gives.

    Attributes:
        name: The file's name without its suffix.
        model: The model the file names, or None.
        format: The file's format.
        lang: Language code.
        signature: What the scores can be compared with.
        cells: One for each mode and view in the file.
        differences: Paired differences between the views.
        problems: Odd things by kind, with the first places.
        notes: Sentences a reader of the scores should know.
        resamples: For comparisons.
        label: Stands for the run in tables where neither model nor file name is its own.
    """

    name: str
    model: str | None
    format: str
    lang: str
    signature: Signature
    cells: tuple[CellResult, ...]
    differences: tuple[Difference, ...]
    problems: Mapping[str, tuple[int, tuple[str, ...]]]
    notes: tuple[str, ...]
    resamples: Mapping[tuple[str, View], Resamples] = field(default_factory=dict, repr=False, compare=False)
    label: str = ""

    @property
    def title(self) -> str:
        """What stands for the run in tables: the model, or else the file."""
        return self.label or self.model or self.name

    def cell(self, view: str = "stacked", mode: str | None = None) -> CellResult:
        """The scores of one view, and of one mode where there are two.

        Raises:
            ScoreError: There are none, or two.
        """
        found = [cell for cell in self.cells if cell.view == view and mode in (None, cell.mode)]
        if len(found) != 1:
            have = ", ".join(f"{cell.view}/{cell.mode}" for cell in self.cells)
            raise ScoreError(f"{self.name}: {len(found)} scores of view {view!r}, mode {mode!r}; there are {have}.")
        return found[0]

    def as_json(self) -> dict[str, Any]:
        """The result as JSON values: shares, unrounded."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "model": self.model,
            "format": self.format,
            "language": self.lang,
            "signature": {"text": str(self.signature), "short": self.signature.short, **dict(self.signature.facts)},
            "scores": [asdict(cell) for cell in self.cells],
            "differences": [{"of": "stacked - tei", **asdict(difference)} for difference in self.differences],
            "problems": {kind: {"count": count, "first": list(f)} for kind, (count, f) in self.problems.items()},
            "notes": list(self.notes),
        }


def with_own_titles(results: Sequence[RunResult]) -> list[RunResult]:
    """The results, labelled so that no two have the same title."""
    labels = [result.title for result in results]
    if len(set(labels)) < len(labels):
        labels = [f"{result.model} ({result.name})" if result.model else result.name for result in results]
    if len(set(labels)) < len(labels):
        labels = [f"{text}, file {number}" for number, text in enumerate(labels, start=1)]
    return [replace(result, label=text) for result, text in zip(results, labels, strict=True)]


def require_one_signature(results: Sequence[RunResult]) -> None:
    """Refuse to put scores side by side that were not made in the same way.

    Raises:
        ScoreError: Two signatures differ; says in what.
    """
    for other in results[1:]:
        ours, theirs = results[0].signature.facts, other.signature.facts
        names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
        if names:
            parts = ", ".join(f"{name} is {ours.get(name)} and {theirs.get(name)}" for name in names)
            raise ScoreError(
                f"The scores of {results[0].name} and {other.name} cannot stand in one table: {parts}. "
                "Score both in the same way."
            )
