"""Encoding of pixel bands as lossless PNG or WebP."""

import io
import struct
import zlib
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image
from zlib_ng import zlib_ng

from vcrgen.builder.bands import DEFLATE_END, DEFLATE_LEVEL, Band, stack_bands

ImageFormat = Literal["png", "webp"]

ADLER_BASE = 65521
DEFLATE_HEADER = b"\x78\x9c"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def encode_image(bands: Sequence[Band], image_format: ImageFormat, note: str | None = None) -> bytes:
    """Encode bands of the same width, from the top, as one RGB image; a PNG holds the note as its comment."""
    if image_format == "png":
        return encode_png(bands, note)
    buffer = io.BytesIO()
    Image.fromarray(stack_bands(bands)).save(buffer, "WEBP", lossless=True, quality=20, method=0, exact=True)
    return buffer.getvalue()


def encode_mask(mask: npt.NDArray[np.bool_]) -> bytes:
    """Encode a mask as a grayscale PNG of one bit a pixel, white where it is true."""
    height, width = mask.shape
    rows = np.zeros((height, 1 + -(-width // 8)), dtype=np.uint8)  # each row begins with its filter number, 0
    rows[:, 1:] = np.packbits(mask, axis=1)
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    data = zlib_ng.compress(rows, DEFLATE_LEVEL)
    return b"".join([PNG_SIGNATURE, *_chunk(b"IHDR", [header]), *_chunk(b"IDAT", [data]), *_chunk(b"IEND", [])])


def encode_png(bands: Sequence[Band], note: str | None = None) -> bytes:
    """Encode compressed bands as a PNG (RFC 2083) with an ASCII note as its comment."""
    adler = 1
    for band in bands:
        adler = adler32_combine(adler, band.compressed.adler, band.compressed.length)
    stream = [DEFLATE_HEADER, *(band.compressed.blocks for band in bands), DEFLATE_END, struct.pack(">I", adler)]
    header = struct.pack(">IIBBBBB", bands[0].width, sum(band.height for band in bands), 8, 2, 0, 0, 0)
    chunks = [PNG_SIGNATURE, *_chunk(b"IHDR", [header])]
    if note:
        chunks += _chunk(b"tEXt", [b"Comment\0", note.encode("ascii")])
    return b"".join([*chunks, *_chunk(b"IDAT", stream), *_chunk(b"IEND", [])])


def _chunk(kind: bytes, chunks: list[bytes]) -> list[bytes]:
    """The byte strings of a PNG chunk, not joined, so that a photo is copied only once."""
    checksum = zlib.crc32(kind)
    for chunk in chunks:
        checksum = zlib_ng.crc32(chunk, checksum)
    return [struct.pack(">I", sum(map(len, chunks))), kind, *chunks, struct.pack(">I", checksum)]


def adler32_combine(first: int, second: int, second_length: int) -> int:
    """The Adler-32 of two concatenated byte strings from theirs (RFC 1950, 8.2)."""
    low = (first & 0xFFFF) + (second & 0xFFFF) - 1
    high = (first >> 16) + (second >> 16) + second_length * ((first & 0xFFFF) - 1)
    return (high % ADLER_BASE) << 16 | low % ADLER_BASE
