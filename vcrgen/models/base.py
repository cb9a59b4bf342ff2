"""Requests to a model and its replies, of any kind of model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from vcrgen.core.files import canonical_json
from vcrgen.core.progress import SILENT, ProgressListener

T = TypeVar("T")
TokenLogprobs = tuple[tuple[str, float], ...]  # tokens of a text, each with the natural logarithm of its probability
# Why an answer ends, in the words of several servers.
_TRUNCATED = {"length", "max_tokens", "model_length", "model_context_window_exceeded"}
_FILTERED = {
    "content_filter",
    "safety",
    "refusal",
    "blocklist",
    "prohibited_content",
    "recitation",
    "spii",
    "image_safety",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling parameters. None is not sent: the model's own default holds."""

    temperature: float | None = None  # 0 takes the likeliest token each time
    top_p: float | None = None  # tokens are drawn from the likeliest ones that together have this probability
    max_tokens: int | None = None  # tokens of the reply, at most
    seed: int | None = None  # of the draws

    @property
    def given(self) -> dict[str, float | int]:
        """Parameters that are sent; one that is None is left to the server."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A question to a model, without key, address and name of a model."""

    images: tuple[bytes, ...] = ()  # encoded images (PNG, WebP, ...), byte for byte as they are stored
    text: str = ""  # the prompt; empty for a model that needs none
    system: str = ""  # the system prompt
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
        """SHA-256 of the non-empty fields, in hex: equal requests have equal ids."""
        content = {
            "images": [hashlib.sha256(image).hexdigest() for image in self.images],
            "text": self.text,
            "system": self.system,
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
        fields = canonical_json({name: value for name, value in content.items() if value})
        return hashlib.sha256(fields.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def for_candidates(self) -> Request:
        """The same request with the prompt of the candidates; itself if they share the prompt."""
        if not self.candidates_text:
            return self
        short = replace(self.sampling, max_tokens=1)  # what is written after that prompt is of no use
        return replace(self, text=self.candidates_text, candidates_text="", labels=(), sampling=short)


class ReplyOutcome(StrEnum):
    """The outcome of a reply. A request without a reply has none of these: it failed."""

    ANSWERED = "answered"
    EMPTY = "empty"  # an answer without text
    TRUNCATED = "truncated"  # stopped by `max_tokens`; a thinking model may not have come to its answer at all
    FILTERED = "filtered"  # a filter of the server's took the answer away


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's reply.

    Attributes:
        finish_reason: Reason of the end, as the server names it: ``stop``, ``length``, ...; empty if unknown.
        usage: Tokens by kind (``input``, ``output``, ``thinking``) and generated ``pictures``, as far as counted.
        extra_usage: The same of calls that the reply does not show: of ``unusable`` replies before this one, and of a
            ``check`` of the server.
        candidate_logprobs: Tokens of each candidate with their log-probabilities; see :mod:`vcrgen.models.logprobs`.
        label_logprobs: Log-probability of each label as the first token; None if it is not among the listed ones.
        thinking: Reasoning before the answer; no part of ``text``.
        served: Origin of the reply, as far as known: ``host``, ``provider``, ``system_fingerprint``.
        retries: Number of failed tries by reason.
        seconds: Duration of the last try.
        spans: Of the template baseline, for each covered text that it found: ``text``, ``bits``, ``fit`` and
            the ``signature`` of the bits.
        picture: A generated image as the server encoded it; ``text`` is its SHA-256. Not part of the JSON form.
    """

    text: str  # the answer; it may be empty, which is not the same as no reply
    model: str  # name of the model that answered, as it gives it itself
    finish_reason: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    extra_usage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    candidate_logprobs: tuple[TokenLogprobs, ...] = ()
    label_logprobs: tuple[float | None, ...] = ()
    thinking: str = ""
    served: Mapping[str, str] = field(default_factory=dict)
    retries: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    spans: tuple[Mapping[str, Any], ...] = ()
    picture: bytes = b""

    @property
    def outcome(self) -> ReplyOutcome:
        """What became of the answer, by the reason of its end; without one, by the text."""
        reason = self.finish_reason.lower()
        if reason in _FILTERED:
            return ReplyOutcome.FILTERED
        if reason in _TRUNCATED:
            return ReplyOutcome.TRUNCATED
        return ReplyOutcome.ANSWERED if self.text.strip() else ReplyOutcome.EMPTY

    def to_json(self) -> dict[str, Any]:
        """Fields but ``picture`` as JSON values, without empty ones."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "picture"}
        return {name: value for name, value in values.items() if value or name in ("text", "model")}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Reply:
        """Read a reply from these fields; a ValueError if they are none of a reply."""
        try:
            listed = values.get("candidate_logprobs", ())
            candidates = tuple(tuple((str(token), float(value)) for token, value in tokens) for tokens in listed)
            labels, spans = tuple(values.get("label_logprobs", ())), tuple(values.get("spans", ()))
            reply = cls(**{**values, "candidate_logprobs": candidates, "label_logprobs": labels, "spans": spans})
            texts = reply.text, reply.model, reply.finish_reason, reply.thinking
            counts = [count for usage in (reply.usage, *reply.extra_usage.values()) for count in usage.values()]
            if not all(isinstance(text, str) for text in texts) or {*map(type, counts)} - {int}:
                raise ValueError("a text or a number of tokens is none")
        except (TypeError, AttributeError) as error:
            raise ValueError(str(error)) from None
        return reply


class RequestProblem(Exception):
    """A request without a reply; the run continues with the others.

    Attributes:
        reason: Type of the problem, such as ``undecodable_image``.
        detail: Description for people.
        retries: Number of failed tries but the last, by reason.
        refused: Whether the server refuses this very request, so that it is not worth another try.
        usage: Tokens of unusable replies, by kind.
    """

    def __init__(
        self, reason: str, detail: str, retries: Mapping[str, int] | None = None, *, refused: bool = False
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.retries = retries or {}
        self.refused = refused
        self.usage: Mapping[str, int] = {}


class Model(Protocol):
    """A model that answers many requests.

    Attributes:
        name: Name and version, for the file of outputs.
        facts: Everything that the replies depend on, as JSON values; a run resumes only with equal facts.
    """

    name: str
    facts: Mapping[str, Any]

    def answers(
        self,
        requests: Iterable[tuple[T, Request]],
        keep: Callable[[T, Reply], None],
        *,
        proven: bool = False,
        listener: ProgressListener = SILENT,
    ) -> Iterator[tuple[T, Reply | RequestProblem]]:
        """Answer requests, any number at a time and in any order.

        Args:
            requests: Each with a tag of the caller's; taken only when it can be worked on.
            keep: Stores a reply; called as soon as there is one, in any thread.
            proven: Whether the model has answered such requests before, so that a refusal is one of a single request.
            listener: Is told of an outage, in any thread.

        Yields:
            The tag of a request, and its reply or problem.

        Raises:
            VcrgenError: No request can be answered any more.
        """


class VisionModel(Protocol):
    """A model that answers one request at a time; :class:`vcrgen.models.threads.ModelPool` runs several.

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
