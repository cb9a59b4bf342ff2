"""Records of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from vcrgen.bloom.audit.draw import Draw
from vcrgen.dataset.views import View
from vcrgen.scorer.records import UNSTATED
from vcrgen.study.design import Step, Viewing, all_slots
from vcrgen.tasks.task import DEFAULT, QUESTIONS

Wrong = tuple[int, int, str]
"""A typed text that may be wrong: the number of the item, the place in it, and what was typed."""


class Condition(NamedTuple):
    """In which mode an item is shown, and what of it."""

    mode: str  # ``-`` where the dataset does not say; of a question set the language
    view: View

    @property
    def label(self) -> str:
        """The name in tables."""
        return self.view.label if self.mode == UNSTATED else f"{self.mode}, {self.view.label}"


class RaterState(StrEnum):
    """Where a rater stands."""

    INVITED = "invited"  # has a link
    WORKING = "working"  # has agreed to take part
    SENT = "sent"  # has finished; the link is void
    LEFT = "left"  # stopped, or was ended by a maintainer; what was done counts, the rest went back
    FORGOTTEN = "forgotten"  # everything of the rater was removed


@dataclass(frozen=True, slots=True, kw_only=True)
class Rater:
    """One of the people."""

    number: int  # from 1, in the order of the invitations
    lang: str  # of the page
    phase: RaterState
    code: str = ""  # what the rater shows to be paid, such as Prolific's completion code; empty for none
    tab: str = ""  # the tab of the browser that may answer
    consent: str = ""  # version of the text that was agreed to
    languages: str = ""  # as the rater typed them
    began: str = ""  # when, in UTC
    ended: str = ""

    @property
    def name(self) -> str:
        """What commands and tables call the rater."""
        return f"r{self.number}"


class Response(NamedTuple):
    """What a rater typed at one step."""

    texts: tuple[str, ...]  # one for each field, as typed
    unread: tuple[bool, ...]  # for each field whether the rater said that it cannot be read
    seconds: float  # spent on it while the page was in front
    done: bool  # whether the rater went on
    revision: int  # counts the changes; a smaller one than is stored came late, and changes nothing


class RaterStep(NamedTuple):
    """A step of a rater's, and what was typed there."""

    rater: int
    number: int  # of the step, from 0
    step: Step
    response: Response | None

    @property
    def done(self) -> bool:
        """Whether the rater has finished it."""
        return self.response is not None and self.response.done


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyItem:
    """One picture to restore, as the study keeps it; training items and those of an audit have their answers."""

    number: int
    question_id: str
    fields: int  # how many texts are covered; of an audit three: the own answer, the verdict and the note
    answers: tuple[str, ...] | None = None  # of an audit the letters of the key and, where one is marked, of the trap


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """What was decided when the study was made, and never changes."""

    data: str  # the dataset's place, absolute
    lang: str
    hidden: bool  # whether the answers are secret
    signature: str  # of the dataset and its answers: a dataset with another one is refused
    conditions: tuple[Condition, ...]
    items: int
    training: int
    spans: int  # covered texts of all items but training
    options: dict[str, Any]  # of :class:`vcrgen.config.StudyOptions`
    task: str = DEFAULT.name  # of the dataset
    draw: Draw | None = None  # of an audit: which items people look at, and who of them

    @property
    def seed(self) -> int:
        """The seed of every choice."""
        return int(self.options["seed"])

    @property
    def choosing(self) -> bool:
        """Whether people choose one of four options, and type nothing."""
        return self.task == QUESTIONS.name and self.draw is None

    @property
    def blind(self) -> frozenset[int]:
        """Numbers of the conditions in which people are not shown the picture."""
        return frozenset(n for n, condition in enumerate(self.conditions) if condition.view is View.BLIND)

    def slots(self) -> list[Viewing]:
        """Every answer that the study wants. Of an audit a pass is one of the raters of its draw."""
        if self.draw is None:
            return all_slots(self.items, len(self.conditions), int(self.options["raters"]))
        return [Viewing(number, 0, rater - 1) for number, item in enumerate(self.draw.items) for rater in item.raters]


class Mark(NamedTuple):
    """One covered text that one rater saw: what the figures are made of."""

    rater: int
    item: int
    condition: int
    turn: int  # the pass
    place: int  # of the text in the item, from 0
    typed: str  # what stands in its field
    unread: bool
    strict: bool  # right as a model's output would be
    tolerant: bool  # right but for case, quotes, width and spaces
    excused: bool = False  # wrong, with a cause that the filtered figures do not count
    picture: int | None = None  # of a question set, where several items may share one

    @property
    def cluster(self) -> int:
        """What is resampled: the picture."""
        return self.item if self.picture is None else self.picture


def joined(texts: Sequence[str]) -> str:
    """What a rater typed into the fields of an item, as the output of a model."""
    return "\n".join(texts)
