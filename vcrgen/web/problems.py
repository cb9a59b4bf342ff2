"""What a service says when a request cannot be answered: a page for people, JSON for programs, a line in the log."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from uuid import uuid4

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Scope

from vcrgen.errors import VcrgenError
from vcrgen.web import answers
from vcrgen.web.answers import Refusal
from vcrgen.web.guards import BodyRefused
from vcrgen.web.log import log_line, place_of

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no room on the disk, in the quota, under the limit on files
TITLES = {
    400: "That cannot be taken", 401: "Unknown token", 403: "Not from here", 404: "There is no such page",
    405: "That is not possible here", 408: "Too slow", 409: "Handed in before", 413: "Too large",
    429: "Too much for now", 500: "Something broke", 503: "Not just now",
}  # fmt: skip
NOT_THERE = "It may have been moved, or it was never there."


class Problems:
    """Answers to requests that fail.

    Args:
        what: What is served, as people call it: ``board``.
        page: The page of a title and a sentence; it may raise a :class:`VcrgenError` where it cannot be made now.
    """

    def __init__(self, what: str, page: Callable[[str, str], str]) -> None:
        self._what = what
        self._page = page

    def add_to(self, app: FastAPI) -> None:
        """Let a service answer so."""
        for kind in (HTTPException, Refusal, BodyRefused):
            app.add_exception_handler(kind, self.refused)
        app.add_exception_handler(OSError, self.no_room)
        app.add_exception_handler(ClientDisconnect, self.gone)
        app.add_exception_handler(VcrgenError, self.unavailable)
        app.add_exception_handler(Exception, self.fault)

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
        text = f"The {self._what} has no room for files just now; its maintainers are told."
        return self._answer(request.scope, 503, text)

    def unavailable(self, request: Request, problem: Exception) -> Response:
        """The database does not answer: for the log, what; for the world, that."""
        log_line("unavailable", reason=str(problem))
        return answers.plain_answer(request.scope, 503, f"The {self._what} cannot be read just now; try again soon.")

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
        """A sentence, as JSON for programs and as a page for people; as plain text if no page can be made."""
        page = ""
        if not answers.for_programs(scope):
            with suppress(VcrgenError):
                page = self._page(TITLES.get(status, "That is not possible"), text)
        answer = HTMLResponse(page, status_code=status) if page else answers.plain_answer(scope, status, text, about)
        answer.headers.update({**answers.MORE_HEADERS.get(status, {}), **(headers or {})})
        return answer
