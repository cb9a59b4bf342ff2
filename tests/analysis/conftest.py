"""Scores that are made: the golden model's, and those of abilities that are known."""

from collections.abc import Callable

import numpy as np
import pytest

from vcrgen.analysis.examples import EXAMPLES
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import FactorSpec

MadeScores = Callable[..., tuple[ScoreTable, FactorSpec]]


@pytest.fixture(scope="session")
def gold() -> ScoreTable:
    """165 made models with the golden correlations."""
    table: ScoreTable = EXAMPLES["gold-made"].load()
    return table


@pytest.fixture(scope="session")
def gold_spec() -> FactorSpec:
    make = EXAMPLES["gold-made"].spec
    assert make is not None
    return make()


@pytest.fixture(scope="session")
def scores_with_gaps() -> np.ndarray:
    """40 models on five tasks that correlate, a tenth of the scores missing."""
    rng = np.random.default_rng(4)
    scores = rng.standard_normal((40, 1)) + rng.standard_normal((40, 5))
    scores[rng.random(scores.shape) < 0.1] = np.nan
    return scores


@pytest.fixture(scope="session")
def with_abilities() -> MadeScores:
    """Models of three abilities with six good tasks (loading .85), a copy of one and a weak task (.2) each."""

    def make(seed: int, models: int = 190) -> tuple[ScoreTable, FactorSpec]:
        rng = np.random.default_rng(seed)
        common = rng.standard_normal((models, 1))
        abilities = np.sqrt(0.6) * common + np.sqrt(0.4) * rng.standard_normal((models, 3))
        columns, names = [], {}
        for k in range(3):
            ability = abilities[:, k]
            good = [0.85 * ability + np.sqrt(1 - 0.85**2) * rng.standard_normal(models) for _ in range(6)]
            copy = good[0] + 0.1 * rng.standard_normal(models)
            weak = 0.2 * ability + np.sqrt(1 - 0.2**2) * rng.standard_normal(models)
            names[f"A{k}"] = tuple(f"A{k} {name}" for name in ("g0", "g1", "g2", "g3", "g4", "g5", "copy", "weak"))
            columns += [*good, copy, weak]
        human = abilities.sum(axis=1) + 1.5 * rng.standard_normal(models)
        tasks = (*(task for tasks in names.values() for task in tasks), "human")
        numbers = tuple(f"m{number}" for number in range(models))
        scores = np.column_stack([*columns, human])
        table = ScoreTable(source="made", models=numbers, tasks=tasks, scores=scores)
        return table, FactorSpec(abilities=names, anchor="human")

    return make


@pytest.fixture(autouse=True)
def few_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run K-Means from 20 starts in place of 200; the published clusters are found with 200 in a test of their own."""
    monkeypatch.setattr("vcrgen.analysis.redundancy.STARTS", 20)
    monkeypatch.setattr("vcrgen.analysis.redundancy.STABILITY_RESAMPLES", 50)
