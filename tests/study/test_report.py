"""Typed answers become scores, tables, sheets and files."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.study.conftest import look, table_of
from vcrgen.core.errors import StudyError
from vcrgen.scorer import score
from vcrgen.study.creation import check_source
from vcrgen.study.exports import export
from vcrgen.study.grading import grade, typed_form
from vcrgen.study.records import Response
from vcrgen.study.report import make_report
from vcrgen.study.report_tables import ALL_PEOPLE
from vcrgen.study.scoring import exact_match, human_scores
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_items
from vcrgen.study.store.raters import update_rater
from vcrgen.study.store.steps import read_steps, save_response

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def finished(make: Callable[..., StudyStore], people: Any, typing: Any) -> StudyStore:
    """Six raters: r1 makes slips, r2 is wrong at every first text, r3 is hostile, the others are right."""
    store = make()
    people(store, 6)

    def says(rater: int, question_id: str, place: int, answer: str) -> str:
        if rater == 1:
            return answer.upper().replace(" ", "  ")
        if rater == 2 and place == 0:
            return "in March"
        return HOSTILE if rater == 3 and place == 0 else answer

    typing(store, says)
    return store


def test_forms_that_typed_texts_are_compared_by() -> None:
    assert typed_form("“Ａ  Cat”") == typed_form("'a cat'") == "'acat'"
    assert typed_form("红色 的\u3000狐狸") == typed_form("红色的狐狸") and typed_form("STRASSE") == typed_form("straße")
    assert typed_form("a cat") != typed_form("a cut")


def test_scores_are_those_of_the_scorer(finished: StudyStore, pairs: Path, tmp_path: Path) -> None:
    """The file of a rater, scored as a model's, has the same share of right texts."""
    design, items, places = look(finished, read_design, read_items, read_steps)
    graded = grade(check_source(design), items, places)
    for rater in (1, 2, 3, 4):
        file = tmp_path / f"r{rater}.jsonl"
        file.write_text(export(finished, "outputs", f"r{rater}"), "utf-8")
        cells = score(file, data=pairs, subset="first6").cells
        assert {cell.variant for cell in cells} == {"easy", "hard"}
        for cell in cells:
            mine = [
                one for one in graded if one.rater == rater and design.conditions[one.condition].mode == cell.variant
            ]
            right = round(cell.metrics["exact"].value * cell.units)
            assert right == sum(one.exact_match for one in mine)
    shares = {rater: sum(one.exact_match for one in graded if one.rater == rater) for rater in range(1, 7)}
    lenient_match = {rater: sum(one.lenient_match for one in graded if one.rater == rater) for rater in range(1, 7)}
    assert (
        shares[1] < lenient_match[1] == lenient_match[4] == shares[4] == 12
        and shares[2] == lenient_match[2] == shares[3] < 12
    )


def test_the_tables(finished: StudyStore) -> None:
    report = make_report(finished)
    people = table_of(report, "People, exact match").texts()
    assert [row[:2] for row in people] == [["en", "easy, VI+TEI"], ["en", "hard, VI+TEI"]]
    design, items, places = look(finished, read_design, read_items, read_steps)
    easy = [one for one in grade(check_source(design), items, places) if one.condition == 0]
    found = human_scores(easy, exact_match, seed=0)
    assert people[0][2:6] == [str(found.spans), "6", f"{100 * found.mean.value:.2f}", f"{100 * (found.sd or 0):.2f}"]
    raters = table_of(report, "Raters").texts()
    assert [row[0] for row in raters] == [f"r{number}" for number in range(1, 7)]
    assert (
        raters[3][6:8] == ["100.00", "100.00"] and raters[0][7] == "100.00" and raters[3][10:12] == ["2 of 2", "4 of 4"]
    )
    assert all(0 <= float(cell) <= 100 for cell in (row[2] for row in table_of(report, "Agreement").texts()))
    assert report.document.limitations[0].endswith("Excluded: nobody.")
    assert any("no causes of errors are given" in note for note in report.document.limitations)
    assert not [one for one in report.document.sections[0].tables if one.title == "Answers that may be wrong"]


@pytest.mark.parametrize("form", ["md", "csv", "latex", "html"])
def test_every_form(finished: StudyStore, form: str) -> None:
    text = make_report(finished).render(form)
    assert "People, exact match in percent" in text and HOSTILE not in text


def test_models_on_the_same_spans(finished: StudyStore, pairs: Path, tmp_path: Path) -> None:
    source = check_source(look(finished, read_design))
    file = tmp_path / "preds.jsonl"
    lines = [
        {"question_id": question.question_id, "output": "nothing", "mode": mode, "model": "My | VLM"}
        for question in source.key.questions
        for mode in ("easy", "hard")
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = make_report(finished, compare=[file])
    rows = table_of(report, "People and My | VLM").texts()
    people = table_of(report, "People, exact match").texts()
    for row, human_row in zip(rows, people, strict=True):
        assert row[1] == human_row[2] and row[3] == "0.00" and row[4] == f"+{row[2]}"
        low, high = (float(end) for end in row[5].replace("+", "").split(" to "))
        assert 0 < low < float(row[2]) <= high <= 100


def test_answers_that_may_be_wrong(make: Callable[..., StudyStore], people: Any, typing: Any) -> None:
    store = make()
    people(store, 6)
    suspect, nobody = (item.question_id for item in look(store, read_items)[:2])

    def says(rater: int, question_id: str, place: int, answer: str) -> str:
        if place == 0 and question_id == suspect:
            return f"A <b>fox</b>{' ' * (rater % 2)}"
        return f"guess {rater}" if place == 0 and question_id == nobody else answer

    typing(store, says)
    report = make_report(store)
    assert [(shown.question_id, shown.key.raters) for shown in report.suspects] == [(suspect, 6), (nobody, 6)]
    rows = table_of(report, "Answers that may be wrong").texts()
    assert rows[0][3] == "all agree on another" and rows[1][3] == "nobody recovers it"
    page = report.render("html")
    assert "A &lt;b&gt;fox&lt;/b&gt;" in page and page.count("data:image/png;base64,") == 2


def test_causes_of_errors(finished: StudyStore, tmp_path: Path) -> None:
    """The filtered scores are those of a sheet of causes as vcrgen had it before, with the same causes."""
    file = tmp_path / "errors.csv"
    listed = export(finished, "errors")
    rows = list(csv.DictReader(io.StringIO(listed)))
    assert len(rows) == 24 and len({row["id"] for row in rows}) == 24 and {row["raters"] for row in rows} == {"1"}
    assert {row["cause"] for row in rows} == {""} and all(row["typed"] != row["answer"] for row in rows)
    file.write_text(listed, "utf-8")
    plain = make_report(finished, causes=file)
    assert any("no causes of errors are given" in note for note in plain.document.limitations)
    file.write_text(filled(rows, lambda row: " NAME" if row["typed"] == "in March" else "slip"), "utf-8")
    report = make_report(finished, causes=file)
    filtered = [row[4:6] + row[7:9] for row in table_of(report, "People, exact match").texts()]
    assert filtered == [["69.44", "41.42", "77.78", "43.20"], ["63.89", "41.42", "72.22", "41.07"]]
    assert table_of(report, "Causes of errors").texts() == [
        ["name or date", "6"],
        ["slip of the fingers", "18"],
        ["not typed", "0"],
    ]
    assert not any("no causes of errors are given" in note for note in report.document.limitations)
    file.write_text(filled([row for row in rows if row["typed"] == "in March"], lambda _: "name"), "utf-8")
    part = make_report(finished, causes=file)
    assert [row[4:6] + row[7:9] for row in table_of(part, "People, exact match").texts()] == filtered
    assert table_of(part, "Causes of errors").texts()[1] == ["none given", "18"]


def filled(rows: list[dict[str, str]], cause: Callable[[dict[str, str]], str]) -> str:
    """Return a list of errors as a spreadsheet may write it."""
    out = io.StringIO()
    writer = csv.DictWriter(out, ["cause", "id", "typed"], delimiter=";", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(row | {"cause": cause(row)} for row in rows)
    return "\ufeff" + out.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,cause\nID,tired\n", ", line 2: no cause 'tired'; known: name, slip, unreadable, item."),
        ("id,cause\nID,slip\n\nID,slip\n", ", line 4: the error ID is in line 2 already; keep one of them."),
        ("id,cause\nID,\nID,slip\n", ", line 3: the error ID is in line 2 already; keep one of them."),
        ("id,cause\nID,slip\nffff,\n", ", line 3: the study has no error 'ffff'; take the line out."),
        ("id,typed\nID,slip\n", " has no column 'cause' in its first row; it needs id, cause."),
        ("id,cause\nID\n", ", line 2: 1 cell under 2 column names."),
        ("", " is empty; its first row names the columns id, cause."),
        (b"id,cause\n\xff\xff,slip\n", "not UTF-8"),
        (None, " cannot be read: No such file or directory."),
    ],
)
def test_lists_of_errors_that_cannot_be_read(
    finished: StudyStore, tmp_path: Path, content: str | bytes | None, message: str
) -> None:
    file = tmp_path / "errors.csv"
    known = export(finished, "errors").splitlines()[1].partition(",")[0]
    if content is not None:
        file.write_bytes(content.replace("ID", known).encode() if isinstance(content, str) else content)
    with pytest.raises(StudyError) as caught:
        make_report(finished, causes=file)
    told = str(caught.value)
    assert told.startswith(str(file)) and message.replace("ID", known) in told and "\n" not in told


def test_the_rule_excludes_raters_and_is_printed(make: Callable[..., StudyStore], people: Any, typing: Any) -> None:
    store = make(min_checks=0.6)
    people(store, 6)
    typing(store)
    with store.writing() as connection:
        checks = [place.number for place in read_steps(connection, 2) if place.step.word]
        save_response(connection, 2, checks[0], Response(("no",), (False,), 1.0, True, 9))
    report = make_report(store)
    rule = report.document.limitations[0]
    assert rule == (
        "Exclusion rule, fixed before anybody answered: raters with fewer than 60 % of their attention checks right, "
        "or more than 50 % of their items blank, or more than 50 % of their items answered faster than 20 words a "
        "second. Excluded: r2."
    )
    assert [row[3] for row in table_of(report, "Raters").texts()] == ["", "excluded", "", "", "", ""]
    # With the rule and without it.
    assert [row[3] for row in table_of(report, "People, exact match").texts()] == ["5", "5"]
    assert [row[3] for row in table_of(report, ALL_PEOPLE).texts()] == ["6", "6"]
    with store.writing() as connection:
        for place in (place for place in read_steps(connection) if place.step.word):
            save_response(connection, place.rater, place.number, Response(("no",), (False,), 1.0, True, 10))
    report = make_report(store)
    assert [row[3] for row in table_of(report, ALL_PEOPLE).texts()] == ["6", "6"]
    with pytest.raises(StudyError, match="leaves nobody"):
        report.render("json")


def test_exports(finished: StudyStore, lines: Any) -> None:
    outputs = lines(export(finished, "outputs"))
    assert len(outputs) == 36 and {line["model"] for line in outputs} == {f"r{number}" for number in range(1, 7)}
    assert all(line["output"] == "\n".join(line["fields"]) and line["seconds"] == 5 for line in outputs)
    design = lines(export(finished, "design"))
    items = [line for line in design if line["kind"] == "item"]
    assert len({(line["question_id"], line["mode"], line["pass"]) for line in items}) == len(items) == 36
    assert len({(line["rater"], line["question_id"]) for line in items}) == 36 and all(line["done"] for line in items)
    assert {line["kind"] for line in design} == {"training", "item", "check", "repeat"}
    with pytest.raises(StudyError, match="no rater 'r7'"):
        export(finished, "outputs", "r7")
    with pytest.raises(StudyError, match="Unknown form 'x'; known: outputs, audit, design, payments, errors"):
        export(finished, "x")


def test_those_who_are_at_work_and_answers_that_are_missing_are_told(
    make: Callable[..., StudyStore], people: Any, typing: Any
) -> None:
    store = make()
    people(store, 2)
    typing(store)
    with store.writing() as connection:
        update_rater(connection, 1, state="working")
    notes = "\n".join(make_report(store).document.limitations)
    assert "Still at work: r1;" in notes and "24 responses are not assigned to anybody" in notes


def test_both_views_of_covered_texts(make: Callable[..., StudyStore], people: Any, typing: Any) -> None:
    """The picture helps with every second item: what was seen in TEI is wrong there."""
    store = make(view="both", modes="easy", raters=1, training=0)
    people(store, 2)
    items, places = look(store, read_items, read_steps)
    plain = {(one.rater, items[one.step.item].question_id) for one in places if one.step.condition == 1}
    suspect = {item.question_id for item in items if item.number % 2}
    typing(store, lambda rater, name, _, answer: "x" if name in suspect and (rater, name) in plain else answer)
    report = make_report(store)
    found = table_of(report, "People, VI+TEI \u2212 TEI, paired")
    assert "1 rater for each item" in report.render("html")
    assert found.heads == ("Mode", "Spans", "VI+TEI", "TEI", "VI+TEI \u2212 TEI", "95 % interval")
    wrong = sum(item.fields for item in items if item.number % 2) / sum(item.fields for item in items)
    assert found.texts()[0][2:5] == ["100.00", f"{100 * (1 - wrong):.2f}", f"{100 * wrong:+.2f}"]
