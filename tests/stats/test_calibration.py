"""Calibration: cases worked by hand, the plain definition, and what chance alone gives."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.stats.calibration import BINS, ReliabilityCurve, reliability_curve


def made(sure: list[float], right: list[float], groups: list[int] | None = None) -> ReliabilityCurve:
    found = reliability_curve(
        np.array(sure), np.array(right), np.zeros(len(sure)), np.array(groups or range(len(sure))), seed=0
    )
    assert found is not None
    return found


def test_an_error_worked_by_hand() -> None:
    """Four answers of 0.85, three right, and two of 0.35, none right: (4 * 0.10 + 2 * 0.35) / 6."""
    found = made([0.85] * 4 + [0.35] * 2, [1, 1, 1, 0, 0, 0])
    assert found.error == pytest.approx((4 * 0.10 + 2 * 0.35) / 6)
    assert [(of.start, of.end, of.items, of.right) for of in found.bins] == [(0.3, 0.4, 2, 0.0), (0.8, 0.9, 4, 0.75)]
    assert [of.confidence for of in found.bins] == pytest.approx([0.35, 0.85])
    assert (found.items, found.right, found.confidence) == (6, 0.5, pytest.approx(4.1 / 6))
    chance = math.sqrt(2 / math.pi) * (math.sqrt(4 * 0.85 * 0.15) + math.sqrt(2 * 0.35 * 0.65)) / 6
    assert found.by_chance == pytest.approx(chance)


def test_the_ends_of_bins() -> None:
    """A lower end belongs to its bin, and 1 to the last one."""
    found = made([0.0, 0.5, 1.0], [0, 1, 1])
    assert [(of.start, of.items) for of in found.bins] == [(0.0, 1), (0.5, 1), (0.9, 1)]
    assert found.error == pytest.approx((0 + 0.5 + 0) / 3)


def test_what_has_no_probability_counts_for_nothing() -> None:
    one = reliability_curve(
        np.array([0.8, math.nan, 0.8]), np.array([1.0, 1.0, 0.0]), np.array([0.1, math.nan, 0.3]), np.arange(3), seed=0
    )
    assert one is not None and one.items == 2 and one.brier == pytest.approx(0.2)
    assert reliability_curve(np.full(2, math.nan), np.ones(2), np.ones(2), np.arange(2), seed=0) is None


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
@settings(max_examples=40, deadline=None)
def test_the_error_is_that_of_the_plain_definition(answers: list[tuple[float, bool]]) -> None:
    found = made([sure for sure, _ in answers], [float(right) for _, right in answers])
    expected = 0.0
    for number in range(BINS):
        inside = [a for a in answers if min(int(a[0] * BINS), BINS - 1) == number]
        if inside:
            share = sum(right for _, right in inside) / len(inside)
            expected += len(inside) / len(answers) * abs(share - sum(sure for sure, _ in inside) / len(inside))
    assert found.error == pytest.approx(expected)
    assert all(0 <= of.low <= of.right <= of.high <= 1 for of in found.bins)


def test_chance_gives_what_is_said_to_be_by_chance() -> None:
    """Models that are right as often as they say: their ECE is what stands beside it, on average."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(40):
        sure = rng.beta(3, 2, 800)
        found.append(made(list(sure), list((rng.random(800) < sure).astype(float))))
    errors, chances = np.array([of.error for of in found]), np.array([of.by_chance for of in found])
    assert abs(errors.mean() - chances.mean()) < 3 * errors.std() / math.sqrt(40)
    assert errors.mean() > 0.02


def test_copies_on_one_picture_leave_the_intervals_as_they_are() -> None:
    rng = np.random.default_rng(1)
    sure, right = list(rng.random(60)), list((rng.random(60) < 0.5).astype(float))
    once, often = made(sure, right), made(sure * 4, right * 4, [*range(60)] * 4)
    for one, other in zip(once.bins, often.bins, strict=True):
        assert other.items == 4 * one.items
        assert (other.low, other.high) == pytest.approx((one.low, one.high))
