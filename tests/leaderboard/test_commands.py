"""Maintainers' commands: with a service beside them or without, and when something is not as it should be."""

import shutil
import threading
from pathlib import Path

import pytest

from tests.leaderboard.common import Drain, Facts, Find, Hand, MakeBoard, Place, Submit, events
from tests.leaderboard.examples import EACH_DATABASE
from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard import commands, scoring
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import add, find_set, give_token, quote, remove, rescore, revoke, score_waiting
from vcrgen.leaderboard.intake import DuplicateSubmission
from vcrgen.leaderboard.new_board import init_board
from vcrgen.leaderboard.records import SubmissionStatus
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import maintainer, read_log
from vcrgen.leaderboard.store.models import model_page, submission_cells
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.worker import Worker
from vcrgen.scorer.answer_key import AnswerKey


def test_a_file_finds_its_set_and_is_scored(
    board: Board, hand: Hand, facts: Facts, public_key: AnswerKey, hidden_key: AnswerKey
) -> None:
    for key, name in ((public_key, "public"), (hidden_key, "hidden-en")):
        done = add(board, hand(key), facts(), set_name=None)
        assert (done.set, done.status, done.channel, done.attempts) == (
            name,
            SubmissionStatus.SCORED,
            "command line",
            0,
        )
    assert [line.actor for line in events(board, "accepted")] == [maintainer()] * 2


def test_maintainers_have_no_limits(make_board: MakeBoard, hand: Hand, facts: Facts, hidden_key: AnswerKey) -> None:
    board = make_board(hidden_scores_per_day=1, failed_files_per_day=1)
    for number in range(2):
        file = hand(hidden_key, right=number, note=f"n{number}", views=["stacked"])
        assert add(board, file, facts(f"M{number}"), set_name="hidden-en").status is SubmissionStatus.SCORED


def test_a_file_that_fits_two_sets_needs_a_name(
    public: Path, hand: Hand, public_key: AnswerKey, tmp_path: Path
) -> None:
    board = init_board(tmp_path / "board", [f"a:{public}", f"b:{public}"], Settings(), with_reported=False)
    with pytest.raises(LeaderboardError, match="fits the sets a and b; name one with --set"):
        find_set(board, hand(public_key))


def test_a_file_that_fits_no_set_is_not_handed_in(board: Board, facts: Facts, tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text('{"question_id": "nobody", "output": "x"}\n')
    with pytest.raises(LeaderboardError, match="of 1 output none fits"):
        add(board, file, facts(), set_name=None)
    assert events(board, "accepted") == []


def test_a_file_is_scored_by_the_one_who_scores_already(
    board: Board, hand: Hand, facts: Facts, public_key: AnswerKey
) -> None:
    """As a running service does."""
    stop, ready = threading.Event(), threading.Event()
    scored = []

    def serve() -> None:
        worker = Worker(board, say=lambda what, **more: scored.append(what))
        with worker.exclusive(wait=5):
            ready.set()
            while not stop.is_set():
                worker.score_next() or stop.wait(0.05)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        assert ready.wait(60)
        with pytest.raises(LeaderboardError, match="Another process scores"):
            score_waiting(board)
        done = add(board, hand(public_key, views=["stacked"], modes=["easy"]), facts(), set_name="public")
    finally:
        stop.set()
        thread.join()
    assert done.status is SubmissionStatus.SCORED and scored == ["scored"]


def test_a_set_that_is_gone_is_said_and_the_file_waits(
    public: Path,
    hand: Hand,
    facts: Facts,
    find: Find,
    public_key: AnswerKey,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scoring._session.cache_clear()
    shutil.copytree(public, tmp_path / "data")
    board = init_board(tmp_path / "board", [f"public:{tmp_path / 'data'}"], Settings(), with_reported=False)
    (tmp_path / "data").rename(tmp_path / "gone")
    with pytest.raises(LeaderboardError, match="accepted and waits, as the set 'public' cannot be read"):
        add(board, hand(public_key), facts(), set_name="public")
    with board.reading() as connection:
        (waiting,) = submissions.list_submissions(connection)
    assert waiting.status is SubmissionStatus.QUEUED and waiting.attempts == 0
    (tmp_path / "gone").rename(tmp_path / "data")
    assert score_waiting(board) == 1 and find(board, waiting.id).status is SubmissionStatus.SCORED


def test_removing_says_why(board: Board, place: Place, find: Find) -> None:
    one = place(board, "A", {("easy", "stacked"): [0.5] * 20})
    removed = remove(board, one.id[:10], "  trained\n on   it ")
    assert removed.id == one.id
    found = find(board, one.id)
    assert (found.status, found.removed) == (SubmissionStatus.REMOVED, "trained on it")
    (line,) = events(board, "removed")
    assert (
        line.subject == one.facts.entry and line.facts["reason"] == "trained on it" and line.facts["file"] == one.file
    )
    with board.reading() as connection:
        views = BoardReader(board.settings, connection)
        assert all(views.table(track).rankings == () for track in views.tracks())
        assert views.site(live=True).models == () and submission_cells(views, one.id) == []
        page = model_page(views, one.facts.entry)
    assert page is not None and [(run.removed, run.cells, run.current) for run in page.runs] == [
        ("trained on it", (), False)
    ]


@pytest.mark.parametrize(
    ("begin", "reason", "message"),
    [
        ("x", "r", "0 submissions have an id that begins with 'x'"),
        ("%", "r", "0 submissions have an id"),
        ("", "r", "3 submissions have an id that begins with ''"),
        ("{queued}", "r", "is queued; only what is scored can be removed"),
        ("{scored}", " \n", r"Say why \(on the command line with --reason\)"),
    ],
)
def test_what_cannot_be_removed(
    begin: str,
    reason: str,
    message: str,
    board: Board,
    place: Place,
    submit: Submit,
    hand: Hand,
    facts: Facts,
    public_key: AnswerKey,
) -> None:
    scored = [place(board, model, {("easy", "stacked"): [0.5] * 20}) for model in "AB"]
    queued = submit(board, hand(public_key), facts("C"))
    with pytest.raises(LeaderboardError, match=message):
        remove(board, begin.format(queued=queued.id, scored=scored[0].id), reason)
    assert events(board, "removed") == []


def test_scoring_everything_again_keeps_the_old_scores(
    board: Board, hand: Hand, facts: Facts, submit: Submit, drain: Drain, public_key: AnswerKey, hidden_key: AnswerKey
) -> None:
    submit(board, hand(public_key, right=2), facts())
    submit(board, hand(public_key, right=1), facts())
    submit(board, hand(hidden_key, right=2), facts(), set_name="hidden-en")
    drain(board)

    def tables() -> list[object]:
        with board.reading() as connection:
            views = BoardReader(board.settings, connection)
            return [views.table(track) for track in views.tracks()]

    before = tables()
    assert rescore(board) == 3 and tables() == before  # shown until they are scored
    assert drain(board) == 3 and tables() == before
    assert drain(board) == 0
    with board.reading() as connection:
        page = model_page(BoardReader(board.settings, connection), facts().entry)
    assert page is not None and len(page.runs) == 6
    assert [run.current for run in page.runs if run.set == "hidden-en"] == [True, False]
    assert [line.facts for line in events(board, "rescoring")] == [{"submissions": "3"}]


@EACH_DATABASE
def test_tokens_are_given_and_made_void(board: Board) -> None:
    token = give_token(board, "  Lab ", "a  label")
    give_token(board, "Lab", "")
    assert revoke(board, "LAB") == 2
    with pytest.raises(LeaderboardError, match="The team 'Lab' has no valid token"):
        revoke(board, "Lab")
    with board.reading() as connection:
        log = [(line.what, line.subject, dict(line.facts)) for line in read_log(connection)][2:]
    assert log == [("token given", "Lab", {}), ("token given", "Lab", {}), ("tokens revoked", "LAB", {})]
    assert token not in repr(log)


def test_quoting_is_written_down_once(board: Board, tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text("source,language,mode,view,model,exact\nP,en,easy,stacked,M,50\n")
    assert [quote(board, [file]), quote(board, [file])] == [1, 0]
    assert [line.facts for line in events(board, "reported results")] == [{"rows": "1", "files": "q.csv"}]


def test_the_same_file_again_is_said(board: Board, hand: Hand, facts: Facts, public_key: AnswerKey) -> None:
    file = hand(public_key, views=["stacked"], modes=["easy"])
    add(board, file, facts(), set_name="public")
    with pytest.raises(DuplicateSubmission):
        add(board, file, facts(), set_name="public")
    assert commands.find_set(board, file) == "public"
