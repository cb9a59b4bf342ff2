"""The page for maintainers: what they do there, and who cannot."""

from collections.abc import Callable
from typing import Any

import pytest

from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard import maintainers
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import score_waiting
from vcrgen.leaderboard.store.log import read_log
from vcrgen.scorer.answer_key import AnswerKey


@pytest.fixture
def held(make_board: Any) -> Board:
    return make_board(approval=True, files_per_day=3)


def do(desk: Any, token: str, what: str = "", number: str = "", **fields: str) -> Any:
    return desk.client.post("/manage", data={"token": token, "do": what, "id": number, **fields})


def whats(board: Board) -> list[str]:
    with board.reading() as connection:
        return [line.what for line in read_log(connection)]


def test_a_file_waits_for_a_maintainer(
    held: Board, open_desk: Callable[..., Any], hand: Any, public_key: AnswerKey
) -> None:
    desk, token = open_desk(held), maintainers.give_token(held, "Ada")
    first, second = (desk.api(hand(public_key, right=n), model=f"M{n}").json() for n in (1, 2))
    assert first["status"] == "held" and score_waiting(held) == 0
    assert "Waiting for a maintainer" in desk.client.get(first["page"]).text
    page = do(desk, token)
    assert page.status_code == 200 and page.headers["cache-control"] == "no-store" and page.text.count("Approve") == 2
    assert do(desk, token, "approve", first["id"]).status_code == 200
    assert do(desk, token, "decline", second["id"]).status_code == 400, "without a reason"
    assert do(desk, token, "decline", second["id"], reason="of <b>another</b> model").status_code == 200
    assert score_waiting(held) == 1
    statuses = [desk.client.get(f"/api/submissions/{one['id']}").json() for one in (first, second)]
    assert [one["status"] for one in statuses] == ["scored", "failed"]
    assert statuses[1]["problems"] == ["A maintainer declined it: of <b>another</b> model"]
    assert "&lt;b&gt;another" in desk.client.get(second["page"]).text
    assert do(desk, token, "approve", second["id"]).status_code == 400
    assert {"approved", "declined"} <= set(whats(held))
    assert "Ada" not in desk.client.get("/history.html").text


def test_editing_and_withdrawing(board: Board, open_desk: Callable[..., Any], hand: Any, public_key: AnswerKey) -> None:
    desk, token = open_desk(board), maintainers.give_token(board, "Ada")
    number = desk.api(hand(public_key), size="7B").json()["id"]
    score_waiting(board)
    facts = {"link": "https://example.org/x", "access": "open", "size": "8B", "released": "2026-01-31"}
    assert do(desk, token, "edit", number, **facts).status_code == 200
    assert "https://example.org/x" in desk.client.get("/board.json").text
    bad = do(desk, token, "edit", number, link="javascript:alert(1)")
    assert bad.status_code == 400 and "The link has to be" in bad.text
    assert do(desk, token, "withdraw", number).status_code == 400, "without a reason"
    assert do(desk, token, "withdraw", number, reason="sent by mistake").status_code == 200
    assert desk.client.get(f"/api/submissions/{number}").json()["status"] == "removed"
    assert do(desk, token, "withdraw", "0" * 32, reason="x").status_code == 400
    with board.reading() as connection:
        edited = next(line for line in read_log(connection) if line.what == "edited")
    assert edited.actor == "maintainer Ada" and edited.facts["size"] == "8B"


def test_who_is_no_maintainer(board: Board, open_desk: Callable[..., Any], hand: Any, public_key: Any) -> None:
    desk, token = open_desk(board), maintainers.give_token(board, "Ada")
    number = desk.api(hand(public_key)).json()["id"]
    score_waiting(board)
    for other in (desk.token, "", "vcr_maintainer_x"):
        answer = do(desk, other, "withdraw", number, reason="x")
        assert answer.status_code == 401 and "Model" not in answer.text.partition("<main")[2]
    evil = {"origin": "https://evil.example"}
    data = {"token": token, "do": "withdraw", "id": number, "reason": "x"}
    assert desk.client.post("/manage", data=data, headers=evil).status_code == 403
    assert desk.client.post("/submit", data={"token": token, "set": "public"}).status_code == 401, "not a team's"
    assert maintainers.revoke(board, "Ada") == 1
    assert do(desk, token).status_code == 401
    with pytest.raises(LeaderboardError, match="no maintainer"):
        maintainers.revoke(board, "Ada")
    assert desk.client.get(f"/api/submissions/{number}").json()["status"] == "scored"
    assert (board.folder / maintainers.FILE).stat().st_mode & 0o077 == 0
    assert token not in (board.folder / maintainers.FILE).read_text()
