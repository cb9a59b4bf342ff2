"""Keys of hidden MCQ benchmarks: scored as their source is, part by part, and nothing of an item is saved."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, png, row
from vcrgen.builder.options import load_build_config
from vcrgen.core.errors import AnswerError, VcrgenError
from vcrgen.data.key import read_answers
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.hidden.mcq import make_hidden_mcq
from vcrgen.hidden.options import HiddenOptions
from vcrgen.leaderboard.new_board import describe_set
from vcrgen.leaderboard.scoring import score_file
from vcrgen.scorer import score
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.run import open_session
from vcrgen.scorer.saved import as_saved

ITEMS = 24


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hidden-items")
    pictures = [{"bytes": png(f"#{90 + 9 * number:02x}4080"), "path": None} for number in range(8)]
    source = made_set(folder / "source", [row(number, image=pictures[number // 4]) for number in range(32)])
    options = HiddenOptions(config=load_build_config(None, {"source": str(source)}), items=ITEMS, public_pictures=True)
    make_hidden_mcq(open_task_dataset(source), options, out=folder / "set", secret_file=folder / "secret.key")
    return folder / "set"


def outputs(hidden: Path, file: Path, answer: Callable[[dict[str, Any], int], str]) -> Path:
    lines = [
        json.dumps({"question_id": item["question_id"], "lang": lang, "output": answer(item, number)})
        for number, item in enumerate(read_answers(hidden / "key"))
        for lang in ("en", "ar")
    ]
    file.write_text("\n".join(lines))
    return file


def test_the_key_is_scored_and_tells_nothing_of_single_items(hidden: Path, tmp_path: Path) -> None:
    knows = outputs(hidden, tmp_path / "a.jsonl", lambda item, _: item["answer"])
    for data in (hidden, hidden / "key"):
        result = score(knows, data=data)
        assert {cell.metrics["rae"].value for cell in result.cells} == {1.0}
        assert [cell.units for cell in result.cells] == [ITEMS, ITEMS] and result.cells[0].clusters < ITEMS
    saved = as_saved(result, secret=open_session(hidden, ScoreOptions()).key.hidden)
    assert not {"scores_of_items", "items_of_pictures"} & set(saved) and "answers" not in saved["signature"]
    parts = [score(knows, data=hidden, subset=part) for part in ("feedback", "final")]
    assert sum(each.cells[0].units for each in parts) == ITEMS
    for part, each in zip(("feedback", "final"), parts, strict=True):
        wanted = sum(item["part"] == part for item in read_answers(hidden / "key"))
        assert each.cells[0].units == wanted and f"subset:{part}" in str(each.signature)


def test_the_public_part_has_no_answers(hidden: Path, tmp_path: Path) -> None:
    with pytest.raises(AnswerError, match="public part of a hidden set"):
        open_session(hidden / "public", ScoreOptions())
    (tmp_path / "key").mkdir()
    (tmp_path / "key" / "key.json").write_text("{}")
    with pytest.raises(VcrgenError, match="damaged"):
        open_session(tmp_path / "key", ScoreOptions())


def test_a_ladder_scores_one_view_in_every_language(hidden: Path, tmp_path: Path) -> None:
    known = describe_set("secret", hidden / "key")
    assert (known.language, known.modes, known.lifecycle.view.value, known.task.name) == (
        "en+ar",
        ("en", "ar"),
        "image",
        "bloom",
    )
    assert known.lifecycle.splits.keys() == {"feedback", "final"}
    file = outputs(hidden, tmp_path / "a.jsonl", lambda item, number: "ABCD"[number % 4])
    whole = open_session(hidden / "key", ScoreOptions())
    part = open_session(hidden / "key", ScoreOptions(subset="feedback", view="image"))
    outcome = score_file(whole, file, shown_as="a", split_session=part, left=1)
    assert outcome.problems == () and [(cell.mode, cell.view) for cell in outcome.cells] == [
        ("en", "image"),
        ("ar", "image"),
    ]
    again = score_file(whole, file, shown_as="a", split_session=part, earlier=[outcome.outputs or b""])
    assert "All outputs are those of a file that your team submitted before" in again.problems[0]


def test_nothing_is_told_by_the_letter_of_a_hidden_key(hidden: Path, tmp_path: Path) -> None:
    result = score(outputs(hidden, tmp_path / "a.jsonl", lambda *_: "A"), data=hidden)
    assert all(cell.key_letters == () for cell in result.cells)
    assert "key_letters" not in json.dumps(as_saved(result, secret=True))
    assert not any("letter of the key" in note for note in result.notes)
