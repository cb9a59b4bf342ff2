"""Pictures that a server generates: what is sent, what is believed of what comes."""

import hashlib
import json
from typing import Any

import pytest

from tests.models.fault_server import Answer, Call, FaultServer, generated
from vcrgen.core.errors import ConfigError, EndpointError
from vcrgen.models.address import parse_address
from vcrgen.models.base import Reply, ReplyOutcome, Request, RequestProblem, Sampling
from vcrgen.models.chat import CallError
from vcrgen.models.connection import Limits
from vcrgen.models.endpoint import EndpointModel
from vcrgen.models.image_generation import parse_reply, refused_names

SERVER = parse_address("http://host/v1", "i", pictures=True)
WANTED = Request(text="a boat", picture=True, sampling=Sampling(seed=7), parameters={"size": "160x120"})


def outcomes(server: FaultServer, *requests: Request) -> list[Reply | RequestProblem]:
    model = EndpointModel(parse_address(server.url, "i", pictures=True), "i", limits=Limits(concurrency=1, timeout=20))
    return [outcome for _, outcome in model.answers([(None, one) for one in requests], lambda what, reply: None)]


def test_a_picture_comes_whole() -> None:
    with FaultServer(generated) as server:
        (reply,) = outcomes(server, WANTED)
    assert isinstance(reply, Reply) and reply.outcome == ReplyOutcome.ANSWERED and reply.usage == {"pictures": 1}
    assert reply.text == hashlib.sha256(reply.picture).hexdigest() and reply.picture.startswith(b"\x89PNG")
    assert "picture" not in reply.to_json() and Reply.from_json(reply.to_json()).text == reply.text
    (call,) = server.calls
    assert call.path == "/v1/images/generations"
    assert call.body == {
        "model": "i",
        "prompt": "a boat",
        "n": 1,
        "response_format": "b64_json",
        "seed": 7,
        "size": "160x120",
    }


def test_what_a_server_does_not_know_is_not_sent_again() -> None:
    for fault, name in {"no response_format": "response_format", "no seed": "seed", "detail": "seed"}.items():
        with FaultServer(lambda call, fault=fault: generated(call, fault)) as server:  # type: ignore[misc]
            replies = outcomes(server, WANTED, Request(text="a tree", picture=True, sampling=Sampling(seed=8)))
        assert all(isinstance(reply, Reply) and reply.picture and not reply.retries for reply in replies)
        assert [name in call.body for call in server.calls] == [True, False, False]


@pytest.mark.parametrize("said", ["Unknown argument 'seed'", 'Unknown argument "seed".', "`seed` is not supported"])
def test_a_name_is_known_in_quotes_of_any_kind(said: str) -> None:
    assert refused_names(400, json.dumps({"error": {"message": said}}).encode()) == {"seed"}
    assert not refused_names(500, said.encode())


@pytest.mark.parametrize(
    ("fault", "reason"), [("not base64", "not Base64"), ("empty", "no picture"), ("", "the server answers 500")]
)
def test_what_is_no_picture_has_a_reason(fault: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.models.endpoint._FIRST_PAUSE", 0.01)
    with FaultServer(lambda call: generated(call, fault) if fault else Answer(status=500)) as server:
        (problem,) = outcomes(server, WANTED)
    assert isinstance(problem, RequestProblem) and reason in problem.detail
    assert len(server.calls) == (1 if fault else 6)  # what was paid for is not asked for again


def test_a_refusal_is_a_filter() -> None:
    with FaultServer(lambda call: generated(call, "refusal")) as server:
        (reply,) = outcomes(server, WANTED)
    assert isinstance(reply, Reply) and reply.outcome == ReplyOutcome.FILTERED and not reply.picture


def test_an_address_is_never_fetched() -> None:
    with (
        FaultServer(lambda call: generated(call, "address")) as server,
        pytest.raises(EndpointError, match="addresses are not fetched"),
    ):
        outcomes(server, WANTED, WANTED)
    assert [call.path for call in server.calls] == ["/v1/images/generations"]
    with FaultServer(lambda call: generated(call, "inside")) as server:
        (reply,) = outcomes(server, WANTED)
    assert isinstance(reply, Reply) and reply.picture.startswith(b"\x89PNG")


def test_429_and_cut_replies_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.models.endpoint._FIRST_PAUSE", 0.01)

    def plan(call: Call) -> Answer:
        good = generated(call)
        cut = Answer(body=(good.body or b"")[:-100])
        return [Answer(status=429, headers={"Retry-After": "0.01"}), cut, good][call.tries]

    with FaultServer(plan) as server:
        (reply,) = outcomes(server, WANTED)
    assert isinstance(reply, Reply) and reply.retries == {"http_429": 1, "not_json": 1}


def test_a_reply_may_be_larger_than_words_but_not_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.models.endpoint._TRIES", 1)
    with FaultServer(lambda call: generated(call, size=(2400, 1800))) as server:
        monkeypatch.setattr("vcrgen.models.chat.MAX_REPLY_BYTES", 1000)
        (reply,) = outcomes(server, WANTED)
        assert isinstance(reply, Reply)
        monkeypatch.setattr("vcrgen.models.image_generation.MAX_REPLY_BYTES", 1000)
        (problem,) = outcomes(server, WANTED)
    assert isinstance(problem, RequestProblem) and problem.reason == "too_large"


HOSTILE: list[Any] = [
    1,
    [],
    {},
    {"data": None},
    {"data": {}},
    {"data": [None]},
    {"data": [{}]},
    {"data": [{"b64_json": 5}]},
    {"data": [{"b64_json": ""}]},
    {"data": [{"b64_json": ["a"]}]},
    {"data": [{"url": 7}]},
    {"error": "no"},
    {"data": [{"b64_json": "\u00e9"}]},
    {"data": [{"url": ""}]},
    {"data": [{"url": "data:image/png;base64,"}], "error": {"message": 3}},
]


@pytest.mark.parametrize("body", HOSTILE)
def test_a_hostile_reply_is_a_problem(body: Any) -> None:
    with pytest.raises(CallError):
        parse_reply(json.dumps(body).encode(), SERVER, lambda text: text)


@pytest.mark.parametrize(
    ("endpoint", "profile", "url"),
    [
        ("http://127.0.0.1:8000/v1", None, "http://127.0.0.1:8000/v1/images/generations"),
        ("http://127.0.0.1:8000/v1/chat/completions", None, "http://127.0.0.1:8000/v1/images/generations"),
        ("http://127.0.0.1:8000/v1/images/generations/", None, "http://127.0.0.1:8000/v1/images/generations"),
        (
            "https://x.openai.azure.com",
            None,
            "https://x.openai.azure.com/openai/deployments/i/images/generations?api-version=2024-10-21",
        ),
    ],
)
def test_addresses(endpoint: str, profile: str | None, url: str) -> None:
    assert parse_address(endpoint, "i", profile, pictures=True).url == url
    with pytest.raises(ConfigError, match="image_endpoint has to be"):
        parse_address("there", "i", pictures=True, option="image_endpoint")
