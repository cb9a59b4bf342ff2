"""Causes of errors: a list of all errors for maintainers, and what they write into its column ``cause``.

An error is a text that somebody typed for a span and that is not its answer. A name or date that nobody can restore is
excused in the filtered scores, as in Table 3 of the VCR paper.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from vcrgen.core.errors import StudyError
from vcrgen.core.reading import check_file_size, read_csv
from vcrgen.report.forms import as_csv
from vcrgen.report.table import Table
from vcrgen.study.creation import check_source
from vcrgen.study.grading import grade, question_of
from vcrgen.study.records import ErrorId, GradedResponse, StudyDesign
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_items
from vcrgen.study.store.steps import read_steps

NAME = "name"
CAUSES = {
    NAME: "name or date",
    "slip": "slip of the fingers",
    "unreadable": "cannot be read",
    "item": "fault of the item",
}
HEADS = ("id", "item", "span", "answer", "typed", "raters", "cause")
MAX_BYTES = 64 << 20


def list_errors(store: StudyStore, data: str | None = None) -> str:
    """The errors of a study as CSV with an empty column ``cause``.

    Args:
        data: Where the dataset is now, if it was moved.

    Raises:
        StudyError: The dataset has changed, the study is an audit, or it shows no pictures.
    """
    with store.reading() as connection:
        design, items, steps = read_design(connection), read_items(connection), read_steps(connection)
    check_has_causes(store, design)
    source = check_source(design, data)
    raters = Counter(response.error for response in errors_of(grade(source, items, steps), design.text_only))
    rows = []
    for error in sorted(raters):
        question = question_of(source, items[error.item])
        answer = question.answers[error.place]
        rows.append((error_id(error), question.question_id, error.place + 1, answer, error.typed, raters[error], ""))
    return as_csv(Table(title="", heads=HEADS, labels=5, rows=rows))


def check_has_causes(store: StudyStore, design: StudyDesign) -> None:
    """Refuse the causes of an audit, and of a study without pictures: causes are of what people saw.

    Raises:
        StudyError: It is one of these.
    """
    if design.draw:
        raise StudyError(
            f"{store.folder} is an audit: its raters name the errors, and `vcrgen study report` lists them."
        )
    if len(design.text_only) == len(design.conditions):
        raise StudyError(f"{store.folder} shows no pictures, so its errors have no causes.")


def errors_of(graded: Iterable[GradedResponse], text_only: Collection[int]) -> list[GradedResponse]:
    """The responses that are errors: a text that is not the answer, by somebody who saw the picture."""
    return [
        response
        for response in graded
        if not response.exact_match and response.typed.strip() and response.condition not in text_only
    ]


def error_id(error: ErrorId) -> str:
    """Return a name that spreadsheets leave as it is: they change texts, and read twelve digits as a number."""
    return "e" + hashlib.sha256("\x1f".join(map(str, error)).encode()).hexdigest()[:12]


def read_causes(file: Path, errors: Collection[ErrorId]) -> dict[ErrorId, str]:
    """Read the list of errors with its causes; those without a cause are left out.

    Args:
        file: CSV with the columns ``id`` and ``cause``.

    Raises:
        StudyError: It cannot be read, lacks a column, has a cause or an id that is not known, or an id twice; the
            message has the line.
    """
    check_file_size(file, MAX_BYTES, "it is not a list of errors", StudyError)
    by_id = {error_id(error): error for error in errors}
    lines: dict[str, int] = {}
    causes = {}
    for line, row in read_csv(file, StudyError, delimiters=",;\t", required=("id", "cause")):
        name, cause = row["id"].strip(), row["cause"].strip().lower()
        place = f"{file}, line {line}"
        if name not in by_id:
            raise StudyError(f"{place}: the study has no error {name[:40]!r}; take the line out.")
        if (first := lines.setdefault(name, line)) != line:
            raise StudyError(f"{place}: the error {name} is in line {first} already; keep one of them.")
        if cause and cause not in CAUSES:
            raise StudyError(f"{place}: no cause {cause[:40]!r}; known: {', '.join(CAUSES)}.")
        if cause:
            causes[by_id[name]] = cause
    return causes


def excuse(
    graded: Iterable[GradedResponse], causes: Mapping[ErrorId, str], text_only: Collection[int]
) -> list[GradedResponse]:
    """Excuse the errors whose cause is a name or date, but for responses without the picture."""
    return [
        response._replace(excused=True)
        if not response.exact_match and response.condition not in text_only and causes.get(response.error) == NAME
        else response
        for response in graded
    ]


def cause_table(graded: Sequence[GradedResponse], causes: Mapping[ErrorId, str]) -> Table:
    """The number of errors of each cause; no rows if none is given."""
    errors = [response for response in graded if not response.exact_match]
    counts = Counter(causes.get(response.error, "") for response in errors if response.typed or not response.unread)
    names = {**CAUSES, "": "none given"}
    rows = [(names[cause], counts[cause]) for cause in names if cause in counts]
    unread = sum(response.unread and not response.typed for response in errors)
    heads = ("Cause", "Errors")
    return Table(title="Causes of errors", heads=heads, labels=1, rows=[*rows, ("not typed", unread)] if causes else [])
