"""Records that cross the packages of a leaderboard: test sets, models, submissions, and the log."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from functools import lru_cache

from vcrgen.core.files import canonical_json
from vcrgen.core.signature import Signature
from vcrgen.data.key import FEEDBACK, FINAL, Pictures
from vcrgen.data.tasks.task import VCR_TASK, ScoredTask
from vcrgen.data.views import View
from vcrgen.leaderboard.times import day, minute
from vcrgen.report.published.fields import Access

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
    private: bool = False  # whether a team may hide a file until it chooses it
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
            return f"The set {name!r} was retired on {day(self.retired)}; it takes no more files."
        if self.closing is not None:
            return f"The set {name!r} is closed; it takes no more files."
        if self.opens is not None and at < self.opens:
            return f"The set {name!r} opens at {minute(self.opens)} UTC."
        if self.closes is not None and at >= self.closes:
            return f"The set {name!r} took files until {minute(self.closes)} UTC."
        return ""


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
    # Kind of cover by mode; a hidden set covers its spans in these modes in turn. Empty if no signature names them.
    covers: Mapping[str, str] = field(default_factory=dict, hash=False)
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
    def pictures(self) -> str:
        """The source of a hidden set's pictures; "" of another set."""
        return Signature.parse(self.signature).facts.get("pictures", "")

    @property
    def is_copied(self) -> bool:
        """Whether answers can be taken from public questions: of hidden ones about drawn scenes."""
        return self.task is not VCR_TASK and self.pictures == Pictures.DRAWN

    def output_line(self, question_id: str, variant: str, output: str | None) -> str:
        """A line of a file of outputs, as JSON; the variant is a mode or whatever else the axis of the task is."""
        line = {"question_id": question_id, "output": output, "view": self.lifecycle.view.value}
        if len(self.modes) > 1:
            line[self.task.axis] = variant
        return json.dumps(line, ensure_ascii=False)

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
    state: Mapping[str, str]  # digests of what the board shows after it, by table; never shown
    chain: str  # SHA-256 over this event and the chain of the one before

    @property
    def head(self) -> str:
        """Number and chain of the line: whoever has it notices a later change of this line or of one before it."""
        return f"{self.number}:{self.chain}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """What a line of the log says, before it has its number."""

    actor: str
    what: str
    subject: str
    facts: Mapping[str, str]
