"""From a place in the set to its item: the order of the stages. Only this file knows more than one of them."""

from collections.abc import Sequence
from typing import Any

from vcrgen.bloom.making import stages
from vcrgen.bloom.making.records import (
    Drop,
    ItemDropped,
    ItemPlace,
    MadeItem,
    OfferedPicture,
    Offers,
    Scenario,
    Steps,
    about_item,
)
from vcrgen.bloom.making.validate import check_item
from vcrgen.bloom.write import option_order
from vcrgen.tasks.bloom import ChoiceQuestion

FIRST_JUDGE = 1


def make_item(
    slot: ItemPlace, scene: Scenario, offers: Offers, *, languages: Sequence[str], judges: int, seed: int
) -> Steps[MadeItem]:  # fmt: skip
    """Take an item through all stages.

    Args:
        slot: The place that it is to fill.
        scene: What is planned.
        offers: Pictures that may be taken, the likeliest first.
        languages: The one in which it is written, and those into which it is translated.
        judges: How many have to pass it.
        seed: Of the order of its options.

    Raises:
        ItemDropped: With the stage and the reason, and what was known of the item.
    """
    found = yield from fitting_picture(slot, scene, offers)
    about = about_item(found.candidate)
    try:
        return (yield from _about_picture(slot, scene, found, about, languages=languages, judges=judges, seed=seed))
    except ItemDropped as dropped:
        dropped.about = about
        raise


def _about_picture(
    slot: ItemPlace, scene: Scenario, found: OfferedPicture, about: dict[str, Any], *, languages: Sequence[str],
    judges: int, seed: int,
) -> Steps[MadeItem]:  # fmt: skip
    """The stages from the question on; ``about`` is told of what is written, before it is looked at."""
    candidate, picture = found
    first = languages[0]
    text, right = yield from stages.open_question(slot.path, scene, picture, first)
    about |= about_item(candidate, text)
    options = yield from stages.four_options(text, right, picture, first)
    order = option_order(slot.name, slot.path, slot.number, seed)
    answer, trap = order.index(0), order.index(1)
    questions = {first: ChoiceQuestion(text, stages.in_order(options, order))}
    about |= about_item(candidate, text, questions[first].options)
    check_item(questions, "options")
    for target in languages[1:]:
        questions[target] = yield from stages.translation(questions[first], first, target)
    check_item(questions, "translation")
    refusals = []
    for judge in range(FIRST_JUDGE, FIRST_JUDGE + judges):
        refusals.append((yield from stages.judged(slot.path, questions, answer, picture, judge)))
    votes = tuple(refusal is None for refusal in refusals)
    if refused := [refusal for refusal in refusals if refusal]:
        raise ItemDropped("judge", refused[0], f"{len(refused)} of {judges} judges", votes)
    return MadeItem(slot=slot, picture=candidate, questions=questions, answer=answer, trap=trap, votes=votes)


def fitting_picture(slot: ItemPlace, scene: Scenario, offers: Offers) -> Steps[OfferedPicture]:
    """The first picture that serves the leaf.

    Raises:
        ItemDropped: None of them does, or there is none.
    """
    unusable, looked = 0, 0
    unrated: list[ItemDropped] = []
    for offer in offers:
        if (found := (yield from offer)) is None:
            unusable += 1
            continue
        looked += 1
        try:
            if (yield from stages.fitness(slot.path, scene, found.data, FIRST_JUDGE)) >= stages.LEAST_FITNESS:
                return found
        except ItemDropped as dropped:  # the next picture may be one of which the judge says something
            unrated.append(dropped)
    if unrated and len(unrated) == looked:
        raise unrated[-1]
    reason = Drop.NO_FITTING_PICTURE if looked or unusable else Drop.NO_PICTURE_LEFT
    more = f", {unusable} more are of no use" if unusable else ""
    raise ItemDropped("picture", reason, f"{looked} pictures were looked at{more}")
