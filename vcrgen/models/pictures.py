"""Decoding of untrusted images, for models in this process."""

from __future__ import annotations

import io

from PIL import Image

from vcrgen.models.base import RequestProblem
from vcrgen.records import RejectReason

MAX_BYTES = 32 << 20
# The largest image that a build makes: 4096 px wide and 16384 px high.
MAX_PIXELS = 4096 * 16384
FORMATS = ("PNG", "JPEG", "WEBP")  # those that are sent to servers, too


def decode_image(data: bytes) -> Image.Image:
    """Decode an image to RGB; a RequestProblem if it is too large or invalid."""
    if len(data) > MAX_BYTES:
        raise RequestProblem(RejectReason.OVERSIZED, f"larger than {MAX_BYTES >> 20} MiB")
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        # Judged from the header, before anything is decoded.
        if image.width * image.height <= MAX_PIXELS:
            return image.convert("RGB")
    except Image.DecompressionBombError:
        raise RequestProblem(RejectReason.OVERSIZED, f"more than {MAX_PIXELS:,} pixels") from None
    except Exception:  # decoders raise anything on hostile files
        raise RequestProblem(RejectReason.UNDECODABLE, "not a whole PNG, JPEG or WebP image") from None
    raise RequestProblem(
        RejectReason.OVERSIZED, f"{image.width}x{image.height} pixels, more than {MAX_PIXELS:,} in all"
    )
