"""``vcrgen study adjudicate``: maintainers say why texts are wrong, each on a sheet of their own.

A sheet is CSV with a line for each wrong text, and a page beside it shows the pictures. It holds nothing of what others
have marked, so two maintainers mark blind to each other. Only causes on which all agree who named one count.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vcrgen.errors import StudyError
from vcrgen.files import output_errors, write_text
from vcrgen.media import data_uri
from vcrgen.reading import check_file_size
from vcrgen.report.forms import as_csv
from vcrgen.report.pages import Templates
from vcrgen.report.table import Table
from vcrgen.study import store as db
from vcrgen.study.make import check_source
from vcrgen.study.marks import CAUSES, mark, question_of
from vcrgen.study.records import Wrong
from vcrgen.study.source import questions_shown
from vcrgen.study.store import Store

NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
MAX_BYTES = 64 << 20
MAX_FIELD = 1 << 17  # characters of a cell
HEADS = ("id", "item", "span", "answer", "typed", "raters", "cause")


class Sheets(NamedTuple):
    """What a run has done."""

    sheet: Path
    page: Path
    marked: int  # wrong texts with a cause
    errors: int  # wrong texts
    unknown: int  # lines of the sheet whose text nobody has typed any more


class WrongText(NamedTuple):
    """A text that is not the answer, and who typed it."""

    about: Wrong
    question_id: str
    answer: str
    raters: int
    condition: int  # one in which it was typed
    questions: Sequence[Mapping[str, Any]]  # of an item of a question set, what was asked

    @property
    def id(self) -> str:
        """Twelve hex digits by which a line of a sheet is known; spreadsheets may change texts."""
        return hashlib.sha256("\x1f".join(map(str, self.about)).encode()).hexdigest()[:12]


def adjudicate(store: Store, maintainer: str, *, data: str | None = None) -> Sheets:
    """Take in what a maintainer has marked, and write the sheet anew with all wrong texts that there are by now.

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
    errors = wrong_texts(store, data)
    by_id = {error.id: error.about for error in errors}
    unknown = 0
    if sheet.exists():
        read = read_sheet(sheet)
        unknown = len(set(read) - set(by_id))
        with store.writing() as connection:
            causes = {by_id[each]: cause for each, cause in read.items() if each in by_id}
            db.put_causes(connection, maintainer, causes)
    with store.reading() as connection:
        known = db.causes_of(connection).get(maintainer, {})
        pictures = {
            (error.about[0], error.condition): db.picture_of(connection, error.about[0], error.condition)
            for error in errors
        }
    with output_errors(store.folder):
        write_text(sheet, _sheet(errors, known))
        write_text(page, _page(errors, pictures))
        for file in (sheet, page):
            file.chmod(0o600)  # they show answers
    return Sheets(sheet, page, len(known), len(errors), unknown)


def wrong_texts(store: Store, data: str | None = None) -> list[WrongText]:
    """Every different wrong text that was typed for an item, in the order of the items.

    Causes say what somebody made of a picture: answers that were given without it are left out.
    """
    with store.reading() as connection:
        frozen, items, places = db.read_frozen(connection), db.items_of(connection), db.places_of(connection)
    if frozen.draw:
        raise StudyError(f"{store.folder} is an audit: raters say what is wrong, and `vcrgen study report` lists it.")
    if len(frozen.blind) == len(frozen.conditions):
        raise StudyError(f"{store.folder} shows no pictures, so its errors have no causes to mark.")
    source = check_source(frozen, data)
    found: dict[Wrong, WrongText] = {}
    for one in mark(source, items, places):
        about = (one.item, one.place, one.typed)
        if one.strict or not one.typed.strip() or one.condition in frozen.blind:
            continue
        if about in found:
            found[about] = found[about]._replace(raters=found[about].raters + 1)
            continue
        question = question_of(source, items[one.item])
        found[about] = WrongText(
            about, question.question_id, question.answers[one.place], 1, one.condition, questions_shown(question)
        )
    return [found[about] for about in sorted(found)]


def read_sheet(file: Path) -> dict[str, str]:
    """The causes of a sheet by the id of its lines; lines without a cause are left out.

    Raises:
        StudyError: It cannot be read, lacks a column, or names a cause that is none; the message has the line.
    """
    check_file_size(file, MAX_BYTES, "it is not a sheet of causes", StudyError)
    try:
        text = file.read_text("utf-8-sig")
    except OSError as problem:
        raise StudyError(f"{file} cannot be read: {problem.strerror or problem}.") from None
    except UnicodeDecodeError:
        raise StudyError(f"{file} is not UTF-8 text; save it as CSV in UTF-8.") from None
    head = text.partition("\n")[0]
    between = max(",;\t", key=head.count)  # where decimals have a comma, spreadsheets write semicolons
    csv.field_size_limit(MAX_FIELD)  # other readers of this process may have set theirs
    rows = csv.DictReader(io.StringIO(text), delimiter=between)
    if not {"id", "cause"} <= set(rows.fieldnames or ()):
        raise StudyError(f"{file} has no columns `id` and `cause`; move it away, and run the command for a new one.")
    found = {}
    try:
        for row in rows:
            cause = (row["cause"] or "").strip().lower()
            if cause and cause not in CAUSES:
                named = ", ".join(CAUSES)
                raise StudyError(f"{file}, line {rows.line_num}: no cause {cause[:40]!r}; known: {named}.")
            if cause:
                found[str(row["id"]).strip()] = cause
    except csv.Error as problem:
        raise StudyError(f"{file}, line {rows.line_num}: not CSV ({problem}).") from None
    return found


def _sheet(errors: Sequence[WrongText], known: Mapping[Wrong, str]) -> str:
    rows = [
        (error.id, error.question_id, error.about[1] + 1, error.answer, error.about[2], error.raters,
         known.get(error.about, ""))
        for error in errors
    ]  # fmt: skip
    return as_csv(Table(title="", heads=HEADS, labels=5, rows=rows))


def _page(errors: Sequence[WrongText], pictures: Mapping[tuple[int, int], bytes]) -> str:
    shown: dict[tuple[int, bytes], list[WrongText]] = {}  # those about the same picture stand together
    for error in errors:
        item = error.about[0]
        shown.setdefault((item, pictures[item, error.condition]), []).append(error)
    items = [(data_uri(png), of_one) for (_, png), of_one in shown.items()]
    templates = Templates("vcrgen.study vcrgen.bloom.audit", style="item.css articles.css")
    return templates.render("errors.html", title="Wrong texts, and why", items=items, causes=CAUSES)
