"""An assembled benchmark as a document: the set, the pruning with what it is worth, the final fit."""

from collections import Counter
from dataclasses import replace

from vcrgen.analysis.assembly import AssembledBenchmark
from vcrgen.analysis.factors_report import factors_document
from vcrgen.analysis.prune_report import is_judged, prune_document
from vcrgen.report.document import Document, Section
from vcrgen.report.table import Table, TableCell, finite_interval, finite_number
from vcrgen.report.templating import Sentences

TEXTS = Sentences("vcrgen.analysis", "assemble.j2")


def assemble_document(result: AssembledBenchmark, *, settings: str, about: str = "", private: bool = False) -> Document:
    """Report an assembled benchmark; arguments as in ``factors_document``."""
    pruned = prune_document(result.evaluation, settings=settings)
    fit = factors_document(result.final, settings=settings)
    kept = result.evaluation.pruning.kept
    (lead,) = TEXTS.paragraphs(
        "lead",
        tasks=len(result.pool.tasks),
        benchmarks=len({task.benchmark for task in result.pool.tasks.values()}),
        abilities=len(result.evaluation.bound.abilities),
        models=len(result.evaluation.table.models),
        about=about,
    )
    sentences = TEXTS.paragraphs(
        "summary",
        judged=is_judged(result.evaluation),
        kept=len(kept),
        tasks=len(result.pool.tasks),
        items=result.items,
    )
    return Document(
        title=f"A benchmark from {result.pool.source}",
        summary=[*sentences, *pruned.summary],
        lead=lead,
        settings=settings,
        private=private,
        sections=[
            _set(result),
            *pruned.sections,
            *(replace(section, title=f"Final fit: {section.title}") for section in fit.sections),
        ],
        warnings=pruned.warnings,
        limitations=list(dict.fromkeys([*TEXTS.paragraphs("limitations"), *pruned.limitations, *fit.limitations])),
    )


def _set(result: AssembledBenchmark) -> Section:
    pool, final = result.pool, result.final
    kept = set(result.evaluation.pruning.kept)
    rows: list[list[TableCell]] = []
    for ability, tasks in result.evaluation.bound.abilities.items():
        own = [task for task in tasks if task in kept]
        benchmarks = Counter(pool.tasks[task].benchmark for task in own)
        sources = ", ".join(f"{name} {count}" for name, count in benchmarks.items())
        rows.append([ability, sources, len(tasks), len(own), sum(len(pool.tasks[task].items) for task in own)])
    heads = ["Ability", "Kept tasks by benchmark", "Tasks of the pool", "Kept tasks", "Items"]
    estimates = {"D_div": final.d_div, "TC": final.tc, "D_valid": final.d_valid, "Sum": final.metric_sum}
    figures: list[list[TableCell]] = [
        [name, finite_number(estimate.value), finite_interval(estimate.low, estimate.high)]
        for name, estimate in estimates.items()
    ]
    if final.agreement is not None:
        figures.append(["r of the weighted overall with the anchor", finite_number(final.agreement.cross_fitted), None])
    return Section(
        title="The set",
        text=TEXTS.paragraphs("set"),
        tables=[
            Table(title="Abilities of the set", heads=heads, labels=2, rows=rows),
            Table(
                title="Metrics of the set (as in Figure 8 of the GOLD paper)",
                heads=["Statistic", "Value", "95 % interval"],
                labels=1,
                rows=figures,
            ),
        ],
        details=[result.summary_table],
    )
