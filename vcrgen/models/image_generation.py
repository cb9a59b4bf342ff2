"""OpenAI's protocol for generated pictures: a request as the bytes that are sent, and a picture out of what comes back.

Servers differ in what they know: some refuse ``response_format``, as they never answer in another form, some refuse
``seed``. What a server refuses by name is not sent to it again. Only a picture that is in the reply itself is taken: an
address is never fetched, whoever's it is.
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Collection
from typing import Any

from vcrgen.core.errors import EndpointError
from vcrgen.models.address import Address
from vcrgen.models.base import Reply, Request
from vcrgen.models.chat import CallError, Redact, clean_name, parse_object

MAX_REPLY_BYTES = 48 << 20  # Base64 of 36 MiB
# What some servers refuse, as they have it no other way.
OPTIONAL = {"response_format": "b64_json", "seed": None}
_REFUSED = (400, 422)
_DATA_ADDRESS = re.compile(r"data:[a-z]+/[a-z0-9.+-]+;base64,")


def encode_request(request: Request, address: Address, model: str, without: Collection[str] = ()) -> bytes:
    """Encode a request for an image as JSON, ``without`` those names of :data:`OPTIONAL` that the server rejects."""
    head = {"model": model} if address.kind.names_model else {}
    more = OPTIONAL | {"seed": request.sampling.seed}
    sent = {name: value for name, value in more.items() if value is not None and name not in without}
    fields = {**head, "prompt": request.text, "n": 1, **sent, **request.parameters}
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def refused_names(status: int, data: bytes) -> frozenset[str]:
    """Optional parameters that an error message quotes; none where the status is that of another error."""
    if status not in _REFUSED:
        return frozenset()
    return frozenset(name for name in OPTIONAL if re.search(rf"[\"'`]{name}\\?[\"'`]".encode(), data))


def parse_reply(data: bytes, address: Address, redact: Redact) -> Reply:
    """Read the image in the body of a response with status 200, not decoded.

    Raises:
        CallError: The body holds no image, or an error in spite of its status.
        EndpointError: It holds the URL of an image in place of the image.
    """
    body = parse_object(data, redact, "image_endpoint")
    listed = body.get("data")
    first = listed[0] if isinstance(listed, list) and listed else None
    if not isinstance(first, dict):
        raise _no_picture("the server sent no picture; see whether image_endpoint is right")
    text, place = first.get("b64_json"), first.get("url")
    if not text and place and isinstance(place, str) and not (text := _inside(place)):
        raise EndpointError(
            f"{address.host} sends the address of a picture in place of the picture, and addresses are not fetched; "
            "set the server to answer with b64_json, or name another image_endpoint."
        )
    picture = _decoded(text)
    return Reply(
        text=hashlib.sha256(picture).hexdigest(),
        picture=picture,
        model=clean_name(body.get("model"), redact),
        usage={"pictures": 1},
        served={"host": address.host},
    )


def _inside(address: str) -> str:
    """Base64 of a data URL; empty for another URL."""
    start = _DATA_ADDRESS.match(address[:100])
    return address[start.end() :] if start else ""


def _decoded(text: Any) -> bytes:
    try:
        picture = base64.b64decode("".join(text.split()), validate=True)
    except (AttributeError, ValueError, binascii.Error):
        picture = b""
    if not picture:
        raise _no_picture("what the server sent for a picture is not Base64")
    return picture


def _no_picture(detail: str) -> CallError:
    """Error of a reply without an image, which is not retried: it was paid for."""
    return CallError("wrong_form", detail, retryable=False)
