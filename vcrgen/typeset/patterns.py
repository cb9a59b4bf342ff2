"""Covers that are not rows: stripes, stains, leaves and others, drawn by code from a seed.

A pattern gives each pixel around a text a number, its *order*. Pixels of the lowest order are hidden first, so a larger
cover hides all that a smaller one hides. The size of a cover is the share of a line's ink that it is expected to hide:
one number means the same for every kind, width and font size. `vcrgen.typeset.calibrate` finds it.

The form of a cover depends on its seed, its place and the face alone, never on the text under it: it extends beyond the
place as far as letters of the face do. Only for a glyph that reaches further, as rare ones may, it is larger. A hidden
pixel shows nothing of the text: soft edges are drawn in the fill.

Only operations that every machine rounds alike are used here: no sine, no exponential, no matrix product.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.core.resources import load_object
from vcrgen.typeset.cover_kinds import COVER_KINDS
from vcrgen.typeset.records import NO_MARGINS, Box, Cell, Cover, Margins

Floats = npt.NDArray[np.floating[Any]]
PixelOrders = npt.NDArray[np.uint16]

STEPS = 2048  # distinct orders
FAR = 4.0  # an order beyond all that is hidden


class Canvas(NamedTuple):
    """The rectangle that a pattern is drawn in."""

    line: int  # height of a line of text, in pixels
    x: Floats  # pixels from the left end of the strip, shape (1, width)
    y: Floats  # pixels from the top of the strip, shape (height, 1)
    cell: Box  # the place of the text, as high as a line; the rectangle extends beyond it
    pitch: int  # width of a character in pixels, where nearly all have the same; else 0
    rng: np.random.Generator


class Pattern(NamedTuple):
    """A cover of no particular size."""

    orders: Floats  # the order of each pixel, shape (height, width): 0 is hidden first; all beyond 1 are hidden last
    shade: Floats | int  # brightness of each hidden pixel, or of all of them
    # Soft edge: range of orders in which the brightness fades to ``edge`` before the cover ends; 0 for a sharp edge.
    softness: float = 0.0
    edge: int = 255


def _noise(canvas: Canvas, grain: float) -> Floats:
    return random_hills(canvas.rng, canvas.y.size, canvas.x.size, grain)


def random_hills(rng: np.random.Generator, height: int, width: int, grain: float) -> Floats:
    """Smooth random hills, about ``grain`` pixels wide, from 0 to 1, shape (height, width)."""
    dots = rng.random((int(height / grain) + 2, int(width / grain) + 2), dtype=np.float32)
    (row, down), (column, right) = (_smoothstep(size, grain) for size in (height, width))
    left = dots[:, column] * (1 - right) + dots[:, column + 1] * right
    hills: Floats = left[row] * (1 - down[:, None]) + left[row + 1] * down[:, None]
    return hills


def _smoothstep(size: int, grain: float) -> tuple[npt.NDArray[np.intp], Floats]:
    """For each pixel the dot before it, and the eased share of the way to the next dot."""
    place = np.arange(size, dtype=np.float32) / np.float32(grain)
    dot = place.astype(np.intp)
    share = place - dot
    return dot, share * share * (3 - 2 * share)


def _uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return low + (high - low) * float(rng.random())


def stripes(canvas: Canvas) -> Pattern:
    """Dark slanted bars."""
    rng, line = canvas.rng, canvas.line
    slant = _uniform(rng, 0.6, 1.0) * (1 if rng.random() < 0.5 else -1)
    turns = (canvas.x + canvas.y * slant) / max(4.0, 0.45 * line) + _uniform(rng, 0, 1)
    return Pattern(np.abs(2 * (turns - np.floor(turns)) - 1), 70)


def stain(canvas: Canvas) -> Pattern:
    """Drops of ink that have run into each other, dark inside and pale at the edge."""
    line = canvas.line
    far = np.full((canvas.y.size, canvas.x.size), FAR, dtype=np.float32)
    for near, across, down in _centers(canvas, apart=1.0):
        np.minimum(far[:, near], (across * across + down * down) / (line * line), out=far[:, near])
    rough = _noise(canvas, 0.5 * line) + 0.3 * _noise(canvas, 0.2 * line)
    return Pattern((far + 0.4 * rough) / 2, 60, softness=0.15, edge=215)


def _centers(canvas: Canvas, *, apart: float) -> Iterator[tuple[slice, Floats, Floats]]:
    """Draw random centers along the line, about ``apart`` line heights from each other.

    Yields:
        The columns near a center, their distance to the right of it, and the distance of the rows below it.
    """
    rng, cell, line = canvas.rng, canvas.cell, canvas.line
    count = max(1, round((cell.x1 - cell.x0) / (apart * line)))
    step = (cell.x1 - cell.x0) / count
    for number in range(count):
        x = cell.x0 + (number + _uniform(rng, 0.2, 0.8)) * step
        y = cell.y0 + _uniform(rng, 0.4, 0.75) * line
        left = int(x - 2 * line - canvas.x[0, 0])
        near = slice(max(0, left), max(0, left + 4 * line))
        yield near, canvas.x[:, near] - x, canvas.y - y


def fold(canvas: Canvas) -> Pattern:
    """Creases from top to bottom, where the print has flaked off; they go on in the next line of the same text."""
    rng, line = canvas.rng, canvas.line
    apart, start, slant = 1.3 * line, _uniform(rng, 0, 1), _uniform(rng, -0.35, 0.35)
    # Dots from the top of the strip on, so that a crease stands at the same place in every line.
    rows = np.maximum(canvas.y[:, 0], 0).astype(np.intp)
    dots = rng.random(int(rows[-1] / (0.25 * line)) + 3, dtype=np.float32)
    row, down = _smoothstep(int(rows[-1]) + 1, 0.25 * line)
    ragged = (dots[row] * (1 - down) + dots[row + 1] * down)[rows, None]
    turns = (canvas.x + slant * canvas.y + 0.7 * line * ragged) / apart + start
    far = np.abs(turns - np.floor(turns + 0.5))
    rough = _noise(canvas, 0.15 * line)
    return Pattern(far + 0.15 * rough, 255, softness=0.06, edge=165)


def dropout(canvas: Canvas) -> Pattern:
    """Print that has rubbed off, in specks and patches."""
    line = canvas.line
    return Pattern(0.6 * _noise(canvas, max(1.0, line / 20)) + 0.4 * _noise(canvas, 0.3 * line), 255)


def leaf(canvas: Canvas) -> Pattern:
    """Leaves laid over the line, with their veins."""
    line = canvas.line
    half = _uniform(canvas.rng, -0.15, 0.15)  # tangent of half the angle
    cosine, sine = (1 - half * half) / (1 + half * half), 2 * half / (1 + half * half)
    nearest = np.full((canvas.y.size, canvas.x.size), FAR, dtype=np.float32)
    shade = np.full(nearest.shape, 110, dtype=np.float32)
    for near, across, down in _centers(canvas, apart=1.8):
        along, aside = across * cosine + down * sine, np.abs(down * cosine - across * sine)
        far = along * along / (1.5 * line * line) + aside / (0.75 * line)
        turns = (along + 0.9 * aside) / (0.3 * line)
        veins = np.where(aside < 0.05 * line, 190, np.where(turns - np.floor(turns) < 0.18, 145, 110))
        np.copyto(shade[:, near], veins, where=far < nearest[:, near])
        np.minimum(nearest[:, near], far, out=nearest[:, near])
    return Pattern(nearest / 3, shade)


EM = 10 / 11  # of the height of a line
BLOT = 0.8  # radius in ems: a blot hides a character that is as wide as high


def bars(canvas: Canvas) -> Pattern:
    """Gray bars that hide whole letters, one after the other in random order."""
    start, width, ranks = _runs(canvas)
    place = (canvas.x - start) / width
    run = np.clip(np.floor(place), 0, len(ranks) - 1)
    orders = (ranks[run.astype(np.intp)] + np.clip(place - run, 0, 0.999)) / len(ranks)
    return Pattern(np.repeat(orders, canvas.y.size, axis=0), 160)


def blots(canvas: Canvas) -> Pattern:
    """Round blots that hide whole letters, dark inside and pale at the edge, one after the other in random order."""
    line, radius = canvas.line, BLOT * EM * canvas.line
    start, width, ranks = _runs(canvas)
    rough = 0.25 * _noise(canvas, 0.4 * line)
    down = canvas.y - canvas.cell.y0 - 0.5 * line
    orders = np.full((canvas.y.size, canvas.x.size), FAR, dtype=np.float32)
    shade = np.full(orders.shape, 200, dtype=np.float32)
    for number, rank in enumerate(ranks):
        across = canvas.x - start - (number + 0.5) * width
        near = slice(*np.searchsorted(across[0], (-radius, radius)))  # a blot is no wider than its radius
        across = across[:, near]
        far = (across * across + down * down) / (radius * radius) * (1 + rough[:, near])
        order = np.where(far < 1, (rank + np.clip(far, 0, 0.999)) / len(ranks), FAR)
        np.copyto(shade[:, near], 80 + 120 * far * far, where=order < orders[:, near])
        np.minimum(orders[:, near], order, out=orders[:, near])
    return Pattern(orders, np.clip(shade, 80, 200))


def _runs(canvas: Canvas) -> tuple[float, float, Floats]:
    """Divide a cell into runs of about an em, of whole characters where all are as wide.

    Returns:
        The left end of the first run, the width of a run, and for each run its place in a random order.
    """
    rng, cell, em = canvas.rng, canvas.cell, EM * canvas.line
    width = canvas.pitch * max(1, round(em / canvas.pitch)) if canvas.pitch else em
    start = float(cell.x0) if canvas.pitch else cell.x0 - _uniform(rng, 0, 1) * width
    count = max(1, int((cell.x1 - start) / width + 0.999))
    return start, width, np.argsort(np.argsort(rng.random(count), kind="stable")).astype(np.float32)


def draw_pattern(kind: str, seed: int, cell: Box, box: Box, pitch: int = 0) -> tuple[PixelOrders, Pattern]:
    """Draw a pattern at the place of a text.

    Args:
        kind: One of `vcrgen.typeset.cover_kinds.PATTERN_KINDS`.
        cell: The place, as high as a line.
        box: The rectangle of the pattern, which may extend beyond the strip.
        pitch: Width of a character in pixels, where nearly all have the same.

    Returns:
        The order of each pixel of the rectangle in whole steps, and the pattern.
    """
    line = cell.y1 - cell.y0
    x = np.arange(box.x0, box.x1, dtype=np.float32)[None, :]
    y = np.arange(box.y0, box.y1, dtype=np.float32)[:, None]
    rng = np.random.Generator(np.random.PCG64(seed))
    pattern = load_object(COVER_KINDS[kind].draw)(Canvas(line, x, y, cell, pitch, rng))
    orders = (np.clip(pattern.orders, 0, 1) * (STEPS - 1)).astype(np.uint16)
    return orders, pattern


_cached_pattern = lru_cache(maxsize=24)(draw_pattern)  # all modes of a pair show the same pattern


def pattern_box(kind: str, cell: Box, margins: Margins) -> Box:
    """Rectangle of a pattern around a place: as large as ink that stands there can be, and its own reach."""
    reach = round(COVER_KINDS[kind].reach * (cell.y1 - cell.y0))
    left, above, right, below = (max(reach, margin) for margin in margins)
    return Box(cell.x0 - left, cell.y0 - above, cell.x1 + right, cell.y1 + below)


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternCover:
    """The rule that hides a share of the ink of a text under a pattern.

    Attributes:
        rows: Share of the ink of the fonts' text in each row, from the highest row of ``margins`` to the lowest.
        pitch: Width of a character in pixels, where nearly all have the same.
        margins: How far letters of the fonts reach beyond a line and their pen positions.
    """

    kind: str  # one of `vcrgen.typeset.cover_kinds.PATTERN_KINDS`
    hidden: float  # the share of the ink that it is expected to hide
    rows: tuple[float, ...]
    pitch: int = 0
    margins: Margins = NO_MARGINS
    seed: int = 0  # decides its form

    @property
    def name(self) -> str:
        """The kind and the share: ``"stain-0.516"``."""
        return f"{self.kind}-{self.hidden:.3f}"

    def cover(self, cell: Cell) -> Cover:
        """Hide the text of a cell; the cover may extend beyond the cell and the strip."""
        place = cell.line_box
        box = pattern_box(self.kind, place, self.margins).around(cell.ink_box)
        orders, pattern = _cached_pattern(self.kind, self.seed, place, box, self.pitch)
        inked = rows_with_ink(orders, place, box, self.margins)
        last = int(last_steps(inked, self.rows, np.array([self.hidden]))[0])
        shade: Floats | int = pattern.shade
        if pattern.softness:
            inside = np.clip((last - orders.astype(np.float32)) / np.float32(pattern.softness * STEPS), 0, 1)
            shade = pattern.edge + (pattern.shade - pattern.edge) * inside
        fill = shade if isinstance(shade, int) else (shade + 0.5).astype(np.uint8)
        return Cover(box=box, mask=orders <= last, fill=fill)


def rows_with_ink(orders: PixelOrders, cell: Box, box: Box, margins: Margins) -> PixelOrders:
    """Cut out the orders in the columns of a place and in the rows that its ink can reach.

    Args:
        orders: Those of a pattern in its rectangle.
        cell: The place, as high as a line.
        margins: How far the ink reaches.
    """
    top, left = cell.y0 - margins.above - box.y0, cell.x0 - box.x0
    return orders[top : top + margins.above + cell.y1 - cell.y0 + margins.below, left : left + cell.x1 - cell.x0]


def last_steps(orders: PixelOrders, rows: tuple[float, ...], hidden: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Step at which a pattern hides each share of a place's ink, if a row's ink is spread evenly."""
    weights = np.repeat(np.asarray(rows), orders.shape[1])
    shares = np.bincount(orders.ravel(), weights, minlength=STEPS).cumsum()
    last: npt.NDArray[np.intp] = np.minimum(np.searchsorted(shares, hidden * shares[-1]), STEPS - 1)
    return last
