"""Records that cross the packages of a leaderboard: what is stored of a submission, and what people are shown.

Scores are shares from 0 to 1; only pages and exports turn them into percent. Every record from ``Figure`` on may be
seen by anybody: what it says of scores has passed ``disclosure.py``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cached_property, lru_cache

from vcrgen.core.files import canonical_json
from vcrgen.core.signature import Signature
from vcrgen.data.key import FEEDBACK, FINAL
from vcrgen.data.tasks.task import VCR_TASK, ScoredTask
from vcrgen.data.views import View
from vcrgen.leaderboard.settings import Settings
from vcrgen.report.published.fields import Access
from vcrgen.report.published.human_baseline import HumanScore
from vcrgen.report.published.results import ReportedResult

NO_MODE = "any"  # of outputs that state no mode, where the set has none
BY_MAINTAINERS = "command line"  # the channel of files to which no limits apply


class Feedback(StrEnum):
    """Disclosure of the scores of a set while it is open."""

    FULL = "full"  # everything: public sets
    LADDER = "ladder"  # one rounded figure of the feedback split, and only where it beats the team's best
    INSTANT = "instant"  # rounded scores of the whole key


class SubmissionStatus(StrEnum):
    """Stage of a submission."""

    HELD = "held"  # until a maintainer approves it
    QUEUED = "queued"
    SCORING = "scoring"
    SCORED = "scored"
    FAILED = "failed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """One model as its team describes it; made by `model_facts.check_facts`."""

    team: str  # who submits
    model: str
    link: str = ""  # an http or https address, or empty
    access: Access = Access.UNKNOWN  # whether others can run the model
    size: float | None = None  # parameters in billions
    released: date | None = None

    @property
    def entry(self) -> str:
        """Twelve hex digits that stand for team and model: the name of the model's page."""
        return entry_of(self.team, self.model)


@lru_cache(maxsize=4096)
def entry_of(team: str, model: str) -> str:
    """The entry of a team's model; names that differ in case only are the same."""
    return hashlib.sha256(canonical_json([team.casefold(), model.casefold()]).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSize:
    """Size of the set, or of the split of it, that a score is about."""

    questions: int  # number of images
    spans: int  # number of masked spans in them


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLifecycle:
    """Phases of a set with their dates, and the disclosure in them: it opens, closes and is retired, once each."""

    feedback: Feedback = Feedback.FULL
    view: View = View.STACKED  # of a ladder: the view whose exact match is the one figure that is shown of a file
    splits: Mapping[str, SplitSize] = field(default_factory=dict)  # of a ladder: `feedback` and `final`
    opens: datetime | None = None  # files that come before are rejected
    closes: datetime | None = None  # files that come after are rejected
    closing: datetime | None = None  # when a maintainer began to close it: since then it takes no files
    closed: datetime | None = None  # when the scores of the final split were shown
    retired: datetime | None = None  # when it was taken out of use
    published: datetime | None = None  # when its key was published

    @property
    def ladder_open(self) -> bool:
        """True while only the steps of the ladder may be shown of its scores."""
        return self.feedback is Feedback.LADDER and self.closed is None

    @property
    def split(self) -> str:
        """The split of the key that the shown scores are of; empty for the whole."""
        return "" if self.feedback is not Feedback.LADDER else FEEDBACK if self.ladder_open else FINAL

    @property
    def phase(self) -> str:
        """Current phase: open, closing, closed, retired or published."""
        moments = (
            ("published", self.published),
            ("retired", self.retired),
            ("closed", self.closed),
            ("closing", self.closing),
        )
        return next((word for word, at in moments if at is not None), "open")

    def has_secret(self, *, hidden: bool) -> bool:
        """Whether the answers of a set are secret: those of a hidden set until its key is published."""
        return hidden and self.published is None

    def refusal(self, name: str, at: datetime) -> str:
        """Why the set of this name takes no files at a moment, as a sentence; empty if it takes them."""
        if self.retired is not None:
            return f"The set {name!r} was retired on {self.retired:%Y-%m-%d}; it takes no more files."
        if self.closing is not None:
            return f"The set {name!r} is closed; it takes no more files."
        if self.opens is not None and at < self.opens:
            return f"The set {name!r} opens at {_minute(self.opens)}."
        if self.closes is not None and at >= self.closes:
            return f"The set {name!r} took files until {_minute(self.closes)}."
        return ""


def _minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSet:
    """A set that a board scores."""

    name: str  # its name on the board: small letters, digits and hyphens
    path: str  # the dataset or key on this machine; never shown
    hidden: bool  # whether its answers are secret
    language: str  # language code
    questions: int  # number of images
    spans: int  # number of masked spans in them
    modes: tuple[str, ...]  # the modes that outputs can be in
    signature: str  # of scores that are made now
    lifecycle: SetLifecycle = field(default=SetLifecycle(), hash=False)
    task: ScoredTask = field(default=VCR_TASK, hash=False)
    white_rows: bool = False  # whether its covers are white rows of a language whose bits under them are known: none

    @property
    def data(self) -> str:
        """The data as the signature names it: of a hidden set the beginning of its commitment."""
        return Signature.parse(self.signature).facts["data"]

    @property
    def protocol(self) -> str | None:
        """The protocol by which the set is scored, which it keeps; None for the default of its task."""
        name = Signature.parse(self.signature).facts.get("protocol", "")
        return name.rpartition("-")[0] or None if self.task is VCR_TASK else None

    @property
    def shown(self) -> SplitSize:
        """Size of the set, or of the split, that the shown scores are about."""
        return self.lifecycle.splits.get(self.lifecycle.split) or SplitSize(questions=self.questions, spans=self.spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One file of outputs that was accepted."""

    id: str  # 32 random hex digits; who knows them may see the status
    set: str  # name of the test set
    facts: ModelFacts
    file: str  # SHA-256 of the file's bytes, in hex
    file_name: str  # what the team called the file
    bytes: int  # its size
    channel: str  # "api", "page" or "command line"
    received: datetime  # when it was accepted
    status: SubmissionStatus = SubmissionStatus.QUEUED
    attempts: int = 0  # how often the process that scored it ended badly
    finished: datetime | None = None  # when it was scored or failed
    problems: tuple[str, ...] = ()  # why it failed, sentence by sentence
    removed: str = ""  # why a maintainer took it off the board; empty if nobody did
    scores_disclosed: int = 1  # figures that the key gives for it: one for each view and mode that is scored
    best: float | None = None  # what a ladder showed of it, a rounded share; None if it did not beat the team's best
    chosen: bool = False  # whether the team chose it to count; otherwise the last file of the model does
    private: bool = False  # whether only those who know its id see it; it never counts

    @property
    def log_details(self) -> dict[str, str]:
        """Details that every line of the log has of a submission; without the model if it is private."""
        details = {"team": self.facts.team, "model": self.facts.model, "set": self.set, "file": self.file}
        return {name: text for name, text in details.items() if name != "model"} if self.private else details

    @property
    def subject(self) -> str:
        """Whom a line of the log is about: the model; of a private file only that it is one."""
        return "a private file" if self.private else self.facts.entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Remaining quota of a team on a set, shared by teams of one group.

    Disclosed scores of a hidden set, files of a public one.
    """

    daily_limit: int  # the most in 24 hours
    left_today: int
    lifetime_limit: int | None  # the most ever; None for no limit
    left_lifetime: int | None

    @property
    def left(self) -> int:
        """Remaining number that may be scored now."""
        return self.left_today if self.left_lifetime is None else min(self.left_today, self.left_lifetime)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A line of the log, which is never changed."""

    number: int  # from 1, without gaps
    at: datetime
    actor: str  # "team NAME", "worker" or "maintainer NAME"
    what: str  # what was done: "accepted", "scored", "failed", "removed", ...
    subject: str  # of what: an entry's hex digits, a set's or a team's name
    facts: Mapping[str, str]  # more: model, set, SHA-256 of the file, signature, reason
    chain: str  # SHA-256 over this event and the chain of the one before


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over spans with its 95 % interval over images, as shares; rounded if the set is hidden."""

    value: float
    low: float
    high: float


Estimates = Mapping[str, Estimate]  # by metric: those of the two shown ones of a task that are there


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardCell:
    """A model in one mode and view of one set; its figures have passed ``disclosure.py``."""

    run: int  # number of the run that it is of
    set: str  # name of the set
    mode: str
    view: View
    short: str  # of the signature: models with the same one are ranked together
    facts: ModelFacts
    received: datetime  # when its outputs were submitted
    better: int | None  # models of its ranking that are significantly better, and worse; None for a private file
    worse: int | None
    estimates: Estimates
    difference: Estimates | None  # of the run in this mode: VI+TEI minus TEI, if both views are there


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """A set, a mode and a view: the basis of one table."""

    set: str  # name of the set
    hidden: bool  # whether its answers are secret
    language: str  # language code
    mode: str  # "easy", "hard", "mixed", or "any" where outputs state none
    view: View  # the view that ranks
    questions: int  # number of images in the set
    spans: int  # number of masked spans in the set
    step: float = 0.0  # what scores are rounded to, as a share; 0 if they are not
    lifecycle: SetLifecycle = field(default=SetLifecycle(), hash=False)
    task: ScoredTask = field(default=VCR_TASK, hash=False)
    settled_by_pixels: bool = False  # as the template baseline says, or else as its covers are white rows


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderRow:
    """A model on a set that is still open: of its scores people see the steps of its team's ladder."""

    facts: ModelFacts
    received: datetime  # when the file that is shown was submitted
    best: float | None  # its highest step, a rounded share; None if no file of it beat the team's best


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedModel:
    """A model in a table.

    Its rank is one more than the number of models that are significantly better, so models tied with the best share
    rank 1. The worst rank it could have is the number of models in the table minus those that it is significantly
    better than.
    """

    facts: ModelFacts
    received: datetime  # when its outputs were submitted
    rank: int
    worst_rank: int
    scores: Mapping[View, Estimates]  # of the table's view and, if it was submitted, of the other one
    difference: Estimates | None = None  # VI+TEI minus TEI, if both views are there


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Rows that can be compared: they have one signature."""

    signature: str
    short: str
    rows: tuple[RankedModel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelScore:
    """The template baseline on a set in one mode: exact match from the visible pixels alone, and the bits they leave.

    Shares are from 0 to 1. Bits are None where no span's are known.
    """

    mode: str
    images: int
    spans: int
    unread: int  # images whose strip it could not read, which count as wrong
    exact: float
    low: float  # lower end of the 95 % interval over images
    high: float
    bits: float | None = None  # median over the spans
    bits_p10: float | None = None  # the tenth percentile
    below_one_bit: float | None = None  # share of the spans
    signature: str = ""  # of the bits

    @property
    def settles(self) -> bool:
        """True if the pixels alone settle most spans."""
        return self.bits is not None and self.bits < 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardTable:
    """Everything on one page of the board."""

    track: Track
    rankings: tuple[Ranking, ...]  # by signature, the newest first; ranks never cross them
    ladder_rows: tuple[LadderRow, ...] = ()  # where there are no ranks yet: the highest step first
    reported: tuple[
        ReportedResult, ...
    ] = ()  # from publications in this language, mode and view; other data, so no rank
    pixels: tuple[PixelScore, ...] = ()  # the template baseline in this mode, whatever the view
    humans: tuple[HumanScore, ...] = ()  # of studies on items of the set: no rank, as they did not do all of it

    @property
    def views(self) -> list[View]:
        """The view that ranks, then the others that some model has scores for."""
        present = {view for ranking in self.rankings for row in ranking.rows for view in row.scores}
        return [self.track.view, *(view for view in View if view in present and view != self.track.view)]

    @property
    def has_differences(self) -> bool:
        """True if some model has scores for both views."""
        return any(row.difference for ranking in self.rankings for row in ranking.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Scores of some of the spans: of one length, place or share of visible ink."""

    by: str
    label: str
    spans: int
    estimates: Estimates


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCell:
    """One mode and view of a model on one set; ranks as in `RankedModel`, and 0 for a private file."""

    track: Track
    rank: int
    worst_rank: int
    models: int  # number of models in that ranking
    estimates: Estimates
    outcomes: Mapping[str, int] = field(default_factory=dict)  # spans by outcome; empty for a hidden set
    groups: tuple[Group, ...] = ()  # breakdowns; empty for a hidden set


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """Results of one file of a model on one set."""

    set: str
    facts: ModelFacts  # the model as described with this file
    received: datetime
    file: str  # SHA-256 of the file
    bytes: int
    signature: str
    current: bool  # whether the board shows it: another file of the same model takes its place
    split: str = ""  # the split of the key that was scored; empty for the whole
    best: float | None = None  # what a ladder showed of it; None if it did not beat the team's best
    length_ratio: float | None = None  # characters of its outputs over characters of the answers, in its longest view
    removed: str = ""  # why it was taken off; empty if it was not
    cells: tuple[ModelCell, ...] = ()  # empty where it is not current
    differences: Mapping[str, Estimates] = field(default_factory=dict)  # VI+TEI minus TEI by mode


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPage:
    """A model with everything that was submitted for it, the newest first."""

    facts: ModelFacts
    runs: tuple[ModelRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderFeedback:
    """Feedback to a team on a file on a set with a ladder."""

    task: ScoredTask = field(default=VCR_TASK, compare=False)
    view: View  # whose score it is
    step: float  # what it is rounded to, as a share
    leading_score: float | None  # None if the file did not beat the team's best by a step
    best: float | None  # the highest step of the team


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamFile:
    """A file as its team sees it."""

    submission: Submission
    counts: bool  # whether it is the one of its model that counts
    selected: bool = False  # whether it would be ranked if its set, on a ladder, were closed now
    feedback: LadderFeedback | None = None  # on a ladder, once it was scored
    cells: tuple[ModelCell, ...] = ()  # its scores where it is ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamPage:
    """Files of a team, the newest first, and its remaining quotas."""

    team: str
    files: tuple[TeamFile, ...]
    quotas: Mapping[str, Quota]  # by set; of those that take files now


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallScore:
    """Mean exact match of a model over the sets that the maintainers name in ``board.yaml``."""

    facts: ModelFacts
    exact: float  # a share; the mean of the figures below
    # By set: the mean over its modes, of the view by which the set is ranked; rounded if hidden.
    by_set: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseComparison:
    """Two models in one mode and view of one set, on the same bootstrap replicates of the same images."""

    track: Track
    a: Estimates
    b: Estimates
    difference: Estimates  # first minus second
    p: float | None = None  # McNemar's exact p-value over spans; this and the next two are None for a hidden set
    only_a: int | None = None  # spans that only the first recovered
    only_b: int | None = None  # spans that only the second recovered
    conclusion: str  # a plain sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparePage:
    """Two models side by side, wherever both were scored in the same way."""

    a: ModelFacts
    b: ModelFacts
    comparisons: tuple[PairwiseComparison, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicHiddenGap:
    """A model's leading score on a public and on a hidden set of one task and language, on the view with the image.

    Of Visual Caption Restoration the covers are of the same kind: in a hidden set every other region has an easy cover
    and the rest hard ones, so the public figure is the mean of that set's easy and hard modes.
    """

    facts: ModelFacts
    public: tuple[Track, ...]  # the tables of the public set that are compared: one, or easy and hard
    hidden: Track
    public_score: Estimate
    hidden_score: Estimate
    difference: Estimate  # hidden minus public

    @property
    def is_drop(self) -> bool:
        """True where the model is better on the public set by more than chance."""
        return self.difference.high < 0


@dataclass(frozen=True, kw_only=True)
class Site:
    """Settings, sets, tracks and models that every page of a board shows."""

    settings: Settings  # title, contact and limits; without the database's address
    sets: tuple[TestSet, ...]
    tracks: tuple[Track, ...]  # all tables, in the order of the navigation
    models: tuple[ModelFacts, ...]  # every model on the board, by name
    alike: frozenset[str] = frozenset()  # entries with a name that looks the same as another team's
    live: bool  # whether a service answers: only then outputs can be submitted and any two models compared
    compared: frozenset[tuple[str, str]]  # pairs of entries with a page that compares them, where it is not live
    updated: datetime | None  # when the newest thing on the board happened; None if it is new

    @cached_property
    def models_by_entry(self) -> Mapping[str, ModelFacts]:
        """The models by the twelve digits that stand for them."""
        return {facts.entry: facts for facts in self.models}
