"""A small drawing kit on Pillow: an antialiased canvas, and colour arithmetic."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cache
from itertools import pairwise
from random import Random
from typing import Self, TypeAlias

from PIL import Image, ImageDraw

RGB: TypeAlias = tuple[int, int, int]
Ink: TypeAlias = tuple[int, int, int] | tuple[int, int, int, int]
Point: TypeAlias = tuple[float, float]
Points: TypeAlias = str | Iterable[Point]
"""Points of an outline or a line: pairs of numbers, or a text as in the attribute `points` of SVG, "0,0 .5,-1 1,0"."""

WHITE: RGB = (255, 255, 255)

# Pillow's shapes have hard edges: drawing twice as large and averaging 2 x 2 smooths them cheaply.
_SCALE = 2


def colours(codes: str) -> tuple[RGB, ...]:
    """Parse the colours of a text such as "ac3e36 3a5c84"."""
    return tuple((r, g, b) for r, g, b in map(bytes.fromhex, codes.split()))


def mix(first: RGB, second: RGB, share: float) -> RGB:
    """Colour `share` (0..1) of the way from `first` to `second`."""
    r, g, b = (round(p + (q - p) * share) for p, q in zip(first, second, strict=True))
    return r, g, b


def darker(colour: RGB, share: float = 0.18) -> RGB:
    """Shadow of the colour; slightly blue, as shadows in daylight are."""
    return mix(colour, (22, 22, 48), share)


def lighter(colour: RGB, share: float = 0.25) -> RGB:
    """Warm highlight of the colour."""
    return mix(colour, (255, 250, 236), share)


def clear(colour: RGB, opacity: float) -> Ink:
    """Add an opacity of 0..1 to the colour."""
    return (*colour, round(255 * opacity))


@cache
def numbers(text: str) -> tuple[tuple[float, ...], ...]:
    """Parse the groups of numbers in a text such as "0,0 .5,-1 1,0"."""
    return tuple(tuple(map(float, group.split(","))) for group in text.split())


def outline(points: Points) -> Iterable[Point]:
    """Points of an outline, which may be a text."""
    return ((x, y) for x, y in numbers(points)) if isinstance(points, str) else points


def height_at(line: list[Point], x: float) -> float:
    """Height of a skyline at x; beyond its last point, the height of that."""
    for (x0, y0), (x1, y1) in pairwise(line):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return line[-1][1]


@cache
def _glow_mask() -> Image.Image:
    """A 256 x 256 disc that falls off smoothly from its middle to nothing at its edge."""
    # Pillow's radial gradient reaches 255 in the corners, and so 255 / sqrt(2) on the inscribed circle.
    return Image.radial_gradient("L").point([round(255 * max(0.0, 1 - i / 178) ** 2) for i in range(256)])


class Canvas:
    """A picture in the making.

    A new canvas counts in output pixels (floats are welcome), from the top left corner; y grows downwards. A thing is
    drawn in units of its own: `at(x, y, size)` is the same picture, in which (0, 0) is where the thing stands and 1 is
    its size, so that a roof is `at(x, y, size).poly("-.5,0 0,-1 .5,0", ink)` wherever the house stands.

    Attributes:
        w: Width of the picture, in the units of this canvas as all lengths are.
        h: Height of the picture.
        u: One hundredth of the picture's shorter side: the unit to size things in at any aspect ratio.
        px: One output pixel.
        rng: Decides details that no caption mentions, such as the places of stars.
    """

    def __init__(self, width: int, height: int, rng: Random) -> None:
        """Start with a black picture of the given size in px."""
        self.w, self.h, self.u, self.px = float(width), float(height), min(width, height) / 100, 1.0
        self.rng = rng
        self._x, self._y, self._across, self._down = 0.0, 0.0, 1.0, 1.0
        self._image = Image.new("RGB", (width * _SCALE, height * _SCALE))
        # The "RGBA" pen blends inks that carry an opacity into the RGB image.
        self._pen = ImageDraw.Draw(self._image, "RGBA")

    def finish(self) -> Image.Image:
        """Smooth the picture, and scale it to its output size."""
        return self._image.reduce(_SCALE)

    def at(self, x: float, y: float, width: float, height: float | None = None) -> Self:
        """Canvas of the same picture in other units.

        Args:
            x: Place of the new x = 0.
            y: Place of the new y = 0.
            width: Length of the new 1; a negative number mirrors, and then the height has to be given.
            height: Length of the new 1 downwards, if it differs.
        """
        other = copy(self)
        other._x, other._y = self._x + x * self._across, self._y + y * self._down
        other._across = self._across * width
        other._down = other._across if height is None else self._down * height
        other.w, other.u, other.px = self.w / width, self.u / width, self.px / width
        other.h = self.h / (height or width)
        return other

    def spread(self, count: int, left: float, right: float, jitter: float = 0.25) -> Iterator[float]:
        """Yield `count` places between two x, evenly but not stiffly.

        Args:
            left: The first x, in shares of the picture's width.
            right: The last x, likewise.
            jitter: Maximal offset of a place, in shares of the spacing.
        """
        left, right = left * self.w, right * self.w
        for i in range(count):
            yield left + (i + 0.5 + self.rng.uniform(-jitter, jitter)) * (right - left) / count

    def rect(self, x: float, y: float, w: float, h: float, ink: Ink, *, corner: float = 0.0) -> None:
        """Fill the rectangle with top left corner (x, y); `corner` rounds it."""
        left, top = self._x + x * self._across, self._y + y * self._down
        width, height, corner = w * self._across, h * self._down, corner * self._across
        box = _box(left, top, left + width, top + height)
        if corner > 0:
            self._pen.rounded_rectangle(box, min(corner, width / 2, height / 2) * _SCALE, fill=ink)
        else:
            self._pen.rectangle(box, fill=ink)

    def rects(self, shapes: str, ink: Ink) -> None:
        """Fill rectangles, given as "x,y,w,h x,y,w,h,corner"."""
        for x, y, w, h, *corner in numbers(shapes):
            self.rect(x, y, w, h, ink, corner=sum(corner))

    def disc(self, x: float, y: float, rx: float, ink: Ink, ry: float | None = None) -> None:
        """Fill the ellipse around (x, y); a circle unless `ry` is given."""
        self._pen.ellipse(self._round(x, y, rx, ry), fill=ink)

    def discs(self, shapes: str, ink: Ink) -> None:
        """Fill circles and ellipses, given as "x,y,r x,y,rx,ry"."""
        for x, y, rx, *ry in numbers(shapes):
            self.disc(x, y, rx, ink, *ry)

    def pie(self, x: float, y: float, rx: float, start: float, end: float, ink: Ink, ry: float | None = None) -> None:
        """Fill a slice of an ellipse; angles in degrees, clockwise from three o'clock."""
        self._pen.pieslice(self._round(x, y, rx, ry), start, end, fill=ink)

    def pies(self, shapes: str, ink: Ink) -> None:
        """Fill slices of ellipses, given as "x,y,rx,ry,start,end"."""
        for x, y, rx, ry, start, end in numbers(shapes):
            self.pie(x, y, rx, start, end, ink, ry)

    def arc(
        self, x: float, y: float, rx: float, start: float, end: float, ink: Ink, width: float, ry: float | None = None
    ) -> None:
        """Stroke an arc of an ellipse; angles in degrees, clockwise from three o'clock."""
        self._pen.arc(self._round(x, y, rx, ry), start, end, ink, self._width(width))

    def arcs(self, shapes: str, ink: Ink, width: float) -> None:
        """Stroke arcs of ellipses, given as "x,y,rx,ry,start,end"."""
        for x, y, rx, ry, start, end in numbers(shapes):
            self.arc(x, y, rx, start, end, ink, width, ry)

    def poly(self, points: Points, ink: Ink) -> None:
        """Fill a polygon."""
        self._pen.polygon(self._points(points), fill=ink)

    def stroke(self, points: Points, ink: Ink, width: float) -> None:
        """Draw a line through the points with round joints."""
        self._pen.line(self._points(points), ink, self._width(width), joint="curve")

    def strokes(self, lines: str, ink: Ink, width: float) -> None:
        """Draw lines, given as "x,y x,y / x,y x,y"."""
        for line in lines.split("/"):
            self.stroke(line, ink, width)

    def wash(self, y0: float, y1: float, *stops: RGB) -> None:
        """Fill the full width between two heights with a vertical gradient through the stops."""
        top, bottom = (round((self._y + y * self._down) * _SCALE) for y in (y0, y1))
        self._image.paste(_gradient(self._image.width, bottom - top, stops), (0, top))

    def shaded(self, points: Points, *stops: RGB) -> None:
        """Fill a polygon with a vertical gradient through the stops."""
        scaled = self._points(points)
        left, top = int(min(x for x, _ in scaled)), int(min(y for _, y in scaled))
        width, height = int(max(x for x, _ in scaled)) - left + 1, int(max(y for _, y in scaled)) - top + 1
        mask = Image.new("L", (width, height))
        ImageDraw.Draw(mask).polygon([(x - left, y - top) for x, y in scaled], fill=255)
        self._image.paste(_gradient(width, height, stops), (left, top), mask)

    def glow(self, x: float, y: float, radius: float, colour: RGB, strength: float = 1.0) -> None:
        """Add a soft round light."""
        side = max(2, round(2 * radius * self._across * _SCALE))
        mask = _glow_mask().point([round(i * strength) for i in range(256)])
        mask = mask.resize((side, side), Image.Resampling.BILINEAR)
        ((left, top),) = self._points([(x, y)])
        self._image.paste(colour, (round(left) - side // 2, round(top) - side // 2), mask)

    def mirror(self, y: float, depth: float, colour: RGB, strength: float) -> None:
        """Reflect the picture above the height y below it, tinted as water is.

        Args:
            y: The waterline.
            depth: Height of the reflection; at most y.
            colour: Of the water.
            strength: Share of the water's own colour.
        """
        top, rows = round(y * self._down * _SCALE), round(min(depth, y) * self._down * _SCALE)
        above = self._image.crop((0, top - rows, self._image.width, top))
        above = above.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
        self._image.paste(Image.blend(above, Image.new("RGB", above.size, colour), strength), (0, top))

    def _points(self, points: Points) -> list[Point]:
        at_x, at_y, across, down = self._x, self._y, self._across, self._down
        return [((at_x + x * across) * _SCALE, (at_y + y * down) * _SCALE) for x, y in outline(points)]

    def _round(self, x: float, y: float, rx: float, ry: float | None) -> tuple[float, float, float, float]:
        x, y, across = self._x + x * self._across, self._y + y * self._down, abs(rx * self._across)
        down = across if ry is None else ry * self._down
        return _box(x - across, y - down, x + across, y + down)

    def _width(self, width: float) -> int:
        return max(1, round(abs(width * self._across) * _SCALE))


def _gradient(width: int, height: int, stops: Sequence[RGB]) -> Image.Image:
    knots = Image.new("RGB", (1, len(stops)))
    knots.putdata(list(stops))
    # The box starts and ends in the middle of the outer knots: without it they would fill flat bands.
    column = knots.resize((1, max(1, height)), Image.Resampling.BILINEAR, box=(0, 0.5, 1, len(stops) - 0.5))
    return column.resize((width, max(1, height)), Image.Resampling.NEAREST)


def _box(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
    # Pillow includes the last pixel of a box, geometry does not; and it rejects boxes turned inside out.
    left, top = x0 * _SCALE, y0 * _SCALE
    return left, top, max(left, x1 * _SCALE - 1), max(top, y1 * _SCALE - 1)
