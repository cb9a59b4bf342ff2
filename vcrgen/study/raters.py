"""Raters of a study: they are invited, may withdraw or be forgotten, and their open slots are assigned anew.

These go to raters who are invited next, or to volunteers who have finished.
"""

import hashlib
import hmac
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from vcrgen.core.errors import StudyError
from vcrgen.core.rng import rng_for
from vcrgen.study.assignment import ExtraSteps, Slot, Step, StepKind, assign, assign_passes, steps_for_rater
from vcrgen.study.exclusion import exclusion_rule
from vcrgen.study.page_texts import texts_for
from vcrgen.study.participants import visitor_hash
from vcrgen.study.records import Invitation, Rater, RaterState, StudyDesign
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design, read_secret
from vcrgen.study.store.invitations import forget_participant, save_invitation, save_participants
from vcrgen.study.store.raters import add_rater, next_rater_number, now, update_rater
from vcrgen.study.store.steps import append_steps, open_slots, read_steps, release_steps, returned_slots
from vcrgen.web.tokens import new_token, token_hash

LINK, SHARED_LINK = "vcrs_", "vcrd_"
MAX_RATERS = 10_000
CHECK_DIGITS = 4
CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")


def invite(
    store: StudyStore,
    count: int,
    lang: str | None,
    options: Invitation | None = None,
    participants: Collection[str] = (),
) -> tuple[list[str], str]:
    """Invite people, and assign items to them.

    Args:
        lang: Language of their pages; that of the dataset, or else English, if None.
        options: Of a link that they share; None for a link each. The same code and language have the same link, which
            then has more places.
        participants: Ids of those whom the shared link admits; none for the list that it has, or else for everybody.

    Returns:
        The token of each link, which is stored nowhere, and the token of the shared link, or an empty text; fewer
        than ``count`` where fewer people suffice.

    Raises:
        StudyError: The language is none of a page, a code is none, or nobody is needed any more.
    """
    links = []
    with store.writing() as connection:
        design = read_design(connection)
        own = _language(design, lang)
        shared_link = _shared_link(connection, design, own, options, participants) if options else ""
        first = next_rater_number(connection)
        if first + count > MAX_RATERS:
            raise StudyError(f"A study has at most {MAX_RATERS:,} people.")
        people = range(first, first + count)
        slots_to_fill = [slot for slot in open_slots(connection, design) if _speaks(design, own, slot.condition)]
        if design.draw:
            slots = assign_passes(slots_to_fill, people)
        else:
            slots = assign(slots_to_fill, people, seed=design.seed, max_items=design.options["max_items"])
        used = [mine for person in people if (mine := slots[person])]  # those without items are not needed
        shared = token_hash(shared_link) if shared_link else None
        for number, mine in zip(people, used, strict=False):
            links.append("" if shared_link else new_token(LINK))
            token = token_hash(links[-1]) if links[-1] else None
            add_rater(connection, number, own, token=token, shared_link=shared)
            append_steps(connection, number, _first_steps(connection, design, number, own, mine))
        if not links:
            which = f"every item in {own!r}" if design.is_mcq else "every item"
            raise StudyError(f"Nobody else is needed: {which} is assigned to as many people as the study needs.")
    return links, shared_link


def _shared_link(
    connection: Connection, design: StudyDesign, lang: str, options: Invitation, participants: Collection[str]
) -> str:
    """Store a shared link, and return its token, which is made of the study's secret: it can be told again."""
    for code in filter(None, (options.code, options.failed_code)):
        if not CODE.fullmatch(code):
            raise StudyError(f"{code[:80]!r} is no completion code; copy it from the study's page at Prolific.")
    if options.failed_code and not exclusion_rule(design):
        raise StudyError(
            "A code for failed checks is for people whom the study excludes, and this one excludes nobody; make it with"
            " --min-checks, --min-repeats, --max-blank or --max-fast."
        )
    about = f"shared link {lang} {options.code}".encode()
    token = SHARED_LINK + hmac.new(read_secret(connection).encode(), about, hashlib.sha256).hexdigest()
    link = token_hash(token) or ""
    save_invitation(connection, replace(options, shared_link=link, lang=lang, is_listed=bool(participants)))
    if participants:
        save_participants(connection, link, [visitor_hash(connection, one) for one in participants])
    return token


def _first_steps(
    connection: Connection, design: StudyDesign, number: int, lang: str, slots: Sequence[Slot]
) -> list[Step]:
    """The steps of a new rater; MCQ training is in the rater's language, in each view in turn."""
    training = range(design.items, design.items + design.training)
    rng = rng_for(design.seed, "checks", f"{read_secret(connection)} {number}")  # the seed alone could be guessed
    checks = [f"{rng.randrange(10**CHECK_DIGITS):0{CHECK_DIGITS}}" for _ in range(design.options["checks"])]
    extras = ExtraSteps(training, checks, design.options["repeats"])
    steps = steps_for_rater(number, slots, extras, conditions=len(design.conditions), seed=design.seed)
    if not design.is_mcq:
        return steps
    own = [condition for condition in range(len(design.conditions)) if _speaks(design, lang, condition)]
    return [
        step._replace(condition=own[(at + number) % len(own)]) if step.kind is StepKind.TRAINING else step
        for at, step in enumerate(steps)
    ]


def _language(design: StudyDesign, lang: str | None) -> str:
    """The language of a rater: of the page, and of an MCQ benchmark also of the questions.

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
    """Whether a rater can be asked in a condition: of an MCQ benchmark only in the rater's language."""
    return not design.is_mcq or design.conditions[condition].mode == lang


def unassigned_slots(connection: Connection, design: StudyDesign, rater: Rater) -> list[Slot]:
    """Return slots of drop-outs for a rater who has finished, at most as many items as stand between two breaks.

    Slots that were never assigned wait for people who are still to be invited. Nobody is offered an item that they have
    seen in any condition, nor more items than ``--max-items``. Raters of a shared link are paid for what was
    agreed on, and are offered nothing; nor are raters of an audit, each of whom has the place of one of its draw.
    """
    if design.draw or rater.shared_link:
        return []
    mine = {step.step.item for step in read_steps(connection, rater.number) if step.step.kind is StepKind.ITEM}
    left = [
        slot
        for slot in returned_slots(connection)
        if slot.item not in mine and _speaks(design, rater.lang, slot.condition)
    ]
    most, pause = design.options["max_items"], design.options["pause"]
    room = pause if most is None else min(pause, most - len(mine))
    return assign(left, [rater.number], seed=design.seed, max_items=room)[rater.number]


def claim_unassigned(connection: Connection, design: StudyDesign, rater: Rater) -> None:
    """Assign the slots of `unassigned_slots` to a rater."""
    slots = unassigned_slots(connection, design, rater)
    steps = steps_for_rater(
        rater.number, slots, ExtraSteps((), (), 0), conditions=len(design.conditions), seed=design.seed
    )
    append_steps(connection, rater.number, steps)


def withdraw(store: StudyStore, rater: Rater) -> int:
    """End the participation of a rater in a transaction of its own; see `end_participation`."""
    with store.writing() as connection:
        return end_participation(connection, rater)


def end_participation(connection: Connection, rater: Rater) -> int:
    """End the participation of a rater: finished steps count, the others are released. Return their number.

    Of a shared link, what is left becomes a place for its next visitor.
    """
    left = [step.step for step in read_steps(connection, rater.number) if not step.done]
    count = release_steps(connection, rater.number, everything=False)
    update_rater(connection, rater.number, state=RaterState.LEFT, token=None, ended=now())
    slots = [Slot(step.item, step.condition, step.turn) for step in left if step.kind is StepKind.ITEM]
    if rater.shared_link and slots:
        number = next_rater_number(connection)
        add_rater(connection, number, rater.lang, token=None, shared_link=rater.shared_link)
        append_steps(connection, number, _first_steps(connection, read_design(connection), number, rater.lang, slots))
    return count


def forget(store: StudyStore, rater: Rater) -> None:
    """Remove all data of a rater but the number; the slots are open again."""
    with store.writing() as connection:
        release_steps(connection, rater.number, everything=True)
        forget_participant(connection, rater.number)
        empty = dict.fromkeys(("tab", "consent", "languages", "began", "ended"), "")
        nothing = dict.fromkeys(("token", "shared_link", "visitor", "participant_id", "answered"))
        update_rater(connection, rater.number, state=RaterState.FORGOTTEN, **empty, **nothing)
    store.purge()


def rater_by_name(raters: Sequence[Rater], name: str) -> Rater:
    """The rater of a name such as ``r3``.

    Raises:
        StudyError: There is none.
    """
    for rater in raters:
        if rater.name == name and rater.state is not RaterState.FORGOTTEN:
            return rater
    have = ", ".join(rater.name for rater in raters if rater.state is not RaterState.FORGOTTEN) or "nobody"
    raise StudyError(f"The study has no rater {name[:40]!r}; it has {have[:300]}.")
