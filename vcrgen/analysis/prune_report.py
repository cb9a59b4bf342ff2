"""A pruning as a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

import numpy as np

from vcrgen.analysis.factors import FactorFit
from vcrgen.analysis.measured import FEWEST_TO_PRUNE, PRUNE_MODELS, PRUNE_SHARES
from vcrgen.analysis.prune_evaluation import RANDOM_SETS, PruneEvaluation
from vcrgen.analysis.pruning import DroppedTask
from vcrgen.analysis.rank_preservation import TOP_MODELS
from vcrgen.analysis.wording import CELL, errata_sections, few_models, left_out, number, said, share
from vcrgen.core.plurals import pluralize
from vcrgen.report.document import Document, Section
from vcrgen.report.forms import as_csv
from vcrgen.report.table import Number, Percent, Table, TableCell
from vcrgen.stats.arrays import Floats

_FIGURES: Mapping[str, Callable[[FactorFit], float]] = {
    "TC": lambda of: of.quality.tc,
    "D_div": lambda of: of.quality.d_div,
    "D_valid": lambda of: of.quality.d_valid,
    "SRMR": lambda of: of.quality.srmr,
}


def prune_document(
    result: PruneEvaluation,
    *,
    settings: str,
    about: str = "",
    errata: Sequence[Sequence[str]] = (),
    private: bool = False,
) -> Document:
    """Report a pruning with its log and its evaluation; arguments as in ``factors_document``."""
    spec = result.bound.spec
    lead = said("prune", "lead", limits=spec.limits, floor=spec.floor, about=about)
    largest = max(map(len, result.bound.abilities.values()))
    sections = [_log(result), _task_section(result)]
    if result.pruning.log:
        sections += [_ranking(result), _figures(result)]
    if result.anchor is not None and result.pruning.log:
        sections.append(_anchor(result))
    sections.append(_sweep(result))
    return Document(
        title=f"Fewer tasks for {result.table.source}",
        summary=_summary(result),
        lead=lead[0],
        settings=settings,
        private=private,
        sections=sections + errata_sections(errata, about),
        warnings=[*few_models(len(result.table.models), largest), *result.table.notes],
        limitations=said("prune", "limitations", anchor=result.anchor is not None),
    )


def is_judged(result: PruneEvaluation) -> bool:
    """Tell whether there are enough models to say which tasks can go."""
    return len(result.table.models) >= FEWEST_TO_PRUNE


def _summary(result: PruneEvaluation) -> list[str]:
    """Sentences on what to do, how sure that is, and what pruning found and lost in simulations of as many models."""
    models = len(result.table.models)
    known = max((number for number, size in enumerate(PRUNE_MODELS) if size <= models), default=0)
    pair, weak, good = (round(100 * share) for share in PRUNE_SHARES[known])
    return said(
        "prune",
        "summary",
        judged=is_judged(result),
        models=models,
        fewest=FEWEST_TO_PRUNE,
        dropped=[step.task for step in result.pruning.log],
        tasks=len(result.frequency),
        kept=len(result.pruning.kept),
        measured=PRUNE_MODELS[known],
        pair=pair,
        weak=weak,
        good=good,
        unsure=_unsure(result),
        resamples=result.resamples,
        beyond=list(dict.fromkeys(task for task, _, _ in result.pruning.beyond)),
        floor=result.bound.spec.floor,
        flips=int(result.ranking.flips[0]),
    )


def _unsure(result: PruneEvaluation) -> list[str]:
    """The tasks that some resamples keep and others drop."""
    return [task for task, share in result.frequency.items() if 0.1 <= share <= 0.9]


def _log(result: PruneEvaluation) -> Section:
    rows: list[list[TableCell]] = [
        [
            str(step.round),
            step.task,
            step.ability,
            step.reason,
            Number(step.vif, 2),
            Number(step.loading, CELL),
            number(step.tc),
            number(step.d_div),
            number(step.d_valid),
            number(step.srmr),
        ]
        for step in result.pruning.log
    ]
    heads = ["Round", "Task", "Ability", "Reason", "VIF", "Loading", "TC", "D_div", "D_valid", "SRMR"]
    text = said("prune", "log", dropped=bool(rows), beyond=result.pruning.beyond)
    table = Table(title="Dropped tasks in their order", heads=heads, labels=4, rows=rows, breaks=(6,))
    return Section(title="Log", text=text, tables=[table] if rows else [])


def _task_section(result: PruneEvaluation) -> Section:
    kept = set(result.pruning.kept)
    rows: list[list[TableCell]] = [
        [ability, task, "kept" if task in kept else "dropped", share(result.frequency[task])]
        for ability, tasks in result.bound.abilities.items()
        for task in tasks
    ]
    text = said(
        "prune",
        "kept",
        resamples=result.resamples,
        unsure=_unsure(result),
        tasks=len(result.frequency),
        jaccard=result.jaccard,
    )
    text += left_out(result.failed, "resamples")
    table = Table(title="Tasks", heads=["Ability", "Task", "Here", "Resamples that keep it, %"], labels=3, rows=rows)
    return Section(title="Kept tasks", text=text, tables=[table])


def _ranking(result: PruneEvaluation) -> Section:
    own, others = result.ranking, result.random
    count = min(TOP_MODELS, max(1, len(result.table.models) // 2))
    rows: list[list[TableCell]] = []
    better_high = (
        ("Spearman", "spearman", CELL, True),
        ("Kendall tau-b", "kendall", CELL, True),
        ("Pairs of models in the same order", "pairs", CELL, True),
        (f"Inversions of {pluralize(own.apart, 'significantly different pair')}", "flips", 0, False),
        ("Largest change of a rank", "largest", 0, False),
        (f"Share of the {count} best that stay among them", "top", 2, True),
    )
    for label, field, decimals, high in better_high:
        value = float(getattr(own, field)[0])
        drawn = np.asarray(getattr(others, field), float)
        ends = _ends(drawn)
        as_good = float((drawn >= value).mean() if high else (drawn <= value).mean())
        rows.append(
            [label, number(value, decimals), *(number(float(end), decimals) for end in ends), Percent(as_good, 0)]
        )
    heads = ["Statistic", "Kept tasks", "Random, 5 %", "Random, 95 %", "Random sets at least as good, %"]
    table = Table(title="Rank preservation", heads=heads, labels=1, rows=rows)
    text = said("prune", "ranking", sets=RANDOM_SETS, flips=int(own.flips[0]))
    return Section(title="Ranking", text=text, tables=[table])


def _ends(drawn: Floats) -> Floats:
    known = drawn[np.isfinite(drawn)]
    found: Floats = np.percentile(known, [5, 95]) if len(known) else np.full(2, np.nan)
    return found


def _figures(result: PruneEvaluation) -> Section:
    rows: list[list[TableCell]] = []
    figures = dict(_FIGURES)
    if result.bound.structure.anchor is not None:
        figures["R2 of the anchor"] = lambda of: float(of.fit.r2[-1])
    for label, figure in figures.items():
        ends = _ends(np.array([figure(each) for each in result.random_fits if each is not None]))
        found = (figure(result.before), figure(result.after), *ends)
        rows.append([label, *(number(float(each)) for each in found)])
    table = Table(
        title="Statistics of the benchmark",
        labels=1,
        rows=rows,
        heads=["Statistic", "All tasks", "Kept tasks", "Random, 5 %", "Random, 95 %"],
    )
    return Section(title="Benchmark", text=said("prune", "benchmark"), tables=[table])


def _anchor(result: PruneEvaluation) -> Section:
    anchor = result.anchor
    assert anchor is not None
    rows: list[list[TableCell]] = [
        [name, number(full), number(chosen), Number(chosen - full, CELL, sign=True), number(inside)]
        for name, full, chosen, inside in zip(
            anchor.names, anchor.all_tasks, anchor.chosen, anchor.in_sample, strict=True
        )
        if np.isfinite(full) and np.isfinite(chosen)
    ]
    heads = ["Score", "All tasks", "Kept tasks", "Gain", "Kept tasks, in sample"]
    table = Table(title="Agreement with the anchor (Pearson)", heads=heads, labels=1, rows=rows)
    text = said("prune", "people", halves=anchor.halves) + left_out(anchor.failed, "halves")
    return Section(title="Agreement with people", text=text, tables=[table] if rows else [])


def _sweep(result: PruneEvaluation) -> Section:
    rows: list[list[TableCell]] = []
    for swept in result.sweep:
        head: list[TableCell] = [f"{swept.vif:g}", f"{swept.loading:g}"]
        if swept.kept is None or swept.figures is None:
            rows.append([*head, None, None, None, None, None])
            continue
        of = swept.figures.quality
        rows.append([*head, len(swept.kept), *map(number, (of.tc, of.d_div, of.d_valid, swept.spearman))])
    heads = ["VIF at most", "Loading at least", "Tasks", "TC", "D_div", "D_valid", "Spearman"]
    table = Table(title="Other limits", heads=heads, labels=2, rows=rows)
    return Section(title="Limits", text=said("prune", "limits"), tables=[table])


def log_csv(result: PruneEvaluation) -> str:
    """The log as CSV, a line for each dropped task."""
    heads = [each.name for each in fields(DroppedTask)]
    rows = [[_bare(getattr(step, name)) for name in heads] for step in result.pruning.log]
    return as_csv(Table(title="", heads=heads, labels=0, rows=rows))


def _bare(value: str | float) -> TableCell:
    return number(value) if isinstance(value, float) else value


def kept_spec(result: PruneEvaluation) -> str:
    """The specification with the kept tasks, as YAML."""
    kept = result.bound.spec.model_copy(update={"abilities": dict(result.kept.abilities)})
    return kept.as_yaml()
