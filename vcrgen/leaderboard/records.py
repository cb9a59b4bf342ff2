"""Records that cross the rooms of a leaderboard: what is stored of a submission, and what people are shown.

Scores are shares from 0 to 1; only pages and exports turn them into percent. Every record from ``Figure`` on may be
seen by anybody: what it says of scores has passed ``disclosure.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from vcrgen.dataset.key import FEEDBACK, FINAL
from vcrgen.dataset.views import View
from vcrgen.leaderboard.facts import ModelFacts
from vcrgen.leaderboard.settings import Settings
from vcrgen.published.people import PeopleScore
from vcrgen.published.quoted import Quoted
from vcrgen.tasks.task import DEFAULT, ScoredTask


class Feedback(StrEnum):
    """What teams are told of the scores of a set while it takes files."""

    FULL = "full"  # everything: public sets
    LADDER = "ladder"  # one rounded figure of the feedback part, and only where it beats the team's best
    INSTANT = "instant"  # rounded scores of the whole key


class State(StrEnum):
    """Where a submission stands."""

    HELD = "held"  # until a maintainer approves it
    QUEUED = "queued"
    SCORING = "scoring"
    SCORED = "scored"
    FAILED = "failed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPart:
    """How much of a set a score is about."""

    questions: int  # number of images
    spans: int  # number of covered texts in them


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """When a set takes files, and what is shown of them: it opens, closes, and is retired, each of them once."""

    feedback: Feedback = Feedback.FULL
    view: View = View.STACKED  # of a ladder: the view whose exact match is the one figure that is shown of a file
    parts: Mapping[str, SetPart] = field(default_factory=dict)  # of a ladder: `feedback` and `final`
    opens: datetime | None = None  # files that come before are refused
    closes: datetime | None = None  # files that come after are refused
    closing: datetime | None = None  # when a maintainer began to close it: since then it takes no files
    closed: datetime | None = None  # when the scores of the final part were shown
    retired: datetime | None = None  # when it was taken out of use
    published: datetime | None = None  # when its key was published

    @property
    def climbs(self) -> bool:
        """Whether nothing of its scores may be shown but the steps of the ladder."""
        return self.feedback is Feedback.LADDER and self.closed is None

    @property
    def part(self) -> str:
        """The part of the key that the shown scores are of; empty for the whole."""
        return "" if self.feedback is not Feedback.LADDER else FEEDBACK if self.climbs else FINAL

    @property
    def state(self) -> str:
        """Where it stands, in a word."""
        moments = (
            ("published", self.published), ("retired", self.retired), ("closed", self.closed), ("closing", self.closing)
        )  # fmt: skip
        return next((word for word, at in moments if at is not None), "open")

    def refusal(self, name: str, at: datetime) -> str:
        """Why the set of this name takes no file at a moment, as a sentence; empty if it takes them."""
        if self.retired is not None:
            return f"The set {name!r} was retired on {self.retired:%Y-%m-%d}; it takes no more files."
        if self.closing is not None:
            return f"The set {name!r} is closed; it takes no more files."
        if self.opens is not None and at < self.opens:
            return f"The set {name!r} takes files from {_minute(self.opens)} on."
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
    spans: int  # number of covered texts in them
    modes: tuple[str, ...]  # the modes that outputs can be in
    signature: str  # of scores that are made now
    phase: Phase = field(default=Phase(), hash=False)
    task: ScoredTask = field(default=DEFAULT, hash=False)

    @property
    def shown(self) -> SetPart:
        """What the scores that people see are about: the whole set, or a part of it."""
        return self.phase.parts.get(self.phase.part) or SetPart(questions=self.questions, spans=self.spans)


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
    state: State = State.QUEUED
    attempts: int = 0  # how often scoring it was begun
    finished: datetime | None = None  # when it was scored or failed
    problems: tuple[str, ...] = ()  # why it failed, sentence by sentence
    removed: str = ""  # why a maintainer took it off the board; empty if nobody did
    asked: int = 1  # figures that the key gives for it: one for each view and mode that is scored
    best: float | None = None  # what a ladder showed of it, a rounded share; None if it did not beat the team's best
    chosen: bool = False  # whether the team chose it to count; otherwise the last file of the model does
    private: bool = False  # whether only those who know its id see it; it never counts

    @property
    def told(self) -> dict[str, str]:
        """What every line of the log says of a submission; of a private one not the model."""
        told = {"team": self.facts.team, "model": self.facts.model, "set": self.set, "file": self.file}
        return {name: text for name, text in told.items() if name != "model"} if self.private else told

    @property
    def subject(self) -> str:
        """Whom a line of the log is about: the model; of a private file only that it is one."""
        return "a private file" if self.private else self.facts.entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What is left to a team on a set; teams of one group share it. Figures of a hidden set, files of a public one."""

    a_day: int  # the most in 24 hours
    left_today: int
    in_all: int | None  # the most ever; None for no limit
    left_in_all: int | None

    @property
    def left(self) -> int:
        """What the team may have scored now."""
        return self.left_today if self.left_in_all is None else min(self.left_today, self.left_in_all)


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
class Figure:
    """A mean over spans with its 95 % interval over images, as shares; rounded if the set is hidden."""

    value: float
    low: float
    high: float


Figures = Mapping[str, Figure]  # by metric: those of the two shown ones of a task that are there


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """What one table ranks: a set, a mode and a view."""

    set: str  # name of the set
    hidden: bool  # whether its answers are secret
    language: str  # language code
    mode: str  # "easy", "hard", "mixed", or "any" where outputs state none
    view: View  # the view that ranks
    questions: int  # number of images in the set
    spans: int  # number of covered texts in the set
    step: float = 0.0  # what scores are rounded to, as a share; 0 if they are not
    phase: Phase = field(default=Phase(), hash=False)
    task: ScoredTask = field(default=DEFAULT, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Climber:
    """A model on a set that still takes files: of its scores people see the steps of its team's ladder."""

    facts: ModelFacts
    received: datetime  # when the file that is shown was handed in
    best: float | None  # its highest step, a rounded share; None if no file of it beat the team's best


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedModel:
    """A model in a table.

    Its rank is one more than the number of models that are better beyond doubt, so models that cannot be told apart
    from the best share the first rank. The lowest rank it could have is the number of models in the table minus those
    that it is better than beyond doubt.
    """

    facts: ModelFacts
    received: datetime  # when its outputs were handed in
    rank: int
    lowest: int
    scores: Mapping[View, Figures]  # of the table's view and, if it was handed in, of the other one
    difference: Figures | None = None  # VI+TEI minus TEI, if both views are there


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Rows that can be compared: they have one signature."""

    signature: str
    short: str
    rows: tuple[RankedModel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardTable:
    """Everything on one page of the board."""

    track: Track
    rankings: tuple[Ranking, ...]  # by signature, the newest first; ranks never cross them
    climbers: tuple[Climber, ...] = ()  # where there are no ranks yet: the highest step first
    quoted: tuple[Quoted, ...] = ()  # from publications in this language, mode and view; other data, so no rank
    people: tuple[PeopleScore, ...] = ()  # of studies on items of the set: no rank, as they did not do all of it

    @property
    def views(self) -> list[View]:
        """The view that ranks, then the others that some model has scores for."""
        present = {view for ranking in self.rankings for row in ranking.rows for view in row.scores}
        return [self.track.view, *(view for view in View if view in present and view != self.track.view)]

    @property
    def has_differences(self) -> bool:
        """Whether some model has scores for both views."""
        return any(row.difference for ranking in self.rankings for row in ranking.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Scores of some of the spans: of one length, place or share of visible ink."""

    by: str
    label: str
    spans: int
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCell:
    """One mode and view of a model on one set; ranks as in :class:`RankedModel`, and 0 for a private file."""

    track: Track
    rank: int
    lowest: int
    models: int  # number of models in that ranking
    figures: Figures
    outcomes: Mapping[str, int] = field(default_factory=dict)  # spans by outcome; empty for a hidden set
    groups: tuple[Group, ...] = ()  # breakdowns; empty for a hidden set


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """What one file of a model gave on one set."""

    set: str
    facts: ModelFacts  # the model as described with this file
    received: datetime
    file: str  # SHA-256 of the file
    bytes: int
    signature: str
    current: bool  # whether the board shows it: another file of the same model takes its place
    part: str = ""  # the part of the key that was scored; empty for the whole
    best: float | None = None  # what a ladder showed of it; None if it did not beat the team's best
    removed: str = ""  # why it was taken off; empty if it was not
    cells: tuple[ModelCell, ...] = ()  # empty where it is not current
    differences: Mapping[str, Figures] = field(default_factory=dict)  # VI+TEI minus TEI by mode
    curves: Sequence[Mapping[str, Any]] = ()  # accuracy against visible ink, as results hold it; none of hidden sets


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPage:
    """A model with everything that was handed in for it, the newest first."""

    facts: ModelFacts
    runs: tuple[ModelRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a team is told of a file on a set with a ladder."""

    task: ScoredTask = field(default=DEFAULT, compare=False)
    view: View  # whose score it is
    step: float  # what it is rounded to, as a share
    exact: float | None  # None if the file did not beat the team's best by a step
    best: float | None  # the highest step of the team


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamFile:
    """A file as its team sees it; ``counts`` says whether it is the one of its model that counts."""

    submission: Submission
    counts: bool
    told: Told | None = None  # on a ladder, once it was scored
    cells: tuple[ModelCell, ...] = ()  # its scores where it is ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamPage:
    """What a team has handed in, the newest first, and what is left to it."""

    team: str
    files: tuple[TeamFile, ...]
    quotas: Mapping[str, Quota]  # by set; of those that take files now


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """One figure of a model: the mean of its exact match over the sets that the maintainers name in ``board.yaml``."""

    facts: ModelFacts
    exact: float  # a share; the mean of the figures below
    # By set: the mean over its modes, of the view by which the set is ranked; rounded if hidden.
    by_set: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versus:
    """Two models in one mode and view of one set, on the same resamples of the same images."""

    track: Track
    a: Figures
    b: Figures
    difference: Figures  # first minus second
    p: float | None = None  # McNemar's exact p-value over spans; this and the next two are None for a hidden set
    only_a: int | None = None  # spans that only the first restored
    only_b: int | None = None  # spans that only the second restored
    conclusion: str  # a plain sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparePage:
    """Two models side by side, wherever both were scored in the same way."""

    a: ModelFacts
    b: ModelFacts
    parts: tuple[Versus, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A model's exact match on a public and on a hidden set of the same language, VI+TEI, on the same kind of covers.

    In a hidden set every other region has an easy cover and the rest hard ones, so the public figure is the mean of
    that set's easy and hard modes.
    """

    facts: ModelFacts
    public: tuple[Track, ...]  # the tables of the public set that are compared: one, or easy and hard
    hidden: Track
    on_public: Figure
    on_hidden: Figure
    difference: Figure  # hidden minus public


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What stands on every page of a board."""

    settings: Settings  # title, contact and limits; without the database's address
    sets: tuple[TestSet, ...]
    tracks: tuple[Track, ...]  # all tables, in the order of the navigation
    models: tuple[ModelFacts, ...]  # every model on the board, by name
    alike: frozenset[str] = frozenset()  # entries with a name that looks the same as another team's
    live: bool  # whether a service answers: only then outputs can be handed in and any two models compared
    compared: frozenset[tuple[str, str]]  # pairs of entries with a page that compares them, where it is not live
    updated: datetime | None  # when the newest thing on the board happened; None if it is new
