"""Rows and items of MCQ benchmarks."""

from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, row
from vcrgen.core.errors import DatasetError
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.bloom import direction, item_of, languages_of, read_items
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.data.tasks.vcr import VCR


def test_a_set_that_was_written_is_read_back(tmp_path: Path) -> None:
    data = open_task_dataset(made_set(tmp_path / "set", [row(number) for number in range(12)]))
    assert data.kind.task == "bloom" and languages_of(data) == ("en", "ar") and data.splits == ("test",)
    assert data.modes == () and data.built.pairs == 12
    items = list(read_items(data))
    assert [item.question_id for item in items] == [f"item-{number:03d}" for number in range(12)]
    assert [item.answer for item in items[:5]] == [0, 1, 2, 3, 0] and items[3].trap == 0
    assert items[0].questions["ar"].options == ("واحد", "اثنان", "ثلاثة", "أربعة")
    assert len({item.picture for item in items}) == 3 and items[0].picture == items[3].picture
    assert items[0].path == "remember/core object recognition/clothing & accessories" and items[0].level == "remember"


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = (made_set(tmp_path / name, [row(number) for number in range(5)]) for name in "ab")
    for file in sorted(path.relative_to(first) for path in first.rglob("*.*")):
        assert (first / file).read_bytes() == (second / file).read_bytes(), file


def test_a_command_for_another_task_says_so(tmp_path: Path) -> None:
    made_set(tmp_path / "set", [row(0)])
    with pytest.raises(DatasetError, match="is a dataset of the task 'bloom'"):
        open_dataset(tmp_path / "set", VCR)


def test_an_item_counts_in_a_language_only_if_it_is_complete_there(tmp_path: Path) -> None:
    rows = [row(0), row(1, question_ar="", options_ar=["", "", "", ""]), row(2, question_ar=None, options_ar=None)]
    items = list(read_items(open_task_dataset(made_set(tmp_path / "set", rows))))
    assert [list(item.questions) for item in items] == [["en", "ar"], ["en"], ["en"]]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"options_en": ["a", "b", "c"]}, "other numbers of options"),
        ({"options_en": "abcd"}, "no question with 2 to 10 options"),
        ({"answer": "E"}, "`answer` is none of A, B, C, D"),
        ({"answer": "AB"}, "`answer` is none"),
        ({"trap": "a"}, "`trap` is none"),
        ({"question_id": ""}, "`question_id`"),
        ({"path": "x\ny"}, "`path`"),
    ],
)
def test_values_that_no_writer_gives_are_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        item_of(row(0) | changes, ("en", "ar"))


def test_the_direction_of_a_language() -> None:
    assert (direction("ar"), direction("en"), direction("ur")) == ("rtl", "ltr", "rtl")
