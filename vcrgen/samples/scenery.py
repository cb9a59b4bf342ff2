"""What scenes share: light, sky, weather, water, land, trees, buildings, people, fruit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from vcrgen.samples.draw import RGB, WHITE, Canvas, Point, clear, darker, lighter, mix
from vcrgen.samples.facts import Coat, Daytime, Fruit, Phase, Tint

PAINT: dict[Tint, RGB] = {
    "red": (206, 62, 54),
    "orange": (238, 136, 52),
    "yellow": (247, 203, 70),
    "green": (84, 154, 92),
    "teal": (44, 146, 146),
    "blue": (58, 112, 184),
    "purple": (130, 88, 166),
    "pink": (236, 138, 164),
    "white": (248, 245, 238),
}
COATS: dict[Coat, RGB] = {
    "ginger": (224, 138, 66),
    "black": (48, 46, 56),
    "grey": (136, 140, 150),
    "white": (244, 240, 232),
}
WINDOW_LIGHT: RGB = (255, 216, 124)
SNOW: RGB = (240, 245, 252)
STONE: RGB = (190, 178, 160)
WOOD: RGB = (150, 104, 68)
SAND: RGB = (240, 216, 164)
LEAF: RGB = (84, 142, 84)
AUTUMN: tuple[RGB, ...] = ((226, 140, 54), (206, 92, 50), (236, 182, 72))


@dataclass(frozen=True, slots=True, kw_only=True)
class Light:
    """How a time of day colours a scene.

    Attributes:
        sky: Stops of the sky, from the zenith to the horizon.
        lamp: Colour of the sun or moon.
        tone: The colour everything drifts towards, and `share`, how far.
        dark: Whether lamps and windows are lit.
    """

    sky: tuple[RGB, ...]
    lamp: RGB
    tone: RGB
    share: float
    dark: bool

    def on(self, colour: RGB) -> RGB:
        """Return a colour as it looks in this light."""
        return mix(colour, self.tone, self.share)

    @property
    def horizon(self) -> RGB:
        """The colour of the sky where it meets the land."""
        return self.sky[-1]


LIGHTS: dict[Daytime, Light] = {
    "dawn": Light(
        sky=((112, 150, 206), (190, 192, 216), (252, 206, 180), (255, 232, 196)),
        lamp=(255, 246, 214),
        tone=(255, 206, 186),
        share=0.16,
        dark=False,
    ),
    "day": Light(
        sky=((82, 158, 222), (144, 204, 240), (212, 238, 248)),
        lamp=(255, 246, 204),
        tone=(255, 255, 255),
        share=0.0,
        dark=False,
    ),
    "dusk": Light(
        sky=((58, 58, 122), (146, 84, 136), (232, 120, 100), (255, 190, 112)),
        lamp=(255, 226, 160),
        tone=(124, 58, 98),
        share=0.26,
        dark=True,
    ),
    "night": Light(
        sky=((12, 18, 50), (28, 42, 92), (62, 84, 140)), lamp=(250, 246, 224), tone=(18, 28, 72), share=0.45, dark=True
    ),
}
OVERCAST = Light(
    sky=((132, 150, 168), (176, 190, 202), (216, 224, 228)),
    lamp=(255, 255, 250),
    tone=(150, 164, 178),
    share=0.16,
    dark=False,
)


def sky(c: Canvas, light: Light, horizon: float, *, sun: Point | None = None, phase: Phase = "full") -> None:
    """Paint the sky, with stars at night, down to `horizon` px.

    `sun` is where the sun or moon stands, in shares of width and height.
    """
    c.wash(0, horizon, *light.sky)
    # Land that rolls leaves dips below the horizon.
    c.rect(0, horizon - 1, c.w, c.h - horizon + 1, light.horizon)
    night = light is LIGHTS["night"]
    if night:
        stars(c, horizon * 0.9, 70)
    if sun is None:
        return
    x, y, radius = sun[0] * c.w, sun[1] * c.h, 7 * c.u
    c.glow(x, y, radius * (4 if night else 6), light.lamp, 0.45 if night else 0.75)
    if night:
        moon(c, x, y, radius, phase, light.lamp)
    else:
        c.disc(x, y, radius, light.lamp)


def stars(c: Canvas, depth: float, count: int) -> None:
    """Scatter stars over the uppermost `depth` px."""
    for _ in range(count):
        size = c.u * c.rng.choice((0.22, 0.3, 0.3, 0.5))
        c.disc(c.rng.uniform(0, c.w), c.rng.uniform(0, depth), size, clear(WHITE, c.rng.uniform(0.4, 1.0)))


def moon(c: Canvas, x: float, y: float, radius: float, phase: Phase, colour: RGB) -> None:
    """Draw the moon in one of its phases, waxing."""
    if phase == "full":
        c.disc(x, y, radius, colour)
        for dx, dy, size in ((-0.35, -0.2, 0.2), (0.25, 0.3, 0.26), (0.3, -0.4, 0.13), (-0.2, 0.45, 0.12)):
            c.disc(x + dx * radius, y + dy * radius, size * radius, darker(colour, 0.1))
        return
    c.disc(x, y, radius, (34, 46, 92, 150))
    # The lit side is half the rim; the terminator is an ellipse, flat at half moon, bulging before that.
    bulge = 0.0 if phase == "half" else 0.62
    angles = [math.radians(a) for a in range(-90, 91, 9)]
    rim = [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles]
    terminator = [(x + bulge * radius * math.cos(a), y + radius * math.sin(a)) for a in reversed(angles)]
    c.poly(rim + terminator, colour)


def cloud(c: Canvas, x: float, y: float, size: float, colour: RGB) -> None:
    """Draw a flat-bottomed cloud `size` px wide around (x, y)."""
    for shade, drop in ((darker(colour, 0.09), 0.03 * size), (colour, 0.0)):
        for dx, dy, r in ((-0.28, 0.0, 0.15), (-0.07, -0.09, 0.21), (0.16, -0.04, 0.17), (0.33, 0.02, 0.11)):
            c.disc(x + dx * size, y + dy * size + drop, r * size, shade)
        c.rect(x - 0.42 * size, y + drop, 0.86 * size, 0.15 * size, shade, corner=0.075 * size)


def clouds(c: Canvas, light: Light, depth: float, count: int) -> None:
    """Spread clouds over the uppermost `depth` px."""
    for i in range(count):
        x = (i + c.rng.uniform(0.2, 0.8)) * c.w / count
        colour = mix(light.on(WHITE), light.sky[1], 0.12 if light.share < 0.2 else 0.45)
        cloud(c, x, c.rng.uniform(0.25, 0.8) * depth, c.rng.uniform(22, 38) * c.u, colour)


def rain(c: Canvas, count: int = 90) -> None:
    """Let it rain over the whole picture."""
    for _ in range(count):
        x, y, length = c.rng.uniform(0, c.w * 1.1), c.rng.uniform(-5, c.h), c.rng.uniform(4, 8) * c.u
        c.stroke([(x, y), (x - 0.28 * length, y + length)], (214, 228, 250, 105), 0.35 * c.u)


def snowfall(c: Canvas, count: int = 110) -> None:
    """Let it snow over the whole picture."""
    for _ in range(count):
        c.disc(c.rng.uniform(0, c.w), c.rng.uniform(0, c.h), c.u * c.rng.uniform(0.4, 0.95), clear(WHITE, 0.85))


def water(
    c: Canvas, light: Light, top: float, bottom: float, colour: RGB = (52, 128, 172), *, mirror: float = 0.0
) -> None:
    """Paint water between two heights; `mirror` (0..1) is how much of what stands above it shows in it."""
    near, far = darker(light.on(colour), 0.2), mix(light.on(colour), light.horizon, 0.45)
    c.wash(top, bottom, far, light.on(colour), near)
    if mirror:
        c.mirror(top, bottom - top, mix(far, near, 0.5), 1 - mirror)
    for _ in range(46):
        share = c.rng.random() ** 1.4
        y, length = top + (0.03 + 0.95 * share) * (bottom - top), (2 + 9 * share) * c.u
        x = c.rng.uniform(-0.05, 1.0) * c.w
        c.rect(x, y, length, (0.25 + 0.5 * share) * c.u, clear(lighter(light.horizon, 0.3), 0.32), corner=c.u)


def glitter(c: Canvas, x: float, top: float, bottom: float, colour: RGB, width: float) -> None:
    """Lay the path of light that the sun, the moon or a lamp at `x` leaves on water."""
    steps = max(4, int((bottom - top) / (2.2 * c.u)))
    for i in range(steps):
        half = width * c.rng.uniform(0.3, 1.0) * (0.5 + 0.5 * i / steps)
        y = top + (i + 0.5) * (bottom - top) / steps
        c.rect(x - half + c.rng.uniform(-1, 1) * c.u, y, 2 * half, 0.75 * c.u, clear(colour, 0.6), corner=c.u)


def ridge(c: Canvas, base: float, height: float, waves: float = 1.6) -> list[Point]:
    """Return a rolling skyline across the picture around `base`, `height` px from its dips to its tops."""
    phase, other = c.rng.uniform(0, 6.28), c.rng.uniform(0, 6.28)
    steps = 40
    return [
        (
            i * c.w / steps,
            base
            - height
            * (0.36 * math.sin(phase + waves * 6.28 * i / steps) + 0.14 * math.sin(other + waves * 16 * i / steps)),
        )
        for i in range(steps + 1)
    ]


def hills(c: Canvas, base: float, height: float, top: RGB, bottom: RGB, waves: float = 1.6) -> list[Point]:
    """Paint rolling land from its skyline down to the bottom of the picture; return the skyline."""
    line = ridge(c, base, height, waves)
    c.shaded([*line, (c.w, c.h), (0, c.h)], top, bottom)
    return line


def height_at(line: list[Point], x: float) -> float:
    """Return the height of a skyline at x."""
    for (x0, y0), (x1, y1) in pairwise(line):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return line[-1][1]


def mountain(c: Canvas, x: float, base: float, width: float, height: float, rock: RGB, snow: RGB) -> None:
    """Draw a peak with a shaded side and a cap of snow."""
    top = base - height
    left, right, foot = x - width / 2, x + width / 2, x + 0.1 * width
    c.poly([(x, top), (right, base), (left, base)], rock)
    c.poly(
        [
            (x, top),
            (right, base),
            (foot, base),
            (x + 0.04 * width, base - 0.42 * height),
            (x - 0.03 * width, base - 0.66 * height),
        ],
        darker(rock, 0.24),
    )
    cap = 0.36
    at = [
        (x - cap * width / 2, top + cap * height),
        (x - 0.09 * width, top + 0.27 * height),
        (x - 0.03 * width, top + 0.37 * height),
        (x + 0.05 * width, top + 0.25 * height),
        (x + 0.1 * width, top + 0.34 * height),
        (x + cap * width / 2, top + cap * height),
    ]
    c.poly([(x, top), *reversed(at)], snow)
    c.poly([(x, top), at[-1], at[-2], at[-3], (x - 0.01 * width, top + 0.14 * height)], darker(snow, 0.16))


def fir(c: Canvas, x: float, base: float, height: float, colour: RGB, *, snow: RGB | None = None) -> None:
    """Draw a fir, shaded on its right; with snow on its boughs if a colour for it is given."""
    c.rect(x - 0.035 * height, base - 0.14 * height, 0.07 * height, 0.14 * height, darker(mix(WOOD, colour, 0.6), 0.35))
    for level, half in ((0.1, 0.27), (0.36, 0.21), (0.6, 0.14)):
        foot, tip = base - level * height, base - min(1.0, level + 0.46) * height
        c.poly([(x, tip), (x + half * height, foot), (x - half * height, foot)], colour)
        c.poly([(x, tip), (x + half * height, foot), (x + 0.04 * height, foot)], darker(colour, 0.2))
        if snow:
            edge = tip + 0.42 * (foot - tip)
            c.poly(
                [
                    (x, tip),
                    (x + 0.42 * half * height, edge),
                    (x, edge - 0.04 * height),
                    (x - 0.42 * half * height, edge),
                ],
                snow,
            )


def round_tree(c: Canvas, x: float, base: float, height: float, colour: RGB) -> None:
    """Draw a broad-leaved tree with a lit side."""
    c.rect(x - 0.04 * height, base - 0.42 * height, 0.08 * height, 0.42 * height, darker(WOOD, 0.2))
    for dx, dy, r, shade in (
        (0.0, 0.62, 0.3, darker(colour, 0.16)),
        (0.17, 0.52, 0.2, darker(colour, 0.16)),
        (-0.17, 0.52, 0.2, colour),
        (-0.04, 0.7, 0.22, colour),
        (-0.1, 0.74, 0.12, lighter(colour, 0.16)),
    ):
        c.disc(x + dx * height, base - dy * height, r * height, shade)


def palm(c: Canvas, x: float, base: float, height: float, light: Light) -> None:
    """Draw a leaning palm."""
    crown = (x + 0.2 * height, base - height)
    trunk = [(x + 0.2 * height * (i / 8) ** 2, base - height * i / 8) for i in range(9)]
    c.stroke(trunk, light.on(darker(WOOD, 0.1)), 0.06 * height)
    for angle in (200, 165, 235, -60, 15, -20):
        dx, dy = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        end = (crown[0] + 0.46 * height * dx, crown[1] + (0.3 * dy + 0.14) * height)
        middle = (crown[0] + 0.26 * height * dx, crown[1] + (0.34 * dy - 0.06) * height)
        under = (middle[0], middle[1] + 0.09 * height)
        c.poly([crown, middle, end, under], light.on((62, 138, 84) if angle % 2 else (48, 116, 74)))


def window(c: Canvas, x: float, y: float, w: float, h: float, *, lit: bool, frame: RGB, glass: RGB) -> None:
    """Draw a window with its bars, lit from inside or not; (x, y) is its top left corner."""
    rim = 0.13 * w
    c.rect(x - rim, y - rim, w + 2 * rim, h + 2 * rim, frame)
    c.rect(x, y, w, h, WINDOW_LIGHT if lit else glass)
    if not lit:
        c.poly([(x, y + 0.7 * h), (x, y), (x + 0.8 * w, y)], lighter(glass, 0.25))
    c.rect(x + 0.45 * w, y, 0.1 * w, h, frame)
    c.rect(x, y + 0.45 * h, w, 0.1 * w, frame)


def house(c: Canvas, x: float, base: float, w: float, h: float, wall: RGB, light: Light, *, snow: bool = False) -> None:
    """Draw a gabled house with a door and two windows; x is its left side, h its height to the eaves."""
    paint, roof = light.on(wall), light.on(SNOW if snow else (150, 74, 62))
    eaves, top = base - h, base - h - 0.5 * w
    c.rect(x + 0.68 * w, top, 0.13 * w, 0.42 * w, light.on((136, 84, 74)))
    if snow:
        c.rect(x + 0.66 * w, top - 0.05 * w, 0.17 * w, 0.07 * w, roof, corner=0.03 * w)
    c.poly([(x, base), (x, eaves), (x + w / 2, top), (x + w, eaves), (x + w, base)], paint)
    c.poly([(x + 0.8 * w, base), (x + w, base), (x + w, eaves), (x + 0.8 * w, eaves - 0.2 * w)], darker(paint, 0.12))
    c.stroke([(x - 0.09 * w, eaves + 0.09 * w), (x + w / 2, top), (x + 1.09 * w, eaves + 0.09 * w)], roof, 0.12 * w)
    frame, glass = light.on(WHITE), light.on((126, 162, 188))
    for share in (0.16, 0.62):
        window(c, x + share * w, eaves + 0.16 * h, 0.2 * w, 0.26 * h, lit=light.dark, frame=frame, glass=glass)
    c.rect(x + 0.38 * w, base - 0.42 * h, 0.22 * w, 0.42 * h, light.on(darker(WOOD, 0.2)), corner=0.02 * w)
    c.disc(x + 0.56 * w, base - 0.2 * h, 0.02 * w, light.on((236, 200, 110)))


def flag(c: Canvas, x: float, base: float, height: float, cloth: RGB) -> None:
    """Draw a pennant on a pole."""
    c.rect(x - 0.03 * height, base - height, 0.06 * height, height, (84, 74, 72))
    c.poly([(x, base - height), (x + 0.75 * height, base - 0.78 * height), (x, base - 0.56 * height)], cloth)


def figure(c: Canvas, x: float, base: float, height: float, shirt: RGB, trousers: RGB, *, stride: float = 0.0) -> None:
    """Draw a person; `stride` (-1..1) opens the legs as in running."""
    skin, hip = (232, 186, 152), base - 0.44 * height
    for side in (-1, 1):
        c.stroke(
            [(x + 0.05 * side * height, hip), (x + (0.07 + 0.2 * abs(stride)) * side * height, base)],
            trousers,
            0.1 * height,
        )
        hand = (x + (0.2 + 0.1 * stride * side) * side * height, base - (0.45 + 0.1 * stride * side) * height)
        c.stroke([(x + 0.1 * side * height, base - 0.72 * height), hand], shirt, 0.08 * height)
    c.rect(x - 0.13 * height, base - 0.78 * height, 0.26 * height, 0.38 * height, shirt, corner=0.09 * height)
    c.disc(x, base - 0.9 * height, 0.1 * height, skin)
    c.pie(x, base - 0.91 * height, 0.105 * height, 180, 360, (72, 50, 42))


def gull(c: Canvas, x: float, y: float, span: float, colour: RGB) -> None:
    """Draw a bird on the wing, as two strokes."""
    c.stroke(
        [
            (x - span / 2, y - 0.1 * span),
            (x - 0.22 * span, y - 0.24 * span),
            (x, y),
            (x + 0.22 * span, y - 0.24 * span),
            (x + span / 2, y - 0.1 * span),
        ],
        colour,
        0.08 * span,
    )


def shadow(c: Canvas, x: float, y: float, rx: float, opacity: float = 0.2) -> None:
    """Put a flat shadow under a thing that stands at (x, y)."""
    c.disc(x, y, rx, clear((24, 24, 52), opacity), ry=max(0.22 * rx, 0.6 * c.u))


def spread(c: Canvas, count: int, left: float, right: float, jitter: float = 0.25) -> Iterator[float]:
    """Yield `count` places between two x, evenly but not stiffly; `jitter` in shares of the spacing."""
    for i in range(count):
        yield left + (i + 0.5 + c.rng.uniform(-jitter, jitter)) * (right - left) / count


_FRUIT: dict[Fruit, RGB] = {
    "apple": (208, 58, 52),
    "orange": (244, 146, 48),
    "lemon": (248, 212, 72),
    "pear": (172, 190, 78),
    "watermelon": (64, 130, 74),
    "grape": (122, 82, 158),
    "aubergine": (84, 54, 110),
}


def fruit(c: Canvas, kind: Fruit, x: float, y: float, r: float) -> None:
    """Draw one fruit of about radius r; bunches and long fruits stay within it."""
    skin = _FRUIT[kind]
    if kind == "grape":
        for dx, dy in ((-0.5, -0.4), (0.0, -0.5), (0.5, -0.4), (-0.25, 0.0), (0.25, 0.0), (0.0, 0.45)):
            c.disc(x + dx * r, y + dy * r, 0.36 * r, darker(skin, 0.1))
            c.disc(x + (dx - 0.08) * r, y + (dy - 0.08) * r, 0.24 * r, lighter(skin, 0.15))
        return
    if kind == "pear":
        c.disc(x, y - 0.45 * r, 0.5 * r, skin, ry=0.65 * r)
    rx, ry = {"lemon": (1.05, 0.76), "aubergine": (0.62, 1.05), "watermelon": (1.15, 1.0)}.get(kind, (0.95, 0.92))
    c.disc(x, y, rx * r, darker(skin, 0.16), ry=ry * r)
    c.disc(x - 0.08 * r, y - 0.08 * r, 0.86 * rx * r, skin, ry=0.86 * ry * r)
    if kind == "watermelon":
        for half in (0.2, 0.65):
            c.arc(x, y, half * rx * r, 0, 360, darker(skin, 0.4), 0.12 * r, ry=0.94 * r)
    c.disc(x - 0.3 * r, y - 0.34 * r, 0.2 * r, clear(WHITE, 0.4))
    if kind in ("apple", "pear", "aubergine"):
        top = y - (1.08 if kind == "pear" else 0.85) * r
        c.stroke([(x, top + 0.12 * r), (x + 0.1 * r, top - 0.25 * r)], darker(WOOD, 0.4), 0.13 * r)
        c.poly([(x + 0.05 * r, top), (x + 0.35 * r, top - 0.3 * r), (x + 0.6 * r, top - 0.05 * r)], LEAF)
