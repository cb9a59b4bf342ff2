"""Scenes in farmed country."""

import math

from vcrgen.samples.draw import RGB, WHITE, Point, clear, colours, darker, height_at, lighter, mix
from vcrgen.samples.facts import SEASONS, Balloons, Castle, Season, Sunflowers, Viaduct, WindFarm
from vcrgen.samples.scenery import AUTUMN, LEAF, LIGHTS, OVERCAST, PAINT, SNOW, STONE, WINDOW_LIGHT, WOOD, SceneCanvas

_GROUND: dict[Season, RGB] = dict(zip(SEASONS, colours("84ba60 74ac5c bea65c f0f5fc"), strict=True))
_BLOSSOM = (242, 176, 196)


def _tree(c: SceneCanvas, season: Season, leaves: tuple[RGB, ...], turn: int) -> None:
    """Draw a tree dressed for the season; in spring and summer with some of the leaves."""
    if season == "winter":
        c.fir(c.on((70, 112, 98)), snow=True)
    else:
        leaves = AUTUMN if season == "autumn" else leaves
        c.thing("round tree", leaf=c.on(leaves[turn % len(leaves)]))


def _grove(c: SceneCanvas, line: list[Point], count: int, size: float, season: Season) -> None:
    """Plant trees along a skyline."""
    leaves = (LEAF, _BLOSSOM) if season == "spring" else (LEAF,)
    for i, x in enumerate(c.spread(count, 0, 1, 0.45)):
        _tree(c.at(x, height_at(line, x) + 1.5 * c.u, size * c.rng.uniform(0.75, 1.2)), season, leaves, i)


def _ribbon(c: SceneCanvas, line: list[Point], width: float, growth: float, ink: RGB) -> None:
    """Paint a path or a river along a line, wider by `growth` at each point."""
    left, right = ([(x + s * (width + growth * i) * c.u, y) for i, (x, y) in enumerate(line)] for s in (-1, 1))
    c.poly(left + right[::-1], ink)


def viaduct(c: SceneCanvas, f: Viaduct) -> None:
    """Draw a train high on its arches over a valley."""
    ground, haze = _GROUND[f.season], (150, 190, 210)
    c.sky(0.8 * c.h, clouds=3, depth=0.3 * c.h)
    far = c.hills(0.56 * c.h, 22 * c.u, mix(ground, haze, 0.55), mix(ground, haze, 0.3), 0.9)
    _grove(c, far, 13, 9 * c.u, f.season)
    deck, foot, stone, pitch = 0.5 * c.h, c.h - 9 * c.u, mix(STONE, SNOW, 0.15), c.w / f.arches
    c.rect(0, deck, c.w, foot - deck, stone)
    rise, half = min(0.8 * (foot - deck), foot - deck - 0.1 * c.h), 0.39 * pitch
    opening = [(math.cos(a / 16 * math.pi), -math.sin(a / 16 * math.pi)) for a in range(17)]
    inner = [(x - 0.16, y) for x, y in reversed(opening[8:])]
    floor = (rise - half + 2 * c.u) / half
    for i in range(f.arches):
        arch = c.at((i + 0.5) * pitch, foot - rise + half, half)
        arch.shaded([*opening, (-1, floor), (1, floor)], mix(ground, haze, 0.5), mix(ground, (110, 150, 120), 0.2))
        arch.poly([*opening[8:], (-1, floor), (-0.78, floor), *inner], darker(stone, 0.3))
    c.rect(0, deck, c.w, 1.6 * c.u, darker(stone, 0.16))
    c.rect(0, deck - 1.2 * c.u, c.w, 1.5 * c.u, lighter(stone, 0.35))
    length = min(24 * c.u, 0.86 * c.w / (f.coaches + 1))
    _train(c.at(0.5 * c.w - 0.5 * length * (f.coaches + 1), deck - 1.2 * c.u, length), f)
    near = c.hills(foot, 5 * c.u, ground, darker(ground, 0.14), 1.1)
    _grove(c, near, 6, 13 * c.u, f.season)


def _train(c: SceneCanvas, f: Viaduct) -> None:
    """Draw an engine and its coaches, each 1 long and 0.44 high."""
    paint, iron, glass = PAINT[f.train], (50, 48, 56), (214, 234, 242)
    for i in range(6 if f.steam else 0):
        c.disc(0.2 + 0.34 * i, -(1.45 + 0.16 * i) * 0.44, 0.1 + 0.045 * i, clear(WHITE, 0.85 - 0.1 * i))
    for i in range(f.coaches + 1):
        coach = c.at(i, 0, 1, 0.44)
        coach.rect(0, -0.3, 1, 0.1, iron)
        if i == 0 and f.steam:
            coach.rect(0.62, -1.05, 0.34, 0.85, darker(paint, 0.3))
            coach.rect(0.7, -0.92, 0.17, 0.28, glass)
            coach.rect(0.08, -0.72, 0.58, 0.48, darker(paint, 0.3), corner=0.12 * 0.44)
            coach.rects(".58,-1.12,.42,.1 .16,-1.14,.1,.46 .05,-.62,.06,.28", iron)
            coach.disc(0.44, -0.74, 0.06, (226, 186, 88))
        else:
            coach.rect(0.02, -1, 0.96, 0.82, paint, corner=(0.3 if i == 0 else 0.1) * 0.44)
            coach.rect(0.02, -0.34, 0.96, 0.14, darker(paint, 0.25))
            for j in range(4):
                coach.rect(0.1 + 0.21 * j, -0.83, 0.15, 0.3, glass, corner=0.03)
        for x in (0.2, 0.35, 0.65, 0.8):
            coach.disc(x, -0.1, 0.044, (44, 42, 50))


def castle(c: SceneCanvas, f: Castle) -> None:
    """Draw a castle with its towers on a wooded hill."""
    c.light, top = LIGHTS[f.daytime], 0.66 * c.h
    c.sky(0.8 * c.h, sun=(0.17, 0.2), clouds=3 if f.daytime in ("day", "dawn") else 0, depth=0.4 * c.h)
    grass, haze = c.on(_GROUND[f.season]), c.hazy(_GROUND[f.season], 0.55)
    c.hills(0.72 * c.h, 10 * c.u, haze, mix(haze, grass, 0.4), 1.3)
    mound = [(i * c.w / 30, top + 0.3 * c.h * abs(2 * i / 30 - 1) ** 2.2) for i in range(31)]
    _castle_walls(c.at(0.5 * c.w, top + 3 * c.u, 0.62 * min(80 * c.u, 0.8 * c.w)), f)
    c.shaded([*mound, (c.w, c.h), (0, c.h)], grass, darker(grass, 0.25))
    path = [((0.5 + 0.09 * math.sin(i * 0.75) * i / 10) * c.w, top + i * (c.h - top) / 10) for i in range(11)]
    _ribbon(c, path, 1.2, 0.5, c.on((216, 196, 156)))
    leaves = (LEAF, _BLOSSOM if f.season == "spring" else (70, 128, 78), LEAF)
    lower = [(x, y + 8 * c.u) for x, y in mound if abs(x - 0.5 * c.w) > 0.2 * c.w]
    for i, (x, y) in enumerate(lower[::2]):
        _tree(c.at(x, y, c.rng.uniform(12, 16) * c.u), f.season, leaves, i)


def _castle_walls(c: SceneCanvas, f: Castle) -> None:
    """Draw walls 1 wide with their towers."""
    stone, roof, flag = c.on((204, 192, 176)), c.on((96, 104, 132)), PAINT[f.flag]
    _battlement(c.at(-0.5, -0.26, 1), 1, 0.26, stone)
    for i in range(f.towers):
        x = i / (f.towers - 1) - 0.5
        tall = 0.62 - 0.36 * abs(x) + (0.1 if i == f.towers // 2 else 0)
        tower = c.at(x, -tall, 1)
        tower.rect(-0.07, 0, 0.14, tall, stone)
        tower.rect(0.0175, 0, 0.0525, tall, darker(stone, 0.14))
        _battlement(tower.at(-0.0805, -0.03, 1), 0.161, 0.06, stone)
        tower.poly("0,-.22 .077,-.04 -.077,-.04", roof)
        tower.poly("0,-.22 .077,-.04 .0175,-.04", darker(roof))
        pole = tower.at(0, -0.22, 1).at(0, 0.01, 0.14)
        pole.rect(-0.03, -1, 0.06, 1, (84, 74, 72))
        pole.poly("0,-1 .75,-.78 0,-.56", mix(c.on(flag), flag, 0.5))
        for y in (0.15, 0.275) if tall > 0.5 else (0.225,):
            glass = WINDOW_LIGHT if c.light.dark else darker(stone, 0.6)
            tower.rect(-0.0175, y * tall, 0.035, 0.07, glass, corner=0.0175)
    gate = 0 if f.towers % 2 == 0 else -0.5 / (f.towers - 1)
    c.rect(gate - 0.045, -0.15, 0.09, 0.15, c.on(darker(WOOD, 0.3)), corner=0.045)


def _battlement(c: SceneCanvas, w: float, h: float, stone: RGB) -> None:
    c.rect(0, 0, w, h, stone)
    teeth = max(3, round(w / (4 * c.u)))
    for i in range(teeth):
        c.rect(i * w / (teeth - 0.4), -1.6 * c.u, 0.6 * w / (teeth - 0.4), 1.8 * c.u, stone)


_CROPS = {"rapeseed": (244, 208, 62), "wheat": (226, 188, 102), "grass": (122, 180, 90), "lavender": (150, 116, 190)}


def wind_farm(c: SceneCanvas, f: WindFarm) -> None:
    """Draw wind turbines above a field with furrows running to the horizon."""
    c.light, field = LIGHTS[f.daytime], 0.66 * c.h
    c.sky(field, sun=(0.12, 0.2), clouds=4 if f.daytime == "day" else 0, depth=0.45 * c.h)
    c.hills(field - 4 * c.u, 8 * c.u, c.hazy((120, 164, 112), 0.5), c.on((120, 164, 112)))
    order = c.rng.sample(range(f.turbines), f.turbines)
    for i, x in enumerate(c.spread(f.turbines, 0.06, 0.98, 0.15)):
        near = order[i] / (f.turbines - 1)
        mill = c.at(x, field + 2 * c.u, (30 + 17 * near) * c.u * min(1.0, 5.5 / f.turbines + 0.15))
        hub, white, turn = mill.at(0, -1, 1), c.on((246, 248, 250)), c.rng.uniform(0, 120)
        mill.poly("-.022,0 .022,0 .01,-1 -.01,-1", white)
        mill.poly(".004,0 .022,0 .01,-1", darker(white, 0.2))
        for a in (math.radians(turn + blade) for blade in (0, 120, 240)):
            tip = (0.46 * math.cos(a), 0.46 * math.sin(a))
            hub.poly([(0, 0), (0.13 * math.cos(a + 0.22), 0.13 * math.sin(a + 0.22)), tip], white)
            hub.stroke([(0, 0), tip], darker(white, 0.12), 0.012)
        hub.disc(0, 0, 0.028, darker(white, 0.16))
    crop = c.on(_CROPS[f.crop])
    line = c.hills(field, 3 * c.u, lighter(crop, 0.15), darker(crop, 0.12), 0.7)
    for i in range(-9, 10) if f.crop != "grass" else ():
        start, x = 0.62 * c.w + i * 0.035 * c.w, 0.62 * c.w + i * 0.16 * c.w
        furrow = [(start, height_at(line, start) + c.u), (x + 2.6 * c.u, c.h), (x - 2.6 * c.u, c.h)]
        c.poly(furrow, clear(darker(crop, 0.4), 0.3))
    for i, x in enumerate(c.spread(f.sheep, 0.08, 0.92, 0.2)):
        sheep = c.at(x, field + (9 + 12 * (i % 2)) * c.u, min(11 * c.u, 0.6 * c.w / f.sheep))
        sheep.shadow(0, 0, 0.48)
        sheep.thing("sheep")


def balloons(c: SceneCanvas, f: Balloons) -> None:
    """Draw hot-air balloons over a wide valley."""
    c.light, count = LIGHTS[f.daytime], len(f.balloons)
    noon = f.daytime == "day"
    c.sky(0.86 * c.h, sun=(0.8, 0.16 if noon else 0.62), clouds=3 if noon else 0, depth=0.5 * c.h)
    for i, share in enumerate((0.6, 0.35, 0.0)):
        top, bottom = c.hazy((116, 172, 92), share), mix(darker(c.on((116, 172, 92))), c.light.horizon, share)
        c.hills((0.74 + 0.08 * i) * c.h, (11 - 2 * i) * c.u, top, bottom, 0.8 + 0.3 * i)
    if f.river:
        bends = [(0.55 + 0.09 * math.sin(0.8 * i) * (1 - 0.05 * i), 0.88 + 0.012 * i) for i in range(11)]
        _ribbon(c, [(x * c.w, y * c.h) for x, y in bends], 0.4, 0.8, c.hazy((92, 166, 206), 0.35))
    size = min(26 * c.u, 0.86 * c.w / count)
    heights = c.rng.sample([0.24 + 0.3 * i / max(1, count - 1) for i in range(count)], count)
    for i, x in enumerate(c.spread(count, 0.04, 0.96, 0.05)):
        balloon, paint = c.at(x, heights[i] * c.h, size * c.rng.uniform(0.8, 1.0)), c.on(PAINT[f.balloons[i]])
        pale = lighter(paint, 0.75 if f.striped else 0.12)
        for half, colour in ((0.5, paint), (0.31, pale), (0.14, paint))[: 3 if f.striped else 2]:
            balloon.disc(0, 0, half, colour, ry=0.5)
            balloon.poly([(-0.94 * half, 0.17), (0.94 * half, 0.17), (0.16 * half, 0.74), (-0.16 * half, 0.74)], colour)
        balloon.arc(0, 0, 0.5, -60, 40, clear((30, 20, 60), 0.18), 0.14)
        balloon.disc(-0.2, -0.24, 0.1, clear(WHITE, 0.35), ry=0.15)
        balloon.thing("balloon's basket")


def sunflowers(c: SceneCanvas, f: Sunflowers) -> None:
    """Draw large sunflowers before a farmhouse in the fields."""
    c.light, field = OVERCAST if f.cloudy else LIGHTS["day"], 0.62 * c.h
    c.sky(field, sun=None if f.cloudy else (0.14, 0.18), clouds=6 if f.cloudy else 2, depth=0.5 * c.h)
    c.hills(field - 3 * c.u, 8 * c.u, c.hazy(LEAF, 0.5), c.on(LEAF), 1.0)
    c.at(0.6 * c.w, field + 4 * c.u, 30 * c.u).house(17 / 30, PAINT[f.farmhouse])
    c.at(0.6 * c.w + 40 * c.u, field + 4 * c.u, 24 * c.u).thing("round tree", leaf=c.on((70, 128, 78)))
    c.hills(field + 4 * c.u, 2 * c.u, c.on((226, 190, 74)), c.on((92, 138, 66)), 0.9)
    for i in range(40):
        y, r = field + 6 * c.u + 0.1 * i * c.u, (0.7 + 0.025 * i) * c.u
        c.disc(c.rng.uniform(0, c.w), y, r, c.on((246, 196, 52)))
    if f.scarecrow:
        c.at(0.3 * c.w, field + 12 * c.u, c.u).thing("scarecrow")
    size = min(13 * c.u, 0.42 * c.w / f.flowers)
    for i, x in enumerate(c.spread(f.flowers, 0.02, 0.98, 0.1)):
        lift, stem = (26 + 8 * (i % 2)) * c.u, c.on((74, 132, 66))
        flower = c.at(x, c.h - lift, size)
        flower.stroke([(0, 0), (0.15, (lift + 5) / size)], stem, 0.2)
        for side, drop in ((-1, 1.7), (1, 2.3)):
            leaf = [(0, drop), (0.6 * side, drop - 0.5), (1.2 * side, drop - 0.2), (0.6 * side, drop + 0.1)]
            flower.poly(leaf, lighter(stem, 0.1))
        for ring, colour, offset in ((1.0, (236, 170, 40), 0.0), (0.86, (252, 206, 60), 0.2)):
            for a in (offset + 2 * math.pi * i / 14 for i in range(14)):
                x, y = math.cos(a), math.sin(a)
                left, right = (0.3 * x - 0.2 * y, 0.3 * y + 0.2 * x), (0.3 * x + 0.2 * y, 0.3 * y - 0.2 * x)
                flower.poly([left, (ring * x, ring * y), right], c.on(colour))
        flower.disc(0, 0, 0.46, c.on((112, 70, 40)))
        flower.disc(0, 0, 0.3, c.on((84, 50, 32)))
