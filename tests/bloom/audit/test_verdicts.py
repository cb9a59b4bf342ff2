"""Files of raters are the files of strangers."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.audit.conftest import line
from vcrgen.bloom.audit.draw import Draw
from vcrgen.bloom.audit.verdicts import MAX_BYTES, read_judge, read_verdicts
from vcrgen.core.errors import DatasetError


def write(file: Path, *rows: Any) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    return file


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"audit": "0" * 16}, "other_audit"),
        ({"question_id": "never drawn"}, "other_item"),
        ({"question_id": ["a"]}, "other_item"),
        ({"rater": 99}, "other_rater"),
        ({"rater": True}, "other_rater"),
        ({"rater": "1"}, "other_rater"),
        ({"verdict": ["image", "choices"]}, "no_verdict"),
        ({"verdict": "image,choices"}, "no_verdict"),
        ({"verdict": None}, "no_verdict"),
        ({"answer": "E"}, "bad_answer"),
        ({"answer": 1}, "bad_answer"),
        ({"note": "x" * 2001}, "bad_note"),
        ({"note": {"a": 1}}, "bad_note"),
    ],
)
def test_what_cannot_be_used_is_counted(drawn: Draw, tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    item = drawn.items[0]
    good = line(drawn, item, item.raters[0])
    answers = read_verdicts(write(tmp_path / "a.jsonl", good | changes), drawn)
    assert dict(answers.problems) == {reason: 1} and not answers.by_item


def test_an_item_of_another_rater_does_not_count(drawn: Draw, tmp_path: Path) -> None:
    item = next(item for item in drawn.items if item.raters == (1,))
    answers = read_verdicts(write(tmp_path / "a.jsonl", line(drawn, item, 2)), drawn)
    assert dict(answers.problems) == {"other_rater": 1}


def test_two_verdicts_of_one_rater_are_none_and_the_same_line_counts_once(drawn: Draw, tmp_path: Path) -> None:
    first, second = drawn.items[:2]
    rows = [line(drawn, first, first.raters[0]), line(drawn, first, first.raters[0], "image")]
    rows += [line(drawn, second, second.raters[0])] * 3
    answers = read_verdicts(write(tmp_path / "a.jsonl", *rows), drawn)
    assert dict(answers.problems) == {"contradictory": 2, "repeated": 2}
    assert first.question_id not in answers.by_item and len(answers.by_item[second.question_id]) == 1


def test_what_counts_and_what_does_not_hangs_on_no_order_of_lines(drawn: Draw, tmp_path: Path) -> None:
    first, second = drawn.items[:2]
    rows = [line(drawn, first, first.raters[0], verdict) for verdict in ("image", "approve", "approve")]
    rows += [line(drawn, second, second.raters[0])] * 2
    for number, order in enumerate(itertools.permutations(rows)):
        answers = read_verdicts(write(tmp_path / f"{number}.jsonl", *order), drawn)
        assert dict(answers.problems) == {"contradictory": 3, "repeated": 1}
        assert answers.by_item.keys() == {second.question_id}
        verdicts, problems = read_judge(tmp_path / f"{number}.jsonl", drawn)
        assert dict(problems) == {"contradictory": 3, "repeated": 1}
        assert verdicts == {second.question_id: "approve"}


def test_a_file_too_large_or_of_another_form_is_a_sentence(drawn: Draw, tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    with large.open("wb") as handle:
        handle.truncate(200 << 20)
    assert large.stat().st_size > MAX_BYTES
    with pytest.raises(DatasetError, match="larger than 64 MiB"):
        read_verdicts(large, drawn)
    odd = tmp_path / "odd.jsonl"
    for text in ("<html>", "[1]\n", "[" * 100_000, '{"a": ' + "9" * 5000 + "}"):
        odd.write_text(text, "utf-8")
        with pytest.raises(DatasetError, match="line 1"):
            read_verdicts(odd, drawn)
    with pytest.raises(DatasetError, match="cannot be read"):
        read_verdicts(tmp_path / "none", drawn)


def test_a_judge(drawn: Draw, tmp_path: Path) -> None:
    ids = [item.question_id for item in drawn.items]
    rows = [{"question_id": ids[0], "verdict": "approve"}, {"question_id": ids[1], "verdict": "choices"}]
    rows += [{"question_id": ids[2], "verdict": "blocked"}, {"question_id": "other", "verdict": "approve"}]
    rows += [{"question_id": ids[3], "verdict": verdict} for verdict in ("approve", "image")]
    verdicts, problems = read_judge(write(tmp_path / "judge.jsonl", *rows), drawn)
    assert verdicts == {ids[0]: "approve", ids[1]: "choices"} and dict(problems) == {"blocked": 1, "contradictory": 2}
