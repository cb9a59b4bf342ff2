"""What is sent to a model and what comes back, whatever the model is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from vcrgen.files import canonical_json

T = TypeVar("T")
TokenLogprobs = tuple[tuple[str, float], ...]  # tokens of a text, each with the natural logarithm of its probability
# Why an answer ends, in the words of several servers.
_CUT = {"length", "max_tokens", "model_length"}
_FILTERED = {"content_filter", "safety"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a model chooses its words. What is None is not sent: the model's own default holds."""

    temperature: float | None = None  # 0 takes the likeliest token each time
    top_p: float | None = None  # tokens are drawn from the likeliest ones that together have this probability
    max_tokens: int | None = None  # tokens of the reply, at most
    seed: int | None = None  # of the draws

    @property
    def given(self) -> dict[str, float | int]:
        """What is sent, by name."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a model. It holds no key, no address and no name of a model."""

    images: tuple[bytes, ...] = ()  # encoded images (PNG, WebP, ...), byte for byte as they are stored
    text: str = ""  # the prompt; empty for a model that needs none
    language: str = ""  # language code of the text that is read or written, for a model that no prompt tells
    sampling: Sampling = field(default_factory=Sampling)  # how the reply is drawn
    candidates: tuple[str, ...] = ()  # texts whose likelihood as the beginning of the model's turn is wanted
    candidates_text: str = ""  # the prompt that these follow; empty where it is `text`
    # texts of one token, whose log-probabilities as the first token of the model's turn, after `text`, are wanted
    labels: tuple[str, ...] = ()
    text_first: bool = False  # whether the prompt comes before the images
    detail: str = ""  # how closely images are looked at: ``low``, ``high``; empty for the server's own default
    parameters: Mapping[str, Any] = field(default_factory=dict)  # further ones by a server's names; JSON values
    picture: bool = False  # whether a picture of what `text` says is wanted, in place of words

    @property
    def id(self) -> str:
        """SHA-256 of the content, in hex: equal requests have equal ids. An empty field does not count."""
        content = {
            "images": [hashlib.sha256(image).hexdigest() for image in self.images],
            "text": self.text,
            "language": self.language,
            "sampling": self.sampling.given,
            "candidates": self.candidates,
            "candidates_text": self.candidates_text,
            "labels": self.labels,
            "text_first": self.text_first,
            "detail": self.detail,
            "parameters": dict(self.parameters),
            "picture": self.picture,
        }
        given = canonical_json({name: value for name, value in content.items() if value})
        return hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def for_candidates(self) -> Request:
        """The request with the prompt that the candidates follow; itself where that is its own."""
        if not self.candidates_text:
            return self
        short = replace(self.sampling, max_tokens=1)  # what is written after that prompt is of no use
        return replace(self, text=self.candidates_text, candidates_text="", labels=(), sampling=short)


class ReplyOutcome(StrEnum):
    """What kind of a reply it is. A request without a reply has none of these: it failed."""

    ANSWERED = "answered"
    EMPTY = "empty"  # an answer without text
    CUT = "cut"  # the answer was longer than was allowed; a thinking model may not have come to its answer at all
    FILTERED = "filtered"  # a filter of the server's took the answer away


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered.

    Attributes:
        finish_reason: Why the answer ends where it does: ``stop``, ``length`` for one that was cut, ...; empty where
            the model does not say.
        usage: Tokens by kind, such as ``input`` and ``output``; ``pictures``, where one was generated; empty where the
            model does not count.
        likelihoods: Of each candidate, in the request's order, its tokens and the natural logarithm of the probability
            of each; see :mod:`vcrgen.models.likelihoods`.
        labels: Of each label, in the request's order, the natural logarithm of the probability that the model's turn
            begins with it; None of one that the server does not tell, as others are likelier.
        thinking: What the model wrote before its answer, to itself; it is no part of ``text``.
        served: Where the reply is from, as far as it is known: ``host``, ``provider``, ``system_fingerprint``.
        retries: How often the request was sent in vain before, by what went wrong.
        seconds: How long the answer took, without earlier tries.
        picture: The generated picture where one was asked for, as the server encoded it. Whoever writes a reply down
            writes this apart, by its SHA-256, which is ``text``.
    """

    text: str  # the answer; it may be empty, which is not the same as no reply
    model: str  # name of the model that answered, as it gives it itself
    finish_reason: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    likelihoods: tuple[TokenLogprobs, ...] = ()
    labels: tuple[float | None, ...] = ()
    thinking: str = ""
    served: Mapping[str, str] = field(default_factory=dict)
    retries: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    picture: bytes = b""

    @property
    def outcome(self) -> ReplyOutcome:
        """What kind of a reply it is."""
        reason = self.finish_reason.lower()
        if reason in _FILTERED:
            return ReplyOutcome.FILTERED
        if reason in _CUT:
            return ReplyOutcome.CUT
        return ReplyOutcome.ANSWERED if self.text.strip() else ReplyOutcome.EMPTY

    def to_json(self) -> dict[str, Any]:
        """The fields but ``picture`` as JSON values; an empty one, which says nothing, is left out."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "picture"}
        return {name: value for name, value in values.items() if value or name in ("text", "model")}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Reply:
        """The reply of which ``values`` are the fields as JSON gives them back."""
        given = values.get("likelihoods", ())
        likelihoods = tuple(tuple((str(token), float(value)) for token, value in tokens) for tokens in given)
        return cls(**{**values, "likelihoods": likelihoods, "labels": tuple(values.get("labels", ()))})


class RequestProblem(Exception):
    """One request gets no reply. The run sets it aside and goes on with the others.

    Attributes:
        reason: Its type, by which it is counted, such as ``undecodable_image``.
        detail: What was found, for people.
        retries: How often the request was sent, but for the last time, by what went wrong.
    """

    def __init__(self, reason: str, detail: str, retries: Mapping[str, int] | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.retries = retries or {}


class Model(Protocol):
    """What answers requests.

    Attributes:
        name: Name and version, for the file of outputs.
        facts: Everything that its replies depend on, as JSON values. A run goes on with the replies of an earlier one
            only if these are the same.
    """

    name: str
    facts: Mapping[str, Any]

    def answers(
        self, requests: Iterable[tuple[T, Request]], keep: Callable[[T, Reply], None]
    ) -> Iterator[tuple[T, Reply | RequestProblem]]:
        """Answer requests, as many at a time and in whatever order the model likes.

        Args:
            requests: Each with what the caller knows it by. One is taken when it can be worked on, not earlier.
            keep: Writes a reply down; called as soon as there is one, in any thread.

        Yields:
            What the caller knows a request by, and its reply or why it gets none.

        Raises:
            VcrgenError: No request can be answered any more.
        """


class Reader(Protocol):
    """What answers one request at a time; :class:`vcrgen.models.threads.Readers` makes a model of several.

    Attributes:
        name: As of a :class:`Model`.
        facts: As of a :class:`Model`.
    """

    name: str
    facts: Mapping[str, Any]

    def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            RequestProblem: This request has no answer; others may.
        """
