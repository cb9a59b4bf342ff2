"""The routes of a study's service."""

from __future__ import annotations

import functools

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Scope

from vcrgen.report.pages import Templates
from vcrgen.study import store as db
from vcrgen.study.choice_texts import texts_for
from vcrgen.study.service.maintainers import MAINTAIN, StudyMaintainerRoutes
from vcrgen.study.service.raters import RaterRoutes
from vcrgen.study.store import Store
from vcrgen.web import answers
from vcrgen.web.guards import FORM_BYTES, Guard
from vcrgen.web.guesses import TokenOwners
from vcrgen.web.problems import NOT_THERE, Problems

BODY_BYTES = 1 << 20  # of what a rater typed at one step
REQUESTS_A_MINUTE = 300  # of one address, without a token


def make_app(store: Store) -> ASGIApp:
    """The service of a study."""
    app = FastAPI(openapi_url=None, redirect_slashes=False)
    app.add_api_route(
        "/",
        lambda: HTMLResponse(
            message(texts_for(frozen).page["en"]["title"], "Open the link that you were given.", pages)
        ),
    )
    app.add_api_route("/health", lambda: _health(store))
    with store.reading() as connection:
        frozen = db.read_frozen(connection)
    pages = audit_templates() if frozen.draw else choice_templates() if frozen.choosing else templates()
    guesses = TokenOwners(404, NOT_THERE)
    RaterRoutes(store, pages, guesses).add_to(app)
    StudyMaintainerRoutes(store, pages, guesses).add_to(app)
    problems = Problems("study", functools.partial(message, pages=pages))
    problems.add_to(app)
    return Guard(
        answers.without_second_raise(app), refuse=problems.refuse_unread, policy=pages.policy(header=True),
        most=BODY_BYTES + FORM_BYTES, a_minute=REQUESTS_A_MINUTE, by_token=_by_token, anonymous=True,
    )  # fmt: skip


def message(title: str, text: str, pages: Templates) -> str:
    """A page that says something."""
    return pages.render("message.html", title=title, text=text)


@functools.cache
def templates() -> Templates:
    """The templates of all pages."""
    return Templates("vcrgen.study", style="page.css", script="rater.js", forms=True, fetches=True)


@functools.cache
def choice_templates() -> Templates:
    """The same for a question set, where options take the place of fields."""
    return Templates(
        "vcrgen.study", style="page.css choices.css", script="rater.js choices.js", forms=True, fetches=True
    )


@functools.cache
def audit_templates() -> Templates:
    """The same for an audit, where an item of its offline page takes the place of fields."""
    return Templates(
        "vcrgen.study vcrgen.bloom.audit", style="page.css choices.css item.css audit_step.css",
        script="item.js rater.js audit_step.js", forms=True, fetches=True,
    )  # fmt: skip


def _health(store: Store) -> Response:
    """Whether the study can be read."""
    with store.reading() as connection:
        connection.execute("SELECT 1")
    return JSONResponse({"status": "ok"})


def _by_token(scope: Scope) -> bool:
    """Whether a request is let in by a token: many raters may sit behind one address."""
    path: str = scope["path"]
    return path.startswith(("/r/", "/api/", "/join/")) or (path == MAINTAIN and scope["method"] == "POST")
