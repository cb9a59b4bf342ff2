import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.making import encoded
from vcrgen.builder.images import load_image
from vcrgen.core.errors import ImageProblem
from vcrgen.core.records import RejectReason

LIMITS = {"max_pixels": 1_000_000, "min_side": 16, "max_height": 900}


def solid(mode: str, color: object, size: tuple[int, int] = (64, 48)) -> Image.Image:
    return Image.new(mode, size, color)  # type: ignore[arg-type]


def load(data: bytes, width: int = 64) -> np.ndarray:
    image = load_image(data, width=width, **LIMITS)
    assert image.mode == "RGB"
    return np.asarray(image)


def palette_with_transparency() -> bytes:
    image = Image.new("P", (64, 48), 1)
    image.putpalette([0, 0, 255, 255, 0, 0])
    image.paste(0, (0, 0, 32, 48))
    return encoded(image, "PNG", transparency=0)


def gray16(value: int) -> bytes:
    return encoded(Image.fromarray(np.full((48, 64), value, dtype=np.uint16)))


@pytest.mark.parametrize(
    ("data", "color"),
    [
        (encoded(solid("RGB", (10, 200, 30))), (10, 200, 30)),
        (encoded(solid("L", 77)), (77, 77, 77)),
        (encoded(solid("1", 1)), (255, 255, 255)),
        (encoded(solid("CMYK", (0, 255, 255, 0)), "JPEG", quality=95), (254, 0, 0)),
        (encoded(solid("RGBA", (0, 0, 0, 0))), (255, 255, 255)),
        (encoded(solid("RGBA", (255, 0, 0, 128))), (255, 127, 127)),
        (encoded(solid("LA", (0, 0))), (255, 255, 255)),
        (gray16(65535), (255, 255, 255)),
        (gray16(32768), (128, 128, 128)),
        (gray16(0), (0, 0, 0)),
        (gray16(4095), (255, 255, 255)),  # 12 bits
        (gray16(2048), (128, 128, 128)),
        (gray16(1023), (255, 255, 255)),  # 10 bits
        (gray16(4096), (16, 16, 16)),
        (encoded(solid("F", 0.5), "TIFF"), (128, 128, 128)),
        (encoded(solid("RGB", (9, 8, 7)), "WEBP", lossless=True), (9, 8, 7)),
        (encoded(solid("RGB", (255, 0, 0)), "GIF"), (255, 0, 0)),
        (encoded(solid("RGB", (1, 2, 3)), "BMP"), (1, 2, 3)),
    ],
)
def test_colours(data: bytes, color: tuple[int, int, int]) -> None:
    pixels = load(data)
    assert pixels.shape == (48, 64, 3)
    assert np.abs(pixels.astype(int) - color).max() <= 2


def test_transparent_palette_entry_is_white() -> None:
    pixels = load(palette_with_transparency())
    assert tuple(pixels[10, 10]) == (255, 255, 255)
    assert tuple(pixels[10, 50]) == (255, 0, 0)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied(orientation: int) -> None:
    image = solid("RGB", "white", (64, 48))
    image.paste("red", (0, 0, 16, 12))
    exif = Image.Exif()
    exif[0x0112] = orientation
    pixels = load_image(encoded(image, "PNG", exif=exif), width=64, **LIMITS)
    corner = {1: (0, 0), 2: (1, 0), 3: (1, 1), 4: (0, 1), 5: (0, 0), 6: (1, 0), 7: (1, 1), 8: (0, 1)}[orientation]
    turned = orientation >= 5
    assert pixels.size == ((64, 85) if turned else (64, 48))
    x, y = (3 if not c else s - 4 for c, s in zip(corner, pixels.size, strict=True))
    assert pixels.getpixel((x, y)) == (255, 0, 0)


def test_first_frame_of_an_animation() -> None:
    frames = [solid("RGB", "red"), solid("RGB", "blue")]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert tuple(load(data)[0, 0]) == (255, 0, 0)


@pytest.mark.parametrize(("size", "height"), [((600, 400), 200), ((150, 100), 200), ((301, 100), 100), ((300, 77), 77)])
def test_resized_to_the_width(size: tuple[int, int], height: int) -> None:
    assert load(encoded(solid("RGB", "red", size)), width=300).shape == (height, 300, 3)


def test_large_jpeg_is_as_sharp_as_if_it_were_decoded_whole() -> None:
    y, x = np.mgrid[0:800, 0:1000]
    waves = (127 + 60 * np.sin(x / 23) + 60 * np.cos(y / 31)).astype(np.uint8)
    image = Image.fromarray(waves).convert("RGB")
    ours = load(encoded(image, "JPEG", quality=95), width=100).astype(int)
    whole = np.asarray(image.resize((100, 80), Image.Resampling.LANCZOS)).astype(int)
    assert np.abs(ours - whole).mean() < 2


def png_header(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", len(header)) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    return b"\x89PNG\r\n\x1a\n" + chunk + b"\0\0\0\x02IDAT\x78\x9c"


JPEG = encoded(Image.effect_noise((400, 300), 80).convert("RGB"), "JPEG")
PNG = encoded(Image.effect_noise((400, 300), 80).convert("RGB"), "PNG")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", RejectReason.UNDECODABLE),
        (b"not an image", RejectReason.UNDECODABLE),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n", RejectReason.UNDECODABLE),
        (JPEG[: len(JPEG) // 2], RejectReason.TRUNCATED),
        (PNG[: len(PNG) // 2], RejectReason.TRUNCATED),
        (JPEG[:20], RejectReason.TRUNCATED),
        (b"GIF89a\x40\x00\x30\x00\x00\x00\x00;", RejectReason.NO_FRAME),
        (png_header(30_000, 30_000), RejectReason.OVERSIZED),
        (png_header(2_000, 1_000), RejectReason.OVERSIZED),
        (encoded(solid("RGB", "red", (15, 100))), RejectReason.TINY),
        (encoded(solid("RGB", "red", (20, 2000))), RejectReason.TOO_TALL),
        (encoded(solid("RGB", "red", (20_000, 20))), RejectReason.TINY),  # 300 x 1 of it would be left
        (encoded(solid("RGB", "red", (400, 20))), RejectReason.TINY),
    ],
)
def test_reasons(data: bytes, reason: RejectReason) -> None:
    with pytest.raises(ImageProblem) as problem:
        load_image(data, width=300, **LIMITS)
    assert problem.value.reason is reason
    assert problem.value.detail and "\n" not in problem.value.detail


def test_a_flat_image_is_taken_as_long_as_it_can_be_seen() -> None:
    """A larger shortest side is asked of the file, not of what it becomes."""
    flat = encoded(solid("RGB", "red", (900, 60)))
    assert load_image(flat, width=300, **LIMITS).size == (300, 20)
    assert load_image(flat, width=300, **LIMITS | {"min_side": 60}).size == (300, 20)
    assert load_image(encoded(solid("RGB", "red", (900, 30))), width=300, **LIMITS | {"min_side": 8}).size == (300, 10)


def test_a_bomb_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image.Image, "load", lambda self: pytest.fail("decoded"))
    with pytest.raises(ImageProblem):
        load_image(png_header(2_000, 1_000), width=300, **LIMITS)


@given(st.sampled_from([JPEG, PNG, gray16(5), palette_with_transparency()]), st.data())
@settings(max_examples=150, deadline=None)
def test_damaged_files_give_an_image_or_a_reason(data: bytes, draw: st.DataObject) -> None:
    damaged = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 8))):
        damaged[draw.draw(st.integers(0, len(damaged) - 1))] = draw.draw(st.integers(0, 255))
    try:
        image = load_image(bytes(damaged[: draw.draw(st.integers(0, len(damaged)))]), width=100, **LIMITS)
    except ImageProblem:
        return
    assert image.mode == "RGB" and image.width == 100
