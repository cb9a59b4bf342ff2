"""Measure `vcrgen analyze`, as ratios to what NumPy takes on the same machine.

    python scripts/bench_analysis.py            # or the names of some parts: map, bootstrap, prune

map: `vcrgen analyze map` of 50 models on twelve tasks, and of 1,000 on a hundred, each with 500 resamples. bootstrap: a
thousand resamples of 165 models on eleven tasks and a human score, from the drawing to all loadings and effects,
against a thousand calls of `np.corrcoef`. prune: 84 tasks of six abilities, 190 models, 200 resamples, all that the
report says.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

from vcrgen.analysis.correlations import resampled_correlations
from vcrgen.analysis.examples import EXAMPLES
from vcrgen.analysis.pls import fit_pls
from vcrgen.analysis.prune_evaluation import evaluate_pruning
from vcrgen.analysis.redundancy import make_map
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import FactorSpec, bind
from vcrgen.stats.bootstrap import model_weights


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The least processor time of several runs."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def map_tasks() -> None:
    for models, tasks, most in ((50, 12, 0.5), (1000, 100, 5)):
        rng = np.random.default_rng(0)
        shared = rng.standard_normal((models, 3))[:, rng.integers(0, 3, tasks)]
        table = ScoreTable(
            source="made",
            models=tuple(f"m{number}" for number in range(models)),
            tasks=tuple(f"t{number}" for number in range(tasks)),
            scores=shared + rng.standard_normal(shared.shape),
        )
        took = seconds(lambda table=table: make_map(table, draws=500), 3)  # type: ignore[misc]
        print(f"map: {models:,} x {tasks}, 500 resamples: {took:.2f} s of the processor (at most {most})")


def bootstrap() -> None:
    example = EXAMPLES["gold-made"]
    table = example.load()
    assert example.spec is not None
    structure = bind(example.spec(), table.tasks).structure

    def ours() -> None:
        for r in resampled_correlations(table.scores, model_weights(165, seed=0, draws=1000)):
            fit_pls(r, structure)

    def numpys() -> None:
        for _ in range(1000):
            np.corrcoef(table.scores.T)

    mine, theirs = seconds(ours), seconds(numpys)
    print(f"bootstrap: {mine:.3f} s, 1,000 calls of np.corrcoef {theirs:.3f} s, ratio {mine / theirs:.2f} (at most 10)")


def prune() -> None:
    rng = np.random.default_rng(0)
    abilities = 0.7 * rng.standard_normal((190, 1)) + rng.standard_normal((190, 6))
    scores = abilities.repeat(14, axis=1) * rng.uniform(0.2, 2.5, 84) + rng.standard_normal((190, 84))
    tasks = tuple(f"t{number:02}" for number in range(84))
    table = ScoreTable(
        source="made",
        models=tuple(f"m{number}" for number in range(190)),
        tasks=(*tasks, "human"),
        scores=np.column_stack([scores, abilities.sum(axis=1) + rng.standard_normal(190)]),
    )
    named = {f"A{k}": tasks[14 * k : 14 * k + 14] for k in range(6)}
    start = time.process_time()
    found = evaluate_pruning(table, FactorSpec(abilities=named, anchor="human"), repeats=200)
    took = time.process_time() - start
    print(f"prune: {took:.1f} s of the processor (at most 90); {len(found.pruning.kept)} of 84 tasks kept")


PARTS: Mapping[str, Callable[[], None]] = {
    "map": map_tasks,
    "bootstrap": bootstrap,
    "prune": prune,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
