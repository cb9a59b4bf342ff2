"""What is drawn for an item: in balance over the set, and foreseen by nobody who lacks the secret."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.hidden.choices import EMS, LEAST_WIDTH, MOST_WIDTH, balanced, cover_modes, slot_for
from vcrgen.hidden.secret import Secret
from vcrgen.records import Mode

FONTS = ("a", "b", "c", "d", "e")
secrets = st.binary(min_size=16, max_size=32).map(Secret)


@given(secrets, st.integers(1, 9), st.integers(0, 40))
def test_in_a_round_every_value_comes_once(secret: Secret, count: int, turn: int) -> None:
    values = range(count)
    assert sorted(balanced(secret, "s", values, turn * count + place) for place in values) == list(values)


@given(secrets, st.integers(1, 9), st.integers(0, 100))
def test_at_any_length_counts_differ_by_one(secret: Secret, count: int, length: int) -> None:
    counts = Counter(balanced(secret, "s", range(count), number) for number in range(length))
    assert max(counts.values(), default=0) - min((counts[value] for value in range(count)), default=0) <= 1


def test_the_order_of_a_round_comes_from_secret_stage_and_round() -> None:
    def order(secret: bytes, stage: str, turn: int) -> tuple[int, ...]:
        return tuple(balanced(Secret(secret), stage, range(40), 40 * turn + place) for place in range(40))

    orders = [order(*key) for key in ((b"1" * 16, "s", 0), (b"2" * 16, "s", 0), (b"1" * 16, "t", 0))]
    orders += [order(b"1" * 16, "s", 1), tuple(range(40))]
    assert len(set(orders)) == len(orders)
    assert order(b"1" * 16, "s", 0) == orders[0]


@given(secrets, st.integers(0, 300), st.integers(0, 20), st.integers(1, 5))
def test_a_slot(secret: Secret, number: int, form: int, fonts: int) -> None:
    slot = slot_for(secret, number, form, FONTS[:fonts])
    assert LEAST_WIDTH <= slot.width <= MOST_WIDTH
    assert slot.font_size == round(slot.width / EMS)
    assert slot.font in FONTS[:fonts]
    assert slot == slot_for(secret, number, form, FONTS[:fonts])
    following = slot_for(secret, number, form + 1, FONTS[:fonts])
    assert following.strip_first != slot.strip_first
    assert (following.font != slot.font) == (fonts > 1)


@given(secrets, st.integers(0, 9))
def test_as_many_forms_as_fonts_use_every_font_for_an_item(secret: Secret, number: int) -> None:
    assert {slot_for(secret, number, form, FONTS).font for form in range(len(FONTS))} == set(FONTS)


@pytest.mark.parametrize("form", [0, 3])
def test_a_set_is_balanced(form: int) -> None:
    slots = [slot_for(Secret(b"x" * 16), number, form, FONTS) for number in range(101)]
    for counts, kinds in ((Counter(s.font for s in slots), 5), (Counter(s.strip_first for s in slots), 2)):
        assert len(counts) == kinds and max(counts.values()) - min(counts.values()) <= 1
    combined = Counter((slot.font, slot.strip_first) for slot in slots)
    assert len(combined) == 10  # the place does not tell the font


def test_widths_are_spread_over_the_whole_range() -> None:
    widths = [slot_for(Secret(b"x" * 16), number, 0, FONTS).width for number in range(2000)]
    assert min(widths) < LEAST_WIDTH + 5 and max(widths) > MOST_WIDTH - 5
    quarters = Counter(min(3, (width - LEAST_WIDTH) // 100) for width in widths)
    assert all(420 < quarters[quarter] < 580 for quarter in range(4))


@given(secrets, st.lists(st.integers(1, 6), max_size=20), st.integers(0, 5))
def test_covers_are_balanced_over_the_spans_of_a_form(secret: Secret, counts: list[int], form: int) -> None:
    modes = [mode for i, count in enumerate(counts) for mode in cover_modes(secret, form, sum(counts[:i]), count)]
    assert len(modes) == sum(counts)
    assert abs(modes.count(Mode.EASY) - modes.count(Mode.HARD)) <= 1


def test_covers_depend_on_secret_and_form() -> None:
    drawn = {tuple(cover_modes(Secret(key), form, 0, 60)) for key in (b"1" * 16, b"2" * 16) for form in (0, 1)}
    assert len(drawn) == 4
