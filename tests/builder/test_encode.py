import io
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.builder.test_bands import random_pixels
from tests.making import pixels as pixels_of
from vcrgen.builder.bands import Band, white_band
from vcrgen.builder.encode import adler32_combine, encode_image, encode_png


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 1000), st.booleans()), min_size=1, max_size=5),
    st.integers(1, 50),
)
def test_png_of_bands_is_read_back(bands: list[tuple[int, int, bool]], width: int) -> None:
    pixels = [random_pixels(height, width, seed, gray=gray) for height, seed, gray in bands]
    image = Image.open(io.BytesIO(encode_png([Band(p) for p in pixels])))
    image.load()  # checks CRCs and the Adler-32
    assert image.mode == "RGB"
    expected = np.concatenate([p if p.ndim == 3 else np.repeat(p[:, :, None], 3, axis=2) for p in pixels])
    assert np.array_equal(np.asarray(image), expected)


@pytest.mark.parametrize("image_format", ["png", "webp"])
def test_both_formats_are_lossless(image_format: str) -> None:
    photo, strip = random_pixels(37, 300, 2), random_pixels(23, 300, 3, gray=True)
    data = encode_image([Band(photo), white_band(1, 300), Band(strip)], image_format)  # type: ignore[arg-type]
    image = pixels_of(data)
    assert np.array_equal(image[:37], photo)
    assert (image[37] == 255).all()
    assert np.array_equal(image[38:, :, 1], strip)


def test_other_readers_accept_the_png() -> None:
    """The stream by hand: signature, three chunks, a zlib stream of the right length."""
    data = encode_png([Band(random_pixels(5, 7, 1))])
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    length = int.from_bytes(data[33:37], "big")
    assert data[37:41] == b"IDAT"
    assert len(zlib.decompress(data[41 : 41 + length])) == 5 * (1 + 3 * 7)
    assert data[-8:-4] == b"IEND"


@given(st.binary(max_size=3000), st.binary(max_size=3000))
def test_adler32_of_joined_strings(first: bytes, second: bytes) -> None:
    joined = adler32_combine(zlib.adler32(first), zlib.adler32(second), len(second))
    assert joined == zlib.adler32(first + second)
