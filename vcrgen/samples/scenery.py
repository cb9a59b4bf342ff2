"""Parts of scenes: light, sky, weather, water, land, trees, buildings, people, fruit.

A thing is drawn at a place of its own, `picture.at(x, y, size)`: it stands on (0, 0) and is 1 high, or 1 wide if its
docstring says so.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from vcrgen.samples.draw import RGB, WHITE, Canvas, Ink, Point, clear, colours, darker, lighter, mix, numbers
from vcrgen.samples.facts import COATS, FRUITS, TINTS, Coat, Daytime, Fruit, Phase, Tint

_TINTS = colours("ce3e36 ee8834 f7cb46 549a5c 2c9292 3a70b8 8258a6 ec8aa4 f8f5ee")
PAINT: dict[Tint, RGB] = dict(zip(TINTS, _TINTS, strict=True))
FUR: dict[Coat, RGB] = dict(zip(COATS, colours("e08a42 302e38 888c96 f4f0e8"), strict=True))
_FRUIT: dict[Fruit, RGB] = dict(zip(FRUITS, colours("d03a34 f49230 f8d448 acbe4e 40824a 7a529e 54366e"), strict=True))
WINDOW_LIGHT, SNOW, STONE, WOOD, SAND, LEAF, BRASS = colours("ffd87c f0f5fc beb2a0 966844 f0d8a4 548e54 d6ac54")
AUTUMN = colours("e28c36 ce5c32 ecb648")


@dataclass(frozen=True, slots=True)
class Light:
    """The colours of a time of day."""

    sky: tuple[RGB, ...]  # stops of the sky, from the zenith to the horizon
    lamp: RGB  # colour of the sun or moon
    tone: RGB  # the colour that all colours are mixed with, by `share`
    share: float
    dark: bool = False  # lamps and windows are lit

    @property
    def horizon(self) -> RGB:
        """The colour of the sky where it meets the land."""
        return self.sky[-1]


LIGHTS: dict[Daytime, Light] = {
    "dawn": Light(colours("7096ce bec0d8 fcceb4 ffe8c4"), (255, 246, 214), (255, 206, 186), 0.16),
    "day": Light(colours("529ede 90ccf0 d4eef8"), (255, 246, 204), (255, 255, 255), 0.0),
    "dusk": Light(colours("3a3a7a 925488 e87864 ffbe70"), (255, 226, 160), (124, 58, 98), 0.26, dark=True),
    "night": Light(colours("0c1232 1c2a5c 3e548c"), (250, 246, 224), (18, 28, 72), 0.45, dark=True),
}
OVERCAST = Light(colours("8496a8 b0beca d8e0e4"), (255, 255, 250), (150, 164, 178), 0.16)


_INKS = {"wood": WOOD, "snow": SNOW, "brass": BRASS, "lit": WINDOW_LIGHT, "white": WHITE}
_STEPS: dict[str, Callable[..., Ink]] = {"-": darker, "+": lighter, "@": clear}


@cache
def _things() -> dict[str, list[tuple[str, str, list[str]]]]:
    """Things of `things.txt` by name: per line the method, its shapes, and the ink with the line width."""
    things: dict[str, list[tuple[str, str, list[str]]]] = {}
    for line in files("vcrgen.samples").joinpath("things.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            lines = things[line.strip("[]").partition(":")[0]] = []
        elif line and not line.startswith("#"):
            method, _, drawn = line.partition(" ")
            shapes, _, ink = drawn.partition(" : ")
            lines.append((method, shapes, ink.split()))
    return things


class SceneCanvas(Canvas):
    """A canvas in a light, with the parts of scenes."""

    light = LIGHTS["day"]  # of the scene; `on` colours for it

    def thing(self, name: str, **inks: RGB) -> None:
        """Draw a thing of the file `things.txt`, with the inks that it asks for."""
        for method, shapes, (ink, *widths) in _things()[name]:
            in_units = [float(width.rstrip("u")) * (self.u if width.endswith("u") else 1) for width in widths]
            getattr(self, method)(shapes, self._ink(ink, inks), *in_units)

    def _ink(self, text: str, inks: Mapping[str, RGB]) -> Ink:
        """Ink of a text such as ``paint-.3~``, as `things.txt` explains it."""
        base = re.findall(r"[\w,]+", text)[0]
        colour: Any = inks.get(base) or _INKS.get(base) or tuple(map(int, base.split(",")))
        for step, share in re.findall(r"([-+@~!])([\d.]*)", text):
            light = {"~": self.on, "!": self.glass}.get(step)
            colour = light(colour) if light else _STEPS[step](colour, *([float(share)] if share else []))
        return colour  # type: ignore[no-any-return]

    def on(self, colour: RGB) -> RGB:
        """Colour as it looks in this light."""
        return mix(colour, self.light.tone, self.light.share)

    def glass(self, colour: RGB) -> RGB:
        """Colour of a window: lit from inside, or of that colour by day."""
        return WINDOW_LIGHT if self.light.dark else self.on(colour)

    def hazy(self, colour: RGB, share: float) -> RGB:
        """Colour as it looks from far away, `share` of the way to the horizon's."""
        return mix(self.on(colour), self.light.horizon, share)

    def sky(
        self,
        horizon: float,
        *,
        sun: Point | None = None,
        phase: Phase | None = "full",
        clouds: int = 0,
        depth: float = 0,
    ) -> None:
        """Paint the sky, with stars at night.

        Args:
            horizon: The end of the sky, in px.
            sun: Place of the sun or moon, in shares of width and height; None for neither.
            phase: Of the moon; None for a sky without it.
            depth: Lowest place of a cloud, in px.
        """
        self.wash(0, horizon, *self.light.sky)
        # Land that rolls leaves dips below the horizon.
        self.rect(0, horizon - 1, self.w, self.h - horizon + 1, self.light.horizon)
        night = self.light is LIGHTS["night"]
        if night:
            self.stars(horizon * 0.9, 70)
        if sun and phase:
            place = self.at(sun[0] * self.w, sun[1] * self.h, 7 * self.u)
            place.glow(0, 0, 4 if night else 6, self.light.lamp, 0.45 if night else 0.75)
            place.moon(phase) if night else place.disc(0, 0, 1, self.light.lamp)
        colour = mix(self.on(WHITE), self.light.sky[1], 0.12 if self.light.share < 0.2 else 0.45)
        for i in range(clouds):
            x = (i + self.rng.uniform(0.2, 0.8)) * self.w / clouds
            self.at(x, self.rng.uniform(0.25, 0.8) * depth, self.rng.uniform(22, 38) * self.u).cloud(colour)

    def stars(self, depth: float, count: int) -> None:
        """Scatter stars over the uppermost `depth` px."""
        for _ in range(count):
            size = self.u * self.rng.choice((0.22, 0.3, 0.3, 0.5))
            x, y = self.rng.uniform(0, self.w), self.rng.uniform(0, depth)
            self.disc(x, y, size, clear(WHITE, self.rng.uniform(0.4, 1.0)))

    def moon(self, phase: Phase) -> None:
        """Draw the moon of radius 1 in one of its phases, waxing."""
        if phase == "full":
            self.disc(0, 0, 1, self.light.lamp)
            self.discs("-.35,-.2,.2 .25,.3,.26 .3,-.4,.13 -.2,.45,.12", darker(self.light.lamp, 0.1))
            return
        self.disc(0, 0, 1, (34, 46, 92, 150))
        # The lit side is half the rim; the terminator is an ellipse, flat at half moon, bulging before that.
        bulge = 0.0 if phase == "half" else 0.62
        rim = [(math.cos(a), math.sin(a)) for a in map(math.radians, range(-90, 91, 9))]
        self.poly(rim + [(bulge * x, y) for x, y in reversed(rim)], self.light.lamp)

    def cloud(self, colour: RGB) -> None:
        """Draw a flat-bottomed cloud 1 wide around (0, 0)."""
        for shade, drop in ((darker(colour, 0.09), 0.03), (colour, 0.0)):
            part = self.at(0, drop, 1)
            part.discs("-.28,0,.15 -.07,-.09,.21 .16,-.04,.17 .33,.02,.11", shade)
            part.rect(-0.42, 0, 0.86, 0.15, shade, corner=0.075)

    def rain(self, count: int = 90) -> None:
        """Let it rain over the whole picture."""
        for _ in range(count):
            x, y = self.rng.uniform(0, self.w * 1.1), self.rng.uniform(-5, self.h)
            drop = self.at(x, y, self.rng.uniform(4, 8) * self.u)
            drop.stroke("0,0 -.28,1", (214, 228, 250, 105), 0.35 * drop.u)

    def snowfall(self, count: int = 110) -> None:
        """Let it snow over the whole picture."""
        for _ in range(count):
            x, y = self.rng.uniform(0, self.w), self.rng.uniform(0, self.h)
            self.disc(x, y, self.u * self.rng.uniform(0.4, 0.95), clear(WHITE, 0.85))

    def water(self, top: float, bottom: float, colour: RGB = (52, 128, 172), *, mirror: float = 0.0) -> None:
        """Paint water between two heights; `mirror` (0..1) is the strength of reflections."""
        near, far = darker(self.on(colour), 0.2), self.hazy(colour, 0.45)
        self.wash(top, bottom, far, self.on(colour), near)
        if mirror:
            self.mirror(top, bottom - top, mix(far, near, 0.5), 1 - mirror)
        wave = clear(lighter(self.light.horizon, 0.3), 0.32)
        for _ in range(46):
            share = self.rng.random() ** 1.4
            y, length = top + (0.03 + 0.95 * share) * (bottom - top), (2 + 9 * share) * self.u
            x = self.rng.uniform(-0.05, 1.0) * self.w
            self.rect(x, y, length, (0.25 + 0.5 * share) * self.u, wave, corner=self.u)

    def glitter(self, x: float, top: float, bottom: float, width: float) -> None:
        """Lay the path of light that the sun or the moon at `x` leaves on water."""
        steps = max(4, int((bottom - top) / (2.2 * self.u)))
        for i in range(steps):
            half = width * self.rng.uniform(0.3, 1.0) * (0.5 + 0.5 * i / steps)
            left, y = x - half + self.rng.uniform(-1, 1) * self.u, top + (i + 0.5) * (bottom - top) / steps
            self.rect(left, y, 2 * half, 0.75 * self.u, clear(self.light.lamp, 0.6), corner=self.u)

    def hills(self, base: float, height: float, top: RGB, bottom: RGB, waves: float = 1.6) -> list[Point]:
        """Paint rolling land down to the bottom of the picture.

        Args:
            height: From the dips to the tops of the skyline.

        Returns:
            The skyline.
        """
        first, second, line = self.rng.uniform(0, 6.28), self.rng.uniform(0, 6.28), []
        for i in range(41):
            rise = 0.36 * math.sin(first + waves * 6.28 * i / 40) + 0.14 * math.sin(second + waves * 16 * i / 40)
            line.append((i * self.w / 40, base - height * rise))
        self.shaded([*line, (self.w, self.h), (0, self.h)], top, bottom)
        return line

    def fir(self, colour: RGB, *, snow: bool = False) -> None:
        """Draw a fir, shaded on its right, maybe with snow on its boughs."""
        self.rect(-0.035, -0.14, 0.07, 0.14, darker(mix(WOOD, colour, 0.6), 0.35))
        for level, half in ((0.1, 0.27), (0.36, 0.21), (0.6, 0.14)):
            foot, tip = -level, -min(1.0, level + 0.46)
            self.poly([(0, tip), (half, foot), (-half, foot)], colour)
            self.poly([(0, tip), (half, foot), (0.04, foot)], darker(colour, 0.2))
            if snow:
                edge = tip + 0.42 * (foot - tip)
                self.poly([(0, tip), (0.42 * half, edge), (0, edge - 0.04), (-0.42 * half, edge)], self.on(SNOW))

    def window(self, tall: float, *, lit: bool, frame: RGB, glass: RGB) -> None:
        """Draw a window 1 wide with its bars, lit from inside or not; (0, 0) is its top left corner."""
        self.rect(-0.13, -0.13, 1.26, tall + 0.26, frame)
        self.rect(0, 0, 1, tall, WINDOW_LIGHT if lit else glass)
        if not lit:
            self.poly([(0, 0.7 * tall), (0, 0), (0.8, 0)], lighter(glass, 0.25))
        self.rect(0.45, 0, 0.1, tall, frame)
        self.rect(0, 0.45 * tall, 1, 0.1, frame)

    def house(self, eaves: float, wall: RGB, *, snow: bool = False) -> None:
        """Draw a gabled house 1 wide with a door and two windows.

        Args:
            eaves: Its height at the sides; (0, 0) is its left corner.
        """
        paint, roof, top = self.on(wall), self.on(SNOW if snow else (150, 74, 62)), -eaves - 0.5
        self.rect(0.68, top, 0.13, 0.42, self.on((136, 84, 74)))
        if snow:
            self.rect(0.66, top - 0.05, 0.17, 0.07, roof, corner=0.03)
        self.poly([(0, 0), (0, -eaves), (0.5, top), (1, -eaves), (1, 0)], paint)
        self.poly([(0.8, 0), (1, 0), (1, -eaves), (0.8, -eaves - 0.2)], darker(paint, 0.12))
        self.stroke([(-0.09, -eaves + 0.09), (0.5, top), (1.09, -eaves + 0.09)], roof, 0.12)
        for x in (0.16, 0.62):
            pane = self.at(x, -0.84 * eaves, 0.2)
            pane.window(1.3 * eaves, lit=self.light.dark, frame=self.on(WHITE), glass=self.on((126, 162, 188)))
        self.rect(0.38, -0.42 * eaves, 0.22, 0.42 * eaves, self.on(darker(WOOD, 0.2)), corner=0.02)
        self.disc(0.56, -0.2 * eaves, 0.02, self.on((236, 200, 110)))

    def figure(self, shirt: RGB, trousers: RGB, *, stride: float = 0.0) -> None:
        """Draw a person; `stride` (-1..1) opens the legs as in running."""
        for side in (-1, 1):
            self.stroke([(0.05 * side, -0.44), ((0.07 + 0.2 * abs(stride)) * side, 0)], trousers, 0.1)
            hand = ((0.2 + 0.1 * stride * side) * side, -0.45 - 0.1 * stride * side)
            self.stroke([(0.1 * side, -0.72), hand], shirt, 0.08)
        self.rect(-0.13, -0.78, 0.26, 0.38, shirt, corner=0.09)
        self.disc(0, -0.9, 0.1, (232, 186, 152))
        self.pie(0, -0.91, 0.105, 180, 360, (72, 50, 42))

    def shadow(self, x: float, y: float, rx: float, opacity: float = 0.2) -> None:
        """Put a flat shadow under a thing that stands at (x, y)."""
        self.disc(x, y, rx, clear((24, 24, 52), opacity), ry=max(0.22 * rx, 0.6 * self.u))

    def fruit(self, kind: Fruit) -> None:
        """Draw one fruit of about radius 1 around (0, 0); bunches and long fruits stay within it."""
        skin = _FRUIT[kind]
        if kind == "grape":
            for x, y in numbers("-.5,-.4 0,-.5 .5,-.4 -.25,0 .25,0 0,.45"):
                self.disc(x, y, 0.36, darker(skin, 0.1))
                self.disc(x - 0.08, y - 0.08, 0.24, lighter(skin, 0.15))
            return
        if kind == "pear":
            self.disc(0, -0.45, 0.5, skin, ry=0.65)
        rx, ry = {"lemon": (1.05, 0.76), "aubergine": (0.62, 1.05), "watermelon": (1.15, 1.0)}.get(kind, (0.95, 0.92))
        self.disc(0, 0, rx, darker(skin, 0.16), ry=ry)
        self.disc(-0.08, -0.08, 0.86 * rx, skin, ry=0.86 * ry)
        for half in (0.2, 0.65) if kind == "watermelon" else ():
            self.arc(0, 0, half * rx, 0, 360, darker(skin, 0.4), 0.12, ry=0.94)
        self.disc(-0.3, -0.34, 0.2, clear(WHITE, 0.4))
        if kind in ("apple", "pear", "aubergine"):
            stem = self.at(0, -1.08 if kind == "pear" else -0.85, 1)
            stem.stroke("0,.12 .1,-.25", darker(WOOD, 0.4), 0.13)
            stem.poly(".05,0 .35,-.3 .6,-.05", LEAF)
