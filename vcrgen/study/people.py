"""The people of a study: they are invited, may leave or be forgotten, and what they leave is wanted again.

It goes to those who are invited next, or to those at work who have finished and want to go on.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence

from vcrgen.errors import StudyError
from vcrgen.study import store as db
from vcrgen.study.choice_texts import texts_for
from vcrgen.study.design import Extras, Kind, Viewing, deal, deal_parts, steps_of
from vcrgen.study.marks import typed_texts
from vcrgen.study.records import Frozen, Rater, RaterState
from vcrgen.study.store import Store
from vcrgen.web.tokens import hash_of, new_token

LINK, DOOR = "vcrs_", "vcrd_"
MOST = 10_000  # people of a study
CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")


def invite(store: Store, count: int, lang: str | None, *, prolific: str = "") -> tuple[list[str], str]:
    """Give items to new people.

    Args:
        store: The study.
        count: How many people.
        lang: Language of their pages; that of the dataset, or else English, if None.
        prolific: The completion code of a study at Prolific, whose people share one link; empty for a link each.

    Returns:
        The token of each link, which is stored nowhere, and the token of the shared link, or an empty text. There are
        fewer than ``count`` where fewer people suffice.

    Raises:
        StudyError: The language is none of a page, the code is none, or nobody is needed any more.
    """
    if prolific and not CODE.fullmatch(prolific):
        raise StudyError(f"{prolific[:80]!r} is no completion code; copy it from the study's page at Prolific.")
    door = new_token(DOOR) if prolific else ""
    links = []
    with store.writing() as connection:
        frozen = db.read_frozen(connection)
        own = _language(frozen, lang)
        first = db.next_rater(connection)
        if first + count > MOST:
            raise StudyError(f"A study has at most {MOST:,} people.")
        options = frozen.options
        people = range(first, first + count)
        wanted = [slot for slot in db.wanted_slots(connection, frozen) if _speaks(frozen, own, slot.condition)]
        if frozen.draw:
            slots = deal_parts(wanted, people)
        else:
            slots = deal(wanted, people, seed=frozen.seed, most=options["most"])
        training = range(frozen.items, frozen.items + frozen.training)
        extras = Extras(training, options["checks"], options["repeats"])
        dealt = [mine for person in people if (mine := slots[person])]  # whoever got nothing is not needed
        for number, mine in zip(people, dealt, strict=False):
            links.append("" if door else new_token(LINK))
            token = hash_of(links[-1]) if links[-1] else None
            db.add_rater(connection, number, own, token=token, code=prolific, door=hash_of(door) if door else None)
            steps = steps_of(number, mine, extras, conditions=len(frozen.conditions), seed=frozen.seed)
            if frozen.choosing:  # training is in the rater's language, too, and in each view in turn
                own_ones = [place for place in range(len(frozen.conditions)) if _speaks(frozen, own, place)]
                steps = [
                    step._replace(condition=own_ones[(place + number) % len(own_ones)])
                    if step.kind is Kind.TRAINING
                    else step
                    for place, step in enumerate(steps)
                ]
            db.add_steps(connection, number, steps)
        if not links:
            which = f"every item in {own!r}" if frozen.choosing else "every item"
            raise StudyError(f"Nobody else is needed: {which} is with as many people as the study wants.")
    return links, door


def _language(frozen: Frozen, lang: str | None) -> str:
    """The language of a rater: of the page, and of a question set also of the questions.

    Raises:
        StudyError: There are no pages, or no questions, in it.
    """
    if frozen.choosing:
        languages = list(dict.fromkeys(condition.mode for condition in frozen.conditions))
        if lang is not None and lang not in languages:
            raise StudyError(f"The study asks nothing in {lang!r}; choose --lang {' or '.join(languages)}.")
        return lang or languages[0]
    pages = texts_for(frozen).page
    if lang is not None and lang not in pages:
        raise StudyError(f"There are no pages in {lang!r}; choose --lang {' or '.join(pages)}.")
    return lang or (frozen.lang if frozen.lang in pages else "en")


def _speaks(frozen: Frozen, lang: str, condition: int) -> bool:
    """Whether somebody can be asked in a condition: of a question set only in one language that they speak."""
    return not frozen.choosing or frozen.conditions[condition].mode == lang


def spare_slots(connection: db.Connection, frozen: Frozen, rater: Rater) -> list[Viewing]:
    """What drop-outs left and a rater who has finished may take, as many items as stand between two breaks.

    What was never dealt is not among it: it waits for those who are still to be invited. Nobody is offered an item that
    they have seen in any condition, nor more items than ``--most``. Whoever shows a completion code is paid for what
    was agreed on, and is offered nothing; nor are raters of an audit, each of whom has the place of one of its draw.
    """
    if frozen.draw or rater.code:
        return []
    mine = {place.step.item for place in db.places_of(connection, rater.number) if place.step.kind is Kind.ITEM}
    left = [
        slot
        for slot in db.returned_slots(connection)
        if slot.item not in mine and _speaks(frozen, rater.lang, slot.condition)
    ]
    most, pause = frozen.options["most"], frozen.options["pause"]
    room = pause if most is None else min(pause, most - len(mine))
    return deal(left, [rater.number], seed=frozen.seed, most=room)[rater.number]


def take_spare(connection: db.Connection, frozen: Frozen, rater: Rater) -> None:
    """Give a rater what :func:`spare_slots` finds."""
    slots = spare_slots(connection, frozen, rater)
    steps = steps_of(rater.number, slots, Extras((), 0, 0), conditions=len(frozen.conditions), seed=frozen.seed)
    db.add_steps(connection, rater.number, steps)


def come_in(store: Store, door: str, visitor: str) -> str | None:
    """The token of a visitor of a shared link, the same one each time; None where the link is unknown or full."""
    hashed = hash_of(door)
    with store.writing() as connection:
        if hashed is None or not db.is_door(connection, hashed):
            return None
        secret = db.read_secret(connection).encode()
        token = LINK + hmac.new(secret, f"{hashed} {visitor}".encode(), hashlib.sha256).hexdigest()
        stands_for = hmac.new(secret, f"visitor {visitor}".encode(), hashlib.sha256).hexdigest()
        return token if db.enter(connection, hashed, stands_for, hash_of(token) or "") else None


def leave(store: Store, rater: Rater) -> int:
    """End a rater's part: what is done counts, the rest is wanted again; how many steps that were."""
    with store.writing() as connection:
        count = db.give_back(connection, rater.number, everything=False)
        db.change_rater(connection, rater.number, phase=RaterState.LEFT, token=None, ended=db.now())
    return count


def forget(store: Store, rater: Rater) -> None:
    """Remove everything that is known of a rater but that there was one; the items are wanted again."""
    with store.writing() as connection:
        db.give_back(connection, rater.number, everything=True)
        empty = dict.fromkeys(("code", "tab", "consent", "languages", "began", "ended"), "")
        nothing = dict.fromkeys(("token", "door", "visitor"))
        db.change_rater(connection, rater.number, phase=RaterState.FORGOTTEN, **empty, **nothing)
        db.drop_causes(connection, typed_texts(db.places_of(connection)))
    store.tidy()


def find(raters: Sequence[Rater], name: str) -> Rater:
    """The rater of a name such as ``r3``.

    Raises:
        StudyError: There is none.
    """
    for rater in raters:
        if rater.name == name and rater.phase is not RaterState.FORGOTTEN:
            return rater
    have = ", ".join(rater.name for rater in raters if rater.phase is not RaterState.FORGOTTEN) or "nobody"
    raise StudyError(f"The study has no rater {name[:40]!r}; it has {have[:300]}.")
