"""Resampled means against what is known of them, and against a plain bootstrap."""

import math

import numpy as np
import pytest

from vcrgen.stats import bootstrap
from vcrgen.stats.arrays import Floats
from vcrgen.stats.bootstrap import (
    FROM_1,
    RESAMPLES,
    TO_1,
    BootstrapMean,
    StoredGroupSums,
    bootstrap_means,
    corrected_interval,
    group_means,
    model_weights,
    percentile_interval,
)
from vcrgen.stats.intervals import deviation


def of_items(scores: Floats) -> StoredGroupSums:
    """Every score is a group of its own."""
    return StoredGroupSums(scores[:, None], np.ones((len(scores), 1)), [0])


def test_groups_widen_the_deviation() -> None:
    # 40 groups of 10 items that are all right or all wrong: the items say nothing new about their group.
    group = (np.arange(40) % 2).astype(float)
    by_item = bootstrap_means(of_items(np.repeat(group, 10)), seed=0, unit="item")
    sums = group[:, None] * 10
    by_group = bootstrap_means(StoredGroupSums(sums, np.full_like(sums, 10.0), [0]), seed=0, unit="group")
    assert deviation(by_group)[0] > 2.5 * deviation(by_item)[0]


def test_it_is_the_plain_bootstrap() -> None:
    """Mean and spread of drawing groups with replacement and dividing sums by counts, done once more by hand."""
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 4, 60).astype(float)
    sums = rng.random(60) * counts
    means = bootstrap_means(StoredGroupSums(sums[:, None], counts[:, None], [0]), seed=0, unit="group")[:, 0]
    drawn = rng.integers(0, 60, (20_000, 60))
    plain = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    assert means.mean() == pytest.approx(plain.mean(), abs=4 * plain.std() / math.sqrt(RESAMPLES))
    assert means.std() == pytest.approx(plain.std(), rel=0.1)


def test_resamples_depend_on_seed_unit_and_number_alone() -> None:
    groups = of_items(np.arange(50.0))
    first = bootstrap_means(groups, seed=5, unit="group")
    assert (bootstrap_means(groups, seed=5, unit="group") == first).all()
    for other in ({"seed": 6, "unit": "group"}, {"seed": 5, "unit": "item"}):
        assert (bootstrap_means(groups, **other) != first).any()  # type: ignore[arg-type]
    twice = StoredGroupSums(np.arange(50.0)[:, None] * [1, 2], np.ones((50, 1)), [0, 0])
    both = bootstrap_means(twice, seed=5, unit="group")
    assert np.allclose(both, first * [1, 2], rtol=1e-12)


@pytest.mark.parametrize(("name", "value"), [("_BLOCK", 50 * 7), ("PART", 11), ("_MOST_DRAWN", 130)])
def test_blocks_and_parts_do_not_change_the_resamples(monkeypatch: pytest.MonkeyPatch, name: str, value: int) -> None:
    groups = of_items(np.arange(50.0))
    whole = bootstrap_means(groups, seed=5, unit="group")
    monkeypatch.setattr(bootstrap, name, value)
    assert np.allclose(bootstrap_means(groups, seed=5, unit="group"), whole, rtol=1e-12)
    assert group_means(groups)[0] == pytest.approx(24.5)


def test_groups_are_asked_for_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So memory does not grow with their number: nobody holds the sums of all groups."""

    class Counted:
        column = (0,)
        largest = 0

        def __len__(self) -> int:
            return 1000

        def part(self, start: int, stop: int) -> tuple[Floats, Floats]:
            self.largest = max(self.largest, stop - start)
            return np.ones((stop - start, 1)), np.ones((stop - start, 1))

    monkeypatch.setattr(bootstrap, "PART", 64)
    groups = Counted()
    assert (bootstrap_means(groups, seed=0, unit="group") == 1).all()
    assert group_means(groups) == ([1.0], [1000])
    assert groups.largest == 64


def test_a_column_that_few_groups_count_in() -> None:
    """Some resamples of it are empty: they are left out of its spread, and do not spoil the others'."""
    sums = np.zeros((10, 2))
    sums[0] = 1
    counts = np.ones((10, 2))
    counts[1:, 1] = 0
    means = bootstrap_means(StoredGroupSums(sums, counts, [0, 1]), seed=0, unit="group")
    assert 0.2 < np.isnan(means[:, 1]).mean() < 0.5 and not np.isnan(means[:, 0]).any()
    assert deviation(means)[1] == 0.0
    assert [part.tolist() for part in group_means(StoredGroupSums(sums, counts, [0, 1]))] == [[0.1, 1.0], [10, 1]]
    assert group_means(StoredGroupSums(sums, np.zeros((10, 2)), [0, 1]))[0].tolist() == [1.0, 1.0]


def test_a_resampled_mean_survives_as_bytes() -> None:
    one = BootstrapMean(250, 0.1, np.linspace(0, 1, RESAMPLES))
    read = BootstrapMean.from_bytes(one.to_bytes())
    assert read[:2] == one[:2] and (read.means == one.means).all()


def test_families_are_drawn_as_a_whole_and_the_seed_decides() -> None:
    groups = np.array([0, 0, 0, 1, 1, 2])
    weights = model_weights(6, seed=1, draws=50, groups=groups)
    assert (weights[:, 0] == weights[:, 2]).all() and (weights[:, 3] == weights[:, 4]).all()
    assert (weights == model_weights(6, seed=1, draws=50, groups=groups)).all()
    assert (weights != model_weights(6, seed=2, draws=50, groups=groups)).any()
    np.testing.assert_array_equal(model_weights(6, seed=1, draws=20), model_weights(6, seed=1, draws=50)[:20])


def test_failed_resamples_are_told_and_beyond_a_twentieth_there_is_no_interval() -> None:
    values = np.linspace(0, 1, 100)[:, None].repeat(2, axis=1)
    values[:5, 0], values[:6, 1] = np.nan, np.nan
    low, high = percentile_interval(values)
    assert np.isfinite(low[0]) and np.isfinite(high[0]) and np.isnan(low[1]) and np.isnan(high[1])


def test_corrected_intervals_are_normal_ones_about_the_value_less_its_bias() -> None:
    draws = np.exp(np.random.default_rng(0).normal(1.0, 0.1, (1001, 1)))  # the value is exp(0.9): biased upwards by 0.1
    low, high = corrected_interval(np.exp(np.array([0.9])), draws, FROM_1)
    middle, half = 2 * 0.9 - np.median(np.log(draws)), 1.959964 * np.log(draws).std()
    np.testing.assert_allclose([low[0], high[0]], np.exp([middle - half, middle + half]), rtol=1e-6)
    draws[:100] = np.nan
    assert np.isnan(corrected_interval(np.array([2.5]), draws, FROM_1)).all()


def test_corrected_intervals_stay_where_a_figure_can_be() -> None:
    above = np.exp(np.abs(np.random.default_rng(0).normal(0.0, 0.5, (1001, 1))))  # as a VIF near 1
    low, high = corrected_interval(np.array([1.1]), above, FROM_1)
    assert low[0] == 1 and high[0] > 1.1
    low, high = corrected_interval(np.array([1 / 1.1]), 1 / above, TO_1)
    assert low[0] < 1 / 1.1 and high[0] == 1


@pytest.mark.parametrize(("groups", "factor"), [(12, 1.173), (33, 1.055), (1000, 1.002)])
def test_intervals_of_few_groups_are_longer(groups: int, factor: float) -> None:
    """Student's t over the normal quantile, times the root of n / (n - 1)."""
    assert bootstrap.few_groups_factor(groups) == pytest.approx(factor, abs=0.001)
    replicates = np.random.default_rng(0).standard_normal((100_000, 1))
    low, high = bootstrap.expanded_interval(replicates, groups)
    assert (high[0] - low[0]) / 2 == pytest.approx(1.96 * factor, rel=0.02)
    _, corrected = bootstrap.corrected_interval(
        np.zeros(1), replicates, bootstrap.Scale(np.array, np.array), longer=factor
    )
    assert corrected[0] == pytest.approx(1.96 * factor, rel=0.02)
