"""How fast `vcrgen analyze` is, as ratios to what NumPy takes on the same machine.

    python scripts/bench_analysis.py            # or the names of some parts: bootstrap, prune

bootstrap: a thousand resamples of 165 models on eleven tasks and a human score, from the drawing to all loadings and
effects, against a thousand calls of `np.corrcoef`. prune: 84 tasks of six abilities, 190 models, 200 resamples, all
that the report says.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

from vcrgen.analysis.correlations import resampled, resamples
from vcrgen.analysis.examples import EXAMPLES
from vcrgen.analysis.pls import fit_pls
from vcrgen.analysis.refinement import refine
from vcrgen.analysis.spec import FactorSpec, bind
from vcrgen.analysis.tables import ScoreTable


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The least processor time of several runs."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def bootstrap() -> None:
    example = EXAMPLES["gold-made"]
    table = example.load()
    assert example.spec is not None
    structure = bind(example.spec(), table.tasks).structure

    def ours() -> None:
        for part in resampled(table.scores, resamples(165, seed=0, draws=1000)):
            fit_pls(part, structure)

    def numpys() -> None:
        for _ in range(1000):
            np.corrcoef(table.scores.T)

    mine, theirs = seconds(ours), seconds(numpys)
    print(
        f"bootstrap: {mine:.3f} s, 1,000 calls of np.corrcoef {theirs:.3f} s, ratio {mine / theirs:.2f} (at most 1.5)"
    )


def prune() -> None:
    rng = np.random.default_rng(0)
    abilities = 0.7 * rng.standard_normal((190, 1)) + rng.standard_normal((190, 6))
    scores = abilities.repeat(14, axis=1) * rng.uniform(0.2, 2.5, 84) + rng.standard_normal((190, 84))
    tasks = tuple(f"t{number:02}" for number in range(84))
    table = ScoreTable(
        source="made", models=tuple(f"m{number}" for number in range(190)), tasks=(*tasks, "human"),
        scores=np.column_stack([scores, abilities.sum(axis=1) + rng.standard_normal(190)]),
    )  # fmt: skip
    named = {f"A{k}": tasks[14 * k : 14 * k + 14] for k in range(6)}
    start = time.perf_counter()
    found = refine(table, FactorSpec(abilities=named, anchor="human"), repeats=200)
    print(f"prune: {time.perf_counter() - start:.1f} s (at most 90); {len(found.pruning.kept)} of 84 tasks kept")


PARTS: Mapping[str, Callable[[], None]] = {"bootstrap": bootstrap, "prune": prune}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
