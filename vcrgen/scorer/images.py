"""Images of a few questions, as encoded bytes from the dataset. Nothing is decoded."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from vcrgen.core.errors import DatasetError
from vcrgen.data.tables import image_bytes
from vcrgen.data.views import View
from vcrgen.scorer.answer_key import AnswerKey

MAX_BYTES = 4 << 20


def read_images(key: AnswerKey, mode: str, views_by_id: Mapping[str, set[View]]) -> dict[tuple[str, View], bytes]:
    """The bytes of wanted images, of a mode or else the first; what is missing, too large or unreadable is left out."""
    data = key.images
    rows = ((question_id, key.row_of(question_id)) for question_id in views_by_id)
    ids = {key.questions.place(row): question_id for question_id, row in rows if row is not None}
    if data is None or not ids:
        return {}
    part = data.select(mode=mode if mode in data.modes else next(iter(data.modes), None))
    views = sorted({view for question_id in ids.values() for view in views_by_id[question_id]})
    images = {}
    with suppress(DatasetError):
        found_rows = part.rows(["question_id"], optional=[view.column for view in views], positions=list(ids))
        for number, (_, values) in zip(sorted(ids), found_rows, strict=True):
            for view in views_by_id[ids[number]]:
                image = image_bytes(values.get(view.column))
                if image is not None and len(image) <= MAX_BYTES:
                    images[ids[number], view] = image
    return images
