"""The items of a multiple-choice benchmark (MCQ) with their answers, those of one picture one after another."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vcrgen.core.files import canonical_json
from vcrgen.data.tasks.bloom import LETTERS, ChoiceItem, ChoiceQuestion, count_options
from vcrgen.scorer.groups import NO_LABEL, Breakdown
from vcrgen.scorer.key import BaseKey, QuestionTable, hash_id
from vcrgen.stats.arrays import Ids, Ints

TAXONOMY_DEPTHS = ("level", "subcategory", "category")  # breakdowns: by the first, the first two or all parts of a path
MAX_ITEMS = 1 << 20


class KeyItem(NamedTuple):
    """One item with its answer."""

    question_id: str
    path: str  # level/subcategory/category
    picture: str  # what stands for its picture; items that share one have the same
    questions: Mapping[str, ChoiceQuestion]  # by language; those in which the item is complete
    answer: int  # number of the right option, from 0
    trap: int | None  # number of the trap, or None
    part: str = ""  # of a hidden set: `feedback` or `final`; empty where a set is not divided

    @property
    def options(self) -> int:
        """The number of options."""
        return count_options(self.questions)

    @property
    def answers(self) -> tuple[str, ...]:
        """The letter of the right option."""
        return (LETTERS[self.answer],)

    @classmethod
    def from_item(cls, item: ChoiceItem, part: str = "") -> KeyItem:
        """An item of a dataset that has an answer; an item without a picture has one of its own."""
        assert item.answer is not None
        picture = item.picture or f"of {item.question_id}"
        return cls(item.question_id, item.path, picture, item.questions, item.answer, item.trap, part)


class ItemTable(QuestionTable[KeyItem]):
    """The items of a set: first those that are asked for, the items of one picture together, then the others.

    A row is a place in that order, which makes pictures stretches of rows. Pictures, and the items of one, are in the
    dataset's order.
    """

    def __init__(self, items: Sequence[KeyItem], requested: Sequence[bool]) -> None:
        first: dict[str, int] = {}
        for place, item in enumerate(items):
            first.setdefault(item.picture, place)
        self._places = sorted(
            range(len(items)), key=lambda place: (not requested[place], first[items[place].picture], place)
        )
        self._items = [items[place] for place in self._places]
        self._rows = {item.question_id: row for row, item in enumerate(self._items)}
        self._length = sum(requested)
        self.total = len(items)

    @property
    def duplicate_id(self) -> str | None:
        """An id that two items have, or None."""
        if len(self._rows) == self.total:
            return None
        return Counter(item.question_id for item in self._items).most_common(1)[0][0]

    @cached_property
    def _rows_of_places(self) -> Mapping[int, int]:
        return {place: row for row, place in enumerate(self._places)}

    def row_at(self, place: int) -> int | None:
        """The row of the question in a row of the dataset."""
        return self._rows_of_places.get(place)

    def row_of(self, question_id: str) -> int | None:
        """The row of an id, or None."""
        return self._rows.get(question_id)

    @cached_property
    def starts(self) -> Ints:
        """Scored units before each cluster."""
        ends = [row for row in range(1, len(self)) if self._items[row].picture != self._items[row - 1].picture]
        return np.array([0, *ends, len(self)], np.int64)

    @property
    def cluster_ids(self) -> Ids:
        """The hashed names of the pictures."""
        return np.array([hash_id(self._items[row].picture) for row in self.starts[:-1]], np.uint64)

    @property
    def digest(self) -> str:
        """A SHA-256, in hex, of the asked items: their ids, answers and questions."""
        digest = hashlib.sha256()
        for item in sorted(self, key=lambda item: item.question_id):
            texts = {lang: [question.text, *question.options] for lang, question in sorted(item.questions.items())}
            digest.update(canonical_json([item.question_id, item.path, item.answer, item.trap, texts]).encode())
        return digest.hexdigest()

    def __len__(self) -> int:
        return self._length

    def _at(self, row: int) -> KeyItem:
        return self._items[row]

    def __iter__(self) -> Iterator[KeyItem]:
        return iter(self._items[: self._length])


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemKey(BaseKey[KeyItem]):
    """All items of one split with their answers."""

    questions: ItemTable


def item_breakdowns(items: ItemTable, paths: Sequence[str]) -> list[Breakdown]:
    """Items by level, subcategory and category; each label is a whole path, as names of categories are not unique.

    ``paths`` has the categories in the order of the taxonomy; those that it lacks come last, by the alphabet.
    """
    breakdowns = []
    for depth, by in enumerate(TAXONOMY_DEPTHS, start=1):
        codes = [_upper(item.path, depth) for item in items]
        there = set(codes)
        order = dict.fromkeys(_upper(path, depth) for path in (*paths, *sorted(item.path for item in items)))
        labels = {label: number for number, label in enumerate(label for label in order if label in there)}
        if len(labels) < NO_LABEL:  # a division with more labels than codes is none
            breakdowns.append(Breakdown(by, tuple(labels), np.array([labels[code] for code in codes], np.uint16)))
    return breakdowns


def _upper(path: str, depth: int) -> str:
    return "/".join(path.split("/")[:depth])
