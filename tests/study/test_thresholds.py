"""Thresholds of people, in a study of a dataset with levels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.study.conftest import table_of
from vcrgen.study.creation import check_source
from vcrgen.study.grading import question_of
from vcrgen.study.report import make_report
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_items
from vcrgen.study.store.steps import read_steps


@pytest.fixture
def finished(make: Callable[..., StudyStore], people: Any, typing: Any, ladder: Path) -> StudyStore:
    """Eight raters who restore what has more than 25 % of its ink; the first restores all."""
    store = make(ladder, limit=10, raters=2)
    people(store, 8)
    with store.reading() as connection:
        design, items = read_design(connection), read_items(connection)
        asked = {(one.rater, one.step.item): one.step.condition for one in read_steps(connection)}
    source = check_source(design)
    numbers = {item.question_id: item.number for item in items}

    def says(rater: int, question_id: str, place: int, answer: str) -> str:
        item = items[numbers[question_id]]
        condition = asked.get((rater, item.number))
        if rater == 1 or item.answers is not None or condition is None:
            return answer
        ink = question_of(source, item).spans[place].ink[design.conditions[condition].mode]
        return answer if ink > 0.25 else ""

    typing(store, says)
    return store


def test_people_have_thresholds_by_the_fit_of_models(finished: StudyStore) -> None:
    report = make_report(finished)
    found = table_of(report, "Visible ink at which people").texts()
    assert [row[0] for row in found] == ["Everybody", *(f"r{number}" for number in range(1, 9))]
    by_name = {row[0]: row[3] for row in found}
    assert by_name["r1"].startswith("<")
    assert all(15 < float(by_name[f"r{number}"]) < 40 for number in range(2, 9))
    assert "Visible ink at which people recover half" in report.render("md")


def test_a_study_of_two_modes_has_none(make: Callable[..., StudyStore], people: Any, typing: Any) -> None:
    store = make()
    people(store, 6)
    typing(store)
    assert not any("people recover half" in table.title for table in make_report(store).document.sections[0].tables)
