"""A request as bytes, and bytes as a reply: whatever a server sends is a reply or an error with a sentence."""

import base64
import json
import random
from typing import Any

import pytest

from vcrgen.core.errors import ConfigError
from vcrgen.models.address import Key, parse_address
from vcrgen.models.base import Reply, ReplyOutcome, Request, RequestProblem, Sampling
from vcrgen.models.chat import CallError, encode_request, error_sentence, filtered_reply, is_out_of_quota, parse_reply

PNG = b"\x89PNG\r\n\x1a\n rest"
WEBP = b"RIFF\0\0\0\0WEBP rest"
SERVER = parse_address("http://127.0.0.1/v1", "m")
KEY = Key("sk-0123456789")


def sent(request: Request, profile: str = "vllm") -> Any:
    return json.loads(encode_request(request, parse_address("http://127.0.0.1/v1", "m", profile), "m"))


def test_a_request_holds_the_picture_as_it_is_and_only_what_is_set() -> None:
    request = Request(images=(PNG,), text='What "is"\n覆盖\ud83d?', sampling=Sampling(temperature=0.0), detail="high")
    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    content = [
        {"type": "image_url", "image_url": {"url": url, "detail": "high"}},
        {"type": "text", "text": 'What "is"\n覆盖\ud83d?'},
    ]
    assert sent(request) == {
        "model": "m",
        "messages": [{"role": "user", "content": content}],
        "temperature": 0.0,
    }


def test_text_first_two_images_no_detail_and_parameters() -> None:
    parameters = {"top_k": 1, "provider": {"only": ["x"]}, "temperature": 2}
    request = Request(images=(PNG, WEBP), text="a", text_first=True, parameters=parameters, sampling=Sampling(seed=1))
    body = sent(request)
    kinds = [part["type"] for part in body["messages"][0]["content"]]
    assert kinds == ["text", "image_url", "image_url"]
    assert [list(part["image_url"]) for part in body["messages"][0]["content"][1:]] == [["url"], ["url"]]
    assert body["messages"][0]["content"][2]["image_url"]["url"].startswith("data:image/webp;base64,")
    assert {name: body[name] for name in (*parameters, "seed")} == {**parameters, "seed": 1}


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("openai", {"model": "m", "max_completion_tokens": 9}),
        ("azure", {"max_completion_tokens": 9}),
        ("vllm", {"model": "m", "max_tokens": 9}),
    ],
)
def test_names_of_parameters(profile: str, expected: dict[str, Any]) -> None:
    body = sent(Request(images=(PNG,), sampling=Sampling(max_tokens=9)), profile)
    del body["messages"]
    assert body == expected


def test_azure_without_parameters() -> None:
    assert list(sent(Request(text="a"), "azure")) == ["messages"]


@pytest.mark.parametrize("request_", [Request(images=(b"GIF89a",)), Request(text="a", candidates=("b",))])
def test_what_cannot_be_sent(request_: Request) -> None:
    with pytest.raises(RequestProblem):
        encode_request(request_, parse_address("http://127.0.0.1/v1", "m", "llamacpp"), "m")


@pytest.mark.parametrize(
    ("profile", "request_", "name"),
    [
        ("anthropic", Request(text="a", sampling=Sampling(seed=0)), "seed"),
        ("anthropic", Request(text="a", labels=("A",)), "logprobs"),
        ("anthropic", Request(text="a", parameters={"response_format": {"type": "json_object"}}), "response_format"),
        ("anthropic", Request(text="a", parameters={"presence_penalty": 0.5}), "presence_penalty"),
        ("transformers", Request(text="a", labels=("A",)), "logprobs"),
        ("ollama", Request(text="a", parameters={"num_ctx": 8192}), "num_ctx"),
    ],
)
def test_what_a_server_would_ignore_in_silence_is_not_sent(profile: str, request_: Request, name: str) -> None:
    with pytest.raises(ConfigError, match=f"of the kind {profile} take {name} and ignore it, .*; leave it out"):
        sent(request_, profile)
    assert name in sent(request_)


def test_a_system_prompt() -> None:
    assert sent(Request(text="a", system="b"))["messages"][0] == {"role": "system", "content": "b"}
    assert Request(text="a", system="b").id != Request(text="a").id


def body(message: Any = None, **more: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": "yes"} if message is None else message}
    return json.dumps({"model": "m-1", "choices": [choice | more.pop("choice", {})], **more}).encode()


def read(data: bytes) -> Reply:
    return parse_reply(data, parse_address("http://host:1/v1", "m"), KEY.redact)


def test_a_reply_with_all_that_servers_say() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 3}}
    reply = read(
        body(choice={"finish_reason": "stop"}, usage=usage, system_fingerprint="fp_1", provider="P", created=1)
    )
    assert reply == Reply(
        text="yes",
        model="m-1",
        finish_reason="stop",
        usage={"input": 5, "output": 7, "thinking": 3},
        served={"host": "host:1", "provider": "P", "system_fingerprint": "fp_1"},
    )


@pytest.mark.parametrize(
    ("message", "reason", "text", "thinking", "outcome"),
    [
        ({"content": "yes"}, "stop", "yes", "", ReplyOutcome.ANSWERED),
        ({"content": ""}, "stop", "", "", ReplyOutcome.EMPTY),
        ({"content": "ye"}, "length", "ye", "", ReplyOutcome.TRUNCATED),
        ({"content": None, "reasoning_content": "hm"}, "length", "", "hm", ReplyOutcome.TRUNCATED),
        ({"content": "yes"}, "content_filter", "yes", "", ReplyOutcome.FILTERED),
        ({"content": "yes", "reasoning": "hm"}, "stop", "yes", "hm", ReplyOutcome.ANSWERED),
        ({"content": "<think>hm</think>\n\nyes"}, "stop", "yes", "hm", ReplyOutcome.ANSWERED),
        ({"content": "hm</think>yes"}, "stop", "yes", "hm", ReplyOutcome.ANSWERED),
        ({"content": "<think>hm, and"}, "length", "", "hm, and", ReplyOutcome.TRUNCATED),
        ({"content": "a <think> b"}, "stop", "a <think> b", "", ReplyOutcome.ANSWERED),
        ({"content": [{"type": "text", "text": "yes"}, {}, 3]}, "stop", "yes", "", ReplyOutcome.ANSWERED),
        ({"content": None, "refusal": "I cannot"}, "stop", "I cannot", "", ReplyOutcome.ANSWERED),
        ({"content": "\ud83d ok \ud83d\ude00"}, "stop", "\ufffd ok \U0001f600", "", ReplyOutcome.ANSWERED),
        ({"content": "it is sk-0123456789"}, "stop", "it is [key]", "", ReplyOutcome.ANSWERED),
    ],
)
def test_replies(message: Any, reason: str, text: str, thinking: str, outcome: ReplyOutcome) -> None:
    reply = read(body(message, choice={"finish_reason": reason}))
    assert (reply.text, reply.thinking, reply.outcome) == (text, thinking, outcome)
    json.dumps(reply.to_json(), ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    ("data", "kind", "sentence"),
    [
        (b"", "not_json", "the server sent nothing"),
        (b"<!doctype html><p>Welcome", "not_json", "a page in place of a reply; see whether --endpoint is right"),
        (body()[:-9], "not_json", "no whole reply"),
        (b"[" * 100_000, "not_json", "no whole reply"),
        (b"[" + b"1," * (1 << 21) + b"1]", "not_json", "no whole reply"),
        (b"1" * 5000, "not_json", "no whole reply"),
        (b"[]", "wrong_form", "the server sent a list in place of a reply"),
        (b"null", "not_json", "no whole reply"),
        (b"{}", "wrong_form", "without a message"),
        (b'{"choices": [{"message": "yes"}]}', "wrong_form", "without a message"),
        (body({"content": 3}), "wrong_form", "a number in place of an answer's text"),
        (body({"content": {"text": "yes"}}), "wrong_form", "an object in place of an answer's text"),
        (b'{"error": {"message": "no sk-0123456789", "code": 502}}', "error_in_reply", "the server says: no [key]"),
        (b'{"error": "busy\\u001b[31m\\n now"}', "error_in_reply", "the server says: busy [31m now"),
        (body(choice={"error": {"message": "gone"}}), "error_in_reply", "the server says: gone"),
    ],
)
def test_what_is_no_reply(data: bytes, kind: str, sentence: str) -> None:
    with pytest.raises(CallError) as error:
        read(data)
    assert error.value.kind == kind and sentence in error.value.detail and error.value.retryable


def test_an_error_in_a_good_answer_may_be_a_refusal() -> None:
    with pytest.raises(CallError) as error:
        read(b'{"error": {"message": "no such model", "code": 404}}')
    assert not error.value.retryable


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"error": {"message": "Incorrect API key provided: sk-0123456789."}}', "Incorrect API key provided: [key]."),
        (b'{"detail": [{"loc": ["body"], "msg": "field required"}]}', "field required"),
        (b'{"object": "error", "message": "too long"}', "too long"),
        (b'{"error": {"a": 1}}', ""),
        (b"Internal Server Error", "Internal Server Error"),
        (b"<html><head><title>502 Bad Gateway</title></head></html>", "502 Bad Gateway"),
        (b"", ""),
        (b"\xff\xfe\x1b[2Jx", "\ufffd\ufffd [2Jx"),
        (b"x" * 100_000, "x" * 300),
        (b" " * 4795 + b"sk-0123456789", "[key]"),  # in one piece, wherever a text is cut
    ],
)
def test_what_servers_say(data: bytes, sentence: str) -> None:
    assert error_sentence(data, KEY.redact) == sentence


def test_filters_and_quotas() -> None:
    filtered = filtered_reply(b'{"error": {"code": "content_filter", "message": "..."}}', "host")
    assert filtered is not None and filtered.outcome == ReplyOutcome.FILTERED and filtered.text == ""
    assert filtered_reply(b'{"error": {"code": "other"}}', "host") is None
    assert is_out_of_quota(b'{"error": {"code": "insufficient_quota"}}') and not is_out_of_quota(b"[]")


def random_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind >= 6:
        values = [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
        names = ("choices", "message", "content", "error", "model", "usage", "finish_reason", "prompt_tokens", "code")
        return values if kind == 6 else {rng.choice(names): value for value in values}
    texts = ("", "yes", "<think>", "\ud83d", "\x1b[2J", "sk-0123456789", "</think>", "length", "text")
    return [None, True, rng.randrange(-(10**20), 10**20), rng.random(), float("nan"), rng.choice(texts)][kind]


def test_three_thousand_random_replies() -> None:
    """Each is a reply or an error, and none of them holds the key."""
    rng, replies, whole = random.Random(0), 0, body(usage={"prompt_tokens": 1}, choice={"finish_reason": "stop"})
    for number in range(3_000):
        if number % 3 == 0:  # of the right form, but for some values
            message = random_value(rng) if rng.random() < 0.5 else {"content": random_value(rng)}
            more = {name: random_value(rng) for name in ("usage", "model", "system_fingerprint")}
            data = body(message, choice={"finish_reason": random_value(rng)}, **more)
        elif number % 3 == 1:
            data = json.dumps(random_value(rng)).encode()
        else:  # bytes exchanged, taken out or put in
            data = bytearray(whole)  # type: ignore[assignment]
            for _ in range(rng.randrange(1, 6)):
                at = rng.randrange(len(data))
                data[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))  # type: ignore[index]
            data = bytes(data)
        try:
            reply = read(data)
        except CallError as error:
            told = error.detail
        else:
            replies += 1
            told = json.dumps(reply.to_json(), ensure_ascii=False)
            told.encode("utf-8")
            assert reply.outcome in ReplyOutcome
        assert "sk-0123456789" not in told + error_sentence(data, KEY.redact)
        filtered_reply(data, "host")
        is_out_of_quota(data)
    assert 150 < replies < 2700
