"""The design of a study, the secret of its links, and its maintainers."""

import json

from sqlalchemy import Connection, insert, select

from vcrgen.bloom.audit.draw import draw_from_json, draw_to_json
from vcrgen.core.files import canonical_json
from vcrgen.data.views import View
from vcrgen.study.records import Condition, StudyDesign
from vcrgen.study.store import tables


def write_design(connection: Connection, design: StudyDesign, secret: str) -> None:
    """Store the design, and the secret from which the links of returning visitors are made."""
    values = {name: getattr(design, name) for name in StudyDesign.__slots__}
    values["draw"] = design.draw and draw_to_json(design.draw)
    plain = json.loads(canonical_json(values))
    connection.execute(insert(tables.designs).values(value=plain, secret=secret))


def read_design(connection: Connection) -> StudyDesign:
    """The design, written once when the study was made."""
    values = dict(connection.execute(select(tables.designs.c.value)).scalar_one())
    values["conditions"] = tuple(Condition(mode, View(view)) for mode, view in values["conditions"])
    if values["draw"]:
        values["draw"] = draw_from_json(values["draw"])
    return StudyDesign(**values)


def read_secret(connection: Connection) -> str:
    """The secret that `write_design` stored."""
    return str(connection.execute(select(tables.designs.c.secret)).scalar_one())


def add_maintainer(connection: Connection, token: str | None) -> None:
    """Add a maintainer by the hash of a token."""
    connection.execute(insert(tables.maintainers).values(token=token))


def is_maintainer(connection: Connection, token: str | None) -> bool:
    """Whether the hash is that of a maintainer's token."""
    query = select(tables.maintainers).where(tables.maintainers.c.token == token)
    return connection.execute(query).first() is not None
