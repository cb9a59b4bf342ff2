"""What teams do with their token: hand in a file, check one, see what they have, and choose what counts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.datastructures import FormData, UploadFile
from starlette.types import Scope

from vcrgen.errors import LeaderboardError
from vcrgen.leaderboard.api import team_as_json
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.checking import check_apart
from vcrgen.leaderboard.commands import choose
from vcrgen.leaderboard.facts import check_facts
from vcrgen.leaderboard.intake import AlreadyThere, LimitReached, accept
from vcrgen.leaderboard.records import Submission
from vcrgen.leaderboard.service.pages import LivePages
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.store.teams import team_of
from vcrgen.leaderboard.views import Views
from vcrgen.reading import encodable
from vcrgen.web import answers
from vcrgen.web.answers import Refusal
from vcrgen.web.guesses import Guessing, TokenOwners
from vcrgen.web.rate import Rate

UNKNOWN = "The token is not one of this board, or was revoked; the maintainers give tokens."
LIMIT_SECONDS = 3600  # a team's limits are of a day, and free again bit by bit
CHECKS, CHECKS_SECONDS = 60, 3600  # that a team may ask for
UPLOADS = 4  # that are stored at once: the database writes one at a time, and pages need threads and connections, too
CHECKED = 1  # files at once: each takes a core
SENT = ("submit", "team", "manage")  # where forms with a token go
FACTS = ("model", "link", "access", "size", "released")
FIELDS = (*FACTS, "set", "private", "check", "choose")
UNKEPT = {"cache-control": "no-store"}


def by_token(scope: Scope) -> bool:
    """Whether a request is let in by a token alone, wherever it comes from; without a right one it does nothing."""
    path = scope["path"]
    if path == "/api/team":
        return True
    posted = path.removeprefix("/") in SENT or path in ("/api/submissions", "/api/validate") or path.endswith("/choose")
    return scope["method"] == "POST" and posted


class TeamRoutes:
    """The routes for teams."""

    def __init__(self, board: Board, pages: LivePages, tokens: TokenOwners) -> None:
        self._board = board
        self._pages = pages
        self._tokens = tokens
        self._uploads, self._checking = CapacityLimiter(UPLOADS), CapacityLimiter(CHECKED)
        self._checks = Rate(CHECKS, CHECKS_SECONDS)

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to a service."""
        app.add_api_route("/submit", self.submit_page, methods=["POST"])
        app.add_api_route("/team", self.team_page, methods=["POST"])
        app.add_api_route("/api/submissions", self.submit_api, methods=["POST"])
        app.add_api_route("/api/validate", self.validate_api, methods=["POST"])
        app.add_api_route("/api/team", self.team_api)
        app.add_api_route("/api/submissions/{submission_id}/choose", self.choose_api, methods=["POST"])

    async def submit_page(self, request: Request) -> Response:
        """The form of a file, which is handed in or, with its other button, only checked."""
        values: dict[str, str] = {}
        problems: list[str] = []
        status, headers = 200, {}
        try:
            async with self._form(request, values) as (team, form):
                if not values["check"]:
                    submission = await self._taken(team, form, values, "page")
                    return RedirectResponse(names.status_name(submission.id), status_code=303)
                problems = list(await self._checked(team, form, values))
                status = 400 if problems else 200
        except Guessing as refusal:
            return answers.plain_answer(request.scope, refusal.status, refusal.text)
        except Refusal as refusal:
            problems, status, headers = [refusal.text], refusal.status, refusal.headers
        text = await run_in_threadpool(self._pages.submit, values, problems, status == 200)
        return HTMLResponse(encodable(text), status_code=status, headers=headers)

    async def submit_api(self, request: Request) -> Response:
        """A file of outputs with its facts as a form."""
        values: dict[str, str] = {}
        async with self._form(request, values) as (team, form):
            submission = await self._taken(team, form, values, "api")
        page = f"../{names.status_name(submission.id)}"
        return JSONResponse({"id": submission.id, "state": submission.state.value, "page": page}, status_code=202)

    async def validate_api(self, request: Request) -> Response:
        """What would keep a file from being scored; it is not kept, and costs no try."""
        values: dict[str, str] = {}
        async with self._form(request, values) as (team, form):
            problems = await self._checked(team, form, values)
        return JSONResponse({"ok": not problems, "problems": [encodable(problem) for problem in problems]})

    async def team_page(self, request: Request) -> Response:
        """A team's files and what is left to it, after it has chosen one of them if it says so."""
        values: dict[str, str] = {}
        problems: list[str] = []
        try:
            async with self._form(request, values) as (team, form):
                token = answers.texts_of(form, ["token"])["token"]
            if values["choose"]:
                try:
                    await run_in_threadpool(self._choose, team, values["choose"])
                except Refusal as refusal:
                    problems = [refusal.text]
            text = await run_in_threadpool(self._pages.team, team, token, problems)
        except Guessing as refusal:
            return answers.plain_answer(request.scope, refusal.status, refusal.text)
        except Refusal as refusal:
            text = await run_in_threadpool(self._pages.team, "", "", [refusal.text])
            return HTMLResponse(text, status_code=refusal.status, headers=refusal.headers | UNKEPT)
        return HTMLResponse(encodable(text), headers=UNKEPT, status_code=400 if problems else 200)

    def team_api(self, request: Request) -> Response:
        """The same as JSON."""
        team = self._team(request, answers.bearer_of(request))
        with self._board.reading() as connection:
            return JSONResponse(team_as_json(Views(self._board, connection).team(team)), headers=UNKEPT)

    def choose_api(self, request: Request, submission_id: str) -> Response:
        """Make a file the one that counts for its model."""
        chosen = self._choose(self._team(request, answers.bearer_of(request)), submission_id)
        return JSONResponse({"id": chosen.id, "model": chosen.facts.model, "set": chosen.set}, headers=UNKEPT)

    @asynccontextmanager
    async def _form(self, request: Request, values: dict[str, str]) -> AsyncIterator[tuple[str, FormData]]:
        """The team and the form of a request; ``values`` gets the fields, but for the token, as soon as they are there.

        A program's token stands in a header, a browser's in the form, and either is looked up before a file is kept.
        """
        team = ""
        if is_api := answers.for_programs(request.scope):
            team = await run_in_threadpool(self._team, request, answers.bearer_of(request))

        async def admit(form: FormData) -> None:
            nonlocal team
            values.update(answers.texts_of(form, FIELDS))
            if not is_api:
                if "token" not in form:
                    raise Refusal(401, "There is no token; its field has to stand before the file.")
                team = await run_in_threadpool(self._team, request, answers.texts_of(form, ["token"])["token"])

        async with answers.form_of(request, fields=2 * len(FIELDS), admit=admit) as form:
            values.update(answers.texts_of(form, FIELDS))
            yield team, form

    def _team(self, request: Request, token: str) -> str:
        with self._board.reading() as connection:
            found = team_of(connection, token)
        return self._tokens.owner(request, found)

    def _choose(self, team: str, submission_id: str) -> Submission:
        try:
            return choose(self._board, submission_id, team=team, actor=f"team {team}")
        except LeaderboardError as problem:
            raise _refused(problem) from None

    async def _checked(self, team: str, form: FormData, values: Mapping[str, str]) -> Sequence[str]:
        if self._checks.full(team):
            raise Refusal(429, f"Your team has had {CHECKS} files checked in an hour; wait a little.")
        self._checks.note(team)
        file = _file(form)
        check = partial(check_apart, self._board, values["set"], file.file, name=file.filename)
        try:
            return await to_thread.run_sync(check, limiter=self._checking)
        except LeaderboardError as problem:
            raise _refused(problem) from None

    async def _taken(self, team: str, form: FormData, values: Mapping[str, str], channel: str) -> Submission:
        return await to_thread.run_sync(self._take, team, form, values, channel, limiter=self._uploads)

    def _take(self, team: str, form: FormData, values: Mapping[str, str], channel: str) -> Submission:
        file = _file(form)
        try:
            facts = check_facts(team=team, **{name: values[name] for name in FACTS})
            return accept(
                self._board, facts, file.file, set_name=values["set"], name=file.filename, channel=channel,
                actor=f"team {team}", limited=True, private=bool(values["private"]),
            )  # fmt: skip
        except AlreadyThere as problem:
            raise Refusal(409, str(problem), problem.id) from None
        except LimitReached as problem:
            raise Refusal(429, str(problem), seconds=LIMIT_SECONDS) from None
        except LeaderboardError as problem:
            raise _refused(problem) from None


def _file(form: FormData) -> UploadFile:
    file = form.get("file")
    if not isinstance(file, UploadFile) or (file.size == 0 and not file.filename):
        raise Refusal(400, "There is no file: put the outputs into the field `file`.")
    return file


def _refused(problem: LeaderboardError) -> Exception:
    """What a team is told of a problem: its sentence, unless it is the database's and not the team's."""
    return problem if problem.__cause__ is not None else Refusal(400, str(problem))
