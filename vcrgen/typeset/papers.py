"""Paper and ink: a gray strip becomes print of one colour on paper of another, with a texture.

A texture depends on its seed and the size of the strip alone, never on the text. As in `vcrgen.typeset.patterns`,
only operations that every machine rounds alike are used.
"""

import numpy as np
import numpy.typing as npt

from vcrgen.core.resources import load_object
from vcrgen.typeset.paper_kinds import PAPER_KINDS, read_colour
from vcrgen.typeset.patterns import Floats, random_hills

Pixels = npt.NDArray[np.uint8]


def newsprint(rng: np.random.Generator, height: int, width: int) -> Floats:
    """Fine grain, and clouds of pulp."""
    grain: Floats = 0.1 * random_hills(rng, height, width, 1.2) + 0.06 * random_hills(rng, height, width, 24)
    return grain


def laid(rng: np.random.Generator, height: int, width: int) -> Floats:
    """Lines of a paper mould, and stains of age."""
    lines = np.where(np.arange(height) % 4 == int(4 * rng.random()), np.float32(0.06), np.float32(0))
    stains: Floats = lines[:, None] + 0.14 * random_hills(rng, height, width, 40) ** 2
    return stains + 0.04 * random_hills(rng, height, width, 2)


def print_strip(strip: Pixels, paper: str, ink: str, seed: int) -> Pixels:
    """Print a strip in one colour on a kind of paper.

    Args:
        strip: Brightness, shape (height, width), 255 = paper.
        paper: One of `vcrgen.typeset.paper_kinds.PAPER_KINDS`.
        ink: The colour of the print, RRGGBB.

    Returns:
        RGB, shape (height, width, 3).
    """
    kind = PAPER_KINDS[paper]
    ground = np.broadcast_to(np.array(read_colour(kind.colour), dtype=np.float32), (*strip.shape, 3))
    if kind.draw:
        darkness = load_object(kind.draw)(np.random.Generator(np.random.PCG64(seed)), *strip.shape)
        ground = ground * (1 - darkness)[:, :, None]
    light = strip.astype(np.uint32)[:, :, None]
    print_colour = np.array(read_colour(ink), dtype=np.uint32)
    mixed = (ground + np.float32(0.5)).astype(np.uint32) * light + print_colour * (255 - light)
    printed: Pixels = ((mixed + 127) // 255).astype(np.uint8)
    return printed
