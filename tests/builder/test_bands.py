"""PNG's filters, against the specification and against a slow choice of them; and blocks that go on."""

import zlib

import numpy as np
import pytest
from deflate import deflate_compress
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.builder.bands import CHUNK, PHOTO_ROWS, Band, continued_block, filter_rows, white_band

SHAPES = st.tuples(st.integers(1, 40), st.integers(1, 40))


def random_pixels(height: int, width: int, seed: int, *, gray: bool = False) -> np.ndarray:
    shape = (height, width) if gray else (height, width, 3)
    noise = np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)
    return noise if seed % 2 else np.cumsum(noise // 64, axis=0, dtype=np.uint8)


@given(SHAPES, st.integers(0, 1000))
@settings(max_examples=50)
def test_filters_are_undone_by_the_specification(shape: tuple[int, int], seed: int) -> None:
    pixels = random_pixels(*shape, seed)
    assert np.array_equal(unfilter(filter_rows(pixels), shape[1]), pixels.reshape(shape[0], -1))


def unfilter(filtered: np.ndarray, width: int) -> np.ndarray:
    """PNG's specification, byte by byte: the slow and obvious way."""
    rows = np.zeros((len(filtered), 3 * width), dtype=np.uint8)
    for y, (kind, *data) in enumerate(filtered.tolist()):
        for x, byte in enumerate(data):
            left = int(rows[y, x - 3]) if x >= 3 else 0
            up = int(rows[y - 1, x]) if y else 0
            rows[y, x] = (byte + [0, left, up, (left + up) // 2][kind]) % 256
    return rows


@pytest.mark.parametrize("height", [1, 2, 37])
def test_white_rows_are_filtered_as_any_others(height: int) -> None:
    assert white_band(height, 300).compressed == Band(np.full((height, 300), 255, np.uint8)).compressed


def far_pixels(height: int, width: int) -> np.ndarray:
    """Bytes whose distances from 0 are the largest: sums that do not fit into 16 bits."""
    return np.full((height, width, 3), 128, dtype=np.uint8)


@pytest.mark.parametrize("gray", [False, True])
@pytest.mark.parametrize(("height", "width"), [(1, 1), (2, 171), (5, 20), (300, 300), (13, 700), (5, 33_342)])
def test_rows_have_the_filter_with_the_smallest_sum(height: int, width: int, gray: bool) -> None:
    pixels = random_pixels(height, width, 2, gray=gray)
    pixels[height // 2] = random_pixels(1, width, 1, gray=gray)[0]
    check_choice(pixels)
    check_choice(far_pixels(height, width)[:, :, 0] if gray else far_pixels(height, width))


def check_choice(pixels: np.ndarray) -> None:
    """Row by row, in whole numbers; of equal sums the first filter counts. Rows of a photo go by one of eight."""
    rows = pixels.reshape(len(pixels), -1).astype(int)
    step = rows.shape[1] // pixels.shape[1]
    found = filter_rows(pixels)
    above = np.zeros_like(rows[0])
    ways, best = [], []
    for row in rows:
        left = np.concatenate([np.zeros(step, int), row[:-step]])
        ways.append([row % 256, (row - left) % 256, (row - above) % 256, (row - (left + above) // 2) % 256])
        sums = [int(np.minimum(way, 256 - way).sum()) for way in ways[-1]]
        best.append(sums.index(min(sums)))
        above = row
    for y in range(len(rows)):
        middles = range(min(PHOTO_ROWS // 2, len(rows) - 1), len(rows), PHOTO_ROWS)
        kind = best[y] if step == 1 else best[middles[min(y // PHOTO_ROWS, len(middles) - 1)]]
        kind = min(kind, 1) if y == 0 else kind  # the first row has none above it
        assert found[y, 0] == kind
        assert (found[y, 1:] == (ways[y][kind] if step == 3 else np.repeat(ways[y][kind], 3))).all()


def test_blocks_that_end_at_any_bit_go_on() -> None:
    unused = set()
    for seed in range(100):
        data = random_pixels(1, 1000 + seed, seed).tobytes()
        final = deflate_compress(data, 1)
        block = continued_block(final[:])
        assert block is not None
        assert zlib.decompress(block + block + b"\x03\x00", -15) == data + data
        unused.add((len(block) - len(final), final[-1] < 0x20))
    # Blocks with less than three unused bits of 0, and with three that are used and three that are not.
    assert unused == {(5, False), (5, True), (4, True)}


def test_a_chunk_of_several_blocks_is_compressed_otherwise() -> None:
    """Words of four bytes, each seen before: more of them than one block of libdeflate holds."""
    rng = np.random.default_rng(1)
    words = rng.choice(np.array([0, 1, 255], np.uint8), (70, 4))
    pixels = words[rng.integers(0, 70, CHUNK // 4)].reshape(1, -1, 3)
    filtered = filter_rows(pixels).tobytes()
    assert continued_block(deflate_compress(filtered[:CHUNK], 1)) is None
    assert zlib.decompress(Band(pixels).compressed.blocks + b"\x03\x00", -15) == filtered
