"""Sign-in by OpenID Connect: who is known to a provider gets a token of the team that is theirs, or registers one.

Nobody stays signed in: a sign-in ends with a token, which is shown once. The one cookie ties the answer of the provider
to the browser that asked for it, and says nothing of who somebody is. What a sign-in has to remember stands in that
cookie, sealed, so that nobody's sign-ins push out another's. Each provider sends people back to an address of its own:
a dishonest one that sends them to another provider gets nothing of what that one answers.
"""

import json
import secrets
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from joserfc import jwe, jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey
from starlette.datastructures import FormData

from vcrgen.core.errors import LeaderboardError, ServiceError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.identities import register_identity, token_of_identity
from vcrgen.leaderboard.pages import LivePages
from vcrgen.leaderboard.service.teams import NO_STORE
from vcrgen.leaderboard.settings import Provider, absolute_url
from vcrgen.leaderboard.site import names
from vcrgen.web.cookies import Cookie
from vcrgen.web.error_handlers import NOT_THERE
from vcrgen.web.forms import form_texts, open_form
from vcrgen.web.log import log_line
from vcrgen.web.responses import Refusal

SECONDS = 10.0  # for each answer of a provider
LIFETIME = 600.0  # seconds of a sign-in that was begun, and of a ticket
COOKIE = "vcr-sign-in"
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"]  # never "none", nor shared keys
SEAL = {"alg": "dir", "enc": "A256GCM"}
OWN = ("localhost", "127.0.0.1", "::1")
CALLBACK = "signed-in-"  # and the name of the provider; flat, as links of pages are relative
FIELDS = ("team", "ticket")


class Begun(NamedTuple):
    """A sign-in that waits for its provider."""

    provider: str  # its name in addresses
    state: str
    nonce: str
    verifier: str  # of PKCE


class Seal:
    """Encrypts texts for a short time, with a key that ends with the process; nothing is remembered."""

    def __init__(self) -> None:
        self._key = OctKey.generate_key(256)

    def close(self, texts: tuple[str, ...]) -> str:
        """Seal some texts."""
        return jwe.encrypt_compact(SEAL, json.dumps([time.monotonic(), *texts]).encode(), self._key)

    def open(self, sealed: str) -> list[str] | None:
        """The texts, or None where the seal is not ours or too old."""
        try:
            at, *texts = json.loads(
                jwe.decrypt_compact(sealed, self._key, algorithms=list(SEAL.values())).plaintext or b""
            )
        except (JoseError, ValueError):
            return None
        return texts if time.monotonic() - at < LIFETIME else None


def check_providers(board: Board) -> None:
    """Refuse, with a ServiceError, providers that cannot be asked safely."""
    for provider in board.settings.oidc:
        parts = urlsplit(provider.issuer)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in OWN):
            raise ServiceError(f"The issuer of {provider.name[:40]!r} in board.yaml is an https address.")
    addresses = [provider.address for provider in board.settings.oidc]
    if len(set(addresses)) < len(addresses):
        raise ServiceError(
            "Two providers in board.yaml have the same issuer, or look alike in addresses; leave out one."
        )
    if board.settings.oidc and not board.settings.url:
        raise ServiceError("Sign-in needs `url` in board.yaml: providers send people back there.")


class SignInRoutes:
    """The routes of signing in."""

    def __init__(self, board: Board, pages: LivePages) -> None:
        check_providers(board)
        self._board, self._pages = board, pages
        self._providers = {provider.address: provider for provider in board.settings.oidc}
        self._begun, self._people = Seal(), Seal()
        is_secure = board.settings.url.startswith("https:")
        self._cookie = Cookie(name=COOKIE, seconds=int(LIFETIME), is_secure=is_secure)

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to a service."""
        app.add_api_route(f"/{names.SIGN_IN}", self.providers)
        app.add_api_route("/sign-in", self.begin)
        app.add_api_route(f"/{CALLBACK}{{provider}}", self.end)
        app.add_api_route("/join", self.register, methods=["POST"])

    def providers(self) -> Response:
        """The page with the providers."""
        return HTMLResponse(self._pages.now().sign_in())

    def begin(self, provider: str = "") -> Response:
        """Send the browser to a provider."""
        if (asked := self._providers.get(provider)) is None:
            raise Refusal(404, "There is no such provider.")
        begun = Begun(provider, secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48))
        endpoint = self._metadata(asked)["authorization_endpoint"]
        url, _ = self._session(asked).create_authorization_url(
            endpoint, state=begun.state, nonce=begun.nonce, code_verifier=begun.verifier
        )
        answer = RedirectResponse(url, status_code=303, headers=NO_STORE)
        self._cookie.set(answer, self._begun.close(begun))
        return answer

    def end(self, request: Request, provider: str, state: str = "", code: str = "") -> Response:
        """Take the answer of a provider: a token for who has a team, and else the form of a new one."""
        if provider not in self._providers:
            raise Refusal(404, NOT_THERE)
        opened = self._begun.open(self._cookie.read(request))
        begun = Begun(*opened) if opened else None
        # A link that somebody else made would sign its reader in as that somebody, were the browser not the same. The
        # answer of another provider than the one that was asked is for that other one's eyes: it is not passed on.
        if begun is None or begun.state != state or begun.provider != provider:
            raise Refusal(400, "This sign-in was not begun here, or more than ten minutes ago; begin again.")
        if not code:
            raise Refusal(400, "The provider did not sign you in; begin again.")
        identity = self._identity(self._providers[begun.provider], begun, code)
        team, token = token_of_identity(self._board, identity)
        if token:
            answer: Response = HTMLResponse(self._pages.now().signed_in(team, token=token), headers=NO_STORE)
        else:
            text = self._pages.now().signed_in("", ticket=self._people.close((identity,)))
            answer = HTMLResponse(text, headers=NO_STORE)
        self._cookie.delete(answer)
        return answer

    async def register(self, request: Request) -> Response:
        """Make the team of somebody who has just signed in."""
        async with open_form(request, fields=2 * len(FIELDS), admit=_admit_everybody) as form:
            values = form_texts(form, FIELDS)
        if (opened := self._people.open(values["ticket"])) is None:
            raise Refusal(400, "You signed in more than ten minutes ago; begin again.")
        try:
            token = register_identity(self._board, values["team"], *opened)
        except LeaderboardError as problem:
            text = self._pages.now().signed_in(values["team"], ticket=values["ticket"], problems=[str(problem)])
            return HTMLResponse(text, status_code=400, headers=NO_STORE)
        return HTMLResponse(self._pages.now().signed_in(values["team"], token=token), headers=NO_STORE)

    def _session(self, provider: Provider) -> Any:
        return OAuth2Session(
            provider.client_id,
            provider.client_secret,
            scope="openid",
            code_challenge_method="S256",
            redirect_uri=absolute_url(self._board.settings, "", CALLBACK + provider.address),
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
