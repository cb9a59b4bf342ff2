"""The stages of an item in their order. Only this file knows more than one of them."""

from collections.abc import Sequence
from typing import Any

from vcrgen.bloom.generation import stages
from vcrgen.bloom.generation.item_checks import check_item
from vcrgen.bloom.generation.item_records import (
    GeneratedItem,
    ItemSlot,
    OfferedPicture,
    PictureOffers,
    Scenario,
    StageCoroutine,
    item_facts,
)
from vcrgen.bloom.rejects import ItemRejected, ItemRejectReason
from vcrgen.bloom.write import option_order
from vcrgen.data.tasks.bloom import ChoiceQuestion

FIRST_JUDGE = 1


def generate_item(
    slot: ItemSlot,
    scene: Scenario,
    offers: PictureOffers,
    *,
    languages: Sequence[str],
    options: int,
    judges: int,
    seed: int,
) -> StageCoroutine[GeneratedItem]:
    """Take an item through all stages.

    Raises:
        ItemRejected: With stage, reason and the facts that were known by then.
    """
    offered = yield from choose_picture(slot, scene, offers)
    facts = item_facts(offered.candidate)
    try:
        return (yield from _write_and_judge(slot, scene, offered, facts, languages, options, judges, seed))
    except ItemRejected as rejected:
        rejected.about = facts
        raise


def _write_and_judge(
    slot: ItemSlot,
    scene: Scenario,
    offered: OfferedPicture,
    facts: dict[str, Any],
    languages: Sequence[str],
    count: int,
    judges: int,
    seed: int,
) -> StageCoroutine[GeneratedItem]:
    """Run the stages from the question on; ``facts`` takes the texts before they are checked."""
    candidate, picture = offered
    first = languages[0]
    text, right = yield from stages.write_question(slot.path, scene, picture, first)
    facts |= item_facts(candidate, text)
    options = yield from stages.write_options(text, right, picture, first, count)
    order = option_order(slot.name, slot.path, slot.number, seed, count)
    answer, trap = order.index(0), order.index(1)
    questions = {first: ChoiceQuestion(text, tuple(options[number] for number in order))}
    facts |= item_facts(candidate, text, questions[first].options)
    check_item(questions, "options")
    for target in languages[1:]:
        questions[target] = yield from stages.translate_item(questions[first], first, target)
    check_item(questions, "translation")
    reasons = []
    for judge in range(FIRST_JUDGE, FIRST_JUDGE + judges):
        reasons.append((yield from stages.judge_item(slot.path, questions, answer, picture, judge)))
    votes = tuple(reason is None for reason in reasons)
    if against := [reason for reason in reasons if reason]:
        raise ItemRejected(against[0], f"{len(against)} of {judges} judges", "judge", votes)
    return GeneratedItem(slot=slot, picture=candidate, questions=questions, answer=answer, trap=trap, votes=votes)


def choose_picture(slot: ItemSlot, scene: Scenario, offers: PictureOffers) -> StageCoroutine[OfferedPicture]:
    """The first picture that fits the category.

    Raises:
        ItemRejected: None of them does, or there is none.
    """
    unusable, rated = 0, 0
    unrated: list[ItemRejected] = []
    for offer in offers:
        if (offered := (yield from offer)) is None:
            unusable += 1
            continue
        rated += 1
        try:
            if (yield from stages.rate_fitness(slot.path, scene, offered.data, FIRST_JUDGE)) >= stages.LEAST_FITNESS:
                return offered
        except ItemRejected as rejected:  # the judge may rate the next picture
            unrated.append(rejected)
    if unrated and len(unrated) == rated:
        raise unrated[-1]
    reason = ItemRejectReason.NO_FITTING_PICTURE if rated or unusable else ItemRejectReason.NO_PICTURE_LEFT
    others = f", {unusable} more are not usable" if unusable else ""
    raise ItemRejected(reason, f"{rated} pictures were rated{others}", "picture")
