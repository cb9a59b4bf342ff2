"""Records that the stages pass on."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from vcrgen.data.tasks.bloom import ChoiceQuestion
from vcrgen.models.base import Request

T = TypeVar("T")
AUTHOR = 0  # the role of the model that writes; those of the judges follow


class InvalidReply(Exception):
    """A reply that has not the requested form."""


class StageRequest(NamedTuple):
    """A request of a stage."""

    stage: str
    role: int  # 0: the author; 1, 2, ...: the judges; after them the model that generates pictures
    request: Request


class LocalWork(NamedTuple):
    """Work of a stage that takes a while on this machine, such as reading a picture; done in another thread."""

    call: Callable[[], Any]


# A stage: it yields requests and work, is sent replies and results, and returns a record.
StageCoroutine = Generator[StageRequest | LocalWork, Any, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSlot:
    """A slot of the set that an item may fill."""

    name: str  # the item's ``question_id``
    path: str  # its category
    number: int  # among the slots of the category, from 0
    theme: str  # the origin of the scene


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
    bits: bytes  # its difference hash, which near-duplicates share


class OfferedPicture(NamedTuple):
    """A picture with its bytes, in a format that servers accept."""

    candidate: Candidate
    data: bytes


# Pictures for an item, one after another: each is read only if the one before did not fit; None if it is not usable.
PictureOffers = Iterator[StageCoroutine[OfferedPicture | None]]


def item_facts(picture: Candidate, text: str = "", options: Sequence[str] = ()) -> dict[str, Any]:
    """The facts of a rejected item for ``rejects.jsonl``: the picture's id, and the texts as far as written."""
    written = {"question": text, "options": list(options)}
    return {"picture": picture.source_id, **{name: value for name, value in written.items() if value}}


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedItem:
    """An item that passed all stages.

    Attributes:
        questions: By language; options in the set's order.
        answer: Number of the right option, from 0.
        trap: Number of the trap.
        votes: The verdict of each judge, True to accept.
    """

    slot: ItemSlot
    picture: Candidate
    questions: Mapping[str, ChoiceQuestion]
    answer: int
    trap: int
    votes: tuple[bool, ...]
