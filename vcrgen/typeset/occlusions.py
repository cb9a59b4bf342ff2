"""Covers that are not rows: stripes, stains, scribbles and others, drawn by code from a seed.

A kind is a function that gives each pixel around a piece of text a number, its *order*: the pixels of the lowest order
are hidden first, and a cover that hides more hides all that one that hides less does. How far a cover goes is said as
the share of a line's ink that it is expected to hide, so that one number means the same for every kind, width and size;
:mod:`vcrgen.typeset.calibrate` finds it. What a cover looks like hangs on its seed and its place alone, never on the
text under it, and a hidden pixel shows nothing of what was there: soft edges are drawn in the fill.

Only operations that every machine rounds alike are used here: no sine, no exponential, no matrix product.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from vcrgen.typeset.records import Box, Cover

Floats = npt.NDArray[np.floating[Any]]
Orders = npt.NDArray[np.uint16]

STEPS = 2048  # orders that are told apart
FAR = 4.0  # beyond all that is hidden
REACH = 0.15  # how far covers that nobody would cut off at a line's edge go beyond it, in heights of a line


class Ground(NamedTuple):
    """Where an occlusion is drawn."""

    line: int  # height of a line of text, in pixels
    x: Floats  # pixels from the left end of the strip, shape (1, width)
    y: Floats  # pixels from the top of the strip, shape (height, 1)
    cell: Box  # the place of the text; the pixels above go beyond it if the kind does
    rng: np.random.Generator


class Drawn(NamedTuple):
    """An occlusion that is still of any size."""

    orders: Floats  # the order of each pixel, shape (height, width): 0 is the first; beyond 1 all are the last
    shade: Floats | int  # brightness of each pixel where it is hidden; of all of them where that is one number
    # A soft edge: the orders over which the brightness goes to ``edge`` before the cover ends; 0 for a sharp one.
    softness: float = 0.0
    edge: int = 255


def _noise(ground: Ground, grain: float) -> Floats:
    """Smooth random hills, about ``grain`` pixels wide, from 0 to 1."""
    rng, height, width = ground.rng, ground.y.size, ground.x.size
    dots = rng.random((int(height / grain) + 2, int(width / grain) + 2), dtype=np.float32)
    (row, down), (column, right) = (_steps(size, grain) for size in (height, width))
    left = dots[:, column] * (1 - right) + dots[:, column + 1] * right
    hills: Floats = left[row] * (1 - down[:, None]) + left[row + 1] * down[:, None]
    return hills


def _steps(size: int, grain: float) -> tuple[npt.NDArray[np.intp], Floats]:
    """For each pixel the dot before it, and how far it is on the way to the next one, eased at both ends."""
    place = np.arange(size, dtype=np.float32) / np.float32(grain)
    dot = place.astype(np.intp)
    share = place - dot
    return dot, share * share * (3 - 2 * share)


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    return low + (high - low) * float(rng.random())


def _stripes(ground: Ground) -> Drawn:
    """Dark slanted bars."""
    rng, line = ground.rng, ground.line
    slant = _between(rng, 0.6, 1.0) * (1 if rng.random() < 0.5 else -1)
    turns = (ground.x + ground.y * slant) / max(4.0, 0.45 * line) + _between(rng, 0, 1)
    return Drawn(np.abs(2 * (turns - np.floor(turns)) - 1), 70)


def _blinds(ground: Ground) -> Drawn:
    """Slats from side to side, a little aslant, each lighter at its top."""
    rng, line = ground.rng, ground.line
    slant = _between(rng, 0.02, 0.05) * (1 if rng.random() < 0.5 else -1)
    turns = (ground.y + ground.x * slant) / max(4.0, 0.34 * line) + _between(rng, 0, 1)
    part = turns - np.floor(turns)
    return Drawn(np.abs(2 * part - 1), 235 - 60 * part)


def _stain(ground: Ground) -> Drawn:
    """Drops of ink that have run into each other, dark inside and pale at the edge."""
    line = ground.line
    far = np.full((ground.y.size, ground.x.size), FAR, dtype=np.float32)
    for near, across, down in _middles(ground, apart=1.0):
        np.minimum(far[:, near], (across * across + down * down) / (line * line), out=far[:, near])
    rough = _noise(ground, 0.5 * line) + 0.3 * _noise(ground, 0.2 * line)
    return Drawn((far + 0.4 * rough) / 2, 60, softness=0.15, edge=215)


def _middles(ground: Ground, *, apart: float) -> Iterator[tuple[slice, Floats, Floats]]:
    """Random middles along the line, about so many heights of a line apart.

    Yields:
        The columns near a middle, how far they are to the right of it, and how far the rows are below it.
    """
    rng, cell, line = ground.rng, ground.cell, ground.line
    count = max(1, round((cell.x1 - cell.x0) / (apart * line)))
    step = (cell.x1 - cell.x0) / count
    for number in range(count):
        x = cell.x0 + (number + _between(rng, 0.2, 0.8)) * step
        y = cell.y0 + _between(rng, 0.4, 0.75) * line
        left = int(x - 2 * line - ground.x[0, 0])
        near = slice(max(0, left), max(0, left + 4 * line))
        yield near, ground.x[:, near] - x, ground.y - y


PASSES = 12  # how often a pen goes over a line before nothing of it is left


def _scribble(ground: Ground) -> Drawn:
    """A pen that goes up and down along the line, again and again; a smaller cover stops earlier."""
    rng, line, cell = ground.rng, ground.line, ground.cell
    height, width = ground.y.size, ground.x.size
    left, top = float(ground.x[0, 0]), float(ground.y[0, 0])
    image = Image.new("L", (width, height), PASSES)
    pen, thick = ImageDraw.Draw(image), max(1, round(0.1 * line))
    number = np.arange(int((cell.x1 - cell.x0) / (0.25 * line)) + 3)
    right, down = number - 1.5, 0.12 + 0.6 * (number % 2)  # where a pass would turn without jitter
    for turn in reversed(range(PASSES)):
        step = _between(rng, 0.25, 0.5) * line
        count = int((cell.x1 - cell.x0) / step) + 3
        points = rng.random((count, 2))  # jitter
        points[:, 0] = cell.x0 - left + (right[:count] + 0.8 * points[:, 0]) * step
        points[:, 1] = cell.y0 - top + line * (down[:count] + 0.22 * points[:, 1])
        pen.line(points.ravel().tolist(), fill=turn, width=thick)
    passes = np.asarray(image, dtype=np.float32)
    along = (ground.x - cell.x0) / max(1, cell.x1 - cell.x0)
    beside = np.abs(ground.y - cell.y0 - 0.55 * line) / line  # what no pass has met is filled from the middle
    return Drawn((passes + np.clip(np.where(passes < PASSES, along, beside), 0, 0.999)) / (PASSES + 1), 45)


def _fold(ground: Ground) -> Drawn:
    """Creases from top to bottom, where the print has flaked off; they go on in the next line of the same text."""
    rng, line = ground.rng, ground.line
    apart, start, slant = 1.3 * line, _between(rng, 0, 1), _between(rng, -0.35, 0.35)
    # Dots from the top of the strip on, so that a crease stands at the same place in every line.
    dots = rng.random(int(ground.cell.y1 / (0.25 * line)) + 3, dtype=np.float32)
    row, down = _steps(ground.cell.y1, 0.25 * line)
    ragged = (dots[row] * (1 - down) + dots[row + 1] * down)[ground.cell.y0 :, None]
    turns = (ground.x + slant * ground.y + 0.7 * line * ragged) / apart + start
    far = np.abs(turns - np.floor(turns + 0.5))
    rough = _noise(ground, 0.15 * line)
    return Drawn(far + 0.15 * rough, 255, softness=0.06, edge=165)


def _dropout(ground: Ground) -> Drawn:
    """Print that has rubbed off, in specks and patches."""
    line = ground.line
    return Drawn(0.6 * _noise(ground, max(1.0, line / 20)) + 0.4 * _noise(ground, 0.3 * line), 255)


def _leaf(ground: Ground) -> Drawn:
    """Leaves laid over the line, with their veins."""
    line = ground.line
    half = _between(ground.rng, -0.15, 0.15)  # tangent of half the angle
    cosine, sine = (1 - half * half) / (1 + half * half), 2 * half / (1 + half * half)
    nearest = np.full((ground.y.size, ground.x.size), FAR, dtype=np.float32)
    shade = np.full(nearest.shape, 110, dtype=np.float32)
    for near, across, down in _middles(ground, apart=1.8):
        along, aside = across * cosine + down * sine, np.abs(down * cosine - across * sine)
        far = along * along / (1.5 * line * line) + aside / (0.75 * line)
        turns = (along + 0.9 * aside) / (0.3 * line)
        veins = np.where(aside < 0.05 * line, 190, np.where(turns - np.floor(turns) < 0.18, 145, 110))
        np.copyto(shade[:, near], veins, where=far < nearest[:, near])
        np.minimum(nearest[:, near], far, out=nearest[:, near])
    return Drawn(nearest / 3, shade)


@dataclass(frozen=True, slots=True, kw_only=True)
class OcclusionKind:
    """A kind of occlusion."""

    draw: Callable[[Ground], Drawn]
    reach: float = 0.0  # how far it goes beyond the text's place, in heights of a line


OCCLUSIONS: Mapping[str, OcclusionKind] = MappingProxyType(
    {
        "stripes": OcclusionKind(draw=_stripes),
        "blinds": OcclusionKind(draw=_blinds),
        "stain": OcclusionKind(draw=_stain, reach=REACH),
        "scribble": OcclusionKind(draw=_scribble, reach=REACH),
        "fold": OcclusionKind(draw=_fold),
        "dropout": OcclusionKind(draw=_dropout),
        "leaf": OcclusionKind(draw=_leaf, reach=REACH),
    }
)
"""What ``--cover`` calls a cover that is not rows, and how it is drawn."""


def occlusion_at(kind: str, seed: int, cell: Box) -> tuple[Box, Orders, Drawn]:
    """An occlusion of any size at the place of a text.

    Args:
        kind: A key of :data:`OCCLUSIONS`.
        seed: Decides its form.
        cell: The place, as high as a line.

    Returns:
        The rectangle that it is drawn in, in pixels of the strip, which may be larger than the strip; the order of each
        of its pixels in whole steps; and what it looks like.
    """
    line = cell.y1 - cell.y0
    reach = round(OCCLUSIONS[kind].reach * line)
    box = Box(cell.x0 - reach, cell.y0 - reach, cell.x1 + reach, cell.y1 + reach)
    x = np.arange(box.x0, box.x1, dtype=np.float32)[None, :]
    y = np.arange(box.y0, box.y1, dtype=np.float32)[:, None]
    rng = np.random.Generator(np.random.PCG64(seed))
    drawing = OCCLUSIONS[kind].draw(Ground(line, x, y, cell, rng))
    orders = (np.clip(drawing.orders, 0, 1) * (STEPS - 1)).astype(np.uint16)
    return box, orders, drawing


_cached = lru_cache(maxsize=24)(occlusion_at)  # all modes of a pair show the same occlusion


@dataclass(frozen=True, slots=True, kw_only=True)
class Occlusion:
    """Hides a share of a line's ink under an occlusion.

    Attributes:
        rows: Share of the ink of the fonts' text in each row of a line.
    """

    kind: str  # a key of :data:`OCCLUSIONS`
    hidden: float  # the share of the ink that it is expected to hide
    rows: tuple[float, ...]
    seed: int = 0  # decides its form

    @property
    def name(self) -> str:
        """The kind and the share: ``"stain-0.516"``."""
        return f"{self.kind}-{self.hidden:.3f}"

    def cover(self, cell: Box) -> Cover:
        """Hide the text of a cell; the cover may reach beyond the cell, and beyond the strip."""
        box, orders, drawing = _cached(self.kind, self.seed, cell)
        last = int(last_step(box, orders, cell, self.rows, np.array([self.hidden]))[0])
        shade: Floats | int = drawing.shade
        if drawing.softness:
            inside = np.clip((last - orders.astype(np.float32)) / np.float32(drawing.softness * STEPS), 0, 1)
            shade = drawing.edge + (drawing.shade - drawing.edge) * inside
        fill = shade if isinstance(shade, int) else (shade + 0.5).astype(np.uint8)
        return Cover(box=box, mask=orders <= last, fill=fill)


def last_step(
    box: Box, orders: Orders, cell: Box, rows: tuple[float, ...], hidden: npt.NDArray[np.float64]
) -> npt.NDArray[np.intp]:
    """The step with which an occlusion hides each of some shares of a cell's ink, if a row's ink is spread evenly."""
    inside = orders[cell.y0 - box.y0 : cell.y1 - box.y0, cell.x0 - box.x0 : cell.x1 - box.x0]
    weights = np.repeat(np.asarray(rows), inside.shape[1])
    shares = np.bincount(inside.ravel(), weights, minlength=STEPS).cumsum()
    last: npt.NDArray[np.intp] = np.minimum(np.searchsorted(shares, hidden * shares[-1]), STEPS - 1)
    return last
