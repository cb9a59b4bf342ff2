"""A small drawing kit on Pillow: an antialiased canvas in output pixels, and colour arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import TypeAlias

from PIL import Image, ImageDraw

RGB: TypeAlias = tuple[int, int, int]
Ink: TypeAlias = tuple[int, int, int] | tuple[int, int, int, int]
Point: TypeAlias = tuple[float, float]

WHITE: RGB = (255, 255, 255)

# Pillow's shapes have hard edges: drawing twice as large and averaging 2 x 2 smooths them cheaply.
_SCALE = 2


def mix(first: RGB, second: RGB, share: float) -> RGB:
    """Return the colour `share` (0..1) of the way from `first` to `second`."""
    r, g, b = (round(p + (q - p) * share) for p, q in zip(first, second, strict=True))
    return r, g, b


def darker(colour: RGB, share: float = 0.18) -> RGB:
    """Return a shadow of the colour; slightly blue, as shadows in daylight are."""
    return mix(colour, (22, 22, 48), share)


def lighter(colour: RGB, share: float = 0.25) -> RGB:
    """Return a warm highlight of the colour."""
    return mix(colour, (255, 250, 236), share)


def clear(colour: RGB, opacity: float) -> Ink:
    """Return the colour with an opacity of 0..1."""
    return (*colour, round(255 * opacity))


@cache
def _glow_mask() -> Image.Image:
    """A 256 x 256 disc that falls off smoothly from its middle to nothing at its edge."""
    # Pillow's radial gradient reaches 255 in the corners, and so 255 / sqrt(2) on the inscribed circle.
    return Image.radial_gradient("L").point([round(255 * max(0.0, 1 - i / 178) ** 2) for i in range(256)])


class Canvas:
    """A picture in the making.

    All coordinates and sizes are output pixels (floats are welcome), y grows downwards.

    Attributes:
        w: Width in px.
        h: Height in px.
        u: One hundredth of the shorter side in px: the unit to size things in at any aspect ratio.
        rng: Decides what no caption mentions (where a star stands, how a hill rolls).
    """

    def __init__(self, width: int, height: int, rng: Random) -> None:
        """Start with a black picture of the given size in px."""
        self.w = float(width)
        self.h = float(height)
        self.u = min(width, height) / 100
        self.rng = rng
        self._image = Image.new("RGB", (width * _SCALE, height * _SCALE))
        # The "RGBA" pen blends inks that carry an opacity into the RGB image.
        self._pen = ImageDraw.Draw(self._image, "RGBA")

    def finish(self) -> Image.Image:
        """Return the smoothed picture in its output size."""
        return self._image.reduce(_SCALE)

    def rect(self, x: float, y: float, w: float, h: float, ink: Ink, *, corner: float = 0.0) -> None:
        """Fill the rectangle with top left corner (x, y); `corner` rounds it."""
        box = self._box(x, y, x + w, y + h)
        if corner > 0:
            self._pen.rounded_rectangle(box, min(corner, w / 2, h / 2) * _SCALE, fill=ink)
        else:
            self._pen.rectangle(box, fill=ink)

    def disc(self, x: float, y: float, rx: float, ink: Ink, ry: float | None = None) -> None:
        """Fill the ellipse around (x, y); a circle unless `ry` is given."""
        ry = rx if ry is None else ry
        self._pen.ellipse(self._box(x - rx, y - ry, x + rx, y + ry), fill=ink)

    def pie(self, x: float, y: float, rx: float, start: float, end: float, ink: Ink, ry: float | None = None) -> None:
        """Fill a slice of an ellipse; angles in degrees, clockwise from three o'clock."""
        ry = rx if ry is None else ry
        self._pen.pieslice(self._box(x - rx, y - ry, x + rx, y + ry), start, end, fill=ink)

    def arc(
        self, x: float, y: float, rx: float, start: float, end: float, ink: Ink, width: float, ry: float | None = None
    ) -> None:
        """Stroke an arc of an ellipse; angles in degrees, clockwise from three o'clock."""
        ry = rx if ry is None else ry
        self._pen.arc(self._box(x - rx, y - ry, x + rx, y + ry), start, end, ink, max(1, round(width * _SCALE)))

    def poly(self, points: Sequence[Point], ink: Ink) -> None:
        """Fill a polygon."""
        self._pen.polygon([(x * _SCALE, y * _SCALE) for x, y in points], fill=ink)

    def stroke(self, points: Sequence[Point], ink: Ink, width: float) -> None:
        """Draw a line through the points with round joints."""
        scaled = [(x * _SCALE, y * _SCALE) for x, y in points]
        self._pen.line(scaled, ink, max(1, round(width * _SCALE)), joint="curve")

    def wash(self, y0: float, y1: float, *stops: RGB) -> None:
        """Fill the full width between two heights with a vertical gradient through the stops."""
        top, bottom = round(y0 * _SCALE), round(y1 * _SCALE)
        self._image.paste(self._gradient(self._image.width, bottom - top, stops), (0, top))

    def shaded(self, points: Sequence[Point], *stops: RGB) -> None:
        """Fill a polygon with a vertical gradient through the stops."""
        scaled = [(x * _SCALE, y * _SCALE) for x, y in points]
        left, top = int(min(x for x, _ in scaled)), int(min(y for _, y in scaled))
        width, height = int(max(x for x, _ in scaled)) - left + 1, int(max(y for _, y in scaled)) - top + 1
        mask = Image.new("L", (width, height))
        ImageDraw.Draw(mask).polygon([(x - left, y - top) for x, y in scaled], fill=255)
        self._image.paste(self._gradient(width, height, stops), (left, top), mask)

    def glow(self, x: float, y: float, radius: float, colour: RGB, strength: float = 1.0) -> None:
        """Add a soft round light."""
        side = max(2, round(2 * radius * _SCALE))
        mask = (
            _glow_mask()
            .point([round(i * strength) for i in range(256)])
            .resize((side, side), Image.Resampling.BILINEAR)
        )
        self._image.paste(colour, (round(x * _SCALE) - side // 2, round(y * _SCALE) - side // 2), mask)

    def mirror(self, y: float, depth: float, colour: RGB, strength: float) -> None:
        """Reflect what stands above the height y in the `depth` px below it, tinted as water is.

        Args:
            y: The waterline.
            depth: Height of the reflection; at most y.
            colour: Of the water.
            strength: Share of the water's own colour.
        """
        top, rows = round(y * _SCALE), round(min(depth, y) * _SCALE)
        above = self._image.crop((0, top - rows, self._image.width, top))
        above = above.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
        self._image.paste(Image.blend(above, Image.new("RGB", above.size, colour), strength), (0, top))

    @staticmethod
    def _gradient(width: int, height: int, stops: Sequence[RGB]) -> Image.Image:
        knots = Image.new("RGB", (1, len(stops)))
        knots.putdata(list(stops))
        # The box starts and ends in the middle of the outer knots: without it they would fill flat bands.
        column = knots.resize((1, max(1, height)), Image.Resampling.BILINEAR, box=(0, 0.5, 1, len(stops) - 0.5))
        return column.resize((width, max(1, height)), Image.Resampling.NEAREST)

    @staticmethod
    def _box(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        # Pillow includes the last pixel of a box, geometry does not; and it rejects boxes turned inside out.
        left, top = x0 * _SCALE, y0 * _SCALE
        return left, top, max(left, x1 * _SCALE - 1), max(top, y1 * _SCALE - 1)
