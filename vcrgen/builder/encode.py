"""From pixels to the bytes of a lossless image.

The images of one pair share most of their rows: VI stands in ``image`` and in ``stacked_image`` of both modes, a strip
in ``stacked_image``, ``only_it_image`` and ``only_it_image_small``. A PNG is little more than a deflate stream of
filtered rows, and a deflate stream may be cut at byte boundaries. So every band of rows is filtered and compressed
once, and an image is put together from compressed bands.
"""

import io
import struct
import zlib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image
from zlib_ng import zlib_ng

Pixels = npt.NDArray[np.uint8]
ImageFormat = Literal["png", "webp"]

# zlib-ng's level 2: within 3 % of the size that Pillow gives a photo, in a seventh of its time. ISA-L is three times as
# fast again, but now and then gives other bytes for the same input, and a build has to give the same bytes.
DEFLATE_LEVEL = 2
ADLER_BASE = 65521
DEFLATE_HEADER = b"\x78\x9c"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
DEFLATE_END = b"\x03\x00"  # an empty, final block
FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE = range(4)


class Compressed(NamedTuple):
    """Filtered rows as deflate blocks that end at a byte boundary.

    Attributes:
        blocks: Raw deflate data, without a final block.
        adler: Adler-32 of the filtered rows.
        length: Bytes of the filtered rows.
    """

    blocks: bytes
    adler: int
    length: int


class Band:
    """Rows of one or several images.

    Args:
        pixels: Shape (height, width) for gray or (height, width, 3) for RGB, at least one row.
    """

    def __init__(self, pixels: Pixels) -> None:
        self._pixels = pixels
        self.height, self.width = pixels.shape[:2]

    @property
    def rgb(self) -> Pixels:
        """The pixels, shape (height, width, 3)."""
        return np.repeat(self._pixels[:, :, None], 3, axis=2) if self._pixels.ndim == 2 else self._pixels

    @cached_property
    def compressed(self) -> Compressed:
        """The rows, filtered and compressed."""
        rows = filter_rows(self._pixels)
        deflate = zlib_ng.compressobj(DEFLATE_LEVEL, zlib_ng.DEFLATED, -15)
        blocks = deflate.compress(rows) + deflate.flush(zlib_ng.Z_SYNC_FLUSH)
        return Compressed(blocks, zlib_ng.adler32(rows), rows.size)


@lru_cache(maxsize=1024)
def white_band(height: int, width: int) -> Band:
    """A band of white rows."""
    return Band(np.full((height, width), 255, dtype=np.uint8))


def stack_bands(bands: Sequence[Band]) -> Pixels:
    """The pixels of an image of bands of the same width, from the top: a new array, shape (height, width, 3)."""
    return np.concatenate([band.rgb for band in bands])


def filter_rows(pixels: Pixels) -> Pixels:
    """PNG's filters: every row as differences to its neighbours, by the filter that gives the smallest ones.

    The first row is filtered without the row above it, so that a band may stand below any other.

    Args:
        pixels: Shape (height, width) for gray or (height, width, 3) for RGB.

    Returns:
        Rows of an RGB image, shape (height, 1 + 3 * width): the filter's number, then the filtered bytes.
    """
    height, width = pixels.shape[:2]
    raw = pixels.reshape(height, -1)
    step = raw.shape[1] // width  # bytes from a pixel to the next one
    left = np.zeros_like(raw)
    left[:, step:] = raw[:, :-step]
    up = np.zeros_like(raw)
    up[1:] = raw[:-1]
    average = (left & up) + ((left ^ up) >> 1)
    candidates = np.stack([raw, raw - left, raw - up, raw - average])
    # The usual heuristic (PNG specification, 12.8): the least sum of the bytes' distances from 0.
    costs = np.abs(candidates.view(np.int8)).view(np.uint8).sum(axis=2, dtype=np.uint32)
    costs[FILTER_UP:, 0] = np.iinfo(np.uint32).max
    best = costs.argmin(axis=0)
    filtered = np.empty((height, 1 + 3 * width), dtype=np.uint8)
    filtered[:, 0] = best
    chosen = candidates[best, np.arange(height)]
    for channel in range(3 // step):  # the three equal channels of gray have equal differences
        filtered[:, 1 + channel :: 3 // step] = chosen
    return filtered


def encode_image(bands: Sequence[Band], image_format: ImageFormat, note: str | None = None) -> bytes:
    """One RGB image of bands of the same width, from the top; a PNG carries the note as its comment."""
    return encode_png(bands, note) if image_format == "png" else encode_webp(bands)


def encode_png(bands: Sequence[Band], note: str | None = None) -> bytes:
    """A PNG (RFC 2083) from compressed bands, with an ASCII note as its comment."""
    adler = 1
    for band in bands:
        adler = adler32_combine(adler, band.compressed.adler, band.compressed.length)
    blocks = b"".join(band.compressed.blocks for band in bands)
    stream = DEFLATE_HEADER + blocks + DEFLATE_END + struct.pack(">I", adler)
    header = struct.pack(">IIBBBBB", bands[0].width, sum(band.height for band in bands), 8, 2, 0, 0, 0)
    comment = [(b"tEXt", b"Comment\0" + note.encode("ascii"))] if note else []
    return PNG_SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib_ng.crc32(data, zlib.crc32(kind)))
        for kind, data in ((b"IHDR", header), *comment, (b"IDAT", stream), (b"IEND", b""))
    )


def encode_webp(bands: Sequence[Band]) -> bytes:
    """A lossless WebP."""
    buffer = io.BytesIO()
    image = Image.fromarray(stack_bands(bands))
    image.save(buffer, "WEBP", lossless=True, quality=20, method=0, exact=True)
    return buffer.getvalue()


def adler32_combine(first: int, second: int, second_length: int) -> int:
    """The Adler-32 of two joined byte strings from theirs (RFC 1950, 8.2).

    Args:
        first: Adler-32 of the first string.
        second: Adler-32 of the second string.
        second_length: Bytes of the second string.
    """
    low = (first & 0xFFFF) + (second & 0xFFFF) - 1
    high = (first >> 16) + (second >> 16) + second_length * ((first & 0xFFFF) - 1)
    return (high % ADLER_BASE) << 16 | low % ADLER_BASE
