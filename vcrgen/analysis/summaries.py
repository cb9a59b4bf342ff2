"""The first sentences of reports: at most five, with what to do, and how many models would be needed to say more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vcrgen.analysis.factors import FEW_MODELS, FactorEstimate, FactorResult
from vcrgen.analysis.redundancy import MapResult, cluster_members
from vcrgen.plurals import pluralize

if TYPE_CHECKING:
    from vcrgen.analysis.model_fit import OverallFit

MOST_NAMED = 5
REDUNDANT = 0.8  # predicted R2 from which on a task is called redundant
STABLE = 0.8  # share of resamples


def named(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def map_summary(result: MapResult) -> Iterator[str]:
    """Sentences on what to do by the map of a benchmark."""
    tasks = result.table.tasks
    if result.predicted is not None:
        redundant = [tasks[task] for task in np.flatnonzero(result.predicted >= REDUNDANT)]
        if redundant:
            verb = "is" if len(redundant) == 1 else "are"
            yield (
                f"{named(redundant)} {verb} predicted by the other tasks (R2 of {REDUNDANT} or more): try with vcrgen "
                "analyze prune if the benchmark ranks models alike without one of them."
            )
        else:
            yield f"Drop no task as redundant: none of {len(tasks)} is predicted by the others (R2 below {REDUNDANT})."
        if unique := [tasks[task] for task in np.flatnonzero(result.predicted <= 0)]:
            verb = "is" if len(unique) == 1 else "are"
            yield f"{named(unique)} {verb} not predicted by the others at all: unique, or noise."
    yield _clusters(result)
    found, adjusted = result.correlations, result.correlations.adjusted
    pairs = np.triu_indices(len(tasks), 1)
    if np.isfinite(adjusted[pairs]).any():
        unsettled = int((~(adjusted[pairs] < 0.05)).sum())
        yield (
            f"{unsettled} of {len(pairs[0])} correlations cannot be told from 0 with these {int(found.n[pairs].max())} "
            "models."
        )
    if result.complete < FEW_MODELS:
        more = pluralize(FEW_MODELS - result.complete, "more model", "more models")
        yield f"Score {more} on all tasks: with fewer than {FEW_MODELS}, most figures here would be others."


def _clusters(result: MapResult) -> str:
    clusters = result.clusters
    members = cluster_members(clusters.labels)
    count = pluralize(len(members), "group", "groups")
    if clusters.co_clustering is None:
        return f"The tasks form {count}; whether other models would give the same is not known."
    steady = []
    for rows in members.values():
        block = clusters.co_clustering[np.ix_(rows, rows)]
        steady.append(float(block[~np.eye(len(rows), dtype=bool)].mean()) if len(rows) > 1 else 1.0)
    shaky = sum(each < STABLE for each in steady)
    if not shaky:
        return f"The tasks form {count}, each of which holds in {100 * STABLE:.0f} % of resamples or more."
    return (
        f"The tasks form {count}, of which {shaky} would hold other tasks with other models: do not build on "
        f"{'it' if shaky == 1 else 'them'}."
    )


def factors_summary(result: FactorResult, overall: OverallFit | None) -> Iterator[str]:
    """Sentences on what to do by a factor model."""
    bound, limits = result.bound, result.bound.spec.limits
    rows = [row for k in bound.structure.abilities for row in bound.structure.blocks[k]]
    loadings, vif = ([figures[row] for row in rows] for figures in (result.loadings, result.vif))
    names = [bound.tasks[row] for row in rows]
    weak = _failed(names, [each.verdict(least=limits.loading) for each in loadings])
    copies = _failed(names, [each.verdict(most=limits.vif) for each in vif])
    if weak:
        yield f"Look at {named(weak)}: the loading is surely below {limits.loading:g}, so they measure something else."
    if copies:
        yield f"Drop one of {named(copies)}: the VIF is surely above {limits.vif:g}, so they repeat other tasks."
    if not weak and not copies:
        yield "Drop no task: no loading or VIF is surely beyond its limit."
    unsure = [
        name
        for name, loading, inflated in zip(names, loadings, vif, strict=True)
        if "inconclusive" in (loading.verdict(least=limits.loading), inflated.verdict(most=limits.vif))
    ]
    if unsure:
        yield (
            f"{len(unsure)} of {len(names)} tasks cannot be judged with {len(result.table.models)} models: "
            f"{named(unsure)}{_more_models(loadings, limits.loading, len(result.table.models))}."
        )
    if near := _merged(result):
        yield near
    if overall is not None:
        yield _fit(overall, len(result.table.models))


def _failed(names: Sequence[str], verdicts: Sequence[str]) -> list[str]:
    return [name for name, verdict in zip(names, verdicts, strict=True) if verdict == "failed"]


def _more_models(found: Sequence[FactorEstimate], limit: float, models: int) -> str:
    """Estimate the models that settle the clearest of the unsettled loadings, as widths fall by the root."""
    needed = [
        models * (((each.high - each.low) / 2) / abs(each.value - limit)) ** 2
        for each in found
        if each.low <= limit <= each.high and abs(each.value - limit) > 1e-6
    ]
    if not needed:
        return ""
    nearest = int(np.ceil(min(needed) / 10)) * 10
    return f"; about {nearest:,} models would settle the clearest, if its loading stayed the same"


def _merged(result: FactorResult) -> str:
    bound = result.bound
    found = result.htmt
    same = [
        f"{bound.constructs[a]} and {bound.constructs[b]}"
        for a in bound.structure.abilities
        for b in bound.structure.abilities
        if a < b and found[a, b].verdict(most=bound.spec.limits.htmt) == "failed"
    ]
    return f"Merge {named(same)}: HTMT is surely above {bound.spec.limits.htmt:g}." if same else ""


def _fit(tested: OverallFit, models: int) -> str:
    if tested.is_rejected:
        return f"Change the model: the test of its overall fit rejects it (p = {tested.p:.3f})."
    return (
        f"The test of the overall fit does not reject the model with {models} models, which is no evidence for it "
        f"(p = {tested.p:.3f})."
    )
