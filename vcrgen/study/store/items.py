"""The items of a study, their questions and their pictures."""

import hashlib

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.dialects.sqlite import insert as insert_or

from vcrgen.data.tasks.bloom import ChoiceQuestion
from vcrgen.study.records import Frames, StudyItem
from vcrgen.study.store import tables


def add_item(connection: Connection, item: StudyItem) -> None:
    """Store an item."""
    connection.execute(insert(tables.items).values({name: getattr(item, name) for name in StudyItem.__slots__}))


def read_items(connection: Connection) -> list[StudyItem]:
    """Return all items; those of the training come after those of the study, and the worked example last."""
    rows = connection.execute(select(tables.items).order_by(tables.items.c.number))
    return [
        StudyItem(
            number=row.number,
            question_id=row.question_id,
            fields=row.fields,
            lengths=tuple(row.lengths),
            words=row.words,
            answers=None if row.answers is None else tuple(row.answers),
        )
        for row in rows
    ]


def add_question(connection: Connection, item: int, lang: str, question: ChoiceQuestion) -> None:
    """Store the question of an item of an MCQ benchmark in one language."""
    values = {"item": item, "lang": lang, "text": question.text, "options": question.options}
    connection.execute(insert(tables.questions).values(values))


def read_questions(connection: Connection) -> dict[tuple[int, str], ChoiceQuestion]:
    """Return all questions, by item and language."""
    rows = connection.execute(select(tables.questions))
    return {(item, lang): ChoiceQuestion(text, tuple(options)) for item, lang, text, options in rows}


def add_picture(connection: Connection, item: int, condition: int, png: bytes) -> None:
    """Store the picture of an item in a condition; equal pictures are stored once."""
    digest = hashlib.sha256(png).hexdigest()
    connection.execute(insert_or(tables.images).values(digest=digest, png=png).on_conflict_do_nothing())
    connection.execute(insert(tables.pictures).values(item=item, condition=condition, image=digest, frames=[]))


def save_frames(connection: Connection, item: int, condition: int, frames: Frames) -> None:
    """Store the frames of the covered parts of a picture."""
    pictures = tables.pictures
    of_picture = pictures.c.item == item, pictures.c.condition == condition
    connection.execute(update(pictures).where(*of_picture).values(frames=frames))


def read_frames(connection: Connection, item: int, condition: int) -> Frames:
    """The frames of the covered parts of a picture; an empty list where the dataset has none."""
    pictures = tables.pictures
    query = select(pictures.c.frames).where(pictures.c.item == item, pictures.c.condition == condition)
    return list(connection.execute(query).scalar_one())


def read_picture(connection: Connection, item: int, condition: int) -> bytes:
    """The picture of an item in a condition, as PNG."""
    pictures = tables.pictures
    query = select(tables.images.c.png).join(pictures, pictures.c.image == tables.images.c.digest)
    query = query.where(pictures.c.item == item, pictures.c.condition == condition)
    return bytes(connection.execute(query).scalar_one())
