"""Shared links of a study, and the visitors who take places by them."""

from __future__ import annotations

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert as insert_or

from vcrgen.study.records import Invitation, Rater, RaterState
from vcrgen.study.store.raters import SELECT_RATER, as_rater
from vcrgen.study.store.tables import invitations, raters


def save_invitation(connection: Connection, invitation: Invitation) -> None:
    """Store a shared link; of one that is there, what is given takes the place of what was given before."""
    values = {name: getattr(invitation, name) for name in Invitation.__slots__}
    changed = {name: value for name, value in values.items() if value}
    added = insert_or(invitations).values(values)
    connection.execute(added.on_conflict_do_update(index_elements=[invitations.c.shared_link], set_=changed))


def read_invitation(connection: Connection, shared_link: str | None) -> Invitation | None:
    """The invitation whose link has that hash, or None."""
    row = connection.execute(select(invitations).where(invitations.c.shared_link == shared_link)).mappings().first()
    return None if row is None else Invitation(**{**row, "speaks": tuple(row["speaks"])})


def find_visitor(connection: Connection, shared_link: str, visitor: str) -> Rater | None:
    """The rater that a visitor of a link has become, by two hashes, or None."""
    query = SELECT_RATER.where(raters.c.shared_link == shared_link, raters.c.visitor == visitor)
    row = connection.execute(query).mappings().first()
    return None if row is None else as_rater(row)


def free_place(connection: Connection, shared_link: str) -> int | None:
    """The number of the first place of a link that nobody has taken, or None."""
    free = select(raters.c.number).where(
        raters.c.shared_link == shared_link, raters.c.visitor.is_(None), raters.c.state == RaterState.INVITED
    )
    number: int | None = connection.execute(free.order_by(raters.c.number)).scalar()
    return number


def idle_raters(connection: Connection, shared_link: str, before: str) -> list[Rater]:
    """Return raters at work by a link of whom nothing has arrived since a time in UTC."""
    idle = SELECT_RATER.where(
        raters.c.shared_link == shared_link, raters.c.state == RaterState.WORKING, raters.c.seen < before
    )
    return [as_rater(row) for row in connection.execute(idle.order_by(raters.c.seen, raters.c.number)).mappings()]


def read_participant_ids(connection: Connection) -> dict[int, str]:
    """The stored ids of visitors by the number of the rater."""
    query = select(raters.c.number, raters.c.participant_id).where(raters.c.participant_id.is_not(None))
    return {row.number: row.participant_id for row in connection.execute(query)}


def keeps_ids(connection: Connection) -> bool:
    """Whether some invitation stores the ids of its visitors."""
    return connection.execute(select(invitations).where(invitations.c.keeps_ids)).first() is not None
