"""A pruning as a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields

import numpy as np

from vcrgen.analysis.factors import FactorFit
from vcrgen.analysis.measured import FEWEST_TO_PRUNE, PRUNE_MODELS, PRUNE_SHARES
from vcrgen.analysis.prune_evaluation import RANDOM_SETS, PruneEvaluation
from vcrgen.analysis.pruning import DroppedTask
from vcrgen.analysis.rank_preservation import TOP_MODELS
from vcrgen.analysis.summaries import named
from vcrgen.analysis.wording import CELL, errata_sections, few_models, number, share, without_solution
from vcrgen.plurals import pluralize
from vcrgen.report.document import Document, Section
from vcrgen.report.forms import as_csv
from vcrgen.report.table import Number, Percent, Table, TableCell
from vcrgen.stats.arrays import Floats

_TURNED = ("significantly different pair of models is", "significantly different pairs of models are")
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
    limits = result.bound.spec.limits
    before = sum(map(len, result.bound.abilities.values()))
    lead = (
        f"The limits: VIF at most {limits.vif:g}, loading at least {limits.loading:g}, at "
        f"least {pluralize(result.bound.spec.floor, 'task')} an ability."
    )
    largest = max(map(len, result.bound.abilities.values()))
    sections = [_log(result), _task_section(result)]
    if result.pruning.log:
        sections += [_ranking(result), _figures(result)]
    if result.anchor is not None and result.pruning.log:
        sections.append(_anchor(result))
    sections.append(_sweep(result))
    return Document(
        title=f"Fewer tasks for {result.table.source}",
        summary=list(_summary(result, before)),
        lead=f"{lead} {about}".rstrip(),
        settings=settings,
        private=private,
        sections=sections + errata_sections(errata, about),
        warnings=[*few_models(len(result.table.models), largest), *result.table.notes],
        limitations=list(_limitations(result)),
    )


def is_judged(result: PruneEvaluation) -> bool:
    """Tell whether there are enough models to say which tasks can go."""
    return len(result.table.models) >= FEWEST_TO_PRUNE


def _summary(result: PruneEvaluation, before: int) -> Iterator[str]:
    """Sentences on what to do, and how sure that is."""
    yield _verdict(result, before)
    yield _power(len(result.table.models))
    unsure = [task for task, share in result.frequency.items() if 0.1 <= share <= 0.9]
    if unsure:
        yield (
            f"Do not rely on {named(unsure)}: with other models {'it' if len(unsure) == 1 else 'each'} may be kept or "
            f"dropped (kept in 10 to 90 % of {result.resamples:,} resamples)."
        )
    if result.pruning.beyond:
        kept = named(list(dict.fromkeys(task for task, _, _ in result.pruning.beyond)))
        yield f"Beyond a limit but kept, as an ability keeps {result.bound.spec.floor} tasks at least: {kept}."
    if result.pruning.log and is_judged(result):
        flips = int(result.ranking.flips[0])
        yield (
            "No significantly different pair of models is inverted by the kept tasks."
            if flips == 0
            else f"{pluralize(flips, *_TURNED)} inverted by the kept tasks: look at the ranking before you drop them."
        )


def _verdict(result: PruneEvaluation, before: int) -> str:
    models, dropped = len(result.table.models), [step.task for step in result.pruning.log]
    if not is_judged(result):
        more = pluralize(FEWEST_TO_PRUNE - models, "more model is", "more models are")
        return (
            f"{models} models are too few to say which tasks can go: {more} needed. The tables say what the limits "
            "would do."
        )
    if not dropped:
        return f"Keep all {before} tasks: by the scores of {models} models none is beyond a limit."
    named = f"{', '.join(dropped[:5])}{f' and {len(dropped) - 5} more' if len(dropped) > 5 else ''}"
    return (
        f"Drop {pluralize(len(dropped), 'task')} of {before}: {named}. That is by the scores of {models} models, and "
        f"{len(result.pruning.kept)} tasks are kept."
    )


def _power(models: int) -> str:
    """Say what pruning found and lost in simulations of the nearest size below."""
    known = max((number for number, size in enumerate(PRUNE_MODELS) if size <= models), default=0)
    pair, weak, good = (f"{100 * share:.0f} %" for share in PRUNE_SHARES[known])
    return (
        f"In simulations with {PRUNE_MODELS[known]} models, {pair} of redundant pairs lost one task and {weak} of weak "
        f"tasks went, but so did {good} of good ones."
    )


def _limitations(result: PruneEvaluation) -> Iterator[str]:
    yield (
        "That the kept tasks are the right ones: other models would keep others, as often as the table of kept tasks "
        "says."
    )
    yield (
        "That a ranking is preserved because of the choice: most sets of as many tasks preserve it. Only what is "
        "better than the random sets is owed to the choice."
    )
    yield "The loss: a task that correlates with no other may be the only one that measures a skill."
    yield (
        "An improvement of the benchmark. Dropping redundant tasks raises D_valid and dropping weak ones raises TC by "
        "construction; neither is evidence for people's judgement."
    )
    if result.anchor is None:
        yield "Agreement with people, since no anchor is given."


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
    text = ["The statistics are of the model before the task was dropped."]
    text += [
        f"{task} is beyond the limit of {reason} ({value:.3f}), but its ability has no more tasks than the floor."
        for task, reason, value in result.pruning.beyond
    ]
    if not rows:
        text = ["No task is beyond a limit, so nothing was dropped.", *text[1:]]
    table = Table(title="Dropped tasks in their order", heads=heads, labels=4, rows=rows, breaks=(6,))
    return Section(title="Log", text=text, tables=[table] if rows else [])


def _task_section(result: PruneEvaluation) -> Section:
    kept = set(result.pruning.kept)
    rows: list[list[TableCell]] = [
        [ability, task, "kept" if task in kept else "dropped", share(result.frequency[task])]
        for ability, tasks in result.bound.abilities.items()
        for task in tasks
    ]
    unsure = sum(0.1 <= share <= 0.9 for share in result.frequency.values())
    text = [
        f"The same pruning of {result.resamples:,} resamples of the models: how often each task is kept. {unsure} of "
        f"{len(result.frequency)} tasks are kept in 10 to 90 % of them; the median overlap (Jaccard) of their kept "
        f"sets with this one is {result.jaccard:.2f}."
    ]
    if result.failed:
        text.append(f"{without_solution(result.failed, 'resample', 'resamples')}.")
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
    flips = int(own.flips[0])
    claim = (
        "No significantly different pair of models is inverted."
        if flips == 0
        else f"{pluralize(flips, *_TURNED)} inverted."
    )
    heads = ["Statistic", "Kept tasks", "Random, 5 %", "Random, 95 %", "Random sets at least as good, %"]
    table = Table(title="Rank preservation", heads=heads, labels=1, rows=rows)
    text = [
        f"Models are ranked by the mean of their standardised scores. {claim} Beside it {RANDOM_SETS:,} random sets "
        "of as many tasks of each ability: if most of them are as good, any choice preserves the ranking.",
        "Two models are significantly different if a paired t-test over all tasks has p < .05.",
    ]
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
    text = ["D_valid falls with every task, so compare the kept tasks with the random sets, which have as many."]
    return Section(title="Benchmark", text=text, tables=[table])


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
    text = [
        f"Cross-fitted: the tasks are chosen and weighted by half of the models and judged on the other half (mean of "
        f"{anchor.halves} halves). The last column is what choosing and judging on the same models would say."
    ]
    if anchor.failed:
        text.append(f"{without_solution(anchor.failed, 'half', 'halves')}.")
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
    text = ["Tasks that other limits keep, and the Spearman correlation of the ranking with that of all tasks."]
    return Section(title="Limits", text=text, tables=[table])


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
