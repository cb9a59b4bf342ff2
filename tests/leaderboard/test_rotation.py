"""Sets that come and go: their rows stay, and a published key is the one that was committed to."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.leaderboard.common import SET, Facts, Guess, Submit, table_of
from vcrgen.dataset.key import read_key
from vcrgen.errors import HiddenSetError, LeaderboardError, OutputError
from vcrgen.leaderboard import rotation
from vcrgen.leaderboard.backup import backup, restore
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.closing import close
from vcrgen.leaderboard.records import Feedback, SetLifecycle
from vcrgen.leaderboard.rotation import make_lifecycle
from vcrgen.scorer.answers import load_answers
from vcrgen.work.progress import ProgressListener


def statuses(board: Board) -> dict[str, str]:
    return {one.name: one.lifecycle.phase for one in board.sets}


def test_a_set_takes_the_place_of_another(
    stepped: Board, another: Path, guess: Guess, facts: Facts, submit: Submit, drain: Any, tmp_path: Path
) -> None:
    submit(stepped, guess("a", {"final": 3}), facts("One"), set_name=SET)
    close(stepped, SET, ProgressListener())
    made = rotation.replace_set(stepped, SET, "second", another / "key", make_lifecycle(closes="2090-01-01"))
    assert made.lifecycle.feedback is Feedback.LADDER and made.lifecycle.closes is not None
    assert statuses(stepped) == {"public": "open", SET: "retired", "second": "open"}
    with pytest.raises(LeaderboardError, match="The set 'hidden-en' was retired on"):
        submit(stepped, guess("b", {}), facts("Two"), set_name=SET)
    submit(stepped, guess("b", {}), facts("Two"), set_name="second")
    table = table_of(stepped)
    assert [row.facts.model for row in table.rankings[0].rows] == ["One"] and table.track.lifecycle.phase == "retired"
    with pytest.raises(LeaderboardError, match="is retired already"):
        rotation.retire(stepped, SET)
    backup(stepped, tmp_path / "b.tar.gz")
    restored = restore(tmp_path / "b.tar.gz", tmp_path / "restored", database="", data=[f"{SET}:{another / 'key'}"])
    phases = {one.name: one.lifecycle for one in stepped.sets}
    assert {one.name: one.lifecycle for one in restored.sets} == phases


def test_a_set_is_on_a_board_once(stepped: Board, another: Path, hidden: Path) -> None:
    with pytest.raises(LeaderboardError, match="There is a set 'hidden-en' on this board"):
        rotation.add(stepped, SET, another / "key", make_lifecycle())
    with pytest.raises(LeaderboardError, match="The set 'hidden-en' has the same key as 'again'"):
        rotation.add(stepped, "again", hidden / "key", make_lifecycle())
    with pytest.raises(LeaderboardError, match="There is no set 'nothing'"):
        rotation.replace_set(stepped, "nothing", "second", another / "key", make_lifecycle())
    with pytest.raises(LeaderboardError, match="has the same key"):
        rotation.replace_set(stepped, SET, "second", hidden / "key", make_lifecycle())
    assert statuses(stepped) == {"public": "open", SET: "open"}
    assert rotation.add(stepped, "second", another / "key", make_lifecycle(feedback="instant")).lifecycle.splits == {}


def test_publishing_a_key(stepped: Board, hidden: Path, another: Path, tmp_path: Path) -> None:
    out = tmp_path / "published"
    for name, message in ((SET, "is in use; retire it first"), ("public", "is public already")):
        with pytest.raises(LeaderboardError, match=message):
            rotation.publish_key(stepped, name, out)
    rotation.retire(stepped, SET)
    with pytest.raises(LeaderboardError, match="names another commitment than this key has"):
        rotation.publish_key(stepped, SET, out, public=another / "public")
    with pytest.raises(HiddenSetError, match=r"cannot be read.*--public"):
        rotation.publish_key(stepped, SET, out, public=tmp_path)
    assert not out.exists() and statuses(stepped)[SET] == "retired"
    commitment = rotation.publish_key(stepped, SET, out)
    assert json.loads((hidden / "public" / "manifest.json").read_text())["commitment"] == commitment
    assert read_key(out).commitment == commitment and statuses(stepped)[SET] == "published"
    assert [one.answers for one in load_answers(out).questions] == [
        one.answers for one in load_answers(hidden / "key").questions
    ]
    assert sorted(file.name for file in out.iterdir()) == ["answers.jsonl", "key.json", "report.json"]
    with pytest.raises(OutputError):
        rotation.publish_key(stepped, SET, out)


def test_a_key_that_was_changed_is_not_published(make_board: Any, another: Path, tmp_path: Path) -> None:
    board = make_board(feedback="ladder")
    rotation.add(board, "second", another / "key", make_lifecycle())
    rotation.retire(board, "second")
    answers = another / "key" / "answers.jsonl"
    answers.write_text(answers.read_text().replace("a", "b", 1))
    with pytest.raises(HiddenSetError, match="was changed after the set was made"):
        rotation.publish_key(board, "second", tmp_path / "out")
    shutil.rmtree(another / "key")
    with pytest.raises(LeaderboardError, match="is not where it was"):
        rotation.publish_key(board, "second", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"feedback": "full"}, "The feedback is one of ladder, instant, not 'full'"),
        ({"view": "all"}, "The view is one of stacked, tei, strip, image, not 'all'"),
        ({"view": "text-only"}, "The view is one of stacked, tei, strip, image, not 'text-only'"),
        ({"opens": "soon"}, "--opens takes a date such as 2026-12-01"),
        ({"opens": "2027-01-02", "closes": "2027-01-01"}, "would close on 2027-01-01, before it opens"),
        ({"closes": "0001-01-01T00:00+14:00"}, "--closes takes a date"),
    ],
)
def test_wrong_words(words: dict[str, str], message: str) -> None:
    with pytest.raises(LeaderboardError, match=message):
        make_lifecycle(**words)


def test_a_public_set_has_no_phase(stepped: Board) -> None:
    assert next(one for one in stepped.sets if not one.hidden).lifecycle == SetLifecycle()
