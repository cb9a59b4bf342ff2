"""The index finds what comparing with every string finds, and compares with few."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.hidden.near import BITS, MAX_DISTANCE, Bits, NearIndex


def strings(count: int, *, ones: float = 0.5, seed: int = 0) -> Bits:
    """Random strings of 32 bytes with a share of ones."""
    drawn = np.random.default_rng(seed).random((count, BITS)) < ones
    return np.packbits(drawn, axis=1)


def index(known: Bits) -> NearIndex:
    return NearIndex([row.tobytes() for row in known])


def flipped(string: Bits, places: list[int]) -> Bits:
    bits = np.unpackbits(string)
    bits[places] ^= 1
    return np.packbits(bits)


def compared_with_all(known: Bits, string: Bits) -> bool:
    return any(np.unpackbits(row ^ string).sum() <= MAX_DISTANCE for row in known)


@given(
    st.integers(0, 30),
    st.sampled_from([0.02, 0.1, 0.5]),
    st.integers(0, 10**6),
    st.lists(st.integers(0, BITS - 1), min_size=MAX_DISTANCE - 2, max_size=MAX_DISTANCE + 2, unique=True),
)
@settings(max_examples=40)
def test_what_is_found_is_what_comparing_with_all_finds(count: int, ones: float, seed: int, places: list[int]) -> None:
    known = strings(count, ones=ones, seed=seed)
    string = flipped(known[0] if count else strings(1)[0], places)
    assert index(known).contains_near(string) == compared_with_all(known, string)


@pytest.mark.parametrize("differing", [MAX_DISTANCE, MAX_DISTANCE + 1])
def test_the_distance_counts_to_the_bit(differing: int) -> None:
    """Among many others, with the bits spread over the groups as evenly as they can be: two in each but one or two."""
    known = strings(3000)
    finder = index(known)
    random = np.random.default_rng(1)
    for row in range(0, 3000, 100):
        assert finder.contains_near(flipped(known[row], list(range(differing)))) == (differing <= MAX_DISTANCE)
        places = random.permutation(BITS)[:differing].tolist()
        assert finder.contains_near(flipped(known[row], places)) == (differing <= MAX_DISTANCE)


def test_few_strings_are_looked_at() -> None:
    """Ten times as many strings are not ten times the work for each: about one in 120 is compared."""
    asked = strings(50, seed=7)
    for count in (2_000, 20_000):
        finder = index(strings(count))
        looked_at = np.mean([len(finder.candidates(string)) for string in asked])
        assert looked_at < count / 100


def test_strings_that_are_all_alike_are_looked_at_once_each() -> None:
    finder = index(np.repeat(strings(1), 500, axis=0))
    assert len(finder.candidates(strings(1)[0])) == 500
    assert finder.contains_near(strings(1)[0]) and not finder.contains_near(~strings(1)[0])
