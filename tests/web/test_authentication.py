"""Tokens that are tried one after another, and what the log says of requests."""

import asyncio
import json
from typing import Any

import pytest
from fastapi import Request
from starlette.responses import PlainTextResponse

from vcrgen.web.authentication import TokenAuthenticator, TooManyGuesses
from vcrgen.web.error_handlers import ErrorHandlers
from vcrgen.web.guards import Guard
from vcrgen.web.limits import MAX_GUESSES
from vcrgen.web.responses import Refusal


def request(client: str, path: str = "/r/vcrs_secret/step") -> Request:
    return Request({"type": "http", "method": "GET", "path": path, "headers": [], "client": (client, 1)})


def test_whoever_guesses_has_to_wait_and_a_right_token_passes() -> None:
    tokens = TokenAuthenticator(404, "Nobody has this link.")
    for _ in range(MAX_GUESSES):
        with pytest.raises(Refusal, match=r"Nobody has this link\.") as refused:
            tokens.authenticate(request("a"), None)
        assert refused.value.status == 404
    with pytest.raises(TooManyGuesses) as slowed:
        tokens.authenticate(request("a"), None)
    assert slowed.value.status == 429 and slowed.value.headers["retry-after"] == "900"
    assert tokens.authenticate(request("a"), "team") == "team"
    with pytest.raises(Refusal) as other:
        tokens.authenticate(request("b"), None)
    assert other.value.status == 404


@pytest.mark.parametrize(("anonymous", "path"), [(False, "/r/vcrs_secret/step"), (True, "/r")])
def test_an_anonymous_log_has_no_client_and_no_path(
    anonymous: bool, path: str, capfd: pytest.CaptureFixture[str]
) -> None:
    problems = ErrorHandlers("study", lambda title, text: text)
    guard = Guard(
        PlainTextResponse("ok"),
        refuse=problems.refuse_unread,
        policy="",
        max_bytes=100,
        requests_per_minute=10,
        anonymous=anonymous,
    )

    async def nothing(*_: Any) -> Any:
        return {"type": "http.request", "body": b""}

    asyncio.run(guard(request("192.0.2.1").scope, nothing, nothing))
    line = json.loads(capfd.readouterr().err)
    assert line["path"] == path and line.get("client") == (None if anonymous else "192.0.2.1")
