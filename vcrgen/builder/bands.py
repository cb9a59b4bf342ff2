"""Bands: rows of pixels that stand in several images of a pair, filtered and compressed only once.

VI stands in ``image`` and in ``stacked_image`` of both modes, a strip in ``stacked_image``, ``only_it_image`` and
``only_it_image_small``. A PNG is little more than a deflate stream of filtered rows, and a deflate stream may be cut at
byte boundaries. So every band is filtered and compressed once, and ``encode.py`` puts images together from compressed
bands.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from deflate import DeflateError, deflate_compress, deflate_decompress
from zlib_ng import zlib_ng

Pixels = npt.NDArray[np.uint8]

# Photos: libdeflate's level 1, within 4 % of the size that Pillow gives them. Text: zlib-ng's level 2, as quick there.
# ISA-L is quicker, but now and then gives other bytes for the same input, and a build has to give the same bytes.
PHOTO_LEVEL, DEFLATE_LEVEL = 1, 2
CHUNK = 48 << 10  # bytes of a photo that libdeflate compresses at a time: nearly always into one block
DEFLATE_END = b"\x03\x00"  # an empty, final block
STORED = b"\x00\x00\xff\xff"  # what follows the header of an empty, stored block, from the next byte on
PHOTO_ROWS = 8  # rows of a photo that share a filter
MAX_SUMMED = 65535 // 128  # distances from 0, each of at most 128, whose sum fits into 16 bits
FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE = range(4)


class CompressedBand(NamedTuple):
    """Filtered rows as deflate blocks that end at a byte boundary."""

    blocks: bytes  # raw deflate data, without a final block
    adler: int  # adler-32 of the filtered rows
    length: int  # bytes of the filtered rows


class Band:
    """Rows of one or several images: gray, shape (height, width), or RGB, shape (height, width, 3); at least one."""

    def __init__(self, pixels: Pixels) -> None:
        self.pixels = pixels
        self.height, self.width = pixels.shape[:2]

    @cached_property
    def compressed(self) -> CompressedBand:
        """Deflate blocks of the filtered rows, with checksum and size; made once."""
        rows = self._filtered()
        blocks = _deflate_text(rows) if self.pixels.ndim == 2 else _deflate_photo(rows.reshape(-1))
        return CompressedBand(blocks, zlib_ng.adler32(rows), rows.size)

    def _filtered(self) -> Pixels:
        return filter_rows(self.pixels)


class WhiteBand(Band):
    """White rows: their pixels are one byte in memory, and from the second row on they are filtered alike."""

    def __init__(self, height: int, width: int) -> None:
        super().__init__(np.broadcast_to(np.uint8(255), (height, width)))

    def _filtered(self) -> Pixels:
        rows = filter_rows(self.pixels[:2])
        return np.concatenate([rows, np.repeat(rows[-1:], self.height - len(rows), axis=0)])


white_band = lru_cache(maxsize=1024)(WhiteBand)


def stack_bands(bands: Sequence[Band]) -> Pixels:
    """The pixels of an image of bands of the same width, from the top: a new array, shape (height, width, 3)."""
    pixels = (band.pixels for band in bands)
    return np.concatenate([np.repeat(p[:, :, None], 3, axis=2) if p.ndim == 2 else p for p in pixels])


def _deflate_text(rows: Pixels) -> bytes:
    deflate = zlib_ng.compressobj(DEFLATE_LEVEL, zlib_ng.DEFLATED, -15)
    return deflate.compress(rows) + deflate.flush(zlib_ng.Z_SYNC_FLUSH)


def _deflate_photo(rows: Pixels) -> bytes:
    chunks = (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))
    return b"".join(continued_block(deflate_compress(chunk, PHOTO_LEVEL)) or _deflate_text(chunk) for chunk in chunks)


def continued_block(final: bytearray) -> bytearray | None:
    """Turn a deflate stream of one block into a block that others can follow, at a byte boundary; None if it has more.

    libdeflate always ends a stream. So the bit that says so is cleared, and an empty stored block follows, whose three
    bits of header are zeros, as are the unused bits of the stream's last byte: it begins there if there is room.
    """
    if not final[0] & 1:  # the first block of several
        return None
    final[0] ^= 1
    if final[-1] < 0x20:  # three zeros or more, which may be unused
        try:
            deflate_decompress(final + STORED + DEFLATE_END, CHUNK)
            return final + STORED
        except DeflateError:
            pass
    return final + b"\x00" + STORED


def filter_rows(pixels: Pixels) -> Pixels:
    """PNG's filters: rows as differences to their neighbours, by the filter that gives the smallest ones.

    The first row is filtered without the row above it, so that a band may stand below any other. The result, of gray
    pixels too, is rows of an RGB image, shape (height, 1 + 3 * width): the filter's number, then the filtered bytes.
    """
    height, width = pixels.shape[:2]
    step = 1 if pixels.ndim == 2 else 3  # bytes from a pixel to the next one
    bordered = np.zeros((1 + height, step * (1 + width)), dtype=np.uint8)  # zeros on the left and above
    bordered[1:, step:] = pixels.reshape(height, -1)
    shared = 1 if step == 1 else PHOTO_ROWS
    sample = slice(min(shared // 2, height - 1), None, shared)
    candidates = np.empty((4, len(range(*sample.indices(height))), step * width), dtype=np.uint8)
    for kind, candidate in enumerate(candidates):
        _subtract(bordered, sample, kind, out=candidate)
    # The usual heuristic (PNG specification, 12.8): the least sum of the bytes' distances from 0.
    distances = np.abs(candidates.view(np.int8)).view(np.uint8)
    sums = np.add.reduceat(distances, range(0, step * width, MAX_SUMMED), axis=2, dtype=np.uint16)
    costs = sums.sum(axis=2, dtype=np.uint32)
    best = costs.argmin(axis=0)
    kinds = best[np.minimum(np.arange(height) // shared, len(best) - 1)]
    if kinds[0] >= FILTER_UP:
        kinds[0] = FILTER_SUB
    filtered = np.empty((height, 1 + 3 * width), dtype=np.uint8)
    filtered[:, 0] = kinds
    if step == 1:
        best_rows = candidates[kinds, np.arange(height)]
        for channel in range(1, 4):  # the three equal channels of gray have equal differences
            filtered[:, channel::3] = best_rows
        return filtered
    starts = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), height]
    for start, stop in pairwise(starts):
        _subtract(bordered, slice(start, stop), kinds[start], out=filtered[start:stop, 1:])
    return filtered


def _subtract(bordered: Pixels, rows: slice, kind: int, out: Pixels) -> None:
    """Filter some rows, all by one filter; ``bordered`` has a pixel more on the left and a row more above."""
    step = bordered.shape[1] - out.shape[1]
    raw, left, up = bordered[1:][rows, step:], bordered[1:][rows, :-step], bordered[:-1][rows, step:]
    if kind == FILTER_NONE:
        out[:] = raw
    elif kind == FILTER_AVERAGE:
        np.subtract(raw, (left & up) + ((left ^ up) >> 1), out=out)
    else:
        np.subtract(raw, left if kind == FILTER_SUB else up, out=out)
