"""A service of routes, with its guard and its handlers of errors."""

from collections.abc import Callable

from fastapi import FastAPI
from starlette.types import ASGIApp, Scope

from vcrgen.web.error_handlers import ErrorHandlers
from vcrgen.web.guards import Guard
from vcrgen.web.limits import FORM_BYTES
from vcrgen.web.responses import without_second_raise


def new_app() -> FastAPI:
    """An application without routes, and without a page about them."""
    return FastAPI(openapi_url=None, redirect_slashes=False)


def guard_app(
    app: FastAPI,
    name: str,
    page: Callable[[str, str], str],
    *,
    policy: str,
    file_bytes: int,
    requests_per_minute: int,
    has_token: Callable[[Scope], bool],
    anonymous: bool = False,
) -> ASGIApp:
    """The application, with limits on its requests, and with answers to its errors.

    Args:
        name: Of the service, for people: ``board``.
        page: Makes the page of a title and a sentence.
        policy: See `Guard`, as for the arguments below.
        file_bytes: Of the largest file that a form may hold.
        has_token: True for a request that is let in by a token.
        anonymous: Keep clients out of the log.
    """
    handlers = ErrorHandlers(name, page)
    handlers.add_to(app)
    return Guard(
        without_second_raise(app),
        refuse=handlers.refuse_unread,
        policy=policy,
        max_bytes=file_bytes + FORM_BYTES,
        requests_per_minute=requests_per_minute,
        has_token=has_token,
        anonymous=anonymous,
    )
