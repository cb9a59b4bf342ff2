"""Reading the key of a question set: of a dataset on a disk or in an object store, or of a hidden set."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence

from vcrgen.dataset.reader import Dataset
from vcrgen.errors import AnswerError
from vcrgen.scorer.choices.key import MOST_ITEMS, Divisions, ItemKey, Items, KeyItem
from vcrgen.storage import StorageError
from vcrgen.tasks.bloom import TAXONOMY_FILE, languages_of, read_items

MOST_TAXONOMY = 4 << 20  # bytes


def items_of(data: Dataset) -> list[KeyItem]:
    """The items of a question set with their answers and pictures.

    Raises:
        AnswerError: It has an item without an answer, an id twice, or too many items.
    """
    items: list[KeyItem] = []
    for item in read_items(data):
        if item.answer is None:
            raise AnswerError(f"{data}: the item {item.question_id!r} has no `answer`, so there is nothing to score.")
        if len(items) == MOST_ITEMS:
            raise AnswerError(f"{data} has more than {MOST_ITEMS:,} items; score it split by split.")
        items.append(KeyItem.of(item))
    return items


def key_of(
    data: Dataset,
    items: Sequence[KeyItem],
    *,
    asked: Callable[[int, KeyItem], bool],
    lang: str | None,
    hidden: bool = False,
) -> ItemKey:
    """The key of some items.

    Args:
        data: Their dataset.
        items: In its order.
        asked: Tells of the number of an item and of the item whether it is scored.
        lang: The only language that is scored; None for all.
        hidden: Whether the answers are kept secret.

    Raises:
        AnswerError: Nothing is asked for, an id stands for two items, or the set has no such language.
    """
    languages = [known for known in languages_of(data) if any(known in item.questions for item in items)]
    if lang is not None and lang not in languages:
        raise AnswerError(f"{data} has no items in {lang!r}; its languages are {', '.join(languages) or 'none'}.")
    questions = Items(items, [asked(number, item) for number, item in enumerate(items)])
    if questions.twice is not None:
        raise AnswerError(f"{data}: the id {questions.twice!r} stands for two items.")
    if not len(questions):
        raise AnswerError(f"{data} has no items to score.")
    return ItemKey(
        name=data.name.rpartition("/")[2] or data.name, questions=questions,
        modes=tuple(languages) if lang is None else (lang,), images=data, hidden=hidden,
    )  # fmt: skip


def divisions_of(key: ItemKey) -> Divisions:
    """What divides the items of a key, in the order of the taxonomy that stands beside its data."""
    return Divisions(key.questions, [] if key.images is None else leaves_of(key.images))


def leaves_of(data: Dataset) -> list[str]:
    """The leaves of the taxonomy beside a question set, in its order; none where it cannot be read.

    Only the order of labels hangs on it.
    """
    try:
        readable = (data.folder.size(TAXONOMY_FILE) or 0) <= MOST_TAXONOMY
        text = data.folder.read_text(TAXONOMY_FILE) if readable else ""
    except (OSError, StorageError, ValueError):
        text = ""
    return ["/".join(cells) for cells in csv.reader(text.splitlines()[1:])]
