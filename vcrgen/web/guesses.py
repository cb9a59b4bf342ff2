"""Tokens that are tried one after another: whoever guesses has to wait soon, and a right token always passes."""

from __future__ import annotations

from typing import TypeVar

from fastapi import Request

from vcrgen.web.answers import Refusal
from vcrgen.web.guards import client_of
from vcrgen.web.rate import Rate

GUESSES, GUESSES_SECONDS = 10, 900
Owner = TypeVar("Owner")


class Guessing(Refusal):
    """Somebody tries one token after another; the answer takes as little work as can be."""


class TokenOwners:
    """Who a token belongs to.

    Args:
        status: The HTTP status of a request whose token belongs to nobody.
        text: What it is told.
    """

    def __init__(self, status: int, text: str) -> None:
        self._status, self._text = status, text
        self._guesses = Rate(GUESSES, GUESSES_SECONDS)

    def owner(self, request: Request, found: Owner | None) -> Owner:
        """The owner of a request's token, as it was ``found``.

        Raises:
            Refusal: Nobody was found.
        """
        if found is not None:
            return found
        client = client_of(request.scope)
        if self._guesses.full(client):
            text = "Too many unknown tokens from your address; wait a quarter of an hour."
            raise Guessing(429, text, seconds=GUESSES_SECONDS)
        self._guesses.note(client)
        raise Refusal(self._status, self._text)
