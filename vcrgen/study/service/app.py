"""The routes of a study's service."""

import functools
import shutil

from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Scope

from vcrgen.report.templating import Templates, page_templates
from vcrgen.study.page_texts import texts_for
from vcrgen.study.records import StudyDesign
from vcrgen.study.service.maintainers import MAINTAIN, StudyMaintainerRoutes
from vcrgen.study.service.raters import RaterRoutes
from vcrgen.study.service.visitors import VisitorRoutes
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.visitors import LastSigns
from vcrgen.web.app import guard_app, new_app
from vcrgen.web.authentication import TokenAuthenticator
from vcrgen.web.error_handlers import NOT_THERE
from vcrgen.web.limits import REQUESTS_PER_MINUTE

BODY_BYTES = 1 << 20  # of what a rater typed at one step
FREE_BYTES = 16 * BODY_BYTES  # on the disk, less than which is a full one: an answer is written twice


def make_app(store: StudyStore) -> ASGIApp:
    """The service of a study."""
    app = new_app()
    app.add_api_route(
        "/",
        lambda: HTMLResponse(
            message(texts_for(design).page["en"]["title"], "Open the link that you were given.", pages)
        ),
    )
    app.add_api_route("/health", lambda: _health(store))
    with store.reading() as connection:
        design = read_design(connection)
    pages = templates_for(design)
    tokens = TokenAuthenticator(404, NOT_THERE)
    signs = LastSigns()
    raters = RaterRoutes(store, pages, tokens, signs)
    raters.add_to(app)
    VisitorRoutes(store, pages, tokens, raters, signs).add_to(app)
    StudyMaintainerRoutes(store, pages, tokens).add_to(app)
    return guard_app(
        app,
        "study",
        functools.partial(message, pages=pages),
        policy=pages.policy(header=True),
        file_bytes=BODY_BYTES,
        requests_per_minute=REQUESTS_PER_MINUTE,
        has_token=_has_token,
        anonymous=True,
    )


def message(title: str, text: str, pages: Templates) -> str:
    """A page that says one sentence."""
    return pages.render("message.html", title=title, text=text)


def templates_for(design: StudyDesign) -> Templates:
    """The templates of the pages of a study: options or an item of an audit take the place of fields."""
    style, script = "page.css", "rater.js"
    if design.draw:
        style, script = "page.css choices.css question.css audit_step.css", "rater.js audit_step.js"
    elif design.is_mcq:
        style, script = "page.css choices.css", "rater.js choices.js"
    package = "vcrgen.study vcrgen.bloom.audit"
    return page_templates(package, style=style, script=script, forms=True, fetches=True)


def _health(store: StudyStore) -> Response:
    """Report whether the study can be read, and whether there is room for answers."""
    with store.reading() as connection:
        read_design(connection)
    free = shutil.disk_usage(store.folder).free
    if free < FREE_BYTES:
        return JSONResponse({"status": "the disk is full", "free_mb": free >> 20}, status_code=503)
    return JSONResponse({"status": "ok"})


def _has_token(scope: Scope) -> bool:
    """Whether a request is let in by a token: many raters may sit behind one address."""
    path: str = scope["path"]
    return path.startswith(("/r/", "/api/", "/join/")) or (path == MAINTAIN and scope["method"] == "POST")
