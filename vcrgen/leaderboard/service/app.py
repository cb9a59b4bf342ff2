"""The routes: pages for people, an API for programs. Each is short: check, call, answer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from tempfile import gettempdir
from typing import TYPE_CHECKING

from fastapi import Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse
from starlette.types import ASGIApp

from vcrgen.core.errors import DatabaseError, LeaderboardError
from vcrgen.core.extras import needs_extra
from vcrgen.core.reading import encodable
from vcrgen.leaderboard.api import as_json, event_as_json
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.pages import CachedPage, LivePages
from vcrgen.leaderboard.records import SubmissionStatus
from vcrgen.leaderboard.service.maintainers import MaintainerRoutes
from vcrgen.leaderboard.service.teams import FORM_PAGES, NO_STORE, UNKNOWN, TeamRoutes, is_token_request
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.listing import TableRequest
from vcrgen.leaderboard.site.render import policy
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import MAX_DIGITS
from vcrgen.leaderboard.store.models import ladder_feedback, submission_cells
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.web.app import guard_app, new_app
from vcrgen.web.authentication import TokenAuthenticator
from vcrgen.web.error_handlers import NOT_THERE
from vcrgen.web.responses import Refusal

if TYPE_CHECKING:
    from vcrgen.leaderboard.service.sign_in import SignInRoutes

TYPES = {
    "html": "text/html",
    "md": "text/markdown",
    "csv": "text/csv",
    "latex": "text/plain",
    "json": "application/json",
}
MAX_EVENTS = 500  # in one answer
COMPARED = {"a", "b", "first", "second"}  # parameters of the page on which two models are chosen


def make_app(board: Board, worker_alive: Callable[[], bool]) -> ASGIApp:
    """The service of a board.

    Args:
        worker_alive: Tells the health page whether the process that scores is there.
    """
    service = _Service(board, worker_alive)
    app = new_app()
    app.add_api_route("/", service.page)
    app.add_api_route("/health", service.health)
    app.add_api_route("/events.json", service.events)
    tokens = TokenAuthenticator(401, UNKNOWN)
    if board.settings.oidc:
        sign_in_routes(board, service.pages).add_to(app)
    for routes in (TeamRoutes, MaintainerRoutes):
        routes(board, service.pages, tokens).add_to(app)
    app.add_api_route("/api/submissions/{submission_id}", service.submission)
    app.add_api_route("/{name}", service.page)
    return guard_app(
        app,
        "board",
        lambda title, text: service.pages.now().message(title, text),
        policy=policy(),
        file_bytes=board.settings.file_mb << 20,
        requests_per_minute=board.settings.requests_per_minute,
        has_token=is_token_request,
    )


def sign_in_routes(board: Board, pages: LivePages) -> SignInRoutes:
    """The routes of signing in, which need packages of their own.

    Raises:
        LeaderboardError: The packages of the extra are not installed.
        ServiceError: A provider cannot be asked safely.
    """
    try:
        from vcrgen.leaderboard.service.sign_in import SignInRoutes
    except ModuleNotFoundError as missing:
        raise LeaderboardError(needs_extra("Sign-in", "oidc", missing.name)) from None
    return SignInRoutes(board, pages)


def _answer(request: Request, page: CachedPage, kind: str) -> Response:
    """A page that may be kept: packed for those who can unpack it, and not sent to those who have it."""
    headers = {"cache-control": "no-cache", "etag": page.tag, "vary": "accept-encoding"}
    if page.tag in {tag.strip() for tag in request.headers.get("if-none-match", "").split(",")}:
        return Response(status_code=304, headers=headers)
    accepted = {name.strip().lower() for name in request.headers.get("accept-encoding", "").split(",")}
    if page.packed and "gzip" in accepted:  # whoever gives it a weight is sent the page as it is
        return Response(page.packed, media_type=kind, headers=headers | {"content-encoding": "gzip"})
    return Response(page.body, media_type=kind, headers=headers)


class _Service:
    """Handlers of the routes."""

    def __init__(self, board: Board, worker_alive: Callable[[], bool]) -> None:
        self._board = board
        self._worker_alive = worker_alive
        self.pages = LivePages(board)

    def page(self, request: Request, name: str = names.INDEX) -> Response:
        """A page or a file of the board."""
        if name == names.COMPARE and COMPARED & request.query_params.keys():
            address, page_to_choose = self.pages.choose(request.query_params)
            return RedirectResponse(address, status_code=303) if address else HTMLResponse(page_to_choose)
        if name in FORM_PAGES:  # where a browser stays when a form was rejected
            return RedirectResponse(f"{name}.html", status_code=303)
        parsed = names.parse_name(name)
        if name == names.SUBMIT:
            return HTMLResponse(self.pages.now().submit({}, []))
        if name == names.TEAM:
            return HTMLResponse(self.pages.team("", "", []))
        if name == names.MANAGE:
            return HTMLResponse(self.pages.manage("", []))
        if parsed is not None and parsed[0] == "submission":
            text = self.pages.status(parsed[1])
            if text is None:
                raise Refusal(404, NOT_THERE)
            return HTMLResponse(encodable(text), headers=NO_STORE)  # a problem can quote what no page can hold
        if (file := self.pages.sample_file(name)) is not None:
            return FileResponse(file, media_type="application/jsonl", filename=name)
        if (page := self.pages.get(name, TableRequest.parse(request.query_params))) is None:
            raise Refusal(404, NOT_THERE)
        return _answer(request, page, TYPES[name.rpartition(".")[2]])

    def events(self, after: str = "0") -> Response:
        """The next lines of the history after a number, for programs."""
        if not (after.isascii() and after.isdigit() and len(after) <= MAX_DIGITS):
            raise Refusal(400, "`after` is the number of a line of the history, such as events.json?after=120.")
        with self._board.reading() as connection:
            lines = BoardReader(self._board.settings, connection).events(after=int(after), most=MAX_EVENTS)
        return JSONResponse({"events": list(map(event_as_json, lines))}, headers={"cache-control": "no-cache"})

    def health(self) -> Response:
        """Report whether the board can be read, and whether new submissions will be scored."""
        try:
            with self._board.reading() as connection:
                waiting = submissions.count(connection, statuses=[SubmissionStatus.QUEUED, SubmissionStatus.SCORING])
        except DatabaseError:
            return JSONResponse({"status": "database cannot be reached"}, status_code=503)
        folders = self._board.folder, gettempdir()  # of the database and of temporary files
        free = min(self._board.vault.free(), *(shutil.disk_usage(folder).free for folder in folders))
        if free < 2 * self._board.settings.file_mb << 20:  # a file is there twice while it is taken
            full = {"status": "the disk is full", "free_mb": free >> 20, "waiting": waiting}
            return JSONResponse(full, status_code=503)
        alive = self._worker_alive()
        status = "ok" if alive else "nothing is scored: the worker is not there"
        return JSONResponse({"status": status, "waiting": waiting}, status_code=200 if alive else 503)

    def submission(self, submission_id: str) -> Response:
        """The status of a submission with its problems or scores, for whoever knows its id."""
        if names.parse_name(names.status_name(submission_id)) is None:
            raise Refusal(404, "There is no such submission.")
        with self.pages.reader() as reader:
            submission = submissions.find(reader.connection, submission_id)
            if submission is None:
                raise Refusal(404, "There is no such submission.")
            cells = submission_cells(reader, submission.id) if submission.status is SubmissionStatus.SCORED else ()
            feedback = ladder_feedback(reader, submission)
        return JSONResponse(as_json(submission, cells, feedback), headers={"cache-control": "no-store"})
