"""Verdicts that a few models or one family decide are not given, and these are named."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.analysis.conftest import MadeScores
from vcrgen.analysis.factors import FactorEstimate, FactorResult, fit_factors
from vcrgen.analysis.factors_report import factors_document
from vcrgen.analysis.influence import leave_outs
from vcrgen.analysis.prune_evaluation import evaluate_pruning
from vcrgen.analysis.prune_report import is_judged, kept_spec, prune_document
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import FactorSpec

Fit = Callable[..., FactorResult]


def collapsed(table: ScoreTable, rows: range) -> ScoreTable:
    """The table with a mean of 50 and a standard deviation of 12, but some models near zero on every task."""
    scores = 50 + 12 * table.scores
    scores[rows] = np.random.default_rng(0).uniform(0, 3, (len(rows), scores.shape[1]))
    return replace(table, scores=scores)


@pytest.fixture(autouse=True)
def few_random_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.analysis.prune_evaluation.RANDOM_SETS", 20)


@pytest.fixture(scope="module")
def good_tasks(with_abilities: MadeScores) -> tuple[ScoreTable, FactorSpec]:
    """154 models on tasks that all stay: six of each ability."""
    table, spec = with_abilities(5, 154)
    abilities = {name: tasks[:6] for name, tasks in spec.abilities.items()}
    return table, FactorSpec(abilities=abilities, anchor="human")


def test_broken_models_drop_no_good_task(good_tasks: tuple[ScoreTable, FactorSpec]) -> None:
    table, spec = good_tasks
    clean = prune_document(evaluate_pruning(table, spec, repeats=20, progress=False), settings="")
    assert clean.summary[0].startswith("Keep all 18 tasks")
    found = evaluate_pruning(collapsed(table, range(18)), spec, repeats=20, progress=False)
    assert len(found.pruning.log) >= 5  # as all models say
    assert set(found.influence.left_out.outlying) >= {f"m{number}" for number in range(18)}
    document = prune_document(found, settings="")
    assert document.summary[0].startswith("Keep") and document.summary[1].startswith("Keep A0 g")
    assert "m0, m1, m2, m3, m4, m5 and 12 more together" in document.summary[1]
    (section,) = [section for section in document.sections if section.title == "Influence of single models"]
    assert "Far from all other models, by robust distance: m0, m1, " in section.text[1]
    assert section.text[1].endswith("of 18 tasks are kept, without them 18.")
    assert kept_spec(found).count("A1 g") == 6 and is_judged(found)


def test_a_family_that_decides_is_named(good_tasks: tuple[ScoreTable, FactorSpec]) -> None:
    table, spec = good_tasks
    scores = table.scores.copy()
    scores[:12, 2] = -scores[:12, 2] - 1.5  # a family whose outputs of one task went wrong
    families = ("bad",) * 12 + tuple(f"f{number // 2}" for number in range(142))
    found = evaluate_pruning(replace(table, scores=scores, families=families), spec, repeats=20, progress=False)
    assert "the family bad" in found.influence.changes["A0 g2"]
    document = prune_document(found, settings="")
    assert "the family bad" in document.summary[1]
    assert document.sections[-1].title == "Families"


def test_families_make_fewer_models_of_many(good_tasks: tuple[ScoreTable, FactorSpec]) -> None:
    table, spec = good_tasks
    copies = replace(
        table, scores=table.scores[np.arange(154) // 2], families=tuple(f"f{number // 2}" for number in range(154))
    )
    found = evaluate_pruning(copies, spec, repeats=20, progress=False)
    assert found.effective == pytest.approx(77) and not is_judged(found)
    assert prune_document(found, settings="").summary == [
        "Score more models before you drop a task: 154 models of families, worth 77 independent ones, are too few, and "
        "80 are needed."
    ]


def test_a_verdict_is_not_given_where_a_few_models_decide(good_tasks: tuple[ScoreTable, FactorSpec]) -> None:
    table, spec = good_tasks
    found = fit_factors(collapsed(table, range(18)), spec, draws=100, progress=False)
    document = factors_document(found, settings="")
    assert not any("Drop one of" in sentence for sentence in document.summary)
    (sentence,) = [sentence for sentence in document.summary if sentence.startswith("Decide nothing yet on")]
    assert "m0, m1, m2, m3, m4, m5 and 12 more together" in sentence
    (section,) = [section for section in document.sections if section.title == "Influence of single models"]
    assert [table.title for table in section.tables] == [
        "Verdicts that hang on a few models",
        "With and without outlying models",
    ]


@pytest.mark.parametrize(
    ("without", "has_outlying", "verdict"),
    [
        ((0.71, 0.62), False, "passed"),
        ((0.71, 0.54), False, "hangs on few"),
        ((0.71, np.nan), False, "hangs on few"),
        ((0.66, 0.62), True, "passed"),
        ((0.62, 0.71), True, "hangs on few"),
        ((), False, "passed"),
    ],
)
def test_a_model_decides_by_the_figure_and_outlying_ones_by_the_interval(
    without: tuple[float, ...], has_outlying: bool, verdict: str
) -> None:
    assert FactorEstimate(0.7, 0.6, 0.8, without, has_outlying).verdict(least=0.55) == verdict


def test_what_is_left_out(good_tasks: tuple[ScoreTable, FactorSpec]) -> None:
    table, _ = good_tasks
    families = ("large",) * 80 + ("small",) * 3 + tuple(f"f{number}" for number in range(71))
    found = leave_outs(replace(collapsed(table, range(2)), families=families), [range(6), range(8, 14)])
    labels = [group.label for group in found.groups]
    assert labels[0].startswith("m0, m1") and labels[1:] == ["the family small", *table.models]
    assert (found.weights[1] == 0).nonzero()[0].tolist() == [80, 81, 82]
