"""A pruning as a document."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np

from vcrgen.analysis.factors import FactorFit
from vcrgen.analysis.families import families_section, few_families
from vcrgen.analysis.influence import MOST_DECIDING
from vcrgen.analysis.measured import FEWEST_TO_PRUNE, PRUNE_MODELS, PRUNE_SHARES
from vcrgen.analysis.prune_evaluation import RANDOM_SETS, PruneEvaluation
from vcrgen.analysis.pruning import DroppedTask
from vcrgen.analysis.rank_correlations import RankCorrelations
from vcrgen.analysis.rank_preservation import TOP_MODELS
from vcrgen.analysis.signs import lower_is_better_options
from vcrgen.core.plurals import pluralize
from vcrgen.report.document import Document, Section
from vcrgen.report.forms import as_csv
from vcrgen.report.table import Number, Percent, Table, TableCell, finite_interval, finite_number, finite_percent
from vcrgen.report.templating import Sentences
from vcrgen.stats.arrays import Floats, Ints

TEXTS = Sentences("vcrgen.analysis", "prune.j2")


def prune_document(
    result: PruneEvaluation, *, settings: str, about: str = "", more: Sequence[Section] = (), private: bool = False
) -> Document:
    """Report a pruning with its log and its evaluation; arguments as in ``factors_document``."""
    spec, models = result.bound.spec, len(result.table.models)
    sections = [_log(result), _tasks(result), _influence(result)]
    if result.pruning.log:
        sections += [_ranking(result), _benchmark(result)]
    if result.anchor is not None and result.pruning.log:
        sections.append(_people(result))
    sections.append(_limits(result))
    (lead,) = TEXTS.paragraphs("lead", limits=spec.limits, floor=spec.floor, about=about)
    largest = max(map(len, result.bound.abilities.values()))
    return Document(
        title=f"Fewer tasks for {result.table.source}",
        summary=_summary(result),
        lead=lead,
        settings=settings,
        private=private,
        sections=[*sections, *families_section(result.table.models, result.table.families), *more],
        warnings=[
            *TEXTS.paragraphs("warnings", models=models, largest=largest),
            *few_families(result.table.families),
            *result.table.notes,
        ],
        limitations=TEXTS.paragraphs("limitations", anchor=result.anchor),
    )


def is_judged(result: PruneEvaluation) -> bool:
    """Tell whether there are enough independent models to say which tasks can go, and all tasks have one direction."""
    return result.effective >= FEWEST_TO_PRUNE and not result.reversed_tasks


def _summary(result: PruneEvaluation) -> list[str]:
    """What to do, and how sure that is."""
    models, effective = len(result.table.models), int(result.effective)
    changes = result.influence.changes
    return TEXTS.paragraphs(
        "summary",
        judged=is_judged(result),
        reversed=list(result.reversed_tasks),
        options=lower_is_better_options(result.reversed_tasks),
        costly=result.costly.sentence if result.costly else "",
        models=models,
        effective=effective,
        fewest=FEWEST_TO_PRUNE,
        dropped=[_with_alternatives(result, step.task) for step in result.pruning.log if step.task not in changes],
        tasks=len(result.frequency),
        hanging=list(changes),
        on=_deciding(changes),
        unsure=[task for task in _unsure(result) if task not in changes],
        flips=int(result.ranking.flips[0]),
    )


def _with_alternatives(result: PruneEvaluation, task: str) -> str:
    others = result.influence.alternatives.get(task, ())
    return f"{task} (or {' or '.join(others)})" if others else task


def _deciding(changes: Mapping[str, Sequence[str]]) -> list[str]:
    """The groups of models on which tasks hang, those of most tasks first."""
    groups = Counter(label for labels in changes.values() for label in labels)
    return [label for label, _ in groups.most_common(MOST_DECIDING)]


def _unsure(result: PruneEvaluation) -> list[str]:
    """The tasks that some replicates keep and others drop."""
    return [task for task, share in result.frequency.items() if 0.1 <= share <= 0.9]


def _influence(result: PruneEvaluation) -> Section:
    """What single models, families and outlying models decide."""
    influence = result.influence
    without = influence.kept_without_outlying
    rows: list[list[TableCell]] = [[task, "; ".join(labels)] for task, labels in influence.changes.items()]
    tables = [Table(title="Tasks whose fate hangs on a few models", heads=["Task", "Models"], labels=2, rows=rows)]
    text = TEXTS.paragraphs(
        "influence",
        outlying=list(influence.left_out.outlying),
        kept=len(result.pruning.kept),
        kept_without=None if without is None else len(without),
        tasks=len(result.frequency),
        groups=len(influence.left_out.groups),
        hanging=rows,
    )
    return Section(title="Influence of single models", text=text, tables=tables if rows else [])


def _log(result: PruneEvaluation) -> Section:
    rows: list[list[TableCell]] = [
        [
            str(step.round),
            step.task,
            step.ability,
            step.reason,
            finite_number(step.vif, 2),
            *map(finite_number, (step.loading, step.tc, step.d_div, step.d_valid, step.srmr)),
        ]
        for step in result.pruning.log
    ]
    heads = ["Round", "Task", "Ability", "Reason", "VIF", "Loading", "TC", "D_div", "D_valid", "SRMR"]
    table = Table(title="Dropped tasks in their order", heads=heads, labels=4, rows=rows, breaks=(6,))
    text = TEXTS.paragraphs("log", dropped=rows, beyond=result.pruning.beyond)
    return Section(title="Log", text=text, tables=[table] if rows else [])


def _tasks(result: PruneEvaluation) -> Section:
    rows: list[list[TableCell]] = [
        [
            ability,
            task,
            "no verdict" if task in result.influence.changes else "kept" if task in result.pruning.kept else "dropped",
            finite_percent(result.frequency[task]),
        ]
        for ability, tasks in result.bound.abilities.items()
        for task in tasks
    ]
    simulated = max((number for number, size in enumerate(PRUNE_MODELS) if size <= result.effective), default=0)
    pair, weak, good = (round(100 * share) for share in PRUNE_SHARES[simulated])
    text = TEXTS.paragraphs(
        "tasks",
        resamples=result.resamples,
        failed=result.failed,
        jaccard=result.jaccard,
        pair=pair,
        weak=weak,
        good=good,
    )
    table = Table(title="Tasks", heads=["Ability", "Task", "Here", "Resamples that keep it, %"], labels=3, rows=rows)
    return Section(title="Kept tasks", text=text, tables=[table])


def _ranking(result: PruneEvaluation) -> Section:
    own, random = result.ranking, result.random
    best = min(TOP_MODELS, max(1, len(result.table.models) // 2))
    inverted = f"Inversions of {pluralize(own.apart, 'significantly different pair')}"
    statistics = (  # label, of the kept tasks, of the random sets, decimals, whether higher is better
        ("Spearman", own.spearman, random.spearman, 3, True),
        ("Kendall tau-b", own.kendall, random.kendall, 3, True),
        ("Pairs of models in the same order", own.pairs, random.pairs, 3, True),
        (inverted, own.flips, random.flips, 0, False),
        ("Largest change of a rank", own.largest, random.largest, 0, False),
        (f"Share of the {best} best that stay among them", own.top, random.top, 2, True),
    )
    rows: list[list[TableCell]] = []
    for label, (value,), randoms, decimals, is_higher_better in statistics:
        cells = [finite_number(number, decimals) for number in (value, *_ends(randoms))]
        as_good = (randoms >= value if is_higher_better else randoms <= value).mean()
        rows.append([label, *cells, Percent(float(as_good), 0)])
    heads = ["Statistic", "Kept tasks", "Random, 5 %", "Random, 95 %", "Random sets at least as good, %"]
    table = Table(title="Rank preservation", heads=heads, labels=1, rows=rows)
    text = TEXTS.paragraphs("ranking", sets=RANDOM_SETS, anchor=result.bound.spec.anchor)
    return Section(title="Ranking", text=text, tables=[table, rank_correlation_table(result.rankings)])


def rank_correlation_table(rankings: Sequence[RankCorrelations]) -> Table:
    """The Spearman correlations of Table VII of the GOLD paper, over all models, the best and the worst."""
    columns = ("All and kept tasks", "All tasks and anchor", "Kept tasks and anchor", "Gain")
    rows: list[list[TableCell]] = []
    for ranking in rankings:
        cells: list[TableCell] = [ranking.subset, ranking.models]
        correlations = (ranking.refined, ranking.original_anchor, ranking.refined_anchor, ranking.gain)
        for name, correlation in zip(columns, correlations, strict=True):
            if correlation is not None:
                value = Number(correlation.value, 3, sign=name == "Gain")
                cells += [value, finite_interval(correlation.low, correlation.high)]
        rows.append(cells)
    heads = [head for name in columns for head in (name, "95 % interval")][: len(rows[0]) - 2]
    breaks = [number for number in (4, 6, 8) if number < len(heads) + 2]
    title = "Spearman correlations of rankings"
    return Table(title=title, heads=["Models", "Number", *heads], labels=1, rows=rows, breaks=breaks)


def _ends(values: Floats | Ints) -> Floats:
    """The 5th and the 95th percentile of the finite values."""
    finite = values[np.isfinite(values)]
    return np.asarray(np.percentile(finite, [5, 95]) if len(finite) else np.full(2, np.nan))


def _benchmark(result: PruneEvaluation) -> Section:
    with_anchor = result.bound.structure.anchor is not None
    before, after = (_statistics(estimate, with_anchor) for estimate in (result.before, result.after))
    randoms = [_statistics(estimate, with_anchor) for estimate in result.random_fits if estimate is not None]
    rows: list[list[TableCell]] = []
    for label, value in before.items():
        ends = _ends(np.array([statistics[label] for statistics in randoms]))
        rows.append([label, *map(finite_number, (value, after[label], *ends))])
    heads = ["Statistic", "All tasks", "Kept tasks", "Random, 5 %", "Random, 95 %"]
    table = Table(title="Statistics of the benchmark", heads=heads, labels=1, rows=rows)
    return Section(title="Benchmark", text=TEXTS.paragraphs("benchmark"), tables=[table])


def _statistics(estimate: FactorFit, with_anchor: bool) -> dict[str, float]:
    quality = estimate.quality
    statistics = {"TC": quality.tc, "D_div": quality.d_div, "D_valid": quality.d_valid, "SRMR": quality.srmr}
    return statistics | ({"R2 of the anchor": float(estimate.fit.r2[-1])} if with_anchor else {})


def _people(result: PruneEvaluation) -> Section:
    anchor = result.anchor
    assert anchor is not None
    agreements = zip(anchor.names, anchor.all_tasks, anchor.kept_tasks, anchor.in_sample, strict=True)
    rows: list[list[TableCell]] = [
        [
            name,
            finite_number(before),
            finite_number(after),
            Number(after - before, 3, sign=True),
            finite_number(in_sample),
        ]
        for name, before, after, in_sample in agreements
        if np.isfinite(before) and np.isfinite(after)
    ]
    heads = ["Score", "All tasks", "Kept tasks", "Gain", "Kept tasks, in sample"]
    table = Table(title="Agreement with the anchor (Pearson)", heads=heads, labels=1, rows=rows)
    text = TEXTS.paragraphs("people", halves=anchor.halves, failed=anchor.failed)
    return Section(title="Agreement with people", text=text, tables=[table] if rows else [])


def _limits(result: PruneEvaluation) -> Section:
    rows: list[list[TableCell]] = []
    for row in result.sweep:
        labels: list[TableCell] = [f"{row.vif:g}", f"{row.loading:g}"]
        if row.kept is None or row.figures is None:
            rows.append([*labels, None, None, None, None, None])
            continue
        quality = row.figures.quality
        figures = (quality.tc, quality.d_div, quality.d_valid, row.spearman)
        rows.append([*labels, len(row.kept), *map(finite_number, figures)])
    heads = ["VIF at most", "Loading at least", "Tasks", "TC", "D_div", "D_valid", "Spearman"]
    table = Table(title="Other limits", heads=heads, labels=2, rows=rows)
    return Section(title="Limits", text=TEXTS.paragraphs("limits"), tables=[table])


def log_csv(result: PruneEvaluation) -> str:
    """The log as CSV, a line for each dropped task."""
    columns = [field.name for field in fields(DroppedTask)]
    rows: list[list[TableCell]] = []
    for step in result.pruning.log:
        values = (getattr(step, column) for column in columns)
        rows.append([finite_number(value) if isinstance(value, float) else value for value in values])
    return as_csv(Table(title="", heads=columns, labels=0, rows=rows))


def kept_spec(result: PruneEvaluation) -> str:
    """The specification with the kept tasks and those without a verdict, as YAML."""
    kept = result.bound.keep([*result.pruning.kept, *result.influence.changes])
    spec = result.bound.spec.model_copy(update={"abilities": dict(kept.abilities)})
    return spec.as_yaml()
