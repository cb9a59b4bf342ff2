"""The report of an audit: a document, its numbers, the list of rejected items, and what a card says of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vcrgen.bloom.audit.audit_statistics import (
    AuditorStatistics,
    AuditStatistics,
    RaterAgreement,
    audit_statistics,
    rejected_ids,
)
from vcrgen.bloom.audit.draw import FILE, Draw, read_draw
from vcrgen.bloom.audit.rejected_items import read_rejected_items
from vcrgen.bloom.audit.verdicts import ERRORS, AuditVerdict, AuditVerdicts, read_judge, read_verdicts
from vcrgen.core.errors import DatasetError
from vcrgen.core.files import indented_json, output_errors, write_text
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import read_json
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.bloom import LETTERS, read_items
from vcrgen.report.document import Document, Section, html_page, render
from vcrgen.report.table import Interval, Number, Percent, Table, TableCell
from vcrgen.stats.intervals import wilson_interval
from vcrgen.stats.strata import StratifiedMean

REPORT, VALUES, WITHOUT, PAGE = "report.md", "report.json", "without.txt", "report.html"
LIMITATION = (
    "A rate weighted by category counts each category by its items in the benchmark; an item on which two raters "
    "differ counts half. Its interval is of this benchmark, for the chance of which items were drawn. The Wilson "
    "interval takes the audited items for a simple random sample."
)
NAMES = {
    AuditVerdict.APPROVE: "in order",
    AuditVerdict.IMAGE: "image quality and alignment",
    AuditVerdict.QUESTION: "question integrity",
    AuditVerdict.CHOICES: "choice validity",
    AuditVerdict.TRANSLATION: "translation fidelity",
}


def write_report(
    dataset: Dataset, draw: Draw, file: Path, folder: Path, *, judge: Path | None = None
) -> tuple[AuditStatistics, Document]:
    """Read the verdicts of raters, and write the report of an audit into a folder.

    These are ``report.md``, ``report.json``, ``without.txt`` with the ids of items that a rater did not approve, and
    ``report.html``, which also shows these items.

    Args:
        file: The verdicts, as ``vcrgen study export`` writes them.
        folder: Files of an earlier report there are replaced.
        judge: A judge's verdicts: JSON Lines with ``question_id`` and ``verdict``.

    Raises:
        DatasetError: A file cannot be read, is too large, or is no JSON Lines; no line counts; or the benchmark is
            damaged.
        OutputError: The folder cannot be written.
    """
    verdicts = read_verdicts(file, draw)
    if not verdicts.by_item:
        why = ", ".join(f"{reason} {count}" for reason, count in verdicts.problems.most_common(3))
        raise DatasetError(f"No line of {file} counts ({why or 'there is none'}).")
    judged = read_judge(judge, draw) if judge else None
    if judged and not any(judged):
        raise DatasetError(f"No line of {judge} is about a drawn item; give the judge's verdicts on this benchmark.")
    items = read_items(dataset, pictures=False)
    keys = {item.question_id: LETTERS[item.answer] for item in items if item.answer is not None}
    statistics = audit_statistics(draw, verdicts, keys, judge=judged)
    document = audit_document(draw, verdicts, statistics)
    page = audit_page(document, read_rejected_items(dataset, verdicts), len(rejected_ids(verdicts)))
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / REPORT, render(document, "md"))
        write_text(folder / VALUES, indented_json(_values(statistics, draw)))
        write_text(folder / WITHOUT, "".join(f"{question_id}\n" for question_id in rejected_ids(verdicts)))
        write_text(folder / PAGE, page)
    return statistics, document


def audit_document(
    draw: Draw, verdicts: AuditVerdicts, statistics: AuditStatistics, notes: Sequence[str] = ()
) -> Document:
    """The report of an audit as a document, with further ``notes``."""
    lead = (
        f"{len(draw.items):,} of {pluralize(sum(draw.categories.values()), 'item')} in "
        f"{pluralize(len(draw.categories), 'category', 'categories')}, judged by {pluralize(draw.raters, 'rater')}."
    )
    tables = [table for table in (*_tables(statistics), _remarks(draw, verdicts)) if table.rows]
    return Document(
        title="Audit of an MCQ benchmark",
        lead=lead,
        sections=[Section(tables=tables)],
        limitations=[LIMITATION, *notes],
        settings=f"Draw: {draw.name}",
    )


def audit_page(document: Document, items: Sequence[Mapping[str, Any]], count: int) -> str:
    """Write a page of the report, with the rejected ``items`` that it shows, of ``count``."""
    return html_page(
        document, "vcrgen.bloom.audit", "audit_report.html", "question.css", items=items, count=count, names=NAMES
    )


def audit_section(dataset: Dataset, folder: Path) -> str:
    """The section on an audit for the card of a benchmark, in Markdown.

    Args:
        folder: Where the audit is kept.

    Raises:
        DatasetError: There is no draw or no report, one of them was changed, or they are of another benchmark.
    """
    draw, file = read_draw(folder / FILE, dataset), folder / VALUES
    if not file.is_file():
        raise DatasetError(f"{folder} has no report yet; write it with `vcrgen bloom audit report`.")
    values = read_json(file, DatasetError)

    def share(value: Any) -> str:
        if not isinstance(value, float | int) or not 0 <= value <= 1:
            raise ValueError
        return f"{100 * value:.1f} %"

    try:
        if values["draw"] != draw.name:
            raise ValueError
        audited, rate, faults = int(values["audited"]), values["overall"], values["errors"]
        classes = ", ".join(f"{NAMES[error]} {share(faults[error]['value'])}" for error in ERRORS)
        ends = f"{share(rate['low'])} to {share(rate['high'])}"
        text = f"In order, weighted by category: {share(rate['value'])} (95 % interval {ends}). At fault: {classes}."
        if agreement := values["agreement"]:
            text += f" Two people judged {int(agreement['items']):,} of them, and agree on {share(agreement['same'])}."
        if empty := len(values["empty"]):
            text += f" No item of {empty:,} categories was judged; no rate covers them."
    except (ValueError, TypeError, KeyError, OverflowError):
        raise DatasetError(f"{file} is not the report of this audit; write it again.") from None
    items = dataset.built.pairs
    if audited < items:
        text += " Among the items that were not judged, about as large a share is at fault."
    return (
        f"\n## Audit\n\nPeople judged {audited:,} of {items:,} items. {text}\n\n"
        "Items that a rater did not approve are left out; the rates are of the benchmark before.\n"
    )


def _tables(statistics: AuditStatistics) -> list[Table]:
    """The tables of the estimates; some have no rows."""
    judge, heads = statistics.judge, ("Of", "Items", "Same, %", "AC1", "Kappa")
    agreed = {"in order or not": statistics.agreement, "all five verdicts": statistics.classes}
    tables = [
        _rates(statistics),
        _raters(statistics.raters),
        _table(
            "Agreement of raters",
            heads,
            [_agreement(name, agreement) for name, agreement in agreed.items() if agreement],
        ),
    ]
    problems = {str(reason): count for reason, count in statistics.problems.items()}
    if judge:
        rows: list[list[TableCell]] = [
            ["judge: in order", judge.both, judge.judge_only],
            ["judge: at fault", judge.people_only, judge.neither],
        ]
        tables.append(_table("Judge against people", ("Items", "People: in order", "People: at fault"), rows))
        pairs = [_agreement("in order or not", judge.agreement)] if judge.agreement else []
        tables.append(_table("Agreement of judge and people", heads, pairs))
        problems |= {f"judge: {reason}": count for reason, count in judge.problems.items()}
    tables.append(_table("Rejected lines", ("Reason", "Lines"), sorted(problems.items())))
    empty = list(statistics.empty.items())
    tables.append(_table("Categories without a verdict, which no rate covers", ("Category", "Items"), empty))
    return tables


def _rates(statistics: AuditStatistics) -> Table:
    rows: list[list[TableCell]] = []

    def add(name: str, mean: StratifiedMean | None) -> None:
        if mean:
            rows.append([name, mean.drawn, Percent(mean.value), Interval(mean.low, mean.high)])

    add("in order, weighted by category", statistics.overall)
    if statistics.audited:
        share = statistics.approved / statistics.audited
        wilson = Interval(*wilson_interval(share, statistics.audited))
        rows.append(["in order, of the audited (Wilson)", statistics.audited, Percent(share), wilson])
    for level, mean in statistics.levels.items():
        add(f"in order, {level}", mean)
    for error, mean in statistics.errors.items():
        add(f"at fault: {NAMES[error]}", mean)
    title = f"Rates: {statistics.audited:,} of {pluralize(statistics.drawn, 'drawn item')} judged"
    return _table(title, ("Rate", "Audited", "%", "95 % interval"), rows)


def _raters(raters: Sequence[AuditorStatistics]) -> Table:
    rows: list[list[TableCell]] = []
    for rater in raters:
        right, count = rater.own_answers
        approved = Percent(rater.approved / rater.judged) if rater.judged else None
        rows.append(
            [str(rater.rater), rater.assigned, rater.judged, approved, Percent(right / count) if count else None]
        )
    return _table("Raters", ("Rater", "Assigned", "Judged", "In order, %", "Own answer is the key, %"), rows)


def _agreement(name: str, agreement: RaterAgreement) -> list[TableCell]:
    return [name, agreement.items, Percent(agreement.same), Number(agreement.ac1), Number(agreement.kappa)]


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[TableCell]]) -> Table:
    return Table(title=title, heads=heads, labels=1, rows=rows)


def _remarks(draw: Draw, verdicts: AuditVerdicts) -> Table:
    """The table of verdicts on items that a rater did not approve, or wrote a note on."""
    rows: list[list[TableCell]] = []
    paths = {item.question_id: item.path for item in draw.items}
    rejected = set(rejected_ids(verdicts))
    for question_id, of_item in sorted(verdicts.by_item.items()):
        if question_id in rejected or any(verdict.note for verdict in of_item.values()):
            for rater, verdict in sorted(of_item.items()):
                rows.append([question_id, paths[question_id], str(rater), NAMES[verdict.verdict], verdict.note])
    heads = ("Item", "Category", "Rater", "Verdict", "Note")
    title = "Items that a rater did not approve, or wrote a note on"
    return Table(title=title, heads=heads, labels=len(heads), rows=rows)


def _values(statistics: AuditStatistics, draw: Draw) -> Mapping[str, Any]:
    def mean(estimate: StratifiedMean | None) -> Mapping[str, float] | None:
        return estimate and estimate._asdict()

    return asdict(statistics) | {
        "draw": draw.name,
        "overall": mean(statistics.overall),
        "levels": {level: mean(estimate) for level, estimate in statistics.levels.items()},
        "errors": {error: mean(estimate) for error, estimate in statistics.errors.items()},
    }
