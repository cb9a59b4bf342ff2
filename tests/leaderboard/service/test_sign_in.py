"""Signing in with a real provider of OpenID Connect, which runs here; and answers that are not the provider's."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import httpx
import oidc_provider_mock
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from vcrgen.core.errors import ServiceError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.pages import LivePages
from vcrgen.leaderboard.service import sign_in
from vcrgen.leaderboard.service.app import make_app
from vcrgen.leaderboard.service.sign_in import COOKIE
from vcrgen.leaderboard.settings import Provider
from vcrgen.leaderboard.store import teams

URL = "http://testserver"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with oidc_provider_mock.run_server_in_thread(require_nonce=True) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def signing_board(make_board: Any, issuer: str) -> Board:
    provider = Provider(name="Institute", issuer=issuer, client_id="board", client_secret="hush-9f3a")
    return make_board(url=URL, oidc=(provider,))


def client_of(board: Board) -> TestClient:
    return TestClient(make_app(board, lambda: True), raise_server_exceptions=False, follow_redirects=False)


def begin(client: TestClient) -> str:
    """The address at the provider to which a browser is sent."""
    (link,) = re.findall('href="(sign-in[?]provider=[^"]+)"', client.get("/sign-in.html").text)
    answer = client.get(f"/{link}")
    assert answer.status_code == 303 and "httponly" in answer.headers["set-cookie"].lower()
    return str(answer.headers["location"])


def consent(url: str, who: str = "ada") -> str:
    """The address at the board to which the provider sends the browser of somebody."""
    answer = httpx.post(url, data={"sub": who}, follow_redirects=False)
    assert answer.status_code == 302, answer.text
    return str(answer.headers["location"]).removeprefix(URL)


def ticket_in(text: str) -> str:
    found = re.search(r'name="ticket" value="([^"]+)"', text)
    assert found
    return found[1]


def team_of(board: Board, text: str) -> str | None:
    found = re.search(r"vcr_[\w-]{43}", text)
    assert found
    with board.reading() as connection:
        return teams.team_of(connection, found[0])


def test_from_the_page_to_a_token(signing_board: Board) -> None:
    client = client_of(signing_board)
    page = client.get("/sign-in.html").text
    assert "Sign in with <bdi>Institute" in page and 'href="sign-in.html"' in client.get("/").text
    assert "hush-9f3a" not in page
    first = client.get(consent(begin(client)))
    assert first.status_code == 200 and first.headers["cache-control"] == "no-store", first.text
    made = client.post("/join", data={"team": "Ada's team", "ticket": ticket_in(first.text)})
    assert made.status_code == 200 and team_of(signing_board, made.text) == "Ada's team"
    again = client.get(consent(begin(client)))
    assert team_of(signing_board, again.text) == "Ada's team", "who comes back gets another token of the same team"
    other = client.get(consent(begin(client), "eve"))
    ticket = ticket_in(other.text)
    for name in ("ada's TEAM", "Аda's team"):
        taken = client.post("/join", data={"team": name, "ticket": ticket})
        assert taken.status_code == 400 and "looks the same" in taken.text
        ticket = ticket_in(taken.text)
    assert client.post("/join", data={"team": "Eve", "ticket": ticket}).status_code == 200
    again = client.post("/join", data={"team": "More", "ticket": ticket})
    assert again.status_code == 400 and "You have a team" in again.text, "a ticket makes one team"
    with signing_board.reading() as connection:
        assert [name for name, _ in teams.all_teams(connection)] == ["Ada's team", "Eve"]


def test_over_https_no_other_host_of_the_domain_sets_the_cookie(make_board: Any, issuer: str) -> None:
    provider = Provider(name="Institute", issuer=issuer, client_id="board", client_secret="hush-9f3a")
    board = make_board(url=URL.replace("http:", "https:"), oidc=(provider,))
    client = TestClient(make_app(board, lambda: True), base_url="https://testserver", follow_redirects=False)
    address = begin(client)
    assert list(client.cookies) == [f"__Host-{COOKIE}"]
    state = parse_qs(urlsplit(address).query)["state"][0]
    back = f"/signed-in-{board.settings.oidc[0].address}?state={state}"
    assert "did not sign you in" in client.get(back).text, "the cookie was read"
    assert client.get(f"/signed-in-{board.settings.oidc[0].address}?state=x").status_code == 400


def test_answers_that_were_not_asked_for(signing_board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of(signing_board)
    stranger = TestClient(client.app, raise_server_exceptions=False, follow_redirects=False)
    asked = begin(client)
    back = consent(asked)
    assert stranger.get(back).status_code == 400, "of another browser"
    cookie = client.cookies[COOKIE]
    assert client.get(back).status_code == 200 and COOKIE not in client.cookies
    assert client.get(back).status_code == 400, "an answer is taken once"
    assert client.get(back, headers={"cookie": f"{COOKIE}={cookie}"}).status_code == 400, "and so is its code"
    path = urlsplit(back).path
    assert path == f"/signed-in-{signing_board.settings.oidc[0].address}"
    assert client.get(f"{path}?state=x&code=y").status_code == 400
    state = parse_qs(urlsplit(begin(client)).query)["state"][0]
    assert client.get(f"{path}?state={state}&code=made-up").status_code == 400
    assert client.get(f"{path}?state={parse_qs(urlsplit(begin(client)).query)['state'][0]}").status_code == 400
    for sealed in ("", "x", "a.b.c.d.e", "é.b.c.d.e", cookie[:-4] + "AAAA", "x" * 100_000):
        raw = {b"cookie": f"{COOKIE}={sealed}".encode()}
        assert stranger.get(f"{path}?state=&code=y", headers=raw).status_code == 400
    late = consent(begin(client))
    monkeypatch.setattr(sign_in, "LIFETIME", -1.0)
    assert client.get(late).status_code == 400
    for name in ("-1", "1", "1.5", "x", "", "9" * 400, "%00", "%FF"):
        for address in (f"/sign-in?provider={name}", f"/signed-in-{name}?state=x&code=y"):
            told = client.get(address)
            assert told.status_code == 404 and told.headers["content-type"].startswith("text/html"), address
    with signing_board.reading() as connection:
        assert not teams.all_teams(connection)


def test_sign_ins_that_others_begin_push_out_nobodys(signing_board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    routes, service = sign_in.SignInRoutes(signing_board, LivePages(signing_board)), FastAPI()
    routes.add_to(service)
    client = TestClient(service, follow_redirects=False)
    own = client.get(f"/sign-in?provider={signing_board.settings.oidc[0].address}")
    back = consent(str(own.headers["location"]))
    with monkeypatch.context() as patch:
        patch.setattr(routes, "_metadata", lambda provider: {"authorization_endpoint": "http://localhost/authorize"})
        for _ in range(1001):
            routes.begin(signing_board.settings.oidc[0].address)
    assert client.get(back).status_code == 200


class DishonestProvider(BaseHTTPRequestHandler):
    """A provider over HTTP whose own sign-in page is another provider's, and which notes the codes that it is given."""

    issuer, authorization_endpoint = "", ""
    codes: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        named = {"issuer": self.issuer, "authorization_endpoint": self.authorization_endpoint}
        self._send(named | {"token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys"})

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
        self.codes.extend(form.get("code", []))
        self._send({"error": "invalid_grant"})

    def _send(self, values: dict[str, str]) -> None:
        body = json.dumps(values).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def dishonest() -> Iterator[type[DishonestProvider]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), DishonestProvider)
    DishonestProvider.issuer = f"http://127.0.0.1:{server.server_port}"
    DishonestProvider.codes.clear()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield DishonestProvider
    server.shutdown()
    server.server_close()


def test_a_dishonest_provider_gets_no_code_of_another_one(
    make_board: Any, issuer: str, dishonest: type[DishonestProvider]
) -> None:
    """The mix-up of RFC 9207: who wants to sign in with it is sent on to the honest one, with what it needs there.

    The honest provider answers to the address that the board has registered there, and to no other one.
    """
    honest = Provider(name="Institute", issuer=issuer, client_id="board", client_secret="hush-9f3a")
    bad = Provider(name="Bad", issuer=dishonest.issuer, client_id="board")
    board = make_board(url=URL, oidc=(honest, bad))
    dishonest.authorization_endpoint = f"{dishonest.issuer}/authorize"
    attacker, victim = client_of(board), client_of(board)
    victim.app = attacker.app
    own = str(attacker.get(f"/sign-in?provider={honest.address}").headers["location"])
    asked = str(victim.get(f"/sign-in?provider={bad.address}").headers["location"])
    assert asked.startswith(dishonest.authorization_endpoint)
    state = parse_qs(urlsplit(asked).query)["state"][0]
    own_state = parse_qs(urlsplit(own).query)["state"][0]
    back = consent(own.replace(own_state, state), "victim")
    assert f"state={state}" in back and "code=" in back
    told = victim.get(back)
    assert told.status_code == 400 and dishonest.codes == []


@pytest.mark.parametrize("what", ["nonce", "issuer", "audience", "unsigned", "other key"])
def test_an_identity_that_is_not_the_providers(
    signing_board: Board, monkeypatch: pytest.MonkeyPatch, what: str, issuer: str
) -> None:
    """The provider's answer is changed on its way: it counts only with the provider's seal, and for this board."""
    client = client_of(signing_board)
    back = consent(begin(client))
    real = sign_in.jwt.decode

    def decode(text: str, keys: Any, **options: Any) -> Any:
        if what == "unsigned":
            text = ".".join(["eyJhbGciOiJub25lIn0", text.split(".")[1], ""])
        if what == "other key":
            keys = sign_in.KeySet.generate_key_set("RSA", 2048)
        token = real(text, keys, **options)
        changed = {"nonce": {"nonce": "x"}, "issuer": {"iss": "https://evil.example"}, "audience": {"aud": "other"}}
        token.claims.update(changed.get(what, {}))
        return token

    monkeypatch.setattr(sign_in.jwt, "decode", decode)
    answer = client.get(back)
    assert answer.status_code == 400 and "did not sign you in" in answer.text and "ticket" not in answer.text


@pytest.mark.parametrize(
    ("url", "address", "said"),
    [
        (URL, "http://provider.example", "https address"),
        ("", "https://provider.example", "needs `url`"),
        (URL, "https://P.example/q/", "look alike"),
    ],
)
def test_settings_that_are_not_safe(make_board: Any, url: str, address: str, said: str) -> None:
    others = (Provider(name="Q", issuer="https://p.example/q", client_id="b"),) if "look" in said else ()
    board = make_board(url=url, oidc=(Provider(name="P", issuer=address, client_id="b"), *others))
    with pytest.raises(ServiceError, match=said):
        make_app(board, lambda: True)


def test_a_board_without_providers_has_no_sign_in(board: Board) -> None:
    client = client_of(board)
    assert "sign-in.html" not in client.get("/").text
    for path in ("/sign-in.html", "/sign-in", "/signed-in-localhost-1"):
        assert client.get(path).status_code == 404


def test_a_provider_that_is_away(make_board: Any) -> None:
    board = make_board(url=URL, oidc=(Provider(name="P", issuer="http://localhost:9", client_id="b"),))
    assert client_of(board).get("/sign-in?provider=localhost-9").status_code == 503
