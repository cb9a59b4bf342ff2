import io
import struct
import zlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, PngImagePlugin

from tests.making import encoded, two_coloured
from vcrgen.builder import images
from vcrgen.builder.images import fit_picture, is_blank, load_image
from vcrgen.core.errors import ImageProblem
from vcrgen.core.records import RejectReason

LIMITS = {"max_pixels": 1_000_000, "min_side": 16, "max_height": 900}


def profile(gamma: float, primaries: list[tuple[float, float, float]] | None = None) -> bytes:
    """An ICC profile (ICC.1:2001) of a gamma and the XYZ of red, green and blue, or of gray."""
    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256)) + b"\0\0"

    def xyz(values: tuple[float, float, float]) -> bytes:
        return b"XYZ \0\0\0\0" + struct.pack(">3i", *(round(value * 65536) for value in values))

    white = (0.9642, 1.0, 0.8249)
    tags = {b"wtpt": xyz(white), b"desc": b"desc\0\0\0\0\0\0\0\x02x\0" + bytes(80), b"cprt": b"text\0\0\0\0x\0\0\0"}
    tags |= {b"kTRC": curve} if primaries is None else {}
    for letter, values in zip((b"r", b"g", b"b"), primaries or (), strict=False):
        tags |= {letter + b"XYZ": xyz(values), letter + b"TRC": curve}
    place, table, body = 132 + 12 * len(tags), struct.pack(">I", len(tags)), b""
    for name, value in tags.items():
        table += name + struct.pack(">II", place + len(body), len(value))
        body += value
    space = b"GRAY" if primaries is None else b"RGB "
    head = struct.pack(">I4s4s4s4s4s", place + len(body), b"", b"\x02\x40\0\0", b"mntr", space, b"XYZ ")
    head += struct.pack(">6H4s28s", 2026, 1, 1, 0, 0, 0, b"acsp", b"") + xyz(white)[8:] + bytes(48)
    return head + table + body


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


def png(size: tuple[int, int], depth: int, kind: int, row: list[int], transparent: list[int]) -> bytes:
    """A PNG of equal rows of values of 16 bits, one colour of which is transparent."""
    rows = b"".join(b"\0" + struct.pack(f">{len(row)}H", *row) for _ in range(size[1]))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", *size, depth, kind, 0, 0, 0)),
        (b"tRNS", struct.pack(f">{len(transparent)}H", *transparent)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    written = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)


@pytest.mark.parametrize(
    ("data", "color"),
    [
        (png((64, 48), 16, 0, [1000] * 32 + [40000] * 32, [1000]), (156, 156, 156)),
        (png((64, 48), 16, 0, [65535] * 32 + [2048] * 32, [65535]), (128, 128, 128)),  # 12 bits beside it
        (
            png((64, 48), 16, 2, [0x1234, 0x5678, 0x9ABC] * 32 + [40000, 0, 0] * 32, [0x1234, 0x5678, 0x9ABC]),
            (156, 0, 0),
        ),
    ],
    ids=["gray", "gray of 12 bits", "RGB"],
)
def test_a_transparent_colour_of_16_bits_is_white(data: bytes, color: tuple[int, int, int]) -> None:
    pixels = load(data)
    assert tuple(pixels[10, 10]) == (255, 255, 255)
    assert np.abs(pixels[10, 50].astype(int) - color).max() <= 1


SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
# Gamma and D50 primaries (red, green, blue: X, Y, Z) of Adobe RGB (1998) and ProPhoto RGB (ROMM).
ADOBE = profile(563 / 256, [(0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457)])
PRO_PHOTO = profile(1.8, [(0.79767, 0.28804, 0.0), (0.13519, 0.71187, 0.00009), (0.03134, 0.00009, 0.82491)])
COLOURS = {"Adobe RGB": (ADOBE, (189, 35, 35), (220, 30, 30)), "ProPhoto": (PRO_PHOTO, (150, 64, 33), (220, 30, 30))}


@pytest.mark.parametrize(("icc", "stored", "meant"), COLOURS.values(), ids=COLOURS)
@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "TIFF"])
def test_colours_of_a_profile_become_srgb(
    icc: bytes, stored: tuple[int, int, int], meant: tuple[int, int, int], form: str
) -> None:
    data = encoded(solid("RGB", stored), form, icc_profile=icc, **({"lossless": True} if form == "WEBP" else {}))
    margin = 6 if form == "JPEG" else 2
    for image in (load_image(data, width=32, **LIMITS), load_image(data, width=64, **LIMITS)):
        assert np.abs(np.asarray(image).astype(int) - meant).max() <= margin
    decoded = fit_picture(Image.open(io.BytesIO(data)), width=64, **LIMITS)
    assert np.abs(np.asarray(decoded.image).astype(int) - meant).max() <= margin
    plain = fit_picture(Image.open(io.BytesIO(encoded(solid("RGB", stored), "PNG"))), width=64, **LIMITS)
    assert decoded.content != plain.content  # which is another picture


def test_gray_and_transparent_pictures_have_profiles_too() -> None:
    gray = load(encoded(solid("L", 100), "PNG", icc_profile=profile(1.0)))
    assert np.abs(gray.astype(int) - 168).max() <= 2  # linear light
    half = solid("RGBA", (189, 35, 35, 255))
    half.paste((0, 0, 0, 0), (0, 0, 32, 48))
    pixels = load(encoded(half, "PNG", icc_profile=ADOBE))
    assert tuple(pixels[10, 10]) == (255, 255, 255) and np.abs(pixels[10, 50].astype(int) - (220, 30, 30)).max() <= 2


@pytest.mark.parametrize(
    "icc",
    [
        SRGB.tobytes(),
        b"rubbish",
        ADOBE[:200],
        ADOBE[:-20] + bytes(20),
        profile(1.0),
        b"\xff" * 300,
        ADOBE + bytes(4 << 20),
    ],
    ids=["sRGB", "rubbish", "cut", "zeros at its end", "of gray", "bytes of 255", "too large"],
)
def test_profiles_of_srgb_and_damaged_ones_change_nothing(icc: bytes) -> None:
    """One of another number of channels, too."""
    image = Image.effect_noise((64, 48), 90).convert("RGB")
    with_profile, without = (load(encoded(image, "TIFF", **more)) for more in ({"icc_profile": icc}, {}))
    if icc == profile(1.0):
        assert with_profile.shape == without.shape
    elif icc != ADOBE[:-20] + bytes(20):
        assert (with_profile == without).all()


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_profiles_give_an_image(draw: st.DataObject) -> None:
    damaged = bytearray(ADOBE)
    for _ in range(draw.draw(st.integers(1, 8))):
        damaged[draw.draw(st.integers(0, len(damaged) - 1))] = draw.draw(st.integers(0, 255))
    assert load(encoded(solid("RGB", "red"), "TIFF", icc_profile=bytes(damaged))).shape == (48, 64, 3)


def test_a_profile_is_read_once_and_srgb_is_not_applied(monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile's effect is tried on sample colours once; then only pictures that it changes are converted."""
    calls: Counter[str] = Counter()

    def count(name: str) -> None:
        function = getattr(ImageCms, name)

        def counting(*values: object) -> object:
            calls[name] += 1
            return function(*values)

        monkeypatch.setattr(ImageCms, name, counting)

    count("buildTransform")
    count("applyTransform")
    images._profile_transform.cache_clear()
    for icc, applied in ((SRGB.tobytes(), 1), (ADOBE, 1 + 2)):
        calls.clear()
        for colour in ("red", "blue"):
            load(encoded(solid("RGB", colour), icc_profile=icc))
        assert calls == {"buildTransform": 1, "applyTransform": applied}


def logo() -> Image.Image:
    """White on transparency."""
    image = Image.new("RGBA", (64, 48), (255, 255, 255, 0))
    image.paste((255, 255, 255, 255), (20, 10, 40, 30))
    return image


def test_blank_pictures() -> None:
    late = Image.new("RGBA", (64, 48), (255, 0, 0, 255))
    transparent = Image.new("RGBA", (64, 48), (0, 0, 0, 0))
    blank = [
        encoded(logo()),
        encoded(solid("RGB", "black"), "JPEG"),
        encoded(transparent, "WEBP", save_all=True, append_images=[late], lossless=True),
        encoded(transparent, "GIF", save_all=True, append_images=[late]),
        encoded(transparent, "PNG", save_all=True, append_images=[late]),
        encoded(solid("RGB", (200, 30, 30)), "JPEG", quality=30),
        encoded(Image.effect_noise((64, 48), 1).convert("RGB"), "PNG"),
    ]
    seen = [encoded(two_coloured((64, 48), "black")), JPEG, encoded(two_coloured((64, 48), (240, 255, 255)))]
    assert [is_blank(load_image(data, width=64, **LIMITS)) for data in blank] == [True] * len(blank)
    assert [is_blank(load_image(data, width=64, **LIMITS)) for data in seen] == [False] * len(seen)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied(orientation: int) -> None:
    image = solid("RGB", "white", (64, 48))
    image.paste("red", (0, 0, 16, 12))
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(image, "PNG", exif=exif)
    pixels = load_image(data, width=64, **LIMITS)
    assert fit_picture(Image.open(io.BytesIO(data)), width=64, **LIMITS).image.tobytes() == pixels.tobytes()
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


def long_text() -> PngImagePlugin.PngInfo:
    """More packed text than Pillow reads."""
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", "x" * (1 << 21), zip=True)
    return text


def test_texts_of_a_png_do_not_damage_it() -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", "x" * (1 << 21))
    assert load(encoded(solid("RGB", "red"), pnginfo=text)).shape == (48, 64, 3)
    with pytest.raises(ImageProblem, match="texts or the colour profile in the PNG file are larger than Pillow reads"):
        load(encoded(solid("RGB", "red"), pnginfo=long_text()))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", RejectReason.UNDECODABLE),
        (b"not an image", RejectReason.UNDECODABLE),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n", RejectReason.UNDECODABLE),
        (JPEG[: len(JPEG) // 2], RejectReason.TRUNCATED),
        (PNG[: len(PNG) // 2], RejectReason.TRUNCATED),
        (JPEG[:20], RejectReason.TRUNCATED),
        (PNG[:20], RejectReason.TRUNCATED),
        (PNG[:40], RejectReason.TRUNCATED),
        (PNG[:20] + b"\xff" + PNG[21:], RejectReason.UNDECODABLE),  # whole, with a damaged header
        (PNG[:20] + b"\xff" + PNG[21:] + b"\n", RejectReason.UNDECODABLE),
        (encoded(solid("RGB", "red"), pnginfo=long_text()), RejectReason.UNDECODABLE),
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
