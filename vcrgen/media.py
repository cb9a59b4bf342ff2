"""Which kind of image some bytes are."""

_MEDIA_TYPES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


def media_type(data: bytes) -> str | None:
    """The media type of an encoded image, told by its first bytes; None for what is shown to nobody."""
    webp = "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
    return next((kind for start, kind in _MEDIA_TYPES if data.startswith(start)), webp)
