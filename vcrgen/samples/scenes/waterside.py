"""Scenes on and under water."""

from __future__ import annotations

import math

from vcrgen.samples.draw import RGB, WHITE, Canvas, clear, darker, lighter, mix
from vcrgen.samples.facts import Aquarium, Beach, Harbour, MountainLake, Regatta, Tint, WaterTown
from vcrgen.samples.scenery import (
    AUTUMN,
    LIGHTS,
    OVERCAST,
    PAINT,
    SAND,
    SNOW,
    STONE,
    WINDOW_LIGHT,
    WOOD,
    Light,
    clouds,
    fir,
    glitter,
    gull,
    hills,
    mountain,
    palm,
    round_tree,
    shadow,
    sky,
    spread,
    water,
)


def harbour(c: Canvas, f: Harbour) -> None:
    """Draw a harbour: lighthouse on its rock, boats in front."""
    light, sea = LIGHTS[f.daytime], 0.56 * c.h
    sky(c, light, sea, sun=(0.26, 0.2))
    if f.daytime == "day":
        clouds(c, light, 0.4 * c.h, 3)
    for x in spread(c, f.gulls, 0.08 * c.w, 0.62 * c.w):
        gull(c, x, c.rng.uniform(0.22, 0.4) * c.h, 7 * c.u, light.on(WHITE))
    far = light.on((96, 132, 122))
    hills(c, sea - 3 * c.u, 9 * c.u, mix(far, light.horizon, 0.45), mix(far, light.horizon, 0.3))
    water(c, light, sea, c.h, mirror=0.25)
    if f.daytime != "day":
        glitter(c, 0.26 * c.w, sea, c.h, light.lamp, 4 * c.u)
    _lighthouse(c, 0.82 * c.w, sea + 4 * c.u, 44 * c.u, PAINT[f.stripe], light)
    for i, x in enumerate(spread(c, len(f.boats), 0.06 * c.w, 0.94 * c.w, 0.12)):
        base = sea + (0.36 + 0.34 * (i % 2) + c.rng.uniform(0, 0.12)) * (c.h - sea)
        _fishing_boat(c, x, base, min(26 * c.u, 0.8 * c.w / len(f.boats)), PAINT[f.boats[i]], light)


def _lighthouse(c: Canvas, x: float, base: float, height: float, stripe: RGB, light: Light) -> None:
    rock = light.on((112, 108, 112))
    c.poly(
        [
            (x - 0.6 * height, base),
            (x - 0.34 * height, base - 0.13 * height),
            (x + 0.1 * height, base - 0.19 * height),
            (x + 0.4 * height, base - 0.1 * height),
            (x + 0.62 * height, base),
        ],
        rock,
    )
    c.poly(
        [
            (x + 0.1 * height, base - 0.19 * height),
            (x + 0.4 * height, base - 0.1 * height),
            (x + 0.62 * height, base),
            (x + 0.14 * height, base),
        ],
        darker(rock),
    )
    foot, top = base - 0.14 * height, base - 0.84 * height
    if light.dark:
        c.poly([(x, top - 0.06 * height), (0, top - 0.3 * height), (0, top + 0.1 * height)], clear(WINDOW_LIGHT, 0.28))
    for i in range(5):
        lower, upper = foot + (top - foot) * i / 5, foot + (top - foot) * (i + 1) / 5
        half, less = (0.115 - 0.011 * i) * height, (0.115 - 0.011 * (i + 1)) * height
        colour = light.on(stripe if i % 2 == 0 else PAINT["white"])
        c.poly([(x - half, lower), (x + half, lower), (x + less, upper), (x - less, upper)], colour)
        c.poly([(x + 0.4 * half, lower), (x + half, lower), (x + less, upper), (x + 0.4 * less, upper)], darker(colour))
    c.rect(x - 0.085 * height, top - 0.015 * height, 0.17 * height, 0.03 * height, light.on((70, 66, 72)))
    c.rect(
        x - 0.05 * height,
        top - 0.11 * height,
        0.1 * height,
        0.1 * height,
        WINDOW_LIGHT if light.dark else light.on((176, 208, 222)),
    )
    c.pie(x, top - 0.105 * height, 0.07 * height, 180, 360, light.on(stripe))
    if light.dark:
        c.glow(x, top - 0.06 * height, 0.28 * height, WINDOW_LIGHT, 0.8)


def _fishing_boat(c: Canvas, x: float, base: float, length: float, hull: RGB, light: Light) -> None:
    shadow(c, x, base + 0.01 * length, 0.52 * length, 0.3)
    paint = light.on(hull)
    mast = x + 0.06 * length
    c.rect(mast, base - 0.86 * length, 0.025 * length, 0.7 * length, light.on(WOOD))
    c.stroke(
        [(mast, base - 0.84 * length), (x + 0.46 * length, base - 0.27 * length)], light.on((110, 100, 96)), 0.3 * c.u
    )
    c.rect(x - 0.3 * length, base - 0.46 * length, 0.26 * length, 0.26 * length, light.on(PAINT["white"]))
    c.rect(x - 0.33 * length, base - 0.49 * length, 0.32 * length, 0.05 * length, darker(paint, 0.3))
    c.rect(
        x - 0.24 * length,
        base - 0.4 * length,
        0.14 * length,
        0.1 * length,
        WINDOW_LIGHT if light.dark else light.on((120, 160, 186)),
    )
    rim = base - 0.22 * length
    c.poly(
        [
            (x - 0.46 * length, rim),
            (x + 0.52 * length, rim - 0.06 * length),
            (x + 0.36 * length, base),
            (x - 0.4 * length, base),
        ],
        paint,
    )
    c.poly(
        [
            (x - 0.43 * length, base - 0.08 * length),
            (x + 0.41 * length, base - 0.08 * length),
            (x + 0.36 * length, base),
            (x - 0.4 * length, base),
        ],
        darker(paint, 0.35),
    )
    c.stroke([(x - 0.46 * length, rim), (x + 0.52 * length, rim - 0.06 * length)], lighter(paint, 0.5), 0.035 * length)


def mountain_lake(c: Canvas, f: MountainLake) -> None:
    """Draw a lake that mirrors its mountains and trees."""
    light, shore = LIGHTS[f.daytime], 0.58 * c.h
    sky(c, light, shore, sun=(0.14, 0.16))
    if f.daytime == "day":
        clouds(c, light, 0.3 * c.h, 2)
    haze = mix(light.on((128, 152, 176)), light.horizon, 0.55)
    hills(c, shore - 8 * c.u, 8 * c.u, haze, haze)
    width = 1.5 * c.w / f.peaks
    for i, x in enumerate(spread(c, f.peaks, 0.02 * c.w, 0.98 * c.w, 0.1)):
        height = min((0.4 + 0.1 * ((i + f.peaks) % 2) + c.rng.uniform(-0.02, 0.02)) * c.h, 0.9 * width)
        rock = mix(light.on((112, 120, 142)), light.horizon, 0.1 * (i % 2))
        mountain(c, x, shore, width, height, rock, light.on(SNOW))
    green = light.on((70, 116, 88))
    c.rect(0, shore - 2.5 * c.u, c.w, 3 * c.u, darker(green, 0.1))
    for i, x in enumerate(spread(c, 17, -0.02 * c.w, 1.02 * c.w, 0.4)):
        if f.autumn and i % 4:
            round_tree(c, x, shore, c.rng.uniform(10, 17) * c.u, light.on(AUTUMN[i % 3]))
        else:
            fir(c, x, shore, c.rng.uniform(11, 20) * c.u, light.on((52, 104, 82)))
    water(c, light, shore, c.h, (60, 132, 166), mirror=0.6)
    if f.canoe:
        _canoe(c, 0.58 * c.w, shore + 0.52 * (c.h - shore), 30 * c.u, PAINT[f.canoe], light)


def _canoe(c: Canvas, x: float, base: float, length: float, hull: RGB, light: Light) -> None:
    shadow(c, x, base, 0.5 * length, 0.28)
    c.rect(
        x - 0.06 * length,
        base - 0.34 * length,
        0.12 * length,
        0.24 * length,
        light.on((60, 74, 108)),
        corner=0.04 * length,
    )
    c.disc(x, base - 0.39 * length, 0.055 * length, light.on((232, 186, 152)))
    c.pie(x, base - 0.4 * length, 0.06 * length, 180, 360, light.on((92, 60, 44)))
    c.stroke(
        [(x - 0.14 * length, base - 0.36 * length), (x + 0.16 * length, base + 0.03 * length)],
        light.on(WOOD),
        0.02 * length,
    )
    paint = light.on(hull)
    c.poly(
        [
            (x - 0.52 * length, base - 0.2 * length),
            (x - 0.3 * length, base - 0.12 * length),
            (x + 0.3 * length, base - 0.12 * length),
            (x + 0.52 * length, base - 0.2 * length),
            (x + 0.36 * length, base),
            (x - 0.36 * length, base),
        ],
        paint,
    )
    c.poly(
        [
            (x - 0.45 * length, base - 0.08 * length),
            (x + 0.45 * length, base - 0.08 * length),
            (x + 0.36 * length, base),
            (x - 0.36 * length, base),
        ],
        darker(paint),
    )


def regatta(c: Canvas, f: Regatta) -> None:
    """Draw yachts racing before a coast; the nearer, the larger."""
    light, sea = OVERCAST if f.cloudy else LIGHTS["day"], 0.44 * c.h
    sky(c, light, sea, sun=None if f.cloudy else (0.86, 0.14))
    clouds(c, light, 0.5 * sea, 6 if f.cloudy else 2)
    far = light.on((104, 146, 122))
    hills(c, sea - 2 * c.u, 7 * c.u, mix(far, light.horizon, 0.5), mix(far, light.horizon, 0.35))
    water(c, light, sea, c.h, (38, 118, 170))
    count = len(f.sails)
    rows = sorted(
        zip(spread(c, count, 0.03 * c.w, 0.97 * c.w, 0.08), c.rng.sample(range(count), count), strict=True),
        key=lambda p: p[1],
    )
    for x, row in rows:
        depth = row / (count - 1)
        length = min((15 + 13 * depth) * c.u, 1.1 * c.w / count)
        _yacht(c, x, sea + (0.14 + 0.5 * depth) * (c.h - sea), length, PAINT[f.sails[row]], light)
    x, y = 0.12 * c.w, c.h - 8 * c.u
    shadow(c, x, y, 4 * c.u)
    c.poly(
        [(x - 3.6 * c.u, y), (x + 3.6 * c.u, y), (x + 1.2 * c.u, y - 9 * c.u), (x - 1.2 * c.u, y - 9 * c.u)],
        light.on(PAINT[f.buoy]),
    )
    c.disc(x, y - 10 * c.u, 1.4 * c.u, light.on(WHITE))


def _yacht(c: Canvas, x: float, base: float, length: float, sail: RGB, light: Light) -> None:
    c.rect(x - 0.7 * length, base - 0.01 * length, 1.35 * length, 0.05 * length, clear(WHITE, 0.5), corner=c.u)
    mast, top, paint = x + 0.02 * length, base - 1.5 * length, light.on(sail)
    c.stroke([(mast, top), (mast, base - 0.15 * length)], light.on((96, 84, 78)), 0.03 * length)
    c.poly(
        [
            (mast - 0.03 * length, top + 0.04 * length),
            (mast - 0.5 * length, base - 0.26 * length),
            (mast - 0.03 * length, base - 0.24 * length),
        ],
        paint,
    )
    c.poly(
        [
            (mast - 0.03 * length, top + 0.04 * length),
            (mast - 0.2 * length, base - 0.25 * length),
            (mast - 0.03 * length, base - 0.24 * length),
        ],
        darker(paint, 0.1),
    )
    c.poly(
        [
            (mast + 0.03 * length, top + 0.22 * length),
            (mast + 0.48 * length, base - 0.2 * length),
            (mast + 0.03 * length, base - 0.24 * length),
        ],
        lighter(paint, 0.35),
    )
    c.poly(
        [
            (x - 0.5 * length, base - 0.17 * length),
            (x + 0.58 * length, base - 0.17 * length),
            (x + 0.4 * length, base + 0.01 * length),
            (x - 0.42 * length, base + 0.01 * length),
        ],
        light.on((52, 62, 92)),
    )
    c.rect(x - 0.5 * length, base - 0.18 * length, 1.06 * length, 0.04 * length, light.on(WHITE))


def beach(c: Canvas, f: Beach) -> None:
    """Draw a beach with the sea behind it."""
    light, sea, shore = LIGHTS[f.daytime], 0.36 * c.h, 0.56 * c.h
    sky(c, light, sea, sun=(0.78, 0.2))
    if f.daytime == "day":
        clouds(c, light, 0.26 * c.h, 2)
    water(c, light, sea, shore + 4 * c.u, (48, 158, 186))
    if f.daytime == "dusk":
        glitter(c, 0.78 * c.w, sea, shore, light.lamp, 5 * c.u)
    if f.sail:
        _yacht(c, 0.4 * c.w, sea + 5 * c.u, 8 * c.u, PAINT["white"], light)
    foam = light.on(WHITE)
    hills(c, shore, 4 * c.u, foam, foam, waves=0.8)
    c.wash(shore + 3 * c.u, c.h, light.on(SAND), light.on(darker(SAND, 0.12)))
    if f.palm:
        shadow(c, 0.1 * c.w, shore + 14 * c.u, 9 * c.u)
        palm(c, 0.1 * c.w, shore + 14 * c.u, 46 * c.u, light)
    left, size = (0.2 if f.palm else 0.03) * c.w, min(26 * c.u, 0.74 * c.w / len(f.umbrellas))
    for i, x in enumerate(spread(c, len(f.umbrellas), left, 0.97 * c.w, 0.08)):
        _umbrella(c, x, shore + (16 + 13 * (i % 2)) * c.u + 0.06 * c.h, size, f.umbrellas[i], light)
    if f.ball:
        x, y, r = 0.5 * c.w, c.h - 7 * c.u, 4.4 * c.u
        shadow(c, x + r * 0.4, y + 0.9 * r, 1.1 * r)
        c.disc(x, y, r, light.on(PAINT["white"]))
        for start, colour in ((0, PAINT["red"]), (120, PAINT["blue"]), (240, PAINT["yellow"])):
            c.pie(x, y, r, start, start + 62, light.on(colour))
        c.disc(x, y, 0.22 * r, light.on(WHITE))


def _umbrella(c: Canvas, x: float, base: float, size: float, tint: Tint, light: Light) -> None:
    paint, pale = light.on(PAINT[tint]), light.on(lighter(PAINT[tint], 0.75))
    shadow(c, x + 0.12 * size, base, 0.5 * size)
    towel = base - 0.01 * size
    c.poly(
        [
            (x + 0.08 * size, towel),
            (x + 0.56 * size, towel),
            (x + 0.66 * size, towel + 0.12 * size),
            (x + 0.16 * size, towel + 0.12 * size),
        ],
        pale,
    )
    c.stroke([(x, base), (x, base - 0.9 * size)], light.on(lighter(WOOD, 0.3)), 0.04 * size)
    rim, ry = base - 0.58 * size, 0.42 * size
    c.pie(x, rim, 0.5 * size, 180, 360, paint, ry=ry)
    # Panels narrow towards the edge of the dome: half-ellipses inside each other, in turns.
    for half, colour in ((0.3, pale), (0.11, paint)):
        c.pie(x, rim, half * size, 180, 360, colour, ry=ry)
    c.pie(x, rim, 0.5 * size, 300, 360, clear((40, 24, 60), 0.14), ry=ry)
    c.disc(x, rim - ry, 0.025 * size, light.on(WOOD))


def aquarium(c: Canvas, f: Aquarium) -> None:
    """Draw the view through the glass of a tank."""
    c.wash(0, c.h, (60, 176, 206), (30, 118, 174), (18, 66, 126))
    for x in spread(c, 4, 0.05 * c.w, 0.95 * c.w):
        c.poly([(x, 0), (x + 9 * c.u, 0), (x - 12 * c.u, c.h), (x - 34 * c.u, c.h)], (255, 255, 255, 18))
    hills(c, c.h - 12 * c.u, 6 * c.u, (226, 200, 150), (188, 154, 112))
    for x in spread(c, 5, 0, c.w):
        _weed(c, x, c.h - 6 * c.u, c.rng.uniform(20, 42) * c.u)
    for x in (0.2 * c.w, 0.78 * c.w):
        _coral(c, x, c.h - 5 * c.u, c.rng.uniform(13, 17) * c.u)
    for x in spread(c, f.jellyfish, 0.1 * c.w, 0.9 * c.w):
        _jellyfish(c, x, c.rng.uniform(0.13, 0.2) * c.h, 8 * c.u)
    if f.turtle:
        _turtle(c, 0.66 * c.w, 0.2 * c.h, 24 * c.u)
    for i, x in enumerate(spread(c, f.big_count, 0.08 * c.w, 0.96 * c.w, 0.15)):
        _fish(c, x, (0.47 + 0.03 * (i % 2)) * c.h, min(22 * c.u, 0.8 * c.w / f.big_count), PAINT[f.big])
    for i, x in enumerate(spread(c, f.small_count, 0.05 * c.w, 0.95 * c.w, 0.15)):
        _fish(c, x, (0.65 + 0.07 * (i % 2)) * c.h, min(9 * c.u, 0.8 * c.w / f.small_count), PAINT[f.small])
    for x in spread(c, 14, 0, c.w, 0.5):
        y, r = c.rng.uniform(0.05, 0.85) * c.h, c.rng.uniform(0.6, 1.5) * c.u
        c.disc(x, y, r, (255, 255, 255, 70))
        c.disc(x - 0.3 * r, y - 0.3 * r, 0.35 * r, (255, 255, 255, 200))


def _fish(c: Canvas, x: float, y: float, length: float, colour: RGB) -> None:
    fin = darker(colour, 0.22)
    c.poly(
        [
            (x + 0.3 * length, y),
            (x + 0.54 * length, y - 0.22 * length),
            (x + 0.47 * length, y),
            (x + 0.54 * length, y + 0.22 * length),
        ],
        fin,
    )
    c.poly([(x - 0.1 * length, y - 0.2 * length), (x + 0.2 * length, y - 0.36 * length), (x + 0.22 * length, y)], fin)
    c.disc(x, y, 0.4 * length, colour, ry=0.25 * length)
    c.pie(x, y, 0.4 * length, 0, 180, darker(colour, 0.1), ry=0.25 * length)
    c.disc(x, y + 0.01 * length, 0.36 * length, colour, ry=0.17 * length)
    c.poly(
        [
            (x + 0.02 * length, y + 0.02 * length),
            (x + 0.16 * length, y + 0.12 * length),
            (x + 0.16 * length, y - 0.05 * length),
        ],
        fin,
    )
    c.disc(x - 0.24 * length, y - 0.06 * length, 0.06 * length, WHITE)
    c.disc(x - 0.25 * length, y - 0.06 * length, 0.032 * length, (24, 24, 40))


def _weed(c: Canvas, x: float, base: float, height: float) -> None:
    colour = mix((40, 130, 96), (96, 172, 92), c.rng.random())
    for lean in (-0.12, 0.04, 0.18):
        blade = [
            (
                x + (lean * i / 8 + 0.05 * math.sin(i * 0.9 + lean * 20)) * height,
                base - height * (1 - abs(lean)) * i / 8,
            )
            for i in range(9)
        ]
        c.stroke(blade, colour, 0.055 * height)


def _coral(c: Canvas, x: float, base: float, size: float) -> None:
    colour = c.rng.choice(((232, 110, 116), (240, 150, 110), (196, 120, 190)))
    for angle, length in ((-140, 0.7), (-115, 0.95), (-90, 1.05), (-62, 0.9), (-38, 0.7)):
        a = math.radians(angle)
        tip = (x + size * length * math.cos(a), base + size * length * math.sin(a))
        c.stroke([(x, base), tip], colour, 0.15 * size)
        c.disc(*tip, 0.11 * size, lighter(colour))


def _jellyfish(c: Canvas, x: float, y: float, size: float) -> None:
    for dx in (-0.6, -0.2, 0.2, 0.6):
        arm = [(x + (dx + 0.14 * math.sin(i * 1.3 + dx * 5)) * size, y + 0.3 * i * size) for i in range(7)]
        c.stroke(arm, (250, 214, 236, 150), 0.09 * size)
    c.pie(x, y, size, 180, 360, (250, 206, 232, 220), ry=1.1 * size)
    c.pie(x, y, 0.62 * size, 180, 360, (255, 236, 246, 220), ry=0.75 * size)


def _turtle(c: Canvas, x: float, y: float, size: float) -> None:
    skin, shell = (120, 166, 96), (112, 100, 62)
    for dx, dy, tx, ty in ((-0.2, 0.05, -0.42, 0.42), (0.2, 0.05, 0.42, 0.3), (-0.2, -0.05, -0.5, -0.26)):
        c.poly(
            [
                (x + (dx - 0.08) * size, y + dy * size),
                (x + (dx + 0.1) * size, y + dy * size),
                (x + tx * size, y + ty * size),
            ],
            skin,
        )
    c.disc(x - 0.5 * size, y - 0.02 * size, 0.13 * size, skin, ry=0.1 * size)
    c.disc(x - 0.55 * size, y - 0.04 * size, 0.022 * size, (24, 24, 40))
    c.disc(x, y, 0.42 * size, shell, ry=0.24 * size)
    c.disc(x - 0.02 * size, y - 0.03 * size, 0.36 * size, lighter(shell, 0.2), ry=0.18 * size)
    for dx, dy in ((-0.2, -0.02), (0.0, -0.07), (0.0, 0.06), (0.18, -0.01)):
        c.disc(x + dx * size, y + dy * size, 0.075 * size, shell, ry=0.055 * size)


def water_town(c: Canvas, f: WaterTown) -> None:
    """Draw a canal between white houses with dark roofs, a bridge across, lanterns on a rope in front."""
    light, canal = LIGHTS["night"], 0.6 * c.h
    sky(c, light, canal, sun=(0.5, 0.15), phase=f.phase)
    width = 0.27 * c.w
    for side in (-1, 1):
        for step in (0, 1):
            x = 0.5 * c.w + side * (0.41 - 0.13 * step) * c.w - width / 2
            _canal_house(c, x, canal, width, (0.4 - 0.1 * step) * c.h, light)
    _bridge(c, 0.5 * c.w, canal, 0.46 * c.w, f.arches, light)
    water(c, light, canal, c.h, (44, 84, 120), mirror=0.55)
    if f.boat:
        _sampan(c, 0.44 * c.w, canal + 0.62 * (c.h - canal), 34 * c.u, light)
    rope = [(i * c.w / 12, 0.2 * c.h + 0.16 * c.h * math.sin(math.pi * i / 12)) for i in range(13)]
    c.stroke(rope, (54, 40, 44), 0.45 * c.u)
    size = min(6 * c.u, 0.3 * c.w / f.lanterns)
    for x in spread(c, f.lanterns, 0.03 * c.w, 0.97 * c.w, 0.0):
        y = 0.2 * c.h + 0.16 * c.h * math.sin(math.pi * x / c.w) + 1.5 * size
        _lantern(c, x, y, size)


def _lantern(c: Canvas, x: float, y: float, r: float) -> None:
    c.glow(x, y, 3.2 * r, (255, 120, 70), 0.6)
    c.stroke([(x, y - 1.5 * r), (x, y + 2.1 * r)], (226, 170, 70), 0.16 * r)
    c.disc(x, y, r, (218, 48, 40), ry=0.88 * r)
    c.disc(x, y, 0.62 * r, (242, 96, 60), ry=0.88 * r)
    c.disc(x, y, 0.26 * r, (255, 168, 96), ry=0.86 * r)
    for dy in (-0.95, 0.72):
        c.rect(x - 0.45 * r, y + dy * r, 0.9 * r, 0.24 * r, (232, 184, 80))


def _canal_house(c: Canvas, x: float, base: float, w: float, h: float, light: Light) -> None:
    wall, roof = light.on((236, 232, 222)), light.on((58, 58, 70))
    c.rect(x, base - h, w, h, wall)
    c.rect(x, base - 0.12 * h, w, 0.12 * h, light.on(STONE))
    c.poly(
        [
            (x - 0.12 * w, base - h),
            (x - 0.15 * w, base - h - 0.05 * w),
            (x + 0.12 * w, base - h - 0.22 * w),
            (x + 0.88 * w, base - h - 0.22 * w),
            (x + 1.15 * w, base - h - 0.05 * w),
            (x + 1.12 * w, base - h),
        ],
        roof,
    )
    for row in range(2):
        for share in (0.12, 0.42, 0.72):
            top = base - h + (0.14 + 0.4 * row) * h
            lit = c.rng.random() < 0.65
            c.rect(x + share * w, top, 0.17 * w, 0.2 * h, light.on(darker(WOOD, 0.3)))
            c.rect(
                x + (share + 0.02) * w,
                top + 0.02 * h,
                0.13 * w,
                0.16 * h,
                WINDOW_LIGHT if lit else light.on((80, 90, 120)),
            )
            c.rect(x + (share + 0.075) * w, top, 0.02 * w, 0.2 * h, light.on(darker(WOOD, 0.3)))


def _bridge(c: Canvas, x: float, base: float, length: float, arches: int, light: Light) -> None:
    stone, rise = light.on(STONE), 0.3 * length
    deck = [(x - length / 2 + length * i / 16, base - rise * math.sin(math.pi * i / 16)) for i in range(17)]
    c.poly(deck, stone)
    c.stroke([(px, py - 0.03 * length) for px, py in deck], lighter(stone, 0.3), 0.035 * length)
    for px, py in deck[1:-1:2]:
        c.rect(px - 0.008 * length, py - 0.07 * length, 0.016 * length, 0.07 * length, lighter(stone, 0.2))
    radii = {1: ((0.0, 0.19),), 3: ((-0.22, 0.08), (0.0, 0.13), (0.22, 0.08))}[arches]
    for dx, r in radii:
        c.pie(x + dx * length, base, r * length, 180, 360, darker(light.horizon, 0.15), ry=1.05 * r * length)


def _sampan(c: Canvas, x: float, base: float, length: float, light: Light) -> None:
    wood = light.on(WOOD)
    shadow(c, x, base, 0.5 * length, 0.35)
    c.pie(x - 0.02 * length, base - 0.1 * length, 0.2 * length, 180, 360, darker(wood, 0.25), ry=0.2 * length)
    c.pie(x - 0.02 * length, base - 0.1 * length, 0.13 * length, 180, 360, WINDOW_LIGHT, ry=0.13 * length)
    c.poly(
        [
            (x - 0.54 * length, base - 0.17 * length),
            (x - 0.3 * length, base - 0.1 * length),
            (x + 0.3 * length, base - 0.1 * length),
            (x + 0.54 * length, base - 0.18 * length),
            (x + 0.36 * length, base),
            (x - 0.36 * length, base),
        ],
        wood,
    )
    c.stroke(
        [
            (x - 0.52 * length, base - 0.16 * length),
            (x - 0.3 * length, base - 0.09 * length),
            (x + 0.3 * length, base - 0.09 * length),
            (x + 0.52 * length, base - 0.17 * length),
        ],
        lighter(wood, 0.2),
        0.02 * length,
    )
