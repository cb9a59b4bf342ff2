"""The page for maintainers: how far everybody is, and a button for each rater who has dropped out."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from starlette.datastructures import FormData

from vcrgen.errors import StudyError
from vcrgen.report.pages import Templates
from vcrgen.study import store as db
from vcrgen.study.design import Kind
from vcrgen.study.marks import answered
from vcrgen.study.people import find, leave
from vcrgen.study.records import RaterState
from vcrgen.study.service.raters import UNKEPT
from vcrgen.study.store import Store
from vcrgen.web import answers
from vcrgen.web.guesses import TokenOwners
from vcrgen.web.tokens import hash_of

MAINTAIN = "/maintain"
FIELDS = ("token", "end")


class StudyMaintainerRoutes:
    """The routes for maintainers; each request acts by the token in its own body."""

    def __init__(self, store: Store, templates: Templates, guesses: TokenOwners) -> None:
        self._store = store
        self._templates = templates
        self._guesses = guesses

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to a service."""
        app.add_api_route(MAINTAIN, lambda: HTMLResponse(self._page("", []), headers=UNKEPT))
        app.add_api_route(MAINTAIN, self.maintain, methods=["POST"])

    async def maintain(self, request: Request) -> Response:
        """How far the study is, after a rater's part was ended if the form says so."""

        async def admit(form: FormData) -> None:
            token = answers.texts_of(form, FIELDS)["token"]
            self._guesses.owner(request, await run_in_threadpool(self._is_maintainer, token))

        async with answers.form_of(request, fields=2 * len(FIELDS), admit=admit) as form:
            values = answers.texts_of(form, FIELDS)
        problems = await run_in_threadpool(self._end, values["end"]) if values["end"] else []
        page = await run_in_threadpool(self._page, values["token"], problems)
        return HTMLResponse(page, status_code=400 if problems else 200, headers=UNKEPT)

    def _is_maintainer(self, token: str) -> bool | None:
        with self._store.reading() as connection:
            return db.is_maintainer(connection, hash_of(token)) or None

    def _end(self, name: str) -> list[str]:
        try:
            with self._store.reading() as connection:
                rater = find(db.raters_of(connection), name)
        except StudyError as problem:
            return [str(problem)]
        if rater.phase in (RaterState.INVITED, RaterState.WORKING):
            leave(self._store, rater)
        return []

    def _page(self, token: str, problems: list[str]) -> str:
        if not token:
            return self._templates.render(
                "maintain.html", title="For maintainers", token="", problems=[], rows=None, given=0, wanted=0
            )
        with self._store.reading() as connection:
            frozen, raters = db.read_frozen(connection), db.raters_of(connection)
            places = db.places_of(connection)
        rows = []
        for rater in raters:
            mine = [place for place in places if place.rater == rater.number]
            done = sum(place.done for place in mine)
            seconds = sum(place.response.seconds for place in mine if place.response)
            rows.append((rater, done, len(mine), seconds / 60, rater.phase in (RaterState.INVITED, RaterState.WORKING)))
        return self._templates.render(
            "maintain.html", title="For maintainers", token=token, problems=problems, rows=rows,
            given=len(answered(places, Kind.ITEM)), wanted=len(frozen.slots()),
        )  # fmt: skip
