"""Resampled means against what is known of them, and against a plain bootstrap."""

import math

import numpy as np
import pytest

from vcrgen.stats import bootstrap
from vcrgen.stats.arrays import Floats
from vcrgen.stats.bootstrap import RESAMPLES, BootstrapMean, StoredGroupSums, bootstrap_means, group_means
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
