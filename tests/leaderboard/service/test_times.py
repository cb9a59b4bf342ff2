"""No page, export or answer of a board shows a time that is finer than minutes."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.leaderboard.common import SET, Drain, Facts, Guess, MakeBoard, want
from tests.leaderboard.service.conftest import Desk
from vcrgen.core.progress import ProgressListener
from vcrgen.leaderboard import times
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.closing import close
from vcrgen.leaderboard.export import export_site, export_tables
from vcrgen.leaderboard.maintainers import give_token
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.board_pages import BOARD_PAGES
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.tables import FORMATS

FINER = re.compile(r"\d:\d\d[:.]\d|\b1[6-9]\d{8}")  # seconds, or a number of them since 1970


def test_times_are_formatted_to_the_minute() -> None:
    at = datetime(2026, 7, 1, 1, 30, 59, 999_999, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    assert times.minute(at) == "2026-06-30 19:45"
    assert times.iso_minute(at) == "2026-06-30T19:45+00:00" and times.day(at) == "2026-06-30"


def shown(desk: Desk, ids: list[str], maintainer: str, folder: Path) -> dict[str, str]:
    """Everything that a board shows to anybody, to a team and to a maintainer, by where it stands."""
    client, board = desk.client, desk.board
    export_site(board, folder)
    texts = {f"site/{file.name}": file.read_text("utf-8") for file in folder.iterdir()}
    texts |= {f"export {form}": export_tables(board, form) for form in FORMATS}
    addresses = [name for name in texts if name.startswith("site/") and not name.endswith(".nojekyll")]
    addresses = [name.removeprefix("site") for name in addresses] + [f"/{name}" for name in BOARD_PAGES]
    addresses += ["/", "/events.json", "/health", "/manage.html"]
    addresses += [f"/api/submissions/{name}" for name in ids] + [f"/{names.status_name(name)}" for name in ids]
    answers = {address: client.get(address) for address in addresses}
    bearer = {"authorization": f"Bearer {desk.token}"}
    answers["api/team"] = client.get("/api/team", headers=bearer)
    answers["team"] = client.post("/team", data={"token": desk.token})
    answers["manage"] = client.post("/manage", data={"token": maintainer})
    return texts | {name: answer.text for name, answer in answers.items()}


@pytest.fixture
def maintained(make_board: MakeBoard) -> Board:
    """A board whose hidden set has a ladder, with dates that somebody wrote to the second."""
    board = make_board(feedback="ladder", hidden_scores_per_day=20, approval=False)
    want(board, changes={SET: {"opens": "2026-01-02T03:04:05", "closes": "2099-01-02T03:04:05", "private": True}})
    return board


def test_nothing_shows_seconds(
    maintained: Board, open_desk: Callable[..., Desk], guess: Guess, facts: Facts, drain: Drain, tmp_path: Path
) -> None:
    board, desk, maintainer = maintained, open_desk(maintained), give_token(maintained, "Ada")
    ids = []
    for name, fields in (("one", {}), ("two", {"private": "yes"}), ("three", {})):
        answer = desk.api(guess(name, {"feedback": 2, "final": 1}), set=SET, model=name, **fields)
        ids.append(answer.json()["id"])
    drain(board)
    looks = {"open": shown(desk, ids, maintainer, tmp_path / "open")}
    close(board, SET, ProgressListener(), early=True)
    looks["closed"] = shown(desk, ids, maintainer, tmp_path / "closed")
    for phase, texts in looks.items():
        finer = {name: found[0] for name, text in texts.items() if (found := FINER.search(text))}
        assert not finer, f"{phase}: {finer}"
        this_hour = now().astimezone(UTC).strftime("%Y-%m-%d")
        assert sum(this_hour in text for text in texts.values()) > 10  # so times are there
