"""PNG's filters, against the specification and against a slow choice of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.builder.bands import BLOCK, filter_rows

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


def far_pixels(height: int, width: int) -> np.ndarray:
    """Bytes whose distances from 0 are the largest: sums that do not fit into 16 bits."""
    return np.full((height, width, 3), 128, dtype=np.uint8)


@pytest.mark.parametrize("gray", [False, True])
@pytest.mark.parametrize(("height", "width"), [(1, 1), (2, 171), (300, 300), (3, 700), (5, BLOCK // 3 + 9)])
def test_every_row_has_the_filter_with_the_smallest_sum(height: int, width: int, gray: bool) -> None:
    pixels = random_pixels(height, width, 2, gray=gray)
    pixels[height // 2] = random_pixels(1, width, 1, gray=gray)[0]
    check_choice(pixels)
    check_choice(far_pixels(height, width)[:, :, 0] if gray else far_pixels(height, width))


def check_choice(pixels: np.ndarray) -> None:
    """Row by row, in whole numbers; of equal sums the first filter counts, and the first row has none above it."""
    rows = pixels.reshape(len(pixels), -1).astype(int)
    step = rows.shape[1] // pixels.shape[1]
    found = filter_rows(pixels)
    above = np.zeros_like(rows[0])
    for y, row in enumerate(rows):
        left = np.concatenate([np.zeros(step, int), row[:-step]])
        ways = [row % 256, (row - left) % 256, (row - above) % 256, (row - (left + above) // 2) % 256]
        sums = [int(np.minimum(way, 256 - way).sum()) for way in ways[: 2 if y == 0 else 4]]
        assert found[y, 0] == sums.index(min(sums))
        chosen = ways[found[y, 0]]
        assert (found[y, 1:] == (chosen if step == 3 else np.repeat(chosen, 3))).all()
        above = row
