"""Visitors of a shared link, as Prolific sends them: a place is taken by agreeing to take part, not by looking.

A visitor is known by a keyed hash of the id in the link, and by a secret of the browser. The token of a rater's page is
made from both: whoever knows the id alone gets none. Where all places are taken, one whose rater has sent nothing for
`IDLE` is given to the next visitor.
"""

import hashlib
import hmac
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection

from vcrgen.core.errors import StudyError
from vcrgen.study.assignment import StepKind
from vcrgen.study.exclusion import broken_limits, is_excluded, rater_conduct
from vcrgen.study.grading import finished_steps
from vcrgen.study.participants import PARTICIPANT, visitor_hash
from vcrgen.study.raters import LINK, end_participation
from vcrgen.study.records import Invitation, Rater, RaterState
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design, read_secret
from vcrgen.study.store.invitations import (
    find_visitor,
    free_place,
    is_participant,
    keeps_ids,
    raters_at_work,
    raters_of_visitor,
    read_invitation,
    read_participant_ids,
)
from vcrgen.study.store.items import read_items
from vcrgen.study.store.raters import now, read_raters, update_rater
from vcrgen.study.store.steps import read_steps
from vcrgen.web.tokens import token_hash

IDLE = 3600.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A visitor of a shared link."""

    invitation: Invitation
    participant: str  # the id in the link
    visitor: str  # a hash that stands for the id
    token: str  # of the page that is or will be the visitor's own, in this browser
    rater: Rater | None  # that the visitor has become
    is_admitted: bool  # has a place, or may take one: the link has no list, or the visitor is on it

    @property
    def is_own(self) -> bool:
        """Whether this is the browser in which the visitor took the place."""
        return self.rater is not None and self.rater.token == token_hash(self.token)

    @property
    def is_released(self) -> bool:
        """Whether the visitor may take the place that is theirs already, in whatever browser."""
        return self.rater is not None and self.rater.token is None and self.rater.state is not RaterState.LEFT


class LastSigns:
    """When something of a rater arrived last, by a clock that nobody can set: no jump of the time gives a place away.

    A rater of whom nothing has arrived since the service was started counts as heard of then.
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._times: dict[int, float] = {}

    def record(self, rater: int) -> None:
        """Something of a rater has arrived."""
        self._times[rater] = time.monotonic()

    def seconds(self, rater: int) -> float:
        """The time since the last sign of a rater."""
        return time.monotonic() - self._times.get(rater, self._start)


def open_visit(connection: Connection, shared_link: str, participant: str, browser: str) -> Visit | None:
    """The visit of somebody by the token of a link, the id in it and the secret of a browser; None of unknown links."""
    hashed = token_hash(shared_link)
    invitation = None if hashed is None else read_invitation(connection, hashed)
    if invitation is None:
        return None
    secret = read_secret(connection).encode()
    visitor = visitor_hash(connection, participant)
    rater = find_visitor(connection, invitation.shared_link, visitor)
    listed = not invitation.is_listed or is_participant(connection, invitation.shared_link, visitor)
    return Visit(
        invitation=invitation,
        participant=participant,
        visitor=visitor,
        token=LINK + hmac.new(secret, f"{hashed} {participant} {browser}".encode(), hashlib.sha256).hexdigest(),
        rater=rater,
        is_admitted=rater is not None or listed,
    )


def has_place(connection: Connection, invitation: Invitation, signs: LastSigns) -> bool:
    """Whether a link has a place that is free, or whose rater is idle."""
    return free_place(connection, invitation.shared_link) is not None or bool(_idle(connection, invitation, signs))


def _idle(connection: Connection, invitation: Invitation, signs: LastSigns) -> list[Rater]:
    """Idle raters who have items left, the one of the oldest sign first.

    Whoever has finished all and not sent it yet keeps the place.
    """
    idle = [
        rater
        for rater in raters_at_work(connection, invitation.shared_link)
        if signs.seconds(rater.number) > IDLE
        and any(step.step.kind is StepKind.ITEM and not step.done for step in read_steps(connection, rater.number))
    ]
    return sorted(idle, key=lambda rater: -signs.seconds(rater.number))


def is_wanted(invitation: Invitation, languages: str) -> bool:
    """Whether somebody who speaks these languages, as typed, may take a place."""
    return not invitation.speaks or any(word.casefold() in languages.casefold() for word in invitation.speaks)


def claim_place(connection: Connection, visit: Visit, signs: LastSigns, **consent: str) -> bool:
    """Give a place to a visitor who has none yet, or whose place was released, and agrees; False where none is free.

    Args:
        connection: Of a transaction that writes.
        visit: The visitor, whose id is stored only where the invitation says so.
        signs: Of the raters.
        consent: Columns of the rater: the version of the consent, and the languages.
    """
    token = token_hash(visit.token)
    if visit.rater is not None:
        update_rater(connection, visit.rater.number, token=token, **consent)
        signs.record(visit.rater.number)
        return True
    link = visit.invitation.shared_link
    number = free_place(connection, link)
    if number is None and (idle := _idle(connection, visit.invitation, signs)):
        end_participation(connection, idle[0])
        number = free_place(connection, link)
    if number is None:
        return False
    values = {"visitor": visit.visitor, "token": token, "state": RaterState.WORKING, "began": now()}
    values["participant_id"] = visit.participant if visit.invitation.keeps_ids else None
    update_rater(connection, number, **values, **consent)
    signs.record(number)
    return True


def release_place(store: StudyStore, participant: str) -> list[Rater]:
    """Let a participant go on in another browser: the next one that comes with the id takes over the place.

    Raises:
        StudyError: It is no id, or nobody with it has a place.
    """
    if not re.fullmatch(PARTICIPANT, participant):
        raise StudyError(f"{participant[:40]!r} is no id of Prolific (24 digits of 0-9 and a-f).")
    with store.writing() as connection:
        raters = [
            rater
            for rater in raters_of_visitor(connection, visitor_hash(connection, participant))
            if rater.state is not RaterState.LEFT
        ]
        for rater in raters:
            update_rater(connection, rater.number, token=None)
    if not raters:
        raise StudyError(f"Nobody with the id {participant} has a place in {store.folder}.")
    return raters


def completion_code(connection: Connection, rater: Rater) -> str:
    """The code of a rater who has sent everything.

    Of one whom the study excludes it is the code for failed checks, or none where the invitation has no such code.
    """
    invitation = read_invitation(connection, rater.shared_link)
    if invitation is None:
        return ""
    if is_excluded(read_design(connection), read_items(connection), read_steps(connection, rater.number)):
        return invitation.failed_code
    return invitation.code


def payment_lines(store: StudyStore) -> Iterator[str]:
    """Yield the lines of a CSV file that says whose submission to approve.

    Raises:
        StudyError: No ids are stored.
    """
    with store.reading() as connection:
        design, items, ids = read_design(connection), read_items(connection), read_participant_ids(connection)
        raters, steps, has_ids = read_raters(connection), read_steps(connection), keeps_ids(connection)
    if not has_ids:
        raise StudyError(
            f"{store.folder} keeps no ids of raters; `vcrgen study invite --prolific CODE --keep-ids` does."
        )
    yield "participant_id,rater,state,items,decision,reason\n"
    for rater in raters:
        if rater.number in ids:
            own = [step for step in steps if step.rater == rater.number]
            reasons = broken_limits(design, rater_conduct(design, items, own))
            # Nothing is due before everything is sent.
            decision = ("reject" if reasons else "approve") if rater.state is RaterState.SENT else ""
            cells = (ids[rater.number], rater.name, rater.state.value, str(len(finished_steps(own))), decision)
            yield ",".join((*cells, "; ".join(reasons))) + "\n"
