"""Factor models with intervals: verdicts, what is refused, resamples that fail, two stages, the same for a seed."""

from dataclasses import replace

import numpy as np
import pytest

from vcrgen.analysis.factors import FactorEstimate, FactorResult, fit_correlations, fit_factors
from vcrgen.analysis.factors_report import factors_document
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import FactorSpec, bind
from vcrgen.core.errors import AnalysisError
from vcrgen.report.document import render
from vcrgen.stats.bootstrap import expanded_interval


@pytest.fixture(scope="module")
def fitted(gold: ScoreTable, gold_spec: FactorSpec) -> FactorResult:
    return fit_factors(gold, gold_spec, draws=400)


def table_of(scores: np.ndarray) -> ScoreTable:
    models, tasks = (tuple(f"{name}{i}" for i in range(size)) for name, size in zip("mt", scores.shape, strict=True))
    return ScoreTable(source="t", models=models, tasks=tasks, scores=scores)


@pytest.mark.parametrize(
    ("ends", "limits", "verdict"),
    [
        ((0.6, 0.7), {"least": 0.5}, "passed"),
        ((0.6, 0.7), {"least": 0.8}, "failed"),
        ((0.6, 0.7), {"least": 0.65}, "inconclusive"),
        ((0.6, 0.7), {"most": 0.8}, "passed"),
        ((0.6, 0.7), {"most": 0.5}, "failed"),
        ((0.6, 0.7), {"most": 0.6}, "inconclusive"),
        ((np.nan, np.nan), {"most": 0.5}, "no interval"),
    ],
)
def test_a_limit_inside_the_interval_cannot_be_told(
    ends: tuple[float, float], limits: dict[str, float], verdict: str
) -> None:
    assert FactorEstimate(0.65, *ends).verdict(**limits) == verdict


def test_a_seed_gives_the_same_numbers(gold: ScoreTable, gold_spec: FactorSpec, fitted: FactorResult) -> None:
    same = fit_factors(gold, gold_spec, draws=400)
    assert same.loadings.low.tobytes() == fitted.loadings.low.tobytes()
    other = fit_factors(gold, gold_spec, draws=400, seed=1)
    assert other.loadings.low.tobytes() != fitted.loadings.low.tobytes()


def test_resamples_are_fits_to_the_drawn_models(gold: ScoreTable, gold_spec: FactorSpec, fitted: FactorResult) -> None:
    drawn = np.repeat(np.arange(165), fitted.weights[7].astype(int))
    alone = fit_correlations(np.corrcoef(gold.scores[drawn].T), bind(gold_spec, gold.tasks))
    assert alone is not None
    np.testing.assert_allclose(fitted.loadings.replicates[7], alone.fit.loadings, atol=1e-9)
    np.testing.assert_allclose(fitted.htmt.replicates[7], alone.quality.htmt, atol=1e-9)


def test_families_are_drawn_together(gold: ScoreTable, gold_spec: FactorSpec) -> None:
    families = ("large",) * 60 + tuple(f"f{number // 3}" for number in range(105))
    found = fit_factors(replace(gold, families=families), gold_spec, draws=100)
    assert (found.weights[:, 0] == found.weights[:, 59]).all()
    worth = 165**2 // (60**2 + 35 * 3**2)  # families of equal size, of 36
    low, high = expanded_interval(found.loadings.replicates, worth)
    np.testing.assert_array_equal((found.loadings.low, found.loadings.high), (low, high))


def test_two_stages(gold: ScoreTable, gold_spec: FactorSpec) -> None:
    """The second stage is a fit to the correlations of the scores of the first."""
    found = fit_factors(gold, FactorSpec(abilities=gold_spec.abilities, anchor="Human", layout="two-stage"), draws=100)
    top = found.second_order
    assert top is not None
    scores = found.estimate.fit.constructs
    towards = scores[:3, 3]
    weights = towards / np.sqrt(towards @ scores[:3, :3] @ towards)
    np.testing.assert_allclose(top.value[:3], scores[:3, :3] @ weights, atol=1e-9)
    np.testing.assert_allclose(top.value[3], weights @ towards, atol=1e-9)
    assert top[0].low < top[0].value < top[0].high


def spec_of(first: int, second: int) -> FactorSpec:
    abilities = {"A": tuple(f"t{i}" for i in range(first)), "B": tuple(f"t{first + i}" for i in range(second))}
    return FactorSpec(abilities=abilities)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda x: x[:9], r"t: 9 models have scores; a factor model needs 10 at least"),
        (lambda x: np.where(np.arange(30)[:, None] < 9, x, np.nan), r"t: 't0' has a score of 9 models"),
        (lambda x: np.column_stack([x[:, 0], 3 * x[:, 0] + 1, x[:, 2:]]), r"'t0' and 't1' of the ability 'A' rank all"),
        (
            lambda x: np.column_stack([x[:, :2], x[:, 0] + x[:, 1], x[:, 3:]]),
            r"'t0', 't1', 't2' of the ability 'A' are",
        ),
        (lambda x: np.column_stack([np.ones(30), x[:, 1:]]), r"'t0' has the same score for all models"),
    ],
)
def test_what_cannot_be_fitted(change: object, sentence: str) -> None:
    scores = change(np.random.default_rng(0).standard_normal((30, 6)))  # type: ignore[operator]
    with pytest.raises(AnalysisError, match=sentence):
        fit_factors(table_of(scores), spec_of(3, 3), draws=100)


def test_abilities_that_say_the_same_have_no_solution() -> None:
    rng = np.random.default_rng(0)
    task = rng.standard_normal(30)
    scores = np.column_stack([task, 2 * task + 1, rng.standard_normal(30)])
    spec = FactorSpec(abilities={"A": ("t0",), "B": ("t1",)}, anchor="t2")
    with pytest.raises(AnalysisError, match=r"No solution was found for t \(scheme path, mode A\): two"):
        fit_factors(table_of(scores), spec, draws=100)


def test_copies_are_named_by_ability_and_a_task_alone_is_not_judged(recwarn: pytest.WarningsRecorder) -> None:
    rng = np.random.default_rng(0)
    tasks = rng.standard_normal((120, 3))[:, [0, 0, 1, 1, 2]] + rng.standard_normal((120, 5)) * 0.1
    spec = FactorSpec(abilities={"A": ("t0", "t1"), "B": ("t2", "t3"), "C": ("t4",)})
    document = factors_document(fit_factors(table_of(tasks), spec, draws=100), settings="")
    assert document.summary == [
        "Drop one of t0, t1; and one of t2, t3: the VIF is above 5.",
        "Add tasks to the ability of t4: of the only task of an ability, loading and VIF are 1 whatever its scores "
        "are.",
    ]
    assert not recwarn.list


def test_as_many_tasks_as_models_less_one() -> None:
    scores = np.random.default_rng(0).standard_normal((12, 13))
    with pytest.raises(AnalysisError, match=r"'A' has 11 tasks, and there are 12 models"):
        fit_factors(table_of(scores), spec_of(11, 2), draws=100)


def test_resamples_that_fail_are_counted_and_leave_no_interval() -> None:
    """Of 12 models many resamples draw fewer different ones than the ability has tasks."""
    rng = np.random.default_rng(0)
    found = fit_factors(
        table_of(rng.standard_normal((12, 1)) + rng.standard_normal((12, 11))), spec_of(9, 2), draws=200
    )
    assert found.failed > 10
    first = found.loadings[0]
    assert np.isfinite(first.value) and first.verdict(least=0.75) == "no interval"


def test_scores_that_are_missing_cost_no_models(gold: ScoreTable, gold_spec: FactorSpec) -> None:
    """A task that most models lack does not take them out; what needs all scores says so or is left out."""
    scores = gold.scores.copy()
    scores[40:, 0] = np.nan
    scores[::7, 4] = np.nan
    result = fit_factors(replace(gold, scores=scores), gold_spec, draws=100)
    assert len(result.table.models) == 165 and result.overall_fit is None
    note = "Of 165 models 34 have all scores; most are missing on Color (125), Landmark (24)."
    assert result.table.notes[-1].startswith(note)
    every = fit_factors(gold, gold_spec, draws=100)
    assert np.abs(result.loadings.value - every.loadings.value)[1:].max() < 0.04
    assert result.agreement is not None and np.isfinite(result.loadings.low).all()
    page = render(factors_document(result, settings=""), "md")
    assert "Missing scores, of which each is taken as its expectation by the model's other scores: 149." in page
    scores[[8, 15], 4] = -60  # two models that broke on a task of which others lack the score
    broken = fit_factors(replace(gold, scores=scores), gold_spec, draws=20)
    assert {"made 9", "made 16"} <= set(broken.left_out.outlying)
    scores[20:, 0] = np.nan
    with pytest.raises(AnalysisError, match=r"'Color' has a score of 20 models; .* of 12 tasks need 24 of each"):
        fit_factors(replace(gold, scores=scores), gold_spec, draws=100)
    scores[:, 0] = gold.scores[:, 0]
    scores[:80, 4], scores[80:, 5], scores[0, 5] = np.nan, np.nan, np.nan
    with pytest.raises(AnalysisError, match=r"'Landmark' and 'Basic Medical Science' have 0 models in common; 5 are"):
        fit_factors(replace(gold, scores=scores), gold_spec, draws=100)


def test_a_rare_task_loses_its_own_intervals_alone(gold: ScoreTable, gold_spec: FactorSpec) -> None:
    """In one resample in seven neither of the two models is drawn that solve it, and there it does not vary."""
    scores = gold.scores.copy()
    rare = gold.tasks.index("OCR")
    scores[:, rare] = 0
    scores[:2, rare] = 5, 7
    found = fit_factors(replace(gold, scores=scores), gold_spec, draws=100, progress=False)
    place = found.bound.tasks.index("OCR")
    assert np.flatnonzero(~np.isfinite(found.loadings.low)).tolist() == [place] and found.failed == 0
    assert np.isfinite(found.alpha.low).all() and np.isfinite(found.r2.low[-1]) and np.isfinite(found.tc.low)
