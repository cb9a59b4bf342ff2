"""Scenes in farmed country."""

from __future__ import annotations

import math

from vcrgen.samples.draw import RGB, WHITE, Canvas, Point, clear, darker, lighter, mix
from vcrgen.samples.facts import (
    Balloons,
    Castle,
    Season,
    Sunflowers,
    Viaduct,
    WindFarm,
)
from vcrgen.samples.scenery import (
    AUTUMN,
    LEAF,
    LIGHTS,
    OVERCAST,
    PAINT,
    SNOW,
    STONE,
    WINDOW_LIGHT,
    WOOD,
    Light,
    clouds,
    fir,
    flag,
    height_at,
    hills,
    house,
    round_tree,
    shadow,
    sky,
    spread,
)

_GROUND: dict[Season, RGB] = {
    "spring": (132, 186, 96),
    "summer": (116, 172, 92),
    "autumn": (190, 166, 92),
    "winter": SNOW,
}


def _grove(c: Canvas, line: list[Point], count: int, size: float, season: Season, light: Light) -> None:
    """Plant trees along a skyline, dressed for the season."""
    for i, x in enumerate(spread(c, count, 0, c.w, 0.45)):
        base, height = height_at(line, x) + 1.5 * c.u, size * c.rng.uniform(0.75, 1.2)
        if season == "winter":
            fir(c, x, base, height, light.on((70, 112, 98)), snow=light.on(SNOW))
        elif season == "autumn":
            round_tree(c, x, base, height, light.on(AUTUMN[i % 3]))
        elif season == "spring" and i % 2:
            round_tree(c, x, base, height, light.on((242, 176, 196)))
        else:
            round_tree(c, x, base, height, light.on(LEAF))


def viaduct(c: Canvas, f: Viaduct) -> None:
    """Draw a train high on its arches over a valley."""
    light, ground = LIGHTS["day"], _GROUND[f.season]
    sky(c, light, 0.8 * c.h)
    clouds(c, light, 0.3 * c.h, 3)
    far = hills(c, 0.56 * c.h, 22 * c.u, mix(ground, (150, 190, 210), 0.55), mix(ground, (150, 190, 210), 0.3), 0.9)
    _grove(c, far, 13, 9 * c.u, f.season, light)
    deck, foot = 0.5 * c.h, c.h - 9 * c.u
    stone = mix(STONE, SNOW, 0.15)
    pitch = c.w / f.arches
    c.rect(0, deck, c.w, foot - deck, stone)
    rise = min(0.8 * (foot - deck), foot - deck - 0.1 * c.h)
    for i in range(f.arches):
        x, half = (i + 0.5) * pitch, 0.39 * pitch
        crown = foot - rise + half
        opening = [
            (x + half * math.cos(a / 16 * math.pi), crown - half * math.sin(a / 16 * math.pi)) for a in range(17)
        ]
        c.shaded(
            [*opening, (x - half, foot + 2 * c.u), (x + half, foot + 2 * c.u)],
            mix(ground, (150, 190, 210), 0.5),
            mix(ground, (110, 150, 120), 0.2),
        )
        inner = [(px - 0.16 * half, py) for px, py in opening[8:]]
        c.poly(
            [*opening[8:], (x - half, foot + 2 * c.u), (x - 0.78 * half, foot + 2 * c.u), *reversed(inner)],
            darker(stone, 0.3),
        )
    c.rect(0, deck, c.w, 1.6 * c.u, darker(stone, 0.16))
    c.rect(0, deck - 1.2 * c.u, c.w, 1.5 * c.u, lighter(stone, 0.35))
    _train(c, f, deck - 1.2 * c.u, min(24 * c.u, 0.86 * c.w / (f.coaches + 1)))
    near = hills(c, foot, 5 * c.u, ground, darker(ground, 0.14), 1.1)
    _grove(c, near, 6, 13 * c.u, f.season, light)


def _train(c: Canvas, f: Viaduct, rail: float, length: float) -> None:
    paint, height = PAINT[f.train], 0.44 * length
    x = 0.5 * c.w - 0.5 * length * (f.coaches + 1)
    if f.steam:
        for i in range(6):
            c.disc(
                x + (0.2 + 0.34 * i) * length,
                rail - (1.45 + 0.16 * i) * height,
                (0.1 + 0.045 * i) * length,
                clear(WHITE, 0.85 - 0.1 * i),
            )
    for i in range(f.coaches + 1):
        left, top = x + i * length, rail - height
        c.rect(left, rail - 0.3 * height, length, 0.1 * height, (50, 48, 56))
        if i == 0 and f.steam:
            _steam_engine(c, left, rail, length, height, darker(paint, 0.3))
        else:
            c.rect(
                left + 0.02 * length, top, 0.96 * length, 0.82 * height, paint, corner=(0.3 if i == 0 else 0.1) * height
            )
            c.rect(left + 0.02 * length, rail - 0.34 * height, 0.96 * length, 0.14 * height, darker(paint, 0.25))
            for j in range(4):
                c.rect(
                    left + (0.1 + 0.21 * j) * length,
                    top + 0.17 * height,
                    0.15 * length,
                    0.3 * height,
                    (214, 234, 242),
                    corner=0.03 * length,
                )
        for share in (0.2, 0.35, 0.65, 0.8):
            c.disc(left + share * length, rail - 0.1 * height, 0.1 * height, (44, 42, 50))


def _steam_engine(c: Canvas, x: float, rail: float, length: float, height: float, paint: RGB) -> None:
    c.rect(x + 0.62 * length, rail - 1.05 * height, 0.34 * length, 0.85 * height, paint)
    c.rect(x + 0.58 * length, rail - 1.12 * height, 0.42 * length, 0.1 * height, (50, 48, 56))
    c.rect(x + 0.7 * length, rail - 0.92 * height, 0.17 * length, 0.28 * height, (214, 234, 242))
    c.rect(x + 0.08 * length, rail - 0.72 * height, 0.58 * length, 0.48 * height, paint, corner=0.12 * height)
    c.rect(x + 0.16 * length, rail - 1.14 * height, 0.1 * length, 0.46 * height, (50, 48, 56))
    c.disc(x + 0.44 * length, rail - 0.74 * height, 0.06 * length, (226, 186, 88))
    c.rect(x + 0.05 * length, rail - 0.62 * height, 0.06 * length, 0.28 * height, (50, 48, 56))


def castle(c: Canvas, f: Castle) -> None:
    """Draw a castle with its towers on a wooded hill."""
    light, ground = LIGHTS[f.daytime], _GROUND[f.season]
    sky(c, light, 0.8 * c.h, sun=(0.17, 0.2))
    if f.daytime in ("day", "dawn"):
        clouds(c, light, 0.4 * c.h, 3)
    haze = mix(light.on(ground), light.horizon, 0.55)
    hills(c, 0.72 * c.h, 10 * c.u, haze, mix(haze, light.on(ground), 0.4), 1.3)
    top, wide = 0.66 * c.h, min(80 * c.u, 0.8 * c.w)
    mound = [(i * c.w / 30, top + 0.3 * c.h * abs(2 * i / 30 - 1) ** 2.2) for i in range(31)]
    grass = light.on(ground)
    _castle_walls(c, f, 0.5 * c.w, top + 3 * c.u, 0.62 * wide, light)
    c.shaded([*mound, (c.w, c.h), (0, c.h)], grass, darker(grass, 0.25))
    path = [(0.5 * c.w + (0.09 * math.sin(i * 0.75) * i / 10) * c.w, top + i * (c.h - top) / 10) for i in range(11)]
    c.poly(
        [
            *((x - (1.2 + 0.5 * i) * c.u, y) for i, (x, y) in enumerate(path)),
            *((x + (1.2 + 0.5 * i) * c.u, y) for i, (x, y) in reversed(list(enumerate(path)))),
        ],
        light.on((216, 196, 156)),
    )
    lower = [(x, y + 8 * c.u) for x, y in mound if abs(x - 0.5 * c.w) > 0.2 * c.w]
    for i, (x, y) in enumerate(lower[::2]):
        _grove_tree(c, x, y, c.rng.uniform(12, 16) * c.u, f.season, i, light)


def _grove_tree(c: Canvas, x: float, base: float, height: float, season: Season, turn: int, light: Light) -> None:
    if season == "winter":
        fir(c, x, base, height, light.on((70, 112, 98)), snow=light.on(SNOW))
        return
    leaf = {"spring": (LEAF, (242, 176, 196), LEAF), "summer": (LEAF, (70, 128, 78), LEAF), "autumn": AUTUMN}[season]
    round_tree(c, x, base, height, light.on(leaf[turn % 3]))


def _castle_walls(c: Canvas, f: Castle, x: float, base: float, width: float, light: Light) -> None:
    stone, roof = light.on((204, 192, 176)), light.on((96, 104, 132))
    wall = 0.26 * width
    _battlement(c, x - width / 2, base - wall, width, wall, stone)
    half = 0.07 * width
    for i in range(f.towers):
        share = i / (f.towers - 1) - 0.5
        height = (0.62 - 0.36 * abs(share) + (0.1 if i == f.towers // 2 else 0)) * width
        tx = x + share * width
        c.rect(tx - half, base - height, 2 * half, height, stone)
        c.rect(tx + 0.25 * half, base - height, 0.75 * half, height, darker(stone, 0.14))
        _battlement(c, tx - 1.15 * half, base - height - 0.03 * width, 2.3 * half, 0.06 * width, stone)
        tip = base - height - 0.22 * width
        eaves = base - height - 0.04 * width
        c.poly([(tx, tip), (tx + 1.1 * half, eaves), (tx - 1.1 * half, eaves)], roof)
        c.poly([(tx, tip), (tx + 1.1 * half, eaves), (tx + 0.25 * half, eaves)], darker(roof))
        flag(c, tx, tip + 0.01 * width, 0.14 * width, mix(light.on(PAINT[f.flag]), PAINT[f.flag], 0.5))
        for dy in (0.3, 0.55) if height > 0.5 * width else (0.45,):
            c.rect(
                tx - 0.25 * half,
                base - height + dy * 0.5 * height,
                0.5 * half,
                0.07 * width,
                WINDOW_LIGHT if light.dark else darker(stone, 0.6),
                corner=0.25 * half,
            )
    gate = x if f.towers % 2 == 0 else x - 0.5 * width / (f.towers - 1)
    c.rect(
        gate - 0.045 * width,
        base - 0.15 * width,
        0.09 * width,
        0.15 * width,
        light.on(darker(WOOD, 0.3)),
        corner=0.045 * width,
    )


def _battlement(c: Canvas, x: float, y: float, w: float, h: float, stone: RGB) -> None:
    c.rect(x, y, w, h, stone)
    teeth = max(3, round(w / (4 * c.u)))
    for i in range(teeth):
        c.rect(x + i * w / (teeth - 0.4), y - 1.6 * c.u, 0.6 * w / (teeth - 0.4), 1.8 * c.u, stone)


def wind_farm(c: Canvas, f: WindFarm) -> None:
    """Draw wind turbines above a field with furrows running to the horizon."""
    light, field = LIGHTS[f.daytime], 0.66 * c.h
    sky(c, light, field, sun=(0.12, 0.2))
    if f.daytime == "day":
        clouds(c, light, 0.45 * c.h, 4)
    far = light.on((120, 164, 112))
    hills(c, field - 4 * c.u, 8 * c.u, mix(far, light.horizon, 0.5), far)
    order = c.rng.sample(range(f.turbines), f.turbines)
    for i, x in enumerate(spread(c, f.turbines, 0.06 * c.w, 0.98 * c.w, 0.15)):
        near = order[i] / (f.turbines - 1)
        _turbine(c, x, field + 2 * c.u, (30 + 17 * near) * c.u * min(1.0, 5.5 / f.turbines + 0.15), light)
    crop = light.on(
        {"rapeseed": (244, 208, 62), "wheat": (226, 188, 102), "grass": (122, 180, 90), "lavender": (150, 116, 190)}[
            f.crop
        ]
    )
    line = hills(c, field, 3 * c.u, lighter(crop, 0.15), darker(crop, 0.12), 0.7)
    if f.crop != "grass":
        vanish = 0.62 * c.w
        for i in range(-9, 10):
            x = vanish + i * 0.16 * c.w
            start = vanish + i * 0.035 * c.w
            c.poly(
                [(start, height_at(line, start) + c.u), (x + 2.6 * c.u, c.h), (x - 2.6 * c.u, c.h)],
                clear(darker(crop, 0.4), 0.3),
            )
    for i, x in enumerate(spread(c, f.sheep, 0.08 * c.w, 0.92 * c.w, 0.2)):
        _sheep(c, x, field + (9 + 12 * (i % 2)) * c.u, min(11 * c.u, 0.6 * c.w / f.sheep), light)


def _turbine(c: Canvas, x: float, base: float, height: float, light: Light) -> None:
    white, hub = light.on((246, 248, 250)), base - height
    c.poly(
        [(x - 0.022 * height, base), (x + 0.022 * height, base), (x + 0.01 * height, hub), (x - 0.01 * height, hub)],
        white,
    )
    c.poly([(x + 0.004 * height, base), (x + 0.022 * height, base), (x + 0.01 * height, hub)], darker(white, 0.2))
    turn = c.rng.uniform(0, 120)
    for blade in (0, 120, 240):
        a = math.radians(turn + blade)
        tip = (x + 0.46 * height * math.cos(a), hub + 0.46 * height * math.sin(a))
        wide = (x + 0.13 * height * math.cos(a + 0.22), hub + 0.13 * height * math.sin(a + 0.22))
        c.poly([(x, hub), wide, tip], white)
        c.stroke([(x, hub), tip], darker(white, 0.12), 0.012 * height)
    c.disc(x, hub, 0.028 * height, darker(white, 0.16))


def _sheep(c: Canvas, x: float, base: float, size: float, light: Light) -> None:
    wool, dark = light.on((250, 248, 240)), light.on((62, 56, 58))
    shadow(c, x, base, 0.48 * size)
    for dx in (-0.22, -0.1, 0.12, 0.24):
        c.rect(x + dx * size, base - 0.26 * size, 0.06 * size, 0.26 * size, dark)
    for dx, dy, r in ((-0.2, 0.4, 0.19), (0.02, 0.46, 0.22), (0.22, 0.4, 0.19), (0.0, 0.34, 0.2)):
        c.disc(x + dx * size, base - dy * size, r * size, wool)
    c.disc(x - 0.42 * size, base - 0.46 * size, 0.12 * size, dark, ry=0.15 * size)


def balloons(c: Canvas, f: Balloons) -> None:
    """Draw hot-air balloons over a wide valley."""
    light = LIGHTS[f.daytime]
    sky(c, light, 0.86 * c.h, sun=(0.8, 0.62 if f.daytime != "day" else 0.16))
    if f.daytime == "day":
        clouds(c, light, 0.5 * c.h, 3)
    green = light.on((116, 172, 92))
    for i, share in enumerate((0.6, 0.35, 0.0)):
        hills(
            c,
            (0.74 + 0.08 * i) * c.h,
            (11 - 2 * i) * c.u,
            mix(green, light.horizon, share),
            mix(darker(green), light.horizon, share),
            0.8 + 0.3 * i,
        )
    if f.river:
        bends = [
            (0.55 * c.w + 0.09 * math.sin(0.8 * i) * c.w * (1 - 0.05 * i), (0.88 + 0.012 * i) * c.h) for i in range(11)
        ]
        c.poly(
            [
                *((x - (0.4 + 0.8 * i) * c.u, y) for i, (x, y) in enumerate(bends)),
                *((x + (0.4 + 0.8 * i) * c.u, y) for i, (x, y) in reversed(list(enumerate(bends)))),
            ],
            mix(light.on((92, 166, 206)), light.horizon, 0.35),
        )
    count = len(f.balloons)
    size = min(26 * c.u, 0.86 * c.w / count)
    heights = c.rng.sample([0.24 + 0.3 * i / max(1, count - 1) for i in range(count)], count)
    for i, x in enumerate(spread(c, count, 0.04 * c.w, 0.96 * c.w, 0.05)):
        _balloon(c, x, heights[i] * c.h, size * c.rng.uniform(0.8, 1.0), light.on(PAINT[f.balloons[i]]), f.striped)


def _balloon(c: Canvas, x: float, y: float, size: float, paint: RGB, striped: bool) -> None:
    r, neck = 0.5 * size, y + 0.74 * size
    pale = lighter(paint, 0.75)
    for share, colour in ((1.0, paint), (0.62, pale if striped else lighter(paint, 0.12)), (0.28, paint)):
        if not striped and share < 0.5:
            break
        half = share * r
        c.disc(x, y, half, colour, ry=r)
        c.poly(
            [
                (x - 0.94 * half, y + 0.34 * r),
                (x + 0.94 * half, y + 0.34 * r),
                (x + 0.16 * half, neck),
                (x - 0.16 * half, neck),
            ],
            colour,
        )
    c.arc(x, y, r, -60, 40, clear((30, 20, 60), 0.18), 0.14 * size)
    c.disc(x - 0.2 * size, y - 0.24 * size, 0.1 * size, clear(WHITE, 0.35), ry=0.15 * size)
    for side in (-1, 1):
        c.stroke(
            [(x + 0.07 * side * size, neck), (x + 0.055 * side * size, neck + 0.14 * size)], (92, 66, 50), 0.012 * size
        )
    c.rect(x - 0.08 * size, neck + 0.12 * size, 0.16 * size, 0.12 * size, (138, 92, 56), corner=0.02 * size)
    c.rect(x - 0.09 * size, neck + 0.11 * size, 0.18 * size, 0.035 * size, (104, 68, 44))


def sunflowers(c: Canvas, f: Sunflowers) -> None:
    """Draw large sunflowers before a farmhouse in the fields."""
    light, field = OVERCAST if f.cloudy else LIGHTS["day"], 0.62 * c.h
    sky(c, light, field, sun=None if f.cloudy else (0.14, 0.18))
    clouds(c, light, 0.5 * c.h, 6 if f.cloudy else 2)
    hills(c, field - 3 * c.u, 8 * c.u, mix(light.on(LEAF), light.horizon, 0.5), light.on(LEAF), 1.0)
    house(c, 0.6 * c.w, field + 4 * c.u, 30 * c.u, 17 * c.u, PAINT[f.farmhouse], light)
    round_tree(c, 0.6 * c.w + 40 * c.u, field + 4 * c.u, 24 * c.u, light.on((70, 128, 78)))
    hills(c, field + 4 * c.u, 2 * c.u, light.on((226, 190, 74)), light.on((92, 138, 66)), 0.9)
    for i in range(40):
        c.disc(
            c.rng.uniform(0, c.w), field + 6 * c.u + 0.1 * i * c.u, (0.7 + 0.025 * i) * c.u, light.on((246, 196, 52))
        )
    if f.scarecrow:
        x, base = 0.3 * c.w, field + 12 * c.u
        c.rect(x - 0.6 * c.u, base - 30 * c.u, 1.2 * c.u, 30 * c.u, light.on(WOOD))
        c.stroke(
            [(x - 12 * c.u, base - 20 * c.u), (x + 12 * c.u, base - 20 * c.u)], light.on((96, 120, 160)), 3.4 * c.u
        )
        c.rect(x - 4.4 * c.u, base - 21.5 * c.u, 8.8 * c.u, 13 * c.u, light.on((96, 120, 160)), corner=1.5 * c.u)
        c.disc(x, base - 25.5 * c.u, 4 * c.u, light.on((234, 204, 140)))
        c.rect(x - 6 * c.u, base - 28.6 * c.u, 12 * c.u, 1.4 * c.u, light.on((150, 108, 58)), corner=0.7 * c.u)
        c.rect(x - 3 * c.u, base - 32.5 * c.u, 6 * c.u, 4.4 * c.u, light.on((150, 108, 58)), corner=1.2 * c.u)
    size = min(13 * c.u, 0.42 * c.w / f.flowers)
    for i, x in enumerate(spread(c, f.flowers, 0.02 * c.w, 0.98 * c.w, 0.1)):
        _sunflower(c, x, c.h - (26 + 8 * (i % 2)) * c.u, size, light)


def _sunflower(c: Canvas, x: float, y: float, r: float, light: Light) -> None:
    stem = light.on((74, 132, 66))
    c.stroke([(x, y), (x + 0.15 * r, c.h + 5)], stem, 0.2 * r)
    for side, drop in ((-1, 1.7), (1, 2.3)):
        c.poly(
            [
                (x, y + drop * r),
                (x + 0.6 * side * r, y + (drop - 0.5) * r),
                (x + 1.2 * side * r, y + (drop - 0.2) * r),
                (x + 0.6 * side * r, y + (drop + 0.1) * r),
            ],
            lighter(stem, 0.1),
        )
    for ring, colour, offset in ((1.0, light.on((236, 170, 40)), 0.0), (0.86, light.on((252, 206, 60)), 0.2)):
        for i in range(14):
            a = offset + 2 * math.pi * i / 14
            dx, dy = math.cos(a), math.sin(a)
            c.poly(
                [
                    (x + 0.3 * r * dx - 0.2 * r * dy, y + 0.3 * r * dy + 0.2 * r * dx),
                    (x + ring * r * dx, y + ring * r * dy),
                    (x + 0.3 * r * dx + 0.2 * r * dy, y + 0.3 * r * dy - 0.2 * r * dx),
                ],
                colour,
            )
    c.disc(x, y, 0.46 * r, light.on((112, 70, 40)))
    c.disc(x, y, 0.3 * r, light.on((84, 50, 32)))
