"""Google's Gemini protocol: a request as the bytes that are sent, and a reply out of the bytes that come back."""

from __future__ import annotations

import base64
import json
from typing import Any

from vcrgen.models.address import Address
from vcrgen.models.base import Reply, Request
from vcrgen.models.chat import CallError, Redact, clean_name, image_type, parse_object, token_counts
from vcrgen.reading import encodable

MAX_REPLY_BYTES = 8 << 20


def encode_request(request: Request, address: Address, model: str, candidate: str | None = None) -> bytes:
    """Encode a request as JSON, without unset fields; ``safetySettings`` and the like are its parameters.

    Raises:
        RequestProblem: An image has an unknown format.
    """
    images: list[dict[str, Any]] = [
        {"inlineData": {"mimeType": image_type(image), "data": base64.b64encode(image).decode("ascii")}}
        for image in request.images
    ]
    words: list[dict[str, Any]] = [{"text": request.text}] if request.text else []
    parts = words + images if request.text_first else images + words
    names = address.kind.names
    settings = {names.get(name, name): value for name, value in request.sampling.given.items()}
    more = dict(request.parameters)
    given = more.pop("generationConfig", {})
    settings |= given if isinstance(given, dict) else {}
    body: dict[str, Any] = {"generationConfig": settings} if settings else {}
    if request.system:
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    body |= {**more, "contents": [{"role": "user", "parts": parts}]}
    return json.dumps(body, separators=(",", ":")).encode("ascii")


def parse_reply(data: bytes, address: Address, redact: Redact) -> Reply:
    """Parse the body of a response with status 200.

    Raises:
        CallError: The body is no reply, or an error in spite of its status.
    """
    body = parse_object(data, redact, address.option)
    usage = _object(body.get("usageMetadata"))
    thoughts, written = usage.get("thoughtsTokenCount"), usage.get("candidatesTokenCount")
    if type(thoughts) is int:  # not counted among the others, and paid for like them
        written = thoughts + (written if type(written) is int else 0)
    tokens = token_counts(usage.get("promptTokenCount"), written, thoughts)
    listed = body.get("candidates")
    candidate = _object(listed[0]) if isinstance(listed, list) and listed else {}
    reason = clean_name(candidate.get("finishReason"), redact)
    if not candidate and _object(body.get("promptFeedback")).get("blockReason"):
        reason = "blocked_prompt"
    elif not reason:
        raise CallError("wrong_form", "the server sent a reply without a candidate", usage=tokens)
    parts = _object(candidate.get("content")).get("parts")
    texts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    said = {
        thought: "".join(
            part["text"] for part in texts if bool(part.get("thought")) == thought and isinstance(part.get("text"), str)
        )
        for thought in (False, True)
    }
    return Reply(
        text=encodable(redact(said[False])),
        thinking=encodable(redact(said[True])),
        finish_reason=reason,
        model=clean_name(body.get("modelVersion"), redact),
        usage=tokens,
        served={"host": address.host},
    )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
