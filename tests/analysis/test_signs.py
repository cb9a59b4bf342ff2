"""Tasks that rank models the other way round are told, with the option that turns them."""

import numpy as np
import pytest

from vcrgen.analysis.factors import fit_factors
from vcrgen.analysis.factors_report import factors_document
from vcrgen.analysis.map_report import map_document
from vcrgen.analysis.prune_evaluation import evaluate_pruning
from vcrgen.analysis.prune_report import prune_document
from vcrgen.analysis.redundancy import make_map
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.signs import lower_is_better_options, reversed_tasks
from vcrgen.analysis.spec import FactorSpec


def correlations(turned: list[int], tasks: int = 6, r: float = 0.5) -> np.ndarray:
    sign = np.where(np.isin(range(tasks), turned), -1.0, 1.0)
    matrix = np.where(np.eye(tasks, dtype=bool), 1, r)
    return matrix * np.outer(sign, sign)


@pytest.mark.parametrize(
    ("turned", "expected"),
    [([], []), ([2], [2]), ([0, 5], [0, 5]), ([0, 1, 2, 3], [4, 5]), ([1, 3, 5], [1, 3, 5])],
)
def test_the_fewer_tasks_are_the_reversed_ones(turned: list[int], expected: list[int]) -> None:
    assert reversed_tasks(correlations(turned), 100, range(6)) == expected


def test_chance_is_no_direction() -> None:
    weak = correlations([2], r=0.1)
    assert reversed_tasks(weak, 30, range(6)) == [] and reversed_tasks(weak, 1000, range(6)) == [2]
    noise = [np.corrcoef(np.random.default_rng(seed).standard_normal((60, 6)).T) for seed in range(50)]
    assert sum(bool(reversed_tasks(r, 60, range(6))) for r in noise) <= 10


def test_names_are_quoted() -> None:
    assert lower_is_better_options(["CHAIR i", "WER"]) == "--lower-is-better 'CHAIR i' --lower-is-better WER"


def test_reports_say_so_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.analysis.prune_evaluation.RANDOM_SETS", 20)
    rng = np.random.default_rng(0)
    abilities = rng.standard_normal((90, 1)) + 0.5 * rng.standard_normal((90, 6))
    abilities[:, 1] *= -1
    models = tuple(f"m{number}" for number in range(90))
    table = ScoreTable(source="t", models=models, tasks=("a", "an error", "b", "c", "d", "e"), scores=abilities)
    spec = FactorSpec(abilities={"A": ("a", "an error", "b"), "B": ("c", "d", "e")})
    for summary in (
        map_document(make_map(table, draws=100, progress=False), settings="").summary,
        factors_document(fit_factors(table, spec, draws=100, progress=False), settings="").summary,
        prune_document(evaluate_pruning(table, spec, repeats=20, progress=False), settings="").summary,
    ):
        assert "and if so give --lower-is-better 'an error': it ranks models the other way round" in summary[0]
        assert not any("Drop no task:" in sentence or "Keep all" in sentence for sentence in summary)
