"""Scenes in snow, sand and forest."""

from __future__ import annotations

from vcrgen.samples.draw import RGB, WHITE, Canvas, Point, darker, lighter, mix
from vcrgen.samples.facts import (
    Campsite,
    Desert,
    SnowyVillage,
)
from vcrgen.samples.scenery import (
    LIGHTS,
    PAINT,
    SNOW,
    WINDOW_LIGHT,
    WOOD,
    Light,
    fir,
    glitter,
    height_at,
    hills,
    house,
    mountain,
    shadow,
    sky,
    snowfall,
    spread,
    stars,
    water,
)


def snowy_village(c: Canvas, f: SnowyVillage) -> None:
    """Draw a row of houses in the snow under white mountains."""
    light, ground = LIGHTS[f.daytime], 0.66 * c.h
    sky(c, light, ground, sun=None if f.snowing else (0.84, 0.16))
    for i, x in enumerate(spread(c, 3, -0.1 * c.w, 1.1 * c.w)):
        mountain(
            c,
            x,
            ground,
            0.7 * c.w,
            (0.4 + 0.07 * (i % 2)) * c.h,
            mix(light.on((128, 142, 172)), light.horizon, 0.3),
            light.on(SNOW),
        )
    snow = light.on(SNOW)
    back = hills(c, ground, 6 * c.u, darker(snow, 0.1), snow, 1.2)
    for x in spread(c, 9, 0, c.w, 0.4):
        fir(c, x, height_at(back, x) + 2 * c.u, c.rng.uniform(13, 20) * c.u, light.on((62, 106, 94)), snow=snow)
    if f.church:
        _church(c, 0.5 * c.w, ground + 4 * c.u, 44 * c.u, light)
    count = len(f.houses)
    width = min(24 * c.u, 0.68 * c.w / count)
    for i, x in enumerate(spread(c, count, 0.03 * c.w, 0.97 * c.w, 0.08)):
        base = ground + (9 + 5 * (i % 2)) * c.u
        house(c, x - width / 2, base, width, 0.62 * width, PAINT[f.houses[i]], light, snow=True)
    hills(c, ground + 14 * c.u, 3.5 * c.u, snow, mix(snow, light.sky[0], 0.22), 1.4)
    if f.snowman:
        _snowman(c, 0.3 * c.w, min(c.h - 4 * c.u, ground + 30 * c.u), 20 * c.u, light)
    if f.snowing:
        snowfall(c)


def _church(c: Canvas, x: float, base: float, height: float, light: Light) -> None:
    wall, snow = light.on((228, 214, 192)), light.on(SNOW)
    c.rect(x - 0.13 * height, base - 0.66 * height, 0.26 * height, 0.66 * height, wall)
    c.rect(x + 0.05 * height, base - 0.66 * height, 0.08 * height, 0.66 * height, darker(wall, 0.14))
    c.poly(
        [
            (x, base - 1.1 * height),
            (x + 0.17 * height, base - 0.65 * height),
            (x - 0.17 * height, base - 0.65 * height),
        ],
        snow,
    )
    c.poly(
        [
            (x, base - 1.1 * height),
            (x + 0.17 * height, base - 0.65 * height),
            (x + 0.04 * height, base - 0.65 * height),
        ],
        darker(snow, 0.14),
    )
    gold = light.on((226, 186, 88))
    c.rect(x - 0.008 * height, base - 1.22 * height, 0.016 * height, 0.13 * height, gold)
    c.rect(x - 0.035 * height, base - 1.185 * height, 0.07 * height, 0.016 * height, gold)
    c.disc(
        x,
        base - 0.52 * height,
        0.05 * height,
        WINDOW_LIGHT if light.dark else light.on((104, 124, 150)),
        ry=0.08 * height,
    )


def _snowman(c: Canvas, x: float, base: float, height: float, light: Light) -> None:
    snow = lighter(light.on(SNOW), 0.2)
    shadow(c, x + 0.1 * height, base, 0.34 * height)
    for dy, r in ((0.24, 0.27), (0.58, 0.2), (0.84, 0.15)):
        c.disc(x, base - dy * height, r * height, darker(snow, 0.12))
        c.disc(x - 0.02 * height, base - (dy + 0.015) * height, 0.93 * r * height, snow)
    coal = (44, 42, 52)
    for dx, dy in ((-0.05, 0.88), (0.05, 0.88), (0.0, 0.62), (0.0, 0.53)):
        c.disc(x + dx * height, base - dy * height, 0.018 * height, coal)
    c.poly(
        [(x, base - 0.86 * height), (x + 0.16 * height, base - 0.82 * height), (x, base - 0.8 * height)], (236, 130, 50)
    )
    c.rect(x - 0.13 * height, base - 0.74 * height, 0.26 * height, 0.06 * height, light.on(PAINT["red"]), corner=2)
    c.rect(x + 0.05 * height, base - 0.72 * height, 0.06 * height, 0.2 * height, light.on(PAINT["red"]), corner=2)
    for side in (-1, 1):
        c.stroke(
            [(x + 0.17 * side * height, base - 0.6 * height), (x + 0.4 * side * height, base - 0.76 * height)],
            light.on(darker(WOOD)),
            0.025 * height,
        )


def desert(c: Canvas, f: Desert) -> None:
    """Draw dunes under the stars."""
    light = LIGHTS["night"]
    sky(c, light, 0.8 * c.h, sun=(0.76, 0.2) if f.phase else None, phase=f.phase or "full")
    if not f.phase:
        stars(c, 0.5 * c.h, 90)
    _plough(c, 0.08 * c.w, 0.12 * c.h, min(40 * c.u, 0.42 * c.w))
    sand = light.on((236, 180, 112))
    for i in range(3):
        tone = mix(sand, light.horizon, 0.4 - 0.2 * i)
        line = hills(
            c, (0.64 + 0.11 * i) * c.h, (13 - 2 * i) * c.u, lighter(tone, 0.12), darker(tone, 0.3), 0.7 + 0.25 * i
        )
        if i == 1:
            _dwellers(c, f, line, light)


def _dwellers(c: Canvas, f: Desert, line: list[Point], light: Light) -> None:
    """Put camels and a tent, or cacti, on the middle dune."""
    size = min(17 * c.u, 0.5 * c.w / max(1, f.camels))
    for x in spread(c, f.camels, 0.06 * c.w, (0.68 if f.tent else 0.94) * c.w, 0.1):
        _camel(c, x, height_at(line, x) + 1.2 * c.u, size)
    for x in spread(c, f.cacti, 0.06 * c.w, 0.94 * c.w, 0.2):
        _cactus(c, x, height_at(line, x) + 1.5 * c.u, c.rng.uniform(14, 21) * c.u, light)
    if f.tent:
        x, size = 0.82 * c.w, 20 * c.u
        base = max(height_at(line, x - 0.5 * size), height_at(line, x + 0.5 * size)) + c.u
        c.glow(x, base - 0.15 * size, size, (255, 180, 90), 0.5)
        c.poly(
            [
                (x - 0.62 * size, base),
                (x - 0.4 * size, base - 0.34 * size),
                (x, base - 0.56 * size),
                (x + 0.4 * size, base - 0.34 * size),
                (x + 0.62 * size, base),
            ],
            light.on((216, 196, 160)),
        )
        c.poly([(x - 0.13 * size, base), (x, base - 0.4 * size), (x + 0.13 * size, base)], (255, 200, 110))


def _plough(c: Canvas, x: float, y: float, size: float) -> None:
    shape = ((0.0, 0.0), (0.22, 0.06), (0.4, 0.17), (0.6, 0.24), (0.66, 0.46), (0.94, 0.48), (1.0, 0.22), (0.6, 0.24))
    points = [(x + px * size, y + py * size) for px, py in shape]
    c.stroke(points, (190, 210, 255, 80), 0.3 * c.u)
    for px, py in points[:-1]:
        c.glow(px, py, 2.6 * c.u, (214, 228, 255), 0.8)
        c.disc(px, py, 0.7 * c.u, WHITE)


def _camel(c: Canvas, x: float, base: float, size: float) -> None:
    dark = (40, 28, 44)
    for dx in (-0.24, -0.15, 0.14, 0.23):
        c.rect(x + dx * size, base - 0.46 * size, 0.05 * size, 0.46 * size, dark)
    c.disc(x, base - 0.5 * size, 0.32 * size, dark, ry=0.15 * size)
    c.poly(
        [
            (x - 0.22 * size, base - 0.54 * size),
            (x - 0.06 * size, base - 0.8 * size),
            (x + 0.02 * size, base - 0.8 * size),
            (x + 0.2 * size, base - 0.54 * size),
        ],
        dark,
    )
    c.stroke(
        [
            (x + 0.26 * size, base - 0.5 * size),
            (x + 0.4 * size, base - 0.52 * size),
            (x + 0.46 * size, base - 0.82 * size),
        ],
        dark,
        0.09 * size,
    )
    c.disc(x + 0.52 * size, base - 0.83 * size, 0.1 * size, dark, ry=0.06 * size)
    c.stroke([(x - 0.31 * size, base - 0.52 * size), (x - 0.37 * size, base - 0.32 * size)], dark, 0.03 * size)


def _cactus(c: Canvas, x: float, base: float, height: float, light: Light) -> None:
    green, wide = darker(light.on((92, 150, 96)), 0.2), 0.16 * height
    c.rect(x - wide / 2, base - height, wide, height, green, corner=wide / 2)
    for side, low, top in ((-1, 0.36, 0.7), (1, 0.5, 0.84)):
        reach = x + side * 0.25 * height
        c.stroke(
            [(x, base - low * height), (reach, base - low * height), (reach, base - top * height)], green, 0.7 * wide
        )
        c.disc(reach, base - top * height, 0.35 * wide, green)
    c.rect(x + 0.1 * wide, base - 0.95 * height, 0.12 * wide, 0.9 * height, lighter(green, 0.2), corner=0.06 * wide)


def campsite(c: Canvas, f: Campsite) -> None:
    """Draw tents lit from inside before a dark forest."""
    light, ground = LIGHTS["night"], 0.66 * c.h
    sky(c, light, ground, sun=(0.8, 0.18), phase=f.phase)
    hills(c, ground - 8 * c.u, 14 * c.u, light.on((96, 122, 150)), light.on((70, 104, 120)), 1.1)
    far = light.on((44, 92, 84))
    for x in spread(c, 20, -0.02 * c.w, 1.02 * c.w, 0.4):
        fir(c, x, ground + 2 * c.u, c.rng.uniform(20, 36) * c.u, mix(far, light.sky[0], c.rng.uniform(0.0, 0.35)))
    if f.lake:
        water(c, light, ground, ground + 0.09 * c.h, (60, 110, 160), mirror=0.5)
        glitter(c, 0.8 * c.w, ground, ground + 0.09 * c.h, light.lamp, 4 * c.u)
    top = ground + (0.09 * c.h if f.lake else 0)
    grass = light.on((90, 140, 92))
    hills(c, top, 2.5 * c.u, grass, darker(grass, 0.35), 0.8)
    count = len(f.tents)
    size = min(34 * c.u, 0.7 * c.w / (count + 0.6))
    base = top + 0.55 * (c.h - top)
    for i, x in enumerate(spread(c, count, 0.04 * c.w, (0.74 if f.fire else 0.96) * c.w, 0.08)):
        _tent(c, x, base - 3 * c.u * (i % 2), size, PAINT[f.tents[i]])
    if f.fire:
        _campfire(c, 0.84 * c.w, base + 4 * c.u, 13 * c.u)


def _tent(c: Canvas, x: float, base: float, size: float, cloth: RGB) -> None:
    c.glow(x, base - 0.25 * size, 0.95 * size, (255, 196, 110), 0.42)
    top = (x, base - 0.62 * size)
    c.poly(
        [top, (x + 0.26 * size, base - 0.6 * size), (x + 0.62 * size, base - 0.06 * size), (x + 0.4 * size, base)],
        darker(cloth, 0.45),
    )
    c.shaded([top, (x + 0.44 * size, base), (x - 0.5 * size, base)], darker(cloth, 0.12), lighter(cloth, 0.12))
    c.poly([(x - 0.02 * size, base - 0.46 * size), (x + 0.14 * size, base), (x - 0.17 * size, base)], (255, 222, 140))
    c.poly([(x - 0.02 * size, base - 0.46 * size), (x - 0.1 * size, base), (x - 0.17 * size, base)], darker(cloth, 0.3))
    c.stroke([top, (x - 0.62 * size, base + 0.03 * size)], (226, 220, 200, 150), 0.3 * c.u)


def _campfire(c: Canvas, x: float, base: float, size: float) -> None:
    c.glow(x, base - 0.4 * size, 3.2 * size, (255, 150, 60), 0.6)
    for side in (-1, 1):
        c.stroke(
            [(x - 0.55 * side * size, base), (x + 0.5 * side * size, base - 0.2 * size)], (104, 66, 46), 0.17 * size
        )
    for share, colour in ((1.0, (240, 110, 46)), (0.68, (252, 172, 60)), (0.38, (255, 232, 140))):
        c.poly(
            [
                (x - 0.4 * share * size, base - 0.12 * size),
                (x - 0.34 * share * size, base - 0.5 * share * size),
                (x - 0.14 * share * size, base - 0.6 * share * size),
                (x, base - 1.25 * share * size),
                (x + 0.2 * share * size, base - 0.66 * share * size),
                (x + 0.36 * share * size, base - 0.44 * share * size),
                (x + 0.38 * share * size, base - 0.12 * size),
            ],
            colour,
        )
