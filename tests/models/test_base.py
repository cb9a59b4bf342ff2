"""Ids of requests, and replies that come back from a ledger."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.models.base import Reply, Request, Sampling

WHOLE = Request(
    images=(b"one", b"two"),
    text="What is hidden?",
    language="en",
    sampling=Sampling(temperature=0.0, top_p=0.5, max_tokens=9, seed=1),
    candidates=("a", "b"),
    text_first=True,
    detail="high",
    parameters={"top_k": 1},
)


def test_equal_requests_have_one_id() -> None:
    assert WHOLE.id == dataclasses.replace(WHOLE).id and len(WHOLE.id) == 64


def test_ids_are_the_same_for_ever() -> None:
    """A ledger of an earlier version is gone on with; new fields change nothing while they are empty."""
    assert Request(images=(b"one",), language="en").id == GOLDEN
    assert WHOLE.id == GOLDEN_WHOLE


GOLDEN_WHOLE = "a7e12a4b6fcf2d957c06879234098b2ca00f47b2ef674da77b4e15ca244c5bb6"
GOLDEN = "4ad1042118bc6c0337403b266a234875b079a69d298940a99bdcd0c9d0be2438"


@pytest.mark.parametrize(
    "change",
    [
        {"images": (b"two", b"one")},
        {"images": (b"onetwo",)},
        {"images": ()},
        {"text": "What is hidden"},
        {"language": "zh"},
        {"candidates": ("b", "a")},
        {"candidates": ("ab",)},
        {"text_first": False},
        {"detail": "low"},
        {"detail": ""},
        {"parameters": {"top_k": 2}},
        {"parameters": {}},
        *(
            {"sampling": dataclasses.replace(WHOLE.sampling, **{field.name: None})}
            for field in dataclasses.fields(Sampling)
        ),
        {"sampling": dataclasses.replace(WHOLE.sampling, temperature=0.1)},
    ],
)
def test_whatever_differs_gives_another_id(change: dict[str, Any]) -> None:
    assert dataclasses.replace(WHOLE, **change).id != WHOLE.id


def test_a_temperature_of_zero_is_sent_and_counts() -> None:
    assert Request(sampling=Sampling(temperature=0.0)).id != Request().id


def test_half_a_surrogate_pair_has_an_id() -> None:
    assert Request(text="\ud83d").id != Request(text="\ude00").id


@given(
    st.builds(
        Reply,
        text=st.text(),
        model=st.text(),
        finish_reason=st.sampled_from(["", "stop", "length"]),
        usage=st.dictionaries(st.sampled_from(["input", "output"]), st.integers(0, 10**9)),
        candidate_logprobs=st.lists(
            st.lists(st.tuples(st.text(), st.floats(max_value=0.0, allow_nan=False))).map(tuple)
        ).map(tuple),
        thinking=st.text(),
        served=st.dictionaries(st.sampled_from(["host", "provider"]), st.text()),
        retries=st.dictionaries(st.sampled_from(["reset", "http_500"]), st.integers(1, 9)),
        seconds=st.floats(0, 100),
    )
)
def test_a_reply_comes_back_from_json(reply: Reply) -> None:
    assert Reply.from_json(json.loads(json.dumps(reply.to_json()))) == reply


def test_a_reply_as_json_holds_what_it_says() -> None:
    assert Reply(text="", model="").to_json() == {"text": "", "model": ""}
    assert Reply(text="a", model="m", seconds=1.5).to_json() == {"text": "a", "model": "m", "seconds": 1.5}
