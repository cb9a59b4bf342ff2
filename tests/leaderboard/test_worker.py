"""Scoring what waits: once each, whatever is killed, and nothing keeps the rest from being scored."""

import ctypes
import errno
import faulthandler
import itertools
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select

from tests.forked import Forked
from tests.leaderboard.common import Drain, Facts, Find, Hand, MakeBoard, Submit, events, statuses, until
from tests.leaderboard.examples import EACH_DATABASE
from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard import scoring
from vcrgen.leaderboard import worker as module
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.new_board import init_board
from vcrgen.leaderboard.records import Submission, SubmissionStatus
from vcrgen.leaderboard.scoring import MAX_ATTEMPTS, ScoringOutcome, open_session
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.comparisons import compare_models, model_pairs
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.store.schema import cells, runs
from vcrgen.leaderboard.worker import Worker
from vcrgen.scorer.answer_key import AnswerKey


def count_runs(board: Board) -> Counter[str]:
    with board.reading() as connection:
        return Counter(connection.execute(select(runs.c.submission)).scalars())


def assert_scored_once(board: Board, given: list[Submission]) -> None:
    ids = {one.id: 1 for one in given}
    assert statuses(board) == {"scored": len(given)}
    assert count_runs(board) == ids
    scored = [(line.facts["model"], line.facts["file"]) for line in events(board, "scored")]
    assert Counter(scored) == Counter((one.facts.model, one.file) for one in given)


@pytest.fixture
def three(hand: Hand, facts: Facts, submit: Submit, public_key: AnswerKey) -> Callable[[Board], list[Submission]]:
    """Hands in the files of three models on the public set."""
    return lambda board: [
        submit(board, hand(public_key, right=number, views=["stacked"], modes=["easy"]), facts(f"Model {number}"))
        for number in (1, 2, 3)
    ]


@EACH_DATABASE
def test_everything_is_scored_once(board: Board, three: Any, drain: Drain, find: Find) -> None:
    given = three(board)
    assert drain(board) == 3 and drain(board) == 0
    assert_scored_once(board, given)
    for one in given:
        found = find(board, one.id)
        assert found.attempts == 0 and found.finished is not None and found.problems == ()
    with board.reading() as connection:
        rows = connection.execute(select(cells.c.mode, cells.c.view, cells.c.ranked)).all()
    assert {(row.mode, row.view) for row in rows} == {("easy", "stacked")} and all(row.ranked for row in rows)


def test_a_file_that_is_not_complete_fails_and_says_why(
    board: Board, facts: Facts, submit: Submit, drain: Drain, find: Find, public_key: AnswerKey, tmp_path: Path
) -> None:
    file = tmp_path / "mine.jsonl"
    line = {"question_id": public_key.questions[0].question_id, "output": "x", "mode": "easy"}
    file.write_text(json.dumps(line) + "\n")
    given = submit(board, file, facts())
    assert drain(board) == 1
    found = find(board, given.id)
    assert found.status is SubmissionStatus.FAILED and found.finished is not None
    assert len(found.problems) == 1 and found.problems[0].startswith("Questions without an output: 11 (")
    assert count_runs(board) == {} and [line.facts["file"] for line in events(board, "failed")] == [given.file]
    assert events(board, "scored") == []


@EACH_DATABASE
def test_what_a_killed_worker_left_is_scored_once(board: Board, three: Any, drain: Drain, find: Find) -> None:
    given = three(board)
    with board.writing() as connection:
        left = submissions.claim(connection)
    assert left is not None and find(board, left.id).status is SubmissionStatus.SCORING
    assert drain(board) == 3
    assert_scored_once(board, given)
    assert find(board, left.id).attempts == 0


def test_an_older_worker_of_the_board_is_not_disturbed(board: Board, three: Any) -> None:
    three(board)
    first = Worker(board, say=lambda what, **more: None)
    with first.exclusive(wait=1):
        with board.writing() as connection:
            submissions.claim(connection)
        with (
            pytest.raises(LeaderboardError, match=r"Another process scores for .* already"),
            Worker(board).exclusive(wait=0.1),
        ):
            pass
        assert statuses(board) == {"queued": 2, "scoring": 1}
    with Worker(board, say=lambda what, **more: None).exclusive(wait=1):
        assert statuses(board) == {"queued": 3}


@EACH_DATABASE
def test_the_scores_are_stored_with_the_log_or_not_at_all(
    board: Board, three: Any, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = three(board)

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("crash")

    for owner, name in ((results, "update_shown_file"), (module, "record")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, crash)
            with pytest.raises(RuntimeError, match="crash"):
                drain(board)
        assert statuses(board) == {"queued": 3} and count_runs(board) == {} and events(board, "scored") == []
    assert drain(board) == 3
    assert_scored_once(board, given)


# --- The process of its own ------------------------------------------------------------------------------------------


def only_for(first: Submission, what: Callable[[], Any]) -> Callable[..., ScoringOutcome]:
    """A stand-in for the scorer that misbehaves for one file."""
    real = scoring.score_file

    def score(session: Any, file: Path, **more: Any) -> ScoringOutcome:
        if file.name == first.file:
            what()
        return real(session, file, **more)

    return score


def crash_hard() -> None:
    faulthandler.disable()  # says nothing that is of use here
    ctypes.string_at(0)


def no_word(what: str, **facts: Any) -> None: ...


def raise_fault() -> None:
    raise ValueError("a fault of ours")


@pytest.mark.process
@pytest.mark.parametrize("death", [lambda: os._exit(0), crash_hard, raise_fault, lambda: os.kill(os.getpid(), 9)])
def test_a_file_that_kills_its_process_fails_after_some_tries(
    death: Callable[[], None], board: Board, three: Any, drain: Drain, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = three(board)
    monkeypatch.setattr(scoring, "score_file", only_for(given[0], death))
    told: list[tuple[str, dict[str, Any]]] = []
    drain(board, say=lambda what, **facts: told.append((what, facts)))
    found = find(board, given[0].id)
    assert found.status is SubmissionStatus.FAILED and found.attempts == MAX_ATTEMPTS
    assert found.problems == ("Scoring broke off 3 times; please tell the maintainers.",)
    assert statuses(board) == {"failed": 1, "scored": 2} and count_runs(board) == {one.id: 1 for one in given[1:]}
    assert [facts["attempt"] for what, facts in told if what == "scoring broke off"] == [1, 2]
    assert len(events(board, "failed")) == 1


def test_a_process_that_dies_while_it_answers_counts_as_one_that_died(
    board: Board, three: Any, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(job: Any, pipe: Any, parent: int) -> None:
        os.write(pipe.fileno(), struct.pack("!i", 1000) + b'{"problems": [')
        os._exit(1)

    three(board)
    monkeypatch.setattr(scoring, "_subprocess_main", half)
    drain(board)
    assert statuses(board) == {"failed": 3}


def test_what_goes_wrong_in_scoring_quotes_nothing(
    board: Board,
    three: Any,
    hidden_key: AnswerKey,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    drain: Drain,
) -> None:
    """The text of an exception may hold an answer, and the log of a server is no place for it."""
    answer = hidden_key.questions[0].answers[0]

    def fault() -> None:
        raise KeyError(answer)

    given = three(board)
    monkeypatch.setattr(scoring, "score_file", only_for(given[0], fault))
    drain(board)
    told = "".join(capfd.readouterr())
    assert "KeyError" in told and "test_worker.py" in told
    assert answer not in told


def test_a_file_that_takes_too_long_fails(
    make_board: MakeBoard, three: Any, drain: Drain, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = make_board(seconds=3600)
    given = three(board)
    monkeypatch.setattr(scoring, "score_file", only_for(given[0], lambda: time.sleep(600)))
    assert Worker(replace(board, settings=board.settings.model_copy(update={"seconds": 2})), say=no_word).score_next()
    assert drain(board) == 2
    assert find(board, given[0].id).problems == ("Scoring took longer than 2 seconds, the most this board gives.",)
    assert statuses(board) == {"failed": 1, "scored": 2}


def test_time_in_which_the_worker_stands_still_is_not_that_of_a_file(
    board: Board, three: Any, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that stops all its processes for a while left the clock behind, and a file failed for it."""
    three(board)
    clock = itertools.count(step=1e6)
    for owner in (module, scoring):
        monkeypatch.setattr(owner, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=time.sleep))
    assert drain(board) == 3
    assert statuses(board) == {"scored": 3}


def test_a_file_that_takes_too_much_memory_fails(
    make_board: MakeBoard, three: Any, drain: Drain, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = make_board(memory_mb=128)
    given = three(board)
    monkeypatch.setattr(scoring, "score_file", only_for(given[0], lambda: bytearray(2 << 30)))
    assert drain(board) == 3
    assert find(board, given[0].id).problems == ("Scoring this file takes more memory than this board gives.",)
    assert statuses(board) == {"failed": 1, "scored": 2}


# --- Sets that change --------------------------------------------------------------------------------------------------  # noqa: E501


@pytest.fixture
def movable(public: Path, hidden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Board]:
    """A board whose public set is a copy, and a worker that has read nothing yet."""
    scoring._session.cache_clear()
    shutil.copytree(public, tmp_path / "moved")
    data = [f"public:{tmp_path / 'moved'}", f"hidden-en:{hidden / 'key'}"]
    board = init_board(tmp_path / "board", data, Settings(), with_reported=False)
    yield board
    board.engine.dispose()


def test_a_set_that_is_gone_keeps_nobody_else_waiting(
    movable: Board,
    three: Any,
    hand: Hand,
    facts: Facts,
    submit: Submit,
    drain: Drain,
    find: Find,
    hidden_key: AnswerKey,
    tmp_path: Path,
) -> None:
    waiting = three(movable)
    other = submit(movable, hand(hidden_key), facts(), set_name="hidden-en")
    (tmp_path / "moved").rename(tmp_path / "elsewhere")
    told: list[str] = []
    drain(movable, say=lambda what, **facts: told.append(what))
    assert find(movable, other.id).status is SubmissionStatus.SCORED
    assert [find(movable, one.id).status for one in waiting] == [SubmissionStatus.QUEUED] * 3
    assert [find(movable, one.id).attempts for one in waiting] == [0] * 3
    assert told == ["set cannot be used", "scored"]
    (tmp_path / "elsewhere").rename(tmp_path / "moved")
    assert drain(movable) == 3
    assert_scored_once(movable, [*waiting, other])


def test_a_set_that_changed_is_another_ranking(
    movable: Board,
    hand: Hand,
    facts: Facts,
    submit: Submit,
    drain: Drain,
    public: Path,
    public_key: AnswerKey,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = movable.sets[0]
    old = submit(movable, hand(public_key, right=1), facts("Old"))
    assert drain(movable) == 1
    key = tmp_path / "moved"
    shutil.rmtree(key)
    rows = [
        {"question_id": question.question_id, "crossed_text": list(question.answers), "language": "en"}
        for question in public_key.questions[:9]
    ]
    key.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scoring._session.cache_clear()
    new_key = open_session("public", key).key
    new = submit(movable, hand(new_key, right=2, modes=[None]), facts("New"))
    assert drain(movable) == 1
    after = movable.sets[0]
    assert (before.questions, after.questions) == (12, 9) and before.signature != after.signature
    assert [(line.subject, line.facts) for line in events(movable, "set changed")] == [
        ("public", {"signature": after.signature})
    ]
    assert [line.facts["signature"] for line in events(movable, "scored")] == [before.signature, after.signature]
    with movable.reading() as connection:
        views = BoardReader(movable.settings, connection)
        rankings = [ranking for track in views.tracks() for ranking in views.table(track).rankings]
        page = compare_models(views, old.facts.entry, new.facts.entry)
        assert page is not None and page.comparisons == () and model_pairs(views) == []
    assert {(ranking.signature, *(row.facts.model for row in ranking.rows)) for ranking in rankings} == {
        (before.signature, "Old"),
        (after.signature, "New"),
    }
    assert all(row.rank == row.worst_rank == 1 for ranking in rankings for row in ranking.rows)


# --- The worker as a process -----------------------------------------------------------------------------------------


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Forked]]:
    """Starts a worker as the service does, or one that does otherwise; this process draws as often as it."""
    monkeypatch.setattr("vcrgen.stats.bootstrap.RESAMPLES", 1000)
    started: list[Forked] = []

    def call(board: Board, work: Callable[[Path], None] = work) -> Forked:
        started.append(Forked(work, board.folder))
        return started[-1]

    yield call
    for process in started:
        process.kill()


def work(folder: Path) -> None:
    module.serve(module.open_board(folder), parent=os.getppid())


def work_slowly(folder: Path) -> None:
    scoring.score_file = lambda *_, **__: time.sleep(600)  # type: ignore[assignment]
    work(folder)


@pytest.mark.process
def test_a_worker_that_is_killed_again_and_again_scores_everything_once(
    board: Board,
    hand: Hand,
    facts: Facts,
    submit: Submit,
    drain: Drain,
    public_key: AnswerKey,
    start: Callable[..., Forked],
) -> None:
    given = [
        submit(
            board,
            hand(public_key, right=2, note=f"n{number}", views=["stacked"], modes=["easy"]),
            facts(f"M{number % 4}"),
        )
        for number in range(6)
    ]
    rng = random.Random(7)
    for _ in range(2):
        scored = statuses(board)["scored"]
        process = start(board)
        until(lambda scored=scored: statuses(board)["scored"] > scored or statuses(board)["queued"] == 0)  # type: ignore[misc]
        time.sleep(rng.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
    drain(board)
    assert_scored_once(board, given)


@pytest.mark.process
def test_a_worker_that_is_asked_to_stop_puts_back_what_it_holds(
    make_board: MakeBoard,
    hand: Hand,
    facts: Facts,
    submit: Submit,
    find: Find,
    public_key: AnswerKey,
    start: Callable[..., Forked],
    tmp_path: Path,
    drain: Drain,
) -> None:
    board = make_board()
    given = submit(board, hand(public_key, right=1, views=["stacked"], modes=["easy"]), facts())
    process = start(board, work_slowly)
    until(lambda: find(board, given.id).status is SubmissionStatus.SCORING)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    found = find(board, given.id)
    assert (found.status, found.attempts) == (SubmissionStatus.QUEUED, 0)
    assert drain(board) == 1 and find(board, given.id).attempts == 0


@pytest.mark.parametrize(
    ("owner", "name", "spare"),
    [
        (Board, "writing", 0),  # nothing can be written
        (Board, "writing", 2),  # nothing after a file has been claimed
        (module, "finish", 0),  # what is small can be written, the scores cannot
        (scoring, "score_file", 0),  # there is no room for temporary files
    ],
)
def test_a_worker_waits_until_a_full_disk_has_room(
    owner: Any, name: str, spare: int, board: Board, three: Any, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = three(board)
    room, real, number, told = board.folder / "room", getattr(owner, name), itertools.count(), Counter[str]()

    def full(*words: Any, **more: Any) -> Any:
        if not room.exists() and next(number) >= spare:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*words, **more)

    def say(what: str, **facts: Any) -> None:
        told[what] += 1
        if told["disk full"] == 4:  # more often than a file may be tried
            room.touch()

    def pause(seconds: float) -> None:
        time.sleep(min(seconds, 0.01))
        if statuses(board) == {"scored": 3}:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(owner, name, full)
    monkeypatch.setattr(module, "MAX_ATTEMPTS", 2)
    monkeypatch.setattr(module, "log_line", say)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=time.monotonic, sleep=pause))
    before = [(each, signal.getsignal(each)) for each in (signal.SIGTERM, signal.SIGINT)]
    try:
        module.serve(board, parent=os.getppid())
    finally:
        for each, handler in before:
            signal.signal(each, handler)
    assert told["disk full"] >= 4
    assert_scored_once(board, given)
    assert [find(board, one.id).attempts for one in given] == [0, 0, 0]


def test_a_full_disk_met_while_a_file_is_scored_is_no_attempt_of_the_file(
    board: Board, three: Any, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is due meanwhile is written down by `stop`; three such faults would have failed a file that has none."""
    given = three(board)
    monkeypatch.setattr(scoring, "score_file", lambda *_, **__: time.sleep(60))

    def full() -> bool:
        raise OSError(errno.ENOSPC, "No space left on device")

    worker = Worker(board)
    with worker.exclusive(wait=10), pytest.raises(OSError, match="No space"):
        worker.score_next(stop=full)
    assert [(find(board, one.id).attempts, find(board, one.id).status.value) for one in given] == [(0, "queued")] * 3


@pytest.mark.process
def test_a_worker_goes_when_its_parent_is_gone(board: Board) -> None:
    command = [sys.executable, "-m", "vcrgen.leaderboard.worker", str(board.folder), "1"]
    script = f"import subprocess, os; subprocess.run({command[:-1]!r} + [str(os.getpid() + 1)], timeout=240)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=300, check=False)
    assert done.returncode == 0 and b"worker ready" in done.stderr
