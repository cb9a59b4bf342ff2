"""``--subset FILE``: only the questions whose ids stand in a file, in the dataset's order, under their own name."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from vcrgen.cli import app
from vcrgen.core.errors import AnswerError, ScoreError
from vcrgen.scorer import load_answers, score
from vcrgen.scorer.results import require_one_signature
from vcrgen.scorer.subset import subset_name


@pytest.fixture
def many(write_lines: Any) -> tuple[Path, Path]:
    """A key of 50 questions, of which question N has N % 3 + 1 spans, and outputs that are right for odd ones."""
    key = [{"question_id": f"q{n}", "crossed_text": [f"word {n} of {s}" for s in range(n % 3 + 1)]} for n in range(50)]
    outputs = [
        {"question_id": row["question_id"], "output": " ".join(row["crossed_text"]) if n % 2 else "x", "model": "m"}
        for n, row in enumerate(key)
    ]
    return write_lines("key.jsonl", key), write_lines("p.jsonl", outputs)


def test_only_the_questions_of_the_file_are_scored(many: tuple[Path, Path], tmp_path: Path) -> None:
    key, outputs = many
    ids = tmp_path / "ids.txt"
    ids.write_text("q7\r\nq3\n\nq40\n", "utf-8")
    result = score(outputs, data=key, subset=str(ids), spans=tmp_path / "s.jsonl")
    cell = result.cells[0]
    assert (cell.clusters, cell.units, result.problems["outside"][0]) == (3, 2 + 1 + 2, 47)
    assert cell.metrics["exact"].value == 3 / 5  # q3 and q7 are right, q40 is not
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text("utf-8").splitlines()]
    assert [row["question_id"] for row in rows] == ["q3", "q7", "q7", "q40", "q40"]
    assert {row["signature"] for row in rows} == {str(result.signature)}
    assert result.signature.facts["subset"] == subset_name(["q40", "q3", "q7"])
    assert "Scored on the subset 3@" in result.notes[0] and "3 of 50 questions" in result.notes[0]


def test_the_same_ids_in_another_order_are_the_same_subset(many: tuple[Path, Path], tmp_path: Path) -> None:
    key, outputs = many
    results = []
    for name, ids in (("a", ["q1", "q2"]), ("b", ["q2", "q1"]), ("c", ["q2", "q3"])):
        file = tmp_path / name
        file.write_text("\n".join(ids), "utf-8")
        results.append(score(outputs, data=key, subset=str(file)))
    a, b, c = (result.signature for result in results)
    assert a == b != c
    with pytest.raises(ScoreError, match="subset is 2@"):
        require_one_signature([results[0], results[2]])
    with pytest.raises(ScoreError, match=r"subset is 2@.* and None"):
        require_one_signature([results[0], score(outputs, data=key)])


def test_rows_that_a_file_of_outputs_names_are_those_of_the_whole_dataset(
    many: tuple[Path, Path], tmp_path: Path
) -> None:
    """VLMEvalKit's tables name a question by its row."""
    key, _ = many
    table = tmp_path / "preds.csv"
    answers = {n: " ".join(q.answers) for n, q in enumerate(load_answers(key).questions)}
    lines = [f'{n},"{answers[n]}",stacked' for n in range(50)]
    table.write_text("\n".join(["index,prediction,view", *lines]) + "\n", "utf-8")
    file = tmp_path / "ids.txt"
    file.write_text("q41\nq5\nq17\n", "utf-8")
    result = score(table, data=key, subset=str(file))
    assert result.cells[0].clusters == 3 and result.cells[0].metrics["exact"].value == 1.0
    assert result.problems["outside"][0] == 47 and set(result.problems) == {"outside"}


def test_validate_says_the_subset(many: tuple[Path, Path], tmp_path: Path) -> None:
    key, outputs = many
    file = tmp_path / "ids.txt"
    file.write_text("q1\nq2\n", "utf-8")
    run = CliRunner().invoke(app, ["validate", str(outputs), "--data", str(key), "--subset", str(file)])
    assert run.exit_code == 0 and f"subset {subset_name(['q1', 'q2'])} is looked at: 2 questions" in run.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; a subset is a file with the id of a question on each line"),
        (b"q1\nq1\n", "line 2: the id 'q1' stands there twice"),
        (b"q1\nzz\nzy\n", "names 2 of 3 questions that .* does not have, the first of them 'zy'"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'{"ids": ["q1"]}', "names 1 of 1 question"),
    ],
)
def test_files_that_are_no_subset(many: tuple[Path, Path], tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "ids.txt"
    file.write_bytes(content)
    with pytest.raises(AnswerError, match=message):
        load_answers(many[0], subset=str(file))


def test_neither_a_file_nor_a_subset(many: tuple[Path, Path], tmp_path: Path) -> None:
    for subset in ("seven", "x" * 5000, "a\0b"):
        with pytest.raises(AnswerError, match="Unknown subset"):
            load_answers(many[0], subset=subset)
    with pytest.raises(AnswerError, match=r"cannot be read: Is a directory"):
        load_answers(many[0], subset=str(tmp_path))
