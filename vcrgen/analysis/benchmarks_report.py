"""Benchmarks side by side as a document."""

from collections.abc import Sequence

import numpy as np

from vcrgen.analysis.benchmarks import BenchmarkComparison
from vcrgen.analysis.factors import FactorEstimate
from vcrgen.analysis.families import few_families
from vcrgen.analysis.measured import FEWEST_D_DIV
from vcrgen.report.charts import interval_bar
from vcrgen.report.document import ChartRows, Document, Section
from vcrgen.report.table import Number, Table, TableCell, finite_interval, finite_number
from vcrgen.report.templating import Sentences

TEXTS = Sentences("vcrgen.analysis", "benchmarks.j2")


def benchmarks_document(
    result: BenchmarkComparison, *, settings: str, about: str = "", more: Sequence[Section] = (), private: bool = False
) -> Document:
    """Report benchmarks side by side; arguments as in ``factors_document``."""
    (lead,) = TEXTS.paragraphs(
        "lead", benchmarks=len(result.names), models=result.models, anchor=result.anchor, about=about
    )
    notes = dict.fromkeys(note for fit in result.fits for note in fit.table.notes)
    return Document(
        title="Benchmarks side by side",
        summary=_summary(result),
        lead=lead,
        settings=settings,
        private=private,
        sections=[_metrics(result), _agreement(result), *more],
        warnings=[
            *TEXTS.paragraphs("warnings", models=result.models),
            *few_families(result.fits[0].table.families),
            *notes,
        ],
        limitations=TEXTS.paragraphs("limitations"),
    )


def _summary(result: BenchmarkComparison) -> list[str]:
    """Which benchmark agrees best, and with which ones it is tied."""
    best = int(np.argmax([estimate.value for estimate in result.agreement]))
    tied = []
    for first, second, estimate in result.differences:
        if best in (first, second) and estimate.low <= 0 <= estimate.high:
            tied.append(result.names[second if first == best else first])
    sizes = [result.tasks(number) for number in range(len(result.names))]
    return TEXTS.paragraphs(
        "summary",
        best=result.names[best],
        anchor=result.anchor,
        r=f"{result.agreement[best].value:.2f}".replace("-", "\N{MINUS SIGN}"),
        tied=tied,
        others=len(result.names) - 1,
        alone=[
            name
            for number, name in enumerate(result.names)
            if result.tasks(number) == len(result.fits[number].bound.abilities)
        ],
        fewest=min(sizes),
        most=max(sizes),
    )


def _metrics(result: BenchmarkComparison) -> Section:
    rows: list[list[TableCell]] = []
    for number, (name, fit) in enumerate(zip(result.names, result.fits, strict=True)):
        cells: list[TableCell] = [name, len(fit.bound.abilities), result.tasks(number)]
        for metric, estimate in result.metrics(number).items():
            has_interval = metric not in ("d_div", "sum") or result.models >= FEWEST_D_DIV
            interval = finite_interval(estimate.low, estimate.high) if has_interval else None
            cells += [finite_number(estimate.value), interval]
        rows.append(cells)
    heads = ["Benchmark", "Abilities", "Tasks"]
    for label in ("D_div", "TC", "D_valid", "Sum"):
        heads += [label, "95 % interval"]
    table = Table(title="Metrics of benchmarks", heads=heads, labels=1, rows=rows, breaks=(5, 7, 9))
    charts = [
        _bars(result, label, [result.metrics(number)[metric] for number in range(len(result.names))])
        for label, metric in (("D_div", "d_div"), ("TC", "tc"), ("D_valid", "d_valid"))
    ]
    charts.append(_bars(result, f"r of the mean with {result.anchor}", result.agreement))
    text = TEXTS.paragraphs("metrics", models=result.models, fewest_d_div=FEWEST_D_DIV)
    return Section(title="Metrics", text=text, panels=charts, tables=[table])


def _bars(result: BenchmarkComparison, title: str, estimates: Sequence[FactorEstimate]) -> ChartRows:
    lines = []
    for name, estimate in zip(result.names, estimates, strict=True):
        ends = [estimate.value, estimate.low, estimate.high]
        if np.isfinite(ends).all():
            lines.append((name, interval_bar(*(max(0.0, end) for end in ends)), str(Number(estimate.value))))
    return ChartRows(title=title, axis=("0", ".5", "1"), groups=[("", lines)])


def _agreement(result: BenchmarkComparison) -> Section:
    rows: list[list[TableCell]] = []
    for name, fit, estimate in zip(result.names, result.fits, result.agreement, strict=True):
        people = fit.agreement
        crossed = None if people is None else finite_number(people.cross_fitted)
        rows.append([name, finite_number(estimate.value), finite_interval(estimate.low, estimate.high), crossed])
    heads = ["Benchmark", "r of the mean", "95 % interval", "r of the weighted overall"]
    table = Table(title=f"Agreement with {result.anchor} (Pearson)", heads=heads, labels=1, rows=rows)
    compared: list[list[TableCell]] = [
        [
            result.names[first],
            result.names[second],
            Number(estimate.value, 3, sign=True),
            finite_interval(estimate.low, estimate.high),
        ]
        for first, second, estimate in result.differences
    ]
    differences = Table(
        title="Differences of agreement",
        heads=["Benchmark", "With", "Difference of r", "95 % interval"],
        labels=2,
        rows=compared,
    )
    text = TEXTS.paragraphs("agreement")
    return Section(title="Agreement", text=text, tables=[table, differences])
