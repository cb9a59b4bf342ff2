"""Decoding of untrusted images, for models in this process."""

import io
from collections.abc import Callable
from functools import partial

from PIL import Image

from vcrgen.core.records import RejectReason
from vcrgen.models.base import RequestProblem

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


def _as_png(image: Image.Image) -> tuple[Image.Image, str]:
    return image, "PNG"


def _as_vlmevalkit(image: Image.Image, longest: int | None = None) -> tuple[Image.Image, str]:
    """Resize as VLMEvalKit does for GPT models: shrink to ``longest``, make the shorter side 100 at least."""
    if longest is not None:
        image.thumbnail((longest, longest))
    if min(image.size) < _VLMEVALKIT_EDGE:
        factor = _VLMEVALKIT_EDGE / min(image.size)
        image = image.resize((int(image.width * factor), int(image.height * factor)))
    return image, "JPEG"


_VLMEVALKIT_EDGE = 100
# Of published programs: how an image is encoded anew, with the defaults of Pillow. A test compares the bytes.
IMAGE_FORMS: dict[str, Callable[[Image.Image], tuple[Image.Image, str]]] = {
    "png": _as_png,
    "vlmevalkit": _as_vlmevalkit,
    "vlmevalkit-512": partial(_as_vlmevalkit, longest=512),
}


def encode_image(data: bytes, form: str) -> bytes:
    """Encode an image anew in a form of :data:`IMAGE_FORMS`; a RequestProblem if it is too large or invalid."""
    image, name = IMAGE_FORMS[form](decode_image(data))
    buffer = io.BytesIO()
    image.save(buffer, name)
    return buffer.getvalue()
