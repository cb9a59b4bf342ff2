"""Sign-in by OpenID Connect: who is known to a provider gets a token of the team that is theirs, or registers one.

Nobody stays signed in: a sign-in ends with a token, which is shown once. The one cookie ties the answer of the provider
to the browser that asked for it, and says nothing of who somebody is.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from starlette.datastructures import FormData

from vcrgen.core.errors import LeaderboardError, ServiceError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.identities import register_identity, token_of_identity
from vcrgen.leaderboard.pages import LivePages
from vcrgen.leaderboard.service.teams import NO_STORE
from vcrgen.leaderboard.settings import Provider, absolute_url
from vcrgen.leaderboard.site import names
from vcrgen.web.forms import form_texts, open_form
from vcrgen.web.log import log_line
from vcrgen.web.responses import Refusal

SECONDS = 10.0  # for each answer of a provider
LIFETIME, MOST = 600.0, 1000  # of a sign-in that was begun, and how many are remembered
COOKIE = "vcr-sign-in"
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"]  # never "none", nor shared keys
OWN = ("localhost", "127.0.0.1", "::1")
CALLBACK = "signed-in"  # flat, as links of pages are relative
FIELDS = ("team", "ticket")
T = TypeVar("T")


class Begun(NamedTuple):
    """A sign-in that waits for its provider."""

    provider: int
    nonce: str
    verifier: str  # of PKCE
    browser: str  # hash of the cookie


class Remembered(Generic[T]):
    """Values that wait for a short time, by a random word; the oldest of too many are forgotten."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[float, T]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, value: T) -> str:
        """Keep a value; returns its word."""
        word = secrets.token_urlsafe(32)
        with self._lock:
            self._kept[word] = (time.monotonic(), value)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
        return word

    def take(self, word: str) -> T | None:
        """The value of a word, once: nobody can use it a second time. None if it is unknown or too old."""
        with self._lock:
            at, value = self._kept.pop(word, (0.0, None))
        return value if value is not None and time.monotonic() - at < LIFETIME else None


def check_providers(board: Board) -> None:
    """Refuse, with a ServiceError, providers that cannot be asked safely."""
    for provider in board.settings.oidc:
        parts = urlsplit(provider.issuer)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in OWN):
            raise ServiceError(f"The issuer of {provider.name[:40]!r} in board.yaml is an https address.")
    if board.settings.oidc and not board.settings.url:
        raise ServiceError("Sign-in needs `url` in board.yaml: providers send people back there.")


class SignInRoutes:
    """The routes of signing in."""

    def __init__(self, board: Board, pages: LivePages) -> None:
        check_providers(board)
        self._board, self._pages = board, pages
        self._begun: Remembered[Begun] = Remembered()
        self._people: Remembered[str] = Remembered()

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to a service."""
        app.add_api_route(f"/{names.SIGN_IN}", self.providers)
        app.add_api_route("/sign-in", self.begin)
        app.add_api_route(f"/{CALLBACK}", self.end)
        app.add_api_route("/join", self.register, methods=["POST"])

    def providers(self) -> Response:
        """The page with the providers."""
        return HTMLResponse(self._pages.now().sign_in())

    def begin(self, provider: int = 0) -> Response:
        """Send the browser to a provider."""
        if not 0 <= provider < len(self._board.settings.oidc):
            raise Refusal(404, "There is no such provider.")
        asked, browser = self._board.settings.oidc[provider], secrets.token_urlsafe(32)
        begun = Begun(provider, secrets.token_urlsafe(32), secrets.token_urlsafe(48), _hash(browser))
        state = self._begun.keep(begun)
        endpoint = self._metadata(asked)["authorization_endpoint"]
        url, _ = self._session(asked).create_authorization_url(
            endpoint, state=state, nonce=begun.nonce, code_verifier=begun.verifier
        )
        answer = RedirectResponse(url, status_code=303, headers=NO_STORE)
        answer.set_cookie(
            COOKIE,
            browser,
            max_age=int(LIFETIME),
            httponly=True,
            samesite="lax",
            path="/",
            secure=self._board.settings.url.startswith("https:"),
        )
        return answer

    def end(self, request: Request, state: str = "", code: str = "") -> Response:
        """Take the answer of a provider: a token for who has a team, and else the form of a new one."""
        begun = self._begun.take(state)
        # A link that somebody else made would sign its reader in as that somebody, were the browser not the same.
        if begun is None or begun.browser != _hash(request.cookies.get(COOKIE, "")):
            raise Refusal(400, "This sign-in was not begun here, or more than ten minutes ago; begin again.")
        if not code:
            raise Refusal(400, "The provider did not sign you in; begin again.")
        identity = self._identity(self._board.settings.oidc[begun.provider], begun, code)
        team, token = token_of_identity(self._board, identity)
        if token:
            answer: Response = HTMLResponse(self._pages.now().signed_in(team, token=token), headers=NO_STORE)
        else:
            answer = HTMLResponse(self._pages.now().signed_in("", ticket=self._people.keep(identity)), headers=NO_STORE)
        answer.delete_cookie(COOKIE, path="/")
        return answer

    async def register(self, request: Request) -> Response:
        """Make the team of somebody who has just signed in."""
        async with open_form(request, fields=2 * len(FIELDS), admit=_admit_everybody) as form:
            values = form_texts(form, FIELDS)
        identity = self._people.take(values["ticket"])
        if identity is None:
            raise Refusal(400, "You signed in more than ten minutes ago; begin again.")
        try:
            token = register_identity(self._board, values["team"], identity)
        except LeaderboardError as problem:
            text = self._pages.now().signed_in(
                values["team"], ticket=self._people.keep(identity), problems=[str(problem)]
            )
            return HTMLResponse(text, status_code=400, headers=NO_STORE)
        return HTMLResponse(self._pages.now().signed_in(values["team"], token=token), headers=NO_STORE)

    def _session(self, provider: Provider) -> Any:
        return OAuth2Session(
            provider.client_id,
            provider.client_secret,
            scope="openid",
            code_challenge_method="S256",
            redirect_uri=absolute_url(self._board.settings, "", CALLBACK),
        )

    def _metadata(self, provider: Provider) -> dict[str, Any]:
        """What a provider publishes of itself, if it calls itself as ``board.yaml`` does."""
        metadata = _get_json(f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration")
        if metadata.get("issuer") != provider.issuer:
            raise Refusal(503, f"{provider.name} calls itself otherwise than board.yaml does; tell the maintainers.")
        return metadata

    def _identity(self, provider: Provider, begun: Begun, code: str) -> str:
        """The issuer and the subject of somebody, checked as OpenID Connect Core 3.1.3.7 asks.

        Raises:
            Refusal: The answer is not one of the provider to this sign-in.
        """
        metadata = self._metadata(provider)
        try:
            token = self._session(provider).fetch_token(
                metadata["token_endpoint"], code=code, code_verifier=begun.verifier, timeout=SECONDS
            )
            keys = KeySet.import_key_set(_get_json(metadata["jwks_uri"]))  # type: ignore[arg-type]
            decoded = jwt.decode(token["id_token"], keys, algorithms=ALGORITHMS)
            options = {
                "iss": {"essential": True, "values": [provider.issuer]},
                "aud": {"essential": True, "values": [provider.client_id]},
                "sub": {"essential": True},
                "nonce": {"essential": True, "value": begun.nonce},
            }
            parameters = {
                "nonce": begun.nonce,
                "client_id": provider.client_id,
                "access_token": token.get("access_token"),
            }
            claims = CodeIDToken(decoded.claims, decoded.header, options, parameters)
            claims.validate(leeway=60)
            return f"{provider.issuer} {claims['sub']}"
        except (AuthlibBaseError, JoseError, requests.RequestException, KeyError, ValueError) as problem:
            log_line("sign-in failed", provider=provider.name, kind=type(problem).__name__)
            raise Refusal(400, f"{provider.name} did not sign you in; begin again.") from None


async def _admit_everybody(form: FormData) -> None:
    """Who has no ticket is refused once the whole form is there."""


def _get_json(url: str) -> dict[str, Any]:
    try:
        answer = requests.get(url, timeout=SECONDS, allow_redirects=False)
        answer.raise_for_status()
        values = answer.json()
    except (requests.RequestException, ValueError) as problem:
        log_line("provider cannot be asked", kind=type(problem).__name__)
        raise Refusal(503, "The provider cannot be reached just now; try again soon.") from None
    return values if isinstance(values, dict) else {}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
