"""Items of raters."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.study.assignment import ExtraSteps, Slot, StepKind, all_slots, assign, steps_for_rater

sizes = {
    "items": st.integers(1, 40),
    "conditions": st.integers(1, 6),
    "raters": st.integers(1, 4),
    "count": st.integers(1, 14),
    "seed": st.integers(0, 99),
}


@given(**sizes)
def test_nobody_sees_an_item_twice_and_every_answer_is_wanted_once(
    items: int, conditions: int, raters: int, count: int, seed: int
) -> None:
    slots = all_slots(items, conditions, raters)
    given_slots = assign(slots, range(1, count + 1), seed=seed)
    for mine in given_slots.values():
        assert max(Counter(slot.item for slot in mine).values(), default=0) <= 1
    dealt = [slot for mine in given_slots.values() for slot in mine]
    assert len(dealt) == len(set(dealt)) == items * min(count, conditions * raters) and set(dealt) <= set(slots)


@given(**sizes)
def test_people_get_as_many_items_and_as_many_of_each_condition(
    items: int, conditions: int, raters: int, count: int, seed: int
) -> None:
    given_slots = assign(all_slots(items, conditions, raters), range(1, count + 1), seed=seed)
    totals = [len(mine) for mine in given_slots.values()]
    assert max(totals) - min(totals) <= 1
    for mine in given_slots.values():
        counts = Counter(slot.condition for slot in mine)
        spread = [counts[condition] for condition in range(conditions)]
        assert max(spread) - min(spread) <= 3


@given(**sizes)
def test_what_a_drop_out_left_goes_to_the_next(items: int, conditions: int, raters: int, count: int, seed: int) -> None:
    """Others come after the first ones: together they are given every answer, once enough have come."""
    wanted = set(all_slots(items, conditions, raters))
    first = assign(wanted, range(1, count + 1), seed=seed)
    left = set(first[1][: len(first[1]) // 2])  # what the first one did not do
    given_slots = {slot for mine in first.values() for slot in mine} - left
    later = assign(wanted - given_slots, range(count + 1, count + 1 + conditions * raters), seed=seed)
    assert given_slots | {slot for mine in later.values() for slot in mine} == wanted


def test_the_same_seed_gives_the_same_and_another_one_not() -> None:
    slots = all_slots(30, 2, 3)
    assert assign(slots, range(1, 8), seed=1) == assign(slots[::-1], range(1, 8), seed=1)
    assert assign(slots, range(1, 8), seed=1) != assign(slots, range(1, 8), seed=2)


def test_a_rater_gets_no_more_than_the_most() -> None:
    given_slots = assign(all_slots(100, 2, 3), range(1, 8), seed=1, max_items=40)
    assert {len(mine) for mine in given_slots.values()} == {40}


def test_seven_people_share_a_study_of_a_hundred_items() -> None:
    """As published: 100 items, easy and hard, three raters each."""
    given_slots = assign(all_slots(100, 2, 3), range(1, 8), seed=1)
    assert sorted(len(mine) for mine in given_slots.values()) == [85, 85, 86, 86, 86, 86, 86]
    assert all(abs(sum(1 if slot.condition else -1 for slot in mine)) <= 2 for mine in given_slots.values())


@given(items=st.integers(1, 60), checks=st.integers(0, 5), repeats=st.integers(0, 5), seed=st.integers(0, 99))
def test_the_order_of_a_rater(items: int, checks: int, repeats: int, seed: int) -> None:
    slots = [Slot(item, item % 2, 0) for item in range(items)]
    numbers = [f"{check:04}" for check in range(checks)]
    steps = steps_for_rater(4, slots, ExtraSteps([100, 101], numbers, repeats), conditions=2, seed=seed)
    kinds = [step.kind for step in steps]
    assert kinds[:2] == [StepKind.TRAINING] * 2 and StepKind.TRAINING not in kinds[2:]
    assert sorted(step[1:4] for step in steps if step.kind is StepKind.ITEM) == slots
    assert kinds.count(StepKind.CHECK) == checks and kinds.count(StepKind.REPEAT) == min(repeats, items // 2)
    assert kinds[2] is StepKind.ITEM
    for place, step in enumerate(steps):
        if step.kind is StepKind.REPEAT:  # the same picture as before, and not at once
            first = next(n for n, other in enumerate(steps) if other.kind is StepKind.ITEM and other.item == step.item)
            assert first < place and steps[first].condition == step.condition
    assert sorted(step.word for step in steps if step.kind is StepKind.CHECK) == numbers


def test_whoever_has_no_items_is_asked_nothing() -> None:
    assert steps_for_rater(1, [], ExtraSteps([5], ["1", "2"], 2), conditions=2, seed=0) == []


def test_two_raters_have_orders_of_their_own() -> None:
    slots = [Slot(item, 0, 0) for item in range(30)]
    one, two = (steps_for_rater(person, slots, ExtraSteps([], [], 0), conditions=1, seed=0) for person in (1, 2))
    assert one != two and set(one) == set(two)


@pytest.mark.parametrize("count", [1, 2])
def test_few_people_see_all_items_in_one_condition_each(count: int) -> None:
    given_slots = assign(all_slots(10, 2, 3), range(1, count + 1), seed=3)
    assert [len(mine) for mine in given_slots.values()] == [10] * count
