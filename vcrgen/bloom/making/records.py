"""What the stages hand one another."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from vcrgen.models.base import Request
from vcrgen.tasks.bloom import ChoiceQuestion

T = TypeVar("T")
AUTHOR = 0  # the number of the model that writes; those of the judges follow


class Drop(StrEnum):
    """Why an item is not in the set. The value is what ``rejects.jsonl``, the summary and the card show."""

    NO_PICTURE_LEFT = "no_picture_left"
    NO_FITTING_PICTURE = "no_fitting_picture"
    INVALID_REPLY = "invalid_reply"
    FILTERED = "filtered"
    QUOTED_PROMPT = "quoted_prompt"
    UNEVEN_OPTIONS = "uneven_options"
    FAULTY_TEXT = "faulty_text"
    JUDGED_ANSWER = "judge_answers_otherwise"
    JUDGED_PICTURE = "judge_refuses_picture"
    JUDGED_QUESTION = "judge_refuses_question"
    JUDGED_OPTIONS = "judge_refuses_options"
    JUDGED_TRANSLATION = "judge_refuses_translation"
    NEAR_COPY = "near_copy"
    NEAR_DUPLICATE = "near_duplicate"
    LONGEST_IS_RIGHT = "longest_is_right"
    WITHOUT = "without"
    NOT_ASKED = "not_asked"


class ItemDropped(Exception):
    """An item is set aside. The run goes on with the others.

    Attributes:
        stage: The stage that set it aside.
        reason: Its type, by which it is counted.
        detail: The same for people; it shows no answer.
        votes: Of each judge whether it passes the item, where judges were asked.
        about: What was known of it by then, without its key: see :func:`about_item`.
    """

    def __init__(self, stage: str, reason: Drop, detail: str, votes: tuple[bool, ...] = ()) -> None:
        super().__init__(detail)
        self.stage, self.reason, self.detail, self.votes = stage, reason, detail, votes
        self.about: Mapping[str, Any] = {}


class NotValid(Exception):
    """A reply is not of the form that was asked for."""


class StageRequest(NamedTuple):
    """One request of a stage."""

    stage: str
    role: int  # 0: the author; 1, 2, ...: the judges; after them the model that generates pictures
    request: Request


class LocalWork(NamedTuple):
    """What a stage needs that takes a while on this machine, such as reading a picture; done in another thread."""

    call: Callable[[], Any]


# A stage: it gives requests and work, is sent replies and results, and returns a record.
Steps = Generator[StageRequest | LocalWork, Any, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPlace:
    """A place in the set that an item may come to fill."""

    name: str  # the item's ``question_id``
    path: str  # its leaf
    number: int  # among the places of the leaf, from 0
    theme: str  # where the scene is from


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A scene to ask about."""

    text: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A picture that an item may be about."""

    partition: int
    row: int
    source_id: str
    digest: str  # SHA-256 of its bytes, in hex
    bits: bytes  # its difference hash, by which near copies are known


class OfferedPicture(NamedTuple):
    """A picture with its bytes, in a form that servers know."""

    candidate: Candidate
    data: bytes


# Pictures for an item, one after another: each is looked for only if the one before did not serve; None if it is none.
Offers = Iterator[Steps[OfferedPicture | None]]


def about_item(picture: Candidate, text: str = "", options: Sequence[str] = ()) -> dict[str, Any]:
    """What ``rejects.jsonl`` shows of an item besides the reason: the picture's id, and what was written."""
    written = {"question": text, "options": list(options)}
    return {"picture": picture.source_id, **{name: value for name, value in written.items() if value}}


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeItem:
    """An item that went through all stages.

    Attributes:
        questions: By language; options in the set's order.
        answer: Number of the right option, from 0.
        trap: Number of the trap.
        votes: Of each judge whether it passes the item.
    """

    slot: ItemPlace
    picture: Candidate
    questions: Mapping[str, ChoiceQuestion]
    answer: int
    trap: int
    votes: tuple[bool, ...]
