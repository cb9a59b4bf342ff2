"""The routes of visitors of a shared link: look at the consent, agree to it, and come back in the same browser.

The one cookie is a secret of the browser. It makes the token of the visitor's page, and is tied to no id.
"""

import re
import secrets
from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from pydantic import Field

from vcrgen.report.templating import Templates
from vcrgen.study.page_texts import texts_for
from vcrgen.study.participants import PARTICIPANT
from vcrgen.study.service.raters import UNKEPT, Begin, RaterRoutes, read_body
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.raters import save_consent
from vcrgen.study.visitors import LastSigns, Visit, claim_place, has_place, is_wanted, open_visit
from vcrgen.web.authentication import TokenAuthenticator
from vcrgen.web.cookies import Cookie
from vcrgen.web.guards import client_address
from vcrgen.web.rate import RateLimiter
from vcrgen.web.responses import Refusal

VISITOR = "PROLIFIC_PID"
COOKIE = "vcr-study"
COOKIE_SECONDS = 30 * 86_400  # after the last visit
_BROWSER = re.compile("[A-Za-z0-9_-]{43}")  # the secret of a browser: 256 random bits
PLACES_PER_ADDRESS, PLACES_SECONDS = 3, 3600.0  # that are taken from one address in so many seconds


class _Claim(Begin):
    visitor: Annotated[str, Field(pattern=f"^{PARTICIPANT}$")]


class VisitorRoutes:
    """The routes for visitors of shared links."""

    def __init__(
        self, store: StudyStore, templates: Templates, tokens: TokenAuthenticator, raters: RaterRoutes, signs: LastSigns
    ) -> None:
        self._store = store
        self._templates = templates
        self._tokens = tokens
        self._raters = raters
        self._signs = signs
        self._claims = RateLimiter(PLACES_PER_ADDRESS, PLACES_SECONDS)
        with store.reading() as connection:
            self._texts = texts_for(read_design(connection))

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to a service."""
        app.add_api_route("/join/{token}", self.join)
        app.add_api_route("/api/{token}/claim", self.claim, methods=["POST"])

    def join(self, request: Request, token: str) -> Response:
        """Show a visitor the consent; one who has a place is sent to its page in the browser that took it.

        Nothing is stored: a place is taken by agreeing.
        """
        participant = request.query_params.get(VISITOR, "")
        if not re.fullmatch(PARTICIPANT, participant):
            raise Refusal(400, f"The link lacks an id as {VISITOR}; open it from your study's page at Prolific.")
        browser = _browser(request) or secrets.token_urlsafe(32)
        with self._store.reading() as connection:
            visit = self._tokens.authenticate(request, open_visit(connection, token, participant, browser))
            room = has_place(connection, visit.invitation, self._signs)
        if visit.is_own:
            answer: Response = RedirectResponse(f"../r/{visit.token}", status_code=303, headers=UNKEPT)
        elif reason := _obstacle(visit) or ("" if room or visit.is_released else "full"):
            texts = self._texts.page[self._texts.page_lang(visit.invitation.lang)]
            page = self._templates.render("message.html", title=texts[reason], text=texts[f"{reason}_text"])
            return HTMLResponse(page, status_code=409, headers=UNKEPT)
        else:
            keeps_id = visit.invitation.keeps_ids
            answer = self._raters.render(token, visit.invitation.lang, [], visitor=participant, keeps_id=keeps_id)
        _cookie(request).set(answer, browser)
        return answer

    async def claim(self, request: Request, token: str) -> Response:
        """Give a place to a visitor who agrees; the reply has its page, or the reason why there is none."""
        sent = await read_body(request, _Claim)
        return JSONResponse(await run_in_threadpool(self._claim, request, token, sent), headers=UNKEPT)

    def _claim(self, request: Request, token: str, sent: _Claim) -> dict[str, Any]:
        browser, address = _browser(request), client_address(request.scope)
        with self._store.writing() as connection:
            visit = self._tokens.authenticate(request, open_visit(connection, token, sent.visitor, browser))
            text = self._raters.consent_text(visit.invitation.lang, sent.version)
            if not visit.is_own:
                if not browser:
                    return {"over": "cookies"}
                if reason := _obstacle(visit):
                    return {"over": reason}
                if not visit.is_released and not is_wanted(visit.invitation, sent.languages):
                    return {"unfit": visit.invitation.speaks}
                if self._claims.is_full(address):
                    return {"over": "crowded"}
                consent = {"consent": sent.version, "languages": sent.languages.strip()}
                if not claim_place(connection, visit, self._signs, **consent):
                    return {"over": "full"}
                self._claims.record(address)
                save_consent(connection, sent.version, text)
        return {"page": f"../r/{visit.token}"}


def _obstacle(visit: Visit) -> str:
    """The text that tells a visitor why there is no place for them, whatever is free; empty for none."""
    if not visit.is_admitted:
        return "unlisted"
    if visit.rater is None or visit.is_released:
        return ""
    return "taken" if visit.rater.token is not None else "gone"


def _cookie(request: Request) -> Cookie:
    return Cookie(name=COOKIE, seconds=COOKIE_SECONDS, is_secure=request.url.scheme == "https")


def _browser(request: Request) -> str:
    """The secret of a browser that has been here before, or an empty text."""
    secret = _cookie(request).read(request)
    return secret if _BROWSER.fullmatch(secret) else ""
