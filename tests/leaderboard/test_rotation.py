"""Sets that come and go: their rows stay, and a published key is the one that was committed to."""

import json
import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.leaderboard.common import SET, Facts, Guess, Submit, events, table_of, want
from vcrgen.core.errors import ConfigError, HiddenSetError, LeaderboardError, OutputError
from vcrgen.core.progress import ProgressListener
from vcrgen.data.key import read_key
from vcrgen.leaderboard import rotation
from vcrgen.leaderboard.backup import backup, restore
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.closing import close
from vcrgen.leaderboard.records import Feedback, SetLifecycle
from vcrgen.leaderboard.rotation import apply_settings, make_lifecycle
from vcrgen.leaderboard.settings import FILE, SetSettings, write_settings
from vcrgen.scorer.answers import load_answers


def statuses(board: Board) -> dict[str, str]:
    return {one.name: one.lifecycle.phase for one in board.sets}


PAST, FUTURE = "2020-01-01", "2090-01-01"


def test_a_set_takes_the_place_of_another(
    stepped: Board, another: Path, guess: Guess, facts: Facts, submit: Submit, drain: Any, tmp_path: Path
) -> None:
    submit(stepped, guess("a", {"final": 3}), facts("One"), set_name=SET)
    close(stepped, SET, ProgressListener(), early=True)
    changes = {SET: {"retired": True}, "second": {"closes": FUTURE}}
    assert want(stepped, f"second:{another / 'key'}", changes=changes) == [
        (SET, "set retired"),
        ("second", "set added"),
    ]
    assert [line.subject for line in events(stepped, "set retired", "set added")[-2:]] == [SET, "second"]
    (made,) = [one for one in stepped.sets if one.name == "second"]
    assert made.lifecycle.feedback is Feedback.LADDER and made.lifecycle.closes is not None
    assert statuses(stepped) == {"public": "open", SET: "retired", "second": "open"}
    with pytest.raises(LeaderboardError, match="The set 'hidden-en' was retired on"):
        submit(stepped, guess("b", {}), facts("Two"), set_name=SET)
    submit(stepped, guess("b", {}), facts("Two"), set_name="second")
    table = table_of(stepped)
    assert [row.facts.model for row in table.rankings[0].rows] == ["One"] and table.track.lifecycle.phase == "retired"
    before = events(stepped)
    assert want(stepped) == [] and events(stepped) == before, "what is there already is no change"
    backup(stepped, tmp_path / "b.tar.gz")
    restored = restore(tmp_path / "b.tar.gz", tmp_path / "restored", database="", data=[f"second:{another / 'key'}"])
    phases = {one.name: one.lifecycle for one in stepped.sets}
    assert {one.name: one.lifecycle for one in restored.sets} == phases
    assert want(restored) == [] and restored.settings.sets == open_board(restored.folder).settings.sets


REFUSED = {
    "a set in use": ([], {SET: {"retired": True}}, r"'hidden-en' is open: write its last day as `closes`"),
    "a last day to come": ([], {SET: {"retired": True, "closes": FUTURE}}, r"'hidden-en' is open"),
    "other data": ([f"{SET}:{{another}}"], {}, "The data of 'hidden-en' .* give a new set a new name"),
    "the same key": (["again:{hidden}"], {}, "The set 'hidden-en' has the same key as 'again'"),
    "no data": (["second:nowhere"], {}, "The set 'second' cannot be used"),
    "a wrong name": (["Second!:{another}"], {}, "A set's name is up to 40 small letters"),
    "new and retired": (["second:{another}"], {"second": {"retired": True}}, "'second' was never on the board"),
    "other feedback": (
        [],
        {SET: {"feedback": "instant", "unsafe": True}},
        "feedback of the set 'hidden-en' stays ladder",
    ),
    "another view": ([], {SET: {"view": "tei"}}, "The view of the set 'hidden-en' stays stacked"),
    "another protocol": ([], {"public": {"protocol": "paper"}}, "The protocol of the set 'public' stays vcrgen"),
    "dates of a public set": ([], {"public": {"closes": FUTURE}}, "'public' is public, so it has no `closes`"),
    "dates in a wrong order": ([], {SET: {"opens": FUTURE, "closes": PAST}}, "before it opens"),
    "instant feedback": (["second:{another}"], {"second": {"feedback": "instant"}}, "or say `unsafe`"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_mistake_changes_nothing(what: str, stepped: Board, another: Path, hidden: Path) -> None:
    """Also what stands beside it in board.yaml, which would be possible by itself."""
    new, changes, message = REFUSED[what]
    before, there = events(stepped), stepped.sets
    named = [text.format(another=another / "key", hidden=hidden / "key") for text in new]
    possible = {} if SET in changes else {SET: {"opens": PAST}}
    with pytest.raises(LeaderboardError, match=message):
        want(stepped, *named, changes={**possible, **changes})
    assert events(stepped) == before and stepped.sets == there


def test_a_set_is_retired_when_its_last_day_is_over(stepped: Board) -> None:
    changes = {SET: {"closes": PAST, "retired": True}, "public": {"retired": True}}
    assert want(stepped, changes=changes) == [("public", "set retired"), (SET, "dates changed"), (SET, "set retired")]
    with pytest.raises(LeaderboardError, match="'hidden-en' was retired and cannot come back"):
        want(stepped, changes={SET: {"retired": False}})
    with pytest.raises(LeaderboardError, match="'hidden-en' is closed; its dates cannot be changed"):
        want(stepped, changes={SET: {"closes": FUTURE}})


def test_sets_of_a_board_stand_in_its_settings(stepped: Board, another: Path) -> None:
    sets = stepped.settings.sets
    assert [one.name for one in sets] == ["public", SET]
    write_settings(stepped.folder, stepped.settings.model_copy(update={"sets": sets[:1]}))
    with pytest.raises(LeaderboardError, match=r"board\.yaml does not name the set 'hidden-en', which is in use"):
        apply_settings(stepped.folder)
    want(stepped, changes={SET: {"closes": PAST, "retired": True}})
    write_settings(stepped.folder, stepped.settings.model_copy(update={"sets": sets[:1]}))
    assert apply_settings(stepped.folder)[1] == [], "one that is retired may be left out"
    (stepped.folder / FILE).write_text(f"overall: [second]\nsets:\n- {{name: public, data: {sets[0].data}}}\n")
    with pytest.raises(ConfigError, match="overall names 'second', which is no set"):
        apply_settings(stepped.folder)
    second = f"- {{name: second, data: {another / 'key'}, closes: 2090-01-02}}\n"
    with (stepped.folder / FILE).open("a") as out:
        out.write(second)
    with pytest.raises(ConfigError, match="overall names 'second'"):
        open_board(stepped.folder)
    assert apply_settings(stepped.folder)[1] == [("second", "set added")]
    assert open_board(stepped.folder).sets[-1].lifecycle.closes == datetime(2090, 1, 3, tzinfo=UTC)
    with (stepped.folder / FILE).open("a") as out:
        out.write(second)
    with pytest.raises(ConfigError, match="two sets are named 'second'"):
        apply_settings(stepped.folder)


def test_two_who_add_a_set_at_once_add_it_once(stepped: Board, another: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, done = rotation.describe_set, []

    def read_while_another_applies(*values: Any, **options: Any) -> Any:
        test_set = read(*values, **options)
        if not done:  # the answers are read, and nothing is written yet
            done.append(1)
            done[:] = rotation.apply_sets(board)
        return test_set

    settings = [*stepped.settings.sets, SetSettings(name="second", data=str(another / "key"))]
    board = replace(stepped, settings=stepped.settings.model_copy(update={"sets": tuple(settings)}))
    monkeypatch.setattr(rotation, "describe_set", read_while_another_applies)
    assert rotation.apply_sets(board) == [] and done == [("second", "set added")]
    assert [line.what for line in events(stepped) if line.subject == "second"] == ["set added"]


def test_who_moves_a_set_that_another_has_moved_applies_once_more(
    stepped: Board, hidden: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        shutil.copytree(hidden, tmp_path / name)

    def moved_to(name: str) -> Board:
        sets = [
            one.model_copy(update={"data": str(tmp_path / name / "key")}) if one.name == SET else one
            for one in stepped.settings.sets
        ]
        return replace(stepped, settings=stepped.settings.model_copy(update={"sets": tuple(sets)}))

    rotation.apply_sets(moved_to("one"))
    monkeypatch.setattr(rotation, "_read_new", lambda *_: None)  # as if it had been there a moment ago
    with pytest.raises(LeaderboardError, match="changed by somebody else at this moment; apply once more"):
        rotation.apply_sets(moved_to("two"))
    assert [line.what for line in events(stepped) if line.subject == SET][-1] == "set moved"


def test_data_that_was_moved(stepped: Board, hidden: Path, tmp_path: Path) -> None:
    shutil.copytree(hidden, tmp_path / "moved")
    place = os.path.relpath(tmp_path / "moved" / "key", stepped.folder)
    assert want(stepped, changes={SET: {"data": place}}) == [(SET, "set moved")]
    assert Path(stepped.sets[1].path).samefile(tmp_path / "moved" / "key")
    assert str(tmp_path) not in str(events(stepped)), "where a set is stands in no log"
    assert stepped.sets[1].lifecycle.feedback is Feedback.LADDER and want(stepped) == []


def test_publishing_a_key(stepped: Board, hidden: Path, another: Path, tmp_path: Path) -> None:
    out = tmp_path / "published"
    for name, message in ((SET, "is in use; retire it first"), ("public", "is public already")):
        with pytest.raises(LeaderboardError, match=message):
            rotation.publish_key(stepped, name, out)
    want(stepped, changes={SET: {"closes": PAST, "retired": True}})
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
    want(board, f"second:{another / 'key'}", changes={"second": {"closes": PAST}})
    want(board, changes={"second": {"retired": True}})
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
        ({"opens": "soon"}, "`opens` takes a date such as 2026-12-01"),
        ({"opens": "2027-01-02", "closes": "2027-01-01"}, "would close at 2027-01-02 00:00 UTC, before it opens"),
        ({"closes": "9999-12-31"}, "`closes` takes a date"),
        ({"closes": "0001-01-01T00:00+14:00"}, "`closes` takes a date"),
    ],
)
def test_wrong_words(words: dict[str, str], message: str) -> None:
    with pytest.raises(LeaderboardError, match=message):
        make_lifecycle(**words)


def test_a_public_set_has_no_phase(stepped: Board) -> None:
    assert next(one for one in stepped.sets if not one.hidden).lifecycle == SetLifecycle(private=True)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("2027-01-01", datetime(2027, 1, 2, tzinfo=UTC)),  # its last day: the whole of it
        ("2027-01-01T00:00", datetime(2027, 1, 1, tzinfo=UTC)),
        ("2027-01-01T12:00+02:00", datetime(2027, 1, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_set_is_open_on_its_last_day(text: str, end: datetime) -> None:
    lifecycle = make_lifecycle(opens="2027-01-01" if "T" not in text else "", closes=text)
    assert lifecycle.closes == end
    assert not lifecycle.refusal("s", end - timedelta(seconds=1)) and lifecycle.refusal("s", end)
