"""One model on two datasets as a document: whether it was paired, the differences, what to know of both scores."""

from dataclasses import asdict
from typing import Any

from vcrgen.core.plurals import pluralize
from vcrgen.report.document import Document, Section
from vcrgen.report.table import MINUS, Interval, Number, Percent, PValue, Table, TableCell
from vcrgen.scorer.across import AcrossResult
from vcrgen.scorer.results import RunResult, as_named, warning_sentences
from vcrgen.scorer.score_report import remarks

SCHEMA = "vcrgen-across-2"


def across_document(result: AcrossResult) -> Document:
    """Make the document of a comparison."""
    a, b = result.a, result.b
    return Document(
        title=f"{result.model} on two datasets",
        lead=f"A is {a.name} (data {a.signature.facts.get('data', 'without a name')}), B is {b.name} (data "
        f"{b.signature.facts.get('data', 'without a name')}). {pairing_sentence(result)}",
        sections=[
            Section(
                text=[cell.conclusion for cell in result.cells], tables=[_table(result)], notes=list(remarks([a, b]))
            )
        ],
        warnings=list(warning_sentences([a, b])),
        settings=f"Signatures: {a.signature} and {b.signature}",
        csv_table=_csv_table(result),
        json_value=_json_value(result),
    )


def pairing_sentence(result: AcrossResult) -> str:
    """Say whether the two were paired, and why not."""
    task = result.a.task
    if result.shared is None:
        return f"Unpaired: saved scores of a hidden set do not tell its {task.clusters}."
    both = pluralize(result.shared, f"{task.cluster} is", f"{task.clusters} are")
    if not result.paired:
        return f"Unpaired: {both} in both."
    left = [(run.cells[0].clusters - result.shared, run.title) for run in (result.a, result.b)]
    said = " and ".join(f"{count:,} more of {name}" for count, name in left if count)
    return f"Paired by {task.cluster}: {both} in both{f'; left out: {said}' if said else ''}."


def _table(result: AcrossResult) -> Table:
    task = result.a.task
    metrics = [metric for metric in task.main_metrics if any(metric in cell.metrics for cell in result.cells)]
    rows: list[tuple[TableCell, ...]] = []
    for cell in result.cells:
        figures: list[TableCell] = []
        for metric in metrics:
            if estimate := cell.metrics.get(metric):
                interval = Interval(estimate.low, estimate.high, sign=True)
                figures += [Percent(estimate.a), Percent(estimate.b), Percent(estimate.value, sign=True), interval]
            else:
                figures += [None] * 4
        rows.append((cell.variant, cell.view.label, *figures[:4], PValue(cell.p_corrected), *figures[4:]))
    labels = [task.metrics[metric].label for metric in metrics]
    heads = [(f"{label} A", f"{label} B", f"A {MINUS} B", "95 % interval") for label in labels]
    return Table(
        title="One model on A and on B, in percent",
        heads=(task.axis_label, "View", *heads[0], "Corrected p", *(head for more in heads[1:] for head in more)),
        labels=2,
        rows=rows,
        breaks=(7,) if len(metrics) > 1 else (),
    )


def _csv_table(result: AcrossResult) -> Table:
    """A line for each metric of each cell, in percent."""
    rows: list[tuple[TableCell, ...]] = [
        (cell.variant, cell.view.value, name, *map(Percent, estimate[:5]), Number(estimate.p))
        for cell in result.cells
        for name, estimate in cell.metrics.items()
    ]
    heads = (result.a.task.axis, "view", "metric", "a", "b", "difference", "low", "high", "p")
    return Table(title="", heads=heads, labels=3, rows=rows)


def _json_value(result: AcrossResult) -> Any:
    cells = [
        {**asdict(cell), "metrics": {name: estimate._asdict() for name, estimate in cell.metrics.items()}}
        for cell in result.cells
    ]
    value = {
        "schema": SCHEMA,
        "model": result.model,
        "a": _side(result.a),
        "b": _side(result.b),
        "shared": result.shared,
        "paired": result.paired,
        "comparisons": cells,
    }
    return as_named(value, result.a.task.field_names)


def _side(run: RunResult) -> dict[str, Any]:
    return {
        "name": run.name,
        "signature": str(run.signature),
        "clusters": run.cells[0].clusters,
        "missing": {f"{cell.variant} {cell.view}": cell.missing for cell in run.cells},
    }
