"""Media types of images, and data URIs for pages."""

import base64

_MEDIA_TYPES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


def media_type(data: bytes) -> str | None:
    """Media type of an encoded image by its first bytes; None for other formats."""
    webp = "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
    return next((kind for start, kind in _MEDIA_TYPES if data.startswith(start)), webp)


def data_uri(data: bytes) -> str:
    """Return an encoded image as a data URI; empty for other formats."""
    kind = media_type(data)
    return f"data:{kind};base64,{base64.b64encode(data).decode()}" if kind else ""
