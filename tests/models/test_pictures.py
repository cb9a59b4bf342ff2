"""Decoded images of a request, and those that are refused."""

import io
import struct
import zlib

import pytest
from PIL import Image

from vcrgen.core.records import RejectReason
from vcrgen.models import pictures
from vcrgen.models.base import RequestProblem
from vcrgen.models.pictures import decode_image


def encoded(form: str = "PNG", mode: str = "RGB", size: tuple[int, int] = (40, 30)) -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, size).save(buffer, form)
    return buffer.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG file of a few bytes that says it is as large as one likes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 1000))


@pytest.mark.parametrize(
    ("form", "mode"), [("PNG", "RGB"), ("PNG", "P"), ("PNG", "L"), ("PNG", "1"), ("WEBP", "RGB"), ("JPEG", "L")]
)
def test_pictures_are_decoded_to_rgb(form: str, mode: str) -> None:
    image = decode_image(encoded(form, mode))
    assert (image.mode, image.size) == ("RGB", (40, 30))


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", RejectReason.UNDECODABLE),
        (b"GIF89a", RejectReason.UNDECODABLE),
        (encoded("GIF", "P"), RejectReason.UNDECODABLE),
        (encoded("JPEG")[:200], RejectReason.UNDECODABLE),
        (encoded()[:50], RejectReason.UNDECODABLE),
        (encoded(size=(900, 900))[:-40], RejectReason.UNDECODABLE),
        (png_header(100, 100), RejectReason.UNDECODABLE),
        (png_header(9000, 9000), RejectReason.OVERSIZED),
        (png_header(10_000, 10_000), RejectReason.OVERSIZED),
        (png_header(60_000, 60_000), RejectReason.OVERSIZED),
        (png_header(0, 10), RejectReason.UNDECODABLE),
    ],
)
def test_pictures_that_are_refused(data: bytes, reason: RejectReason) -> None:
    with pytest.raises(RequestProblem) as caught:
        decode_image(data)
    assert caught.value.reason == reason and caught.value.detail


def test_too_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_BYTES", 50)
    with pytest.raises(RequestProblem, match="larger than"):
        decode_image(encoded())
