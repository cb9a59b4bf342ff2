"""Batches of requests, which servers answer within a day at half the price: of OpenAI's protocol and of Anthropic's.

For example:

    with BatchClient(address, "gpt", key=key) as client:
        for batch in client.submit((request.id, request) for request in requests):
            ...
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Self

from vcrgen.errors import ConfigError, EndpointError
from vcrgen.models import anthropic, chat
from vcrgen.models.address import Address, Key
from vcrgen.models.base import Reply, Request, RequestProblem
from vcrgen.models.chat import CallError
from vcrgen.models.connection import CONNECT_SECONDS, Limits, load_httpx, request_headers, transport_options
from vcrgen.models.endpoint import encode_request

if TYPE_CHECKING:
    from httpx2 import Response

_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")
_TRIES, _PAUSE = 5, 0.5  # of what may be repeated without harm, and the seconds after the first one
_MAX_LINE = 16 << 20


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state of a batch: whether it has ended, and its description by the server."""

    ended: bool
    text: str


class Outcome(NamedTuple):
    """The outcome of a request of a batch; None if the server did not come to it."""

    id: str
    reply: Reply | RequestProblem | None


@dataclass(frozen=True, slots=True)
class _Form:
    """The file of a batch: what stands before, between and behind the lines of its requests, and its limits."""

    opening: bytes
    between: bytes
    closing: bytes
    most: int  # requests
    max_bytes: int


_FORMS = {
    "openai": _Form(b"", b"\n", b"\n", 50_000, 200_000_000),
    "anthropic": _Form(b'{"requests":[', b",", b"]}", 100_000, 256_000_000),
}
_OPENAI_ENDED = {"completed", "failed", "expired", "cancelled"}


class BatchClient:
    """A client for the batches of a server.

    Args:
        address: The server.
        model: Name of the model.
        key: The key to the server, if it needs one.
        limits: Of which the time limit holds.

    Raises:
        ConfigError: Servers of this kind take no batches.
        PipelineError: The extra is not installed.
    """

    def __init__(self, address: Address, model: str, *, key: Key | None = None, limits: Limits | None = None) -> None:
        if address.kind.protocol not in _FORMS or not address.kind.names_model:
            raise ConfigError(f"Servers of the kind {address.profile} take no batches; leave --batch out.")
        self._address, self._model, self._key = address, model, key
        self._form = _FORMS[address.kind.protocol]
        self._is_openai = address.kind.protocol == "openai"
        self._redact = key.redact if key else lambda text: text
        headers = request_headers(address, key)
        del headers["Content-Type"]  # of files another one
        httpx2, seconds = load_httpx(), (limits or Limits()).timeout
        timeout = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        self._client = httpx2.Client(headers=headers, timeout=timeout, **transport_options(address))
        root = address.url.removesuffix(f"/{address.kind.path}")
        self._batches = f"{root}/batches" if self._is_openai else f"{root}/messages/batches"
        self._files = f"{root}/files"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def submit(self, requests: Iterable[Request]) -> Iterator[tuple[str, list[str]]]:
        """Submit requests in as many batches as the server's limits ask for.

        Yields:
            The id of a batch and those of its requests, as soon as the server has it.

        Raises:
            EndpointError: The server refuses.
            RequestProblem: A request cannot be encoded.
        """
        form, waiting = self._form, iter(requests)
        request = next(waiting, None)
        while request is not None:
            ids: list[str] = []
            with tempfile.TemporaryFile() as file:
                file.write(form.opening)
                while request is not None and len(ids) < form.most:
                    line = self._line(request)
                    if ids and file.tell() + len(line) + len(form.between + form.closing) > form.max_bytes:
                        break
                    file.write(form.between * bool(ids) + line)
                    ids.append(request.id)
                    request = next(waiting, None)
                file.write(form.closing)
                file.seek(0)
                yield self._create(file), ids

    def check(self, request: Request) -> None:
        """Raise a RequestProblem if a request cannot be sent."""
        encode_request(request, self._address, self._model)

    def _line(self, request: Request) -> bytes:
        body = encode_request(request, self._address, self._model)
        if self._is_openai:
            return b'{"custom_id":"%s","method":"POST","url":"/v1/chat/completions","body":%s}' % (
                request.id.encode(),
                body,
            )
        return b'{"custom_id":"%s","params":%s}' % (request.id.encode(), body)

    def _create(self, file: IO[bytes]) -> str:
        """Send a file of requests; return the id of its batch."""
        if self._is_openai:
            files = {"file": ("batch.jsonl", file, "application/jsonl")}
            sent = self._json("POST", self._files, data={"purpose": "batch"}, files=files)
            body = {"input_file_id": self._id(sent), "endpoint": "/v1/chat/completions", "completion_window": "24h"}
            return self._id(self._json("POST", self._batches, json=body))
        headers = {"Content-Type": "application/json", "Content-Length": str(file.seek(0, 2))}
        file.seek(0)
        return self._id(self._json("POST", self._batches, content=file, headers=headers))

    def state(self, batch: str) -> BatchState:
        """Return the state of a batch.

        Raises:
            EndpointError: The server does not tell it.
        """
        found = self._get(batch)
        counts = found.get("request_counts")
        known = counts.items() if isinstance(counts, dict) else ()
        shown = ", ".join(f"{chat.plain_line(str(name))[:20]} {count}" for name, count in known if type(count) is int)
        status = chat.clean_name(found.get("status" if self._is_openai else "processing_status"), self._redact)
        ended = status in _OPENAI_ENDED if self._is_openai else status == "ended"
        return BatchState(ended, f"{status or 'unknown'} ({shown or 'no counts'})")

    def outcomes(self, batch: str) -> Iterator[Outcome]:
        """Yield the outcomes of a batch that has ended, in the server's order.

        Raises:
            EndpointError: The server does not give them.
        """
        if self._is_openai:
            found = self._get(batch)
            for name in ("output_file_id", "error_file_id"):
                if found.get(name):
                    for line in self._lines(f"{self._files}/{self._id({'id': found[name]})}/content"):
                        yield from self._read(line, self._openai_outcome)
        else:
            for line in self._lines(f"{self._batches}/{batch}/results"):
                yield from self._read(line, self._anthropic_outcome)

    def _read(self, line: bytes, outcome: Any) -> Iterator[Outcome]:
        """Yield the outcome in a line, unless it is none."""
        try:
            values = chat.parse_object(line, self._redact, self._address.option) if line.strip() else {}
            name = values.get("custom_id")
            if isinstance(name, str):
                yield Outcome(name, outcome(values))
        except CallError:  # the request is sent again
            return

    def _openai_outcome(self, values: Mapping[str, Any]) -> Reply | RequestProblem | None:
        response = values.get("response")
        if not isinstance(response, dict):
            return None
        status, data = response.get("status_code"), json.dumps(response.get("body")).encode()
        if status == 200:
            return self._reply_or_none(lambda: chat.parse_reply(data, self._address, self._redact))
        if filtered := chat.filtered_reply(data, self._address.host):
            return filtered
        detail = (
            f"the server answers {status if type(status) is int else '?'}: {chat.error_sentence(data, self._redact)}"
        )
        return RequestProblem(f"http_{status}", detail, refused=True) if status in chat.REFUSED else None

    def _anthropic_outcome(self, values: Mapping[str, Any]) -> Reply | RequestProblem | None:
        result = values.get("result")
        if not isinstance(result, dict):
            return None
        message, error = result.get("message"), result.get("error")
        if result.get("type") == "succeeded" and isinstance(message, dict):
            return self._reply_or_none(lambda: anthropic.read_message(message, self._address, self._redact))
        inner = error.get("error") if isinstance(error, dict) else None
        if isinstance(inner, dict) and inner.get("type") == "invalid_request_error":
            said = chat.error_sentence(json.dumps(error).encode(), self._redact)
            return RequestProblem("http_400", f"the server answers: {said}", refused=True)
        return None

    @staticmethod
    def _reply_or_none(read: Any) -> Reply | None:
        try:
            reply: Reply = read()
        except CallError:
            return None
        return reply

    def _get(self, batch: str) -> dict[str, Any]:
        return self._json("GET", f"{self._batches}/{batch}")

    def _id(self, values: Mapping[str, Any]) -> str:
        """Return the id that a server gives, which becomes a part of addresses."""
        name = values.get("id")
        if not isinstance(name, str) or not _ID.fullmatch(name):
            raise EndpointError(f"{self._address.host} gives no id of a batch or file that can be one.")
        return name

    def _json(self, method: str, url: str, **options: Any) -> dict[str, Any]:
        """Call the server, and return the object that it sends."""
        with self._call(method, url, **options) as response:
            data = b"".join(_limited(response.iter_raw(), chat.MAX_REPLY_BYTES))
        try:
            return chat.parse_object(data, self._redact, self._address.option)
        except CallError as error:
            raise EndpointError(f"{self._address.host}: {error.detail}.") from None

    def _lines(self, url: str) -> Iterator[bytes]:
        """Yield the lines of a file; one that is too long is left out."""
        with self._call("GET", url) as response:
            rest = b""
            for part in response.iter_raw():
                *lines, rest = (rest + part).split(b"\n")
                yield from lines
                if len(rest) > _MAX_LINE:
                    raise EndpointError(f"{self._address.host} sends a line of more than {_MAX_LINE >> 20} MiB.")
            yield rest

    @contextmanager
    def _call(self, method: str, url: str, **options: Any) -> Iterator[Response]:
        """Call the server; what only reads is tried again."""
        httpx2 = load_httpx()
        tries = _TRIES if method == "GET" else 1
        for number in range(tries):
            detail = "no connection"
            try:
                with self._client.stream(method, url, **options) as response:
                    if response.status_code == 200:
                        yield response
                        return
                    data = b"".join(_limited(response.iter_raw(), chat.MAX_REPLY_BYTES))
                    detail = f"the server answers {response.status_code}: {chat.error_sentence(data, self._redact)}"
                    if response.status_code < 500 and response.status_code != 429:
                        break
            except httpx2.TransportError as error:
                detail = f"no whole reply ({type(error).__name__})"
            if number + 1 < tries:
                time.sleep(_PAUSE * 2**number)
        raise EndpointError(f"{self._address.host}: {detail}.")


def _limited(parts: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Yield parts of a body up to a limit; the rest is left."""
    left = most
    for part in parts:
        yield part[:left]
        left -= len(part)
        if left <= 0:
            return
