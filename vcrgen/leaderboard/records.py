"""Records that cross the rooms of a leaderboard: what is stored of a submission, and what people are shown.

Scores are shares from 0 to 1; only pages and exports turn them into percent. Whatever is in a record below ``Figure``
may be seen by anybody: it has passed ``disclosure.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from vcrgen.dataset.views import View
from vcrgen.leaderboard.facts import ModelFacts
from vcrgen.published.quoted import Quoted

SHOWN_METRICS = ("exact", "jaccard")


class State(StrEnum):
    """Where a submission stands."""

    QUEUED = "queued"
    SCORING = "scoring"
    SCORED = "scored"
    FAILED = "failed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSet:
    """A set that a board scores.

    Attributes:
        name: Its name on the board: letters, digits, ``-``.
        path: The dataset or key on this machine; never shown.
        hidden: Whether its answers are secret.
        language: Language code.
        questions: Images.
        spans: Hidden texts in them.
        modes: The modes outputs can be in.
        signature: What scores made now can be compared with.
    """

    name: str
    path: str
    hidden: bool
    language: str
    questions: int
    spans: int
    modes: tuple[str, ...]
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One file of outputs that was accepted.

    Attributes:
        id: 32 random hex digits; who knows them may see the status.
        set: Name of the test set.
        facts: What the team says of the model.
        file: SHA-256 of the file's bytes, in hex.
        file_name: What the team called it.
        bytes: Its size.
        channel: ``api``, ``page`` or ``command line``.
        received: When it was accepted.
        state: Where it stands.
        attempts: How often scoring it was begun.
        finished: When it was scored or failed, or None.
        problems: Why it failed, sentence by sentence.
        removed: Why a maintainer took it off the board; empty if nobody did.
    """

    id: str
    set: str
    facts: ModelFacts
    file: str
    file_name: str
    bytes: int
    channel: str
    received: datetime
    state: State = State.QUEUED
    attempts: int = 0
    finished: datetime | None = None
    problems: tuple[str, ...] = ()
    removed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A line of the log that is never changed.

    Attributes:
        number: From 1, without gaps.
        at: When.
        actor: ``team NAME``, ``worker``, or ``maintainer NAME``.
        what: What was done: ``accepted``, ``scored``, ``failed``, ``removed``, …
        subject: Of what: an entry's hex digits, a set's or a team's name.
        facts: More: model, set, SHA-256 of the file, signature, reason.
        chain: SHA-256 over this event and the chain before it.
    """

    number: int
    at: datetime
    actor: str
    what: str
    subject: str
    facts: Mapping[str, str]
    chain: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over spans with its 95 % interval over images, as shares.

    Attributes:
        value: The mean; rounded if the set is hidden.
        low: Lower end.
        high: Upper end.
    """

    value: float
    low: float
    high: float


Figures = Mapping[str, Figure]  # by the names of SHOWN_METRICS


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """What one table ranks: a set, a mode and a view.

    Attributes:
        set: Name of the set.
        hidden: Whether its answers are secret.
        language: Language code.
        mode: ``easy``, ``hard``, or ``mixed``.
        view: The view that ranks.
        questions: Images in the set.
        spans: Hidden texts in the set.
        step: What scores are rounded to, as a share; 0 if they are not.
    """

    set: str
    hidden: bool
    language: str
    mode: str
    view: View
    questions: int
    spans: int
    step: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A model in a table.

    Attributes:
        facts: The model.
        received: When its outputs were handed in.
        rank: One more than the number of models that are better beyond doubt; models that cannot be told apart from
            the best share the first rank.
        lowest: The last rank it could have: models in the table minus those it is better than beyond doubt.
        scores: By view; the view of the table and, if it was handed in, the other one.
        difference: VI+TEI minus TEI, if both views are there.
    """

    facts: ModelFacts
    received: datetime
    rank: int
    lowest: int
    scores: Mapping[View, Figures]
    difference: Figures | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Rows that can be compared: they have one signature."""

    signature: str
    short: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardTable:
    """Everything on one page of the board.

    Attributes:
        track: What is ranked.
        rankings: By signature, the newest first; ranks never cross them.
        quoted: Rows from publications in the same language, mode and view; on other data, so without a rank.
    """

    track: Track
    rankings: tuple[Ranking, ...]
    quoted: tuple[Quoted, ...] = ()

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
    """Scores of some of the spans: of one length, place, share of visible ink."""

    by: str
    label: str
    spans: int
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCell:
    """One mode and view of a model on one set.

    Attributes:
        track: Set, mode and view.
        rank: As in :class:`Row`.
        lowest: As in :class:`Row`.
        models: Models in that ranking.
        figures: The scores.
        outcomes: Spans by outcome; empty for a hidden set.
        groups: Breakdowns; empty for a hidden set.
    """

    track: Track
    rank: int
    lowest: int
    models: int
    figures: Figures
    outcomes: Mapping[str, int] = field(default_factory=dict)
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """What one file of a model gave on one set.

    Attributes:
        set: Name of the set.
        facts: The model as described with this file.
        received: When it was handed in.
        file: SHA-256 of the file.
        bytes: Its size.
        signature: Of the scores.
        current: Whether the board shows it; a later file of the same model takes its place.
        removed: Why it was taken off; empty if it was not.
        cells: The scores; empty where it is not current.
        differences: VI+TEI minus TEI by mode.
    """

    set: str
    facts: ModelFacts
    received: datetime
    file: str
    bytes: int
    signature: str
    current: bool
    removed: str = ""
    cells: tuple[ModelCell, ...] = ()
    differences: Mapping[str, Figures] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPage:
    """A model with everything that was handed in for it, the newest first."""

    facts: ModelFacts
    runs: tuple[ModelRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Versus:
    """Two models in one mode and view of one set, on the same resamples of the same images.

    Attributes:
        track: Set, mode and view.
        a: Scores of the first.
        b: Scores of the second.
        difference: First minus second.
        p: McNemar's exact p-value over spans; None for a hidden set.
        only_a: Spans that only the first restored; None for a hidden set.
        only_b: Spans that only the second restored; None for a hidden set.
        conclusion: A plain sentence.
    """

    track: Track
    a: Figures
    b: Figures
    difference: Figures
    p: float | None
    only_a: int | None
    only_b: int | None
    conclusion: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparePage:
    """Two models side by side, wherever both were scored in the same way."""

    a: ModelFacts
    b: ModelFacts
    parts: tuple[Versus, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A model's exact match on a public set and on a hidden set of the same language, VI+TEI."""

    facts: ModelFacts
    public: Track
    hidden: Track
    on_public: Figure
    on_hidden: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a board takes from one team; see ``board.yaml``."""

    file_mb: int
    scored_a_day: int
    scored_hidden_a_day: int
    scored_hidden_in_all: int
    failed_a_day: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What stands on every page of a board.

    Attributes:
        title: The board's title.
        intro: One sentence below it; may be empty.
        contact: How to reach the maintainers; may be empty.
        sets: The test sets.
        tracks: All tables, in the order of the navigation.
        models: Every model on the board, by name.
        live: Whether a service answers: there are pages to submit and of one's submission, and any two models can be
            compared.
        compared: Pairs of entries with a page that compares them, where the site is not live.
        limits: For the page to submit.
        updated: When the newest thing on the board happened, or None if it is new.
    """

    title: str
    intro: str
    contact: str
    sets: tuple[TestSet, ...]
    tracks: tuple[Track, ...]
    models: tuple[ModelFacts, ...]
    live: bool
    compared: frozenset[tuple[str, str]]
    limits: Limits
    updated: datetime | None
