"""Responses and forms: a sentence for a refused request, as JSON for programs and as text for people."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.types import ASGIApp, Receive, Scope, Send

from vcrgen.reading import encodable
from vcrgen.web.limits import FORM_BYTES, MAX_FIELD

CLIENT_CLOSED_REQUEST = 499  # the status, for the log, of a client that went away
STATUS_HEADERS = {401: {"www-authenticate": "Bearer"}, 429: {"retry-after": "60"}, 503: {"retry-after": "10"}}


class Refusal(Exception):
    """A request that is answered with an HTTP status and a sentence.

    ``about`` is the id that the sentence is about; after so many ``seconds`` another try may go well.
    """

    def __init__(self, status: int, text: str, about: str = "", seconds: int | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.about = status, text, about
        self.headers = STATUS_HEADERS.get(status, {}) | ({} if seconds is None else {"retry-after": str(seconds)})


def plain_response(scope: Scope, status: int, text: str, about: str = "") -> Response:
    """Return a sentence without a page around it: for programs, and where a page would need the database."""
    headers = STATUS_HEADERS.get(status)
    if is_api_request(scope):
        return JSONResponse({"error": text} | ({"id": about} if about else {}), status_code=status, headers=headers)
    return PlainTextResponse(text, status_code=status, headers=headers)


def is_api_request(scope: Scope) -> bool:
    """Return true if a request asks the API, so that it wants JSON."""
    return bool(scope["path"].startswith("/api/"))


def bearer_token(request: Request) -> str:
    """Return the token in the header of a request, or an empty text."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token if kind.lower() == "bearer" else ""


def without_second_raise(app: ASGIApp) -> ASGIApp:
    """Return a service without the errors that Starlette raises once more after they have been answered."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(Exception):
            await app(scope, receive, send)

    return call


@asynccontextmanager
async def open_form(
    request: Request, *, fields: int, admit: Callable[[FormData], Awaitable[None]]
) -> AsyncIterator[FormData]:
    """Read the form of a request with at most so many fields; the one file in it is kept in a temporary file.

    ``admit`` is asked about the fields that have come when ``FORM_BYTES`` have been read, or all of a smaller form. By
    then nothing is on a disk, and nothing will be if it raises an error.

    Raises:
        Refusal: It is no form, or not in UTF-8.
    """
    items: list[tuple[str, str | UploadFile]] = []

    async def parts() -> AsyncGenerator[bytes, None]:
        size, asked = 0, False
        async for part in request.stream():
            yield part
            size += len(part)
            if not asked and size > FORM_BYTES:
                await admit(FormData(items))
                asked = True
        if not asked:  # the last part is empty, so all fields have been taken in
            await admit(FormData(items))

    try:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "multipart/form-data":
            parser = MultiPartParser(request.headers, parts(), max_files=1, max_fields=fields, max_part_size=MAX_FIELD)
            items = parser.items
            form = await parser.parse()
        else:
            items += parse_qsl(await _short_body(request), keep_blank_values=True, max_num_fields=fields)
            form = FormData(items)
            await admit(form)
    except MultiPartException as problem:
        too_long = "maximum size" in problem.message  # which the parser names by another figure
        reason = f"a field has more than {MAX_FIELD:,} bytes." if too_long else problem.message
        raise Refusal(400, f"The form cannot be read: {reason}") from None
    except UnicodeError:
        raise Refusal(400, "The form cannot be read: it has to be in UTF-8.") from None
    except ValueError:
        raise Refusal(400, f"The form cannot be read: it has more than {fields} fields.") from None
    try:
        yield form
    finally:
        await form.close()


async def _short_body(request: Request) -> str:
    """Read the whole body of a form without a file."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > FORM_BYTES:
            raise Refusal(400, "The form cannot be read: with a file it has to be of the type multipart/form-data.")
    return body.decode()


def form_texts(form: FormData, names: Collection[str]) -> dict[str, str]:
    """Return the fields of a form by name, empty where they are missing; no half characters, which no page can hold."""
    return {name: encodable(text) if isinstance(text := form.get(name), str) else "" for name in names}
