"""The intervals of means and differences, against what is known of them and in a small simulation."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loading import load_script
from vcrgen.stats import intervals
from vcrgen.stats.bootstrap import StoredGroupSums, bootstrap_means, group_means
from vcrgen.stats.intervals import mean_interval, paired_interval, sd_and_intervals


class Spanned(NamedTuple):
    """A value with the ends of its interval."""

    value: float
    low: float
    high: float


def one_mean(mean: float, sd: float, groups: int) -> tuple[float, float]:
    low, high = mean_interval(np.array([mean]), np.array([sd]), np.array([groups]))
    return float(low[0]), float(high[0])


def one_difference(difference: float, sd: float, groups: int) -> tuple[float, float]:
    low, high = paired_interval(np.array(difference), np.array(sd), groups)
    return float(low), float(high)


def test_the_quantiles_of_t() -> None:
    known = {4: 2.776, 9: 2.262, 19: 2.093, 49: 2.010, 99: 1.984, 10**9: 1.960}  # of the tables
    for freedom, quantile in known.items():
        assert intervals.t_quantile(freedom) == pytest.approx(quantile, rel=0.006 if freedom < 9 else 0.001)


def test_of_independent_answers_it_is_wilsons() -> None:
    """7 of 100, one a group: 3.43 to 13.75 % by Wilson's formula."""
    sd = math.sqrt(0.07 * 0.93 / 100 * 99 / 100)
    assert one_mean(0.07, sd, 100) == pytest.approx((0.0343, 0.1375), abs=0.0001)


def test_few_wrong_answers_tell_little_of_how_alike_answers_are() -> None:
    """3 of 60 in 20 groups, as of 60 independent answers: Wilson's interval is that of 49.4."""
    sd = math.sqrt(0.05 * 0.95 / 60 * 19 / 20)
    answers = 3.5 / (3 / 60 + 0.5 / 20)
    middle, half = 0.05 + 1.96**2 / answers / 2, math.sqrt(0.05 * 0.95 / answers + (1.96 / answers) ** 2 / 4) * 1.96
    wanted = [end / (1 + 1.96**2 / answers) for end in (middle - half, middle + half)]
    assert one_mean(0.05, sd, 20) == pytest.approx(wanted, abs=0.0001)
    assert one_mean(0.95, sd, 20) == pytest.approx([1 - end for end in reversed(wanted)], abs=0.0001)


def test_all_right_and_all_wrong_have_an_interval_with_width() -> None:
    low, high = one_mean(1.0, 0.0, 100)
    assert high == 1.0 and 0.95 < low < 0.97  # so many groups tell no more
    assert one_mean(0.0, 0.0, 100) == pytest.approx((0.0, 1 - low))
    assert one_mean(1.0, 0.0, 20)[0] < 0.85
    assert one_mean(1 / 3, 1e-17, 100)[0] < 0.25, "all the same is not all sure"
    assert one_mean(1.0, 0.0, 1) == one_mean(0.5, 0.0, 1) == (0.0, 1.0), "one group tells nothing"


def test_spreads_of_columns() -> None:
    """Of 40 groups all count in the first column, all right; one in the second, which some resamples lack."""
    sums = np.ones((40, 2))
    counts = np.ones((40, 2))
    sums[1:, 1] = counts[1:, 1] = 0
    groups = StoredGroupSums(sums, counts, [0, 1])
    means, inside = group_means(groups)
    first, second = sd_and_intervals(means, bootstrap_means(groups, seed=0, unit="group"), inside)
    assert first.sd == second.sd == 0.0
    assert 0.85 < first.low < 0.95 and first.high == 1.0
    assert (second.low, second.high) == (0.0, 1.0)


@given(st.floats(0, 1), st.floats(0, 0.5), st.integers(1, 1000))
def test_an_interval_holds_its_mean_and_stays_on_the_scale(mean: float, sd: float, groups: int) -> None:
    low, high = one_mean(mean, sd, groups)
    assert 0 <= low <= mean <= high <= 1 and low < high


@given(st.floats(-1, 1), st.floats(0, 1), st.integers(1, 1000))
def test_an_interval_of_a_difference_holds_it_and_stays_on_the_scale(difference: float, sd: float, groups: int) -> None:
    low, high = one_difference(difference, sd, groups)
    assert -1 <= low <= difference <= high <= 1 and low < high


def test_one_group_tells_no_difference() -> None:
    assert one_difference(0.5, 0.0, 1) == (-1.0, 1.0)


def test_what_the_simulation_measures() -> None:
    """A corner of the table in docs/validation.md, where a percentile interval had a coverage of 86 %."""
    script = load_script("measure_intervals")
    rng = np.random.default_rng(0)
    spans = rng.choice(script.SPANS, (50, script.TOGETHER), p=script.SHARES)
    right = script.recovered(rng, spans, script.chances(rng, 0.97, 0.5, spans.shape))
    sums = np.hstack([script.summed(right, spans)] * 2)
    low, high = script.intervals(sums, spans, 0)
    assert 0.93 <= ((low <= 0.97) & (high >= 0.97)).mean() <= 0.985
    assert script.differ(0, 50, 0.25, 0.7, 0.5) <= 0.07
    assert 0.85 <= script.held_by_spans(50, 0.5, 0.9, 2000) <= 0.91 < script.held_by_spans(50, 0.0, 0.9, 2000)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(2, 400), st.integers(2, 400))
def test_the_p_value_of_a_difference_of_different_data_says_what_its_interval_says(
    a: float, b: float, ours: int, theirs: int
) -> None:
    one, two = (Spanned(mean, *one_mean(mean, 0.4 / math.sqrt(n), n)) for mean, n in ((a, ours), (b, theirs)))
    low, high = intervals.difference_interval(one, two)
    p = intervals.difference_p(a - b, low, high)
    assert 0 <= p <= 1
    if min(abs(low), abs(high)) > 1e-9:
        assert (p < 0.05) == (low > 0 or high < 0)
    assert p == pytest.approx(intervals.difference_p(b - a, -high, -low))


def test_the_p_value_of_no_difference() -> None:
    assert intervals.difference_p(0.0, -0.1, 0.2) == 1.0
    assert intervals.difference_p(0.3, 0.0, 0.6) == pytest.approx(0.05)
    assert intervals.difference_p(-0.6, -0.7, -0.3) == pytest.approx(math.erfc(2 * 1.959964 / math.sqrt(2)))
