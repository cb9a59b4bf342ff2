"""Decoding of images (VI): eight-bit sRGB pixels of one width, upright, on white."""

import io
import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL import ExifTags, Image, ImageCms, ImageOps

from vcrgen.core.errors import ImageProblem
from vcrgen.core.records import RejectReason

# Name and version, for fingerprints, of what decides the pixels of VI, and of rejects.
RULE = "pictures-2"
Image.init()
# Raster formats that this Pillow decodes without starting another program (as for EPS).
FORMATS = tuple(
    name for name in ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP", "PPM", "AVIF", "ICO") if name in Image.OPEN
)
LEAST_HEIGHT = 16  # pixels of what a flat image becomes, or `min_side` if that is less
GRAY_LEVELS = (255, 1023, 4095, 65535)  # the largest value of 8, 10, 12 and 16 bits
WIDE_GRAY = ("I;16", "I;16L", "I;16B", "I;16N", "I", "F")
PROFILE_MODES = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}  # colour spaces of ICC profiles, as Pillow calls them
MAX_PROFILE_BYTES = 4 << 20  # those of presses have up to 2 MiB
MAX_TRAILER = 1024  # bytes that may stand behind the end of a whole file
SRGB_MARGIN = 2  # of 255: profiles that change colours by no more are sRGB
BLANK_RANGE = 8  # of 255, in every channel: JPEG changes a single colour by less
# What decoders raise on damaged and hostile files.
DECODER_ERRORS = (
    EOFError,
    OSError,
    SyntaxError,
    ValueError,
    IndexError,
    TypeError,
    KeyError,
    OverflowError,
    MemoryError,
    Image.DecompressionBombError,
)
# A difference hash compares neighbouring cells of a picture shrunk to this many rows: it survives resizing and JPEG.
HASH_ROWS = 16
# Of 255: JPEG and resizing change the brightness of cells that are as good as equal by less.
HASH_MARGIN = 3


def load_image(data: bytes, *, width: int, max_pixels: int, min_side: int, max_height: int) -> Image.Image:
    """Decode an image and resize it to a width.

    EXIF orientation is applied, gray of 16 or 32 bits is scaled to eight, CMYK and palettes become RGB, colours of a
    profile become sRGB, alpha is laid on white; of an animation the first frame is taken.

    Args:
        width: Of the image that is given back, in pixels; its mode is RGB, and its aspect ratio is kept.
        max_pixels: Width times height of what is accepted, judged from the header before anything is decoded.
        min_side: The shorter side, at least, in pixels. After resizing it is `LEAST_HEIGHT` at least.
        max_height: The height at the width asked for, at most, in pixels; judged before resizing.

    Raises:
        ImageProblem: With the typed reason.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # decompression bombs are judged below; damaged EXIF is no matter
        image = _open(data, max_pixels, min_side)
        try:
            # A large JPEG is decoded at an eighth to a half of its size, but at least twice the target's.
            image.draft(None, (2 * width, 2 * max(1, width * image.height // image.width)))
            image.load()
            image = _upright(image)
            size = _scaled_size(image, width, min_side, max_height)
            return _resize_to_srgb(image, size)
        except DECODER_ERRORS as error:
            raise _problem_of(error, image) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPicture:
    """A picture and what it is known by."""

    image: Image.Image  # VI
    content: bytes  # its encoded bytes; of a picture that came decoded all pixels, upright and in RGB, and their size


def fit_picture(picture: Image.Image, *, width: int, max_pixels: int, min_side: int, max_height: int) -> LoadedPicture:
    """Do with a decoded picture what `load_image` does with a file.

    Raises:
        ImageProblem: With the typed reason.
    """
    _check_size(picture, max_pixels, min_side)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            picture.load()
            upright = _upright(picture)
            size = _scaled_size(upright, width, min_side, max_height)
            rgb = _to_rgb(upright)
            profile = upright.info.get("icc_profile", b"") if _to_srgb(upright) else b""
            content = b"RGB pixels %dx%d\0" % rgb.size + rgb.tobytes() + profile
            return LoadedPicture(image=_resize_to_srgb(upright, size), content=content)
        except DECODER_ERRORS as error:
            raise _problem_of(error, picture) from None


def _scaled_size(image: Image.Image, width: int, min_side: int, max_height: int) -> tuple[int, int]:
    """Width and height in pixels of a picture scaled to a width.

    Raises:
        ImageProblem: The height would be above ``max_height``, or too small to be seen.
    """
    height = max(1, round(image.height * width / image.width))
    if height > max_height:
        raise ImageProblem(RejectReason.TOO_TALL, f"VI would be {height} px high; at most {max_height}")
    if height < min(min_side, LEAST_HEIGHT):
        raise ImageProblem(RejectReason.TINY, f"VI would be {width}x{height} px; at least {LEAST_HEIGHT} high")
    return width, height


def _resize_to_srgb(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """A decoded picture in RGB at a size, its colours in sRGB: converted last, as few pixels cost little."""
    transform = _to_srgb(image)
    if transform is None:
        return _scaled(_to_rgb(image), size)
    scaled = _scaled(image if image.mode == "CMYK" else _to_rgb(image), size)
    mode = str(transform.input_mode)
    return ImageCms.applyTransform(scaled if scaled.mode == mode else scaled.convert(mode), transform) or scaled


def _scaled(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    return image if image.size == size else image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def _to_srgb(image: Image.Image) -> ImageCms.ImageCmsTransform | None:
    """The conversion from a picture's colour profile, if it has a usable one that is not sRGB."""
    profile = image.info.get("icc_profile")
    if not isinstance(profile, bytes) or not 0 < len(profile) <= MAX_PROFILE_BYTES:
        return None
    transform = _profile_transform(profile)
    # A profile of other channels than the picture's is a mistake.
    return None if transform is None or (transform.input_mode == "CMYK") != (image.mode == "CMYK") else transform


@lru_cache(maxsize=16)
def _profile_transform(profile: bytes) -> ImageCms.ImageCmsTransform | None:
    """The conversion of an ICC profile to sRGB; None for sRGB, damaged profiles and those of other kinds."""
    try:
        opened = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        mode = PROFILE_MODES.get(opened.profile.xcolor_space.strip())
        if mode is None:
            return None
        transform = ImageCms.buildTransform(opened, ImageCms.createProfile("sRGB"), mode, "RGB")
        if mode == "CMYK":
            return transform
        levels = np.linspace(0, 255, 6).astype(np.uint8)
        colours = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(1, -1, 3)
        colours = colours if mode == "RGB" else levels[None, :, None].repeat(3, axis=2)
        converted = ImageCms.applyTransform(Image.fromarray(colours).convert(mode), transform)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError, MemoryError):
        return None
    moved = np.abs(np.asarray(converted).astype(int) - colours)
    return transform if moved.max() > SRGB_MARGIN else None


def is_blank(image: Image.Image) -> bool:
    """Return True if nothing can be seen in an RGB picture: all of it has one colour, or nearly so."""
    return all(high - low <= BLANK_RANGE for low, high in map(_range_of, map(image.getchannel, "RGB")))


def _range_of(channel: Image.Image) -> tuple[int, int]:
    low, high = channel.getextrema()
    assert isinstance(low, int) and isinstance(high, int)
    return low, high


def _problem_of(error: BaseException, image: Image.Image) -> ImageProblem:
    """The reject reason for what a decoder raised while it read an image."""
    if isinstance(error, EOFError):
        return ImageProblem(RejectReason.NO_FRAME, f"the {image.format} file has no frame")
    if isinstance(error, MemoryError | Image.DecompressionBombError):
        return ImageProblem(RejectReason.OVERSIZED, _first_line(error))
    reason = RejectReason.TRUNCATED if "truncated" in str(error).lower() else RejectReason.UNDECODABLE
    return ImageProblem(reason, _first_line(error))


def difference_hash(picture: Image.Image) -> npt.NDArray[np.uint8]:
    """The difference hash: a bit for each of 256 cells that is clearly brighter than its left neighbour."""
    gray = picture.convert("L").resize((HASH_ROWS + 1, HASH_ROWS), Image.Resampling.BOX)
    cells = np.asarray(gray, dtype=np.int16)
    return np.packbits(cells[:, 1:] > cells[:, :-1] + HASH_MARGIN)


def _open(data: bytes, max_pixels: int, min_side: int) -> Image.Image:
    """Read the header and judge it."""
    if not data:
        raise ImageProblem(RejectReason.UNDECODABLE, "the image is empty")
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise ImageProblem(RejectReason.OVERSIZED, _first_line(error)) from None
    except Exception as error:  # decoders raise anything on hostile headers
        raise ImageProblem(*_header_problem(data, error)) from None
    _check_size(image, max_pixels, min_side)
    return image


def _check_size(image: Image.Image, max_pixels: int, min_side: int) -> None:
    if image.width * image.height > max_pixels:
        raise ImageProblem(RejectReason.OVERSIZED, f"{image.width}x{image.height} pixels; at most {max_pixels}")
    if min(image.size) < min_side:
        raise ImageProblem(RejectReason.TINY, f"{image.width}x{image.height} pixels; at least {min_side} a side")


def _header_problem(data: bytes, error: Exception) -> tuple[RejectReason, str]:
    """The reject reason for a header that Pillow cannot read."""
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return RejectReason.NO_FRAME, "the GIF file has no frame"
    if "MAX_TEXT" in str(error):
        return RejectReason.UNDECODABLE, "the texts or the colour profile in the PNG file are larger than Pillow reads"
    for start, end in ((b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"), (b"\xff\xd8\xff", b"\xff\xd9")):
        if data.startswith(start):
            whole = end in data[-MAX_TRAILER:]
            reason = RejectReason.UNDECODABLE if whole else RejectReason.TRUNCATED
            return reason, "the header is damaged" if whole else "the file ends in its header"
    return RejectReason.UNDECODABLE, f"not an image of a known format ({', '.join(FORMATS)})"


def _upright(image: Image.Image) -> Image.Image:
    try:
        turned = image.getexif().get(ExifTags.Base.Orientation, 1) != 1
        return ImageOps.exif_transpose(image) if turned else image  # which would be a copy
    except Exception:  # damaged EXIF does not affect the pixels
        return image


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode in WIDE_GRAY:
        return _scale_gray(image).convert("RGB")
    transparent = image.info.get("transparency")
    if image.mode == "RGB" and isinstance(transparent, tuple) and max(transparent) > 255:
        image = image.copy()
        image.info["transparency"] = tuple(level >> 8 for level in transparent)  # of 16 bits, as the pixels were
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        canvas = Image.new("RGBA", rgba.size, "white")
        return Image.alpha_composite(canvas, rgba).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _scale_gray(image: Image.Image) -> Image.Image:
    """Scale grayscale of more than eight bits (floats of 0 to 1, integers of 10 to 16 bits) to eight bits.

    No format says how many of its 16 bits a camera or scanner filled: the least depth that holds all values is taken.
    """
    values = np.asarray(image).astype(np.float64)
    values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    level = image.info.get("transparency")
    transparent = values == level if isinstance(level, int) else np.zeros(values.shape, dtype=bool)
    high = values.max(initial=0.0, where=~transparent)
    if image.mode == "F":
        scale = 255.0 if high <= 1 else 1.0 if high <= 255 else 255.0 / high
    else:
        scale = 255.0 / next((level for level in GRAY_LEVELS if high <= level), high)
    scaled = np.clip(np.rint(values * scale), 0, 255).astype(np.uint8)
    scaled[transparent] = 255
    return Image.fromarray(scaled)


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return (text.splitlines()[0] if text else type(error).__name__)[:200]
