"""The routes: pages for people, an API for programs. Each is short: check, call, answer."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from tempfile import gettempdir
from uuid import uuid4

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Scope

from vcrgen.errors import LeaderboardError, VcrgenError
from vcrgen.leaderboard.api import as_json
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.records import State
from vcrgen.leaderboard.service.maintainers import MaintainerRoutes
from vcrgen.leaderboard.service.pages import LivePages
from vcrgen.leaderboard.service.teams import SENT, TeamRoutes, TokenOwners, by_token
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.render import policy
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.views import Views
from vcrgen.reading import encodable
from vcrgen.web import answers
from vcrgen.web.answers import Refusal
from vcrgen.web.guards import FORM_BYTES, BodyRefused, Guard
from vcrgen.web.log import log_line, place_of

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no room on the disk, in the quota, under the limit on files
TYPES = {
    "html": "text/html", "md": "text/markdown", "csv": "text/csv", "latex": "text/plain", "json": "application/json",
}  # fmt: skip
TITLES = {
    400: "That cannot be taken", 401: "Unknown token", 403: "Not from here", 404: "There is no such page",
    405: "That is not possible here", 408: "Too slow", 409: "Handed in before", 413: "Too large",
    429: "Too much for now", 500: "Something broke", 503: "Not just now",
}  # fmt: skip
NOT_THERE = "It may have been moved, or it was never there."


def make_app(board: Board, worker_alive: Callable[[], bool]) -> ASGIApp:
    """The service of a board; ``worker_alive`` tells its health page whether the process that scores is there."""
    service = _Service(board, worker_alive)
    app = FastAPI(openapi_url=None, redirect_slashes=False)
    app.add_api_route("/", lambda: service.page(names.INDEX), response_class=HTMLResponse)
    app.add_api_route("/health", service.health)
    tokens = TokenOwners()
    for routes in (TeamRoutes, MaintainerRoutes):
        routes(board, service.pages, tokens).add_to(app)
    app.add_api_route("/api/submissions/{submission_id}", service.submission)
    app.add_api_route("/{name}", service.page)
    for kind in (HTTPException, Refusal, BodyRefused):
        app.add_exception_handler(kind, service.refused)
    app.add_exception_handler(OSError, service.no_room)
    app.add_exception_handler(ClientDisconnect, service.gone)
    app.add_exception_handler(VcrgenError, service.unavailable)
    app.add_exception_handler(Exception, service.fault)
    return Guard(
        answers.without_second_raise(app), refuse=service.refuse_unread, policy=policy(),
        most=(board.settings.file_mb << 20) + FORM_BYTES, a_minute=board.settings.requests_a_minute,
        by_token=by_token,
    )  # fmt: skip


class _Service:
    """What the routes do."""

    def __init__(self, board: Board, worker_alive: Callable[[], bool]) -> None:
        self._board = board
        self._worker_alive = worker_alive
        self.pages = LivePages(board)

    def page(self, name: str, a: str = "", b: str = "") -> Response:
        """A page or a file of the board."""
        if name == names.COMPARE and a and b and a != b:
            chosen = names.compare_name(a, b)
            if names.parse_name(chosen):
                return RedirectResponse(chosen, status_code=303)
        if name in SENT:  # where a browser stays when a form was refused
            return RedirectResponse(f"{name}.html", status_code=303)
        parsed = names.parse_name(name)
        if name == names.SUBMIT:
            return HTMLResponse(self.pages.submit({}, []))
        if name == names.TEAM:
            return HTMLResponse(self.pages.team("", "", []))
        if name == names.MANAGE:
            return HTMLResponse(self.pages.manage("", []))
        if parsed is not None and parsed[0] == "submission":
            text = self.pages.status(parsed[1])
            body = None if text is None else encodable(text).encode()  # a problem can quote what no page can hold
            headers = {"cache-control": "no-store"}
        else:
            body, headers = self.pages.get(name), {"cache-control": "no-cache"}
        if body is None:
            raise Refusal(404, NOT_THERE)
        return Response(body, media_type=TYPES[name.rpartition(".")[2]], headers=headers)

    def health(self) -> Response:
        """Whether the board can be read, and whether what is handed in will be scored."""
        try:
            with self._board.reading() as connection:
                waiting = submissions.count(connection, states=[State.QUEUED, State.SCORING])
        except LeaderboardError:
            return JSONResponse({"status": "database cannot be reached"}, status_code=503)
        free = min(self._board.vault.free(), shutil.disk_usage(gettempdir()).free)
        if free < 2 * self._board.settings.file_mb << 20:  # a file is there twice while it is taken
            told = {"status": "the disk is full", "free_mb": free >> 20, "waiting": waiting}
            return JSONResponse(told, status_code=503)
        alive = self._worker_alive()
        status = "ok" if alive else "nothing is scored: the worker is not there"
        return JSONResponse({"status": status, "waiting": waiting}, status_code=200 if alive else 503)

    def submission(self, submission_id: str) -> Response:
        """Where a submission stands: its problems, or its scores."""
        if names.parse_name(names.status_name(submission_id)) is None:
            raise Refusal(404, "There is no such submission.")
        with self._board.reading() as connection:
            found = submissions.find(connection, submission_id)
            if found is None:
                raise Refusal(404, "There is no such submission.")
            views = Views(self._board, connection)
            cells = views.cells_of(found.id) if found.state is State.SCORED else ()
            told = views.told(found)
        return JSONResponse(as_json(found, cells, told), headers={"cache-control": "no-store"})

    def refused(self, request: Request, problem: Exception) -> Response:
        """A sentence for a request that is refused, or that has an address or a method that is none."""
        match problem:
            case Refusal():
                return self._answer(request.scope, problem.status, problem.text, problem.about, problem.headers)
            case HTTPException():
                text = NOT_THERE if problem.status_code == 404 else str(problem.detail)
                return self._answer(request.scope, problem.status_code, text, headers=problem.headers)
            case BodyRefused():
                return self._answer(request.scope, problem.status, str(problem))
        raise problem

    def gone(self, request: Request, problem: Exception) -> Response:
        """A client that hung up in the middle of its request; nobody reads this."""
        return Response(status_code=answers.HUNG_UP)

    def no_room(self, request: Request, problem: Exception) -> Response:
        """A file that could not be written, for which the log has the reason; or another error of ours."""
        if not isinstance(problem, OSError) or problem.errno not in FULL:
            return self.fault(request, problem)
        log_line("disk full", reason=os.strerror(problem.errno), where=place_of(problem))
        return self._answer(request.scope, 503, "The board has no room for files just now; its maintainers are told.")

    def unavailable(self, request: Request, problem: Exception) -> Response:
        """The database does not answer: for the log, what; for the world, that."""
        log_line("unavailable", reason=str(problem))
        return answers.plain_answer(request.scope, 503, "The board cannot be read just now; try again soon.")

    def fault(self, request: Request, problem: Exception) -> Response:
        """An error of ours: its kind goes to the log, its text nowhere."""
        number = uuid4().hex[:12]
        log_line("fault", number=number, kind=type(problem).__name__, where=place_of(problem))
        return answers.plain_answer(request.scope, 500, f"Something broke; tell the maintainers the number {number}.")

    def refuse_unread(self, scope: Scope, status: int, text: str) -> ASGIApp:
        """The answer to a request whose body is not read; to one too many, with as little work as can be."""
        return answers.plain_answer(scope, status, text) if status == 429 else self._answer(scope, status, text)

    def _answer(
        self, scope: Scope, status: int, text: str, about: str = "", headers: Mapping[str, str] | None = None
    ) -> Response:
        """A sentence, as JSON for programs and as a page for people; as plain text if the board cannot be read."""
        page = ""
        if not answers.for_programs(scope):
            with suppress(LeaderboardError):
                page = self.pages.message(TITLES.get(status, "That is not possible"), text)
        answer = HTMLResponse(page, status_code=status) if page else answers.plain_answer(scope, status, text, about)
        answer.headers.update({**answers.MORE_HEADERS.get(status, {}), **(headers or {})})
        return answer
