"""The items of a question set that outputs are scored against, those of one picture one after another."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, overload

from vcrgen.dataset.views import View
from vcrgen.files import canonical_json
from vcrgen.scorer.groups import NO_LABEL, Property
from vcrgen.tasks.bloom import LETTERS, ChoiceItem, ChoiceQuestion
from vcrgen.tasks.task import QUESTIONS

if TYPE_CHECKING:
    from vcrgen.dataset.reader import Dataset
    from vcrgen.stats.arrays import Ints

WAYS = ("level", "subcategory", "leaf")  # to divide items: by the first, the first two or all parts of their path
MOST_ITEMS = 1 << 20


class KeyItem(NamedTuple):
    """One item with its answer."""

    question_id: str
    path: str  # level/subcategory/leaf
    picture: str  # what stands for its picture; items that share one have the same
    questions: Mapping[str, ChoiceQuestion]  # by language; those in which the item is complete
    answer: int  # number of the right option, from 0
    trap: int | None  # number of the trap, or None
    part: str = ""  # of a hidden set: `feedback` or `final`; empty where a set is not divided

    @property
    def answers(self) -> tuple[str, ...]:
        """The letter of the right option."""
        return (LETTERS[self.answer],)

    @classmethod
    def of(cls, item: ChoiceItem, part: str = "") -> KeyItem:
        """An item of a dataset that has an answer; an item without a picture has one of its own."""
        assert item.answer is not None
        picture = item.picture or f"of {item.question_id}"
        return cls(item.question_id, item.path, picture, item.questions, item.answer, item.trap, part)


class Items(Sequence[KeyItem]):
    """The items of a set: first those that are asked for, the items of one picture together, then the others.

    A row is a place in that order, which makes pictures stretches of rows. Pictures, and the items of one, are in the
    dataset's order.
    """

    def __init__(self, items: Sequence[KeyItem], asked: Sequence[bool]) -> None:
        first: dict[str, int] = {}
        for place, item in enumerate(items):
            first.setdefault(item.picture, place)
        self._places = sorted(
            range(len(items)), key=lambda place: (not asked[place], first[items[place].picture], place)
        )
        self._items = [items[place] for place in self._places]
        self._rows = {item.question_id: row for row, item in enumerate(self._items)}
        self._length = sum(asked)
        self.total = len(items)

    @property
    def twice(self) -> str | None:
        """An id that two items have, or None."""
        if len(self._rows) == self.total:
            return None
        return Counter(item.question_id for item in self._items).most_common(1)[0][0]

    @cached_property
    def _rows_of_places(self) -> Mapping[int, int]:
        return {place: row for row, place in enumerate(self._places)}

    def row_at(self, place: int) -> int | None:
        """The row of the item that is in this row of the dataset, or None where the dataset ends before."""
        return self._rows_of_places.get(place)

    def row_of(self, question_id: str) -> int | None:
        """The row of an item, also of one that is not asked for, or None."""
        return self._rows.get(question_id)

    @cached_property
    def starts(self) -> Ints:
        """Of each picture, how many asked items stand before it; and last, how many there are."""
        import numpy as np

        ends = [row for row in range(1, len(self)) if self._items[row].picture != self._items[row - 1].picture]
        return np.array([0, *ends, len(self)], np.int64)

    @property
    def digest(self) -> str:
        """A SHA-256, in hex, of the asked items: their ids, answers and questions."""
        digest = hashlib.sha256()
        for item in sorted(self, key=lambda item: item.question_id):
            asked = {lang: [asked.text, *asked.options] for lang, asked in sorted(item.questions.items())}
            digest.update(canonical_json([item.question_id, item.path, item.answer, item.trap, asked]).encode())
        return digest.hexdigest()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, row: int) -> KeyItem: ...
    @overload
    def __getitem__(self, row: slice) -> list[KeyItem]: ...
    def __getitem__(self, row: int | slice) -> KeyItem | list[KeyItem]:
        if isinstance(row, slice):
            return self._items[: self._length][row]
        return self._items[range(self._length)[row]] if row < 0 else self._items[row]

    def __iter__(self) -> Iterator[KeyItem]:
        return iter(self._items[: self._length])


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemKey:
    """All items of one split with their answers, and what a scoring has to know of the set."""

    name: str  # for people: the dataset's folder
    questions: Items
    modes: tuple[str, ...]  # the values of the axis: the languages that the set has, or the one that is asked for
    views: tuple[View, ...] = QUESTIONS.views
    facts: Mapping[str, str] = field(default_factory=dict)  # what a score's signature says of the data
    images: Dataset | None = None  # the dataset with the pictures; None for none
    hidden: bool = False  # whether the answers are kept secret

    @property
    def lang(self) -> str:
        """The languages, as ``en+ar``."""
        return "+".join(self.modes)

    def __len__(self) -> int:
        return len(self.questions)

    def row_of(self, question_id: str) -> int | None:
        """The row of an item, or None; a row from ``len(self)`` on is outside of the subset."""
        return self.questions.row_of(question_id)

    def question(self, row: int) -> KeyItem:
        """The item of a row."""
        return self.questions[row]


class Divisions:
    """Items by level, by subcategory and by leaf; each label is a whole path, as names of leaves are not unique."""

    def __init__(self, items: Items, paths: Sequence[str]) -> None:
        """``paths`` has the leaves in the order of the taxonomy; those that it lacks come last, by the alphabet."""
        import numpy as np

        self._properties = []
        for depth, by in enumerate(WAYS, start=1):
            codes = [_upper(item.path, depth) for item in items]
            there = set(codes)
            order = dict.fromkeys(_upper(path, depth) for path in (*paths, *sorted(item.path for item in items)))
            labels = {label: number for number, label in enumerate(label for label in order if label in there)}
            # A division with more labels than codes is none.
            if len(labels) < NO_LABEL:
                self._properties.append(
                    Property(by, tuple(labels), np.array([labels[code] for code in codes], np.uint16))
                )

    def of_variant(self, lang: str) -> Sequence[Property]:
        """All three ways: they are the same in every language."""
        return self._properties


def _upper(path: str, depth: int) -> str:
    return "/".join(path.split("/")[:depth])
