"""Measure what docs/analysis.md says of `vcrgen analyze`: what pruning drops, how good intervals are, what noise gives.

    python scripts/measure_analysis.py            # all of it, some minutes
    python scripts/measure_analysis.py prune      # or one of prune, coverage, noise

prune: 190 models, three abilities with six good tasks (true loading .85), a copy of one (noise .1) and a weak task (.2)
each. coverage: scores of 165 models from the golden correlations. noise: 50 models on the eleven tasks of GOLD, and a
human score that has nothing to do with them. `tests/analysis` has a smaller run of each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import numpy as np

from vcrgen.analysis.anchor import anchor_agreement
from vcrgen.analysis.correlations import correlation_matrix
from vcrgen.analysis.examples import GOLD_ABILITIES, gold_correlations
from vcrgen.analysis.factors import fit_correlations, fit_factors
from vcrgen.analysis.pruning import prune
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import FactorSpec, bind

ABILITIES = {
    f"A{k}": tuple(f"A{k} {name}" for name in ("g0", "g1", "g2", "g3", "g4", "g5", "copy", "weak")) for k in range(3)
}
TASKS = (*(task for tasks in ABILITIES.values() for task in tasks), "human")


def scores_with_copies(seed: int, models: int = 190) -> np.ndarray:
    rng = np.random.default_rng(seed)
    abilities = np.sqrt(0.6) * rng.standard_normal((models, 1)) + np.sqrt(0.4) * rng.standard_normal((models, 3))
    columns = []
    for ability in abilities.T:
        good = [0.85 * ability + np.sqrt(1 - 0.85**2) * rng.standard_normal(models) for _ in range(6)]
        copy = good[0] + 0.1 * rng.standard_normal(models)
        columns += [*good, copy, 0.2 * ability + np.sqrt(1 - 0.2**2) * rng.standard_normal(models)]
    return np.column_stack([*columns, abilities.sum(axis=1) + 1.5 * rng.standard_normal(models)])


def pruned(seeds: int = 100) -> None:
    bound = bind(FactorSpec(abilities=ABILITIES, anchor="human"), TASKS)
    one_of_pair = weak = good = 0
    for seed in range(seeds):
        found = prune(correlation_matrix(scores_with_copies(seed)), bound, logged=False)
        assert found is not None
        dropped = {step.task for step in found.log}
        for ability in ABILITIES:
            one_of_pair += len({f"{ability} g0", f"{ability} copy"} & dropped) == 1
            weak += f"{ability} weak" in dropped
            good += len({f"{ability} g{number}" for number in range(1, 6)} & dropped)
    print(f"prune, {seeds} seeds: {one_of_pair} of {3 * seeds} pairs lose exactly one,")
    print(f"  {weak} of {3 * seeds} weak tasks go, {good} of {15 * seeds} good tasks without a copy go")


def coverage(draws: int = 500) -> None:
    names, r = gold_correlations()
    spec = FactorSpec(abilities=dict(GOLD_ABILITIES), anchor="Human")
    root = np.linalg.cholesky(r).T
    true = fit_correlations(r[None], bind(spec, names)).fit.loadings[0, :11]
    held = np.zeros(11)
    for draw in range(draws):
        scores = np.random.default_rng(draw).standard_normal((165, 12)) @ root
        models = tuple(f"m{number}" for number in range(165))
        table = ScoreTable(source="drawn", models=models, tasks=names, scores=scores)
        found = fit_factors(table, spec, seed=draw).estimates(lambda of: of.fit.loadings)[:11]
        held += [each.low <= value <= each.high for each, value in zip(found, true, strict=True)]
    share = 100 * held / draws
    print(f"coverage, {draws} draws: {share.mean():.1f} % on average, {share.min():.1f} to {share.max():.1f} % by task")


def noise(draws: int = 400) -> None:
    from scipy.stats import kstest

    names, r = gold_correlations()
    bound = bind(FactorSpec(abilities=dict(GOLD_ABILITIES), anchor="Human"), names)
    root = np.linalg.cholesky(r[:11, :11]).T
    found = []
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        scores = np.column_stack([rng.standard_normal((50, 11)) @ root, rng.standard_normal(50)])
        found.append(anchor_agreement(scores, bound, seed=draw))
    uniform = kstest([each.p for each in found], "uniform").pvalue
    print(f"noise, {draws} draws: r in sample {np.mean([each.in_sample for each in found]):.3f},")
    print(f"  cross-fitted {np.mean([each.cross_fitted for each in found]):.3f}; KS test of uniform p: {uniform:.3f}")


PARTS: Mapping[str, Callable[[], None]] = {"prune": pruned, "coverage": coverage, "noise": noise}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
