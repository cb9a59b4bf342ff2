"""Work of teams with their token: submit or check a file, list submissions, and choose those that count."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.datastructures import FormData, UploadFile
from starlette.types import Scope

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.reading import encodable
from vcrgen.leaderboard.api import team_as_json
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.checking import check_in_subprocess
from vcrgen.leaderboard.commands import choose, take_back
from vcrgen.leaderboard.intake import DuplicateSubmission, LimitReached, accept
from vcrgen.leaderboard.model_facts import check_facts
from vcrgen.leaderboard.pages import LivePages
from vcrgen.leaderboard.records import Submission
from vcrgen.leaderboard.settings import absolute_url
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.store.models import team_page
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.store.teams import team_of
from vcrgen.web import responses
from vcrgen.web.authentication import TokenAuthenticator, TooManyGuesses
from vcrgen.web.forms import form_texts, open_form
from vcrgen.web.guards import name_sender
from vcrgen.web.rate import RateLimiter
from vcrgen.web.responses import Refusal

UNKNOWN = "The token is missing, or not one of this board, or was revoked; the maintainers give tokens."
LIMIT_SECONDS = 3600  # a team's limits are of a day, and free again bit by bit
CHECKS_PER_TEAM, CHECKS_SECONDS = 60, 3600  # that a team may ask for
CONCURRENT_UPLOADS = (
    4  # that are stored at once: the database writes one at a time, and pages need threads and connections, too
)
CONCURRENT_CHECKS = 1  # files at once: each takes a core
FORM_PAGES = ("submit", "team", "manage")  # where forms with a token go
FACTS = ("model", "link", "access", "size", "released")
FIELDS = (*FACTS, "set", "private", "check", "choose", "take_back")
NO_STORE = {"cache-control": "no-store"}


def is_token_request(scope: Scope) -> bool:
    """Whether a request is authorised by a token alone, wherever it comes from."""
    path = scope["path"]
    if path == "/api/team":
        return True
    posted = (
        path.removeprefix("/") in FORM_PAGES
        or path in ("/api/submissions", "/api/validate")
        or path.endswith(("/choose", "/take-back"))
    )
    return scope["method"] == "POST" and posted


class TeamRoutes:
    """The routes for teams."""

    def __init__(self, board: Board, pages: LivePages, tokens: TokenAuthenticator) -> None:
        self._board = board
        self._pages = pages
        self._tokens = tokens
        self._uploads, self._checking = CapacityLimiter(CONCURRENT_UPLOADS), CapacityLimiter(CONCURRENT_CHECKS)
        self._under_check: set[str] = set()  # teams
        self._checks = RateLimiter(CHECKS_PER_TEAM, CHECKS_SECONDS)

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to a service."""
        app.add_api_route("/submit", self.submit_page, methods=["POST"])
        app.add_api_route("/team", self.team_page, methods=["POST"])
        app.add_api_route("/api/submissions", self.submit_api, methods=["POST"])
        app.add_api_route("/api/validate", self.validate_api, methods=["POST"])
        app.add_api_route("/api/team", self.team_api)
        app.add_api_route("/api/submissions/{submission_id}/choose", self.choose_api, methods=["POST"])
        app.add_api_route("/api/submissions/{submission_id}/take-back", self.take_back_api, methods=["POST"])

    async def submit_page(self, request: Request) -> Response:
        """The form of a file, which is submitted or, with its other button, only checked."""
        values: dict[str, str] = {}
        problems: list[str] = []
        status, headers = 200, {}
        try:
            async with self._form(request, values) as (team, form):
                if not values["check"]:
                    submission = await self._submit(team, form, values, "page")
                    return RedirectResponse(names.status_name(submission.id), status_code=303)
                problems = list(await self._check(team, form, values))
                status = 400 if problems else 200
        except TooManyGuesses as refusal:
            return responses.plain_response(request.scope, refusal.status, refusal.text)
        except Refusal as refusal:
            problems, status, headers = [refusal.text], refusal.status, refusal.headers
        text = await run_in_threadpool(lambda: self._pages.now().submit(values, problems, checked=status == 200))
        return HTMLResponse(encodable(text), status_code=status, headers=headers)

    async def submit_api(self, request: Request) -> Response:
        """A file of outputs with its facts as a form."""
        values: dict[str, str] = {}
        async with self._form(request, values) as (team, form):
            submission = await self._submit(team, form, values, "api")
        page = absolute_url(self._board.settings, str(request.base_url), names.status_name(submission.id))
        return JSONResponse({"id": submission.id, "status": submission.status.value, "page": page}, status_code=202)

    async def validate_api(self, request: Request) -> Response:
        """Check a file without keeping it; a check costs no quota."""
        values: dict[str, str] = {}
        async with self._form(request, values) as (team, form):
            problems = await self._check(team, form, values)
        return JSONResponse({"ok": not problems, "problems": [encodable(problem) for problem in problems]})

    async def team_page(self, request: Request) -> Response:
        """A team's files and what is left to it, after it has chosen one of them if it says so."""
        values: dict[str, str] = {}
        problems: list[str] = []
        try:
            async with self._form(request, values) as (team, form):
                token = form_texts(form, ["token"])["token"]
            choice, taken_back = values["choose"], values["take_back"]
            if choice or taken_back:
                try:
                    await run_in_threadpool(self._choose, team, choice or taken_back, back=not choice)
                except Refusal as refusal:
                    problems = [refusal.text]
            text = await run_in_threadpool(self._pages.team, team, token, problems)
        except TooManyGuesses as refusal:
            return responses.plain_response(request.scope, refusal.status, refusal.text)
        except Refusal as refusal:
            text = await run_in_threadpool(self._pages.team, "", "", [refusal.text])
            return HTMLResponse(text, status_code=refusal.status, headers=refusal.headers | NO_STORE)
        return HTMLResponse(encodable(text), headers=NO_STORE, status_code=400 if problems else 200)

    def team_api(self, request: Request) -> Response:
        """The same as JSON."""
        team = self._team(request, responses.bearer_token(request))
        with self._board.reading() as connection:
            reader = BoardReader(self._board.settings, connection)
            values = team_as_json(team_page(reader, team), reader.sets, self._board.settings.file_mb)
            return JSONResponse(values, headers=NO_STORE)

    def choose_api(self, request: Request, submission_id: str) -> Response:
        """Make a file the one that counts for its model."""
        return self._choose_api(request, submission_id, back=False)

    def take_back_api(self, request: Request, submission_id: str) -> Response:
        """Leave to the rule again what counts for a model."""
        return self._choose_api(request, submission_id, back=True)

    def _choose_api(self, request: Request, submission_id: str, *, back: bool) -> Response:
        file = self._choose(self._team(request, responses.bearer_token(request)), submission_id, back=back)
        return JSONResponse({"id": file.id, "model": file.facts.model, "set": file.set}, headers=NO_STORE)

    @asynccontextmanager
    async def _form(self, request: Request, values: dict[str, str]) -> AsyncIterator[tuple[str, FormData]]:
        """The team and the form of a request; ``values`` gets the fields, but for the token, as soon as they are there.

        A program's token stands in a header, a browser's in the form, and either is looked up before a file is kept.
        """
        team = ""
        if is_api := responses.wants_json(request.scope):
            team = await run_in_threadpool(self._team, request, responses.bearer_token(request))
            name_sender(request.scope, f"team {team}")

        async def admit(form: FormData) -> None:
            nonlocal team
            values.update(form_texts(form, FIELDS))
            if not is_api:
                if "token" not in form:
                    raise Refusal(401, "There is no token; its field has to stand before the file.")
                team = await run_in_threadpool(self._team, request, form_texts(form, ["token"])["token"])
                name_sender(request.scope, f"team {team}")

        async with open_form(request, fields=2 * len(FIELDS), admit=admit) as form:
            values.update(form_texts(form, FIELDS))
            yield team, form

    def _team(self, request: Request, token: str) -> str:
        with self._board.reading() as connection:
            team = team_of(connection, token)
        return self._tokens.authenticate(request, team)

    def _choose(self, team: str, submission_id: str, *, back: bool) -> Submission:
        act = take_back if back else choose
        try:
            return act(self._board, submission_id, team=team, actor=f"team {team}")
        except LeaderboardError as problem:
            raise Refusal(400, str(problem)) from None

    async def _check(self, team: str, form: FormData, values: Mapping[str, str]) -> Sequence[str]:
        if self._checks.is_full(team):
            raise Refusal(429, f"Your team has had {CHECKS_PER_TEAM} files checked in an hour; wait a little.")
        if team in self._under_check:  # so teams take turns: each has one place in the queue
            raise Refusal(429, "A check of your team is under way; wait for its answer.")
        self._checks.record(team)
        file = _file(form)
        check = partial(check_in_subprocess, self._board, values["set"], file.file, name=file.filename)
        self._under_check.add(team)
        try:
            return await to_thread.run_sync(check, limiter=self._checking)
        except LeaderboardError as problem:
            raise Refusal(400, str(problem)) from None
        finally:
            self._under_check.discard(team)

    async def _submit(self, team: str, form: FormData, values: Mapping[str, str], channel: str) -> Submission:
        return await to_thread.run_sync(self._accept, team, form, values, channel, limiter=self._uploads)

    def _accept(self, team: str, form: FormData, values: Mapping[str, str], channel: str) -> Submission:
        file = _file(form)
        try:
            facts = check_facts(team=team, **{name: values[name] for name in FACTS})
            return accept(
                self._board,
                facts,
                file.file,
                set_name=values["set"],
                name=file.filename,
                channel=channel,
                actor=f"team {team}",
                limited=True,
                private=bool(values["private"]),
            )
        except DuplicateSubmission as problem:
            raise Refusal(409, str(problem), problem.id) from None
        except LimitReached as problem:
            raise Refusal(429, str(problem), seconds=LIMIT_SECONDS) from None
        except LeaderboardError as problem:
            raise Refusal(400, str(problem)) from None


def _file(form: FormData) -> UploadFile:
    file = form.get("file")
    if not isinstance(file, UploadFile) or (file.size == 0 and not file.filename):
        raise Refusal(400, "There is no file: put the outputs into the field `file`.")
    return file
