"""Answers of a service: a sentence for whoever is refused, as JSON for programs and as text for people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from vcrgen.reading import encodable

MAX_FIELD = 2000  # characters of a field of a form
HUNG_UP = 499  # the status, for the log, of a client that went away
MORE_HEADERS = {401: {"www-authenticate": "Bearer"}, 429: {"retry-after": "60"}, 503: {"retry-after": "10"}}


class Refusal(Exception):
    """A request that gets an HTTP status and a sentence instead of what it asked for.

    ``about`` is the id of what the sentence is about, and after so many seconds another try may go well.
    """

    def __init__(self, status: int, text: str, about: str = "", seconds: int | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.about = status, text, about
        self.headers = MORE_HEADERS.get(status, {}) | ({} if seconds is None else {"retry-after": str(seconds)})


def plain_answer(scope: Scope, status: int, text: str, about: str = "") -> Response:
    """A sentence without a page around it: for programs, and where a page would need the database."""
    headers = MORE_HEADERS.get(status)
    if for_programs(scope):
        return JSONResponse({"error": text} | ({"id": about} if about else {}), status_code=status, headers=headers)
    return PlainTextResponse(text, status_code=status, headers=headers)


def for_programs(scope: Scope) -> bool:
    """Whether a request asks the API, so that it wants JSON."""
    return bool(scope["path"].startswith("/api/"))


def without_second_raise(app: ASGIApp) -> ASGIApp:
    """A service without the errors that Starlette raises once more after they have been answered."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(Exception):
            await app(scope, receive, send)

    return call


@asynccontextmanager
async def form_of(request: Request, *, fields: int) -> AsyncIterator[FormData]:
    """The form of a request with at most so many fields; the one file in it is kept in a temporary file.

    Raises:
        Refusal: It is no form, or not in UTF-8.
    """
    try:
        form = await request.form(max_files=1, max_fields=fields, max_part_size=MAX_FIELD)
    except HTTPException as problem:
        raise Refusal(400, f"The form cannot be read: {problem.detail}") from None
    except UnicodeError:
        raise Refusal(400, "The form cannot be read: it has to be in UTF-8.") from None
    try:
        yield form
    finally:
        await form.close()


def texts_of(form: FormData, names: Collection[str]) -> dict[str, str]:
    """The fields of a form by name, empty where they are missing; no half characters, which no page can hold."""
    return {name: encodable(text) if isinstance(text := form.get(name), str) else "" for name in names}
