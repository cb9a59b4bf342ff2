"""Pruning: the loop against a plain one, the floor, all at once, known copies, and what the choice is worth."""

import numpy as np
import pytest

from tests.analysis.conftest import MadeScores
from tests.notebooks import check_shown
from vcrgen.analysis.measured import FEWEST_TO_PRUNE, PRUNE_MODELS, PRUNE_SHARES
from vcrgen.analysis.pls import Structure, fit_pls
from vcrgen.analysis.prune_evaluation import PruneEvaluation, evaluate_pruning
from vcrgen.analysis.prune_report import prune_document
from vcrgen.analysis.pruning import prune
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import BoundSpec, FactorLimits, FactorSpec, bind
from vcrgen.core.errors import AnalysisError


def correlations(table: ScoreTable, bound: BoundSpec) -> np.ndarray:
    return np.corrcoef(table.select_tasks(bound.tasks).scores.T)


def plain_loop(r: np.ndarray, bound: BoundSpec) -> list[tuple[str, str]]:
    """The loop as the facts of the field write it, with a regression for every VIF."""
    kept, limits, log = list(bound.tasks[:-1]), bound.spec.limits, []
    owner = {task: name for name, tasks in bound.abilities.items() for task in tasks}
    while True:
        blocks, rows = [], []
        for name in bound.abilities:
            block = [bound.tasks.index(task) for task in kept if owner[task] == name]
            blocks.append(tuple(range(len(rows), len(rows) + len(block))))
            rows += block
        rows.append(len(bound.tasks) - 1)
        part = r[np.ix_(rows, rows)]
        last = len(blocks)
        structure = Structure(
            (*blocks, (len(rows) - 1,)), (*(() for _ in blocks), tuple(range(last))), ("A",) * (last + 1), last
        )
        fit = fit_pls(part, structure)
        assert fit is not None
        loadings = np.abs(fit.loadings)
        vif = {}
        for block in blocks:
            for i in block:
                others = [j for j in block if j != i]
                explained = (
                    part[i, others] @ np.linalg.solve(part[np.ix_(others, others)], part[others, i]) if others else 0
                )
                vif[bound.tasks[rows[i]]] = 1 / (1 - explained)
        loading = {bound.tasks[row]: loadings[i] for i, row in enumerate(rows[:-1])}
        sizes = {name: sum(owner[task] == name for task in kept) for name in bound.abilities}
        free = [task for task in kept if sizes[owner[task]] > bound.spec.floor]
        if bad := [task for task in free if vif[task] > limits.vif]:
            highest = max(vif[task] for task in bad)
            tied = [task for task in bad if vif[task] >= 0.95 * highest]
            out, why = min(tied, key=lambda task: (loading[task], -vif[task], task)), "VIF"
        elif weak := [task for task in free if loading[task] < limits.loading]:
            out, why = min(weak, key=lambda task: (loading[task], task)), "loading"
        else:
            return log
        kept.remove(out)
        log.append((out, why))


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    abilities = 0.7 * rng.standard_normal((80, 1)) + rng.standard_normal((80, 3))
    scores = abilities.repeat(8, axis=1) * rng.uniform(0.2, 2.5, 24) + rng.standard_normal((80, 24))
    human = abilities.sum(axis=1) + rng.standard_normal(80)
    tasks = tuple(f"t{number:02}" for number in range(24))
    spec = FactorSpec(
        abilities={f"A{k}": tasks[8 * k : 8 * k + 8] for k in range(3)},
        anchor="human",
        limits=FactorLimits(vif=4),
        floor=3,
    )
    bound = bind(spec, (*tasks, "human"))
    r = np.corrcoef(np.column_stack([scores, human]).T)
    found = prune(r, bound)
    assert found is not None
    expected = plain_loop(r, bound)
    assert [(step.task, step.reason) for step in found.log] == expected and len(expected) > 3
    assert set(found.kept) == set(tasks) - {task for task, _ in expected}


@pytest.mark.parametrize("seed", range(3))
def test_copies_and_weak_tasks_go_and_good_ones_stay(with_abilities: MadeScores, seed: int) -> None:
    """`scripts/measure_analysis.py prune` does this for 100 seeds."""
    table, spec = with_abilities(seed)
    bound = bind(spec, table.tasks)
    found = prune(correlations(table, bound), bound)
    assert found is not None and found.beyond == ()
    dropped = {step.task: step.reason for step in found.log}
    for k in range(3):
        assert len({f"A{k} g0", f"A{k} copy"} & set(dropped)) == 1 and dropped[f"A{k} weak"] == "loading"
    assert len(dropped) == 6 and [step.round for step in found.log] == list(range(1, 7))


def test_the_floor_keeps_what_is_nearest_to_the_limits(with_abilities: MadeScores) -> None:
    table, spec = with_abilities(0)
    strict = spec.model_copy(update={"limits": FactorLimits(loading=0.99), "floor": 3})
    for batch in (False, True):
        bound = bind(strict, table.tasks)
        found = prune(correlations(table, bound), bound, batch=batch)
        assert found is not None and len(found.kept) == 9
        assert {(task, reason) for task, reason, _ in found.beyond} >= {(task, "loading") for task in found.kept}
        assert not any("weak" in task for task in found.kept)


def test_all_at_once_drops_both_of_a_pair(with_abilities: MadeScores) -> None:
    """Algorithm 1 of the paper: a task and its copy are both beyond the limit in one fit, so both go."""
    table, spec = with_abilities(1)
    bound = bind(spec, table.tasks)
    found = prune(correlations(table, bound), bound, batch=True)
    assert found is not None
    assert {"A0 g0", "A0 copy", "A0 weak"} <= {step.task for step in found.log if step.round == 1}


@pytest.fixture(scope="module")
def of_sixty(with_abilities: MadeScores) -> PruneEvaluation:
    """A pruning by the scores of 60 models."""
    return evaluate_pruning(*with_abilities(2, 60), repeats=20)


def test_what_a_pruning_is_worth(with_abilities: MadeScores, of_sixty: PruneEvaluation) -> None:
    found = of_sixty
    check_shown(found)
    assert len(found.frequency) == 24 and found.resamples == 20 and found.failed == 0
    # 60 models tell weak tasks from good ones in any resample; which of two copies stays is open.
    assert max(found.frequency[f"A{k} weak"] for k in range(3)) < 0.2
    kept = found.pruning.kept
    assert len(found.random.spearman) == 1000 and found.ranking.spearman[0] > 0.95
    assert len(set(found.random.spearman.round(9).tolist())) > 100  # of sets that differ
    for k in range(3):
        assert sum(task.startswith(f"A{k}") for task in kept) == len(found.kept.abilities[f"A{k}"])
    assert found.after.quality.d_valid > found.before.quality.d_valid
    own = {(swept.vif, swept.loading): swept for swept in found.sweep}
    assert len(own) == 9 and own[5.0, 0.75].kept == kept
    assert found.anchor is not None and found.anchor.halves == 20
    for full, kept_tasks, inside in zip(
        found.anchor.all_tasks, found.anchor.kept_tasks, found.anchor.in_sample, strict=True
    ):
        assert abs(full - kept_tasks) < 0.1 and 0 < inside < 1
    again = evaluate_pruning(*with_abilities(2, 60), repeats=20)
    assert (again.frequency, again.anchor, again.jaccard) == (found.frequency, found.anchor, found.jaccard)


def test_too_many_models_to_compare_in_pairs() -> None:
    scores = np.random.default_rng(0).standard_normal((1001, 4))
    table = ScoreTable(source="t", models=tuple(map(str, range(1001))), tasks=("a", "b", "c", "d"), scores=scores)
    with pytest.raises(AnalysisError, match=r"1,001 models; at most 1,000 are compared in pairs"):
        evaluate_pruning(table, FactorSpec(abilities={"A": ("a", "b"), "B": ("c", "d")}))


def test_a_report_first_says_what_can_go(with_abilities: MadeScores, of_sixty: PruneEvaluation) -> None:
    few = prune_document(of_sixty, settings="")
    assert few.summary == ["Score more models before you drop a task: 60 models are too few, and 80 are needed."]
    assert "98 % of redundant pairs lost one task" in few.sections[1].text[1]  # as of 60 simulated models
    assert few.sections[1].text[1].endswith("but so did 4 % of good ones.")
    found = evaluate_pruning(*with_abilities(2, 150), repeats=20)
    document = prune_document(found, settings="")
    first = found.pruning.log[0].task
    instead = {"A0 copy": "A0 g0", "A0 g0": "A0 copy"}[first]  # without some model it would be the other of the pair
    assert document.summary[0].startswith(f"Drop {len(found.pruning.log)} tasks of 24: {first} (or {instead}), ")
    assert document.sections[1].text[1].endswith("but so did 1 % of good ones.")  # of 130, the nearest size below
    assert "Ranking" in [section.title for section in document.sections]
    assert len(document.summary) <= 5


def test_where_nothing_is_dropped_there_is_nothing_to_compare(with_abilities: MadeScores) -> None:
    table, spec = with_abilities(2, 100)
    loose = spec.model_copy(update={"limits": FactorLimits(vif=1e6, loading=0)})
    document = prune_document(evaluate_pruning(table, loose, repeats=20), settings="")
    assert document.summary[0].startswith("Keep all 24 tasks: none is beyond a limit.")
    assert [section.title for section in document.sections] == [
        "Log",
        "Kept tasks",
        "Influence of single models",
        "Limits",
    ]


def test_the_least_number_of_models_is_that_of_the_simulation() -> None:
    """With fewer models, the interval of the share of good tasks that go includes 5 %."""
    lost = dict(zip(PRUNE_MODELS, (shares[2] for shares in PRUNE_SHARES), strict=True))
    assert lost[FEWEST_TO_PRUNE] < 0.05 and list(lost.values()) == sorted(lost.values(), reverse=True)
    assert lost[60] + 0.012 > 0.05
