"""A pruning with what it is worth: the ranking it keeps, random sets beside it, resamples, other limits, people.

Each question has its own figures. Does the shorter benchmark rank models as the long one? Would as many tasks at random
do so as well? Would other models have led to the same tasks? What if the limits were others? And does the shorter one
agree more with people, judged on models that had no part in the choice?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.anchor import overall_weights, split_halves
from vcrgen.analysis.correlations import correlation_matrix, model_weights, resampled_correlations, standardise
from vcrgen.analysis.factors import FactorFit, fit_correlations, require_fit
from vcrgen.analysis.pls import fit_pls
from vcrgen.analysis.pruning import Pruning, prune
from vcrgen.analysis.rank_preservation import RankPreservation, rank_preservation
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import BoundSpec, FactorLimits, FactorSpec, bind
from vcrgen.core.errors import AnalysisError
from vcrgen.core.rng import rng_for, shuffled
from vcrgen.stats.arrays import Bits, Floats
from vcrgen.stats.ranking import pearson

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
    """Agreement with people (Pearson) of all tasks and of a choice, on models that had no part in the choice."""

    names: tuple[str, ...]  # what the scores are: the plain mean, the weighted overall
    all_tasks: tuple[float, ...]  # of the model fitted to the same models, cross-fitted
    chosen: tuple[float, ...]
    in_sample: tuple[float, ...]  # of the choice, on the models by which it was made
    halves: int  # halves of the models for which there was a solution
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneEvaluation:
    """A pruning and everything that is said of it."""

    table: ScoreTable
    bound: BoundSpec
    pruning: Pruning
    kept: BoundSpec
    before: FactorFit  # of all tasks
    after: FactorFit  # of the kept ones
    ranking: RankPreservation  # one set: the kept tasks
    random: RankPreservation  # as many tasks of each ability at random
    random_fits: tuple[FactorFit | None, ...]  # of the random sets; None without a solution
    frequency: dict[str, float]  # of each task the share of resamples that keep it
    jaccard: float  # median over resamples: how much of the kept sets is common
    resamples: int
    failed: int
    sweep: tuple[ThresholdSweepRow, ...]
    anchor: HumanGain | None


def evaluate_pruning(
    table: ScoreTable, spec: FactorSpec, *, batch: bool = False, seed: int = 0, repeats: int = 200
) -> PruneEvaluation:
    """Prune a benchmark, and find out what the pruning is worth.

    Args:
        table: The scores; models that lack some task of the specification are left out.
        spec: The abilities, the anchor, the limits and the floor.
        batch: As in `prune`.
        seed: Of all random choices.
        repeats: How many resamples of the models are pruned as well.

    Raises:
        AnalysisError: The specification cannot be fitted to the scores.
    """
    bound = bind(spec, table.tasks)
    used = table.select_tasks(bound.tasks).complete_cases()
    require_fit(used, bound)
    if len(used.models) > MOST_MODELS:
        raise AnalysisError(
            f"{table.source}: {len(used.models):,} models; at most {MOST_MODELS:,} are compared in pairs."
        )
    correlations = correlation_matrix(used.scores)
    pruning, before = prune(correlations, bound, batch=batch), fit_correlations(correlations, bound)
    kept = bound.keep(pruning.kept) if pruning else bound
    after = fit_correlations(_part(correlations, bound, pruning.kept), kept) if pruning else None
    if pruning is None or before is None or after is None:
        raise AnalysisError(
            f"No solution was found for {used.source}: two abilities may say the same; join their tasks."
        )
    tasks = [task for task in bound.tasks if task != spec.anchor]
    unit = standardise(used.select_tasks(tasks).scores)
    sets = _random_sets(bound, kept, seed)
    weights = model_weights(len(used.models), seed=seed, draws=repeats, groups=used.groups)
    drawn = [
        prune(r, bound, batch=batch, logged=False)
        for part in resampled_correlations(used.scores, weights)
        for r in part
    ]
    found = [set(each.kept) for each in drawn if each is not None]
    return PruneEvaluation(
        table=used,
        bound=bound,
        pruning=pruning,
        kept=kept,
        before=before,
        after=after,
        ranking=rank_preservation(unit, _indicators(tasks, [pruning.kept])),
        random=rank_preservation(unit, _indicators(tasks, sets)),
        random_fits=tuple(fit_correlations(_part(correlations, bound, chosen), kept) for chosen in sets),
        frequency={task: float(np.mean([task in each for each in found])) if found else float("nan") for task in tasks},
        jaccard=float(np.median([_jaccard(set(pruning.kept), each) for each in found])) if found else float("nan"),
        resamples=repeats,
        failed=repeats - len(found),
        sweep=tuple(_sweep(correlations, bound, unit, tasks, batch)),
        anchor=_people(used, bound, seed=seed, batch=batch) if spec.anchor is not None else None,
    )


def _part(correlations: Floats, bound: BoundSpec, chosen: Sequence[str]) -> Floats:
    """The correlations of some tasks in the order of the specification, and of the anchor if there is one."""
    rows = [number for number, task in enumerate(bound.tasks) if task in set(chosen) or task == bound.spec.anchor]
    return correlations[np.ix_(rows, rows)]


def _random_sets(bound: BoundSpec, kept: BoundSpec, seed: int) -> list[tuple[str, ...]]:
    found = []
    for number in range(RANDOM_SETS):
        rng = rng_for(seed, "random tasks", str(number))
        chosen: list[str] = []
        for ability, tasks in bound.abilities.items():
            chosen += shuffled(rng, tasks)[: len(kept.abilities[ability])]
        found.append(tuple(chosen))
    return found


def _indicators(tasks: Sequence[str], sets: Sequence[Sequence[str]]) -> Floats:
    chosen = [set(each) for each in sets]
    return np.array([[float(task in each) for task in tasks] for each in chosen])


def _jaccard(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b)


def _sweep(
    correlations: Floats, bound: BoundSpec, unit: Floats, tasks: Sequence[str], batch: bool
) -> list[ThresholdSweepRow]:
    limits = bound.spec.limits
    found = []
    for vif in sorted({*SWEEP[0], limits.vif}):
        for loading in sorted({*SWEEP[1], limits.loading}):
            other = FactorLimits(**limits.model_dump() | {"vif": vif, "loading": loading})
            spec = bound.spec.model_copy(update={"limits": other})
            swept = BoundSpec(spec, bound.tasks, bound.constructs, bound.structure)
            pruning = prune(correlations, swept, batch=batch, logged=False)
            if pruning is None:
                found.append(
                    ThresholdSweepRow(vif=vif, loading=loading, kept=None, figures=None, spearman=float("nan"))
                )
                continue
            figures = fit_correlations(_part(correlations, bound, pruning.kept), bound.keep(pruning.kept))
            ranking = rank_preservation(unit, _indicators(tasks, [pruning.kept]))
            found.append(
                ThresholdSweepRow(
                    vif=vif, loading=loading, kept=pruning.kept, figures=figures, spearman=float(ranking.spearman[0])
                )
            )
    return found


def _people(table: ScoreTable, bound: BoundSpec, *, seed: int, batch: bool) -> HumanGain:
    everyone = np.ones(len(table.models), bool)
    rows = []
    halves = split_halves(len(table.models), seed=seed, groups=table.groups)
    for half in halves:
        found = _judged(table, bound, ~half, half, batch=batch)
        if found is not None:
            rows.append(found)
    whole = _judged(table, bound, everyone, everyone, batch=batch)
    means = np.mean(rows, axis=0) if rows else np.full((2, 2), np.nan)
    return HumanGain(
        names=("Plain mean", "Weighted overall"),
        all_tasks=tuple(means[0].tolist()),
        chosen=tuple(means[1].tolist()),
        in_sample=(float("nan"),) * 2 if whole is None else tuple(whole[1].tolist()),
        halves=len(rows),
        failed=len(halves) - len(rows),
    )


def _judged(table: ScoreTable, bound: BoundSpec, choosing: Bits, judging: Bits, *, batch: bool) -> Floats | None:
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
    found = np.array(rows)
    return found if np.isfinite(found).all() else None
