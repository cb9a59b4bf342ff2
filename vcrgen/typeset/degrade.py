"""Degradation of finished images: the functions of `vcrgen.typeset.degradation_kinds`.

Only warps move pixels: masks are warped with them (`warp_mask`), and boxes are invalid.
"""

import io
import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from vcrgen.core.resources import load_object
from vcrgen.typeset.degradation_kinds import DEGRADATIONS

Pixels = npt.NDArray[np.uint8]


def degrade(pixels: Pixels, steps: Iterable[tuple[str, float]], seed: int) -> Pixels:
    """Degrade an RGB image, shape (height, width, 3); ``steps`` are names of degradations with amounts."""
    image = Image.fromarray(pixels)
    for name, amount in steps:
        image = load_object(DEGRADATIONS[name].apply)(image, amount, seed)
    return np.asarray(image)


def jpeg(image: Image.Image, quality: float, _: int) -> Image.Image:
    """JPEG compression with a quality from 1 to 95."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=int(quality))
    return Image.open(buffer).convert("RGB")


def blur(image: Image.Image, radius: float, _: int) -> Image.Image:
    """Gaussian blur with a radius in pixels."""
    return image.filter(ImageFilter.GaussianBlur(radius))


def lowres(image: Image.Image, scale: float, _: int) -> Image.Image:
    """Downsampling by a factor, and upsampling to the old size."""
    small = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(small, Image.Resampling.BOX).resize(image.size, Image.Resampling.BICUBIC)


def camera(image: Image.Image, strength: float, seed: int) -> Image.Image:
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


def warp_mask(mask: npt.NDArray[np.bool_], steps: Iterable[tuple[str, float]], seed: int) -> npt.NDArray[np.bool_]:
    """Apply the warps of `degrade` with the same steps and seed to a mask, shape (height, width)."""
    image = Image.fromarray(mask)
    for name, amount in steps:
        if DEGRADATIONS[name].warp:
            apply = load_object(DEGRADATIONS[name].apply)
            image = apply(image.convert("L"), amount, seed, Image.Resampling.NEAREST, 0)
    return np.asarray(image).astype(bool)


def skew(
    image: Image.Image,
    degrees: float,
    seed: int,
    resample: Image.Resampling = Image.Resampling.BICUBIC,
    ground: str | int = "white",
) -> Image.Image:
    """Rotate an image about its centre, to the left or right, and shrink it so that it fits into the same size."""
    angle = math.radians(degrees if seed & 1 else -degrees)
    cos, sin = math.cos(angle), math.sin(angle)
    width, height = image.size
    larger = cos + abs(sin) * max(height / width, width / height)
    # Where in the image each pixel of the new one is from: its distance from the middle, turned back.
    a, b = larger * cos, larger * sin
    x, y = width / 2, height / 2
    back = (a, b, x - a * x - b * y, -b, a, y + b * x - a * y)
    return image.transform(image.size, Image.Transform.AFFINE, back, resample, fillcolor=ground)


def perspective(
    image: Image.Image,
    share: float,
    seed: int,
    resample: Image.Resampling = Image.Resampling.BICUBIC,
    ground: str | int = "white",
) -> Image.Image:
    """Show a page from one of its four sides: the far edge is shorter by a share, and far rows are nearer together."""
    turned = image.rotate(90 * (seed & 3), expand=True)  # the far edge is at the top
    far, middle, height = 1 / (1 - share), turned.width / 2, turned.height
    bend = (far - 1) / height
    # Where in the image each pixel (x, y) of the new one is from: (a x + b y + c, d x + e y + f) / (g x + h y + 1).
    back = (far, middle * bend, -middle * (far - 1), 0, far, 0, 0, bend)
    seen = turned.transform(turned.size, Image.Transform.PERSPECTIVE, back, resample, fillcolor=ground)
    return seen.rotate(-90 * (seed & 3), expand=True)
