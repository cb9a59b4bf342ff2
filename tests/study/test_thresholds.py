"""Thresholds of people, in a study of a dataset with levels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.study import store as db
from vcrgen.study.make import check_source
from vcrgen.study.marks import question_of
from vcrgen.study.report import as_document, make_report
from vcrgen.study.store import Store


@pytest.fixture
def finished(make: Callable[..., Store], people: Any, typing: Any, ladder: Path) -> Store:
    """Eight raters who restore what has more than 25 % of its ink; the first restores all."""
    store = make(ladder, limit=10, raters=2)
    people(store, 8)
    with store.reading() as connection:
        frozen, items = db.read_frozen(connection), db.items_of(connection)
        asked = {(one.rater, one.step.item): one.step.condition for one in db.places_of(connection)}
    source = check_source(frozen)
    numbers = {item.question_id: item.number for item in items}

    def says(rater: int, question_id: str, place: int, answer: str) -> str:
        item = items[numbers[question_id]]
        condition = asked.get((rater, item.number))
        if rater == 1 or item.answers is not None or condition is None:
            return answer
        ink = question_of(source, item).spans[place].ink[frozen.conditions[condition].mode]
        return answer if ink > 0.25 else ""

    typing(store, says)
    return store


def test_people_have_thresholds_by_the_fit_of_models(finished: Store) -> None:
    report = make_report(finished)
    (found,) = (table.texts() for table in report.tables if table.title.startswith("Visible ink at which people"))
    assert [row[0] for row in found] == ["Everybody", *(f"r{number}" for number in range(1, 9))]
    by_name = {row[0]: row[3] for row in found}
    assert by_name["r1"].startswith("<")
    assert all(15 < float(by_name[f"r{number}"]) < 40 for number in range(2, 9))
    assert "Visible ink at which people restore half" in as_document(report, "md")


def test_a_study_of_two_modes_has_none(make: Callable[..., Store], people: Any, typing: Any) -> None:
    store = make()
    people(store, 6)
    typing(store)
    assert not any("people restore half" in table.title for table in make_report(store).tables)
