"""Shared links of a study, and the visitors who take places by them."""

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.dialects.sqlite import insert as insert_or

from vcrgen.study.records import Invitation, Rater, RaterState
from vcrgen.study.store.raters import SELECT_RATER, as_rater
from vcrgen.study.store.tables import invitations, participants, raters


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


def raters_at_work(connection: Connection, shared_link: str) -> list[Rater]:
    """The raters who took their places by a link and are at work."""
    at_work = SELECT_RATER.where(raters.c.shared_link == shared_link, raters.c.state == RaterState.WORKING)
    return [as_rater(row) for row in connection.execute(at_work.order_by(raters.c.number)).mappings()]


def raters_of_visitor(connection: Connection, visitor: str) -> list[Rater]:
    """The raters that a visitor has become, by any link."""
    query = SELECT_RATER.where(raters.c.visitor == visitor)
    return [as_rater(row) for row in connection.execute(query.order_by(raters.c.number)).mappings()]


def save_participants(connection: Connection, shared_link: str, visitors: Iterable[str]) -> None:
    """Store the hashes of those whom a link admits, in place of those who were listed before."""
    connection.execute(delete(participants).where(participants.c.shared_link == shared_link))
    connection.execute(insert(participants), [{"shared_link": shared_link, "visitor": visitor} for visitor in visitors])


def is_participant(connection: Connection, shared_link: str, visitor: str) -> bool:
    """Whether a visitor is on the list of a link."""
    query = select(participants).where(participants.c.shared_link == shared_link, participants.c.visitor == visitor)
    return connection.execute(query).first() is not None


def forget_participant(connection: Connection, rater: int) -> None:
    """Take the visitor that a rater was from all lists."""
    visitor = select(raters.c.visitor).where(raters.c.number == rater).scalar_subquery()
    connection.execute(delete(participants).where(participants.c.visitor == visitor))


def read_participant_ids(connection: Connection) -> dict[int, str]:
    """The stored ids of visitors by the number of the rater."""
    query = select(raters.c.number, raters.c.participant_id).where(raters.c.participant_id.is_not(None))
    return {row.number: row.participant_id for row in connection.execute(query)}


def keeps_ids(connection: Connection) -> bool:
    """Whether some invitation stores the ids of its visitors."""
    return connection.execute(select(invitations).where(invitations.c.keeps_ids)).first() is not None
