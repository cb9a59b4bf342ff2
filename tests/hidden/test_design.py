"""Design of items: balanced over the set, and unpredictable without the secret."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core.records import NAMED_MODES, Mode
from vcrgen.hidden.design import MAX_EMS, MAX_WIDTH, MIN_EMS, MIN_WIDTH, balanced, draw_cover_modes, draw_design
from vcrgen.hidden.secret import Secret

FONTS = ("a", "b", "c", "d", "e")
secrets = st.binary(min_size=16, max_size=32).map(Secret)


@given(secrets, st.integers(1, 9), st.integers(0, 40))
def test_in_a_round_every_value_comes_once(secret: Secret, count: int, turn: int) -> None:
    values = range(count)
    assert sorted(balanced(secret, "s", values, turn * count + place) for place in values) == list(values)


def test_the_order_of_a_round_comes_from_secret_stage_and_round() -> None:
    def order(secret: bytes, stage: str, turn: int) -> tuple[int, ...]:
        return tuple(balanced(Secret(secret), stage, range(40), 40 * turn + place) for place in range(40))

    orders = [order(*key) for key in ((b"1" * 16, "s", 0), (b"2" * 16, "s", 0), (b"1" * 16, "t", 0))]
    orders += [order(b"1" * 16, "s", 1), tuple(range(40))]
    assert len(set(orders)) == len(orders)
    assert order(b"1" * 16, "s", 0) == orders[0]


@given(secrets, st.integers(0, 300), st.integers(0, 20), st.integers(1, 5))
def test_a_slot(secret: Secret, number: int, form: int, fonts: int) -> None:
    slot = draw_design(secret, number, form, FONTS[:fonts])
    assert MIN_WIDTH <= slot.width <= MAX_WIDTH
    assert round(slot.width / MAX_EMS) <= slot.font_size <= round(slot.width / MIN_EMS)
    assert slot.font in FONTS[:fonts]
    assert slot == draw_design(secret, number, form, FONTS[:fonts])
    following = draw_design(secret, number, form + 1, FONTS[:fonts])
    assert following.strip_first != slot.strip_first
    assert (following.font != slot.font) == (fonts > 1)


@pytest.mark.parametrize("form", [0, 3])
def test_a_set_is_balanced(form: int) -> None:
    slots = [draw_design(Secret(b"x" * 16), number, form, FONTS) for number in range(101)]
    for counts, kinds in ((Counter(s.font for s in slots), 5), (Counter(s.strip_first for s in slots), 2)):
        assert len(counts) == kinds and max(counts.values()) - min(counts.values()) <= 1
    combined = Counter((slot.font, slot.strip_first) for slot in slots)
    assert len(combined) == 10  # the place does not tell the font


def test_widths_are_spread_over_the_whole_range() -> None:
    widths = [draw_design(Secret(b"x" * 16), number, 0, FONTS).width for number in range(2000)]
    assert min(widths) < MIN_WIDTH + 5 and max(widths) > MAX_WIDTH - 5
    quarters = Counter(min(3, (width - MIN_WIDTH) // 100) for width in widths)
    assert all(420 < quarters[quarter] < 580 for quarter in range(4))


def test_a_size_does_not_follow_from_the_width() -> None:
    slots = [draw_design(Secret(b"x" * 16), number, 0, FONTS) for number in range(2000)]
    sizes = Counter(slot.font_size for slot in slots if 790 <= slot.width <= 810)
    assert set(sizes) >= set(range(29, 37)), "800 px over 28 to 22 ems"


@given(secrets, st.lists(st.integers(1, 6), max_size=20), st.integers(0, 5))
def test_covers_are_balanced_over_the_spans_of_a_form(secret: Secret, counts: list[int], form: int) -> None:
    modes = [
        mode
        for i, count in enumerate(counts)
        for mode in draw_cover_modes(secret, form, sum(counts[:i]), count, NAMED_MODES)
    ]
    assert len(modes) == sum(counts)
    assert abs(modes.count(Mode.EASY) - modes.count(Mode.HARD)) <= 1
