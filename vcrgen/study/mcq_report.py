"""Tables of a report for people who chose options of an MCQ benchmark."""

from __future__ import annotations

from dataclasses import replace

from vcrgen.report.table import Table

_OMITTED = {"Language", "Items", "Lenient", "alpha edits", "Span"}  # heads that do not apply to options
_HEADS = {
    "Mode and view": "Language and view",
    "Mode": "Asked in",
    "Spans": "Questions",
    "Exact match": "RAE",
    "alpha texts": "alpha options",
    "Typed": "Chosen",
    "Unread": "Cannot tell",
}
_TITLES = {"People, exact match in percent": "People, right answers by regex-based answer extraction (RAE) in percent"}


def as_mcq_table(table: Table) -> Table:
    """Return a table of a report without the columns of typed texts, in the words of MCQ benchmarks."""
    heads = list(table.heads)
    omitted = {place for place, head in enumerate(heads) if head in _OMITTED}
    omitted |= {place + 1 for place in omitted if heads[place] == "Lenient" and heads[place + 1 : place + 2] == ["sd"]}
    kept = [place for place in range(len(heads)) if place not in omitted]
    return replace(
        table,
        title=_TITLES.get(table.title, table.title),
        heads=tuple(_HEADS.get(heads[place], heads[place]) for place in kept),
        labels=sum(place < table.labels for place in kept),
        rows=[tuple(row[place] for place in kept) for row in table.rows],
    )
