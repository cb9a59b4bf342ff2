"""Rejected items as pages show them: the picture, the question in every language, and the verdicts."""

from collections.abc import Mapping
from typing import Any

from vcrgen.bloom.audit.audit_statistics import rejected_ids
from vcrgen.bloom.audit.verdicts import AuditVerdicts
from vcrgen.core.errors import DatasetError
from vcrgen.core.media import data_uri, media_type
from vcrgen.data.reader import Dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.bloom import LETTERS, ChoiceQuestion, direction, item_of, languages_of

MAX_PICTURES = 24 << 20  # bytes of the pictures of a page, before they are written as text
MAX_PICTURE = 16 << 20  # of one picture; a larger one is not shown
MAX_ITEMS = 250  # of a page


def question_views(questions: Mapping[str, ChoiceQuestion]) -> list[dict[str, Any]]:
    """The question of an item in all its languages, for templates and scripts."""
    return [
        {"lang": lang, "dir": direction(lang), "text": question.text, "options": question.options}
        for lang, question in questions.items()
    ]


def read_rejected_items(dataset: Dataset, verdicts: AuditVerdicts) -> list[dict[str, Any]]:
    """Read the items that a rater did not approve, as many as a page holds.

    Raises:
        DatasetError: The benchmark is damaged.
    """
    question_ids = set(rejected_ids(verdicts))
    positions = [at for at, (_, row) in enumerate(dataset.rows(["question_id"])) if row["question_id"] in question_ids]
    languages = languages_of(dataset)
    items: list[dict[str, Any]] = []
    size = 0
    for place, row in dataset.rows(positions=positions[:MAX_ITEMS]) if positions else ():
        picture = image_bytes(row.get("image")) or b""
        size += len(picture)
        if items and size > MAX_PICTURES:
            break
        try:
            item = item_of(row, languages)
        except (TypeError, ValueError) as problem:
            raise DatasetError(f"{place}: {problem}; build or import the benchmark again.") from None
        is_shown = len(picture) <= MAX_PICTURE and media_type(picture)
        items.append(
            {
                "id": item.question_id,
                "path": item.path,
                "questions": question_views(item.questions),
                "picture": data_uri(picture) if is_shown else None,
                "verdicts": verdicts.by_item[item.question_id],
                "key": "" if item.answer is None else LETTERS[item.answer],
            }
        )
    return items
