"""The client against a server that misbehaves: over real connections, with the same requests as in a run."""

import itertools
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.errors import ConfigError, EndpointError, OutOfPatience
from vcrgen.core.progress import ProgressListener
from vcrgen.models import endpoint
from vcrgen.models.address import Key, parse_address
from vcrgen.models.base import Reply, Request, RequestProblem, Sampling
from vcrgen.models.connection import Limits
from vcrgen.models.endpoint import EndpointModel

PNG = b"\x89PNG\r\n\x1a\n rest"
SECRET = "sk-0123456789"
Outcomes = dict[int, Reply | RequestProblem]


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(endpoint, "_LONGEST_PAUSE", 0.05)


def model_of(server: Any, *, key: str | None = None, profile: str | None = None, **limits: Any) -> EndpointModel:
    address = parse_address(server.url, "m", profile)
    return EndpointModel(address, "m", key=Key(key) if key else None, limits=Limits(**{"timeout": 20, **limits}))


def questions(count: int) -> Iterator[tuple[int, Request]]:
    sampling = Sampling(max_tokens=9)
    return ((number, Request(images=(PNG,), text=f"question {number}", sampling=sampling)) for number in range(count))


def ask(server: Any, count: int = 1, **options: Any) -> Outcomes:
    kept: dict[int, Reply] = {}
    outcomes = dict(model_of(server, **options).answers(questions(count), kept.__setitem__))
    assert kept == {number: outcome for number, outcome in outcomes.items() if isinstance(outcome, Reply)}
    return outcomes


def test_what_a_server_gets(serve: Any) -> None:
    server = serve()
    (reply,) = ask(server).values()
    (call,) = server.calls
    assert call.path == "/v1/chat/completions" and call.headers["content-type"] == "application/json"
    assert "authorization" not in call.headers and "cookie" not in call.headers
    assert list(call.body) == ["model", "max_tokens", "messages"]
    assert isinstance(reply, Reply)
    assert (reply.text, reply.model, reply.usage) == (f"reply {call.digest[:24]}", "m", {"input": 100, "output": 10})
    assert reply.served == {"host": f"127.0.0.1:{server.port}"} and reply.retries == {}


def test_cookies_are_not_kept(serve: Any, faults: Any) -> None:
    server = serve(lambda call: faults.Answer(headers={"Set-Cookie": "a=b; Path=/"}))
    ask(server, 3, concurrency=1)
    assert not any("cookie" in call.headers for call in server.calls)


@pytest.mark.parametrize(
    ("profile", "name", "value"), [("vllm", "authorization", f"Bearer {SECRET}"), ("azure", "api-key", SECRET)]
)
def test_the_key_is_in_its_header(serve: Any, profile: str, name: str, value: str) -> None:
    server = serve()
    ask(server, key=SECRET, profile=profile)
    (call,) = server.calls
    assert [header for header in call.headers.items() if SECRET in header[1]] == [(name, value)]
    assert SECRET not in call.path and SECRET.encode() not in call.data


FAULTS = {
    "http_500": {"status": 500, "body": b"Internal Server Error"},
    "http_503": {"status": 503, "body": b'{"error": {"message": "loading"}}'},
    "http_429": {"status": 429, "body": b"{}", "headers": {"Retry-After": "0.05"}},
    "http_408": {"status": 408, "body": b""},
    "reset": {"fault": "reset"},
    "timeout": {"fault": "hang"},
    "too_large": {"fault": "flood"},
    "not_json": {"body": b"<html>welcome</html>", "headers": {"Content-Type": "text/html"}},
    "wrong_form": {"body": b'{"choices": [{"message": 3}]}'},
    "error_in_reply": {"body": b'{"error": {"message": "busy", "code": 502}}'},
    "other_model": {"more": {"model": "another"}},
}
MORE_FAULTS = [
    ("reset", {"fault": "half"}),
    ("timeout", {"fault": "drip"}),
    ("not_json", {"body": b""}),
    ("wrong_form", {"body": b"x" * 100, "headers": {"Content-Encoding": "gzip"}}),
    ("http_429", {"status": 429, "body": b"{}"}),
    ("http_429", {"status": 429, "body": b"{}", "headers": {"retry-after-ms": "50"}}),
    ("http_429", {"status": 429, "body": b"{}", "headers": {"Retry-After": formatdate(time.time() - 9, usegmt=True)}}),
    ("http_429", {"status": 429, "body": b"{}", "headers": {"Retry-After": "soon"}}),
    ("http_429", {"status": 429, "body": b"{}", "headers": {"Retry-After": "nan"}}),
]


@pytest.mark.parametrize(("kind", "fault"), [*FAULTS.items(), *MORE_FAULTS])
def test_what_goes_wrong_once_is_tried_again(serve: Any, faults: Any, kind: str, fault: dict[str, Any]) -> None:
    """The second of three requests meets it; all three get their replies, and it is counted."""
    server = serve(lambda call: faults.Answer(**fault) if call.number == 1 else faults.Answer())
    # Three seconds can be waited for, and are enough for the other two on a machine that stands still for a while.
    outcomes = ask(server, 3, concurrency=1, timeout=3 if kind == "timeout" else 120)
    assert len(server.calls) == 4
    replies = [reply for reply in outcomes.values() if isinstance(reply, Reply)]
    assert [reply.retries for reply in replies] == [{}, {kind: 1}, {}]
    assert {reply.text for reply in replies} == {f"reply {call.digest[:24]}" for call in server.calls}


@pytest.mark.parametrize("kind", ["http_500", "not_json", "reset", "too_large"])
def test_it_is_not_tried_for_ever(serve: Any, faults: Any, kind: str) -> None:
    server = serve(lambda call: faults.Answer(**FAULTS[kind]) if b"question 1" in call.data else faults.Answer())
    outcomes = ask(server, 3, concurrency=1, patience=0)
    problem = outcomes[1]
    assert isinstance(problem, RequestProblem) and problem.reason == kind and problem.retries == {kind: 5}
    assert isinstance(outcomes[0], Reply) and isinstance(outcomes[2], Reply) and len(server.calls) == 2 + 6


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (400, b'{"error": {"message": "the model has no eyes"}}', "the server answers 400: the model has no eyes"),
        (
            401,
            b'{"error": {"message": "wrong key sk-0123456789"}}',
            "the server answers 401: wrong key [key] (the server takes no call without a key that it knows: check "
            "--key-env)",
        ),
        (
            404,
            b"not found",
            "the server answers 404: not found (mostly a wrong address or model: check --endpoint and the name of the "
            "model)",
        ),
        (400, b'[{"error": {"code": 400, "message": "Unknown name"}}]', "the server answers 400: Unknown name"),
        (413, b"<h1>Too large</h1>", "the server answers 413: Too large"),
        (422, b'{"detail": [{"msg": "unknown field"}]}', "the server answers 422: unknown field"),
        (429, b'{"error": {"code": "insufficient_quota", "message": "pay"}}', "the server answers 429: pay"),
        (302, b"", "the server answers 302, a redirect; give --endpoint the address where it leads to"),
    ],
)
def test_a_refusal_is_not_sent_again(serve: Any, faults: Any, status: int, body: bytes, sentence: str) -> None:
    elsewhere = serve()
    headers = {"Location": f"{elsewhere.url}/chat/completions"} if status == 302 else {}
    server = serve(lambda call: faults.Answer(status=status, body=body, headers=headers))
    outcomes = ask(server, 2, key=SECRET)
    assert [str(problem) for problem in outcomes.values()] == [sentence] * 2
    assert len(server.calls) == 2 and elsewhere.calls == []


def test_an_answer_that_a_filter_took_away_is_a_reply(serve: Any, faults: Any) -> None:
    body = b'{"error": {"code": "content_filter", "message": "The response was filtered"}}'
    (reply,) = ask(serve(lambda call: faults.Answer(status=400, body=body))).values()
    assert isinstance(reply, Reply) and reply.outcome == "filtered"


def test_ten_refusals_in_a_row_end_it_with_the_servers_sentence(serve: Any, faults: Any) -> None:
    def plan(call: Any) -> Any:
        refused = call.number >= 15 or call.number % 5
        return faults.Answer(status=401, body=b'{"error": {"message": "no such key"}}') if refused else faults.Answer()

    server = serve(plan)
    with pytest.raises(
        EndpointError,
        match=r"no reply to 10 requests in a row; .* 401: no such key \(.*: check --key-env\)\. Mend that",
    ):
        ask(server, 100, concurrency=1)
    assert len(server.calls) == 10 + 10 + 1  # four of five before did not end it; 10 is the last one with a reply


@pytest.mark.parametrize("end", ["１２７.0.0.1/v1", f"127.0.0.1/{'a' * 100_000}"])
def test_an_address_that_no_server_has(end: str) -> None:
    with pytest.raises(ConfigError, match="--endpoint is not an address that can be reached") as error:
        EndpointModel(parse_address(f"http://{end}", "m"), "m")
    assert len(str(error.value)) < 300


def test_no_server(serve: Any) -> None:
    """It is said of the first request, and no other is tried."""
    server = serve()
    server.__exit__()
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1:\d+: no server can be reached there \(.*refused"):
        ask(server, 100)


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"\x00\xff\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 999999 No\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n",
        OK + b"Content-Length: abc\r\n\r\n",
        OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        OK + b"A: " + b"b" * 1_000_000,
        OK + b"\xff\xfe: \x80\r\n\r\n",
        OK + b"Content-Type: text/plain; charset=nonsense\r\nRetry-After: \xff\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 503 Busy\r\nRetry-After: \xff, 99e999\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 503 Busy\r\nRetry-After: Mon, 99 Foo 2026 99:99:99 GMT\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_what_is_no_http(serve: Any, faults: Any, raw: bytes) -> None:
    (problem,) = ask(serve(lambda call: faults.Answer(raw=raw)), timeout=2).values()
    assert isinstance(problem, RequestProblem) and problem.detail.isprintable() and len(problem.detail) < 400


def test_a_server_that_does_not_name_the_model(serve: Any, faults: Any) -> None:
    server = serve(lambda call: faults.Answer(more={"model": [None, "m-1", None, "m-1"][call.number]}))
    outcomes = ask(server, 4, concurrency=1)
    assert [reply.model for reply in outcomes.values() if isinstance(reply, Reply)] == ["", "m-1", "", "m-1"]


class Told(ProgressListener):
    """Collects what is said of waits."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def waiting(self, what: str, until: str, /) -> None:
        self.lines.append(f"{what}; {until}")


@pytest.mark.parametrize("fault", [{"status": 502}, {"status": 503}, {"status": 504}, {"fault": "reset"}])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_outage_is_waited_out_by_time(serve: Any, faults: Any, fault: dict[str, Any], concurrency: int) -> None:
    """However many tries it takes, and it is told; then the run goes on as if nothing had been."""
    told, tries = Told(), 40
    server = serve(lambda call: faults.Answer(**fault) if 6 <= call.number < 6 + tries else faults.Answer())
    model = model_of(server, concurrency=concurrency, patience=600)
    outcomes = dict(model.answers(questions(20), lambda what, reply: None, listener=told))
    assert all(isinstance(outcome, Reply) for outcome in outcomes.values()) and len(server.calls) == 20 + tries
    why = str(fault["status"]) if "status" in fault else "the connection was broken off"
    assert told.lines[0].startswith(f"the server is away ({why}") and told.lines[0].endswith("; next try in 1 s, 1 try")


def test_a_server_that_was_started_again(serve: Any, faults: Any) -> None:
    """Nothing listens at its port until the outage was told."""
    server, kept = serve(), dict[int, Reply]()

    class Starts(Told):
        def waiting(self, what: str, until: str, /) -> None:
            if not self.lines:
                serve(port=server.port)
            super().waiting(what, until)

    told = Starts()
    model = model_of(server, concurrency=2, patience=600)
    for number, _ in model.answers(questions(12), kept.__setitem__, listener=told):
        if number == 3:
            server.__exit__()
    assert len(kept) == 12 and told.lines[0].startswith("the server is away (")


@pytest.mark.parametrize("away", [True, False])
def test_patience_ends(serve: Any, faults: Any, away: bool) -> None:
    """With a server that is gone, and one that is busy for good."""
    server = serve(lambda call: faults.Answer() if away or call.number < 4 else faults.Answer(status=429, body=b"{}"))
    model = model_of(server, concurrency=1, timeout=1, patience=0.2)
    with pytest.raises(OutOfPatience, match=r"gave no reply (for 0 s, as long as --patience allows|to 10 requests)"):
        for number, _ in model.answers(questions(100), lambda what, reply: None):
            if away and number == 3:
                server.__exit__()


def test_patience_ends_with_a_server_that_is_silent(serve: Any, faults: Any) -> None:
    """Long before a reply is taken to be lost; a reply that is slow is waited for while others come."""
    server = serve(lambda call: faults.Answer() if call.number < 5 else faults.Answer(fault="hang"))
    model = model_of(server, concurrency=4, timeout=600, patience=1)
    kept: list[int] = []
    silent = r"gave no reply for 1 s, as long as --patience allows; the last time: no whole reply within [12] s\."
    with pytest.raises(OutOfPatience, match=silent):
        for _ in model.answers(questions(100), lambda what, reply: kept.append(what)):
            pass
    assert len(kept) == 5 and len(server.calls) == 9  # the four that were silent are not asked again
    server = serve(lambda call: faults.Answer(delay=2.0 if b'question 1"' in call.data else 0.3))
    outcomes = dict(model_of(server, concurrency=2, patience=1).answers(questions(9), lambda what, reply: None))
    assert all(isinstance(outcome, Reply) for outcome in outcomes.values()) and len(server.calls) == 9


def test_a_server_that_asks_to_wait_longer_than_the_user_would_is_not_waited_for(serve: Any, faults: Any) -> None:
    """It may be said of one request only, so the others are asked."""
    busy = faults.Answer(status=429, body=b'{"error": "later"}', headers={"x-ratelimit-reset-requests": "1h"})
    server = serve(lambda call: busy if b'question 1"' in call.data else faults.Answer())
    outcomes = ask(server, 3, concurrency=1)
    assert isinstance(outcomes[0], Reply) and isinstance(outcomes[2], Reply) and len(server.calls) == 3
    assert str(outcomes[1]) == "the server answers 429: later (it asks to wait 60 min, and --patience allows 10 min)"


def test_a_request_that_breaks_its_connection_is_no_outage(serve: Any, faults: Any) -> None:
    """Others are answered meanwhile, so it is not waited out."""
    server = serve(lambda call: faults.Answer(fault="reset") if b'question 1"' in call.data else faults.Answer())
    outcomes: Outcomes = {}
    coming = itertools.takewhile(lambda _: 1 not in outcomes, questions(1_000_000))
    for number, outcome in model_of(server, concurrency=4, patience=600).answers(coming, lambda what, reply: None):
        outcomes[number] = outcome
    problem = outcomes.pop(1)
    assert isinstance(problem, RequestProblem) and problem.reason == "reset" and sum(problem.retries.values()) >= 5
    assert all(isinstance(outcome, Reply) for outcome in outcomes.values())


def test_tls_is_checked(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which("openssl"):
        pytest.skip("needs openssl")
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(["openssl", *words.split(), *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server = serve(tls=context)
    with pytest.raises(EndpointError, match="its TLS certificate or encryption is refused"):
        ask(server, 3, key=SECRET)
    assert server.calls == []
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))  # whom else to trust is the user's to say
    assert len(ask(server, 3, key=SECRET)) == len(server.calls) == 3


def test_a_pause_that_one_request_is_asked_for_holds_no_other(serve: Any, faults: Any) -> None:
    """The others go on meanwhile, and it is asked again when its time has come."""

    def plan(call: Any) -> Any:
        if call.number == 20:
            return faults.Answer(status=429, body=b"{}", headers={"Retry-After": "1"})
        return faults.Answer(delay=0.02)

    server = serve(plan)
    outcomes = ask(server, 60, concurrency=4)
    assert all(isinstance(outcome, Reply) for outcome in outcomes.values())
    held = server.calls[20]
    (again,) = (call for call in server.calls if call.tries and call.digest == held.digest)
    assert again.at - held.at >= 1 and sum(held.at < call.at < again.at for call in server.calls) > 5


def test_a_limit_that_is_used_up_holds_all(serve: Any, faults: Any) -> None:
    """By the headers of a reply: the next request would be refused."""
    used_up = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1.2s"}
    server = serve(lambda call: faults.Answer(headers=used_up if call.number == 5 else {}))
    told = Told()
    model = model_of(server, concurrency=1)
    outcomes = dict(model.answers(questions(10), lambda what, reply: None, listener=told))
    assert all(isinstance(outcome, Reply) for outcome in outcomes.values())
    assert server.calls[6].at - server.calls[5].at >= 1.1
    assert told.lines == ["the server's limit is used up (x-ratelimit); next try in 2 s"]


def test_the_server_sees_all_that_are_sent_at_once(serve: Any, faults: Any) -> None:
    server = serve(lambda call: faults.Answer(gather=200))
    assert len(ask(server, 300, concurrency=200, timeout=300)) == 300
    assert server.most == 200


def test_idle_connections_cost_nothing(serve: Any, faults: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of fifty connections, a call looks at its own, and they are kept."""
    from httpcore2 import AsyncHTTP11Connection

    looks, connections = 0, set()
    has_expired = AsyncHTTP11Connection.has_expired

    def counted(self: Any) -> bool:
        nonlocal looks
        looks += 1
        connections.add(id(self))
        return bool(has_expired(self))

    monkeypatch.setattr(AsyncHTTP11Connection, "has_expired", counted)
    server = serve(lambda call: faults.Answer(delay=0.02))
    assert len(ask(server, 300, concurrency=50)) == 300
    assert looks <= 3 * 300 and len(connections) <= 50


def test_replies_come_in_any_order(serve: Any, faults: Any) -> None:
    held = faults.Held(lambda call: faults.Answer(), lambda call: b"question 0" in call.data and len(server.calls) < 10)
    server = serve(held)
    outcomes = ask(server, 10, concurrency=3)
    # The first one waited until the last was sent, which two of the others at most were not answered before.
    assert list(outcomes).index(0) >= 7 and sorted(outcomes) == list(range(10))


def test_a_request_is_taken_when_it_can_be_sent(serve: Any, faults: Any) -> None:
    taken: list[int] = []

    def coming() -> Iterator[tuple[int, Request]]:
        for number, request in questions(50):
            taken.append(number)
            yield number, request

    outcomes = model_of(serve(), concurrency=4).answers(coming(), lambda what, reply: None)
    for count, _ in enumerate(outcomes, start=1):
        assert len(taken) <= count + 4


def test_who_stops_is_not_kept_waiting(serve: Any, faults: Any) -> None:
    server = serve(lambda call: faults.Answer(fault="hang") if call.number else faults.Answer())
    before = set(threading.enumerate())
    outcomes = model_of(server, concurrency=4, timeout=600).answers(questions(50), lambda what, reply: None)
    next(outcomes)
    began = time.monotonic()
    outcomes.close()  # type: ignore[attr-defined]
    assert time.monotonic() - began < 60 and set(threading.enumerate()) <= before


def test_a_key_that_is_sent_back_is_cut_out(serve: Any, faults: Any) -> None:
    more = {"model": f"m {SECRET}", "system_fingerprint": SECRET, "provider": SECRET}
    message = {"reasoning": f"the key is {SECRET}"}
    server = serve(
        lambda call: faults.Answer(text=f"It is {SECRET}.", more=more, message=message, finish_reason=SECRET)
    )
    (reply,) = ask(server, key=SECRET).values()
    assert isinstance(reply, Reply) and reply.text == "It is [key]." and reply.thinking == "the key is [key]"
    assert SECRET not in json.dumps(reply.to_json())


def test_what_cannot_be_kept_ends_it(serve: Any) -> None:
    def full(what: int, reply: Reply) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        list(model_of(serve()).answers(questions(20), full))


def test_a_proxy_of_the_environment_gets_nothing_that_is_not_encrypted(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, server = serve(), serve()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
    ask(server, key=SECRET)
    assert len(server.calls) == 1 and proxy.calls == []


@pytest.mark.parametrize(
    ("no_proxy", "goes_there"), [("", True), ("elsewhere.example", True), ("model.example", False), ("*", False)]
)
def test_a_proxy_of_the_environment_passes_on_what_is_encrypted(
    no_proxy: str, goes_there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{listening.getsockname()[1]}")
        monkeypatch.setenv("NO_PROXY", no_proxy)
        heard: list[bytes] = []

        def refuse() -> None:
            with suppress(OSError):
                connection, _ = listening.accept()
                with connection:
                    heard.append(connection.recv(1000))
                    connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=refuse)
        thread.start()
        model = EndpointModel(parse_address("https://model.example/v1", "m"), "m", key=Key(SECRET))
        wrong = r"refuses it \(403 Forbidden\)" if goes_there else "no server can be reached"
        with pytest.raises(EndpointError, match=wrong):
            list(model.answers(questions(1), lambda what, reply: None))
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert bool(heard) == goes_there
    if heard:
        assert heard[0].startswith(b"CONNECT model.example:443 ") and SECRET.encode() not in heard[0]
