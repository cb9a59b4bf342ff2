"""One model on two datasets as a document: whether it was paired, the differences, what to know of both scores."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from vcrgen.core.plurals import pluralize
from vcrgen.report.document import Document, Section
from vcrgen.report.table import MINUS, Interval, Number, Percent, PValue, Table, TableCell
from vcrgen.scorer.across import AcrossResult
from vcrgen.scorer.results import RunResult, as_named
from vcrgen.scorer.score_report import remarks

SCHEMA = "vcrgen-across-1"


def across_document(found: AcrossResult) -> Document:
    """Make the document of a comparison."""
    a, b = found.a, found.b
    return Document(
        title=f"{found.model} on two datasets",
        lead=f"A is {a.name} (data {a.signature.facts.get('data', 'without a name')}), B is {b.name} (data "
        f"{b.signature.facts.get('data', 'without a name')}). {pairing_sentence(found)}",
        sections=[
            Section(text=[cell.conclusion for cell in found.cells], tables=[_table(found)], notes=list(remarks([a, b])))
        ],
        settings=f"Signatures: {a.signature} and {b.signature}",
        csv_table=_csv_table(found),
        json_value=_json_value(found),
    )


def pairing_sentence(found: AcrossResult) -> str:
    """Say whether the two were paired, and why not."""
    task = found.a.task
    if found.shared is None:
        return f"Unpaired: saved scores of a hidden set do not tell its {task.clusters}."
    both = pluralize(found.shared, f"{task.cluster} is", f"{task.clusters} are")
    if not found.paired:
        return f"Unpaired: {both} in both."
    left = [(run.cells[0].clusters - found.shared, run.title) for run in (found.a, found.b)]
    said = " and ".join(f"{count:,} more of {name}" for count, name in left if count)
    return f"Paired by {task.cluster}: {both} in both{f'; left out: {said}' if said else ''}."


def _table(found: AcrossResult) -> Table:
    task = found.a.task
    shown = [metric for metric in task.main_metrics if any(metric in cell.metrics for cell in found.cells)]
    rows: list[tuple[TableCell, ...]] = []
    for cell in found.cells:
        figures: list[TableCell] = []
        for metric in shown:
            if of := cell.metrics.get(metric):
                interval = Interval(of.low, of.high, sign=True)
                figures += [Percent(of.a), Percent(of.b), Percent(of.value, sign=True), interval]
            else:
                figures += [None] * 4
        rows.append((cell.variant, cell.view.label, *figures[:4], PValue(cell.p_holm), *figures[4:]))
    labels = [task.metrics[metric].label for metric in shown]
    heads = [(f"{label} A", f"{label} B", f"A {MINUS} B", "95 % interval") for label in labels]
    return Table(
        title="One model on A and on B, in percent",
        heads=(task.axis_label, "View", *heads[0], "Holm p", *(head for more in heads[1:] for head in more)),
        labels=2,
        rows=rows,
        breaks=(7,) if len(shown) > 1 else (),
    )


def _csv_table(found: AcrossResult) -> Table:
    """A line for each metric of each cell, in percent."""
    rows: list[tuple[TableCell, ...]] = [
        (cell.variant, cell.view.value, name, *map(Percent, of[:5]), Number(of.p))
        for cell in found.cells
        for name, of in cell.metrics.items()
    ]
    heads = (found.a.task.axis, "view", "metric", "a", "b", "difference", "low", "high", "p")
    return Table(title="", heads=heads, labels=3, rows=rows)


def _json_value(found: AcrossResult) -> Any:
    cells = [
        {**asdict(cell), "metrics": {name: each._asdict() for name, each in cell.metrics.items()}}
        for cell in found.cells
    ]
    value = {
        "schema": SCHEMA,
        "model": found.model,
        "a": _side(found.a),
        "b": _side(found.b),
        "shared": found.shared,
        "paired": found.paired,
        "comparisons": cells,
    }
    return as_named(value, found.a.task.field_names)


def _side(run: RunResult) -> dict[str, Any]:
    return {"name": run.name, "signature": str(run.signature), "clusters": run.cells[0].clusters}
