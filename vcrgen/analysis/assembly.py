"""A benchmark from a pool of tasks, as GOLD was made: pruned by a factor model, its items as one set, a final fit."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vcrgen.analysis.factors import FactorEstimate, FactorResult, fit_factors
from vcrgen.analysis.options import PruneOptions
from vcrgen.analysis.page_command import page_command
from vcrgen.analysis.pool import Pool
from vcrgen.analysis.prune_evaluation import PruneEvaluation, evaluate_pruning
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import FactorSpec, inputs_of
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener
from vcrgen.report.forms import as_csv
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import Table, TableCell, finite_percent

SCHEMA = "vcrgen-assembled-1"
DRAWS = 2000  # of the final fit
_DIGITS = 6  # of figures of a manifest: processors sum differently


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AssembledBenchmark(NotebookResult):
    """A benchmark made of the kept tasks of a pool.

    ``to_pandas()`` has a row for each task of the pool. Its columns are ``ability``, ``task``, ``benchmark``, ``items``
    (how many), and those of `PruneEvaluation` from ``is_kept`` on.
    """

    pool: Pool
    evaluation: PruneEvaluation
    final: FactorResult  # of the kept tasks, on the same models
    seed: int
    next_command: Sequence[str] = ()  # writes the set, its manifest and the report

    @property
    def items(self) -> int:
        """How many items the kept tasks have."""
        return sum(len(self.pool.tasks[task].items) for task in self.evaluation.pruning.kept)

    @property
    def headline(self) -> str:
        """How much of the pool is in it."""
        kept, tasks = len(self.evaluation.pruning.kept), len(self.pool.tasks)
        return f"{self.pool.source}: {kept} of {pluralize(tasks, 'task')}, {pluralize(self.items, 'item')}"

    @property
    def summary_table(self) -> Table:
        """Each task of the pool, whether it is in the set, and why not."""
        rows: list[list[TableCell]] = [
            [
                row["ability"],
                row["task"],
                row["benchmark"],
                row["items"],
                "kept" if row["is_kept"] else f"dropped ({row['reason']})",
                finite_percent(row["frequency"]),
            ]
            for row in self.long_rows()
        ]
        heads = ("Ability", "Task", "Benchmark", "Items", "Here", "Resamples that keep it, %")
        return Table(title="Tasks of the pool", heads=heads, labels=3, rows=rows)

    def long_rows(self) -> Iterator[LongRow]:
        """Yield each task."""
        for row in self.evaluation.long_rows():
            task = self.pool.tasks[row["task"]]
            first = {"ability": row["ability"], "task": row["task"]}
            yield {**first, "benchmark": task.benchmark, "items": len(task.items), **row}


def assemble(
    table: ScoreTable,
    pool: Pool,
    spec: FactorSpec,
    *,
    batch: bool = False,
    seed: int = 0,
    repeats: int = 200,
    progress: bool | ProgressListener = True,
) -> AssembledBenchmark:
    """Prune a pool and fit the model of what stays.

    Args:
        table: Scores of models on every task of the pool.
        spec: That of the pool, with the anchor, limits and floor.
        batch: As in `vcrgen.analysis.pruning.prune`.
        repeats: How many resamples of the models are pruned as well.
        progress: Show the progress of the pruning on the standard error or in a notebook; or who is told of it.

    Raises:
        AnalysisError: The table lacks a task of the pool, or the specification cannot be fitted to the scores.
    """
    of_pool = spec.read_by()  # whose words are of this command: neither a pruning nor a fit has a pool
    evaluation = evaluate_pruning(table, of_pool, batch=batch, seed=seed, repeats=repeats, progress=progress)
    kept = of_pool.model_copy(update={"abilities": dict(evaluation.kept.abilities)})
    final = fit_factors(evaluation.table, kept, seed=seed, draws=DRAWS, progress=False)
    values = {"batch": batch, "seed": seed, "resamples": repeats}
    return AssembledBenchmark(
        pool=pool,
        evaluation=evaluation,
        final=final,
        seed=seed,
        next_command=page_command("assemble", inputs_of(table, spec), PruneOptions, values, out="set"),
    )


def items_csv(result: AssembledBenchmark) -> str:
    """The set as CSV: a line for each item of a kept task."""
    rows: list[list[TableCell]] = []
    for name in result.evaluation.pruning.kept:
        task = result.pool.tasks[name]
        rows += [[task.ability, task.benchmark, name, item] for item in task.items]
    return as_csv(Table(title="", heads=["ability", "benchmark", "task", "item"], labels=0, rows=rows))


def manifest(result: AssembledBenchmark, settings: str) -> str:
    """What the set is made of and by which figures, as JSON; ``settings`` is the line that makes it again."""
    evaluation, final = result.evaluation, result.final
    items = items_csv(result)
    spec = evaluation.bound.spec
    values: dict[str, Any] = {
        "schema": SCHEMA,
        "settings": settings,
        "pool": {"source": result.pool.source, "tasks": len(result.pool.tasks)},
        "scores": {"source": evaluation.table.source, "models": len(evaluation.table.models)},
        "anchor": spec.anchor,
        "limits": spec.limits.model_dump(mode="json"),
        "floor": spec.floor,
        "items": {
            "file": "items.csv",
            "number": result.items,
            "sha256": hashlib.sha256(items.encode()).hexdigest(),
        },
        "tasks": [_rounded(row) for row in result.long_rows()],
        "fit": {
            "models": len(final.table.models),
            "loadings": {
                task: _figures(final.loadings[number])
                for number, task in enumerate(final.bound.tasks)
                if task != spec.anchor
            },
            **{name: _figures(getattr(final, name)) for name in ("d_div", "tc", "d_valid", "metric_sum")},
        },
    }
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


def _figures(estimate: FactorEstimate) -> dict[str, float | None]:
    return _rounded(asdict(estimate))


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    """The same with rounded figures; None for what is no number."""
    return {
        name: (None if value != value else round(value, _DIGITS)) if isinstance(value, float) else value
        for name, value in values.items()
    }
