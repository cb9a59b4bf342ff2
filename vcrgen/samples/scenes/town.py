"""Scenes in the streets of a town."""

from __future__ import annotations

import math

from vcrgen.samples.draw import RGB, Canvas, clear, darker, lighter, mix
from vcrgen.samples.facts import Bicycle, CityNight, ClockTower, Fruit, Market
from vcrgen.samples.scenery import (
    LEAF,
    LIGHTS,
    PAINT,
    STONE,
    WINDOW_LIGHT,
    WOOD,
    Light,
    clouds,
    figure,
    fruit,
    rain,
    round_tree,
    shadow,
    sky,
    spread,
    window,
)


def city_night(c: Canvas, f: CityNight) -> None:
    """Draw a street between lit towers with a taxi passing street lamps."""
    light, street = LIGHTS["night"], 0.8 * c.h
    sky(c, light, street, sun=(0.5, 0.15) if f.phase else None, phase=f.phase or "full")
    if f.raining:
        clouds(c, light, 0.34 * c.h, 5)
    for row, tone in ((0, (58, 70, 118)), (1, (38, 44, 86))):
        count = 6
        for i, x in enumerate(spread(c, count, -0.04 * c.w, 1.04 * c.w, 0.15)):
            # The street opens in the middle, so that the moon stays in view.
            edge = abs(2 * (i + 0.5) / count - 1)
            height = (0.24 + 0.36 * edge * (1 - 0.25 * row) + c.rng.uniform(-0.03, 0.05)) * c.h
            _tower(c, x, street, (0.2 - 0.03 * row) * c.w, height, mix(tone, (84, 70, 110), c.rng.random() * 0.5))
    c.rect(0, street - 3 * c.u, c.w, 4 * c.u, (84, 84, 110))
    c.wash(street, c.h, (52, 52, 80), (34, 34, 58))
    for i in range(9):
        c.rect((i + 0.1) * c.w / 8 - 4 * c.u, street + 0.62 * (c.h - street), 0.05 * c.w, 0.9 * c.u, (226, 214, 160))
    for x in spread(c, f.lamps, 0, c.w, 0.0):
        _street_lamp(c, x, street, 34 * c.u, wet=f.raining)
    _taxi(c, 0.44 * c.w, street + 0.5 * (c.h - street), 34 * c.u, PAINT[f.taxi])
    if f.raining:
        rain(c)


def _tower(c: Canvas, x: float, base: float, w: float, h: float, wall: RGB) -> None:
    c.shaded(
        [(x - w / 2, base), (x - w / 2, base - h), (x + w / 2, base - h), (x + w / 2, base)], wall, darker(wall, 0.3)
    )
    c.rect(x + 0.34 * w, base - h, 0.16 * w, h, clear((10, 12, 40), 0.25))
    columns, pitch = 4, 4.6 * c.u
    for i in range(int(h / pitch)):
        for j in range(columns):
            if c.rng.random() < 0.55:
                glass = c.rng.choice((WINDOW_LIGHT, WINDOW_LIGHT, (255, 236, 180), (150, 190, 226)))
                c.rect(x - 0.42 * w + j * 0.2 * w, base - h + (i + 0.35) * pitch, 0.12 * w, 0.5 * pitch, glass)


def _street_lamp(c: Canvas, x: float, base: float, height: float, *, wet: bool) -> None:
    iron, head = (28, 28, 46), base - height
    if wet:
        c.poly(
            [(x - 1.6 * c.u, base), (x + 1.6 * c.u, base), (x + 2.6 * c.u, c.h), (x - 2.6 * c.u, c.h)],
            clear(WINDOW_LIGHT, 0.2),
        )
    c.glow(x, head, 0.5 * height, WINDOW_LIGHT, 0.7)
    c.rect(x - 0.014 * height, head, 0.028 * height, height, iron)
    c.rect(x - 0.04 * height, base - 0.09 * height, 0.08 * height, 0.09 * height, iron)
    c.poly(
        [
            (x - 0.045 * height, head + 0.02 * height),
            (x + 0.045 * height, head + 0.02 * height),
            (x + 0.065 * height, head - 0.12 * height),
            (x - 0.065 * height, head - 0.12 * height),
        ],
        (255, 238, 176),
    )
    c.poly(
        [
            (x - 0.09 * height, head - 0.12 * height),
            (x + 0.09 * height, head - 0.12 * height),
            (x, head - 0.2 * height),
        ],
        iron,
    )


def _taxi(c: Canvas, x: float, base: float, length: float, paint: RGB) -> None:
    shadow(c, x, base, 0.52 * length, 0.4)
    c.poly(
        [
            (x + 0.46 * length, base - 0.14 * length),
            (x + 1.2 * length, base - 0.05 * length),
            (x + 1.2 * length, base + 0.05 * length),
            (x + 0.46 * length, base - 0.1 * length),
        ],
        clear(WINDOW_LIGHT, 0.35),
    )
    c.poly(
        [
            (x - 0.3 * length, base - 0.2 * length),
            (x - 0.2 * length, base - 0.37 * length),
            (x + 0.12 * length, base - 0.37 * length),
            (x + 0.28 * length, base - 0.2 * length),
        ],
        paint,
    )
    c.poly(
        [
            (x - 0.25 * length, base - 0.21 * length),
            (x - 0.17 * length, base - 0.335 * length),
            (x - 0.05 * length, base - 0.335 * length),
            (x - 0.05 * length, base - 0.21 * length),
        ],
        (176, 206, 226),
    )
    c.poly(
        [
            (x - 0.02 * length, base - 0.21 * length),
            (x - 0.02 * length, base - 0.335 * length),
            (x + 0.1 * length, base - 0.335 * length),
            (x + 0.23 * length, base - 0.21 * length),
        ],
        (176, 206, 226),
    )
    c.rect(x - 0.48 * length, base - 0.22 * length, 0.96 * length, 0.16 * length, paint, corner=0.06 * length)
    for i in range(12):
        c.rect(
            x + (-0.42 + 0.07 * i) * length,
            base - (0.155 if i % 2 else 0.135) * length,
            0.035 * length,
            0.02 * length,
            (34, 34, 44),
        )
    c.rect(
        x - 0.09 * length, base - 0.43 * length, 0.14 * length, 0.06 * length, (255, 244, 196), corner=0.015 * length
    )
    c.rect(x + 0.43 * length, base - 0.17 * length, 0.05 * length, 0.05 * length, (255, 250, 220), corner=0.02 * length)
    c.rect(x - 0.48 * length, base - 0.17 * length, 0.03 * length, 0.05 * length, (230, 60, 50))
    for dx in (-0.28, 0.27):
        c.disc(x + dx * length, base - 0.05 * length, 0.085 * length, (26, 26, 36))
        c.disc(x + dx * length, base - 0.05 * length, 0.04 * length, (170, 172, 184))


def market(c: Canvas, f: Market) -> None:
    """Draw a market stall face on."""
    c.wash(0, c.h, (246, 226, 196), (236, 206, 168))
    for i in range(7):
        for j in range(12):
            if c.rng.random() < 0.35:
                c.rect(
                    (j + 0.5 * (i % 2)) * c.w / 11,
                    i * 0.13 * c.h,
                    c.w / 13,
                    0.05 * c.h,
                    (228, 198, 160, 120),
                    corner=c.u,
                )
    c.wash(0.86 * c.h, c.h, (196, 178, 166), (168, 150, 142))
    left, right, top = 0.07 * c.w, 0.93 * c.w, 0.12 * c.h
    for x in (left, right):
        c.rect(x - c.u, top, 2 * c.u, 0.8 * c.h, WOOD)
    c.rect(left, top, right - left, 0.5 * c.h, clear((96, 62, 60), 0.4))
    for i, x in enumerate(spread(c, f.bulbs, left, right, 0.0)):
        y = 0.36 * c.h + (i % 2) * 1.5 * c.u
        c.stroke([(x, top), (x, y)], (60, 44, 44), 0.4 * c.u)
        c.glow(x, y, 11 * c.u, WINDOW_LIGHT, 0.8)
        c.disc(x, y, 1.9 * c.u, (255, 244, 200))
    figure(c, 0.24 * c.w, 0.68 * c.h, min(44 * c.u, 0.46 * c.h), (92, 130, 160), (60, 60, 80))
    if f.scales:
        _scales(c, 0.6 * c.w, 0.56 * c.h, 17 * c.u)
    count, counter = len(f.crates), 0.56 * c.h
    pitch = (right - left) / count
    c.rect(left - 2 * c.u, counter, right - left + 4 * c.u, 0.34 * c.h, darker(WOOD, 0.1))
    for i, kind in enumerate(f.crates):
        _crate(c, kind, left + (i + 0.5) * pitch, counter + 0.09 * c.h, 0.9 * pitch, 0.2 * c.h)
    _awning(c, left - 4 * c.u, top - 3 * c.u, right - left + 8 * c.u, 0.19 * c.h, PAINT[f.awning])


def _awning(c: Canvas, x: float, y: float, w: float, h: float, paint: RGB) -> None:
    stripes = 11
    pitch = w / stripes
    inset = 0.05 * w
    for i in range(stripes):
        colour = paint if i % 2 == 0 else PAINT["white"]
        near, far = x + i * pitch, x + inset + i * (w - 2 * inset) / stripes
        step = (w - 2 * inset) / stripes
        c.poly([(far, y), (far + step, y), (near + pitch, y + 0.72 * h), (near, y + 0.72 * h)], colour)
        c.rect(near, y + 0.72 * h, pitch, 0.14 * h, darker(colour, 0.12))
        c.pie(near + pitch / 2, y + 0.85 * h, pitch / 2, 0, 180, darker(colour, 0.12), ry=0.16 * h)
    c.rect(x + 0.02 * w, y + 1.02 * h, 0.96 * w, 0.1 * h, (30, 20, 40, 40))


def _crate(c: Canvas, kind: Fruit, x: float, y: float, w: float, h: float) -> None:
    across = 4 if kind != "watermelon" else 2
    r = 0.46 * w / across
    for row in (1, 0):
        for j in range(across - row):
            fruit(c, kind, x + (j - (across - 1 - row) / 2) * 2 * r, y + 0.3 * r - row * 1.45 * r, r)
    c.rect(x - w / 2, y + 0.2 * h, w, 0.78 * h, (206, 160, 106))
    for j in range(3):
        c.rect(x - w / 2, y + (0.2 + 0.27 * j) * h, w, 0.19 * h, (224, 182, 128))
    for dx in (-0.5, 0.42):
        c.rect(x + dx * w, y + 0.16 * h, 0.08 * w, 0.84 * h, (186, 138, 88))


def _scales(c: Canvas, x: float, base: float, size: float) -> None:
    brass = (214, 172, 84)
    c.rect(x - 0.3 * size, base - 0.1 * size, 0.6 * size, 0.1 * size, darker(brass), corner=0.03 * size)
    c.rect(x - 0.03 * size, base - 0.85 * size, 0.06 * size, 0.8 * size, brass)
    c.rect(x - 0.5 * size, base - 0.86 * size, size, 0.05 * size, brass, corner=0.02 * size)
    for side in (-1, 1):
        end = x + 0.47 * side * size
        for dx in (-0.2, 0.2):
            c.stroke(
                [(end, base - 0.84 * size), (end + dx * size, base - 0.42 * size)], darker(brass, 0.3), 0.02 * size
            )
        c.pie(end, base - 0.43 * size, 0.24 * size, 0, 180, brass, ry=0.14 * size)
    c.disc(x, base - 0.86 * size, 0.06 * size, lighter(brass))


def clock_tower(c: Canvas, f: ClockTower) -> None:
    """Draw a square with a clock tower whose hands show the time."""
    light, ground = LIGHTS[f.daytime], 0.84 * c.h
    sky(c, light, ground, sun=(0.16, 0.2))
    if f.daytime in ("day", "dawn"):
        clouds(c, light, 0.45 * c.h, 3)
    for i, x in enumerate(spread(c, 7, -0.03 * c.w, 1.03 * c.w, 0.05)):
        height, width = c.rng.uniform(0.22, 0.36) * c.h, 0.155 * c.w
        wall = light.on(((232, 196, 160), (216, 176, 150), (236, 214, 178), (198, 186, 190))[i % 4])
        c.rect(x - width / 2, ground - height, width, height, wall)
        c.poly(
            [
                (x - 0.56 * width, ground - height),
                (x, ground - height - 0.42 * width),
                (x + 0.56 * width, ground - height),
            ],
            light.on((146, 92, 82)),
        )
        for row in range(2):
            for dx in (-0.3, 0.1):
                window(
                    c,
                    x + dx * width,
                    ground - height + (0.12 + 0.4 * row) * height,
                    0.2 * width,
                    0.2 * height,
                    lit=light.dark and c.rng.random() < 0.6,
                    frame=lighter(wall),
                    glass=light.on((120, 152, 178)),
                )
    c.wash(ground, c.h, light.on((200, 188, 174)), light.on((164, 152, 146)))
    for side in (-1, 1):
        round_tree(c, (0.5 + 0.33 * side) * c.w, ground + 2 * c.u, 24 * c.u, light.on(LEAF))
    _clock_tower(c, f, 0.5 * c.w, ground + 2 * c.u, 0.76 * c.h, min(0.24 * c.h, 0.34 * c.w), light)
    for i, x in enumerate(spread(c, f.pigeons, 0.06 * c.w, 0.94 * c.w, 0.25)):
        _pigeon(c, x, c.h - (4 + 4 * (i % 2)) * c.u, 6 * c.u, light)


def _clock_tower(c: Canvas, f: ClockTower, x: float, base: float, h: float, w: float, light: Light) -> None:
    stone, roof = light.on((222, 202, 172)), light.on(darker(PAINT[f.roof], 0.1))
    top = base - 0.78 * h
    c.rect(x - w / 2, top, w, base - top, stone)
    c.rect(x + 0.28 * w, top, 0.22 * w, base - top, darker(stone, 0.12))
    for share in (0.0, 0.45, 0.96):
        c.rect(x - 0.56 * w, top + share * (base - top), 1.12 * w, 0.06 * w, lighter(stone, 0.3))
    c.poly([(x, base - h), (x + 0.6 * w, top), (x - 0.6 * w, top)], roof)
    c.poly([(x, base - h), (x + 0.6 * w, top), (x + 0.2 * w, top)], darker(roof))
    c.disc(x, base - h, 0.04 * w, light.on((226, 186, 88)))
    c.rect(x - 0.13 * w, base - 0.4 * w, 0.26 * w, 0.4 * w, light.on(darker(WOOD, 0.3)), corner=0.12 * w)
    for dx in (-0.24, 0.08):
        c.rect(
            x + dx * w,
            base - 0.36 * (base - top),
            0.16 * w,
            0.28 * w,
            WINDOW_LIGHT if light.dark else darker(stone, 0.55),
            corner=0.07 * w,
        )
    _dial(c, x, top + 0.225 * (base - top) + 0.03 * w, 0.41 * w, f.hour % 12 + f.minute / 60, lit=light.dark)


def _dial(c: Canvas, x: float, y: float, r: float, hours: float, *, lit: bool) -> None:
    if lit:
        c.glow(x, y, 1.9 * r, WINDOW_LIGHT, 0.6)
    c.disc(x, y, 1.1 * r, (150, 116, 62))
    c.disc(x, y, r, (255, 242, 204) if lit else (252, 250, 242))

    def hand(turn: float, start: float, length: float, width: float) -> None:
        a = 2 * math.pi * turn - math.pi / 2
        c.stroke(
            [
                (x + start * r * math.cos(a), y + start * r * math.sin(a)),
                (x + length * r * math.cos(a), y + length * r * math.sin(a)),
            ],
            (38, 36, 48),
            width * r,
        )

    for i in range(12):
        hand(i / 12, 0.74 if i % 3 == 0 else 0.82, 0.93, 0.08 if i % 3 == 0 else 0.05)
    hand(hours / 12, -0.08, 0.5, 0.12)
    hand(hours % 1, -0.1, 0.8, 0.075)
    c.disc(x, y, 0.08 * r, (38, 36, 48))


def _pigeon(c: Canvas, x: float, base: float, size: float, light: Light) -> None:
    grey = light.on((128, 136, 158))
    shadow(c, x, base, 0.4 * size)
    for dx in (-0.05, 0.08):
        c.stroke([(x + dx * size, base - 0.2 * size), (x + dx * size, base)], (220, 110, 90), 0.05 * size)
    c.poly(
        [
            (x + 0.2 * size, base - 0.44 * size),
            (x + 0.66 * size, base - 0.24 * size),
            (x + 0.2 * size, base - 0.2 * size),
        ],
        darker(grey, 0.3),
    )
    c.disc(x, base - 0.36 * size, 0.33 * size, grey, ry=0.2 * size)
    c.disc(x - 0.26 * size, base - 0.6 * size, 0.14 * size, darker(grey, 0.2))
    c.poly(
        [(x - 0.36 * size, base - 0.45 * size), (x - 0.14 * size, base - 0.6 * size), (x, base - 0.4 * size)],
        light.on((104, 138, 130)),
    )
    c.poly(
        [
            (x - 0.38 * size, base - 0.63 * size),
            (x - 0.52 * size, base - 0.56 * size),
            (x - 0.37 * size, base - 0.55 * size),
        ],
        (70, 66, 72),
    )


def bicycle(c: Canvas, f: Bicycle) -> None:
    """Draw a bicycle before a painted wall with a door."""
    wall, street = PAINT[f.wall], 0.83 * c.h
    wall = mix(wall, (255, 250, 240), 0.3)
    c.wash(0, street, lighter(wall, 0.1), darker(wall, 0.06))
    for _ in range(26):
        x, y = c.rng.uniform(0, c.w), c.rng.uniform(0.03, 0.66) * c.h
        c.rect(x, y, 8 * c.u, 3 * c.u, clear(darker(wall, 0.2), 0.3), corner=0.5 * c.u)
    c.rect(0, street - 0.1 * c.h, c.w, 0.1 * c.h, darker(wall, 0.22))
    c.wash(street, c.h, (188, 176, 168), (160, 148, 144))
    for i in range(12):
        for row in range(3):
            c.rect(
                (i + 0.5 * (row % 2)) * c.w / 11 - 3 * c.u,
                street + (0.1 + 0.3 * row) * (c.h - street),
                c.w / 12.5,
                0.22 * (c.h - street),
                (255, 255, 255, 34),
                corner=c.u,
            )
    _door(c, 0.84 * c.w, street, 0.24 * c.w, 0.66 * c.h, PAINT[f.door])
    x = 0.16 * c.w
    c.rect(x - 0.025 * c.w, 0.16 * c.h, 0.27 * c.w, 0.3 * c.h, darker(WOOD, 0.1), corner=c.u)
    window(c, x, 0.19 * c.h, 0.22 * c.w, 0.24 * c.h, lit=False, frame=(250, 246, 238), glass=(136, 182, 206))
    c.rect(x - 0.03 * c.w, 0.46 * c.h, 0.28 * c.w, 0.035 * c.h, STONE)
    _cycle(c, 0.4 * c.w, street + 0.06 * c.h, min(17 * c.u, 0.16 * c.w), f)


def _door(c: Canvas, x: float, base: float, w: float, h: float, paint: RGB) -> None:
    c.rect(x - 0.58 * w, base - 1.05 * h, 1.16 * w, 1.05 * h, (244, 238, 226), corner=1.5 * c.u)
    c.rect(x - 0.5 * w, base - h, w, h, paint)
    for dx in (-0.38, 0.06):
        for top, high in ((0.08, 0.34), (0.5, 0.42)):
            c.rect(x + dx * w, base - (1 - top) * h, 0.32 * w, high * h, darker(paint, 0.16), corner=0.5 * c.u)
            c.rect(
                x + (dx + 0.025) * w,
                base - (1 - top) * h + 0.02 * w,
                0.29 * w,
                high * h - 0.03 * w,
                lighter(paint, 0.08),
            )
    c.disc(x + 0.42 * w, base - 0.5 * h, 0.035 * w, (232, 196, 96))
    c.rect(x - 0.7 * w, base - 1.5 * c.u, 1.4 * w, 4 * c.u, STONE, corner=0.6 * c.u)


def _cycle(c: Canvas, x: float, base: float, r: float, f: Bicycle) -> None:
    """Draw the bicycle; r is the radius of its wheels."""
    paint, steel = PAINT[f.frame], (70, 70, 82)
    shadow(c, x, base + 0.5 * c.u, 2.3 * r, 0.28)
    rear, front, hub = (x - 1.25 * r, base - r), (x + 1.3 * r, base - r), (x - 0.1 * r, base - 0.95 * r)
    for wx, wy in (rear, front):
        for i in range(8):
            a = math.pi * i / 8 + 0.2
            c.stroke(
                [(wx - r * math.cos(a), wy - r * math.sin(a)), (wx + r * math.cos(a), wy + r * math.sin(a))],
                (200, 200, 206, 170),
                0.03 * r,
            )
        c.arc(wx, wy, r, 0, 360, (48, 46, 54), 0.12 * r)
        c.arc(wx, wy, 0.88 * r, 0, 360, (206, 204, 204), 0.05 * r)
        c.disc(wx, wy, 0.1 * r, steel)
    saddle, head = (x - 0.48 * r, base - 2.2 * r), (x + 0.95 * r, base - 2.15 * r)
    for start, end in ((rear, hub), (rear, saddle), (hub, saddle), (saddle, head), (hub, head), (head, front)):
        c.stroke([start, end], darker(paint, 0.06), 0.15 * r)
    c.stroke([saddle, (saddle[0] - 0.08 * r, saddle[1] - 0.35 * r)], steel, 0.1 * r)
    c.rect(saddle[0] - 0.42 * r, saddle[1] - 0.48 * r, 0.72 * r, 0.17 * r, (92, 58, 42), corner=0.08 * r)
    c.stroke([head, (head[0] - 0.1 * r, head[1] - 0.42 * r), (head[0] - 0.5 * r, head[1] - 0.5 * r)], steel, 0.1 * r)
    c.disc(*hub, 0.26 * r, steel)
    c.disc(*hub, 0.15 * r, (196, 196, 202))
    c.stroke([(hub[0] - 0.32 * r, hub[1] + 0.3 * r), (hub[0] + 0.32 * r, hub[1] - 0.3 * r)], (40, 40, 48), 0.08 * r)
    _basket(c, head[0] + 0.5 * r, head[1] + 0.1 * r, r, f)


def _basket(c: Canvas, x: float, y: float, r: float, f: Bicycle) -> None:
    if f.basket == "flowers":
        for i in range(9):
            px, py = x + (-0.55 + 0.137 * i) * r, y - (0.5 + 0.22 * math.sin(i * 2.4)) * r
            c.stroke([(x, y), (px, py)], (84, 142, 84), 0.06 * r)
            c.disc(px, py, 0.17 * r, PAINT[("pink", "yellow", "red", "purple")[i % 4]])
            c.disc(px, py, 0.06 * r, (255, 240, 180))
    elif f.basket == "bread":
        for dx, lean in ((-0.22, -0.18), (0.05, 0.05), (0.3, 0.22)):
            c.stroke([(x + dx * r, y), (x + (dx + lean) * r, y - 0.85 * r)], (206, 142, 74), 0.2 * r)
            c.stroke(
                [(x + (dx - 0.03) * r, y - 0.1 * r), (x + (dx + lean - 0.03) * r, y - 0.8 * r)],
                (232, 180, 112),
                0.06 * r,
            )
    c.poly(
        [
            (x - 0.58 * r, y - 0.35 * r),
            (x + 0.58 * r, y - 0.35 * r),
            (x + 0.44 * r, y + 0.3 * r),
            (x - 0.44 * r, y + 0.3 * r),
        ],
        (182, 128, 78),
    )
    for i in range(3):
        c.rect(x - (0.55 - 0.04 * i) * r, y + (-0.3 + 0.2 * i) * r, (1.1 - 0.08 * i) * r, 0.07 * r, (214, 164, 110))
