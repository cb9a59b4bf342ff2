"""The page for maintainers: approve, decline, edit and withdraw, each with the maintainer's own token."""

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from starlette.datastructures import FormData

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.reading import encodable
from vcrgen.leaderboard import maintainers
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import remove
from vcrgen.leaderboard.pages import LivePages
from vcrgen.leaderboard.service.teams import NO_STORE
from vcrgen.leaderboard.store.log import MAINTAINER
from vcrgen.web import responses
from vcrgen.web.authentication import TokenAuthenticator, TooManyGuesses
from vcrgen.web.forms import form_texts, open_form
from vcrgen.web.responses import Refusal

FACTS = ("link", "access", "size", "released")
FIELDS = ("token", "id", "do", "reason", *FACTS)


class MaintainerRoutes:
    """The route for maintainers.

    A request acts only with the token in its own body, which no other site knows; no cookie says who somebody is.
    """

    def __init__(self, board: Board, pages: LivePages, tokens: TokenAuthenticator) -> None:
        self._board = board
        self._pages = pages
        self._tokens = tokens

    def add_to(self, app: FastAPI) -> None:
        """Add the route to a service."""
        app.add_api_route("/manage", self.manage, methods=["POST"])

    async def manage(self, request: Request) -> Response:
        """The list of submissions, after one action if the form names one."""
        name = ""

        async def admit(form: FormData) -> None:
            nonlocal name
            token = form_texts(form, FIELDS)["token"]
            name = self._tokens.authenticate(
                request, await run_in_threadpool(maintainers.maintainer_of, self._board, token)
            )

        try:
            async with open_form(request, fields=2 * len(FIELDS), admit=admit) as form:
                values = form_texts(form, FIELDS)
        except TooManyGuesses as refusal:
            return responses.plain_response(request.scope, refusal.status, refusal.text)
        except Refusal as refusal:
            text = await run_in_threadpool(self._pages.manage, "", [refusal.text])
            return HTMLResponse(text, status_code=refusal.status, headers=refusal.headers | NO_STORE)
        problems: list[str] = []
        try:
            await run_in_threadpool(self._do, f"{MAINTAINER} {name}", values)
        except LeaderboardError as problem:
            problems = [str(problem)]
        text = await run_in_threadpool(self._pages.manage, values["token"], problems)
        return HTMLResponse(encodable(text), status_code=400 if problems else 200, headers=NO_STORE)

    def _do(self, actor: str, values: dict[str, str]) -> None:
        match values["do"]:
            case "approve":
                maintainers.approve(self._board, values["id"], actor=actor)
            case "decline":
                maintainers.decline(self._board, values["id"], values["reason"], actor=actor)
            case "withdraw":
                remove(self._board, values["id"], values["reason"], actor=actor)
            case "edit":
                maintainers.edit(self._board, values["id"], actor=actor, **{name: values[name] for name in FACTS})
