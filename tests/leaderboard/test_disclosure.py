"""Shown scores of a hidden set: whole steps that are worth spans, and nothing finer."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages import Page
from vcrgen.leaderboard.disclosure import SPANS_A_STEP, STEPS, disclose, disclose_difference, rounding_step
from vcrgen.leaderboard.page_records import Estimate

shares = st.floats(0, 1)
steps = st.sampled_from(STEPS)
scores = st.tuples(shares, shares, shares).map(sorted).map(lambda three: Estimate(three[1], three[0], three[2]))
signed = st.floats(-1, 1)
differences = st.tuples(signed, signed, signed).map(sorted).map(lambda three: Estimate(three[1], three[0], three[2]))
NOISE = 1e-8  # of floating point, in steps


def is_whole(value: float, step: float) -> bool:
    return abs(value / step - round(value / step)) < 1e-6


@pytest.mark.parametrize(
    ("spans", "step"),
    [
        (1, 0.5),
        (7, 0.5),
        (8, 0.25),
        (9, 0.25),
        (10, 0.2),
        (15, 0.2),
        (20, 0.1),
        (39, 0.1),
        (40, 0.05),
        (100, 0.02),
        (199, 0.02),
        (200, 0.01),
        (400, 0.005),
        (399, 0.01),
        (100_000, 0.005),
    ],
)
def test_steps(spans: int, step: float) -> None:
    assert rounding_step(hidden=True, spans=spans) == step
    assert rounding_step(hidden=False, spans=spans) == 0.0


def test_the_steps_of_the_documentation() -> None:
    spans, steps = (
        [float(cell) for cell in re.findall(r"[\d.]+", line)]
        for line in Page("docs/why-ladder.md").text.splitlines()
        if line.startswith(("| spans ", "| step "))
    )
    assert [100 * rounding_step(hidden=True, spans=int(number)) for number in spans] == steps


@given(st.integers(1, 10**6))
def test_a_step_is_worth_two_spans(spans: int) -> None:
    step = rounding_step(hidden=True, spans=spans)
    assert step in STEPS and (round(step * spans, 9) >= SPANS_A_STEP or step == max(STEPS))
    finer = [other for other in STEPS if other < step]
    assert not any(other * spans >= SPANS_A_STEP for other in finer)


@given(st.one_of(scores, differences), steps)
def test_what_is_disclosed(estimate: Estimate, step: float) -> None:
    shown = disclose(estimate, step)
    assert abs(shown.value - estimate.value) <= step / 2 + NOISE
    assert all(is_whole(value, step) for value in (shown.value, shown.low, shown.high))
    assert shown.low <= estimate.low + NOISE and shown.high >= estimate.high - NOISE
    assert shown.low > estimate.low - step - NOISE and shown.high < estimate.high + step + NOISE
    assert shown.low <= shown.value <= shown.high
    assert shown.low >= -1 and shown.high <= 1
    assert disclose(shown, step) == shown


@given(scores)
def test_shares_stay_shares(estimate: Estimate) -> None:
    for step in STEPS:
        shown = disclose(estimate, step)
        assert 0 <= shown.low <= shown.high <= 1


@given(st.one_of(scores, differences), scores, scores)
def test_nothing_of_a_public_set_is_rounded(estimate: Estimate, a: Estimate, b: Estimate) -> None:
    assert disclose(estimate, 0.0) is estimate
    assert disclose_difference(a, b, estimate, 0.0) is estimate


@given(scores, scores, differences, differences, steps)
def test_a_difference_tells_no_more_than_its_figures(
    a: Estimate, b: Estimate, paired: Estimate, other: Estimate, step: float
) -> None:
    ours, theirs = disclose(a, step), disclose(b, step)
    shown = disclose_difference(ours, theirs, paired, step)
    assert shown.value == pytest.approx(ours.value - theirs.value, abs=NOISE)
    assert shown.value == disclose_difference(ours, theirs, other, step).value
    assert shown.low <= shown.value <= shown.high
    assert all(is_whole(value, step) for value in (shown.value, shown.low, shown.high))
    assert shown.low <= paired.low + NOISE and shown.high >= paired.high - NOISE


def test_two_files_that_differ_in_one_span_look_the_same_within_a_step() -> None:
    """Of 500 spans the step is worth two and a half: most single spans change nothing that is shown."""
    step = rounding_step(hidden=True, spans=500)
    shown = [disclose(Estimate(right / 500, right / 500, right / 500), step).value for right in range(501)]
    assert sum(a != b for a, b in itertools.pairwise(shown)) == 200
    assert len(set(shown)) == 201
