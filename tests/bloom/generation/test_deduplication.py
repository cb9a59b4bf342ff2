"""Faults of a set as a whole."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, strategies

from vcrgen.bloom.generation.deduplication import (
    GUESSES,
    longest_keys,
    near_duplicates,
    repeated_facts,
    right_of_guesses,
    surplus_of_pictures,
)
from vcrgen.bloom.generation.item_records import Candidate, GeneratedItem, ItemSlot
from vcrgen.bloom.rejects import ItemRejectReason
from vcrgen.data.tasks.bloom import ChoiceQuestion


def slow(texts: Sequence[str], near: float) -> set[int]:
    """Each text compared with each one that is kept."""
    kept: list[set[str]] = []
    found = set()
    for number, text in enumerate(texts):
        words = set(text.split())
        if any(len(words & other) >= near * len(words | other) for other in kept):
            found.add(number)
        else:
            kept.append(words)
    return found


@pytest.mark.parametrize("near", [0.5, 0.8, 1.0])
def test_near_duplicates_are_those_that_a_slow_rule_finds(near: float) -> None:
    rng = random.Random(int(near * 10))
    texts = [" ".join(rng.choices("abcdefghij", k=rng.randint(1, 9))) for _ in range(400)]
    found = near_duplicates(texts, near)
    assert set(found) == slow(texts, near) and 0 < len(found) < 400
    assert not set(found.values()) & set(found)  # the other one is kept


def item(number: int, key_size: int) -> GeneratedItem:
    options = ("x" * key_size, "y" * 5, "z" * 5, "w" * 5)
    slot = ItemSlot(name=f"item-{number:03d}", path="a/b/c", number=number, theme="anywhere")
    picture = Candidate(partition=0, row=number, source_id=str(number), digest=str(number), bits=bytes(32))
    question = {"en": ChoiceQuestion("?", options)}
    return GeneratedItem(slot=slot, picture=picture, questions=question, answer=0, trap=1, votes=(True,))


def of_lengths(number: int, lengths: Sequence[int]) -> GeneratedItem:
    """An item whose first option is right, with options of these lengths."""
    options = tuple(letter * length for letter, length in zip("xyzw", lengths, strict=True))
    return replace(item(number, 5), questions={"en": ChoiceQuestion("?", options)})


def right_at_most(items: Sequence[GeneratedItem], lang: str) -> bool:
    """Return True if the longest option, ties at random, is right in a quarter of the items at most."""
    sizes = [[len(option) for option in one.questions[lang].options] for one in items]
    right = sum(Fraction(of[0] == max(of), of.count(max(of))) for of in sizes)
    return right <= -(-len(items) // 4)


@pytest.mark.parametrize(("long", "others"), [(0, 8), (2, 6), (3, 5), (30, 10), (7, 0), (1, 1)])
@pytest.mark.parametrize("lengths", [(6, 5, 5, 5), (6, 6, 5, 5), (6, 6, 6, 5)])
@pytest.mark.parametrize("other", [(5, 6, 5, 5), (5, 5, 5, 5)])
def test_the_longest_option_is_right_in_a_quarter_at_most(
    long: int, others: int, lengths: Sequence[int], other: Sequence[int]
) -> None:
    items = [of_lengths(number, lengths if number < long else other) for number in range(long + others)]
    gone = longest_keys(items, 0)
    left = [one for one in items if one.slot.name not in gone]
    assert right_at_most(left, "en") and left
    assert bool(gone) != right_at_most(items, "en")
    assert gone <= {one.slot.name for one in items[:long]}
    if gone:  # and not one item more than is needed
        back = next(one for one in items if one.slot.name in gone)
        assert not right_at_most([*left, back], "en")


@given(strategies.lists(strategies.tuples(*[strategies.integers(1, 3)] * 4), min_size=1, max_size=40))
def test_no_reader_of_lengths_gains_by_any_options(lengths: list[tuple[int, int, int, int]]) -> None:
    items = [of_lengths(number, each) for number, each in enumerate(lengths)]
    gone = longest_keys(items, 0)
    assert right_at_most([one for one in items if one.slot.name not in gone], "en")


def test_the_longest_option_is_right_in_a_quarter_at_most_in_each_language() -> None:
    def both(number: int, english: bool, arabic: bool) -> GeneratedItem:
        made = of_lengths(number, (6, 5, 5, 5) if english else (5, 6, 5, 5))
        translated = of_lengths(number, (6, 6, 5, 5) if arabic else (5, 6, 5, 5)).questions["en"]
        return replace(made, questions={"en": made.questions["en"], "ar": translated})

    items = [both(number, number < 15, number >= 10) for number in range(40)]
    assert not right_at_most(items, "en") and not right_at_most(items, "ar")
    gone = longest_keys(items, 0)
    left = [one for one in items if one.slot.name not in gone]
    assert left and right_at_most(left, "en") and right_at_most(left, "ar")


@pytest.mark.parametrize(
    ("lengths", "shared"),
    [((6, 5, 5, 5), 1), ((6, 6, 5, 5), 2), ((6, 5, 6, 6), 3), ((5, 5, 5, 5), 4), ((5, 6, 5, 5), 0), ((4, 5, 5, 6), 0)],
)
def test_how_often_the_longest_option_is_right(lengths: Sequence[int], shared: int) -> None:
    assert right_of_guesses(of_lengths(0, lengths), "en") == (GUESSES // shared if shared else 0)


def about(number: int, digest: str, bits: int) -> GeneratedItem:
    made = item(number, 5)
    return replace(made, picture=replace(made.picture, digest=digest, bits=bits.to_bytes(32, "big")))


def test_a_picture_has_few_items_and_no_near_copy() -> None:
    near, far = (1 << 32) - 1, (1 << 33) - 1  # 32 bits that differ are near, 33 are not
    items = [about(number, "a", 0) for number in range(6)] + [about(number, "b", near) for number in range(6, 9)]
    items += [about(9, "c", far << 100), about(10, "c", far << 100)]
    surplus = surplus_of_pictures(items, 2, 0)
    rejected = {name for names in surplus.values() for name in names}
    left = [item.picture.digest for item in items if item.slot.name not in rejected]
    assert left in (["a", "a", "c", "c"], ["b", "b", "c", "c"])
    assert len(surplus[ItemRejectReason.NEAR_DUPLICATE_PICTURE]) == (3 if "a" in left else 6)
    assert surplus_of_pictures(items, 2, 0) == surplus and not any(surplus_of_pictures([], 2, 0).values())


def asking(number: int, digest: str, question: str, answer: str) -> GeneratedItem:
    asked = ChoiceQuestion(question, (answer, "17", "18", "19"))
    return replace(about(number, digest, 0), questions={"en": asked})


PEAKS = "Look closely and name the number of peaks."


@pytest.mark.parametrize(
    ("digest", "question", "answer", "repeats"),
    [
        ("a", "How many tops has the range of mountains?", "2", True),
        ("a", "How many tops has the range of mountains?", "2!", True),
        ("a", "Look closely and name the number of all peaks.", "4", True),
        ("a", "How many tops has the range of mountains?", "3", False),
        ("a", "How many tops has the range of mountains?", "+", False),
        ("b", PEAKS, "2", False),
    ],
)
def test_an_item_repeats_a_fact_of_its_picture(digest: str, question: str, answer: str, repeats: bool) -> None:
    items = [asking(0, "a", PEAKS, "2"), asking(1, digest, question, answer)]
    assert repeated_facts(items) == ({"item-001": "item-000"} if repeats else {})


def test_a_repetition_names_the_item_that_is_left() -> None:
    items = [
        asking(0, "a", PEAKS, "2"),
        asking(1, "a", "How many tops has the whole range of mountains here?", "2"),
        asking(2, "a", "How many tops has this whole range of mountains here?", "3"),  # nearly the question before it
        asking(3, "a", "What is the count of boats?", "3"),
    ]
    assert repeated_facts(items) == {"item-001": "item-000", "item-002": "item-000"}
    signs = [asking(number, "a", question, "+") for number, question in enumerate(["What is it?", "Which sign?"])]
    assert repeated_facts(signs) == {"item-001": "item-000"}


def test_lots_are_drawn_in_the_order_of_the_items() -> None:
    """If that changes, other sets are made, and `GENERATOR` of generate_set.py is another one."""
    shared, long = [about(number, "a", 0) for number in range(9)], [item(number, 6) for number in range(9)]
    assert surplus_of_pictures(shared, 2, 0) != surplus_of_pictures(shared[::-1], 2, 0)
    assert longest_keys(long, 0) != longest_keys(long[::-1], 0)
