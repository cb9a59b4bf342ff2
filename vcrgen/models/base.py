"""What is sent to a model and what comes back, whatever the model is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from vcrgen.files import canonical_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a model chooses its words. What is None is not sent: the model's own default holds."""

    temperature: float | None = None  # 0 takes the likeliest token each time
    top_p: float | None = None  # tokens are drawn from the likeliest ones that together have this probability
    max_tokens: int | None = None  # tokens of the reply, at most
    seed: int | None = None  # of the draws


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a model. It holds no key, no address and no name of a model."""

    images: tuple[bytes, ...] = ()  # encoded images (PNG, WebP, ...), byte for byte as they are stored
    text: str = ""  # the prompt; empty for a model that needs none
    language: str = ""  # language code of the text that is read or written, for a model that no prompt tells
    sampling: Sampling = field(default_factory=Sampling)  # how the reply is drawn
    candidates: tuple[str, ...] = ()  # texts whose likelihood as the reply is wanted

    @property
    def id(self) -> str:
        """SHA-256 of the content, in hex: equal requests have equal ids. An empty field does not count."""
        content = {
            "images": [hashlib.sha256(image).hexdigest() for image in self.images],
            "text": self.text,
            "language": self.language,
            "sampling": {name: value for name, value in asdict(self.sampling).items() if value is not None},
            "candidates": self.candidates,
        }
        given = canonical_json({name: value for name, value in content.items() if value})
        return hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered.

    Attributes:
        finish_reason: Why the answer ends where it does: ``stop``, ``length`` for one that was cut, ...; empty where
            the model does not say.
        usage: Tokens by kind, such as ``input`` and ``output``; empty where the model does not count.
        likelihoods: Of each candidate, in the request's order, the natural logarithm of its probability.
    """

    text: str  # the answer; it may be empty, which is not the same as no reply
    model: str  # name of the model that answered, as it gives it itself
    finish_reason: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    likelihoods: tuple[float, ...] = ()

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Reply:
        """The reply of which ``values`` are the fields as JSON gives them back."""
        return cls(**{**values, "likelihoods": tuple(values["likelihoods"])})


class RequestProblem(Exception):
    """One request gets no reply. The run sets it aside and goes on with the others.

    Attributes:
        reason: Its type, by which it is counted, such as ``undecodable_image``.
        detail: What was found, for people.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Model(Protocol):
    """What answers requests, one at a time.

    Attributes:
        name: Name and version, for the file of outputs.
        facts: Everything that its replies depend on, as JSON values. A run goes on with the replies of an earlier one
            only if these are the same.
    """

    name: str
    facts: Mapping[str, Any]

    def reply(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            RequestProblem: This request has no answer; others may.
        """
