"""Bands: rows of pixels that stand in several images of a pair, filtered and compressed only once.

VI stands in ``image`` and in ``stacked_image`` of both modes, a strip in ``stacked_image``, ``only_it_image`` and
``only_it_image_small``. A PNG is little more than a deflate stream of filtered rows, and a deflate stream may be cut at
byte boundaries. So every band is filtered and compressed once, and ``encode.py`` puts images together from compressed
bands.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from zlib_ng import zlib_ng

Pixels = npt.NDArray[np.uint8]

# zlib-ng's level 2: within 3 % of the size that Pillow gives a photo, in a seventh of its time. ISA-L is three times as
# fast again, but now and then gives other bytes for the same input, and a build has to give the same bytes.
DEFLATE_LEVEL = 2
BLOCK = 100_000  # bytes of rows that are filtered together, a quarter of a processor's cache
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
        """Return the rows, filtered and compressed."""
        rows = filter_rows(self.pixels)
        deflate = zlib_ng.compressobj(DEFLATE_LEVEL, zlib_ng.DEFLATED, -15)
        blocks = deflate.compress(rows) + deflate.flush(zlib_ng.Z_SYNC_FLUSH)
        return CompressedBand(blocks, zlib_ng.adler32(rows), rows.size)


@lru_cache(maxsize=1024)
def white_band(height: int, width: int) -> Band:
    """Return a band of white rows."""
    return Band(np.full((height, width), 255, dtype=np.uint8))


def stack_bands(bands: Sequence[Band]) -> Pixels:
    """The pixels of an image of bands of the same width, from the top: a new array, shape (height, width, 3)."""
    pixels = (band.pixels for band in bands)
    return np.concatenate([np.repeat(p[:, :, None], 3, axis=2) if p.ndim == 2 else p for p in pixels])


def filter_rows(pixels: Pixels) -> Pixels:
    """PNG's filters: every row as differences to its neighbours, by the filter that gives the smallest ones.

    The first row is filtered without the row above it, so that a band may stand below any other. The result, of gray
    pixels too, is rows of an RGB image, shape (height, 1 + 3 * width): the filter's number, then the filtered bytes.
    """
    height, width = pixels.shape[:2]
    raw = pixels.reshape(height, -1)
    size = raw.shape[1]
    step = size // width  # bytes from a pixel to the next one
    bordered = np.zeros((1 + height, step + size), dtype=np.uint8)  # zeros on the left and above
    bordered[1:, step:] = raw
    filtered = np.empty((height, 1 + 3 * width), dtype=np.uint8)
    block = max(1, BLOCK // size)
    space = np.empty((4, min(block, height), size), dtype=np.uint8)
    for top in range(0, height, block):
        stop = min(top + block, height)
        rows, left = bordered[1 + top : 1 + stop, step:], bordered[1 + top : 1 + stop, :-step]
        up = bordered[top:stop, step:]
        candidates = space[:, : stop - top]
        candidates[FILTER_NONE] = rows
        np.subtract(rows, left, out=candidates[FILTER_SUB])
        np.subtract(rows, up, out=candidates[FILTER_UP])
        np.subtract(rows, (left & up) + ((left ^ up) >> 1), out=candidates[FILTER_AVERAGE])
        # The usual heuristic (PNG specification, 12.8): the least sum of the bytes' distances from 0.
        distances = np.abs(candidates.view(np.int8)).view(np.uint8)
        sums = np.add.reduceat(distances, range(0, size, MAX_SUMMED), axis=2, dtype=np.uint16)
        costs = sums.sum(axis=2, dtype=np.uint32)
        if top == 0:
            costs[FILTER_UP:, 0] = np.iinfo(np.uint32).max
        best = costs.argmin(axis=0)
        filtered[top:stop, 0] = best
        chosen = candidates[best, np.arange(stop - top)]
        for channel in range(3 // step):  # the three equal channels of gray have equal differences
            filtered[top:stop, 1 + channel :: 3 // step] = chosen
    return filtered
