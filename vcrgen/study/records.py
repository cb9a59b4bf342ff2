"""Records of a study."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from vcrgen.bloom.audit.draw import Draw
from vcrgen.data.tasks.task import MCQ_TASK, VCR_TASK
from vcrgen.data.views import View
from vcrgen.scorer.records import UNSTATED
from vcrgen.study.assignment import Slot, Step, all_slots

Frames: TypeAlias = list[list[list[int]]]
"""For each field of a picture the frames of its covered part, one a line: left, top, right and bottom, in pixels."""


class Condition(NamedTuple):
    """The mode and the view in which an item is shown."""

    mode: str  # ``-`` where the dataset does not say; of an MCQ benchmark the language
    view: View

    @property
    def label(self) -> str:
        """The condition in tables."""
        return self.view.label if self.mode == UNSTATED else f"{self.mode}, {self.view.label}"


class RaterState(StrEnum):
    """The state of a rater."""

    INVITED = "invited"  # has a link
    WORKING = "working"  # has agreed to take part
    SENT = "sent"  # has finished; the link shows thanks and the code
    LEFT = "left"  # stopped, or was ended by a maintainer; what was done counts, the rest went back
    FORGOTTEN = "forgotten"  # everything of the rater was removed


@dataclass(frozen=True, slots=True, kw_only=True)
class Rater:
    """A person of a study."""

    number: int  # from 1, in the order of the invitations
    lang: str  # of the page
    state: RaterState
    token: str | None = None  # hash of the token of the rater's page; None while nobody has the page
    shared_link: str | None = None  # hash of the link by which a visitor has or may take the place
    tab: str = ""  # the tab of the browser that may answer
    consent: str = ""  # version of the text that was agreed to
    languages: str = ""  # as the rater typed them
    answered: float | None = None  # when a step was finished last, in seconds since 1970
    began: str = ""  # when, in UTC
    ended: str = ""

    @property
    def name(self) -> str:
        """The rater in commands and tables."""
        return f"r{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A link that several visitors share, as a study at Prolific needs it."""

    shared_link: str = ""  # its hash; set when it is stored, as is the language
    lang: str = ""  # of the pages
    code: str  # what a visitor shows to be paid: Prolific's completion code
    failed_code: str = ""  # in its place for those whom the study excludes; empty for the same
    speaks: tuple[str, ...] = ()  # a visitor names one of these languages; empty for any
    keeps_ids: bool = False  # the visitors' own ids are stored, for the list of those who are to be paid
    is_listed: bool = False  # only the participants of a list are admitted


class Response(NamedTuple):
    """The response of a rater to one step."""

    texts: tuple[str, ...]  # one for each field, as typed
    unread: tuple[bool, ...]  # for each field, true if the rater cannot read it
    seconds: float  # spent on it while the page was in front, as the browser says, which goes on counting from it
    done: bool  # the rater went on
    revision: int  # counts the changes; an older one than the stored changes nothing


class RaterStep(NamedTuple):
    """A step of a rater, with the response."""

    rater: int
    number: int  # of the step, from 0
    step: Step
    response: Response | None
    served: float | None = None  # when it was shown first, in seconds since 1970 by the service's clock
    took: float | None = None  # seconds, see `vcrgen.study.exclusion.seconds_taken`; None if unfinished or unknown

    @property
    def done(self) -> bool:
        """True if the rater has finished it."""
        return self.response is not None and self.response.done


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyItem:
    """One item as the study stores it; training items, the example and those of an audit have their answers."""

    number: int
    question_id: str
    fields: int  # masked spans; of an audit three: the own answer, the verdict and the note
    lengths: tuple[int, ...] = ()  # words or characters of each masked span
    words: int = 0  # words or characters of the text that people read: the caption, or the question with its options
    answers: tuple[str, ...] | None = None  # of an audit the letters of the key and, where one is marked, of the trap


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDesign:
    """The decisions of a study, which never change."""

    data: str  # the dataset's place, absolute
    lang: str
    hidden: bool  # the answers are secret
    signature: str  # of the dataset and its answers: a dataset with another one is refused
    conditions: tuple[Condition, ...]
    items: int
    training: int
    spans: int  # masked spans of all items but training
    options: dict[str, Any]  # of `vcrgen.study.options.StudyOptions`
    task: str = VCR_TASK.name  # of the dataset
    draw: Draw | None = None  # of an audit
    example: int | None = None  # number of the item that is shown with its answers before the first step

    @property
    def seed(self) -> int:
        """The seed of every choice."""
        return int(self.options["seed"])

    @property
    def is_mcq(self) -> bool:
        """True if people choose one of the options, and type nothing."""
        return self.task == MCQ_TASK.name and self.draw is None

    @property
    def text_only(self) -> frozenset[int]:
        """Numbers of the conditions without the picture."""
        return frozenset(n for n, condition in enumerate(self.conditions) if condition.view is View.TEXT_ONLY)

    def slots(self) -> list[Slot]:
        """Return every response that the study needs. Of an audit a pass is one of the raters of its draw."""
        if self.draw is None:
            return all_slots(self.items, len(self.conditions), int(self.options["raters"]))
        return [Slot(number, 0, rater - 1) for number, item in enumerate(self.draw.items) for rater in item.raters]


class ErrorId(NamedTuple):
    """What is wrong, whoever typed it and in whichever condition."""

    item: int
    place: int  # of the span in the item, from 0
    typed: str


class GradedResponse(NamedTuple):
    """The graded response of one rater to one masked span or question."""

    rater: int
    item: int
    condition: int
    turn: int  # the pass
    place: int  # of the span in the item, from 0
    typed: str  # the text of its field
    unread: bool
    exact_match: bool  # as of a model's output
    lenient_match: bool  # but for case, quotes, width and spaces
    excused: bool = False  # an error with a cause that the filtered scores do not count
    picture: int | None = None  # of an MCQ benchmark, where several items may share one

    @property
    def error(self) -> ErrorId:
        """The error, if it is one."""
        return ErrorId(self.item, self.place, self.typed)

    @property
    def filtered_match(self) -> bool:
        """An exact match, or an excused error in a name or date; the denominator stays."""
        return self.exact_match or self.excused

    @property
    def cluster(self) -> int:
        """The cluster of the bootstrap: the image."""
        return self.item if self.picture is None else self.picture


def join_fields(texts: Sequence[str]) -> str:
    """The fields of an item as the output of a model."""
    return "\n".join(texts)
