"""A pruning with what it is worth: the ranking it keeps, random sets beside it, resamples, other limits, people.

Each question has its own figures. Does the shorter benchmark rank models as the long one? Would as many tasks at random
do so as well? Would other models have led to the same tasks? What if the limits were others? And does the shorter one
agree more with people, judged on models that had no part in the choice?
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import product

import numpy as np

from vcrgen.analysis.correlations import correlation_matrix, pearson, resampled_correlations, standardise
from vcrgen.analysis.costly_tasks import CostlyTasks, costly_tasks
from vcrgen.analysis.factors import (
    FEWEST_MODELS,
    FactorFit,
    fit_correlations,
    overall_weights,
    require_fit,
    split_halves,
)
from vcrgen.analysis.families import effective_models
from vcrgen.analysis.options import PruneOptions
from vcrgen.analysis.page_command import page_command
from vcrgen.analysis.pls import fit_pls
from vcrgen.analysis.prune_influence import PruneInfluence, prune_influence, prune_replicate
from vcrgen.analysis.pruning import Pruning, prune
from vcrgen.analysis.rank_correlations import RankCorrelations, rank_correlations
from vcrgen.analysis.rank_preservation import RankPreservation, rank_preservation
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.signs import reversed_tasks
from vcrgen.analysis.spec import BoundSpec, FactorLimits, FactorSpec, bind, inputs_of
from vcrgen.core.errors import AnalysisError
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener, counted
from vcrgen.core.rng import rng_for, shuffled
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import Table, TableCell, finite_percent
from vcrgen.stats.arrays import Bits, Floats
from vcrgen.stats.bootstrap import model_weights

MOST_MODELS = 1000  # of which all pairs are compared for every random set
RANDOM_SETS = 1000
SWEEP = ((3.0, 5.0, 7.0), (0.70, 0.75, 0.80))  # limits of VIF and of loadings


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdSweepRow:
    """Result of a pruning with other limits."""

    vif: float
    loading: float
    kept: tuple[str, ...] | None  # None where some fit has no solution
    figures: FactorFit | None
    spearman: float  # of the ranking with that of all tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanGain:
    """Agreement with people (Pearson) of all tasks and of the kept ones, on models that had no part in the pruning."""

    names: tuple[str, ...]  # what the scores are: the plain mean, the weighted overall
    all_tasks: tuple[float, ...]  # of the model fitted to the same models, cross-fitted
    kept_tasks: tuple[float, ...]
    in_sample: tuple[float, ...]  # of the kept tasks, on the models by which they were chosen
    halves: int  # halves of the models for which there was a solution
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PruneEvaluation(NotebookResult):
    """A pruning and everything that is said of it.

    ``to_pandas()`` has a row for each task. Its columns are ``ability``, ``task``, ``is_kept``, ``frequency`` (share of
    resamples that keep it), and of a task that was dropped ``round``, ``reason``, ``vif`` and ``loading``.
    """

    table: ScoreTable
    bound: BoundSpec
    pruning: Pruning
    kept: BoundSpec
    before: FactorFit  # of all tasks
    after: FactorFit  # of the kept ones
    ranking: RankPreservation  # one set: the kept tasks
    rankings: tuple[RankCorrelations, ...]  # with the ranking of all tasks and that of the anchor
    random: RankPreservation  # as many tasks of each ability at random
    random_fits: tuple[FactorFit | None, ...]  # of the random sets; None without a solution
    frequency: dict[str, float]  # of each task the share of resamples that keep it
    jaccard: float  # median over resamples: how much of the kept sets is common
    resamples: int
    failed: int
    influence: PruneInfluence
    costly: CostlyTasks | None  # tasks for which models were left out
    effective: float  # how many independent models the models are worth
    reversed_tasks: tuple[str, ...]  # that rank models the other way round than most
    sweep: tuple[ThresholdSweepRow, ...]
    anchor: HumanGain | None
    next_command: Sequence[str] = ()  # writes the page, the kept tasks and the log

    @property
    def headline(self) -> str:
        """How many tasks are kept."""
        tasks = sum(map(len, self.bound.abilities.values()))
        return f"{self.table.source}: {len(self.pruning.kept)} of {pluralize(tasks, 'task')} kept"

    @property
    def summary_table(self) -> Table:
        """Each task, whether it is kept, and why not."""
        rows: list[list[TableCell]] = [
            [
                row["ability"],
                row["task"],
                "kept" if row["is_kept"] else f"dropped ({row['reason']})",
                finite_percent(row["frequency"]),
            ]
            for row in self.long_rows()
        ]
        return Table(title="Tasks", heads=("Ability", "Task", "Here", "Resamples, %"), labels=3, rows=rows)

    def long_rows(self) -> Iterator[LongRow]:
        """Yield each task."""
        dropped = {row.task: row for row in self.pruning.log}
        for ability, tasks in self.bound.abilities.items():
            for task in tasks:
                row = dropped.get(task)
                yield {
                    "ability": ability,
                    "task": task,
                    "is_kept": task in self.pruning.kept,
                    "frequency": self.frequency[task],
                    **{name: getattr(row, name, None) for name in ("round", "reason", "vif", "loading")},
                }


def evaluate_pruning(
    table: ScoreTable,
    spec: FactorSpec,
    *,
    batch: bool = False,
    seed: int = 0,
    repeats: int = 200,
    progress: bool | ProgressListener = True,
) -> PruneEvaluation:
    """Prune a benchmark, and find out what the pruning is worth.

    Args:
        table: The scores; models that lack some task of the specification are left out.
        spec: The abilities, the anchor, the limits and the floor.
        batch: As in `prune`.
        repeats: How many resamples of the models are pruned as well.
        progress: Show the progress on the standard error or in a notebook; or who is told of it.

    Raises:
        AnalysisError: The specification cannot be fitted to the scores.
    """
    from vcrgen.core.console_progress import open_progress  # which imports rich

    bound = bind(spec, table.tasks)
    scored = table.select_tasks(bound.tasks)
    costly, used = costly_tasks(scored, spec.anchor), scored.complete_cases()
    if costly is not None and len(used.models) < FEWEST_MODELS:
        raise AnalysisError(f"{table.source}: {FEWEST_MODELS} models with all scores are needed. {costly.sentence}")
    require_fit(used, bound)
    if len(used.models) > MOST_MODELS:
        raise AnalysisError(
            f"{table.source}: {len(used.models):,} models; at most {MOST_MODELS:,} are compared in pairs."
        )
    correlations = correlation_matrix(used.scores)
    pruning, before = prune(correlations, bound, batch=batch), fit_correlations(correlations, bound)
    pruned = bound.keep(pruning.kept) if pruning else bound
    after = fit_correlations(_part(correlations, bound, pruning.kept), pruned) if pruning else None
    if pruning is None or before is None or after is None:
        raise AnalysisError(
            f"No solution was found for {used.source}: two abilities may say the same; join their tasks."
        )
    tasks = [task for task in bound.tasks if task != spec.anchor]
    unit = standardise(used.select_tasks(tasks).scores)
    sets = _random_sets(bound, pruned, seed)
    weights = model_weights(len(used.models), seed=seed, draws=repeats, groups=used.groups)
    with open_progress(progress, doing="pruning", unit="resamples", kept="pruned") as listener:
        replicates = [
            prune_replicate(r, bound, batch=batch)
            for r in counted(resampled_correlations(used.scores, weights), repeats, listener)
        ]
    kept_sets = [replicate.kept for replicate in replicates if replicate is not None]
    rows = [bound.tasks.index(task) for task in tasks]
    values = {"batch": batch, "seed": seed, "resamples": repeats}
    return PruneEvaluation(
        table=used,
        bound=bound,
        pruning=pruning,
        kept=pruned,
        before=before,
        after=after,
        ranking=rank_preservation(unit, _indicators(tasks, [pruning.kept])),
        rankings=rank_correlations(
            unit.mean(axis=1),
            unit[:, [task in pruning.kept for task in tasks]].mean(axis=1),
            used.scores[:, -1] if spec.anchor is not None else None,
            seed=seed,
            groups=used.groups,
        ),
        random=rank_preservation(unit, _indicators(tasks, sets)),
        random_fits=tuple(fit_correlations(_part(correlations, bound, names), pruned) for names in sets),
        frequency={
            task: _mean([task in replicate.kept for replicate in replicates if replicate and task in replicate.tasks])
            for task in tasks
        },
        jaccard=float(np.median([_jaccard(set(pruning.kept), names) for names in kept_sets] or [np.nan])),
        resamples=repeats,
        failed=repeats - len(kept_sets),
        influence=prune_influence(used, bound, pruning, batch=batch),
        costly=costly,
        effective=effective_models(used.scores[:, rows], used.groups),
        reversed_tasks=tuple(bound.tasks[row] for row in reversed_tasks(correlations, len(used.models), rows)),
        sweep=tuple(_sweep(correlations, bound, unit, tasks, batch)),
        anchor=_people(used, bound, seed=seed, batch=batch) if spec.anchor is not None else None,
        next_command=page_command("prune", inputs_of(table, spec), PruneOptions, values, out="pruned"),
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _part(correlations: Floats, bound: BoundSpec, tasks: Sequence[str]) -> Floats:
    """The correlations of some tasks in the order of the specification, and of the anchor if there is one."""
    rows = [number for number, task in enumerate(bound.tasks) if task in set(tasks) or task == bound.spec.anchor]
    return correlations[np.ix_(rows, rows)]


def _random_sets(bound: BoundSpec, pruned: BoundSpec, seed: int) -> list[tuple[str, ...]]:
    """Sets with as many tasks of each ability as the pruning left it."""
    sets = []
    for number in range(RANDOM_SETS):
        rng = rng_for(seed, "random tasks", str(number))
        names: list[str] = []
        for ability, tasks in bound.abilities.items():
            names += shuffled(rng, tasks)[: len(pruned.abilities[ability])]
        sets.append(tuple(names))
    return sets


def _indicators(tasks: Sequence[str], sets: Sequence[Sequence[str]]) -> Floats:
    """Sets x tasks: 1 where a task is in the set."""
    return np.array([[float(task in names) for task in tasks] for names in map(set, sets)])


def _jaccard(a: Set[str], b: Set[str]) -> float:
    return len(a & b) / len(a | b)


def _sweep(
    correlations: Floats, bound: BoundSpec, unit: Floats, tasks: Sequence[str], batch: bool
) -> list[ThresholdSweepRow]:
    limits = bound.spec.limits
    rows = []
    for vif, loading in product(sorted({*SWEEP[0], limits.vif}), sorted({*SWEEP[1], limits.loading})):
        other = FactorLimits(**limits.model_dump() | {"vif": vif, "loading": loading})
        spec = bound.spec.model_copy(update={"limits": other})
        swept = BoundSpec(spec, bound.tasks, bound.constructs, bound.structure)
        pruning = prune(correlations, swept, batch=batch, logged=False)
        if pruning is None:
            rows.append(ThresholdSweepRow(vif=vif, loading=loading, kept=None, figures=None, spearman=float("nan")))
            continue
        rows.append(
            ThresholdSweepRow(
                vif=vif,
                loading=loading,
                kept=pruning.kept,
                figures=fit_correlations(_part(correlations, bound, pruning.kept), bound.keep(pruning.kept)),
                spearman=float(rank_preservation(unit, _indicators(tasks, [pruning.kept])).spearman[0]),
            )
        )
    return rows


def _people(table: ScoreTable, bound: BoundSpec, *, seed: int, batch: bool) -> HumanGain:
    halves = split_halves(len(table.models), seed=seed, groups=table.groups)
    agreements = [_agreements(table, bound, ~half, half, batch=batch) for half in halves]
    solved = [agreement for agreement in agreements if agreement is not None]
    everyone = np.ones(len(table.models), bool)
    in_sample = _agreements(table, bound, everyone, everyone, batch=batch)
    means = np.mean(solved, axis=0) if solved else np.full((2, 2), np.nan)
    return HumanGain(
        names=("Plain mean", "Weighted overall"),
        all_tasks=tuple(means[0].tolist()),
        kept_tasks=tuple(means[1].tolist()),
        in_sample=(float("nan"),) * 2 if in_sample is None else tuple(in_sample[1].tolist()),
        halves=len(solved),
        failed=len(halves) - len(solved),
    )


def _agreements(table: ScoreTable, bound: BoundSpec, choosing: Bits, judging: Bits, *, batch: bool) -> Floats | None:
    """Agreement of all tasks (first row) and of those that some models choose, by plain mean and weighted overall."""
    chosen_by, judged = table.scores[choosing], table.scores[judging]
    if min(len(chosen_by), len(judged)) < 3 or (np.ptp(chosen_by, axis=0) == 0).any():
        return None
    correlations = correlation_matrix(chosen_by)
    pruning = prune(correlations, bound, batch=batch, logged=False)
    if pruning is None:
        return None
    unit, human = standardise(judged, chosen_by), judged[:, -1]
    rows = []
    for part in (bound, bound.keep(pruning.kept)):
        columns = [bound.tasks.index(task) for task in part.tasks[:-1]]
        fit = fit_pls(_part(correlations, bound, part.tasks[:-1]), part.structure, bound.spec.scheme)
        if fit is None:
            return None
        weights = overall_weights(fit, part.structure)
        rows.append([pearson(unit[:, columns].mean(axis=1), human), pearson(unit[:, columns] @ weights, human)])
    agreements = np.array(rows)
    return agreements if np.isfinite(agreements).all() else None
