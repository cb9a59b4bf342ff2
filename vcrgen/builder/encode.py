"""From bands of pixels to the bytes of a lossless image."""

import io
import struct
import zlib
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image
from zlib_ng import zlib_ng

from vcrgen.builder.bands import DEFLATE_LEVEL, Band, stack_bands

ImageFormat = Literal["png", "webp"]

ADLER_BASE = 65521
DEFLATE_HEADER = b"\x78\x9c"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
DEFLATE_END = b"\x03\x00"  # an empty, final block


def encode_image(bands: Sequence[Band], image_format: ImageFormat, note: str | None = None) -> bytes:
    """One RGB image of bands of the same width, from the top; a PNG carries the note as its comment."""
    if image_format == "png":
        return encode_png(bands, note)
    buffer = io.BytesIO()
    Image.fromarray(stack_bands(bands)).save(buffer, "WEBP", lossless=True, quality=20, method=0, exact=True)
    return buffer.getvalue()


def encode_mask(mask: npt.NDArray[np.bool_]) -> bytes:
    """A gray PNG of one bit a pixel, white where the mask is true."""
    height, width = mask.shape
    rows = np.zeros((height, 1 + -(-width // 8)), dtype=np.uint8)  # each row begins with the number of its filter: none
    rows[:, 1:] = np.packbits(mask, axis=1)
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    data = zlib_ng.compress(rows, DEFLATE_LEVEL)
    return b"".join([PNG_SIGNATURE, *_chunk(b"IHDR", [header]), *_chunk(b"IDAT", [data]), *_chunk(b"IEND", [])])


def encode_png(bands: Sequence[Band], note: str | None = None) -> bytes:
    """A PNG (RFC 2083) from compressed bands, with an ASCII note as its comment."""
    adler = 1
    for band in bands:
        adler = adler32_combine(adler, band.compressed.adler, band.compressed.length)
    stream = [DEFLATE_HEADER, *(band.compressed.blocks for band in bands), DEFLATE_END, struct.pack(">I", adler)]
    header = struct.pack(">IIBBBBB", bands[0].width, sum(band.height for band in bands), 8, 2, 0, 0, 0)
    pieces = [PNG_SIGNATURE, *_chunk(b"IHDR", [header])]
    if note:
        pieces += _chunk(b"tEXt", [b"Comment\0", note.encode("ascii")])
    return b"".join([*pieces, *_chunk(b"IDAT", stream), *_chunk(b"IEND", [])])


def _chunk(kind: bytes, pieces: list[bytes]) -> list[bytes]:
    """A PNG chunk, not put together: a photo is copied only once, when the whole file is."""
    checksum = zlib.crc32(kind)
    for piece in pieces:
        checksum = zlib_ng.crc32(piece, checksum)
    return [struct.pack(">I", sum(map(len, pieces))), kind, *pieces, struct.pack(">I", checksum)]


def adler32_combine(first: int, second: int, second_length: int) -> int:
    """The Adler-32 of two joined byte strings from theirs (RFC 1950, 8.2)."""
    low = (first & 0xFFFF) + (second & 0xFFFF) - 1
    high = (first >> 16) + (second >> 16) + second_length * ((first & 0xFFFF) - 1)
    return (high % ADLER_BASE) << 16 | low % ADLER_BASE
