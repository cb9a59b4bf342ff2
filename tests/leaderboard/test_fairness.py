"""Teams take turns, a file that cannot be scored stops no closing, and at closing a team has few models."""

import io
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from tests.leaderboard.common import SET, Drain, Facts, Find, Guess, MakeBoard, Submit, table_of
from vcrgen.core.errors import LeaderboardError
from vcrgen.core.progress import ProgressListener
from vcrgen.leaderboard import checking, closing
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.closing import close
from vcrgen.leaderboard.commands import choose, take_back
from vcrgen.leaderboard.intake import LimitReached
from vcrgen.leaderboard.records import Submission, SubmissionStatus
from vcrgen.leaderboard.scoring import ScoringOutcome, fingerprint, session_of
from vcrgen.leaderboard.service import teams as routes
from vcrgen.leaderboard.store import submissions, teams
from vcrgen.leaderboard.store.log import read_log, record
from vcrgen.leaderboard.store.models import team_page
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.worker import Worker
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.web.responses import Refusal


@pytest.fixture
def stepped(make_board: MakeBoard) -> Board:
    return make_board(feedback="ladder", hidden_scores_per_day=20, failed_files_per_day=2)


def group(board: Board, **groups: str) -> None:
    with board.writing() as connection:
        for team, name in groups.items():
            teams.add_team(connection, team)
            teams.put_into_group(connection, team, name)
        record(connection, actor="a test", what="grouped", subject="board", facts={})


# The queue


def test_teams_take_turns_whatever_they_hand_in(stepped: Board, guess: Guess, facts: Facts, submit: Submit) -> None:
    """Files of one team, and of another of its group, do not keep the file of a third one waiting."""
    group(stepped, A="ab", B="ab")
    for number, team in enumerate("AAABBC"):
        submit(stepped, guess(f"g{number}", {}), facts(f"M{number}", team), set_name=SET)
    order: list[str] = []
    worker = Worker(stepped, say=lambda *_, **__: None)
    worker._score = lambda submission, stop: order.append(submission.facts.team)  # type: ignore[method-assign]
    with worker.exclusive(wait=1):
        while worker.score_next():
            pass
    assert order == ["A", "C", "A", "A", "B", "B"]


def test_one_check_of_a_team_at_a_time(stepped: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three large checks of one team made the check of another one time out."""
    checked: list[str] = []
    monkeypatch.setattr(routes, "_file", lambda form: SimpleNamespace(file=form, filename=form))
    monkeypatch.setattr(routes, "check_in_subprocess", lambda _, __, form, name: checked.append(form) or [])

    async def run() -> list[str]:
        desk = routes.TeamRoutes(stepped, None, None)  # type: ignore[arg-type]
        refused: list[str] = []

        async def check(team: str, form: Any) -> None:
            try:
                await desk._check(team, form, {"set": SET})
            except Refusal as refusal:
                refused.append(f"{form} {refusal.status}: {refusal.text}")

        async with desk._checking, anyio.create_task_group() as tasks:  # another check is under way
            for team, form in (("A", "first of A"), ("A", "second of A"), ("B", "first of B"), ("A", "third of A")):
                tasks.start_soon(check, team, form)
                await anyio.wait_all_tasks_blocked()
            desk._checking.total_tokens += 1  # type: ignore[operator]
        await check("A", "fourth of A")
        return refused

    refused = anyio.run(run)
    assert checked == ["first of A", "first of B", "fourth of A"]
    assert [each.partition(":")[0] for each in refused] == ["second of A 429", "third of A 429"]


def test_a_check_names_the_limit_that_holds(
    stepped: Board, hidden_key: AnswerKey, hand: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MAX_BYTES", 1 << 20)
    with pytest.raises(LeaderboardError, match="larger than 1 MiB, which is the most a check takes"):
        checking.check_in_subprocess(stepped, SET, io.BytesIO(b"0" * (1 << 21)), name="x")
    monkeypatch.setattr(checking, "MAX_SECONDS", 0)
    with hand(hidden_key).open("rb") as stream:
        (problem,) = checking.check_in_subprocess(stepped, SET, stream, name="x")
    assert problem == "Looking at the file took longer than 0 seconds, the most that a check gets."


def test_only_the_text_that_is_scored_is_hashed(
    stepped: Board, hidden_key: AnswerKey, hand: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = (each for each in stepped.sets if each.name == SET)
    session, said = session_of(one), "some words of an answer "
    file = hand(hidden_key, right=0, note=said * 3000)
    lengths = [len(text) for _, _, text in session.searched_texts(file)]
    assert max(lengths) < 1000 < len(said) * 3000
    assert fingerprint(session, file) == fingerprint(
        session, hand(hidden_key, right=0, note=said * 2999, name="o.jsonl")
    )


def test_rejected_files_count_for_the_group(
    stepped: Board, guess: Guess, facts: Facts, submit: Submit, drain: Drain
) -> None:
    group(stepped, A="ab", B="ab")
    for number, team in enumerate("AB"):
        file = guess(f"f{number}", {})
        file.write_text(file.read_text().partition("\n")[0])
        submit(stepped, file, facts("M", team), set_name=SET, limited=True)
    drain(stepped)
    with pytest.raises(LimitReached, match="2 files of your team were rejected in the last 24 hours"):
        submit(stepped, guess("again", {}), facts("M", "A"), set_name=SET, limited=True)
    submit(stepped, guess("other", {}), facts("M", "C"), set_name=SET, limited=True)


# Closing


def ranked(board: Board) -> list[str]:
    return sorted(row.facts.model for ranking in table_of(board).rankings for row in ranking.rows)


@pytest.fixture
def handed(stepped: Board, guess: Guess, facts: Facts, submit: Submit, drain: Drain) -> Any:
    """Hands in a model with so many right answers of each part, and scores it."""

    def hand_in(model: str, right: Mapping[str, int], team: str = "Team", *, limited: bool = True) -> Submission:
        one = submit(stepped, guess(model, right), facts(model, team), set_name=SET, limited=limited)
        drain(stepped)
        return one

    return hand_in


def selected(board: Board, team: str = "Team") -> set[str]:
    with board.reading() as connection:
        page = team_page(BoardReader(board.settings, connection), team)
    return {one.submission.facts.model for one in page.files if one.selected}


def test_at_closing_a_team_has_two_models(stepped: Board, handed: Any) -> None:
    """By default those with the best feedback; teams of a group count as one, and maintainers are not limited."""
    group(stepped, Team="g", Twin="g")
    handed("Low", {})
    handed("Middle", {"feedback": 2})
    handed("High", {"feedback": 3})
    handed("Lucky", {"final": 5}, "Twin")
    handed("Other", {}, "Another")
    handed("Own", {}, limited=False)
    assert selected(stepped) | selected(stepped, "Another") == {"High", "Middle", "Other", "Own"}
    assert close(stepped, SET, ProgressListener(), early=True) == 4
    assert ranked(stepped) == ["High", "Middle", "Other", "Own"]


def test_a_group_has_one_best_on_a_ladder(stepped: Board, handed: Any, find: Find) -> None:
    """Ten teams of a group had ten first files, of each of which the score was shown."""
    group(stepped, A="one group", B="one group", C="")
    files = {team: handed(f"Of {team}", {"feedback": right}, team) for team, right in (("A", 2), ("B", 1), ("C", 1))}
    best = {team: find(stepped, file.id).best for team, file in files.items()}
    assert best["A"] is not None and best["B"] is None and best["C"] is not None
    with stepped.reading() as connection:
        pages = {team: team_page(BoardReader(stepped.settings, connection), team) for team in files}
    told = {team: feedback.best for team, page in pages.items() for feedback in [page.files[0].feedback] if feedback}
    assert told == {"A": best["A"], "B": best["A"], "C": best["C"]}
    assert {row.facts.team: row.files for row in table_of(stepped).ladder_rows} == {"A": 1, "B": 1, "C": 1}


def test_a_team_chooses_its_models(stepped: Board, handed: Any) -> None:
    # The scores are rounded to steps of 50 points, so the third one beats nothing: it has no feedback.
    rights = {"Zero": 0, "One": 2, "Two": 2, "Three": 3}
    files = {name: handed(name, {"feedback": right}) for name, right in rights.items()}
    assert selected(stepped) == {"One", "Three"}
    for name in ("Zero", "Two"):
        choose(stepped, files[name].id, team="Team", actor="team Team")
    assert selected(stepped) == {"Zero", "Two"}
    with pytest.raises(LeaderboardError, match="has chosen 2 models for hidden-en, the most that are ranked"):
        choose(stepped, files["One"].id, team="Team", actor="team Team")
    take_back(stepped, files["Zero"].id, team="Team", actor="team Team")
    assert selected(stepped) == {"Two", "Three"}
    with pytest.raises(LeaderboardError, match="0 submissions"):
        choose(stepped, files["Zero"].id, team="Other", actor="team Other")
    close(stepped, SET, ProgressListener(), early=True)
    assert ranked(stepped) == ["Three", "Two"]
    for act in (choose, take_back):
        with pytest.raises(LeaderboardError, match="is closed"):
            act(stepped, files["Two"].id, team="Team", actor="team Team")


def test_closing_goes_on_without_a_file_that_cannot_be_scored(
    stepped: Board, handed: Any, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, fine = handed("Slow", {"feedback": 3}), handed("Fine", {"feedback": 1}, "Other")
    real, seconds = closing.score_in_subprocess, set()

    def limited(task: Any, **options: Any) -> Any:
        seconds.add(options["seconds"])
        late = ScoringOutcome(problems=("Scoring took longer than 5 seconds.",))
        return late if task.file.name == slow.file else real(task, **options)

    monkeypatch.setattr(closing, "score_in_subprocess", limited)
    with pytest.raises(LeaderboardError, match="Close with --leave-out to go on without it"):
        close(stepped, SET, ProgressListener(), early=True)
    assert close(stepped, SET, ProgressListener(), early=True, leave_out=True) == 1
    assert ranked(stepped) == ["Fine"] and find(stepped, fine.id).status is SubmissionStatus.SCORED
    left = find(stepped, slow.id)
    assert left.status is SubmissionStatus.FAILED and left.problems == ("Scoring took longer than 5 seconds.",)
    assert seconds == {3 * stepped.settings.seconds}  # more than at intake, where both splits were scored
    with stepped.reading() as connection:
        assert [line.facts["reason"] for line in read_log(connection) if line.what == "left out"] == [*left.problems]
        assert not submissions.count(connection, statuses=[SubmissionStatus.QUEUED])
