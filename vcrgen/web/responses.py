"""Responses: a sentence for a refused request, as JSON for programs and as text for people."""

from contextlib import suppress

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

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
    """A sentence without a page around it: for programs, and where a page would need the database."""
    headers = STATUS_HEADERS.get(status)
    if wants_json(scope):
        return JSONResponse({"error": text} | ({"id": about} if about else {}), status_code=status, headers=headers)
    return PlainTextResponse(text, status_code=status, headers=headers)


def wants_json(scope: Scope) -> bool:
    """Whether a request is a program's, at an address that answers with JSON: so its refusal is JSON, too."""
    path = scope["path"]
    return bool(path.startswith("/api/") or path.endswith(".json") or path == "/health")


def bearer_token(request: Request) -> str:
    """The token in the header of a request, or an empty text."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token if kind.lower() == "bearer" else ""


def without_second_raise(app: ASGIApp) -> ASGIApp:
    """The service without the errors that Starlette raises once more after they have been answered."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(Exception):
            await app(scope, receive, send)

    return call
