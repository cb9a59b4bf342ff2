"""Teams that register themselves: a real mail server, links, maintainers, and what an attacker tries."""

import re
from collections.abc import Callable, Iterator
from email import message_from_bytes
from email.message import Message
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from starlette.testclient import TestClient

from tests.leaderboard.common import until
from vcrgen.errors import ServiceError
from vcrgen.leaderboard import maintainers
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import score_waiting
from vcrgen.leaderboard.registration import check_registration
from vcrgen.leaderboard.service import events
from vcrgen.leaderboard.service.app import make_app
from vcrgen.leaderboard.service.events import sending_events
from vcrgen.leaderboard.settings import Registration, Settings
from vcrgen.leaderboard.store import submissions, teams
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.web.mail import MailServer, is_address

from ..conftest import free_port

MAIL = "ada@example.org"


class Post:
    """A mail server; it refuses what is for `nobody@`."""

    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.port = free_port()

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address.startswith("nobody@"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.mails.append(message_from_bytes(envelope.content))
        return "250 OK"

    def text(self, number: int = -1) -> str:
        return self.mails[number].get_payload(decode=True).decode()  # type: ignore[union-attr]


@pytest.fixture
def post() -> Iterator[Post]:
    handler = Post()
    controller = Controller(handler, hostname="127.0.0.1", port=handler.port)
    controller.start()
    yield handler
    controller.stop()


@pytest.fixture
def open_board(make_board: Any, post: Post) -> Iterator[Callable[..., Board]]:
    """Makes a board where teams register by mail, if nothing else is said."""
    made = []

    def make(registration: str = "mail", **settings: Any) -> Board:
        values = {"url": "https://board.example.org/b", "smtp": f"smtp://127.0.0.1:{post.port}"}
        values |= {"mail_from": "board@example.org", "registration": Registration(registration)}
        made.append(make_board(**{**values, **settings}))
        return made[-1]

    yield make
    for board in made:
        board.engine.dispose()


def client_of(board: Board, address: str = "testclient") -> TestClient:
    return TestClient(make_app(board, lambda: True), client=(address, 1), raise_server_exceptions=False)


def sign_up(client: TestClient, team: str = "Team Ada", mail: str = MAIL) -> Any:
    return client.post("/register", data={"team": team, "mail": mail}, headers={"host": "evil.example"})


def token_in(text: str) -> str:
    found = re.search(r"vcr_[\w-]{43}", text)
    assert found
    return found[0]


def is_valid(board: Board, token: str) -> str | None:
    with board.reading() as connection:
        return teams.team_of(connection, token)


def test_by_a_link_in_a_mail(open_board: Callable[..., Board], post: Post, hand: Any, public_key: AnswerKey) -> None:
    board = open_board()
    client = client_of(board)
    assert "Register" in client.get("/").text and client.get("/register.html").status_code == 200
    answer = sign_up(client)
    assert answer.status_code == 200 and answer.headers["cache-control"] == "no-store"
    token = token_in(answer.text)
    assert is_valid(board, token) is None, "not yet"
    (mail,) = post.mails
    assert (mail["To"], mail["From"]) == (MAIL, "board@example.org")
    assert token not in post.text() and "Team Ada" not in post.text(), "a mail says nothing that a stranger wrote"
    link = re.search(r"https://board\.example\.org/b/(confirm\.html\?word=\S+)", post.text())
    assert link and "evil.example" not in post.text()
    page = client.get(f"/{link[1]}")
    assert "<button>Confirm" in page.text and is_valid(board, token) is None, "programs that read mail confirm nothing"
    word = link[1].partition("=")[2]
    assert client.post("/confirm", data={"word": word[:-1] + "x"}).status_code == 400
    assert "is valid" in client.post("/confirm", data={"word": word}).text
    assert is_valid(board, token) == "Team Ada"
    again = client.post("/confirm", data={"word": word})
    assert again.status_code == 400 and "used already" in again.text
    for path in ("/history.html", "/about.html", "/board.json", "/"):
        assert MAIL not in client.get(path).text

    with sending_events(board):
        until(lambda: (board.folder / events.LAST_MAIL_FILE).is_file())
        sent = {"authorization": f"Bearer {token}"}
        file = hand(public_key, right=2).read_bytes()
        for private in ("", "yes"):
            fields = {"set": "public", "model": f"M{private}", "private": private}
            assert client.post("/api/submissions", data=fields, files={"file": file}, headers=sent).status_code == 202
        assert score_waiting(board) == 2
        until(lambda: len(post.mails) == 3)
    with board.reading() as connection:
        ids = {one.id for one in submissions.team_files(connection, "Team Ada")}
    assert {re.search(r"submission-(\w+)\.html", post.text(number))[1] for number in (1, 2)} == ids  # type: ignore[index]
    assert all("was scored" in mail["Subject"] and mail["To"] == MAIL for mail in post.mails[1:])


def test_by_a_maintainer(open_board: Callable[..., Board], post: Post) -> None:
    board = open_board("maintainer", smtp="", url="")
    client, ada = client_of(board), maintainers.give_token(board, "Ada")
    tokens = [token_in(sign_up(client, team, MAIL.upper()).text) for team in ("Team One", "Team Two", "Team Three")]
    assert not post.mails
    page = client.post("/manage", data={"token": ada}).text
    ids = re.findall(r'name="id" value="([0-9a-f]{32})"', page)
    assert len(ids) == 3 and page.count(MAIL.upper()) == 3
    for id, do in zip(ids, ("confirm", "refuse", "confirm"), strict=True):
        assert client.post("/manage", data={"token": ada, "id": id, "do": do}).status_code == 200
    assert [is_valid(board, token) for token in tokens] == ["Team One", None, "Team Three"]
    assert client.post("/manage", data={"token": ada, "id": ids[1], "do": "confirm"}).status_code == 400
    with board.reading() as connection:
        assert teams.sharing(connection, "Team One") == ["team one", "team three"], "one address, one group"


@pytest.mark.parametrize(
    ("team", "mail", "said"),
    [
        ("", MAIL, "name of the team"),
        ("Team B", "ada", "address for mail"),
        ("Team B", "Ada <ada@example.org>", "address for mail"),
        ("Team B", "ada@example.org,eve@example.org", "address for mail"),
        ("Team B", "ada@example.org\r\nBcc: eve@example.org", "address for mail"),
        ("Team B", "nobody@example.org", "does not take this address"),
        ("team a", MAIL, "looks the same"),
        ("Tеаm A", MAIL, "looks the same"),
        ("Team‮B", MAIL, "U+202E"),
    ],
)
def test_what_is_refused(
    open_board: Callable[..., Board], open_desk: Callable[..., Any], post: Post, team: str, mail: str, said: str
) -> None:
    desk = open_desk(open_board())  # of Team A
    answer = sign_up(desk.client, team, mail)
    assert answer.status_code == 400 and said in answer.text
    assert not post.mails and "vcr_" not in answer.text


def test_strangers_cannot_send_many_mails(open_board: Callable[..., Board], post: Post) -> None:
    board = open_board()
    client = client_of(board)
    codes = [sign_up(client, f"Team {number}").status_code for number in range(7)]
    assert codes == [200] * 5 + [429] * 2 and len(post.mails) == 5
    assert sign_up(client_of(board, "192.0.2.9"), "Team 9").status_code == 200


def test_without_a_mail_server_nothing_is_kept(open_board: Callable[..., Board]) -> None:
    board = open_board(smtp=f"smtp://127.0.0.1:{free_port()}")
    client = client_of(board)
    assert sign_up(client).status_code == 503
    assert sign_up(client).status_code == 503, "the name is free again"


def test_a_board_is_closed_unless_it_says_otherwise(board: Board) -> None:
    client = client_of(board)
    assert client.get("/register.html").status_code == 404 and "Register" not in client.get("/").text
    assert sign_up(client).status_code == 404


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"url": ""}, "needs `url`"),
        ({"smtp": ""}, "The mail server"),
        ({"smtp": "https://mail.example.org"}, "The mail server"),
        ({"smtp": "smtp://:x"}, "The mail server"),
        ({"mail_from": "me"}, "The sender"),
    ],
)
def test_settings_that_cannot_work(values: dict[str, str], said: str) -> None:
    good = {"url": "https://b.example.org", "smtp": "smtps://u:p%40w@mail.example.org", "mail_from": "b@example.org"}
    check_registration(Settings(registration=Registration.MAIL, **good))
    with pytest.raises(ServiceError, match=said):
        check_registration(Settings(registration=Registration.MAIL, **{**good, **values}))


def test_no_password_leaves_this_machine_without_tls(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that another name leads to has to offer TLS before anything is said to it."""
    monkeypatch.setattr("vcrgen.web.mail.OWN", ())
    with pytest.raises(OSError, match="does not take it"):
        MailServer(f"smtp://user:secret@127.0.0.1:{post.port}", "b@example.org").send(MAIL, "x", "y")
    assert not post.mails


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("a.b+c@d-e.example.org", True),
        ("a@b", False),
        ("a@@b.org", False),
        ('"a b"@c.org', False),
        (f"{'a' * 65}@b.org", False),
        ("a@b.org ", False),
        ("ä@b.org", False),
        ("a@-b.org", False),
    ],
)
def test_addresses(text: str, right: bool) -> None:
    assert is_address(text) is right
