"""Whether a pruning would be another without a few of the models.

Example: four of 154 models score near zero on everything, so all tasks seem to repeat each other, and seven go. Without
these four none goes: there is no verdict on the seven. Which of two copies goes hangs on single models as well, but one
of them goes in any case: that is no other verdict.
"""

from dataclasses import dataclass

from vcrgen.analysis.correlations import resampled_correlations
from vcrgen.analysis.influence import LeaveOuts, leave_outs
from vcrgen.analysis.pruning import Pruning, prune
from vcrgen.analysis.rare_tasks import without_constant_tasks
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import BoundSpec
from vcrgen.stats.arrays import Floats


@dataclass(frozen=True, slots=True)
class PrunedReplicate:
    """What a pruning makes of the tasks that vary in a replicate."""

    tasks: frozenset[str]
    kept: frozenset[str]
    redundant: frozenset[str]  # dropped for their VIF


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneInfluence:
    """What becomes of tasks when models are left out."""

    left_out: LeaveOuts
    changes: dict[str, tuple[str, ...]]  # tasks with another fate without some models, and the names of these
    alternatives: dict[str, tuple[str, ...]]  # redundant tasks, and those that would go in place of them
    kept_without_outlying: frozenset[str] | None  # None without such models, or without a solution


def prune_replicate(correlations: Floats, bound: BoundSpec, *, batch: bool) -> PrunedReplicate | None:
    """Prune the tasks that vary; None without a solution."""
    part = without_constant_tasks(correlations, bound)
    pruning = None if part is None else prune(*part, batch=batch, logged=False)
    if part is None or pruning is None:
        return None
    tasks = frozenset(part[1].tasks) - {bound.spec.anchor}
    return PrunedReplicate(frozenset(map(str, tasks)), frozenset(pruning.kept), _redundant(pruning))


def _redundant(pruning: Pruning) -> frozenset[str]:
    return frozenset(step.task for step in pruning.log if step.reason == "VIF")


def prune_influence(table: ScoreTable, bound: BoundSpec, pruning: Pruning, *, batch: bool) -> PruneInfluence:
    """Prune without each group of models in turn, and compare.

    Args:
        table: The scores, none missing, with the tasks in the order of ``bound.tasks``.
        bound: As for `prune`.
        pruning: By all models.
        batch: As for `prune`.
    """
    left_out = leave_outs(table, [bound.structure.blocks[ability] for ability in bound.structure.abilities])
    replicates = [
        prune_replicate(r, bound, batch=batch) for r in resampled_correlations(table.scores, left_out.weights)
    ]
    changes: dict[str, list[str]] = {}
    alternatives: dict[str, set[str]] = {}
    for group, replicate in zip(left_out.groups, replicates, strict=True):
        for tasks in bound.abilities.values():
            other = set(tasks)
            if replicate is not None:
                other = set(tasks) & replicate.tasks & (set(pruning.kept) ^ replicate.kept)
                gone, instead = other & _redundant(pruning), other & replicate.redundant
                if gone and len(gone) == len(instead):  # as many as before, and for the same reason
                    other -= gone | instead
                    for task in gone:
                        alternatives.setdefault(task, set()).update(instead)
            for task in other:
                changes.setdefault(task, []).append(group.label)
    order = {task: number for number, task in enumerate(bound.tasks)}
    without_outlying = replicates[0] if left_out.outlying else None
    return PruneInfluence(
        left_out=left_out,
        changes={task: tuple(changes[task]) for task in sorted(changes, key=order.__getitem__)},
        alternatives={task: tuple(sorted(names, key=order.__getitem__)) for task, names in alternatives.items()},
        kept_without_outlying=None if without_outlying is None else without_outlying.kept,
    )
