"""Records that pages and exports render: what they say of scores has passed ``disclosure.py``.

Anybody may see them, but for those of a team, which are for itself. Scores are shares from 0 to 1; only pages and
exports turn them into percent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from vcrgen.data.tasks.task import VCR_TASK, ScoredTask
from vcrgen.data.views import View
from vcrgen.leaderboard.model_facts import lookalikes
from vcrgen.leaderboard.records import ModelFacts, Quota, SetLifecycle, Submission, TestSet
from vcrgen.leaderboard.settings import Settings
from vcrgen.report.published.human_baseline import HumanScore
from vcrgen.report.published.results import ReportedResult


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
    pictures: str = ""  # their source, of a hidden set
    settled_by_pixels: bool = False  # as the template baseline says, or else as its covers are white rows


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderRow:
    """A model on a set that is still open: of its scores people see the steps of its team's ladder."""

    facts: ModelFacts
    received: datetime  # when the file that is shown was submitted
    best: float | None  # its highest step, a rounded share; None if no file of it beat the team's best
    files: int  # of its team that were scored on the set, private and removed ones, too: it may be the best of so many


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedModel:
    """A model in a table.

    Its rank is one more than the number of models that are significantly better, so models tied with the best share
    rank 1. The worst rank it could have is the number of models in the table minus those that it is significantly
    better than. All true ranks of a table are in these ranges on 95 % of tables.
    """

    facts: ModelFacts
    received: datetime  # when its outputs were submitted
    rank: int
    worst_rank: int
    scores: Mapping[View, Estimates]  # of the table's view and, if it was submitted, of the other one
    difference: Estimates | None = None  # VI+TEI minus TEI, if both views are there
    files: int  # as of `LadderRow`


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
    p: float | None = None  # of sign flips of images; this and the next three are None for a hidden set
    p_corrected: float | None = None  # the same, corrected for all pairs of the ranking
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleItem:
    """An item of a public set as a model is shown it, with what is right."""

    question_id: str
    question: str  # the prompt
    answers: tuple[str, ...]
    picture: str  # a data URI; empty where the set has no pictures

    @property
    def right_output(self) -> str:
        """An output that is right."""
        return ", ".join(self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSamples:
    """The samples of a set."""

    made_of: str  # signature and view of the set when they were written
    item: ExampleItem | None = None  # of a public set
    has_files: bool = True  # whether a template is small enough for the board to take a file like it


@dataclass(frozen=True, kw_only=True)
class Site:
    """Settings, sets, tracks and models that every page of a board shows."""

    settings: Settings  # title, contact and limits; without the database's address
    sets: tuple[TestSet, ...]
    titles: Mapping[str, str] = field(default_factory=dict)  # of sets by name; a set without one is called by its name
    tracks: tuple[Track, ...]  # all tables, in the order of the navigation
    models_by_track: Mapping[Track, int] = field(default_factory=dict)  # how many models stand in each table
    models: tuple[ModelFacts, ...]  # every model on the board, by name
    live: bool  # whether a service answers: only then outputs can be submitted and any two models compared
    compared: frozenset[tuple[str, str]]  # pairs of entries with a page that compares them, where it is not live
    updated: datetime | None  # when the newest thing on the board happened; None if it is new
    head: str = ""  # number and chain of the last line of the log

    @cached_property
    def models_by_entry(self) -> Mapping[str, ModelFacts]:
        """The models by the twelve digits that stand for them."""
        return {facts.entry: facts for facts in self.models}

    def title_of(self, set_name: str) -> str:
        """What pages call a set."""
        return self.titles.get(set_name, set_name)

    @cached_property
    def alike(self) -> frozenset[str]:
        """Entries with a name that looks the same as another team's."""
        return lookalikes(self.models)
