"""The page for maintainers: the progress of raters, and a button for each rater who has dropped out."""

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from starlette.datastructures import FormData

from vcrgen.core.errors import StudyError
from vcrgen.report.templating import Templates
from vcrgen.study.grading import finished_steps
from vcrgen.study.progress import live_agreement
from vcrgen.study.raters import rater_by_name, withdraw
from vcrgen.study.records import RaterState
from vcrgen.study.service.raters import UNKEPT
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import is_maintainer, read_design
from vcrgen.study.store.raters import read_raters
from vcrgen.study.store.steps import read_steps
from vcrgen.web.authentication import TokenAuthenticator
from vcrgen.web.forms import form_texts, open_form
from vcrgen.web.tokens import token_hash

MAINTAIN = "/maintain"
FIELDS = ("token", "end")


class StudyMaintainerRoutes:
    """The routes for maintainers; each request acts by the token in its own body."""

    def __init__(self, store: StudyStore, templates: Templates, tokens: TokenAuthenticator) -> None:
        self._store = store
        self._templates = templates
        self._tokens = tokens

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to a service."""
        app.add_api_route(MAINTAIN, lambda: HTMLResponse(self._page("", []), headers=UNKEPT))
        app.add_api_route(MAINTAIN, self.maintain, methods=["POST"])

    async def maintain(self, request: Request) -> Response:
        """Show the progress, after ending the participation of a rater that the form names."""

        async def admit(form: FormData) -> None:
            token = form_texts(form, FIELDS)["token"]
            self._tokens.authenticate(request, await run_in_threadpool(self._is_maintainer, token))

        async with open_form(request, fields=2 * len(FIELDS), admit=admit) as form:
            values = form_texts(form, FIELDS)
        problems = await run_in_threadpool(self._end, values["end"]) if values["end"] else []
        page = await run_in_threadpool(self._page, values["token"], problems)
        return HTMLResponse(page, status_code=400 if problems else 200, headers=UNKEPT)

    def _is_maintainer(self, token: str) -> bool | None:
        with self._store.reading() as connection:
            return is_maintainer(connection, token_hash(token)) or None

    def _end(self, name: str) -> list[str]:
        try:
            with self._store.reading() as connection:
                rater = rater_by_name(read_raters(connection), name)
        except StudyError as problem:
            return [str(problem)]
        if rater.state in (RaterState.INVITED, RaterState.WORKING):
            withdraw(self._store, rater)
        return []

    def _page(self, token: str, problems: list[str]) -> str:
        if not token:
            return self._templates.render(
                "maintain.html", title="For maintainers", token="", problems=[], rows=None, given=0, wanted=0
            )
        with self._store.reading() as connection:
            design, raters = read_design(connection), read_raters(connection)
            steps = read_steps(connection)
        rows = []
        for rater in raters:
            mine = [step for step in steps if step.rater == rater.number]
            done = sum(step.done for step in mine)
            seconds = sum(step.took or 0.0 for step in mine)
            rows.append((rater, done, len(mine), seconds / 60, rater.state in (RaterState.INVITED, RaterState.WORKING)))
        return self._templates.render(
            "maintain.html",
            title="For maintainers",
            token=token,
            problems=problems,
            rows=rows,
            given=len(finished_steps(steps)),
            wanted=len(design.slots()),
            agreement=live_agreement(design, steps),
        )
