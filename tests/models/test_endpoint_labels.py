"""Log-probabilities of labels as the first token, asked of servers; what is not believed of them."""

from typing import Any

import pytest

from vcrgen.core.errors import EndpointError
from vcrgen.models.address import parse_address
from vcrgen.models.base import Reply, Request, RequestProblem
from vcrgen.models.connection import Limits
from vcrgen.models.endpoint import EndpointModel

LABELS = tuple("ABCD")


def ask(server: Any, count: int = 1) -> list[Reply | RequestProblem]:
    model = EndpointModel(parse_address(server.url, "m"), "m", limits=Limits(concurrency=1, timeout=20))
    requests = [(number, Request(text=f"question {number}", labels=LABELS)) for number in range(count)]
    outcomes = dict(model.answers(requests, lambda what, reply: None))
    return [outcomes[number] for number in range(count)]


def content(*first: tuple[Any, Any]) -> dict[str, Any]:
    told = [{"token": token, "logprob": value} for token, value in first]
    return {"logprobs": {"content": [{"token": "x", "logprob": -1, "top_logprobs": told}]}}


def test_labels_are_found_among_the_likeliest_tokens(serve: Any, faults: Any) -> None:
    figures = [("B", -0.6), (" A", -1.5), ("b", -2.5), ("A", -3.0), ("Answer", -4.0), ("D", -9999)]
    server = serve(lambda call: faults.Answer(choice=content(*figures)))
    (reply,) = ask(server)
    assert isinstance(reply, Reply) and reply.label_logprobs == (-1.5, -0.6, None, -9999)
    assert Reply.from_json(reply.to_json()) == reply
    assert (server.calls[0].body["logprobs"], server.calls[0].body["top_logprobs"]) == (True, 20)


def test_a_reply_without_a_token_tells_no_label(serve: Any, faults: Any) -> None:
    (reply,) = ask(serve(lambda call: faults.Answer(text="", choice={"logprobs": {"content": []}})))
    assert isinstance(reply, Reply) and reply.label_logprobs == (None,) * 4


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({}, "the server gives no log-probabilities of the first token"),
        ({"logprobs": {"content": "x"}}, "the server gives no log-probabilities of the first token"),
        (content(), "the server gives no log-probabilities of the first token"),
        (content((1, -1)), "the server gives no log-probabilities of the first token"),
        (content(("A", "-1")), "what came are not logarithms of probabilities"),
        (content(("A", 0.5)), "what came are not logarithms of probabilities"),
        (content(("A", 0), ("B", 0), ("C", 0), ("D", 0)), "the probabilities of the first token add up to more than 1"),
    ],
)
def test_a_server_that_is_not_believed(serve: Any, faults: Any, choice: dict[str, Any], message: str) -> None:
    server = serve(lambda call: faults.Answer(choice=choice))
    with pytest.raises(EndpointError) as error:
        ask(server)
    assert str(error.value) == (
        f"127.0.0.1:{server.port}: {message}, so its log-probabilities are not believed; leave out --label-logprobs, "
        "or ask a model in this process (--transformers) for them."
    )


def test_one_bad_reply_among_good_ones(serve: Any, faults: Any) -> None:
    def plan(call: Any) -> Any:
        return faults.Answer(choice={} if b"question 2" in call.data else content(("A", -0.1)))

    outcomes = ask(serve(plan), 4)
    assert [type(outcome) for outcome in outcomes] == [Reply, Reply, RequestProblem, Reply]
    assert isinstance(problem := outcomes[2], RequestProblem) and problem.reason == "no_logprobs"
