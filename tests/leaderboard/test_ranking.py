"""Ranks: counted as models come and go, and always what counting anew would give."""

from collections.abc import Callable

import numpy as np
from sqlalchemy import Connection, and_, select, update

from tests.leaderboard.common import Place
from tests.leaderboard.examples import EACH_DATABASE
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import remove
from vcrgen.leaderboard.records import ModelFacts, SubmissionStatus
from vcrgen.leaderboard.store import results
from vcrgen.leaderboard.store.models import model_page
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.store.schema import cells, means, runs, submissions

Counts = dict[tuple[int, str, str], tuple[int | None, int | None]]
EASY, TEI = ("easy", "stacked"), ("easy", "tei")


def better(a: bytes, b: bytes) -> bool:
    """An independent statement of: b is significantly better than a."""
    difference = np.frombuffer(b, "<f8")[1:] - np.frombuffer(a, "<f8")[1:]  # the means of all, then of the resamples
    return bool(difference[0] - 1.959964 * difference[1:].std() > 0)


def ranked(connection: Connection) -> Counts:
    rows = connection.execute(select(cells))
    return {(row.run, row.mode, row.view): (row.better, row.worse) for row in rows}


def counted_anew(connection: Connection, inside: set[int]) -> Counts:
    same = and_(*(means.c[name] == cells.c[name] for name in ("run", "mode", "view")), means.c.metric == "exact")
    rows = connection.execute(select(cells, means.c.means).join(means, same)).all()
    expected: Counts = {}
    for row in rows:
        others = [
            other
            for other in rows
            if other.run in inside
            and other.run != row.run
            and (other.set, other.mode, other.view, other.short) == (row.set, row.mode, row.view, row.short)
        ]
        counts = (
            sum(better(row.means, other.means) for other in others),
            sum(better(other.means, row.means) for other in others),
        )
        expected[row.run, row.mode, row.view] = counts if row.run in inside else (None, None)
    return expected


@EACH_DATABASE
def test_counts_are_what_counting_anew_gives(board: Board, place: Place) -> None:
    """Through any order of coming and going, with two signatures, two sets, and files of one view or both."""
    rng = np.random.default_rng(0)
    for number in range(12):
        views = [[EASY], [TEI], [EASY, TEI]][number % 3]
        strength = rng.uniform(0, 1)
        given_means = {view: np.clip(strength + rng.normal(0, 0.2, 40), 0, 1).round(1).tolist() for view in views}
        place(
            board,
            f"Model {number}",
            given_means,
            set_name="hidden-en" if number % 4 == 3 else "public",
            signature=f"metric:made|seed:{number % 5 == 4}",
        )
    with board.queueing() as connection:
        inside = set(connection.execute(select(runs.c.id)).scalars())
        everything = sorted(inside)
        assert ranked(connection) == counted_anew(connection, inside)
        assert any(sum(counts) for counts in ranked(connection).values() if None not in counts)  # type: ignore[arg-type]
        for _ in range(30):
            run = int(rng.choice(everything))
            if run in inside:
                results.remove_from_ranking(connection, run)
                inside.remove(run)
            else:
                results.add_to_ranking(connection, run)
                inside.add(run)
            assert ranked(connection) == counted_anew(connection, inside)
        for run in sorted(inside):
            results.remove_from_ranking(connection, run)
        assert set(ranked(connection).values()) == {(None, None)}


def rows_of(board: Board) -> dict[str, tuple[int, int, float]]:
    with board.reading() as connection:
        views = BoardReader(board.settings, connection)
        (track,) = [t for t in views.tracks() if (t.set, t.mode, t.view.value) == ("public", *EASY)]
        rows = [row for ranking in views.table(track).rankings for row in ranking.rows]
    return {row.facts.model: (row.rank, row.worst_rank, row.scores[track.view]["exact"].value) for row in rows}


@EACH_DATABASE
def test_models_with_the_same_outputs_share_a_rank(board: Board, place: Place) -> None:
    for model, value in (("A", 0.5), ("B", 0.5), ("C", 0.25), ("D", 0.75), ("E", 0.5)):
        place(board, model, {EASY: [value] * 20})
    assert rows_of(board) == {
        "D": (1, 1, 0.75),
        "A": (2, 4, 0.5),
        "B": (2, 4, 0.5),
        "E": (2, 4, 0.5),
        "C": (5, 5, 0.25),
    }


@EACH_DATABASE
def test_a_later_file_of_a_model_takes_the_place_of_the_earlier_one(board: Board, place: Place) -> None:
    first = place(board, "A", {EASY: [0.75] * 20})
    place(board, "B", {EASY: [0.5] * 20})
    second = place(board, "a", {EASY: [0.25] * 20}, team="TEAM")
    assert rows_of(board) == {"B": (1, 1, 0.5), "a": (2, 2, 0.25)}
    with board.reading() as connection:
        stored = connection.execute(select(runs.c.submission).order_by(runs.c.id)).scalars().all()
        shown = connection.execute(select(submissions.c.id).where(submissions.c.current)).scalars().all()
        page = model_page(BoardReader(board.settings, connection), first.facts.entry)
    assert stored[0] == first.id and stored[2] == second.id and first.id not in shown and second.id in shown
    assert page is not None and [(run.current, run.file) for run in page.runs] == [
        (True, second.file),
        (False, first.file),
    ]
    assert page.runs[1].cells == () and page.runs[1].removed == ""


@EACH_DATABASE
def test_removing_brings_the_earlier_file_back(board: Board, place: Place) -> None:
    first = place(board, "A", {EASY: [0.75] * 20})
    place(board, "B", {EASY: [0.5] * 20})
    before = rows_of(board)
    second = place(board, "A", {EASY: [0.25] * 20})
    third = place(board, "A", {EASY: [0.3] * 20})
    remove(board, third.id, "a reason")
    assert rows_of(board)["A"] == (2, 2, 0.25)
    remove(board, second.id[:8], "another reason")
    assert rows_of(board) == before
    with board.reading() as connection:
        page = model_page(BoardReader(board.settings, connection), first.facts.entry)
    assert page is not None and [run.removed for run in page.runs] == ["a reason", "another reason", ""]
    remove(board, first.id, "gone")
    assert rows_of(board) == {"B": (1, 1, 0.5)}


@EACH_DATABASE
def test_removing_an_earlier_file_changes_no_rank(board: Board, place: Place) -> None:
    first = place(board, "A", {EASY: [0.75] * 20})
    place(board, "A", {EASY: [0.25] * 20})
    place(board, "B", {EASY: [0.5] * 20})
    before = rows_of(board)
    remove(board, first.id, "a reason")
    assert rows_of(board) == before


@EACH_DATABASE
def test_models_of_two_teams_with_one_name_are_two(
    board: Board, place: Place, facts: Callable[..., ModelFacts]
) -> None:
    place(board, "A", {EASY: [0.75] * 20}, team="One")
    place(board, "A", {EASY: [0.25] * 20}, team="Two")
    with board.reading() as connection:
        site = BoardReader(board.settings, connection).site(live=True)
        status = connection.execute(select(submissions.c.status)).scalars().all()
    assert [(one.model, one.team) for one in site.models] == [("A", "One"), ("A", "Two")]
    assert status == [SubmissionStatus.SCORED.value] * 2


@EACH_DATABASE
def test_a_file_that_fails_leaves_the_last_one_shown(board: Board, place: Place) -> None:
    from vcrgen.leaderboard.scoring import ScoringOutcome
    from vcrgen.leaderboard.worker import finish

    first = place(board, "A", {EASY: [0.75] * 20})
    before = rows_of(board)
    second = place(board, "A", {EASY: [0.25] * 20})
    with board.queueing() as connection:  # scored anew, and rejected this time
        connection.execute(
            update(submissions).where(submissions.c.id == second.id).values(status=SubmissionStatus.QUEUED.value)
        )
    finish(board, second, ScoringOutcome(problems=("no",)))
    assert rows_of(board) == before
    with board.reading() as connection:
        shown = connection.execute(select(submissions.c.id).where(submissions.c.current)).scalars().all()
    assert shown == [first.id]
