"""Visitors of a shared link, as Prolific sends them: a place is taken by agreeing to take part, not by looking.

A visitor is known by a keyed hash of the id in the link, and has a token that is made from it: always the same page.
Where all places are taken, one whose rater has sent nothing for `IDLE` is given to the next visitor.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import Connection

from vcrgen.core.errors import StudyError
from vcrgen.study.assignment import StepKind
from vcrgen.study.raters import LINK, end_participation
from vcrgen.study.records import Invitation, Rater, RaterState, RaterStep
from vcrgen.study.scoring import fails_checks
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design, read_secret
from vcrgen.study.store.invitations import (
    find_visitor,
    free_place,
    idle_raters,
    keeps_ids,
    read_invitation,
    read_participant_ids,
)
from vcrgen.study.store.raters import now, read_raters, update_rater
from vcrgen.study.store.steps import read_steps
from vcrgen.web.tokens import token_hash

IDLE = timedelta(hours=1)


class Visit(NamedTuple):
    """A visitor of a shared link."""

    invitation: Invitation
    visitor: str  # a hash that stands for the visitor
    token: str  # of the page that is or will be the visitor's own
    rater: Rater | None  # that the visitor has become


def open_visit(connection: Connection, shared_link: str, participant: str) -> Visit | None:
    """The visit of somebody by the token of a link and the id in it; None where the link is unknown."""
    hashed = token_hash(shared_link)
    invitation = None if hashed is None else read_invitation(connection, hashed)
    if invitation is None:
        return None
    secret = read_secret(connection).encode()
    token = LINK + hmac.new(secret, f"{hashed} {participant}".encode(), hashlib.sha256).hexdigest()
    visitor = hmac.new(secret, f"visitor {participant}".encode(), hashlib.sha256).hexdigest()
    return Visit(invitation, visitor, token, find_visitor(connection, invitation.shared_link, visitor))


def has_place(connection: Connection, invitation: Invitation) -> bool:
    """Whether a link has a place that is free, or whose rater is idle."""
    return free_place(connection, invitation.shared_link) is not None or bool(_idle(connection, invitation))


def _idle(connection: Connection, invitation: Invitation) -> list[Rater]:
    """Idle raters who have items left: whoever has finished all and not sent it yet keeps the place."""
    return [
        rater
        for rater in idle_raters(connection, invitation.shared_link, now(-IDLE))
        if any(step.step.kind is StepKind.ITEM and not step.done for step in read_steps(connection, rater.number))
    ]


def is_wanted(invitation: Invitation, languages: str) -> bool:
    """Whether somebody who speaks these languages, as typed, may take a place."""
    return not invitation.speaks or any(word.casefold() in languages.casefold() for word in invitation.speaks)


def claim_place(connection: Connection, visit: Visit, participant: str, **consent: str) -> bool:
    """Give a place to a visitor who has none yet and agrees; False where none is free.

    Args:
        connection: Of a transaction that writes.
        visit: The visitor.
        participant: The id in the link, which is stored only where the invitation says so.
        consent: Columns of the rater: the version of the consent, and the languages.
    """
    link = visit.invitation.shared_link
    number = free_place(connection, link)
    if number is None and (idle := _idle(connection, visit.invitation)):
        end_participation(connection, idle[0])
        number = free_place(connection, link)
    if number is None:
        return False
    values = {"visitor": visit.visitor, "token": token_hash(visit.token), "state": RaterState.WORKING}
    values["participant_id"] = participant if visit.invitation.keeps_ids else None
    update_rater(connection, number, began=now(), seen=now(), **values, **consent)
    return True


def completion_code(connection: Connection, rater: Rater) -> str:
    """The code of a rater who has sent everything; that for failed checks where the study excludes the rater."""
    invitation = read_invitation(connection, rater.shared_link)
    if invitation is None:
        return ""
    if invitation.failed_code and fails_checks(read_steps(connection, rater.number), read_design(connection).options):
        return invitation.failed_code
    return invitation.code


def payment_lines(store: StudyStore) -> Iterator[str]:
    """Yield the lines of a CSV file that says whose submission to approve.

    Raises:
        StudyError: No ids are stored.
    """
    with store.reading() as connection:
        options, ids = read_design(connection).options, read_participant_ids(connection)
        raters, steps, has_ids = read_raters(connection), read_steps(connection), keeps_ids(connection)
    if not has_ids:
        raise StudyError(
            f"{store.folder} keeps no ids of raters; `vcrgen study invite --prolific CODE --keep-ids` does."
        )
    yield "participant_id,rater,state,items,decision\n"
    for rater in raters:
        if rater.number in ids:
            own = [step for step in steps if step.rater == rater.number]
            items = sum(step.done and step.step.kind is StepKind.ITEM for step in own)
            decision = _decision(rater, own, options)
            yield f"{ids[rater.number]},{rater.name},{rater.state.value},{items},{decision}\n"


def _decision(rater: Rater, steps: list[RaterStep], options: dict[str, float]) -> str:
    """Return what to do at Prolific: nothing is due before everything is sent."""
    if rater.state is not RaterState.SENT:
        return ""
    return "reject" if fails_checks(steps, options) else "approve"
