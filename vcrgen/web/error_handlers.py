"""Handlers of errors: a page for people, JSON for programs, a line in the log."""

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

from vcrgen.core.errors import VcrgenError
from vcrgen.core.files import DISK_FULL
from vcrgen.web import responses
from vcrgen.web.guards import BodyRefused
from vcrgen.web.log import log_line, raised_at
from vcrgen.web.responses import Refusal

FULL = (*DISK_FULL, errno.EFBIG)  # or a file is larger than the system allows
TITLES = {
    400: "That cannot be taken",
    401: "Unknown token",
    403: "Not from here",
    404: "There is no such page",
    405: "That is not possible here",
    408: "Too slow",
    409: "Handed in before",
    413: "Too large",
    429: "Too much for now",
    500: "Something broke",
    503: "Not just now",
}
NOT_THERE = "It may have been moved, or it was never there."


class ErrorHandlers:
    """Responses to requests that fail.

    Args:
        name: Of the service, for people: ``board``.
        page: Makes the page of a title and a sentence; it may raise a `VcrgenError` where it cannot be made now.
    """

    def __init__(self, name: str, page: Callable[[str, str], str]) -> None:
        self._name = name
        self._page = page

    def add_to(self, app: FastAPI) -> None:
        """Add the handlers to a service."""
        for kind in (HTTPException, Refusal, BodyRefused):
            app.add_exception_handler(kind, self.handle_refusal)
        app.add_exception_handler(OSError, self.handle_disk_error)
        app.add_exception_handler(ClientDisconnect, self.handle_disconnect)
        app.add_exception_handler(VcrgenError, self.handle_unavailable)
        app.add_exception_handler(Exception, self.handle_fault)

    def handle_refusal(self, request: Request, problem: Exception) -> Response:
        """Answer a request that is refused, or that has an unknown address or method."""
        match problem:
            case Refusal():
                return self._answer(request.scope, problem.status, problem.text, problem.about, problem.headers)
            case HTTPException():
                text = NOT_THERE if problem.status_code == 404 else str(problem.detail)
                return self._answer(request.scope, problem.status_code, text, headers=problem.headers)
            case BodyRefused():
                return self._answer(request.scope, problem.status, str(problem))
        raise problem

    def handle_disconnect(self, request: Request, problem: Exception) -> Response:
        """Answer a client that hung up in the middle of its request; nobody reads this."""
        return Response(status_code=responses.CLIENT_CLOSED_REQUEST)

    def handle_disk_error(self, request: Request, problem: Exception) -> Response:
        """Answer where a file could not be written, for which the log has the reason."""
        if not isinstance(problem, OSError) or problem.errno not in FULL:
            return self.handle_fault(request, problem)
        log_line("disk full", reason=os.strerror(problem.errno), where=raised_at(problem))
        text = f"The {self._name} has no room for files just now; its maintainers are told."
        return self._answer(request.scope, 503, text)

    def handle_unavailable(self, request: Request, problem: Exception) -> Response:
        """Answer where the database cannot be used; only the log has the reason."""
        log_line("unavailable", reason=str(problem))
        return responses.plain_response(
            request.scope, 503, f"The {self._name} cannot be read just now; try again soon."
        )

    def handle_fault(self, request: Request, problem: Exception) -> Response:
        """Answer after an error of ours: its class goes to the log, its text nowhere."""
        number = uuid4().hex[:12]
        log_line("fault", number=number, kind=type(problem).__name__, where=raised_at(problem))
        return responses.plain_response(
            request.scope, 500, f"Something broke; tell the maintainers the number {number}."
        )

    def refuse_unread(self, scope: Scope, status: int, text: str) -> ASGIApp:
        """The response to a request whose body is not read; to one too many, with as little work as can be."""
        return responses.plain_response(scope, status, text) if status == 429 else self._answer(scope, status, text)

    def _answer(
        self, scope: Scope, status: int, text: str, about: str = "", headers: Mapping[str, str] | None = None
    ) -> Response:
        """A sentence, as JSON for programs and as a page for people; as plain text if no page can be made."""
        page = ""
        if not responses.wants_json(scope):
            with suppress(VcrgenError):
                page = self._page(TITLES.get(status, "That is not possible"), text)
        answer = (
            HTMLResponse(page, status_code=status) if page else responses.plain_response(scope, status, text, about)
        )
        answer.headers.update({**responses.STATUS_HEADERS.get(status, {}), **(headers or {})})
        return answer
