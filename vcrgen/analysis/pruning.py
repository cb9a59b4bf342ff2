"""Fewer tasks for each ability: one is dropped at a time, the redundant before the weak, and the model is fitted anew.

Example: of eight reasoning tasks two are nearly copies of each other. The one with the lower loading is dropped
first; with it gone, the other one is no longer redundant and stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.pls import fit_pls, inflation, quality
from vcrgen.analysis.spec import BoundSpec
from vcrgen.stats.arrays import Floats

NEAR_WORST = 0.95  # tasks whose VIF is as near to the highest are equally redundant; of these the weakest goes


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedTask:
    """A task that was dropped, and the model's figures before."""

    round: int  # from 1; with one task a round, its place in the order
    task: str
    ability: str
    reason: str  # "VIF" or "loading"
    vif: float
    loading: float  # absolute
    tc: float
    d_div: float
    d_valid: float
    srmr: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """Dropped tasks in their order, and the kept ones."""

    kept: tuple[str, ...]  # in the order of the specification, without the anchor
    log: tuple[DroppedTask, ...]
    beyond: tuple[tuple[str, str, float], ...]  # tasks beyond a limit that the floor kept: task, reason, value


@dataclass(frozen=True, slots=True)
class _Round:
    """The figures of the fit of a round."""

    vif: dict[str, float]  # of each task
    loading: dict[str, float]  # of each task, absolute
    tc: float = float("nan")  # these four only if they are logged
    d_div: float = float("nan")
    d_valid: float = float("nan")
    srmr: float = float("nan")


def prune(correlations: Floats, bound: BoundSpec, *, batch: bool = False, logged: bool = True) -> Pruning | None:
    """Drop tasks until all are within the limits, or an ability has no more than the floor.

    In each round the model is fitted. If a task that may go has a VIF above the limit, the one with the highest goes,
    and of several that are within 5 % of it the one with the lowest loading. Otherwise the one with the lowest loading
    below the limit goes.

    Args:
        correlations: Tasks x tasks in the order of ``bound.tasks``.
        bound: The specification with its limits and its floor.
        batch: Drop all tasks beyond the limits of one fit at once, as Algorithm 1 of the GOLD paper says: those with
            too high a VIF first, then the weak ones. The floor keeps those that are nearest to the limits.
        logged: Whether the log says how good the model was before each step.

    Returns:
        The result, or None if some fit has no solution.
    """
    abilities = {ability: list(tasks) for ability, tasks in bound.abilities.items()}
    log: list[DroppedTask] = []
    number = 0
    while True:
        number += 1
        figures = _fit(correlations, bound, abilities, logged=logged)
        if figures is None:
            return None
        dropped = _all_bad(bound, abilities, figures) if batch else _worst(bound, abilities, figures)
        if not dropped:
            break
        for task, reason in dropped:
            ability = next(name for name, tasks in abilities.items() if task in tasks)
            abilities[ability].remove(task)
            log.append(
                DroppedTask(
                    round=number,
                    task=task,
                    ability=ability,
                    reason=reason,
                    vif=figures.vif[task],
                    loading=figures.loading[task],
                    tc=figures.tc,
                    d_div=figures.d_div,
                    d_valid=figures.d_valid,
                    srmr=figures.srmr,
                )
            )
    kept = [task for tasks in abilities.values() for task in tasks]
    limits = bound.spec.limits
    beyond = [(task, "VIF", figures.vif[task]) for task in kept if figures.vif[task] > limits.vif]
    beyond += [(task, "loading", figures.loading[task]) for task in kept if figures.loading[task] < limits.loading]
    return Pruning(kept=tuple(kept), log=tuple(log), beyond=tuple(beyond))


def _fit(
    correlations: Floats, bound: BoundSpec, abilities: Mapping[str, Sequence[str]], *, logged: bool
) -> _Round | None:
    part = bound.keep([task for tasks in abilities.values() for task in tasks])
    rows = [bound.tasks.index(task) for task in part.tasks]
    r = correlations[np.ix_(rows, rows)]
    fit = fit_pls(r, part.structure, bound.spec.scheme)
    if fit is None:
        return None
    vif = dict(zip(part.tasks, inflation(r, part.structure).tolist(), strict=True))
    loading = dict(zip(part.tasks, np.abs(fit.loadings).tolist(), strict=True))
    if not logged:
        return _Round(vif, loading)
    figures = quality(r, fit, part.structure)
    return _Round(vif, loading, figures.tc, figures.d_div, figures.d_valid, figures.srmr)


# Figures are compared rounded to nine digits, and then by name: processors sum differently, and all drop the same task.


def _worst(bound: BoundSpec, abilities: Mapping[str, Sequence[str]], figures: _Round) -> list[tuple[str, str]]:
    """The task that goes next, with the reason; none if all are within the limits or the floor keeps them."""
    limits, vif, loading = bound.spec.limits, figures.vif, figures.loading
    free = [task for tasks in abilities.values() if len(tasks) > bound.spec.floor for task in tasks]
    if redundant := [task for task in free if vif[task] > limits.vif]:
        highest = max(vif[task] for task in redundant)
        tied = [task for task in redundant if vif[task] >= NEAR_WORST * highest]
        return [(min(tied, key=lambda task: (round(loading[task], 9), -round(vif[task], 9), task)), "VIF")]
    if weak := [task for task in free if loading[task] < limits.loading]:
        return [(min(weak, key=lambda task: (round(loading[task], 9), task)), "loading")]
    return []


def _all_bad(bound: BoundSpec, abilities: Mapping[str, Sequence[str]], figures: _Round) -> list[tuple[str, str]]:
    """All tasks beyond a limit, as far as the floor lets them go: the most redundant first, then the weakest."""
    limits, vif, loading = bound.spec.limits, figures.vif, figures.loading
    dropped: list[tuple[str, str]] = []
    for tasks in abilities.values():
        redundant = [task for task in tasks if vif[task] > limits.vif]
        weak = [task for task in tasks if task not in redundant and loading[task] < limits.loading]
        redundant.sort(key=lambda task: (-round(vif[task], 9), task))
        weak.sort(key=lambda task: (round(loading[task], 9), task))
        beyond = [(task, "VIF") for task in redundant] + [(task, "loading") for task in weak]
        dropped += beyond[: max(len(tasks) - bound.spec.floor, 0)]
    return dropped
