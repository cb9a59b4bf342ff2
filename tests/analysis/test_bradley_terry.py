"""Bradley-Terry strengths: against a general optimiser and choix, and how many intervals hold the true strength."""

import numpy as np
import pytest
from scipy.optimize import minimize

from vcrgen.analysis.bradley_terry import fit_strengths, separated_groups

WINS = np.array([[0.0, 21, 30, 18], [9, 0, 17, 22], [6, 14, 0, 16], [4, 3, 11, 0]])
TIES = np.array([[0.0, 4, 0, 2], [4, 0, 3, 0], [0, 3, 0, 5], [2, 0, 5, 0]])


def test_strengths_maximise_the_likelihood() -> None:
    points = WINS + TIES / 2

    def loss(strengths: np.ndarray) -> float:
        return float((points * np.logaddexp(0, strengths - strengths[:, None])).sum())

    free = minimize(loss, np.zeros(4), tol=1e-12).x
    found = fit_strengths(WINS, TIES)
    assert np.allclose(found.value, free - free.mean(), atol=1e-5)
    # By choix 0.4.1 (ilsr_pairwise, a tie as one win of each of two doubled votes).
    assert np.allclose(found.value, [0.968213, 0.233478, -0.339877, -0.861814], atol=1e-5)


def test_the_interval_of_two_models_is_that_of_a_share() -> None:
    found = fit_strengths(np.array([[0.0, 30], [10, 0]]), np.zeros((2, 2)))
    error = np.sqrt(1 / 30 + 1 / 10)  # of the log odds of 30 of 40
    assert np.allclose(found.value, np.log(3) / 2 * np.array([1, -1]))
    assert np.allclose(found.high - found.low, 1.959964 * error)
    # Of nothing but ties nothing varies: both are equal for sure.
    tied = fit_strengths(np.zeros((2, 2)), np.array([[0.0, 40], [40, 0]]))
    assert np.allclose(tied, 0)


@pytest.mark.parametrize("ties", [0.0, 0.4])
def test_intervals_hold_the_true_strengths(ties: float) -> None:
    rng = np.random.default_rng(0)
    rows, columns = np.triu_indices(6, 1)
    inside = []
    for _ in range(200):
        true = rng.standard_normal(6)
        true -= true.mean()
        first = 1 / (1 + np.exp(true[columns] - true[rows]))
        tied = 2 * ties * np.minimum(first, 1 - first)
        votes = rng.multinomial(30, np.column_stack([first - tied / 2, tied, 1 - first - tied / 2]))
        won, drawn = np.zeros((6, 6)), np.zeros((6, 6))
        won[rows, columns], won[columns, rows] = votes[:, 0], votes[:, 2]
        drawn[rows, columns] = drawn[columns, rows] = votes[:, 1]
        if not separated_groups(won, drawn).max():
            _, low, high = fit_strengths(won, drawn)
            inside += ((low <= true) & (true <= high)).tolist()
    assert len(inside) > 1000 and 0.92 < np.mean(inside) < 0.98


def test_what_is_separated_has_no_strengths() -> None:
    wins = np.array([[0.0, 1, 0], [0, 0, 1], [0, 0, 0]])  # the first beat the second, which beat the third
    assert separated_groups(wins, np.zeros((3, 3)), directed=False).max() == 0
    assert sorted(separated_groups(wins, np.zeros((3, 3)))) == [0, 1, 2]
    wins[2, 0] = 1
    assert separated_groups(wins, np.zeros((3, 3))).max() == 0
    with pytest.raises(ValueError, match="not finite"):
        fit_strengths(np.array([[0.0, 5], [0, 0]]), np.zeros((2, 2)))
