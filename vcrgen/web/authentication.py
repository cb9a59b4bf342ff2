"""Authentication by tokens: whoever guesses has to wait soon, and a right token always passes."""

from typing import TypeVar

from fastapi import Request

from vcrgen.web.guards import client_address
from vcrgen.web.limits import GUESS_SECONDS, MAX_GUESSES
from vcrgen.web.rate import RateLimiter
from vcrgen.web.responses import Refusal

Owner = TypeVar("Owner")


class TooManyGuesses(Refusal):
    """Refusal of a client that tries one token after another; the answer takes as little work as can be."""


class TokenAuthenticator:
    """Counts the unknown tokens of each address.

    Args:
        status: The HTTP status of a request whose token belongs to nobody.
        text: The sentence of its response.
    """

    def __init__(self, status: int, text: str) -> None:
        self._status, self._text = status, text
        self._guesses = RateLimiter(MAX_GUESSES, GUESS_SECONDS)

    def authenticate(self, request: Request, owner: Owner | None) -> Owner:
        """Pass on the owner of a request's token, if it has one.

        Raises:
            Refusal: The token belongs to nobody.
        """
        if owner is not None:  # before anything is counted: who guesses from the same address locks nobody out
            return owner
        client = client_address(request.scope)
        if self._guesses.is_full(client):
            text = "Too many unknown tokens from your address; wait a quarter of an hour."
            raise TooManyGuesses(429, text, seconds=GUESS_SECONDS)
        self._guesses.record(client)
        raise Refusal(self._status, self._text)
