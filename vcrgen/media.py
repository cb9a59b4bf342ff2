"""Which kind of image some bytes are, and how a page holds it."""

import base64

_MEDIA_TYPES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


def media_type(data: bytes) -> str | None:
    """The media type of an encoded image, told by its first bytes; None for what is shown to nobody."""
    webp = "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
    return next((kind for start, kind in _MEDIA_TYPES if data.startswith(start)), webp)


def data_uri(data: bytes) -> str:
    """An encoded image as an address that holds all of it; empty for what :func:`media_type` does not know."""
    kind = media_type(data)
    return f"data:{kind};base64,{base64.b64encode(data).decode()}" if kind else ""
