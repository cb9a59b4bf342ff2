"""Work of a team with its token: a check that costs no quota, its own files, and choosing which one counts."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.leaderboard.common import MakeBoard
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import score_waiting
from vcrgen.leaderboard.store.submissions import list_submissions
from vcrgen.scorer.answer_key import AnswerKey

Desks = Callable[..., Any]


def bearer(desk: Any) -> dict[str, str]:
    return {"authorization": f"Bearer {desk.token}"}


def check(desk: Any, content: bytes, set_name: str = "hidden-en") -> Any:
    files = {"file": ("p.jsonl", content)}
    return desk.client.post("/api/validate", data={"set": set_name}, files=files, headers=bearer(desk))


def test_a_check_costs_no_try_and_keeps_nothing(
    make_board: Any, open_desk: Desks, hand: Any, hidden_key: AnswerKey, public_key: AnswerKey
) -> None:
    board = make_board(hidden_scores_per_day=2, failed_files_per_day=1)
    desk = open_desk(board)
    good = hand(hidden_key).read_bytes()
    for content, sentence in (
        (good, ""),
        (b"\n".join(good.splitlines()[:-1]), "Questions without an output: 1"),
        (b"{", "p.jsonl: not JSON"),
        (hand(public_key).read_bytes(), "p.jsonl"),
    ):
        answer = check(desk, content)
        assert answer.status_code == 200, answer.text
        assert answer.json()["ok"] is (not sentence)
        assert sentence in " ".join(answer.json()["problems"]) and str(board.folder) not in answer.text
    for content, status in ((b"", 400), (b"PK\3\4", 400)):
        assert check(desk, content).status_code == status
    assert check(desk, good, "other").status_code == 400
    with board.reading() as connection:
        assert list_submissions(connection) == []
    assert not [file for file in (board.folder / "files").rglob("*") if file.is_file()]
    assert desk.client.get("/api/team", headers=bearer(desk)).json()["quotas"]["hidden-en"]["left"] == 2


def test_a_check_by_the_page(desk: Any, hand: Any, public_key: AnswerKey) -> None:
    fine = desk.form(hand(public_key), check="yes")
    assert fine.status_code == 200, re.findall("<li>.*?</li>", fine.text)
    assert "can be scored" in fine.text and desk.token not in fine.text
    flawed = desk.form(hand(public_key).read_bytes()[:-30], check="yes")
    assert flawed.status_code == 400 and "not taken" in flawed.text
    assert desk.client.get("/health").json()["waiting"] == 0


def test_a_check_tells_nothing_of_answers(desk: Any, hand: Any, hidden_key: AnswerKey) -> None:
    right, wrong = (check(desk, hand(hidden_key, right=part).read_bytes()).json() for part in (1, 0))
    assert right == wrong == {"ok": True, "problems": []}


def test_a_team_sees_its_files_and_chooses(board: Board, open_desk: Desks, hand: Any, public_key: AnswerKey) -> None:
    desk, other = open_desk(board), open_desk(board, team="Team B")
    first = desk.api(hand(public_key, right=1)).json()["id"]
    second = desk.api(hand(public_key, right=2)).json()["id"]
    private = desk.api(hand(public_key, right=3), private="yes", model="Secret").json()["id"]
    theirs = other.api(hand(public_key, right=4), model="Theirs").json()["id"]
    score_waiting(board)

    def files() -> dict[str, bool]:
        found = desk.client.get("/api/team", headers=bearer(desk))
        assert found.headers["cache-control"] == "no-store"
        return {one["id"]: one["counts"] for one in found.json()["files"]}

    assert files() == {first: False, second: True, private: False}
    assert "Secret" not in "".join(desk.client.get(page).text for page in ("/", "/history.html", "/board.json"))
    chosen = desk.client.post(f"/api/submissions/{first}/choose", headers=bearer(desk))
    assert chosen.status_code == 200 and files()[first] is True and files()[second] is False
    for number, status in ((theirs, 400), ("0" * 32, 400)):
        answer = desk.client.post(f"/api/submissions/{number}/choose", headers=bearer(desk))
        assert answer.status_code == status
    assert desk.client.post(f"/api/submissions/{first}/choose").status_code == 401
    assert desk.client.get("/api/team").status_code == 401

    page = desk.client.post("/team", data={"token": desk.token})
    assert page.status_code == 200 and page.headers["cache-control"] == "no-store"
    assert "Secret" in page.text and "Theirs" not in page.text and page.text.count("Let it count") == 2
    again = desk.client.post("/team", data={"token": desk.token, "choose": private})
    assert again.status_code == 200 and files()[private] is True
    assert "Secret" in desk.client.get("/board.md").text, "what counts is shown"
    wrong = desk.client.post("/team", data={"token": desk.token, "choose": theirs})
    assert wrong.status_code == 400 and "That was not possible" in wrong.text
    unknown = desk.client.post("/team", data={"token": "vcr_x"})
    assert unknown.status_code == 401 and "Secret" not in unknown.text and "vcr_x" not in unknown.text
    assert desk.client.get("/team.html").status_code == 200


def test_a_team_chooses_and_takes_back_models_for_closing(
    make_board: MakeBoard, open_desk: Desks, hand: Any, hidden_key: AnswerKey
) -> None:
    """On its page and through the API, and no more models than are ranked."""
    board = make_board(feedback="ladder", hidden_scores_per_day=20)
    desk = open_desk(board)
    ids = []
    for number in range(3):
        file = hand(hidden_key, right=number, views=["stacked"], note=f"note {number}")
        ids.append(desk.api(file, set="hidden-en", model=f"Model {number}").json()["id"])
    score_waiting(board)
    page = desk.client.post("/team", data={"token": desk.token})
    assert page.text.count("Choose for closing") == 3 and "Take back" not in page.text
    assert page.text.count("<small>ranked at closing</small>") == 2
    assert page.text.count("<small>not ranked at closing</small>") == 1
    for one in ids[:2]:
        assert desk.client.post("/team", data={"token": desk.token, "choose": one}).status_code == 200
    refused = desk.client.post("/team", data={"token": desk.token, "choose": ids[2]})
    assert refused.status_code == 400 and "has chosen 2 models for hidden-en" in refused.text
    assert desk.client.post(f"/api/submissions/{ids[2]}/choose", headers=bearer(desk)).status_code == 400
    page = desk.client.post("/team", data={"token": desk.token, "take_back": ids[0]})
    assert page.status_code == 200 and page.text.count("Take back") == 1
    assert desk.client.post(f"/api/submissions/{ids[2]}/choose", headers=bearer(desk)).status_code == 200
    assert desk.client.post(f"/api/submissions/{ids[0]}/take-back", headers=bearer(desk)).status_code == 400
    files = desk.client.get("/api/team", headers=bearer(desk)).json()["files"]
    assert {one["id"]: (one["chosen"], one["selected"]) for one in files} == {
        ids[0]: (False, False),
        ids[1]: (True, True),
        ids[2]: (True, True),
    }


@pytest.mark.parametrize("path", ["/team", "/submit"])
def test_no_other_site_can_choose(desk: Any, path: str) -> None:
    answer = desk.client.post(path, data={"token": desk.token}, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403


def test_the_token_goes_back_escaped_and_only_when_it_is_right(desk: Any) -> None:
    page = desk.client.post("/team", data={"token": '"><script>alert(1)</script>'})
    assert page.status_code == 401 and "alert(1)" not in page.text
    page = desk.client.post("/team", data={"token": desk.token})
    assert html.unescape(page.text).count(desk.token) == len(re.findall('name="token"', page.text))


def test_a_field_that_is_too_long_is_refused_by_the_limit_that_holds(
    board: Board, open_desk: Desks, hand: Any, hidden_key: AnswerKey
) -> None:
    desk = open_desk(board)
    files = {"file": ("p.jsonl", hand(hidden_key).read_bytes())}
    data = {"set": "hidden-en", "model": "x" * 3000}
    answer = desk.client.post("/api/submissions", data=data, files=files, headers=bearer(desk))
    assert answer.status_code == 400 and "a field has more than 2,000 bytes." in answer.text
