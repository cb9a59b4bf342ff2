"""Scenes in the streets of a town."""

import math

from vcrgen.samples.draw import RGB, clear, darker, lighter, mix
from vcrgen.samples.facts import Basket, Bicycle, CityNight, ClockTower, Market
from vcrgen.samples.scenery import LEAF, LIGHTS, PAINT, STONE, WINDOW_LIGHT, WOOD, SceneCanvas


def city_night(c: SceneCanvas, f: CityNight) -> None:
    """Draw a street between lit towers with a taxi passing street lamps."""
    c.light, street = LIGHTS["night"], 0.8 * c.h
    c.sky(street, sun=(0.5, 0.15), phase=f.phase, clouds=5 if f.raining else 0, depth=0.34 * c.h)
    for row, tone in ((0, (58, 70, 118)), (1, (38, 44, 86))):
        width = (0.2 - 0.03 * row) * c.w
        for i, x in enumerate(c.spread(6, -0.04, 1.04, 0.15)):
            # The street opens in the middle, so that the moon stays in view.
            edge = abs(2 * (i + 0.5) / 6 - 1)
            height = (0.24 + 0.36 * edge * (1 - 0.25 * row) + c.rng.uniform(-0.03, 0.05)) * c.h
            _tower(c.at(x, street, width), height / width, mix(tone, (84, 70, 110), c.rng.random() * 0.5))
    c.rect(0, street - 3 * c.u, c.w, 4 * c.u, (84, 84, 110))
    c.wash(street, c.h, (52, 52, 80), (34, 34, 58))
    for i in range(9):
        c.rect((i + 0.1) * c.w / 8 - 4 * c.u, street + 0.62 * (c.h - street), 0.05 * c.w, 0.9 * c.u, (226, 214, 160))
    for x in c.spread(f.lamps, 0, 1, 0.0):
        if f.raining:
            streak = [(x - 1.6 * c.u, street), (x + 1.6 * c.u, street), (x + 2.6 * c.u, c.h), (x - 2.6 * c.u, c.h)]
            c.poly(streak, clear(WINDOW_LIGHT, 0.2))
        lamp = c.at(x, street, 34 * c.u)
        lamp.glow(0, -1, 0.5, WINDOW_LIGHT, 0.7)
        lamp.thing("street lamp")
    taxi = c.at(0.44 * c.w, street + 0.5 * (c.h - street), 34 * c.u)
    taxi.shadow(0, 0, 0.52, 0.4)
    taxi.thing("taxi", paint=PAINT[f.taxi])
    if f.raining:
        c.rain()


def _tower(c: SceneCanvas, tall: float, wall: RGB) -> None:
    c.shaded([(-0.5, 0), (-0.5, -tall), (0.5, -tall), (0.5, 0)], wall, darker(wall, 0.3))
    c.rect(0.34, -tall, 0.16, tall, clear((10, 12, 40), 0.25))
    pitch = 4.6 * c.u
    for row in range(int(tall / pitch)):
        for column in range(4):
            if c.rng.random() < 0.55:
                glass = c.rng.choice((WINDOW_LIGHT, WINDOW_LIGHT, (255, 236, 180), (150, 190, 226)))
                c.rect(-0.42 + column * 0.2, (row + 0.35) * pitch - tall, 0.12, 0.5 * pitch, glass)


def market(c: SceneCanvas, f: Market) -> None:
    """Draw a market stall face on."""
    c.wash(0, c.h, (246, 226, 196), (236, 206, 168))
    for i in range(7):
        for j in range(12):
            if c.rng.random() < 0.35:
                x, y = (j + 0.5 * (i % 2)) * c.w / 11, i * 0.13 * c.h
                c.rect(x, y, c.w / 13, 0.05 * c.h, (228, 198, 160, 120), corner=c.u)
    c.wash(0.86 * c.h, c.h, (196, 178, 166), (168, 150, 142))
    left, right, top = 0.07 * c.w, 0.93 * c.w, 0.12 * c.h
    for x in (left, right):
        c.rect(x - c.u, top, 2 * c.u, 0.8 * c.h, WOOD)
    c.rect(left, top, right - left, 0.5 * c.h, clear((96, 62, 60), 0.4))
    for i, x in enumerate(c.spread(f.bulbs, 0.07, 0.93, 0.0)):
        y = 0.36 * c.h + (i % 2) * 1.5 * c.u
        c.stroke([(x, top), (x, y)], (60, 44, 44), 0.4 * c.u)
        c.glow(x, y, 11 * c.u, WINDOW_LIGHT, 0.8)
        c.disc(x, y, 1.9 * c.u, (255, 244, 200))
    c.at(0.24 * c.w, 0.68 * c.h, min(44 * c.u, 0.46 * c.h)).figure((92, 130, 160), (60, 60, 80))
    if f.scales:
        c.at(0.6 * c.w, 0.56 * c.h, 17 * c.u).thing("scales")
    counter, pitch = 0.56 * c.h, (right - left) / len(f.crates)
    c.rect(left - 2 * c.u, counter, right - left + 4 * c.u, 0.34 * c.h, darker(WOOD, 0.1))
    for i, kind in enumerate(f.crates):
        crate = c.at(left + (i + 0.5) * pitch, counter + 0.09 * c.h, 0.9 * pitch, 0.2 * c.h)
        across = 4 if kind != "watermelon" else 2
        heap = crate.at(0, 0, 0.46 / across)
        for row in (1, 0):
            for j in range(across - row):
                heap.at(2 * j - across + 1 + row, 0.3 - row * 1.45, 1).fruit(kind)
        crate.rect(-0.5, 0.2, 1, 0.78, (206, 160, 106))
        for j in range(3):
            crate.rect(-0.5, 0.2 + 0.27 * j, 1, 0.19, (224, 182, 128))
        crate.rects("-.5,.16,.08,.84 .42,.16,.08,.84", (186, 138, 88))
    _awning(c, left - 4 * c.u, top - 3 * c.u, right - left + 8 * c.u, 0.19 * c.h, PAINT[f.awning])


def _awning(c: SceneCanvas, x: float, y: float, w: float, h: float, paint: RGB) -> None:
    pitch, inset = w / 11, 0.05 * w
    step = (w - 2 * inset) / 11
    for i in range(11):
        colour = PAINT["white"] if i % 2 else paint
        near, far = x + i * pitch, x + inset + i * (w - 2 * inset) / 11
        c.poly([(far, y), (far + step, y), (near + pitch, y + 0.72 * h), (near, y + 0.72 * h)], colour)
        c.rect(near, y + 0.72 * h, pitch, 0.14 * h, darker(colour, 0.12))
        c.pie(near + pitch / 2, y + 0.85 * h, pitch / 2, 0, 180, darker(colour, 0.12), ry=0.16 * h)
    c.rect(x + 0.02 * w, y + 1.02 * h, 0.96 * w, 0.1 * h, (30, 20, 40, 40))


def clock_tower(c: SceneCanvas, f: ClockTower) -> None:
    """Draw a square with a clock tower whose hands show the time."""
    c.light, ground = LIGHTS[f.daytime], 0.84 * c.h
    c.sky(ground, sun=(0.16, 0.2), clouds=3 if f.daytime in ("day", "dawn") else 0, depth=0.45 * c.h)
    for i, x in enumerate(c.spread(7, -0.03, 1.03, 0.05)):
        house, tall = c.at(x, ground, 0.155 * c.w), c.rng.uniform(0.22, 0.36) * c.h / (0.155 * c.w)
        wall = c.on(((232, 196, 160), (216, 176, 150), (236, 214, 178), (198, 186, 190))[i % 4])
        house.rect(-0.5, -tall, 1, tall, wall)
        house.poly([(-0.56, -tall), (0, -tall - 0.42), (0.56, -tall)], c.on((146, 92, 82)))
        for left, row in ((-0.3, 0), (0.1, 0), (-0.3, 1), (0.1, 1)):
            pane, lit = house.at(left, -tall + (0.12 + 0.4 * row) * tall, 0.2), c.light.dark and c.rng.random() < 0.6
            pane.window(tall, lit=lit, frame=lighter(wall), glass=c.on((120, 152, 178)))
    c.wash(ground, c.h, c.on((200, 188, 174)), c.on((164, 152, 146)))
    for x in (0.17, 0.83):
        c.at(x * c.w, ground + 2 * c.u, 24 * c.u).thing("round tree", leaf=c.on(LEAF))
    width = min(0.24 * c.h, 0.34 * c.w)
    _clock_tower(c.at(0.5 * c.w, ground + 2 * c.u, width), 0.76 * c.h / width, f)
    for i, x in enumerate(c.spread(f.pigeons, 0.06, 0.94, 0.25)):
        pigeon = c.at(x, c.h - (4 + 4 * (i % 2)) * c.u, 6 * c.u)
        pigeon.shadow(0, 0, 0.4)
        pigeon.thing("pigeon")


def _clock_tower(c: SceneCanvas, spire: float, f: ClockTower) -> None:
    """Draw a tower 1 wide whose roof ends `spire` above the ground."""
    stone, roof, tall = c.on((222, 202, 172)), c.on(darker(PAINT[f.roof], 0.1)), 0.78 * spire
    c.rect(-0.5, -tall, 1, tall, stone)
    c.rect(0.28, -tall, 0.22, tall, darker(stone, 0.12))
    for share in (0.0, 0.45, 0.96):
        c.rect(-0.56, (share - 1) * tall, 1.12, 0.06, lighter(stone, 0.3))
    c.poly([(0, -spire), (0.6, -tall), (-0.6, -tall)], roof)
    c.poly([(0, -spire), (0.6, -tall), (0.2, -tall)], darker(roof))
    c.disc(0, -spire, 0.04, c.on((226, 186, 88)))
    c.rect(-0.13, -0.4, 0.26, 0.4, c.on(darker(WOOD, 0.3)), corner=0.12)
    for x in (-0.24, 0.08):
        c.rect(x, -0.36 * tall, 0.16, 0.28, WINDOW_LIGHT if c.light.dark else darker(stone, 0.55), corner=0.07)
    _dial(c.at(0, -0.775 * tall + 0.03, 0.41), f.hour % 12 + f.minute / 60, lit=c.light.dark)


def _dial(c: SceneCanvas, hours: float, *, lit: bool) -> None:
    """Draw a dial of radius 1 around (0, 0)."""
    black = (38, 36, 48)
    if lit:
        c.glow(0, 0, 1.9, WINDOW_LIGHT, 0.6)
    c.disc(0, 0, 1.1, (150, 116, 62))
    c.disc(0, 0, 1, (255, 242, 204) if lit else (252, 250, 242))
    marks = [(i / 12, 0.82 if i % 3 else 0.74, 0.93, 0.05 if i % 3 else 0.08) for i in range(12)]
    for turn, start, end, width in (*marks, (hours / 12, -0.08, 0.5, 0.12), (hours % 1, -0.1, 0.8, 0.075)):
        a = 2 * math.pi * turn - math.pi / 2
        c.stroke([(start * math.cos(a), start * math.sin(a)), (end * math.cos(a), end * math.sin(a))], black, width)
    c.disc(0, 0, 0.08, black)


def bicycle(c: SceneCanvas, f: Bicycle) -> None:
    """Draw a bicycle before a painted wall with a door."""
    wall, street = mix(PAINT[f.wall], (255, 250, 240), 0.3), 0.83 * c.h
    c.wash(0, street, lighter(wall, 0.1), darker(wall, 0.06))
    for _ in range(26):
        x, y = c.rng.uniform(0, c.w), c.rng.uniform(0.03, 0.66) * c.h
        c.rect(x, y, 8 * c.u, 3 * c.u, clear(darker(wall, 0.2), 0.3), corner=0.5 * c.u)
    c.rect(0, street - 0.1 * c.h, c.w, 0.1 * c.h, darker(wall, 0.22))
    c.wash(street, c.h, (188, 176, 168), (160, 148, 144))
    depth = c.h - street
    for i in range(12):
        for row in range(3):
            x, y = (i + 0.5 * (row % 2)) * c.w / 11 - 3 * c.u, street + (0.1 + 0.3 * row) * depth
            c.rect(x, y, c.w / 12.5, 0.22 * depth, (255, 255, 255, 34), corner=c.u)
    _door(c.at(0.84 * c.w, street, 0.24 * c.w, 0.66 * c.h), 0.66 * c.h / (0.24 * c.w), PAINT[f.door])
    x = 0.16 * c.w
    c.rect(x - 0.025 * c.w, 0.16 * c.h, 0.27 * c.w, 0.3 * c.h, darker(WOOD, 0.1), corner=c.u)
    pane, tall = c.at(x, 0.19 * c.h, 0.22 * c.w), 0.24 * c.h / (0.22 * c.w)
    pane.window(tall, lit=False, frame=(250, 246, 238), glass=(136, 182, 206))
    c.rect(x - 0.03 * c.w, 0.46 * c.h, 0.28 * c.w, 0.035 * c.h, STONE)
    _cycle(c.at(0.4 * c.w, street + 0.06 * c.h, min(17 * c.u, 0.16 * c.w)), PAINT[f.frame], f.basket)


def _door(c: SceneCanvas, tall: float, paint: RGB) -> None:
    """Draw a door 1 wide and 1 high in its frame; `tall` is its height over its width."""
    c.rect(-0.58, -1.05, 1.16, 1.05, (244, 238, 226), corner=1.5 * c.u)
    c.rect(-0.5, -1, 1, 1, paint)
    for x in (-0.38, 0.06):
        for top, high in ((0.92, 0.34), (0.5, 0.42)):
            c.rect(x, -top, 0.32, high, darker(paint, 0.16), corner=0.5 * c.u)
            c.at(0, -top, 1).rect(x + 0.025, 0.02, 0.29, high * tall - 0.03, lighter(paint, 0.08))
    c.disc(0.42, -0.5, 0.035, (232, 196, 96))
    step = c.at(0, 0, 1)
    step.rect(-0.7, -1.5 * c.u, 1.4, 4 * c.u, STONE, corner=0.6 * c.u)


def _cycle(c: SceneCanvas, paint: RGB, load: Basket) -> None:
    """Draw a bicycle whose wheels have a radius of 1."""
    steel = (70, 70, 82)
    c.shadow(0, 0.5 * c.u, 2.3, 0.28)
    rear, front, hub, saddle, head = (-1.25, -1.0), (1.3, -1.0), (-0.1, -0.95), (-0.48, -2.2), (0.95, -2.15)
    for wheel in (c.at(*rear, 1), c.at(*front, 1)):
        for i in range(8):
            x, y = math.cos(math.pi * i / 8 + 0.2), math.sin(math.pi * i / 8 + 0.2)
            wheel.stroke([(-x, -y), (x, y)], (200, 200, 206, 170), 0.03)
        wheel.arc(0, 0, 1, 0, 360, (48, 46, 54), 0.12)
        wheel.arc(0, 0, 0.88, 0, 360, (206, 204, 204), 0.05)
        wheel.disc(0, 0, 0.1, steel)
    for start, end in ((rear, hub), (rear, saddle), (hub, saddle), (saddle, head), (hub, head), (head, front)):
        c.stroke([start, end], darker(paint, 0.06), 0.15)
    seat, bar, crank = c.at(*saddle, 1), c.at(*head, 1), c.at(*hub, 1)
    seat.stroke("0,0 -.08,-.35", steel, 0.1)
    seat.rect(-0.42, -0.48, 0.72, 0.17, (92, 58, 42), corner=0.08)
    bar.stroke("0,0 -.1,-.42 -.5,-.5", steel, 0.1)
    crank.disc(0, 0, 0.26, steel)
    crank.disc(0, 0, 0.15, (196, 196, 202))
    crank.stroke("-.32,.3 .32,-.3", (40, 40, 48), 0.08)
    _basket(bar.at(0.5, 0.1, 1), load)


def _basket(c: SceneCanvas, load: Basket) -> None:
    for i in range(9 if load == "flowers" else 0):
        x, y = -0.55 + 0.137 * i, -0.5 - 0.22 * math.sin(i * 2.4)
        c.stroke([(0, 0), (x, y)], LEAF, 0.06)
        c.disc(x, y, 0.17, PAINT[("pink", "yellow", "red", "purple")[i % 4]])
        c.disc(x, y, 0.06, (255, 240, 180))
    for x, tip in ((-0.22, -0.4), (0.05, 0.1), (0.3, 0.52)) if load == "bread" else ():
        c.stroke([(x, 0), (tip, -0.85)], (206, 142, 74), 0.2)
        c.stroke([(x - 0.03, -0.1), (tip - 0.03, -0.8)], (232, 180, 112), 0.06)
    c.poly("-.58,-.35 .58,-.35 .44,.3 -.44,.3", (182, 128, 78))
    for i in range(3):
        c.rect(-0.55 + 0.04 * i, -0.3 + 0.2 * i, 1.1 - 0.08 * i, 0.07, (214, 164, 110))
