"""Sign flips: p-values of one pair and of many, and their error rates."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.stats import sign_flips
from vcrgen.stats.arrays import Floats
from vcrgen.stats.sign_flips import (
    ALPHA,
    FLIPS,
    FlipTests,
    critical_value,
    flip_p,
    flip_statistics,
    flipped_sums,
    is_significant,
    maxima_of_all,
    pair_statistics,
)

small_tables = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).integers(0, 4, (25, 6)))


def p_of(differences: list[int]) -> float:
    return FlipTests().p_value(flipped_sums(np.array(differences, float)[:, None], seed=0, unit="image")[0])


@pytest.mark.parametrize(
    "differences", [[1] * 5, [1] * 8, [1, 1, 1, -1, 2, 0, 1, 3, 1], [3, -1, -1, 1, 0, 0, 0], [0] * 6]
)
def test_p_is_that_of_all_flips(differences: list[int]) -> None:
    flips = [np.dot(signs, differences) for signs in itertools.product((1, -1), repeat=len(differences))]
    exact = np.mean(np.abs(flips) >= abs(sum(differences)))
    assert p_of(differences) == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / FLIPS) + 1 / FLIPS)


def test_the_first_flip_is_the_data_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = np.random.default_rng(0).integers(0, 5, (50, 3)).astype(float)
    flipped = flipped_sums(sums, seed=7, unit="image")
    np.testing.assert_array_equal(flipped[:, 0], sums.sum(axis=0))
    monkeypatch.setattr(sign_flips, "_BLOCK", 8)
    np.testing.assert_array_equal(flipped_sums(sums, seed=7, unit="image"), flipped)
    np.testing.assert_array_equal(flipped_sums(sums[:, :1], seed=7, unit="image"), flipped[:1])
    assert (flipped_sums(sums, seed=8, unit="image")[:, 1:] != flipped[:, 1:]).any()


@given(small_tables)
def test_ways_to_test_all_pairs_agree(table: Floats) -> None:
    """One after another, a system beside others, and by the critical value; in any order of the systems."""
    sums = flipped_sums(table.astype(float), seed=0, unit="image")
    tests, pairs = FlipTests(), list(itertools.combinations(range(len(sums)), 2))
    p_values = [tests.p_value(sums[a] - sums[b]) for a, b in pairs]
    maxima = maxima_of_all(sums)
    np.testing.assert_array_equal(maxima, maxima_of_all(sums[::-1]))
    signed = {(a, b): pair_statistics(sums[a], sums[[b]]).signed[0] for a, b in pairs}
    for (a, b), p, corrected in zip(pairs, p_values, tests.corrected(), strict=True):
        assert p <= corrected == flip_p(maxima, abs(signed[a, b]))
        assert is_significant(abs(signed[a, b]), critical_value(maxima)) == (corrected < ALPHA)
        assert np.sign(signed[a, b]) == np.sign(table[:, a].sum() - table[:, b].sum())
        assert pair_statistics(sums[b], sums[[a]]).signed[0] == -signed[a, b]


def test_one_pair_is_not_corrected_and_equal_systems_are_not_tested() -> None:
    tests = FlipTests()
    p = tests.p_value(flipped_sums(np.array([[2.0], [1], [0], [1], [1], [1], [-1]]), seed=0, unit="image")[0])
    assert tests.corrected() == [p] and 0 < p < 1
    assert not flip_statistics(np.zeros((2, FLIPS))).any()
    assert p_of([0, 0]) == 1.0


@pytest.mark.parametrize(("images", "chance"), [(40, 0.8), (200, 0.97)])
def test_few_tables_of_equal_systems_have_a_significant_pair(images: int, chance: float) -> None:
    """At most 5 % and three standard errors; single pairs differ on most tables."""
    rng, tables, single, corrected = np.random.default_rng(0), 200, 0, 0
    for seed in range(tables):
        right = rng.binomial(3, chance, (images, 10)).astype(float)
        tests = FlipTests()
        sums = flipped_sums(right, seed=seed, unit="image")
        single += min(tests.p_value(sums[a] - sums[b]) for a, b in itertools.combinations(range(10), 2)) < ALPHA
        corrected += min(tests.corrected()) < ALPHA
    assert corrected / tables <= ALPHA + 3 * np.sqrt(ALPHA / tables) and single / tables > 0.4
