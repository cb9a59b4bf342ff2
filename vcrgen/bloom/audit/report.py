"""The report of an audit: tables for people, JSON for programs, and the list of items that were not approved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vcrgen.bloom.audit.answers import ERRORS, AuditVerdict, RaterAnswers, read_answers, read_judge
from vcrgen.bloom.audit.draw import FILE, Draw, read_draw
from vcrgen.bloom.audit.figures import AuditFigures, RaterAgreement, RaterFigures, audit_figures, rejected
from vcrgen.bloom.audit.page import pages_of
from vcrgen.dataset.reader import Dataset
from vcrgen.errors import DatasetError
from vcrgen.files import indented_json, output_errors, write_text
from vcrgen.plurals import counted
from vcrgen.reading import read_json
from vcrgen.report.forms import as_markdown
from vcrgen.report.pages import Templates
from vcrgen.report.table import Interval, Number, Percent, Table, TableCell
from vcrgen.stats.intervals import wilson_interval
from vcrgen.stats.strata import StratifiedMean
from vcrgen.tasks.bloom import LETTERS, read_items

REPORT, VALUES, WITHOUT, FAULTS = "report.md", "report.json", "without.txt", "faults.html"
HOW_TO_READ = (
    "A rate weighted by leaf counts each leaf by its items in the set; an item on which two raters differ counts half. "
    "Its interval is of this set, for the chance of which items were drawn. Wilson's takes the audited items for a "
    "simple sample."
)
NAMES = {
    AuditVerdict.APPROVE: "in order",
    AuditVerdict.IMAGE: "image quality and alignment",
    AuditVerdict.QUESTION: "question integrity",
    AuditVerdict.CHOICES: "choice validity",
    AuditVerdict.TRANSLATION: "translation fidelity",
}


def make_report(
    dataset: Dataset, draw: Draw, files: Sequence[Path], folder: Path, *, judge: Path | None = None
) -> tuple[AuditFigures, list[Table]]:
    """Read what raters exported, and write what they say of the set into a folder.

    These are ``report.md``, ``report.json``, ``without.txt`` with the ids of items that a rater did not approve, and
    ``faults.html``, which shows these items.

    Args:
        dataset: The set of which the draw is.
        draw: Who looked at which items.
        files: What the pages exported, one or more a rater.
        folder: Files of an earlier report there are replaced.
        judge: A judge's verdicts: JSON Lines with ``question_id`` and ``verdict``.

    Returns:
        The figures, and the tables that show them.

    Raises:
        DatasetError: A file cannot be read, is too large, or is no JSON Lines; no line counts; or the set is damaged.
        OutputError: The folder cannot be written.
    """
    answers = read_answers(files, draw)
    if not answers.said:
        why = ", ".join(f"{reason} {count}" for reason, count in answers.problems.most_common(3))
        which = f"{files[0]}" if len(files) == 1 else f"{files[0]} or the other files"
        raise DatasetError(f"No line of {which} counts ({why or 'there is none'}).")
    verdicts = read_judge(judge, draw) if judge else None
    if verdicts and not any(verdicts):
        raise DatasetError(f"No line of {judge} is about a drawn item; give the judge's verdicts on this set.")
    keys = {
        item.question_id: LETTERS[item.answer]
        for item in read_items(dataset, pictures=False)
        if item.answer is not None
    }
    figures = audit_figures(draw, answers, keys, judge=verdicts)
    tables = audit_tables(figures)
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / REPORT, _markdown([*tables, faults_table(draw, answers)], draw))
        write_text(folder / VALUES, indented_json(_values(figures, draw)))
        write_text(folder / WITHOUT, "".join(f"{question_id}\n" for question_id in rejected(answers)))
        write_text(folder / FAULTS, _faults_page(dataset, answers))
    return figures, tables


def audit_section(dataset: Dataset, folder: Path) -> str:
    """What the card of a set says of an audit that has a report, in Markdown.

    Args:
        dataset: The set of which the audit is.
        folder: Where the audit is kept.

    Raises:
        DatasetError: There is no draw or no report, one of them was changed, or they are of another set.
    """
    draw, file = read_draw(folder / FILE, dataset), folder / VALUES
    if not file.is_file():
        raise DatasetError(f"{folder} has no report yet; write it with `vcrgen bloom audit report`.")
    values = read_json(file, DatasetError)

    def share(of: Any) -> str:
        if not isinstance(of, float | int) or not 0 <= of <= 1:
            raise ValueError
        return f"{100 * of:.1f} %"

    try:
        if values["draw"] != draw.name:
            raise ValueError
        audited, rate, faults = int(values["audited"]), values["overall"], values["errors"]
        told = ", ".join(f"{NAMES[error]} {share(faults[error]['value'])}" for error in ERRORS)
        ends = f"{share(rate['low'])} to {share(rate['high'])}"
        text = f"In order, weighted by leaf: {share(rate['value'])} (95 % interval {ends}). At fault: {told}."
        if of := values["agreement"]:
            text += f" Two people judged {int(of['items']):,} of them, and say the same of {share(of['same'])}."
        if nobody := len(values["empty"]):
            text += f" Nobody looked at an item of {nobody:,} leaves, of which no rate speaks."
    except (ValueError, TypeError, KeyError, OverflowError):
        raise DatasetError(f"{file} is not the report of this audit; write it again.") from None
    items = dataset.built.pairs
    if audited < items:
        text += " Among the items that nobody looked at, about as large a share is at fault."
    return (
        f"\n## Audit\n\nPeople looked at {audited:,} of {items:,} items. {text}\n\n"
        "Items that somebody did not approve are left out; the rates are of the set before.\n"
    )


def audit_tables(figures: AuditFigures) -> list[Table]:
    """The figures as tables; those of which there is nothing to say are left out."""
    tables = [_rates(figures), _raters(figures.raters)]
    if figures.agreement and figures.classes:
        rows = [_agreed("in order or not", figures.agreement), _agreed("all five verdicts", figures.classes)]
        tables.append(_table("Agreement of raters", ("Of", "Items", "Same, %", "AC1", "Kappa"), rows))
    if judge := figures.judge:
        rows = [
            ["judge: in order", judge.both, judge.judge_only],
            ["judge: at fault", judge.people_only, judge.neither],
        ]
        tables.append(_table("Judge against people", ("Items", "People: in order", "People: at fault"), rows))
        if judge.agreement:
            heads = ("Of", "Items", "Same, %", "AC1", "Kappa")
            tables.append(_table("Agreement of judge and people", heads, [_agreed("in order or not", judge.agreement)]))
    lost = dict(figures.problems) | {
        f"judge: {name}": count for name, count in (judge.problems if judge else {}).items()
    }
    if lost:
        tables.append(
            _table("Lines that do not count", ("Reason", "Lines"), [[str(k), v] for k, v in sorted(lost.items())])
        )
    if figures.empty:
        rows = [[path, size] for path, size in figures.empty.items()]
        tables.append(
            _table("Leaves of which nothing is audited, and no rate speaks", ("Leaf", "Items of the set"), rows)
        )
    return tables


def _rates(figures: AuditFigures) -> Table:
    rows: list[list[TableCell]] = []

    def add(name: str, mean: StratifiedMean | None) -> None:
        if mean:
            rows.append([name, mean.drawn, Percent(mean.value), Interval(mean.low, mean.high)])

    add("in order, weighted by leaf", figures.overall)
    if figures.audited:
        share = figures.approved / figures.audited
        wilson = Interval(*wilson_interval(share, figures.audited))
        rows.append(["in order, of the audited (Wilson)", figures.audited, Percent(share), wilson])
    for level, mean in figures.levels.items():
        add(f"in order, {level}", mean)
    for error, mean in figures.errors.items():
        add(f"fault: {NAMES[error]}", mean)
    title = f"Audit: {figures.audited:,} of {counted(figures.drawn, 'drawn item')}"
    return _table(title, ("Rate", "Audited", "%", "95 % interval"), rows)


def _raters(raters: Sequence[RaterFigures]) -> Table:
    rows: list[list[TableCell]] = []
    for of in raters:
        right, count = of.own
        approved = Percent(of.approved / of.judged) if of.judged else None
        rows.append([str(of.rater), of.dealt, of.judged, approved, Percent(right / count) if count else None])
    return _table("Raters", ("Rater", "Dealt", "Judged", "In order, %", "Own answer is the key, %"), rows)


def _agreed(name: str, of: RaterAgreement) -> list[TableCell]:
    return [name, of.items, Percent(of.same), Number(of.ac1), Number(of.kappa)]


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[TableCell]]) -> Table:
    return Table(title=title, heads=heads, labels=1, rows=rows)


def faults_table(draw: Draw, answers: RaterAnswers) -> Table:
    """What raters say of the items that one of them did not approve, or wrote a note on."""
    rows: list[list[TableCell]] = []
    paths = {item.question_id: item.path for item in draw.items}
    faulty = set(rejected(answers))
    for question_id, every in sorted(answers.said.items()):
        if question_id in faulty or any(said.note for said in every.values()):
            for rater, said in sorted(every.items()):
                rows.append([question_id, paths[question_id], str(rater), NAMES[said.verdict], said.note])
    heads = ("Item", "Path", "Rater", "Verdict", "Note")
    return Table(
        title="Items that a rater did not approve, or wrote a note on", heads=heads, labels=len(heads), rows=rows
    )


def _faults_page(dataset: Dataset, answers: RaterAnswers) -> str:
    """The items that a rater did not approve, each with its picture and what was said, as many as a page holds."""
    wanted = rejected(answers)
    pictures, items = next(pages_of(dataset, set(wanted)), ({}, []))
    shown = [
        item
        | {
            "picture": pictures.get(item["picture"]), "said": answers.said[item["id"]],
            "right": "" if item["key"] is None else LETTERS[item["key"]],
        }
        for item in items
    ]  # fmt: skip
    templates = Templates("vcrgen.bloom.audit", style="item.css articles.css")
    return templates.render(
        "faults.html", title="Items that a rater did not approve", count=len(wanted), items=shown, names=NAMES
    )


def _markdown(tables: Sequence[Table], draw: Draw) -> str:
    about = (
        f"Draw `{draw.name}`: {len(draw.items):,} of {counted(sum(draw.leaves.values()), 'item')}, "
        f"{counted(len(draw.leaves), 'leaf', 'leaves')}. {HOW_TO_READ}"
    )
    parts = [f"## {table.title}\n\n{as_markdown(table)}" for table in tables if table.rows]
    return "\n\n".join(["# Audit of a question set", about, *parts]) + "\n"


def _values(figures: AuditFigures, draw: Draw) -> Mapping[str, Any]:
    def mean(of: StratifiedMean | None) -> Mapping[str, float] | None:
        return of and of._asdict()

    return asdict(figures) | {
        "draw": draw.name, "overall": mean(figures.overall),
        "levels": {level: mean(of) for level, of in figures.levels.items()},
        "errors": {error: mean(of) for error, of in figures.errors.items()},
    }  # fmt: skip
