"""Raters of a study: they are invited, may withdraw or be forgotten, and their open slots are assigned anew.

These go to raters who are invited next, or to volunteers who have finished.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence

from sqlalchemy import Connection

from vcrgen.errors import StudyError
from vcrgen.study.assignment import ExtraSteps, Slot, Step, StepKind, assign, assign_passes, steps_for_rater
from vcrgen.study.grading import typed_texts
from vcrgen.study.page_texts import texts_for
from vcrgen.study.records import Rater, RaterState, StudyDesign
from vcrgen.study.store.causes import prune_causes
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design, read_secret
from vcrgen.study.store.raters import add_rater, admit_visitor, is_shared_link, next_rater_number, now, update_rater
from vcrgen.study.store.steps import append_steps, open_slots, read_steps, release_steps, returned_slots
from vcrgen.web.tokens import new_token, token_hash

LINK, SHARED_LINK = "vcrs_", "vcrd_"
MAX_RATERS = 10_000
CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")


def invite(store: StudyStore, count: int, lang: str | None, *, prolific: str = "") -> tuple[list[str], str]:
    """Invite people, and assign items to them.

    Args:
        store: The study.
        count: Number of people.
        lang: Language of their pages; that of the dataset, or else English, if None.
        prolific: The completion code of a study at Prolific, whose people share one link; empty for a link each.

    Returns:
        The token of each link, which is stored nowhere, and the token of the shared link, or an empty text; fewer
        than ``count`` where fewer people suffice.

    Raises:
        StudyError: The language is none of a page, the code is none, or nobody is needed any more.
    """
    if prolific and not CODE.fullmatch(prolific):
        raise StudyError(f"{prolific[:80]!r} is no completion code; copy it from the study's page at Prolific.")
    shared_link = new_token(SHARED_LINK) if prolific else ""
    links = []
    with store.writing() as connection:
        design = read_design(connection)
        own = _language(design, lang)
        first = next_rater_number(connection)
        if first + count > MAX_RATERS:
            raise StudyError(f"A study has at most {MAX_RATERS:,} people.")
        people = range(first, first + count)
        wanted = [slot for slot in open_slots(connection, design) if _speaks(design, own, slot.condition)]
        if design.draw:
            slots = assign_passes(wanted, people)
        else:
            slots = assign(wanted, people, seed=design.seed, max_items=design.options["max_items"])
        used = [mine for person in people if (mine := slots[person])]  # those without items are not needed
        shared = token_hash(shared_link) if shared_link else None
        for number, mine in zip(people, used, strict=False):
            links.append("" if shared_link else new_token(LINK))
            token = token_hash(links[-1]) if links[-1] else None
            add_rater(connection, number, own, token=token, code=prolific, shared_link=shared)
            append_steps(connection, number, _first_steps(design, number, own, mine))
        if not links:
            which = f"every item in {own!r}" if design.is_mcq else "every item"
            raise StudyError(f"Nobody else is needed: {which} is assigned to as many people as the study needs.")
    return links, shared_link


def _first_steps(design: StudyDesign, number: int, lang: str, slots: Sequence[Slot]) -> list[Step]:
    """Return the steps of a new rater; MCQ training is in the rater's language, in each view in turn."""
    training = range(design.items, design.items + design.training)
    extras = ExtraSteps(training, design.options["checks"], design.options["repeats"])
    steps = steps_for_rater(number, slots, extras, conditions=len(design.conditions), seed=design.seed)
    if not design.is_mcq:
        return steps
    own = [condition for condition in range(len(design.conditions)) if _speaks(design, lang, condition)]
    return [
        step._replace(condition=own[(at + number) % len(own)]) if step.kind is StepKind.TRAINING else step
        for at, step in enumerate(steps)
    ]


def _language(design: StudyDesign, lang: str | None) -> str:
    """Return the language of a rater: of the page, and of an MCQ benchmark also of the questions.

    Raises:
        StudyError: There are no pages, or no questions, in it.
    """
    if design.is_mcq:
        languages = list(dict.fromkeys(condition.mode for condition in design.conditions))
        if lang is not None and lang not in languages:
            raise StudyError(f"The study asks nothing in {lang!r}; choose --lang {' or '.join(languages)}.")
        return lang or languages[0]
    pages = texts_for(design).page
    if lang is not None and lang not in pages:
        raise StudyError(f"There are no pages in {lang!r}; choose --lang {' or '.join(pages)}.")
    return lang or (design.lang if design.lang in pages else "en")


def _speaks(design: StudyDesign, lang: str, condition: int) -> bool:
    """Return true if a rater can be asked in a condition: of an MCQ benchmark only in the rater's language."""
    return not design.is_mcq or design.conditions[condition].mode == lang


def unassigned_slots(connection: Connection, design: StudyDesign, rater: Rater) -> list[Slot]:
    """Return slots of drop-outs for a rater who has finished, at most as many items as stand between two breaks.

    Slots that were never assigned wait for people who are still to be invited. Nobody is offered an item that they have
    seen in any condition, nor more items than ``--max-items``. Raters with a completion code are paid for what was
    agreed on, and are offered nothing; nor are raters of an audit, each of whom has the place of one of its draw.
    """
    if design.draw or rater.code:
        return []
    mine = {one.step.item for one in read_steps(connection, rater.number) if one.step.kind is StepKind.ITEM}
    left = [
        slot
        for slot in returned_slots(connection)
        if slot.item not in mine and _speaks(design, rater.lang, slot.condition)
    ]
    most, pause = design.options["max_items"], design.options["pause"]
    room = pause if most is None else min(pause, most - len(mine))
    return assign(left, [rater.number], seed=design.seed, max_items=room)[rater.number]


def claim_unassigned(connection: Connection, design: StudyDesign, rater: Rater) -> None:
    """Assign the slots of :func:`unassigned_slots` to a rater."""
    slots = unassigned_slots(connection, design, rater)
    steps = steps_for_rater(
        rater.number, slots, ExtraSteps((), 0, 0), conditions=len(design.conditions), seed=design.seed
    )
    append_steps(connection, rater.number, steps)


def join_by_link(store: StudyStore, shared_link: str, visitor: str) -> str | None:
    """Return the token of a visitor of a shared link, always the same; None where the link is unknown or full."""
    hashed = token_hash(shared_link)
    with store.writing() as connection:
        if hashed is None or not is_shared_link(connection, hashed):
            return None
        secret = read_secret(connection).encode()
        token = LINK + hmac.new(secret, f"{hashed} {visitor}".encode(), hashlib.sha256).hexdigest()
        stands_for = hmac.new(secret, f"visitor {visitor}".encode(), hashlib.sha256).hexdigest()
        return token if admit_visitor(connection, hashed, stands_for, token_hash(token) or "") else None


def withdraw(store: StudyStore, rater: Rater) -> int:
    """End the participation of a rater: finished steps count, the others are released. Return their number."""
    with store.writing() as connection:
        count = release_steps(connection, rater.number, everything=False)
        update_rater(connection, rater.number, state=RaterState.LEFT, token=None, ended=now())
    return count


def forget(store: StudyStore, rater: Rater) -> None:
    """Remove all data of a rater but the number; the slots are open again."""
    with store.writing() as connection:
        release_steps(connection, rater.number, everything=True)
        empty = dict.fromkeys(("code", "tab", "consent", "languages", "began", "ended"), "")
        nothing = dict.fromkeys(("token", "shared_link", "visitor"))
        update_rater(connection, rater.number, state=RaterState.FORGOTTEN, **empty, **nothing)
        prune_causes(connection, typed_texts(read_steps(connection)))
    store.purge()


def rater_by_name(raters: Sequence[Rater], name: str) -> Rater:
    """Return the rater of a name such as ``r3``.

    Raises:
        StudyError: There is none.
    """
    for rater in raters:
        if rater.name == name and rater.state is not RaterState.FORGOTTEN:
            return rater
    have = ", ".join(rater.name for rater in raters if rater.state is not RaterState.FORGOTTEN) or "nobody"
    raise StudyError(f"The study has no rater {name[:40]!r}; it has {have[:300]}.")
