"""What a scoring says: numbers with their intervals, counts and signature, ready for any report or a JSON file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from vcrgen.dataset.views import View
from vcrgen.errors import ScoreError
from vcrgen.signature import Signature

if TYPE_CHECKING:
    from vcrgen.scorer.curves import RunCurve
    from vcrgen.stats.arrays import Floats, Ints, Records
    from vcrgen.stats.bootstrap import Resampled

SCHEMA = "vcrgen-scores-2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over spans, as a share."""

    value: float
    sd_spans: float | None  # bootstrap standard deviation over spans, as published; None for groups
    sd_images: float  # bootstrap standard deviation over images
    low: float  # lower end of the 95 % interval over images
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
    """Scores of one mode and view."""

    mode: str
    view: View
    images: int  # questions
    spans: int
    metrics: Mapping[str, Estimate]
    counts: Mapping[str, int]  # as in `Cell`
    outcomes: Mapping[str, int]  # number of spans by outcome
    length_ratio: float | None  # characters of the outputs over characters of the answers
    groups: tuple[GroupResult, ...]  # the same scores for parts of the spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """VI+TEI minus TEI on the same spans: what the picture adds."""

    mode: str
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resamples:
    """What a comparison with another run needs of a cell."""

    means: Mapping[str, Resampled]  # for each metric its mean, with those over resamples of images
    means_of_spans: Mapping[str, Floats]  # for each metric its means over resamples of spans
    scores: Records  # the scores of each span, by metric: `scores["exact"]`
    starts: Ints  # of each image, how many spans stand before it; and last, how many there are


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Everything a scoring of one file gives."""

    name: str  # the file's name without its suffix
    model: str | None  # the model the file names, or None
    format: str
    lang: str
    signature: Signature  # what the scores can be compared with
    cells: tuple[CellResult, ...]  # one for each mode and view in the file
    differences: tuple[Difference, ...]  # paired differences between the views
    problems: Mapping[str, tuple[int, tuple[str, ...]]]
    notes: tuple[str, ...]  # sentences a reader of the scores should know
    resamples: Mapping[tuple[str, View], Resamples] = field(default_factory=dict, repr=False, compare=False)
    curves: tuple[RunCurve, ...] = ()  # accuracy against visible ink in each view, where it was asked for
    label: str = ""  # stands for the run in tables where neither model nor file name is its own

    @property
    def title(self) -> str:
        """What stands for the run in tables: the model, or else the file."""
        return self.label or self.model or self.name

    def cell(self, view: str = "stacked", mode: str | None = None) -> CellResult:
        """The scores of one view, and of one mode where there are two; refuses where there are none, or two."""
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
            **({"curves": [curve.as_json() for curve in self.curves]} if self.curves else {}),
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
    """Refuse to put scores side by side that were not made in the same way; says in what they differ."""
    for other in results[1:]:
        ours, theirs = results[0].signature.facts, other.signature.facts
        names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
        if names:
            parts = ", ".join(f"{name} is {ours.get(name)} and {theirs.get(name)}" for name in names)
            raise ScoreError(
                f"The scores of {results[0].name} and {other.name} cannot stand in one table: {parts}. "
                "Score both in the same way."
            )
