"""Measure what docs/analysis.md says of `vcrgen analyze`: what pruning drops, and how good intervals are.

    python scripts/measure_analysis.py            # all of it, some minutes
    python scripts/measure_analysis.py prune      # or one part of it, as below

prune: 20 to 500 models, three abilities with six good tasks (true loading .80 or .85), a copy of one (noise .1) and a
weak task (.2) each. collapsed: the same with 3 and 10 % of models that score near zero. families: families of 1 to 9
models, and intervals with families guessed from names.
coverage: scores of 20 to 165 models from the golden correlations. overall: the test of the overall fit, of a correct
model and of one with three residual correlations. votes: intervals of Bradley-Terry strengths. `tests/analysis` has a
smaller run of each.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vcrgen.analysis.bradley_terry import fit_strengths, separated_groups
from vcrgen.analysis.correlations import correlation_matrix
from vcrgen.analysis.examples import GOLD_ABILITIES, gold_correlations
from vcrgen.analysis.factors import fit_correlations, fit_factors
from vcrgen.analysis.families import effective_models, guess_families
from vcrgen.analysis.measured import COVERAGE_MODELS, PRUNE_MODELS
from vcrgen.analysis.pls import overall_fit
from vcrgen.analysis.prune_influence import prune_influence
from vcrgen.analysis.pruning import Pruning, prune
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import FactorSpec, bind
from vcrgen.stats.bootstrap import model_weights

ABILITIES = {
    f"A{k}": tuple(f"A{k} {name}" for name in ("g0", "g1", "g2", "g3", "g4", "g5", "copy", "weak")) for k in range(3)
}
TASKS = (*(task for tasks in ABILITIES.values() for task in tasks), "human")


def scores_with_copies(seed: int, models: int = 190, loading: float = 0.85) -> np.ndarray:
    rng = np.random.default_rng(seed)
    abilities = np.sqrt(0.6) * rng.standard_normal((models, 1)) + np.sqrt(0.4) * rng.standard_normal((models, 3))
    columns = []
    for ability in abilities.T:
        good = [loading * ability + np.sqrt(1 - loading**2) * rng.standard_normal(models) for _ in range(6)]
        copy = good[0] + 0.1 * rng.standard_normal(models)
        columns += [*good, copy, 0.2 * ability + np.sqrt(1 - 0.2**2) * rng.standard_normal(models)]
    return np.column_stack([*columns, abilities.sum(axis=1) + 1.5 * rng.standard_normal(models)])


def pruned(seeds: int = 100) -> None:
    bound = bind(FactorSpec(abilities=ABILITIES, anchor="human"), TASKS)
    print(f"prune, {seeds} seeds: share of pairs that lose exactly one, of weak and of other good tasks that go")
    for loading in (0.80, 0.85):
        for models in PRUNE_MODELS:
            one_of_pair = weak = good = 0
            for seed in range(seeds):
                found = prune(correlation_matrix(scores_with_copies(seed, models, loading)), bound, logged=False)
                assert found is not None
                dropped = {step.task for step in found.log}
                for ability in ABILITIES:
                    one_of_pair += len({f"{ability} g0", f"{ability} copy"} & dropped) == 1
                    weak += f"{ability} weak" in dropped
                    good += len({f"{ability} g{number}" for number in range(1, 6)} & dropped)
            shares = (one_of_pair / (3 * seeds), weak / (3 * seeds), good / (15 * seeds))
            print(f"  loading {loading}, {models} models: " + ", ".join(f"{share:.3f}" for share in shares))


def collapsed(seeds: int = 30) -> None:
    """Scores with a mean of 50 and a standard deviation of 12 to 25, but of some models 0 to 4 on everything."""
    bound = bind(FactorSpec(abilities=ABILITIES, anchor="human"), TASKS)
    print(f"collapsed models, {seeds} tables each: by all models, and by verdicts that hang on no few of them")
    for models in (60, 165, 500):
        for share in (0, 0.03, 0.1):
            count, found, false, shares = round(share * models), 0, 0, np.zeros(4)
            for seed in range(seeds):
                rng = np.random.default_rng(1000 + seed)
                scores = 50 + rng.uniform(12, 25) * scores_with_copies(seed, models, 0.8)
                rows = rng.permutation(models)[:count]
                scores[rows] = rng.uniform(0, 4, (count, len(TASKS)))
                names = tuple(f"m{number}" for number in range(models))
                table = ScoreTable(source="drawn", models=names, tasks=TASKS, scores=scores)
                pruning = prune(correlation_matrix(scores), bound, logged=False)
                assert pruning is not None
                influence = prune_influence(table, bound, pruning, batch=False)
                named = set(influence.left_out.outlying) & {names[row] for row in rows}
                found, false = found + len(named), false + len(influence.left_out.outlying) - len(named)
                shares += (*verdicts(pruning, set()), *verdicts(pruning, set(influence.changes)))
            right, good, settled_right, settled_good = shares / seeds
            print(
                f"  {models} models, {count} collapsed: {found} of {count * seeds} found, "
                f"{false / seeds:.2f} others a table; right verdicts {right:.3f}, then {settled_right:.3f}; "
                f"good tasks dropped {good:.3f}, then {settled_good:.3f}",
                flush=True,
            )


def verdicts(pruning: Pruning, hanging: set[str]) -> tuple[float, float]:
    """The shares of pairs, weak and good tasks with a right verdict, and of good tasks that are dropped."""
    dropped = {step.task for step in pruning.log}
    right = lost = 0
    for ability in ABILITIES:
        pair = {f"{ability} g0", f"{ability} copy"}
        good = {f"{ability} g{number}" for number in range(1, 6)}
        right += len(pair & dropped) == 1 and not pair & hanging
        right += f"{ability} weak" in dropped - hanging
        right += len(good - dropped - hanging)
        lost += len(good & dropped - hanging)
    return right / (7 * len(ABILITIES)), lost / (5 * len(ABILITIES))


def families(draws: int = 400, resamples: int = 400, sizes: Sequence[int] = (60, 165, 500)) -> None:
    """Models of families of 1 to 9, whose scores are by half those of the family; named like Aa-7B."""
    names, r = gold_correlations()
    spec = FactorSpec(abilities=dict(GOLD_ABILITIES), anchor="Human")
    true = fit_correlations(r, bind(spec, names))
    assert true is not None
    root = np.linalg.cholesky(r).T
    pairs = np.triu_indices(4, 1)
    print(f"families, {draws} draws of {resamples} resamples, % of intervals that hold the true value:")
    for models in sizes:
        held = np.zeros((2, 2))
        worth = 0.0
        for draw in range(draws):
            rng = np.random.default_rng(draw)
            owners = np.repeat(np.arange(models), rng.integers(1, 10, models))[:models]
            drawn = rng.standard_normal((models, len(names)))[owners] + rng.standard_normal((models, len(names)))
            labels = tuple(
                f"{chr(97 + owner // 26)}{chr(97 + owner % 26)}-{number}B" for number, owner in enumerate(owners)
            )
            scores = drawn / np.sqrt(2) @ root
            alone = ScoreTable(source="drawn", models=labels, tasks=names, scores=scores)
            grouped = replace(alone, families=guess_families(labels))
            worth += effective_models(scores[:, :-1], grouped.groups) / draws
            for kind, table in enumerate((alone, grouped)):
                result = fit_factors(table, spec, seed=draw, draws=resamples, progress=False)
                loadings, htmt = result.loadings, result.htmt
                inside = (loadings.low <= true.fit.loadings) & (true.fit.loadings <= loadings.high)
                held[kind, 0] += inside[:11].mean() / draws
                held[kind, 1] += ((htmt.low <= true.quality.htmt) & (true.quality.htmt <= htmt.high))[
                    pairs
                ].mean() / draws
        print(
            f"  {models} models, worth {worth:.0f}: loadings {held[0, 0]:.3f}, with guessed families {held[1, 0]:.3f}; "
            f"HTMT {held[0, 1]:.3f}, with guessed families {held[1, 1]:.3f}",
            flush=True,
        )


FIGURES: Mapping[str, tuple[str, Any]] = {  # the name of the figure, and the places of it that count
    "Loading": ("loadings", slice(11)),
    "Weight": ("task_weights", slice(11)),
    "Effect": ("paths", (slice(3), 3)),
    "VIF": ("vif", slice(11)),
    "alpha": ("alpha", slice(3)),
    "rho_A": ("rho_a", slice(3)),
    "CR": ("cr", slice(3)),
    "AVE": ("ave", slice(3)),
    "HTMT": ("htmt", np.triu_indices(4, 1)),
    "HTMT2": ("htmt2", np.triu_indices(4, 1)),
    "R2": ("r2", 3),
    "SRMR": ("srmr", ()),
    "D_div": ("d_div", ()),
    "TC": ("tc", ()),
    "D_valid": ("d_valid", ()),
}


def drawn_table(names: Sequence[str], r: np.ndarray, models: int, seed: int) -> ScoreTable:
    scores = np.random.default_rng(seed).standard_normal((models, len(r))) @ np.linalg.cholesky(r).T
    return ScoreTable(
        source="drawn", models=tuple(f"m{number}" for number in range(models)), tasks=tuple(names), scores=scores
    )


def coverage(draws: int = 400, resamples: int = 400) -> None:
    names, r = gold_correlations()
    spec = FactorSpec(abilities=dict(GOLD_ABILITIES), anchor="Human")
    true = fit_correlations(r, bind(spec, names))
    assert true is not None
    print(f"coverage, {draws} draws of {resamples} resamples, % of intervals that hold the true value:")
    for models in COVERAGE_MODELS:
        held: dict[str, list[float]] = {name: [] for name in FIGURES}
        for draw in range(draws):
            result = fit_factors(drawn_table(names, r, models, draw), spec, seed=draw, draws=resamples)
            for name, (field, places) in FIGURES.items():
                found = getattr(result, field)
                of = true.quality if hasattr(true.quality, field) else true.fit
                value = np.asarray(getattr(of, field.removeprefix("task_")))[places]
                low, high = (np.asarray(ends)[places] for ends in (found.low, found.high))
                inside = ((low <= value) & (value <= high))[np.isfinite(low)]
                held[name] += [float(inside.mean())] if inside.size else []
        print(f"  {models} models: " + ", ".join(f"{name} {np.mean(each):.3f}" for name, each in held.items()))


def overall(draws: int = 200, resamples: int = 200) -> None:
    loadings = np.array([0.85, 0.8, 0.75, 0.7, 0.8, 0.85, 0.8, 0.85, 0.8, 0.75, 0.8, 1])
    abilities = np.array([[1, 0.6, 0.7, 0.65], [0.6, 1, 0.6, 0.55], [0.7, 0.6, 1, 0.7], [0.65, 0.55, 0.7, 1]])
    own = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 3])
    right = loadings[:, None] * loadings * abilities[own][:, own]
    np.fill_diagonal(right, 1)
    wrong = right.copy()
    for i, j in ((0, 3), (1, 6), (7, 8)):
        wrong[[i, j], [j, i]] += 0.2
    names, _ = gold_correlations()
    bound = bind(FactorSpec(abilities=dict(GOLD_ABILITIES), anchor="Human"), names)
    for models in COVERAGE_MODELS:
        for label, r in (("a correct model", right), ("three residual correlations of .2", wrong)):
            tests = []
            for draw in range(draws):
                scores = drawn_table(names, r, models, draw).scores
                weights = model_weights(models, seed=draw, draws=resamples)
                tests += [overall_fit(scores, bound.structure, "path", weights)]
            rejected = [test.is_rejected for test in tests if test]
            print(f"overall fit, {models} models, {label}: {len(rejected)} tests, {sum(rejected)} rejected", flush=True)


def votes(draws: int = 400) -> None:
    for models, number, ties in ((5, 60, 0.0), (5, 60, 0.5), (5, 300, 0.0), (20, 1000, 0.0), (20, 1000, 0.4)):
        rng = np.random.default_rng(1)
        first, second = np.triu_indices(models, 1)
        inside: list[bool] = []
        for _ in range(draws):
            true = 0.8 * rng.standard_normal(models)
            true -= true.mean()
            pairs = np.bincount(rng.integers(0, len(first), number), minlength=len(first))
            win = 1 / (1 + np.exp(true[second] - true[first]))
            tie = 2 * ties * np.minimum(win, 1 - win)
            outcomes = rng.multinomial(pairs, np.column_stack([win - tie / 2, tie, 1 - win - tie / 2]))
            won, tied = np.zeros((models, models)), np.zeros((models, models))
            won[first, second], won[second, first] = outcomes[:, 0], outcomes[:, 2]
            tied[first, second] = tied[second, first] = outcomes[:, 1]
            if separated_groups(won, tied).max():
                continue
            _, low, high = fit_strengths(won, tied)
            inside += ((low <= true) & (true <= high)).tolist()
        tables = len(inside) // models
        print(
            f"votes, {models} models, {number} votes, share of ties {ties}: {tables} tables, {np.mean(inside):.3f} held"
        )


PARTS: Mapping[str, Callable[[], None]] = {
    "prune": pruned,
    "collapsed": collapsed,
    "families": families,
    "coverage": coverage,
    "overall": overall,
    "votes": votes,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
