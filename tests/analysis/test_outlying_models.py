"""Models far from all others: failures are found at any depth and in any share, and good models are seldom."""

import numpy as np
import pytest

from vcrgen.analysis.outlying_models import outlying_models, robust_z

BLOCKS = ((0, 1, 2, 3, 4), (5, 6, 7, 8, 9))


def scores(seed: int, models: int, sd: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    abilities = 0.8 * rng.standard_normal((models, 1)) + 0.6 * rng.standard_normal((models, 2))
    return 50 + sd * (0.85 * abilities.repeat(5, axis=1) + 0.5 * rng.standard_normal((models, 10)))


@pytest.mark.parametrize("sd", [12, 25])  # near zero is four standard deviations below the mean, or two
@pytest.mark.parametrize("share", [0.03, 0.12])
def test_models_that_failed_everywhere_are_found(sd: float, share: float) -> None:
    table = scores(1, 154, sd)
    failed = np.arange(154) < round(share * 154)
    table[failed] = np.random.default_rng(2).uniform(0, 3, (failed.sum(), 10))
    found = outlying_models(table, BLOCKS)
    assert found[failed].all() and found[~failed].sum() <= 3


def test_models_that_failed_on_one_ability_are_found() -> None:
    table = scores(3, 154, 12)
    table[:5, 5:] = np.random.default_rng(2).uniform(0, 3, (5, 5))
    assert np.flatnonzero(outlying_models(table, BLOCKS)).tolist()[:5] == [0, 1, 2, 3, 4]


def test_few_good_models_are_found() -> None:
    assert np.mean([outlying_models(scores(seed, 165, 15), BLOCKS).sum() for seed in range(20)]) < 1


def test_a_tenth_of_failures_moves_neither_the_middle_nor_the_spread() -> None:
    values = np.random.default_rng(0).standard_normal((2000, 1))
    values[:200] = -30
    z = robust_z(values)[200:]
    assert abs(z.mean()) < 0.05 and abs(z.std() - 1) < 0.05
    assert (robust_z(np.array([[1.0], [1.0], [1.0], [5.0]])) == 0).all()  # more than half the same: no spread
