"""Degradation of finished images: JPEG, blur, low resolution, camera noise, skew.

Only a skew moves pixels: masks are skewed with it (:func:`skew_mask`), and boxes are invalid.
"""

import io
import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from vcrgen.config.build import MOVING

Pixels = npt.NDArray[np.uint8]


def degrade(pixels: Pixels, steps: Iterable[tuple[str, float]], seed: int) -> Pixels:
    """Degrade an RGB image, shape (height, width, 3); ``steps`` are names of :data:`DEGRADATIONS` with amounts."""
    image = Image.fromarray(pixels)
    for name, amount in steps:
        image = DEGRADATIONS[name](image, amount, seed)
    return np.asarray(image)


def _jpeg(image: Image.Image, quality: float, _: int) -> Image.Image:
    """JPEG compression with a quality from 1 to 95."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=int(quality))
    return Image.open(buffer).convert("RGB")


def _blur(image: Image.Image, radius: float, _: int) -> Image.Image:
    """Gaussian blur with a radius in pixels."""
    return image.filter(ImageFilter.GaussianBlur(radius))


def _lowres(image: Image.Image, scale: float, _: int) -> Image.Image:
    """Downsampling by a factor, and upsampling to the old size."""
    small = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(small, Image.Resampling.BOX).resize(image.size, Image.Resampling.BICUBIC)


def _camera(image: Image.Image, strength: float, seed: int) -> Image.Image:
    """A lighting gradient and Gaussian noise; ``strength`` is from 0 to 1."""
    rng = np.random.Generator(np.random.PCG64(seed))
    across, down = rng.random(2) * 2 - 1
    x, y = np.linspace(-0.5, 0.5, image.width)[:, None], np.linspace(-0.5, 0.5, image.height)[:, None, None]
    light = 1 - strength * (0.35 + 0.5 * (across * x + down * y))
    # The sum of four uniform numbers is nearly normal; the noise has a deviation of 40 of 255 at full strength.
    shape = (image.height, image.width)
    grain = sum((rng.random(shape, dtype=np.float32) for _ in range(4)), np.full(shape, -2, np.float32))
    noisy = np.asarray(image) * light + (40 * 3**0.5 * strength) * grain[:, :, None]
    return Image.fromarray(np.clip(noisy + 0.5, 0, 255).astype(np.uint8))


def skew_mask(mask: npt.NDArray[np.bool_], steps: Iterable[tuple[str, float]], seed: int) -> npt.NDArray[np.bool_]:
    """Apply the skew of :func:`degrade` with the same steps and seed to a mask, shape (height, width)."""
    image = Image.fromarray(mask)
    for name, amount in steps:
        if name == MOVING:
            image = _rotate(image.convert("L"), amount, seed, Image.Resampling.NEAREST, 0)
    return np.asarray(image).astype(bool)


def _skew(image: Image.Image, degrees: float, seed: int) -> Image.Image:
    """Rotation by some degrees, to the left or right, on white."""
    return _rotate(image, degrees, seed, Image.Resampling.BICUBIC, "white")


def _rotate(
    image: Image.Image, degrees: float, seed: int, resample: Image.Resampling, ground: str | int
) -> Image.Image:
    """Rotate an image about its centre and shrink it so that it fits into the same size."""
    angle = math.radians(degrees if seed & 1 else -degrees)
    cos, sin = math.cos(angle), math.sin(angle)
    width, height = image.size
    larger = cos + abs(sin) * max(height / width, width / height)
    # Where in the image each pixel of the new one is from: its distance from the middle, turned back.
    a, b = larger * cos, larger * sin
    x, y = width / 2, height / 2
    back = (a, b, x - a * x - b * y, -b, a, y + b * x - a * y)
    return image.transform(image.size, Image.Transform.AFFINE, back, resample, fillcolor=ground)


DEGRADATIONS: Mapping[str, Callable[[Image.Image, float, int], Image.Image]] = MappingProxyType(
    {"jpeg": _jpeg, "blur": _blur, "lowres": _lowres, "camera": _camera, "skew": _skew}
)
"""The degradations by their names in ``--degrade``."""
