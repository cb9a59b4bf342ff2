"""Anthropic's and Gemini's own protocols, against servers that follow their documentation."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.models import native_servers
from tests.models.test_presets import REQUESTS, record, told
from vcrgen.dataset.pictures import Picture
from vcrgen.dataset.views import View
from vcrgen.errors import EndpointError
from vcrgen.models import servers
from vcrgen.models.address import Key, parse_address
from vcrgen.models.base import Reply, ReplyOutcome, Request, RequestProblem, Sampling
from vcrgen.models.connection import Limits
from vcrgen.models.endpoint import EndpointModel, encode_request
from vcrgen.predict.prompts import make_prompt

SECRET = "sk-ant-0123456789"
SAMPLING = Sampling(temperature=0.5, top_p=0.9, max_tokens=9)


def png(width: int = 8, height: int = 8) -> bytes:
    Image.new("RGB", (width, height)).save(buffer := io.BytesIO(), "PNG")
    return buffer.getvalue()


def ask(server: Any, profile: str, **fields: Any) -> Reply | RequestProblem:
    base = server.url if profile == "anthropic" else server.url.replace("/v1", "/v1beta")
    model = EndpointModel(parse_address(base, "m", profile), "m", key=Key(SECRET), limits=Limits(timeout=20))
    values: dict[str, Any] = {"images": (png(),), "text": "words?", "sampling": SAMPLING, **fields}
    ((_, outcome),) = model.answers([(0, Request(**values))], lambda what, reply: None)
    return outcome


@pytest.mark.parametrize("text_first", [False, True])
def test_a_message(serve: Any, faults: Any, text_first: bool) -> None:
    server = serve(lambda call: native_servers.messages(call, faults.Answer))
    reply = ask(server, "anthropic", system="Be brief.", text_first=text_first)
    assert isinstance(reply, Reply) and reply.text.startswith("reply ") and reply.outcome == ReplyOutcome.ANSWERED
    assert reply.usage == {"input": 100, "output": 10} and reply.model == "m" and reply.finish_reason == "end_turn"
    (call,) = server.calls
    assert [header for header in call.headers.items() if SECRET in header[1]] == [("x-api-key", SECRET)]
    body = call.body
    (message,) = body.pop("messages")
    assert body == {"model": "m", "temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "system": "Be brief."}
    assert [part["type"] for part in message["content"]] == (["text", "image"] if text_first else ["image", "text"])
    source = next(part["source"] for part in message["content"] if part["type"] == "image")
    assert base64.b64decode(source["data"]) == png() and source["media_type"] == "image/png"


@pytest.mark.parametrize(
    ("more", "outcome", "text"),
    [
        ({"stop_reason": "max_tokens"}, "truncated", "reply"),
        ({"stop_reason": "model_context_window_exceeded"}, "truncated", "reply"),
        ({"stop_reason": "refusal", "content": []}, "filtered", ""),
        ({"content": []}, "empty", ""),
        ({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]}, "answered", "a"),
    ],
)
def test_how_a_message_ends(serve: Any, faults: Any, more: Any, outcome: str, text: str) -> None:
    reply = ask(serve(lambda call: native_servers.messages(call, faults.Answer, **more)), "anthropic")
    assert isinstance(reply, Reply) and reply.outcome == outcome and reply.text.startswith(text)
    assert reply.thinking == ("hm" if len(more.get("content", [])) == 2 else "")


def test_tokens_of_a_cache_are_read_tokens(serve: Any, faults: Any) -> None:
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 1}
    reply = ask(serve(lambda call: native_servers.messages(call, faults.Answer, usage=usage)), "anthropic")
    assert isinstance(reply, Reply) and reply.usage == {"input": 325, "output": 1}


@pytest.mark.parametrize("profile", ["anthropic", "gemini"])
@pytest.mark.parametrize("body", [b"{}", b"[]", b"<html>", b'{"content": 3}', b'{"candidates": [3]}', b"\xff"])
def test_what_is_no_reply(serve: Any, faults: Any, monkeypatch: pytest.MonkeyPatch, profile: str, body: bytes) -> None:
    monkeypatch.setattr("vcrgen.models.endpoint._TRIES", 1)
    problem = ask(serve(lambda call: faults.Answer(body=body)), profile)
    assert isinstance(problem, RequestProblem) and problem.reason in ("wrong_form", "not_json")


def test_a_refusal_says_why(serve: Any, faults: Any) -> None:
    said = f"credit for {SECRET} is too low"
    server = serve(lambda call: native_servers.anthropic_error(faults.Answer, 400, "invalid_request_error", said))
    problem = ask(server, "anthropic")
    assert (
        isinstance(problem, RequestProblem) and problem.detail == "the server answers 400: credit for [key] is too low"
    )
    server = serve(lambda call: native_servers.messages(call, faults.Answer))
    problem = ask(server, "anthropic", parameters={"foo": 1})
    assert isinstance(problem, RequestProblem) and "foo: Extra inputs are not permitted" in problem.detail


def test_content_is_generated(serve: Any, faults: Any) -> None:
    server = serve(lambda call: native_servers.generate_content(call, faults.Answer))
    safety = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]
    more = {"safetySettings": safety, "generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}
    reply = ask(server, "gemini", system="Be brief.", parameters=more)
    assert isinstance(reply, Reply) and reply.model == "m-001" and reply.outcome == ReplyOutcome.ANSWERED
    assert reply.usage == {"input": 100, "output": 10}
    (call,) = server.calls
    assert [header for header in call.headers.items() if SECRET in header[1]] == [("x-goog-api-key", SECRET)]
    assert SECRET not in call.path
    assert call.body["generationConfig"] == {
        "temperature": 0.5,
        "topP": 0.9,
        "maxOutputTokens": 9,
        "thinkingConfig": {"thinkingBudget": 0},
    }
    assert call.body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert call.body["safetySettings"] == safety
    image, words = call.body["contents"][0]["parts"]
    assert base64.b64decode(image["inlineData"]["data"]) == png() and words == {"text": "words?"}


@pytest.mark.parametrize(
    ("candidate", "more", "outcome"),
    [
        ({"finishReason": "MAX_TOKENS"}, {}, "truncated"),
        ({"finishReason": "SAFETY", "content": {}}, {}, "filtered"),
        ({"finishReason": "PROHIBITED_CONTENT", "content": None}, {}, "filtered"),
        ({"finishReason": "STOP", "content": {}}, {}, "empty"),
        ({}, {"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}, "filtered"),
    ],
)
def test_how_content_ends(serve: Any, faults: Any, candidate: Any, more: Any, outcome: str) -> None:
    server = serve(lambda call: native_servers.generate_content(call, faults.Answer, candidate, **more))
    reply = ask(server, "gemini")
    assert isinstance(reply, Reply) and reply.outcome == outcome


def test_thoughts_are_no_part_of_the_answer_and_are_paid_for(serve: Any, faults: Any) -> None:
    parts = {"content": {"parts": [{"text": "hm", "thought": True}, {"text": "a "}, {"text": "b"}]}}
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}
    server = serve(lambda call: native_servers.generate_content(call, faults.Answer, parts, usageMetadata=usage))
    reply = ask(server, "gemini")
    assert isinstance(reply, Reply) and (reply.text, reply.thinking) == ("a b", "hm")
    assert reply.usage == {"input": 7, "output": 32, "thinking": 30}


def test_limits_of_images(serve: Any, faults: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that the server would refuse are not sent."""
    server = serve(lambda call: native_servers.messages(call, faults.Answer))
    problem = ask(server, "anthropic", images=(png(8001, 1),))
    assert isinstance(problem, RequestProblem) and "8000 pixels" in problem.detail
    problem = ask(server, "anthropic", images=(png() + bytes(5 << 20),))
    assert isinstance(problem, RequestProblem) and "larger than 5 MiB" in problem.detail
    problem = ask(server, "gemini", images=(png() + bytes(15 << 20),))
    assert isinstance(problem, RequestProblem) and "the request is larger than 20,000,000 bytes" in problem.detail
    assert server.calls == []


def test_log_probabilities_are_not_to_be_had() -> None:
    for profile in ("anthropic", "gemini"):
        for request in (Request(labels=("A",)), Request(candidates=("a",))):
            with pytest.raises(RequestProblem, match="give no log-probabilities"):
                encode_request(request, parse_address("https://host/v1", "m", profile), "m")


def test_hosts() -> None:
    assert servers.server_of_host("api.anthropic.com") == "anthropic"
    assert servers.server_of_host("generativelanguage.googleapis.com") == "gemini"
    for end in ("", "/messages"):
        assert parse_address(f"https://api.anthropic.com/v1{end}", "m").url == "https://api.anthropic.com/v1/messages"


def test_a_wrong_key_ends_the_run(serve: Any, faults: Any) -> None:
    server = serve(lambda call: native_servers.anthropic_error(faults.Answer, 401, "authentication_error", "no"))
    model = EndpointModel(parse_address(server.url, "m", "anthropic"), "m", key=Key(SECRET))
    requests = ((number, Request(text=str(number))) for number in range(50))
    with pytest.raises(EndpointError, match="10 requests in a row"):
        list(model.answers(requests, lambda what, reply: None))


def test_a_system_prompt_in_openais_protocol() -> None:
    body = json.loads(encode_request(Request(text="a", system="b"), parse_address("http://127.0.0.1/v1", "m"), "m"))
    assert body["messages"][0] == {"role": "system", "content": "b"} and body["messages"][1]["role"] == "user"
    assert Request(text="a", system="b").id != Request(text="a").id


@pytest.mark.parametrize("name", ["stacked", "strip", "hidden"])
def test_the_request_of_the_vcr_repository_to_claude(name: str) -> None:
    """As recorded by `scripts/record_requests.py`."""
    expected = record("vcr-repo")["requests"]["claude"][name]
    question = expected["messages"][0]["content"][1]["text"]
    data = Path(REQUESTS, f"{name}.png").read_bytes()
    picture = Picture(
        question_id="1", lang="en", view=View.STACKED, mode=None, data=data, question=question, place=(0, 0, 0, 0)
    )
    request = make_prompt("vcr-repo-claude", {}).request(picture)
    assert (
        told(json.loads(encode_request(request, parse_address("https://api.anthropic.com/v1", "m"), "m"))) == expected
    )
