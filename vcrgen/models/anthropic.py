"""Anthropic's Messages protocol: a request as the bytes that are sent, and a reply out of the bytes that come back."""

from __future__ import annotations

import base64
import json
from typing import Any

from vcrgen.models.address import Address
from vcrgen.models.base import Reply, Request
from vcrgen.models.chat import CallError, Redact, clean_name, image_type, parse_object, token_counts
from vcrgen.reading import encodable

MAX_REPLY_BYTES = 8 << 20
_DEFAULT_TOKENS = 1024  # the protocol has no default


def encode_request(request: Request, address: Address, model: str, candidate: str | None = None) -> bytes:
    """Encode a request as JSON, without unset fields.

    Raises:
        RequestProblem: An image has an unknown format.
    """
    images = [
        {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": image_type(image),
                "data": base64.b64encode(image).decode("ascii"),
            },
        }
        for image in request.images
    ]
    words = [{"type": "text", "text": request.text}] if request.text else []
    settings = {"max_tokens": _DEFAULT_TOKENS, **request.sampling.given, **request.parameters}
    system = {"system": request.system} if request.system else {}
    content = [*words, *images] if request.text_first else [*images, *words]
    body = {"model": model, **settings, **system, "messages": [{"role": "user", "content": content}]}
    return json.dumps(body, separators=(",", ":")).encode("ascii")


def parse_reply(data: bytes, address: Address, redact: Redact) -> Reply:
    """Parse the body of a response with status 200.

    Raises:
        CallError: The body is no reply, or an error in spite of its status.
    """
    return read_message(parse_object(data, redact, address.option), address, redact)


def read_message(body: dict[str, Any], address: Address, redact: Redact) -> Reply:
    """Return the reply in a message, of a response or of a batch's line."""
    usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    assert isinstance(usage, dict)
    cached = [usage.get(f"cache_{name}_input_tokens") for name in ("creation", "read")]
    read = usage.get("input_tokens")
    if type(read) is int:
        read += sum(count for count in cached if type(count) is int)
    tokens = token_counts(read, usage.get("output_tokens"))
    parts = body.get("content")
    if not isinstance(parts, list):
        raise CallError("wrong_form", "the server sent a reply without content", usage=tokens)
    found = dict.fromkeys(("text", "thinking"), "")
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in found and isinstance(part.get(kind), str):
            found[kind] += part[kind]
    return Reply(
        text=encodable(redact(found["text"])),
        thinking=encodable(redact(found["thinking"])),
        model=clean_name(body.get("model"), redact),
        finish_reason=clean_name(body.get("stop_reason"), redact),
        usage=tokens,
        served={"host": address.host},
    )
