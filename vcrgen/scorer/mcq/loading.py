"""Load the items of an MCQ benchmark: of a dataset on a disk or in an object store, or of a hidden set's key."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from vcrgen.core.errors import AnswerError
from vcrgen.core.reading import parse_csv_cells
from vcrgen.core.storage import StorageError
from vcrgen.data.key import HIDDEN_SPLITS, NO_ANSWERS, KeyManifest, read_answers, read_key
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.bloom import TAXONOMY_FILE, item_of, languages_of, level_note, read_items
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.data.tasks.task import MCQ_TASK
from vcrgen.scorer.answers import choose_split, hidden_folder
from vcrgen.scorer.mcq.key import MAX_ITEMS, ItemKey, ItemTable, KeyItem
from vcrgen.scorer.subset import Subset

MAX_TAXONOMY = 4 << 20  # bytes


def load_items(data: Path, *, split: str | None = None, subset: str | None = None, lang: str | None = None) -> ItemKey:
    """Read the items of an MCQ benchmark, or of the key of a hidden one.

    Args:
        split: As of `load_answers`.
        subset: Likewise.
        lang: The only language that is scored; None for all.

    Raises:
        VcrgenError: It cannot be read, has an item without an answer or an id twice, or nothing of what is asked for.
    """
    folder = hidden_folder(data)
    if folder is not None:
        if split not in (None, "all"):
            raise AnswerError(f"{folder} is the key of a hidden set, which has no splits.")
        described = read_key(folder)
        items, languages = _collected(folder, _hidden_items(folder, described)), described.language.split("+")
        dataset, facts = None, {"data": described.commitment[:8], "pictures": described.pictures.value}
    else:
        dataset = open_task_dataset(data)
        if dataset.is_hidden:
            raise AnswerError(f"{data} is the public part of a hidden set, {NO_ANSWERS}")
        dataset = choose_split(dataset, split)
        items, languages = _collected(data, _items(dataset)), list(languages_of(dataset))
        built = dataset.built.signature
        facts = {"data": built.short, "split": "+".join(dataset.splits)}
        if level_note(built.facts):
            facts["maker"] = built.facts["maker"]
    if lang is not None and lang not in languages:
        raise AnswerError(f"{data} has no items in {lang!r}; its languages are {', '.join(languages)}.")
    part = Subset.parse(subset)
    part.check(data, {item.question_id for item in items})
    questions = ItemTable(items, [part.contains(number, item) for number, item in enumerate(items)])
    if part.split and not len(questions):
        raise AnswerError(f"{data} has no question in the split {part.split!r}.")
    if questions.duplicate_id is not None:
        raise AnswerError(f"{data}: the id {questions.duplicate_id!r} stands for two items.")
    variants = tuple(
        code for code in languages if lang in (None, code) and any(code in item.questions for item in questions)
    )
    if not variants:
        raise AnswerError(f"{data} has no items to score.")
    facts |= {"lang": "+".join(variants), **({"subset": part.name} if part.name else {})}
    if dataset is not None:  # of a hidden set the commitment stands for the answers, and tells nothing of them
        facts["answers"] = questions.digest[:8]
    name = "hidden set" if dataset is None else data.name
    return ItemKey(
        name=name,
        lang=facts["lang"],
        questions=questions,
        variants=variants,
        views=MCQ_TASK.views,
        facts=facts,
        images=dataset,
        hidden=dataset is None,
    )


def _collected(data: Path, items: Iterable[KeyItem]) -> list[KeyItem]:
    collected = list(islice(items, MAX_ITEMS + 1))
    if len(collected) > MAX_ITEMS:
        raise AnswerError(f"{data} has more than {MAX_ITEMS:,} items; score it split by split.")
    return collected


def _items(data: Dataset) -> Iterator[KeyItem]:
    for item in read_items(data):
        if item.answer is None:
            raise AnswerError(f"{data}: the item {item.question_id!r} has no `answer`, so there is nothing to score.")
        yield KeyItem.from_item(item)


def _hidden_items(folder: Path, key: KeyManifest) -> Iterator[KeyItem]:
    """The items of a key; what is wrong with one is said without its text."""
    for number, line in enumerate(read_answers(folder), start=1):
        try:
            item, part = item_of(line, key.language.split("+")), line.get("part", "")
            if item.answer is None or part not in ("", *HIDDEN_SPLITS):
                raise ValueError
            yield KeyItem.from_item(replace(item, picture=str(line.get("picture", ""))), part)
        except (TypeError, ValueError):
            raise AnswerError(f"{folder}, item {number}: not an item of a key.") from None


def categories_of(data: Dataset) -> list[str]:
    """The categories of the taxonomy beside an MCQ benchmark, in its order; none where it cannot be read.

    Only the order of labels hangs on it.
    """
    try:
        readable = (data.folder.size(TAXONOMY_FILE) or 0) <= MAX_TAXONOMY
        text = data.folder.read_text(TAXONOMY_FILE) if readable else ""
    except (OSError, StorageError, ValueError):
        text = ""
    rows = parse_csv_cells(io.StringIO(text, newline=""), TAXONOMY_FILE, AnswerError)
    return ["/".join(cells) for _, cells in islice(rows, 1, None)]
