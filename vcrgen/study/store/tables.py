"""The tables of a study. A change here needs a new ``VERSION``: a study of another one is refused."""

import sqlalchemy as sa
from sqlalchemy import ForeignKeyConstraint, Index, Integer, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from vcrgen.study.assignment import StepKind
from vcrgen.web.database.schema import columns, new_metadata

VERSION = 8
metadata = new_metadata()
_JSON = sa.JSON(none_as_null=True)
_SLOT = ("item", "condition", "turn")
_of_items = sa.text(f"kind = '{StepKind.ITEM}'")

designs = Table("designs", metadata, *columns(value=sa.JSON, secret=Text))
items = Table(
    "items",
    metadata,
    *columns(number=Integer, question_id=Text, fields=Integer, lengths=sa.JSON, words=Integer, answers_=_JSON),
    PrimaryKeyConstraint("number"),
)
questions = Table(
    "questions",
    metadata,
    *columns(item=Integer, lang=Text, text=Text, options=sa.JSON),
    PrimaryKeyConstraint("item", "lang"),
    ForeignKeyConstraint(["item"], ["items.number"]),
)
# An image is kept once, however many items and conditions show it.
images = Table("images", metadata, *columns(digest=Text, png=sa.LargeBinary), PrimaryKeyConstraint("digest"))
pictures = Table(
    "pictures",
    metadata,
    *columns(item=Integer, condition=Integer, image=Text, frames=sa.JSON),
    PrimaryKeyConstraint("item", "condition"),
    ForeignKeyConstraint(["item"], ["items.number"]),
    ForeignKeyConstraint(["image"], ["images.digest"]),
)
# Token, shared link and visitor are hashes; the id of a participant is stored only if the invitation says so.
invitations = Table(
    "invitations",
    metadata,
    *columns(
        shared_link=Text,
        lang=Text,
        code=Text,
        failed_code=Text,
        speaks=sa.JSON,
        keeps_ids=sa.Boolean,
        is_listed=sa.Boolean,
    ),
    PrimaryKeyConstraint("shared_link"),
)
participants = Table(
    "participants",
    metadata,
    *columns(shared_link=Text, visitor=Text),
    PrimaryKeyConstraint("shared_link", "visitor"),
    ForeignKeyConstraint(["shared_link"], ["invitations.shared_link"]),
)
raters = Table(
    "raters",
    metadata,
    *columns(
        number=Integer,
        lang=Text,
        state=Text,
        token_=Text,
        shared_link_=Text,
        visitor_=Text,
        participant_id_=Text,
        tab=Text,
        consent=Text,
        languages=Text,
        answered_=sa.Float,
        began=Text,
        ended=Text,
    ),
    PrimaryKeyConstraint("number"),
    UniqueConstraint("token"),
    UniqueConstraint("shared_link", "visitor"),
)
steps = Table(
    "steps",
    metadata,
    *columns(
        rater=Integer,
        number=Integer,
        kind=Text,
        item=Integer,
        condition=Integer,
        turn=Integer,
        word=Text,
        texts_=_JSON,
        unread_=_JSON,
        seconds=sa.Float,
        done=sa.Boolean,
        revision=Integer,
        served_=sa.Float,
        took_=sa.Float,
    ),
    PrimaryKeyConstraint("rater", "number"),
    ForeignKeyConstraint(["rater"], ["raters.number"]),
    Index("one_rater_per_slot", *_SLOT, unique=True, sqlite_where=_of_items),
    Index("one_condition_per_rater", "rater", "item", unique=True, sqlite_where=_of_items),
)
returned = Table(
    "returned",
    metadata,
    *columns(item=Integer, condition=Integer, turn=Integer),
    PrimaryKeyConstraint(*_SLOT),
    ForeignKeyConstraint(["item"], ["items.number"]),
)
consents = Table("consents", metadata, *columns(version=Text, text=Text), PrimaryKeyConstraint("version"))
maintainers = Table("maintainers", metadata, *columns(token=Text), PrimaryKeyConstraint("token"))
