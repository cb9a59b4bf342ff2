"""The key of a scoring: its questions with their answers, and facts about the dataset, for any task."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, overload

from vcrgen.data.views import View
from vcrgen.stats.arrays import Ids, Ints

if TYPE_CHECKING:
    from vcrgen.data.reader import Dataset


def hash_id(text: str) -> int:
    """64 bits of an id, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


class ScoredQuestion(Protocol):
    """A question of any task: a VCR image with its spans, or an MCQ item."""

    @property
    def question_id(self) -> str:
        """The id by which outputs name it."""

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers that a file of outputs may repeat."""

    @property
    def part(self) -> str:
        """The split of a hidden set that it is in, or an empty text."""


QuestionT = TypeVar("QuestionT", bound=ScoredQuestion)


class QuestionTable(Sequence[QuestionT]):
    """Questions in rows: first those that are scored, which it has as a sequence, then those outside of the subset."""

    total: int  # all rows

    @abstractmethod
    def row_of(self, question_id: str) -> int | None:
        """The row of a question of this id, also of one outside of the subset, or None."""

    @abstractmethod
    def row_at(self, place: int) -> int | None:
        """The row of the question in this row of the dataset, or None where the dataset ends before."""

    @property
    @abstractmethod
    def starts(self) -> Ints:
        """Of each cluster, how many scored units stand before it; and last, how many there are."""

    @property
    @abstractmethod
    def cluster_ids(self) -> Ids:
        """Of each cluster, `hash_id` of what stands for it in every dataset: a question's id, a picture's."""

    @abstractmethod
    def _at(self, row: int) -> QuestionT: ...

    @overload
    def __getitem__(self, row: int) -> QuestionT: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[QuestionT, ...]: ...
    def __getitem__(self, row: int | slice) -> QuestionT | tuple[QuestionT, ...]:
        if isinstance(row, slice):
            return tuple(self._at(number) for number in range(len(self))[row])
        return self._at(row if 0 <= row < len(self) else range(len(self))[row])


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseKey(Generic[QuestionT]):
    """All questions of one split with their answers."""

    name: str  # for people: the dataset's folder or file
    lang: str  # its language, or its languages, as `en+ar`
    questions: QuestionTable[QuestionT]
    variants: tuple[str, ...] = ()  # the values of the task's axis, modes or languages; empty if nobody says
    views: tuple[View, ...] = ()  # the views that it has; empty if nobody says
    facts: Mapping[str, str] = field(default_factory=dict)  # facts of a score's signature about the data
    images: Dataset | None = None  # the dataset with the images; None for none
    hidden: bool = False  # whether the answers are secret

    def __len__(self) -> int:
        return len(self.questions)

    def row_of(self, question_id: str) -> int | None:
        """The row of a question, or None; a row from ``len(self)`` on is outside of the subset."""
        return self.questions.row_of(question_id)

    def question(self, row: int) -> QuestionT:
        """The question of a row."""
        return self.questions[row]
