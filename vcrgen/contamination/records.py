"""Records of a report on contamination. Shares are from 0 to 1; only tables turn them into percent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vcrgen.dataset.views import View
from vcrgen.scorer.comparison import ALPHA
from vcrgen.scorer.results import Estimate


class Verdict(StrEnum):
    """The reading of a difference between the set and other pairs or spans."""

    MORE = "more"
    LESS = "less"
    OPEN = "open"  # the interval includes 0, or chance may give as much among so many tests


class CanaryOutcome(StrEnum):
    """The outcome of one question for a canary."""

    REPEATED = "repeated"
    SILENT = "not repeated"
    NO_REPLY = "no reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredShare:
    """The exact match of a model on some spans of a dataset."""

    data: str  # the dataset, as the user named it
    mode: str
    view: View
    spans: int
    images: int
    exact: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class UnguessedShare:
    """The exact match in a view that shows an image, on all spans and on those that no text-only run recovered."""

    all: RecoveredShare
    unguessed: RecoveredShare


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The exact match on the set minus that on other pairs, or on other spans of the same pairs."""

    ours: RecoveredShare  # on the set
    theirs: RecoveredShare
    value: float
    low: float  # lower end of the 95 % interval; images are resampled
    high: float
    p: float  # two-sided: below 0.05 where the interval leaves out 0
    p_holm: float  # the same, corrected by Holm for all differences of the report

    @property
    def excludes_zero(self) -> bool:
        """True where the interval excludes 0."""
        return self.low > 0 or self.high < 0

    @property
    def verdict(self) -> Verdict:
        """The verdict: open unless the interval excludes 0 and the corrected p-value is below 0.05."""
        if not self.excludes_zero or self.p_holm >= ALPHA:
            return Verdict.OPEN
        return Verdict.MORE if self.low > 0 else Verdict.LESS


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryReply:
    """One question for the canary of a hidden set."""

    data: str  # the public part
    way: str  # how it was asked
    outcome: CanaryOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ContaminationReport:
    """All tests of one model and one set; a test that was skipped is empty."""

    model: str  # as its files name it, or the first file
    data: str  # the set; empty where only a canary was asked for
    signature: str  # of the scores on the set
    guessed: tuple[RecoveredShare, ...] = ()  # text only: the set first, then the others
    unguessed: tuple[UnguessedShare, ...] = ()
    fresh: tuple[Contrast, ...] = ()
    redrawn: tuple[Contrast, ...] = ()
    canary: tuple[CanaryReply, ...] = ()
    notes: tuple[str, ...] = ()  # sentences a reader of the figures should know
