"""Images of a request as pixels, for models that run in this process; the bytes may come from anywhere."""

from __future__ import annotations

import io

from PIL import Image

from vcrgen.models.base import RequestProblem
from vcrgen.records import Reason

MAX_BYTES = 32 << 20
# The largest image that a build makes: 4096 px wide and 16384 px high.
MAX_PIXELS = 4096 * 16384
FORMATS = ("PNG", "JPEG", "WEBP")  # those that are sent to servers, too


def decode_image(data: bytes) -> Image.Image:
    """Decode an image.

    Returns:
        An image of mode RGB in its own size.

    Raises:
        RequestProblem: It is too large, or not an image.
    """
    if len(data) > MAX_BYTES:
        raise RequestProblem(Reason.OVERSIZED, f"larger than {MAX_BYTES >> 20} MiB")
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        # Judged from the header, before anything is decoded.
        if image.width * image.height <= MAX_PIXELS:
            return image.convert("RGB")
    except Image.DecompressionBombError:
        raise RequestProblem(Reason.OVERSIZED, f"more than {MAX_PIXELS:,} pixels") from None
    except Exception:  # decoders raise anything on hostile files
        raise RequestProblem(Reason.UNDECODABLE, "not a whole PNG, JPEG or WebP image") from None
    raise RequestProblem(Reason.OVERSIZED, f"{image.width}x{image.height} pixels, more than {MAX_PIXELS:,} in all")
