"""Tables of a report for people who chose options of an MCQ benchmark."""

from dataclasses import replace

from vcrgen.report.table import Table
from vcrgen.study.report_tables import ALL_PEOPLE, PEOPLE

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
_RAE = "right answers by regex-based answer extraction (RAE)"
_TITLES = {title: title.replace("exact match", _RAE) for title in (PEOPLE, ALL_PEOPLE)}


def as_mcq_table(table: Table) -> Table:
    """A table of a report without the columns of typed texts, in the words of MCQ benchmarks."""
    heads = list(table.heads)
    omitted = {column for column, head in enumerate(heads) if head in _OMITTED}
    omitted |= {
        column + 1 for column in omitted if heads[column] == "Lenient" and heads[column + 1 : column + 2] == ["sd"]
    }
    columns = [column for column in range(len(heads)) if column not in omitted]
    return replace(
        table,
        title=_TITLES.get(table.title, table.title),
        heads=tuple(_HEADS.get(heads[column], heads[column]) for column in columns),
        labels=sum(column < table.labels for column in columns),
        rows=[tuple(row[column] for column in columns) for row in table.rows],
    )
