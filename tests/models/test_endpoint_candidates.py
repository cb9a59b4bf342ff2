"""Log-probabilities of given answers, asked of servers: of those that give them, and of those that do not."""

from typing import Any

import pytest

from vcrgen.core.errors import EndpointError
from vcrgen.models import endpoint
from vcrgen.models.address import parse_address
from vcrgen.models.base import Reply, Request, RequestProblem, Sampling
from vcrgen.models.connection import Limits
from vcrgen.models.endpoint import EndpointModel
from vcrgen.models.servers import SERVERS

PNG = b"\x89PNG\r\n\x1a\n rest"
ANSWER = "it was élan\nthe café"


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.01)


def ask(
    server: Any, *candidates: str, profile: str | None = None, count: int = 1, concurrency: int = 1
) -> list[Reply | RequestProblem]:
    model = EndpointModel(
        parse_address(server.url, "m", profile), "m", limits=Limits(concurrency=concurrency, timeout=20)
    )
    sampling = Sampling(temperature=0.0, max_tokens=9)
    requests = [
        (number, Request(images=(PNG,), text=f"question {number}", sampling=sampling, candidates=candidates))
        for number in range(count)
    ]
    outcomes = dict(model.answers(requests, lambda what, reply: None))
    return [outcomes[number] for number in range(count)]


def test_what_is_sent_and_what_comes_back(serve: Any, faults: Any) -> None:
    server = serve(faults.with_likelihoods)
    (reply,) = ask(server, ANSWER, "of words and 猫")
    assert isinstance(reply, Reply) and reply.text == f"reply {server.calls[0].digest[:24]}"
    first, second = reply.candidate_logprobs
    tokens = ("it", " was", " \ufffd", "lan", "\n", "the", " caf", "\ufffd")
    assert first == tuple((token, faults.logprob(token)) for token in tokens)
    assert [token for token, _ in second] == ["of", " words", " and", " \ufffd"]
    question, *answers, probe = (call.body for call in server.calls)
    assert {name: question[name] for name in question if name != "messages"} == {
        "model": "m",
        "temperature": 0.0,
        "max_tokens": 9,
        "return_token_ids": True,
    }
    assert [body["messages"][-1]["content"] for body in answers] == [ANSWER, "of words and 猫"]
    for body in (*answers, probe):
        assert {name: body[name] for name in body if name != "messages"} == {
            "model": "m",
            "return_token_ids": True,
            "prompt_logprobs": 0,
            "continue_final_message": True,
            "add_generation_prompt": False,
            "max_tokens": 1,
        }
        assert body["messages"][0] == question["messages"][0] and body["messages"][1]["role"] == "assistant"
    assert reply.usage == {"input": 300, "output": 30}
    assert reply.extra_usage == {"check": {"input": 100, "output": 10}}  # of the probe, which no output shows


@pytest.mark.parametrize("concurrency", [1, 5])
def test_a_server_is_tried_once(serve: Any, faults: Any, concurrency: int) -> None:
    server = serve(faults.with_likelihoods)
    replies = ask(server, ANSWER, count=5, concurrency=concurrency)
    assert len(server.calls) == 5 * 2 + 1 and all(
        isinstance(reply, Reply) and reply.candidate_logprobs for reply in replies
    )


def test_parameters_decide_how_a_prompt_is_written(serve: Any, faults: Any) -> None:
    server = serve(faults.with_likelihoods)
    model = EndpointModel(parse_address(server.url, "m"), "m")
    request = Request(text="q", parameters={"chat_template_kwargs": {"x": 1}, "prompt_logprobs": 7}, candidates=("a",))
    assert len(list(model.answers([(0, request)], lambda what, reply: None))) == 1
    assert [call.body["chat_template_kwargs"] for call in server.calls] == [{"x": 1}] * 3
    assert [call.body["prompt_logprobs"] for call in server.calls] == [7, 0, 0]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("ignores", "the server ignores the request for log-probabilities of given answers"),
        ("same", "an absurd answer gets the same log-probability as the right one"),
        ("merges", "the prompt's tokens change when an answer follows"),
        ("other", "the tokens whose log-probabilities came do not spell the answer"),
        ("nan", "what came are not logarithms of probabilities"),
        ("text", "what came are not logarithms of probabilities"),
    ],
)
def test_a_server_that_is_not_believed(serve: Any, faults: Any, fault: str, message: str) -> None:
    server = serve(lambda call: faults.with_likelihoods(call, fault))
    with pytest.raises(EndpointError) as error:
        ask(server, ANSWER)
    assert str(error.value) == (
        f"127.0.0.1:{server.port}: {message}{', so an answer has none of its own' * (fault == 'merges')}, so its "
        "log-probabilities are not believed; leave out --answer-logprobs, or ask vLLM or a model in this process "
        "(--transformers) for them."
    )


def test_one_bad_reply_among_good_ones(serve: Any, faults: Any) -> None:
    """A server that was believed once is not given up for one reply; that one is set aside."""
    server = serve(lambda call: faults.with_likelihoods(call, "other" if b"question 2" in call.data else ""))
    outcomes = ask(server, ANSWER, count=4)
    assert [type(outcome) for outcome in outcomes] == [Reply, Reply, RequestProblem, Reply]
    assert isinstance(problem := outcomes[2], RequestProblem) and problem.reason == "other_text"


@pytest.mark.parametrize("half", [b"prompt_logprobs", b"continue_final_message"])
def test_faults_of_any_kind_are_survived(serve: Any, faults: Any, half: bytes) -> None:
    def plan(call: Any) -> Any:
        return faults.Answer(status=500) if call.tries == 0 and half in call.data else faults.with_likelihoods(call)

    (reply,) = ask(serve(plan), ANSWER)
    assert isinstance(reply, Reply) and reply.retries == {"http_500": 2} and reply.candidate_logprobs


def test_an_answer_of_zero_tokens(serve: Any, faults: Any) -> None:
    (problem,) = ask(serve(faults.with_likelihoods), "")
    assert isinstance(problem, RequestProblem) and problem.reason == "no_tokens"


@pytest.mark.parametrize("body", [b'{"choices": [{"message": {"content": "a"}}], "prompt_token_ids": %s}'])
@pytest.mark.parametrize("ids", [b"[]", b'["1"]', b"7"])
def test_tokens_of_a_wrong_form(serve: Any, faults: Any, body: bytes, ids: bytes) -> None:
    with pytest.raises(EndpointError, match="ignores the request"):
        ask(serve(lambda call: faults.Answer(body=body % ids)), ANSWER)


@pytest.mark.parametrize("profile", sorted(set(SERVERS) - {"vllm"}))
def test_kinds_of_servers_that_have_none_are_not_asked(serve: Any, profile: str) -> None:
    server = serve()
    (problem,) = ask(server, ANSWER, profile=profile)
    assert isinstance(problem, RequestProblem) and server.calls == []
    assert problem.detail == f"servers of the kind {profile} give no log-probabilities of answers"
