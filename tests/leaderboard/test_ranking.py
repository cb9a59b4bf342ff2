"""Ranks: as models come and go, they are always what testing all pairs at once would give."""

import numpy as np
import pytest
from sqlalchemy import Connection, Update, and_, delete, select, update

from tests.leaderboard.common import Facts, Place
from tests.leaderboard.examples import EACH_DATABASE
from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard import worker
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import refresh_ranks, remove
from vcrgen.leaderboard.records import SubmissionStatus
from vcrgen.leaderboard.store import ranks
from vcrgen.leaderboard.store.log import check_board, record
from vcrgen.leaderboard.store.models import model_page
from vcrgen.leaderboard.store.ranks import CellKey
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.store.schema import cells, pair_statistics, rankings, runs, sign_flips, submissions
from vcrgen.leaderboard.worker import refresh_ranking
from vcrgen.stats.arrays import Floats
from vcrgen.stats.sign_flips import FLIPS

Ranks = dict[tuple[int, CellKey], tuple[int, int]]
EASY, TEI = ("easy", "stacked"), ("easy", "tei")


def ranked(connection: Connection) -> Ranks:
    keys = {CellKey(*row) for row in connection.execute(select(*(cells.c[name] for name in CellKey._fields)))}
    return {(run, key): tuple(rank) for key in keys for run, rank in ranks.ranges(connection, key).items()}


def ranked_anew(connection: Connection, inside: set[int]) -> Ranks:
    """An independent statement of the method, over all pairs at once, by the corrected p-value of each."""
    same = and_(*(sign_flips.c[name] == cells.c[name] for name in ("run", "mode", "view")))
    rankings: dict[CellKey, dict[int, Floats]] = {}
    for row in connection.execute(select(cells, sign_flips.c.sums).join(sign_flips, same)):
        if row.run in inside:
            sums = np.frombuffer(row.sums, "<f4").astype(float)
            rankings.setdefault(CellKey(row.set, row.mode, row.view, row.short), {})[row.run] = sums
    expected: Ranks = {}
    for key, sums_of in rankings.items():
        sums = np.array(list(sums_of.values()))
        differences = sums[:, None] - sums
        scale = np.sqrt((differences**2).mean(axis=2, keepdims=True))
        statistics = np.abs(differences) / np.where(scale > 0, scale, 1)
        maxima = statistics.max(axis=(0, 1))
        p = (maxima >= statistics[:, :, :1] - 1e-6).mean(axis=2)
        for number, run in enumerate(sums_of):
            better = ((p[number] < 0.05) & (differences[number, :, 0] < 0)).sum()
            worse = ((p[number] < 0.05) & (differences[number, :, 0] > 0)).sum()
            expected[run, key] = (1 + better, len(sums) - worse)
    return expected


@EACH_DATABASE
def test_ranks_are_what_all_pairs_at_once_give(board: Board, place: Place) -> None:
    """Through any order of coming and going, with two signatures, two sets, and files of one view or both."""
    rng = np.random.default_rng(0)
    for number in range(12):
        views = [[EASY], [TEI], [EASY, TEI]][number % 3]
        strength = rng.uniform(0, 1)
        values = {view: np.clip(strength + rng.normal(0, 0.2, 40), 0, 1).round(1).tolist() for view in views}
        place(
            board,
            f"Model {number}",
            values,
            set_name="hidden-en" if number % 4 == 3 else "public",
            signature=f"metric:made|seed:{number % 5 == 4}",
        )
    with board.reading() as connection:
        inside = set(connection.execute(select(runs.c.id)).scalars())
        everything = sorted(inside)
        assert ranked(connection) == ranked_anew(connection, inside)
        assert any(rank > 1 for rank, _ in ranked(connection).values())
    for _ in range(30):
        run = int(rng.choice(everything))
        with board.writing() as connection:
            if run in inside:
                ranks.remove_from_ranking(connection, run)
            else:
                ranks.add_to_ranking(connection, run)
            inside ^= {run}
            record(connection, actor="test", what="changed", subject="board", facts={})
            exact = ranked_anew(connection, inside)
            for place_, (rank, worst) in ranked(connection).items():  # too wide at most, until they are refreshed
                assert rank <= exact[place_][0] and worst >= exact[place_][1]
        refresh_ranks(board)
        with board.reading() as connection:
            assert ranked(connection) == exact
    with board.writing() as connection:
        for run in sorted(inside):
            ranks.remove_from_ranking(connection, run)
        assert ranked(connection) == {}
        record(connection, actor="test", what="changed", subject="board", facts={})


def test_a_ranking_that_changes_while_it_is_refreshed_is_refreshed_again(
    board: Board, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        place(board, f"Model {number}", {EASY: [number / 4] * 20})
    with board.writing() as connection:
        ranks.remove_from_ranking(connection, 1)
        record(connection, actor="test", what="changed", subject="board", facts={})
    compute = worker.maxima_of_all

    def add_meanwhile(sums: Floats) -> Floats:
        monkeypatch.setattr(worker, "maxima_of_all", compute)
        with board.writing() as connection:
            ranks.add_to_ranking(connection, 1)
            record(connection, actor="test", what="changed", subject="board", facts={})
        return compute(sums)

    monkeypatch.setattr(worker, "maxima_of_all", add_meanwhile)
    assert [refresh_ranking(board) for _ in range(3)] == [True, True, False]
    with board.reading() as connection:
        assert ranked(connection) == ranked_anew(connection, {1, 2, 3, 4})


@pytest.mark.parametrize(
    "change",
    [
        update(rankings).values(maxima=np.full(FLIPS, 0.5, "<f4").tobytes()),
        update(pair_statistics).values(statistics=b"", others=b""),
        delete(rankings),
    ],
)
def test_ranks_that_do_not_follow_from_the_scores_are_found(board: Board, place: Place, change: Update) -> None:
    for number in range(4):
        place(board, f"Model {number}", {EASY: [number / 4] * 20})
    with board.queueing() as connection:
        check_board(connection)
        connection.execute(change)
        with pytest.raises(LeaderboardError, match="The ranks of public, easy, stacked do not follow from its scores"):
            check_board(connection)


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
def test_models_of_two_teams_with_one_name_are_two(board: Board, place: Place, facts: Facts) -> None:
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
    with board.writing() as connection:  # scored anew, and rejected this time
        connection.execute(
            update(submissions).where(submissions.c.id == second.id).values(status=SubmissionStatus.QUEUED.value)
        )
        record(connection, actor="test", what="changed", subject="board", facts={})
    finish(board, second, ScoringOutcome(problems=("no",)))
    assert rows_of(board) == before
    with board.reading() as connection:
        shown = connection.execute(select(submissions.c.id).where(submissions.c.current)).scalars().all()
    assert shown == [first.id]
