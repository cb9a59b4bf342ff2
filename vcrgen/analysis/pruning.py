"""Fewer tasks for each ability: one is dropped at a time, the redundant before the weak, and the model is fitted anew.

Example: of eight reasoning tasks two are nearly copies of each other. The one with the lower loading is dropped
first; with it gone, the other one is no longer redundant and stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.pls import Structure, fit_pls, inflation, quality
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
    """The figures of one fit, by the number of the task in the whole specification."""

    vif: dict[int, float]
    loading: dict[int, float]
    tc: float
    d_div: float
    d_valid: float
    srmr: float


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
    kept = [list(block) for block in bound.structure.blocks]
    log: list[DroppedTask] = []
    number = 0
    while True:
        number += 1
        found = _fit(correlations, bound, kept, with_figures=logged)
        if found is None:
            return None
        dropped = _all_bad(bound, kept, found) if batch else _worst(bound, kept, found)
        if not dropped:
            break
        for row, reason in dropped:
            owner = next(k for k, block in enumerate(kept) if row in block)
            kept[owner].remove(row)
            log.append(
                DroppedTask(
                    round=number, task=bound.tasks[row], ability=bound.constructs[owner], reason=reason,
                    vif=found.vif[row], loading=found.loading[row], tc=found.tc, d_div=found.d_div,
                    d_valid=found.d_valid, srmr=found.srmr,
                )
            )  # fmt: skip
    rows = sorted(row for k in bound.structure.abilities for row in kept[k])
    limits = bound.spec.limits
    beyond = [(bound.tasks[row], "VIF", found.vif[row]) for row in rows if found.vif[row] > limits.vif]
    beyond += [(bound.tasks[row], "loading", found.loading[row]) for row in rows if found.loading[row] < limits.loading]
    return Pruning(kept=tuple(bound.tasks[row] for row in rows), log=tuple(log), beyond=tuple(beyond))


def _fit(correlations: Floats, bound: BoundSpec, kept: Sequence[Sequence[int]], *, with_figures: bool) -> _Round | None:
    rows = [row for block in kept for row in block]
    part = correlations[np.ix_(rows, rows)][None]
    blocks, start = [], 0
    for block in kept:
        blocks.append(tuple(range(start, start + len(block))))
        start += len(block)
    of = bound.structure
    structure = Structure(tuple(blocks), of.causes, of.modes, of.anchor)
    fit = fit_pls(part, structure, bound.spec.scheme)
    if not fit.converged[0]:
        return None
    vif = dict(zip(rows, inflation(part, fit, structure)[0].tolist(), strict=True))
    loading = dict(zip(rows, np.abs(fit.loadings[0]).tolist(), strict=True))
    if not with_figures:
        return _Round(vif, loading, *[float("nan")] * 4)
    figures = quality(part, fit, structure)
    return _Round(
        vif, loading, *(float(each[0]) for each in (figures.tc, figures.d_div, figures.d_valid, figures.srmr))
    )


def _worst(bound: BoundSpec, kept: Sequence[Sequence[int]], found: _Round) -> list[tuple[int, str]]:
    limits, names = bound.spec.limits, bound.tasks
    free = [row for k in bound.structure.abilities if len(kept[k]) > bound.spec.floor for row in kept[k]]
    if bad := [row for row in free if found.vif[row] > limits.vif]:
        highest = max(found.vif[row] for row in bad)
        tied = [row for row in bad if found.vif[row] >= NEAR_WORST * highest]
        return [
            (min(tied, key=lambda row: (round(found.loading[row], 9), -round(found.vif[row], 9), names[row])), "VIF")
        ]
    if weak := [row for row in free if found.loading[row] < limits.loading]:
        return [(min(weak, key=lambda row: (round(found.loading[row], 9), names[row])), "loading")]
    return []


def _all_bad(bound: BoundSpec, kept: Sequence[Sequence[int]], found: _Round) -> list[tuple[int, str]]:
    """All tasks beyond a limit, as far as the floor lets them go: the most redundant first, then the weakest."""
    limits, names = bound.spec.limits, bound.tasks
    chosen: list[tuple[int, str]] = []
    for k in bound.structure.abilities:
        bad = sorted(
            (row for row in kept[k] if found.vif[row] > limits.vif),
            key=lambda row: (-round(found.vif[row], 9), names[row]),
        )
        weak = sorted(
            (row for row in kept[k] if row not in bad and found.loading[row] < limits.loading),
            key=lambda row: (round(found.loading[row], 9), names[row]),
        )
        beyond = [(row, "VIF") for row in bad] + [(row, "loading") for row in weak]
        chosen += beyond[: max(len(kept[k]) - bound.spec.floor, 0)]
    return chosen
