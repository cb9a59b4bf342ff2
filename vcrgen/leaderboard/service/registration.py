"""The routes of teams that register themselves, and of the page that a mail leads to."""

from __future__ import annotations

from collections.abc import Sequence

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from starlette.datastructures import FormData

from vcrgen.errors import LeaderboardError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.registration import confirm_by_link, register
from vcrgen.leaderboard.service.pages import LivePages
from vcrgen.leaderboard.service.teams import NO_STORE
from vcrgen.leaderboard.site import names
from vcrgen.web import responses
from vcrgen.web.error_handlers import NOT_THERE
from vcrgen.web.guards import client_address
from vcrgen.web.log import log_line
from vcrgen.web.rate import RateLimiter
from vcrgen.web.responses import Refusal

FIELDS = ("team", "mail")
PER_CLIENT, SECONDS = 5, 3600  # registrations of one address, as each sends a mail to whoever is named
CONCURRENT_MAILS = 2


class RegistrationRoutes:
    """The routes of new teams."""

    def __init__(self, board: Board, pages: LivePages) -> None:
        self._board = board
        self._pages = pages
        self._rate = RateLimiter(PER_CLIENT, SECONDS)
        self._mails = CapacityLimiter(CONCURRENT_MAILS)

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to a service."""
        app.add_api_route("/register", self.register, methods=["POST"])
        app.add_api_route("/confirm", self.confirm, methods=["POST"])
        app.add_api_route(f"/{names.REGISTER}", self.form)
        app.add_api_route(f"/{names.CONFIRM}", self.confirm_form)

    def form(self) -> Response:
        """The empty form."""
        return self._page(self._pages.register(dict.fromkeys(FIELDS, ""), []))

    async def register(self, request: Request) -> Response:
        """Take a registration, and show its token once."""
        values = await read_form(request, FIELDS)
        client, problem, status, token = client_address(request.scope), "", 200, ""
        if self._rate.is_full(client):
            problem, status = "Too many registrations from your address; come back in an hour.", 429
        else:
            self._rate.record(client)
            try:
                token = await to_thread.run_sync(
                    register, self._board, values["team"], values["mail"], limiter=self._mails
                )
            except LeaderboardError as refusal:
                problem, status = str(refusal), 400
            except OSError as fault:
                log_line("mail failed", reason=str(fault)[:200])
                problem, status = "The mail could not be sent; check the address, or try again later.", 503
        problems = [problem] if problem else []
        return self._page(await run_in_threadpool(self._pages.register, values, problems, token), status)

    def confirm_form(self, word: str = "") -> Response:
        """The page with the button that confirms."""
        return self._page(self._pages.confirm(word[:100], []))

    async def confirm(self, request: Request) -> Response:
        """Make a token valid."""
        word = (await read_form(request, ["word"]))["word"]
        team, problems = "", []
        try:
            team = await run_in_threadpool(confirm_by_link, self._board, word)
        except LeaderboardError as problem:
            problems = [str(problem)]
        return self._page(await run_in_threadpool(self._pages.confirm, "", problems, team), 400 if problems else 200)

    @staticmethod
    def _page(text: str | None, status: int = 200) -> Response:
        if text is None:
            raise Refusal(404, NOT_THERE)
        return HTMLResponse(text, status_code=status, headers=NO_STORE)


async def read_form(request: Request, fields: Sequence[str]) -> dict[str, str]:
    """Return some fields of a form that everybody may send."""

    async def admit(form: FormData) -> None:
        """Everybody may."""

    async with responses.open_form(request, fields=2 * len(fields), admit=admit) as form:
        return responses.form_texts(form, fields)
