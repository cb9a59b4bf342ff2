"""Label Studio's JSON, both ways."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.errors import StudyError
from vcrgen.study.exports import export
from vcrgen.study.label_studio import import_tasks
from vcrgen.study.report import make_report
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.raters import read_raters
from vcrgen.study.store.steps import open_slots, read_steps


@pytest.fixture
def tasks(
    make: Callable[..., StudyStore], people: Any, typing: Any, tmp_path: Path
) -> tuple[Path, StudyStore, StudyStore]:
    """The file of a study in which three people saw each item, that study, and a new one of the same items."""
    first = make(name="first", modes="easy", raters=3)
    people(first, 3)
    typing(first, lambda rater, _id, place, answer: "" if rater == place + 1 else f"{answer} 红" * (1 + rater % 2))
    file = tmp_path / "tasks.json"
    file.write_text(export(first, "label-studio"), "utf-8")
    return file, first, make(name="second", modes="easy", raters=3)


def test_what_goes_out_comes_in_again(tasks: tuple[Path, StudyStore, StudyStore]) -> None:
    file, first, second = tasks
    assert import_tasks(second, file) == 3
    told = [make_report(store).document.sections[0].tables for store in (first, second)]
    titles = {"People, exact match in percent", "Agreement"}
    ours, theirs = ([(t.title, t.texts()) for t in tables if t.title in titles] for tables in told)
    assert ours == theirs and len(ours) == 2
    with second.reading() as connection:
        assert open_slots(connection, read_design(connection)) == []
        assert any(one.response and True in one.response.unread for one in read_steps(connection))


def test_a_task_is_what_label_studio_reads(tasks: tuple[Path, StudyStore, StudyStore]) -> None:
    found = json.loads(tasks[0].read_text("utf-8"))
    assert len(found) == 6 and all(len(task["annotations"]) == 3 for task in found)
    assert found[0]["data"]["image"].startswith("data:image/png;base64,")
    (result,) = found[0]["annotations"][0]["result"]
    assert (result["from_name"], result["to_name"], result["type"]) == ("texts", "image", "textarea")
    assert len(result["value"]["text"]) == found[0]["data"]["fields"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tasks: {"tasks": tasks}, "a list of tasks"),
        (lambda tasks: [1, *tasks], "task 1: no item of this study"),
        (lambda tasks: [{"data": {**tasks[0]["data"], "question_id": "x"}}], "task 1: no item of this study"),
        (lambda tasks: [{**tasks[0], "annotations": [{"completed_by": 1, "result": []}]}], "0 texts in `texts`"),
        (lambda tasks: [*tasks, tasks[2]], "task 7: the study has all responses to it"),
        (
            lambda tasks: [{**tasks[0], "annotations": tasks[0]["annotations"][:1]}] * 2,
            "annotator '1' has seen the item",
        ),
    ],
)
def test_what_cannot_be_taken(
    tasks: tuple[Path, StudyStore, StudyStore], tmp_path: Path, change: Callable[[Any], Any], message: str
) -> None:
    file, _, second = tasks
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(change(json.loads(file.read_text("utf-8")))), "utf-8")
    with pytest.raises(StudyError, match=message.replace("[", r"\[")):
        import_tasks(second, bad)
    with second.reading() as connection:
        assert read_raters(connection) == []  # nothing of it was taken
    assert import_tasks(second, file) == 3


def test_hostile_annotations(tasks: tuple[Path, StudyStore, StudyStore], tmp_path: Path) -> None:
    file, _, second = tasks
    found = json.loads(file.read_text("utf-8"))
    one = found[0]["annotations"][0]
    one["lead_time"], one["completed_by"] = -5, {"email": "<script>"}
    one["result"][0]["value"]["text"][0] = "\ud800 <b>"
    found[0]["annotations"][1]["was_cancelled"] = True
    found[1]["annotations"] = "none"
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(found), "utf-8")
    assert import_tasks(second, bad) == 4
    with second.reading() as connection:
        places = read_steps(connection, 1)
    assert places[0].response is not None and places[0].response.texts[0] == "\ufffd <b>"
    assert places[0].response.seconds == 0
