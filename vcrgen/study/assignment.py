"""Assignment of items to raters: which ones, in which condition, and in which order.

A condition is a mode and a view. In all conditions an item has the same masked spans, so a rater who had seen it in
one would know them in the other: nobody gets an item twice. ``raters`` people see each item in each condition; the
first of them are its first pass, the next ones its second, as the published means are taken over passes.

Everything here is a plain function of the study's seed and of numbers: of items, from 0 in the order of the dataset; of
conditions, from 0; and of raters, from 1 in the order in which they were invited.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from itertools import product
from typing import NamedTuple

from vcrgen.core.rng import rng_for, shuffled


class StepKind(StrEnum):
    """The purpose of a step of a rater."""

    TRAINING = "training"  # the answers are shown after it; not scored
    ITEM = "item"  # the only steps that are scored
    CHECK = "check"  # a number to be typed, drawn into a picture, to see who reads
    REPEAT = "repeat"  # an item of the rater's own once more, to see who is steady


class Slot(NamedTuple):
    """One response that the study needs."""

    item: int
    condition: int
    turn: int  # the pass, from 0


class Step(NamedTuple):
    """One thing that a rater is asked."""

    kind: StepKind
    item: int = -1  # -1 of checks
    condition: int = -1
    turn: int = -1  # of items only
    word: str = ""  # the number to be typed at a check


class ExtraSteps(NamedTuple):
    """Steps of a rater besides the items."""

    training: Sequence[int]  # numbers of training items
    checks: Sequence[str]  # the number to be typed at each check
    repeats: int  # their number, at most half of the rater's items


def all_slots(items: int, conditions: int, raters: int) -> list[Slot]:
    """Every response that a study needs: each item in each condition by so many raters."""
    return [Slot(*slot) for slot in product(range(items), range(conditions), range(raters))]


def assign(
    slots: Collection[Slot], people: Sequence[int], *, seed: int, max_items: int | None = None
) -> Mapping[int, list[Slot]]:
    """Assign open slots to raters, as evenly as can be.

    Of each item everybody gets one condition at most. All get about the same number of items, and of each about the
    same number in each condition. What is left over, because there are too few people, is for the next ones.

    Args:
        people: Numbers of raters who have seen none of these items yet.
        max_items: Of a rater.

    Returns:
        The slots of each of the people, in no particular order.
    """
    given: dict[int, list[Slot]] = {person: [] for person in people}
    in_condition: dict[int, Counter[int]] = {person: Counter() for person in people}
    conditions = sorted({slot.condition for slot in slots})
    of_item: dict[int, list[Slot]] = {}
    for slot in sorted(slots):
        of_item.setdefault(slot.item, []).append(slot)
    everybody = ",".join(map(str, people))

    def unevenness(person: int) -> int:
        """How uneven the conditions of a rater are: the most uneven one chooses first."""
        counts = [in_condition[person][condition] for condition in conditions]
        return max(counts) - min(counts)

    for item in shuffled(rng_for(seed, "deal", everybody), list(of_item)):
        rng = rng_for(seed, "deal", f"{everybody}:{item}")
        priority = {person: rng.random() for person in people}
        free = [person for person in people if max_items is None or len(given[person]) < max_items]
        assignees = sorted(free, key=lambda person: (len(given[person]), priority[person]))[: len(of_item[item])]
        # Of each condition the turns, each with its place by lot; the last is next.
        left: dict[int, list[tuple[int, int]]] = {}
        for place, slot in enumerate(shuffled(rng, of_item[item])):
            left.setdefault(slot.condition, []).append((slot.turn, place))
        for turns in left.values():
            turns.sort(reverse=True)
        for person in sorted(assignees, key=lambda person: (-unevenness(person), priority[person])):
            counts = in_condition[person]
            condition = min(filter(left.get, left), key=lambda condition: (counts[condition], left[condition][-1]))
            given[person].append(Slot(item, condition, left[condition].pop()[0]))
            counts[condition] += 1
    return given


def assign_passes(slots: Collection[Slot], people: Sequence[int]) -> Mapping[int, list[Slot]]:
    """Assign each new rater all open slots of one pass, the first passes first: those that an audit drew for one rater.

    Args:
        people: Numbers of raters who have seen nothing yet.

    Returns:
        The slots of each of the people; none for those who are too many.
    """
    parts = sorted({slot.turn for slot in slots})
    given: dict[int, list[Slot]] = {person: [] for person in people}
    for person, part in zip(people, parts, strict=False):
        given[person] = [slot for slot in slots if slot.turn == part]
    return given


def steps_for_rater(
    person: int, slots: Collection[Slot], extras: ExtraSteps, *, conditions: int, seed: int
) -> list[Step]:
    """The steps of a rater, in order.

    Training comes first. Then come the items, in an order of the rater's own, with the checks spread among them, one in
    each equal part. Items of the first half come once more, as repeats, at random places in the second half.
    """
    rng = rng_for(seed, "order", str(person))
    steps = [Step(StepKind.ITEM, *slot) for slot in shuffled(rng, sorted(slots))]
    half = len(steps) // 2
    for again in shuffled(rng, steps[:half])[: extras.repeats]:
        steps.insert(rng.randrange(half, len(steps)) + 1, again._replace(kind=StepKind.REPEAT, turn=-1))
    checks = len(extras.checks) if steps else 0
    for part in reversed(range(checks)):  # from the back, so that the places before stay what they are
        start, stop = (len(steps) * edge // checks for edge in (part, part + 1))
        word = extras.checks[part]
        steps.insert(rng.randrange(start, max(stop, start + 1)) + 1, Step(StepKind.CHECK, word=word))
    training = [
        Step(StepKind.TRAINING, item, (number + person) % conditions) for number, item in enumerate(extras.training)
    ]
    return [*training, *steps] if steps else []
