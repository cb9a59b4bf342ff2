"""``vcrgen study adjudicate``: maintainers mark the causes of errors, each on a sheet of their own.

A sheet is CSV with a line for each error, and a page beside it shows the pictures. It holds no marks of others, so two
maintainers mark independently. Only causes on which all agree who named one count.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vcrgen.errors import StudyError
from vcrgen.files import output_errors, write_text
from vcrgen.media import data_uri
from vcrgen.reading import check_file_size, read_csv
from vcrgen.report.forms import as_csv
from vcrgen.report.pages import page_templates
from vcrgen.report.table import Table
from vcrgen.study.creation import check_source
from vcrgen.study.grading import ERROR_CAUSES, grade, question_of
from vcrgen.study.records import ErrorId
from vcrgen.study.source import displayed_questions
from vcrgen.study.store.causes import read_causes, save_causes
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_items, read_picture
from vcrgen.study.store.steps import read_steps

NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
MAX_BYTES = 64 << 20
HEADS = ("id", "item", "span", "answer", "typed", "raters", "cause")


class Sheets(NamedTuple):
    """The files of a run, and their numbers of errors."""

    sheet: Path
    page: Path
    marked: int  # errors with a cause
    errors: int
    unknown: int  # lines of the sheet whose text nobody has typed any more


class TypedError(NamedTuple):
    """A typed text that is not the answer."""

    error: ErrorId
    question_id: str
    answer: str
    raters: int
    condition: int  # one in which it was typed
    questions: Sequence[Mapping[str, Any]]  # of an MCQ item

    @property
    def id(self) -> str:
        """Twelve hex digits that identify a line of a sheet; spreadsheets may change texts."""
        return hashlib.sha256("\x1f".join(map(str, self.error)).encode()).hexdigest()[:12]


def adjudicate(store: StudyStore, maintainer: str, *, data: str | None = None) -> Sheets:
    """Read the marks of a maintainer, and write the sheet anew with all errors that there are by now.

    The sheet is ``causes-NAME.csv`` in the study's folder.

    Args:
        store: The study.
        maintainer: A name of letters, digits, points and hyphens.
        data: Where the dataset is now, if it was moved.

    Raises:
        StudyError: The name is none, the sheet cannot be read, a cause is unknown, the dataset has changed, the
            study is an audit, or it shows no pictures.
    """
    if not NAME.fullmatch(maintainer):
        raise StudyError(f"{maintainer[:80]!r} is no name; take 1 to 40 letters, digits, points and hyphens (--by).")
    sheet = store.folder / f"causes-{maintainer}.csv"
    page = sheet.with_suffix(".html")
    errors = typed_errors(store, data)
    by_id = {error.id: error.error for error in errors}
    unknown = 0
    if sheet.exists():
        read = read_sheet(sheet)
        unknown = len(set(read) - set(by_id))
        with store.writing() as connection:
            causes = {by_id[each]: cause for each, cause in read.items() if each in by_id}
            save_causes(connection, maintainer, causes)
    with store.reading() as connection:
        known = read_causes(connection).get(maintainer, {})
        pictures = {
            (error.error[0], error.condition): read_picture(connection, error.error[0], error.condition)
            for error in errors
        }
    with output_errors(store.folder):
        write_text(sheet, _sheet(errors, known))
        write_text(page, _page(errors, pictures))
        for file in (sheet, page):
            file.chmod(0o600)  # they show answers
    return Sheets(sheet, page, len(known), len(errors), unknown)


def typed_errors(store: StudyStore, data: str | None = None) -> list[TypedError]:
    """Return every different error, in the order of the items.

    Causes are of readings of a picture: responses without it are left out.
    """
    with store.reading() as connection:
        design, items, steps = read_design(connection), read_items(connection), read_steps(connection)
    if design.draw:
        raise StudyError(
            f"{store.folder} is an audit: its raters name the errors, and `vcrgen study report` lists them."
        )
    if len(design.text_only) == len(design.conditions):
        raise StudyError(f"{store.folder} shows no pictures, so its errors have no causes to mark.")
    source = check_source(design, data)
    found: dict[ErrorId, TypedError] = {}
    for one in grade(source, items, steps):
        about = (one.item, one.place, one.typed)
        if one.exact_match or not one.typed.strip() or one.condition in design.text_only:
            continue
        if about in found:
            found[about] = found[about]._replace(raters=found[about].raters + 1)
            continue
        question = question_of(source, items[one.item])
        found[about] = TypedError(
            about, question.question_id, question.answers[one.place], 1, one.condition, displayed_questions(question)
        )
    return [found[about] for about in sorted(found)]


def read_sheet(file: Path) -> dict[str, str]:
    """Return the causes of a sheet by the id of its lines; lines without a cause are left out.

    Raises:
        StudyError: It cannot be read, lacks a column, or names a cause that is none; the message has the line.
    """
    check_file_size(file, MAX_BYTES, "it is not a sheet of causes", StudyError)
    found = {}
    for line, row in read_csv(file, StudyError, delimiters=",;\t", required=("id", "cause")):
        cause = row["cause"].strip().lower()
        if cause and cause not in ERROR_CAUSES:
            named = ", ".join(ERROR_CAUSES)
            raise StudyError(f"{file}, line {line}: no cause {cause[:40]!r}; known: {named}.")
        if cause:
            found[row["id"].strip()] = cause
    return found


def _sheet(errors: Sequence[TypedError], known: Mapping[ErrorId, str]) -> str:
    rows = [
        (
            error.id,
            error.question_id,
            error.error[1] + 1,
            error.answer,
            error.error[2],
            error.raters,
            known.get(error.error, ""),
        )
        for error in errors
    ]
    return as_csv(Table(title="", heads=HEADS, labels=5, rows=rows))


def _page(errors: Sequence[TypedError], pictures: Mapping[tuple[int, int], bytes]) -> str:
    shown: dict[tuple[int, bytes], list[TypedError]] = {}  # those of the same picture stand together
    for error in errors:
        item = error.error[0]
        shown.setdefault((item, pictures[item, error.condition]), []).append(error)
    items = [(data_uri(png), of_one) for (_, png), of_one in shown.items()]
    templates = page_templates("vcrgen.study vcrgen.bloom.audit", style="question.css")
    return templates.render("errors.html", title="Errors and their causes", items=items, causes=ERROR_CAUSES)
