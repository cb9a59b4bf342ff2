"""While a set with a ladder is open: what beats the team's best is told, and nothing else is anywhere."""

import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.leaderboard.common import SET, Drain, Facts, Find, Guess, Hand, MakeBoard, Submit, table_of, want
from vcrgen.core.errors import ConfigError, LeaderboardError
from vcrgen.core.files import sha256_file
from vcrgen.data.key import ANSWERS, HIDDEN_SPLITS, KEY_FILE
from vcrgen.data.views import View
from vcrgen.leaderboard import commands
from vcrgen.leaderboard.api import as_json, team_as_json
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.disclosure import ladder_step, set_rounding_step
from vcrgen.leaderboard.export import export_site, export_tables
from vcrgen.leaderboard.intake import LimitReached, accept
from vcrgen.leaderboard.new_board import init_board
from vcrgen.leaderboard.page_records import LadderFeedback, LadderRow
from vcrgen.leaderboard.records import Feedback, Submission, SubmissionStatus
from vcrgen.leaderboard.rotation import make_lifecycle
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.comparisons import compare_models, model_pairs, public_hidden_gaps
from vcrgen.leaderboard.store.log import now, read_log
from vcrgen.leaderboard.store.models import ladder_feedback, model_page, submission_cells, team_page
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.store.schema import cells, runs
from vcrgen.scorer.answer_key import AnswerKey


def told(board: Board, submission: Submission) -> LadderFeedback:
    with board.reading() as connection:
        found = ladder_feedback(BoardReader(board.settings, connection), submission)
    assert found is not None
    return found


def ladder_rows(board: Board) -> tuple[LadderRow, ...]:
    return table_of(board).ladder_rows


def test_climbing() -> None:
    """The first score is shown; then one that beats the best by a step, and no other."""
    best, shown = None, []
    for score in (0.33, 0.2, 0.349, 0.36, 0.39, 0.4, 0.41, 1.0):
        step = ladder_step(score, best, 0.05)
        shown.append(step)
        best = step if step is not None else best
    assert shown == [0.35, None, None, None, None, 0.4, None, 1.0]
    assert ladder_step(0.6, 0.3, 0.1) == 0.6 and ladder_step(0.3, 0.2, 0.1) == 0.3  # floating point takes no step away


def test_a_key_without_parts_has_no_ladder(hidden: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    shutil.copytree(hidden / "key", key)
    items = [json.loads(line) for line in (key / ANSWERS).read_text().splitlines()]
    (key / ANSWERS).write_text("".join(json.dumps(item | {"part": ""}) + "\n" for item in items))
    described = json.loads((key / KEY_FILE).read_text())
    described["files"][ANSWERS] = sha256_file(key / ANSWERS)
    (key / KEY_FILE).write_text(json.dumps(described))
    with pytest.raises(LeaderboardError, match=r"not divided into a feedback and a final split.*--feedback instant"):
        init_board(tmp_path / "board", [f"h:{key}"], Settings(), with_reported=False)
    instant = make_lifecycle(feedback="instant")
    made = init_board(tmp_path / "board", [f"h:{key}"], Settings(), with_reported=False, lifecycle=instant)
    assert made.sets[0].lifecycle.feedback is Feedback.INSTANT
    strip = make_lifecycle(view="strip")
    with pytest.raises(LeaderboardError, match="has no view 'strip'; it has stacked, tei"):
        init_board(tmp_path / "b", [f"h:{hidden / 'key'}"], Settings(), with_reported=False, lifecycle=strip)
    assert not (tmp_path / "b").exists()


def test_the_ladder_of_a_team(
    stepped: Board, guess: Guess, facts: Facts, submit: Submit, drain: Drain, find: Find, hidden_key: AnswerKey
) -> None:
    parts = [question.part for question in hidden_key.questions]
    assert {part: parts.count(part) for part in HIDDEN_SPLITS} == {"feedback": 3, "final": 5}
    (one,) = [each for each in stepped.sets if each.name == SET]
    assert one.lifecycle.splits["feedback"].questions == 3 and set_rounding_step(one) == 0.5
    tries = {"a": {}, "b": {"final": 5}, "c": {"feedback": 3}, "d": {"feedback": 3, "final": 5}, "e": {"feedback": 1}}
    given = [submit(stepped, guess(name, right), facts(f"M {name}"), set_name=SET) for name, right in tries.items()]
    assert drain(stepped) == 5
    given = [find(stepped, each.id) for each in given]
    assert [(each.status, each.scores_disclosed) for each in given] == [(SubmissionStatus.SCORED, 1)] * 5
    assert [told(stepped, each).leading_score for each in given] == [0.0, None, 1.0, None, None]
    assert {told(stepped, each).best for each in given} == {1.0} and told(stepped, given[0]).view is View.STACKED
    other = submit(stepped, guess("f", {"feedback": 3}), facts("M f", "Another team"), set_name=SET)
    drain(stepped)
    assert told(stepped, find(stepped, other.id)).leading_score == 1.0
    commands.remove(stepped, given[2].id, "a mistake")  # what was told was told
    again = submit(stepped, guess("g", {"feedback": 3}), facts("M g"), set_name=SET)
    drain(stepped)
    assert told(stepped, find(stepped, again.id)).leading_score is None
    with stepped.reading() as connection:
        stored = connection.execute(select(runs.c.split, cells.c.view, cells.c.ranked).join(cells)).all()
    assert {tuple(row) for row in stored} == {("feedback", "stacked", False)}, "the final split is not scored"
    assert commands.rescore(stepped) == 0


def test_nothing_else_is_shown_while_it_takes_files(
    stepped: Board, guess: Guess, facts: Facts, submit: Submit, drain: Drain, find: Find, tmp_path: Path
) -> None:
    """Two models that differ only in what the final split would give look the same."""
    both = ("stacked", "tei")
    first = submit(stepped, guess("a", {"feedback": 1, "final": 5}, both), facts("One"), set_name=SET)
    submit(stepped, guess("b", {"feedback": 1}, both), facts("Two", "Team B"), set_name=SET)
    drain(stepped)
    rows = ladder_rows(stepped)
    assert [row.facts.model for row in rows] == ["One", "Two"] and rows[0].best == rows[1].best
    entries = [row.facts.entry for row in rows]
    with stepped.reading() as connection:
        views = BoardReader(stepped.settings, connection)
        assert [table.rankings for table in views.tables() if table.track.set == SET] == [()]
        assert model_pairs(views) == [] and public_hidden_gaps(views) == [] and compare_models(views, *entries) is None
        assert list(submission_cells(views, first.id)) == []
        for entry in entries:
            page = model_page(views, entry)
            assert page is not None and [(run.split, run.cells) for run in page.runs] == [("feedback", ())]
        scored = find(stepped, first.id)
        said = as_json(scored, (), ladder_feedback(views, scored))
        estimates = [
            value for row in connection.execute(select(cells.c.estimates)).scalars() for value in row["jaccard"]
        ]
    assert said["scores"] == [] and set(said["feedback"]) == {"view", "step", "exact", "best"}
    export_site(stepped, tmp_path / "site")
    seen = "".join(file.read_text() for file in (tmp_path / "site").iterdir()) + json.dumps(said)
    exported = {form: export_tables(stepped, form) for form in ("md", "csv", "latex", "json")}
    assert all("eedback" in text and "Team B" in text for text in exported.values())
    seen += "".join(exported.values())
    assert "one score of a model is shown" in seen and "subset:final" not in seen
    assert not any(f"{value:.6f}"[:6] in seen for value in estimates if 0 < value < 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"view": "strip"}, "its view is strip, and the dataset has only stacked, tei"),
        ({"mode": "easy"}, "its mode is easy, and the dataset has only mixed"),
        ({"question_id": "0" * 32}, "ids that the dataset does not have"),
        ({"view": "tei"}, "The file holds no outputs of the view 'stacked'"),
    ],
)
def test_a_file_of_what_the_set_has_not(
    change: dict[str, str],
    message: str,
    stepped: Board,
    guess: Guess,
    facts: Facts,
    submit: Submit,
    drain: Drain,
    find: Find,
) -> None:
    file = guess("a", {"feedback": 1})
    lines = [json.loads(line) | change for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    given = submit(stepped, file, facts(), set_name=SET)
    drain(stepped)
    found = find(stepped, given.id)
    assert found.status is SubmissionStatus.FAILED and message.casefold() in " ".join(found.problems).casefold()
    assert found.best is None


def test_a_refusal_does_not_tell_which_part_a_question_is_in(
    stepped: Board, guess: Guess, facts: Facts, submit: Submit, drain: Drain, find: Find, hidden_key: AnswerKey
) -> None:
    rejected = []
    for part in HIDDEN_SPLITS:
        file = guess(part, {})
        theirs = {question.question_id for question in hidden_key.questions if question.part == part}
        lines = [line for line in file.read_text().splitlines() if json.loads(line)["question_id"] in theirs]
        file.write_text("\n".join(lines))
        rejected.append(submit(stepped, file, facts(), set_name=SET))
    drain(stepped)
    problems = [" ".join(find(stepped, one.id).problems) for one in rejected]
    assert all(text.startswith("Questions without an output: ") for text in problems)
    assert not any("subset" in text or "part" in text.split() for text in problems)


@pytest.mark.parametrize(("feedback", "scores_disclosed"), [("ladder", 1), ("instant", 2)])
def test_what_is_asked_of_the_key_is_limited(
    feedback: str,
    scores_disclosed: int,
    make_board: MakeBoard,
    guess: Guess,
    facts: Facts,
    submit: Submit,
    drain: Drain,
    find: Find,
) -> None:
    """On a ladder a file asks for one figure; with instant feedback for one of each view."""
    board = make_board(feedback=feedback, hidden_scores_per_day=3)

    def hand_in(name: str, *views: str) -> Submission:
        one = submit(board, guess(name, {}, views), facts(name), set_name=SET, limited=True)
        drain(board)
        return find(board, one.id)

    first, second = hand_in("a", "stacked", "tei"), hand_in("b", "stacked", "tei")
    assert (first.status, first.scores_disclosed) == (SubmissionStatus.SCORED, scores_disclosed)
    if feedback == "instant":
        assert second.problems == ("The file holds 2 views, each of which discloses a score; your team has 1 left.",)
    with board.reading() as connection:
        quota = team_page(BoardReader(board.settings, connection), "Team").quotas[SET]
    assert (quota.left_today, quota.left_lifetime, quota.left) == (1, 18, 1)
    assert hand_in("c", "stacked").status is SubmissionStatus.SCORED
    with pytest.raises(LimitReached, match="used 3 scores of hidden-en in 24 hours"):
        hand_in("d", "stacked")


def test_teams_of_a_group_share_their_limits(stepped: Board, guess: Guess, facts: Facts, submit: Submit) -> None:
    def hand_in(name: str, team: str) -> None:
        submit(stepped, guess(name, {}), facts(name, team), set_name=SET, limited=True)

    for team in ("A", "B"):
        commands.give_token(stepped, team, "", group="One Lab")
    commands.give_token(stepped, "B", "")  # without a group: it stays in its own
    for number in range(20):
        hand_in(f"m{number}", "AB"[number % 2])
    for team in ("A", "B"):
        with pytest.raises(LimitReached):
            hand_in("more", team)
    hand_in("c", "C")
    commands.give_token(stepped, "B", "", group="")
    hand_in("alone", "B")


def test_copies_by_their_words(
    stepped: Board, guess: Guess, facts: Facts, submit: Submit, drain: Drain, find: Find
) -> None:
    """Additions that change no word make no other file."""
    for team in ("A", "B"):
        commands.give_token(stepped, team, "", group="One Lab")
    file = guess("a", {"feedback": 1})
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    submit(stepped, file, facts("M", "A"), set_name=SET)
    wide = {code: code + 0xFEE0 for code in range(ord("A"), ord("z"))}
    changes: list[Callable[[str], str]] = [
        lambda text: text + " .",
        lambda text: f"«{text.upper()}!»",
        lambda text: text.replace("a", "a\u0301\u200b"),
        lambda text: text.replace(" ", " — "),
        lambda text: text.translate(wide),
    ]
    for number, change in enumerate(changes):
        file.write_text("".join(json.dumps(line | {"output": change(line["output"])}) + "\n" for line in lines))
        copy = submit(stepped, file, facts(f"Copy {number}", "B"), set_name=SET)
        drain(stepped)
        assert "All outputs are those of a file" in find(stepped, copy.id).problems[0], number
    other = submit(stepped, file, facts("M", "Another team"), set_name=SET)
    drain(stepped)
    assert find(stepped, other.id).status is SubmissionStatus.SCORED, "teams are not compared with each other"


def test_dates(stepped: Board, guess: Guess, facts: Facts, submit: Submit) -> None:
    later, earlier = ((now() + timedelta(days=days)).isoformat() for days in (1, -1))
    want(stepped, changes={SET: {"opens": later}})
    with pytest.raises(LeaderboardError, match=rf"The set 'hidden-en' opens at {later[:10]}"):
        submit(stepped, guess("a", {}), facts(), set_name=SET)
    want(stepped, changes={SET: {"opens": "2020-01-01", "closes": earlier}})
    with pytest.raises(LeaderboardError, match=f"took files until {earlier[:10]}"):
        submit(stepped, guess("a", {}), facts(), set_name=SET)
    want(stepped, changes={SET: {"closes": later}})
    assert submit(stepped, guess("a", {}), facts(), set_name=SET).status is SubmissionStatus.QUEUED
    with pytest.raises(LeaderboardError, match="The set would close at 2019-01-02 00:00 UTC, before it opens"):
        want(stepped, changes={SET: {"closes": "2019-01-01"}})
    with pytest.raises(LeaderboardError, match="`opens` takes a date such as 2026-12-01"):
        want(stepped, changes={SET: {"opens": "tomorrow"}})


def test_private_files_and_what_counts(stepped: Board, guess: Guess, facts: Facts, drain: Drain) -> None:
    def hand_in(name: str, right: dict[str, int], *, private: bool = False) -> Submission:
        with guess(name, right).open("rb") as stream:
            return accept(
                stepped,
                facts("Model"),
                stream,
                set_name=SET,
                name=name,
                channel="api",
                actor="team Team",
                limited=True,
                private=private,
            )

    with pytest.raises(LeaderboardError, match="The set 'hidden-en' takes no private files"):
        hand_in("a", {"feedback": 3}, private=True)
    assert [change.what for change in want(stepped, changes={SET: {"private": True}})] == ["private files allowed"]
    secret = hand_in("a", {"feedback": 3}, private=True)
    hand_in("b", {"feedback": 1})
    hand_in("c", {})
    drain(stepped)
    with stepped.reading() as connection:
        views = BoardReader(stepped.settings, connection)
        page, public = team_page(views, "team"), model_page(views, facts("Model").entry)
        log = [line for line in read_log(connection) if line.subject == "a private file"]
    assert [line.what for line in log] == ["accepted", "scored"] and all("model" not in line.facts for line in log)
    seen = [(file.submission.private, file.counts) for file in page.files]
    assert seen == [(False, True), (False, False), (True, False)]
    assert page.files[2].feedback is not None and page.files[2].feedback.leading_score == 1.0
    assert public is not None and len(public.runs) == 2 and [row.best for row in ladder_rows(stepped)] == [None]
    assert json.loads(json.dumps(team_as_json(page, views.sets, 64)))["quotas"][SET]["left"] == 17
    chosen = commands.choose(stepped, secret.id[:10], team="TEAM", actor="team Team")
    assert (chosen.private, chosen.chosen) == (False, True)
    assert [(row.best, row.files) for row in ladder_rows(stepped)] == [(1.0, 3)]
    with stepped.reading() as connection:
        assert [one.id for one in submissions.counted(connection, SET)] == [secret.id]
    with pytest.raises(LeaderboardError, match="0 submissions"):
        commands.choose(stepped, secret.id, team="Another", actor="team Another")
    waiting = hand_in("d", {})
    with pytest.raises(LeaderboardError, match="is queued; only what is scored can count"):
        commands.choose(stepped, waiting.id, team=None, actor="maintainer")


def test_choosing_on_a_public_set_changes_what_is_ranked(
    board: Board, hand: Hand, facts: Facts, submit: Submit, drain: Drain, public_key: AnswerKey
) -> None:
    given = [submit(board, hand(public_key, right=right), facts("M")) for right in (1, 2)]
    drain(board)

    def value() -> float:
        with board.reading() as connection:
            table = BoardReader(board.settings, connection).tables()[0]
        return table.rankings[0].rows[0].scores[View.STACKED]["exact"].value

    assert value() < 1
    commands.choose(board, given[0].id, team=None, actor="maintainer")
    assert value() == 1
    commands.remove(board, given[0].id, "a mistake")
    assert value() < 1


@pytest.mark.parametrize("set_name", ["public", SET])
def test_a_private_file_shows_its_scores_to_its_team(
    set_name: str, board: Board, hand: Hand, facts: Facts, drain: Drain, public_key: AnswerKey, hidden_key: AnswerKey
) -> None:
    want(board, changes={SET: {"private": True}})
    with hand(public_key if set_name == "public" else hidden_key).open("rb") as stream:
        one = accept(
            board,
            facts(),
            stream,
            set_name=set_name,
            name="x",
            channel="api",
            actor="a",
            limited=True,
            private=True,
        )
    drain(board)
    with board.reading() as connection:
        views = BoardReader(board.settings, connection)
        cells_, page = submission_cells(views, one.id), team_page(views, "Team")
        assert not any(table.rankings for table in views.tables()) and model_page(views, one.facts.entry) is None
        assert views.site(live=True).models == ()
    assert {(cell.rank, cell.models, cell.estimates["exact"].value) for cell in cells_} == {(0, 0, 1.0)}
    assert len(cells_) == (4 if set_name == "public" else 2) and page.files[0].cells == tuple(cells_)
    assert team_as_json(page, views.sets, 64)["files"][0]["scores"][0]["rank"] is None


def test_one_figure_over_several_sets(
    make_board: MakeBoard,
    hand: Hand,
    facts: Facts,
    submit: Submit,
    drain: Drain,
    public_key: AnswerKey,
    hidden_key: AnswerKey,
) -> None:
    board = make_board(overall=("public", SET))
    file = board.folder / "board.yaml"
    file.write_text(file.read_text().replace("- public", "- nowhere"))
    with pytest.raises(ConfigError, match=r"overall names 'nowhere', which is no set .* it has public, hidden-en"):
        open_board(board.folder)
    for right, name in ((1, "Best"), (0, "Worst")):
        submit(board, hand(public_key, right=right), facts(name))
        submit(board, hand(hidden_key, right=right, note=name), facts(name), set_name=SET)
    submit(board, hand(public_key, right=2), facts("Only public"))
    drain(board)
    with board.reading() as connection:
        rows = BoardReader(board.settings, connection).overall()
    assert [(row.facts.model, row.exact, dict(row.by_set)) for row in rows] == [
        ("Best", 1.0, {"public": 1.0, SET: 1.0}),
        ("Worst", 0.0, {"public": 0.0, SET: 0.0}),
    ]
