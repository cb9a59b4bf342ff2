"""Scenes on and under water."""

import math

from vcrgen.samples.draw import RGB, WHITE, clear, darker, lighter, mix, numbers
from vcrgen.samples.facts import Aquarium, Beach, Harbour, MountainLake, Regatta, WaterTown
from vcrgen.samples.scenery import AUTUMN, LIGHTS, OVERCAST, PAINT, SAND, STONE, WINDOW_LIGHT, WOOD, SceneCanvas


def harbour(c: SceneCanvas, f: Harbour) -> None:
    """Draw a harbour: lighthouse on its rock, boats in front."""
    c.light, sea = LIGHTS[f.daytime], 0.56 * c.h
    c.sky(sea, sun=(0.26, 0.2), clouds=3 if f.daytime == "day" else 0, depth=0.4 * c.h)
    for x in c.spread(f.gulls, 0.08, 0.62):
        gull = c.at(x, c.rng.uniform(0.22, 0.4) * c.h, 7 * c.u)
        gull.stroke("-.5,-.1 -.22,-.24 0,0 .22,-.24 .5,-.1", c.on(WHITE), 0.08)
    c.hills(sea - 3 * c.u, 9 * c.u, c.hazy((96, 132, 122), 0.45), c.hazy((96, 132, 122), 0.3))
    c.water(sea, c.h, mirror=0.25)
    if f.daytime != "day":
        c.glitter(0.26 * c.w, sea, c.h, 4 * c.u)
    light, stripe, rock = c.at(0.82 * c.w, sea + 4 * c.u, 44 * c.u), c.on(PAINT[f.stripe]), c.on((112, 108, 112))
    light.poly("-.6,0 -.34,-.13 .1,-.19 .4,-.1 .62,0", rock)
    light.poly(".1,-.19 .4,-.1 .62,0 .14,0", darker(rock))
    if c.light.dark:
        light.poly([(0, -0.9), (-0.82 * light.w, -1.14), (-0.82 * light.w, -0.74)], clear(WINDOW_LIGHT, 0.28))
    tower = light.at(0, -0.14, 1)
    for i in range(5):
        lower, upper, half, less = -0.7 * i / 5, -0.7 * (i + 1) / 5, 0.115 - 0.011 * i, 0.115 - 0.011 * (i + 1)
        colour = c.on(PAINT["white"]) if i % 2 else stripe
        tower.poly([(-half, lower), (half, lower), (less, upper), (-less, upper)], colour)
        tower.poly([(0.4 * half, lower), (half, lower), (less, upper), (0.4 * less, upper)], darker(colour))
    light.rect(-0.085, -0.855, 0.17, 0.03, c.on((70, 66, 72)))
    light.rect(-0.05, -0.95, 0.1, 0.1, c.glass((176, 208, 222)))
    light.pie(0, -0.945, 0.07, 180, 360, stripe)
    if c.light.dark:
        light.glow(0, -0.9, 0.28, WINDOW_LIGHT, 0.8)
    for i, x in enumerate(c.spread(len(f.boats), 0.06, 0.94, 0.12)):
        base = sea + (0.36 + 0.34 * (i % 2) + c.rng.uniform(0, 0.12)) * (c.h - sea)
        boat = c.at(x, base, min(26 * c.u, 0.8 * c.w / len(f.boats)))
        boat.shadow(0, 0.01, 0.52, 0.3)
        boat.thing("fishing boat", paint=c.on(PAINT[f.boats[i]]))


def mountain_lake(c: SceneCanvas, f: MountainLake) -> None:
    """Draw a lake that mirrors its mountains and trees."""
    c.light, shore = LIGHTS[f.daytime], 0.58 * c.h
    c.sky(shore, sun=(0.14, 0.16), clouds=2 if f.daytime == "day" else 0, depth=0.3 * c.h)
    c.hills(shore - 8 * c.u, 8 * c.u, c.hazy((128, 152, 176), 0.55), c.hazy((128, 152, 176), 0.55))
    width = 1.5 * c.w / f.peaks
    for i, x in enumerate(c.spread(f.peaks, 0.02, 0.98, 0.1)):
        height = min((0.4 + 0.1 * ((i + f.peaks) % 2) + c.rng.uniform(-0.02, 0.02)) * c.h, 0.9 * width)
        c.at(x, shore, width, height).thing("mountain", rock=c.hazy((112, 120, 142), 0.1 * (i % 2)))
    c.rect(0, shore - 2.5 * c.u, c.w, 3 * c.u, darker(c.on((70, 116, 88)), 0.1))
    for i, x in enumerate(c.spread(17, -0.02, 1.02, 0.4)):
        if f.autumn and i % 4:
            c.at(x, shore, c.rng.uniform(10, 17) * c.u).thing("round tree", leaf=c.on(AUTUMN[i % 3]))
        else:
            c.at(x, shore, c.rng.uniform(11, 20) * c.u).fir(c.on((52, 104, 82)))
    c.water(shore, c.h, (60, 132, 166), mirror=0.6)
    if f.canoe:
        canoe = c.at(0.58 * c.w, shore + 0.52 * (c.h - shore), 30 * c.u)
        canoe.shadow(0, 0, 0.5, 0.28)
        canoe.thing("canoe", hull=c.on(PAINT[f.canoe]))


def regatta(c: SceneCanvas, f: Regatta) -> None:
    """Draw yachts racing before a coast; the nearer, the larger."""
    c.light, sea, count = OVERCAST if f.cloudy else LIGHTS["day"], 0.44 * c.h, len(f.sails)
    c.sky(sea, sun=None if f.cloudy else (0.86, 0.14), clouds=6 if f.cloudy else 2, depth=0.5 * sea)
    c.hills(sea - 2 * c.u, 7 * c.u, c.hazy((104, 146, 122), 0.5), c.hazy((104, 146, 122), 0.35))
    c.water(sea, c.h, (38, 118, 170))
    rows = c.rng.sample(range(count), count)
    for row, x in sorted(zip(rows, c.spread(count, 0.03, 0.97, 0.08), strict=True)):
        depth = row / (count - 1)
        length = min((15 + 13 * depth) * c.u, 1.1 * c.w / count)
        _yacht(c.at(x, sea + (0.14 + 0.5 * depth) * (c.h - sea), length), PAINT[f.sails[row]])
    buoy = c.at(0.12 * c.w, c.h - 8 * c.u, c.u)
    buoy.shadow(0, 0, 4)
    buoy.poly("-3.6,0 3.6,0 1.2,-9 -1.2,-9", c.on(PAINT[f.buoy]))
    buoy.disc(0, -10, 1.4, c.on(WHITE))


def _yacht(c: SceneCanvas, sail: RGB) -> None:
    c.rect(-0.7, -0.01, 1.35, 0.05, clear(WHITE, 0.5), corner=c.u)
    c.thing("mainsail", sail=c.on(sail))
    c.at(0.02, -1.5, 1).poly(".03,.22 .48,1.3 .03,1.26", lighter(c.on(sail), 0.35))
    c.poly("-.5,-.17 .58,-.17 .4,.01 -.42,.01", c.on((52, 62, 92)))
    c.rect(-0.5, -0.18, 1.06, 0.04, c.on(WHITE))


def beach(c: SceneCanvas, f: Beach) -> None:
    """Draw a beach with the sea behind it."""
    c.light, sea, shore = LIGHTS[f.daytime], 0.36 * c.h, 0.56 * c.h
    c.sky(sea, sun=(0.78, 0.2), clouds=2 if f.daytime == "day" else 0, depth=0.26 * c.h)
    c.water(sea, shore + 4 * c.u, (48, 158, 186))
    if f.daytime == "dusk":
        c.glitter(0.78 * c.w, sea, shore, 5 * c.u)
    if f.sail:
        _yacht(c.at(0.4 * c.w, sea + 5 * c.u, 8 * c.u), PAINT["white"])
    c.hills(shore, 4 * c.u, c.on(WHITE), c.on(WHITE), waves=0.8)
    c.wash(shore + 3 * c.u, c.h, c.on(SAND), c.on(darker(SAND, 0.12)))
    if f.palm:
        palm = c.at(0.1 * c.w, shore + 14 * c.u, 46 * c.u)
        palm.shadow(0, 0, 9 * palm.u)
        palm.stroke([(0.2 * (i / 8) ** 2, -i / 8) for i in range(9)], c.on(darker(WOOD, 0.1)), 0.06)
        crown = palm.at(0.2, -1, 1)
        for angle in (200, 165, 235, -60, 15, -20):
            x, y = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            leaf = [(0, 0), (0.26 * x, 0.34 * y - 0.06), (0.46 * x, 0.3 * y + 0.14), (0.26 * x, 0.34 * y + 0.03)]
            crown.poly(leaf, c.on((62, 138, 84) if angle % 2 else (48, 116, 74)))
    size = min(26 * c.u, 0.74 * c.w / len(f.umbrellas))
    for i, x in enumerate(c.spread(len(f.umbrellas), 0.2 if f.palm else 0.03, 0.97, 0.08)):
        shade = c.at(x, shore + (16 + 13 * (i % 2)) * c.u + 0.06 * c.h, size)
        paint, pale = c.on(PAINT[f.umbrellas[i]]), c.on(lighter(PAINT[f.umbrellas[i]], 0.75))
        shade.shadow(0.12, 0, 0.5)
        shade.thing("umbrella", paint=paint, pale=pale)
    if f.ball:
        ball = c.at(0.5 * c.w, c.h - 7 * c.u, 4.4 * c.u)
        ball.shadow(0.4, 0.9, 1.1)
        ball.thing("beach ball")


def aquarium(c: SceneCanvas, f: Aquarium) -> None:
    """Draw the view through the glass of a tank."""
    c.wash(0, c.h, (60, 176, 206), (30, 118, 174), (18, 66, 126))
    for x in c.spread(4, 0.05, 0.95):
        c.poly([(x, 0), (x + 9 * c.u, 0), (x - 12 * c.u, c.h), (x - 34 * c.u, c.h)], (255, 255, 255, 18))
    c.hills(c.h - 12 * c.u, 6 * c.u, (226, 200, 150), (188, 154, 112))
    for x in c.spread(5, 0, 1):
        weed = c.at(x, c.h - 6 * c.u, c.rng.uniform(20, 42) * c.u)
        colour = mix((40, 130, 96), (96, 172, 92), c.rng.random())
        for lean, rise in ((-0.12, 0.88), (0.04, 0.96), (0.18, 0.82)):
            blade = [(lean * i / 8 + 0.05 * math.sin(i * 0.9 + lean * 20), -rise * i / 8) for i in range(9)]
            weed.stroke(blade, colour, 0.055)
    for x in (0.2 * c.w, 0.78 * c.w):
        coral = c.at(x, c.h - 5 * c.u, c.rng.uniform(13, 17) * c.u)
        colour = c.rng.choice(((232, 110, 116), (240, 150, 110), (196, 120, 190)))
        for angle, length in ((-140, 0.7), (-115, 0.95), (-90, 1.05), (-62, 0.9), (-38, 0.7)):
            tip = (length * math.cos(math.radians(angle)), length * math.sin(math.radians(angle)))
            coral.stroke([(0, 0), tip], colour, 0.15)
            coral.disc(*tip, 0.11, lighter(colour))
    for x in c.spread(f.jellyfish, 0.1, 0.9):
        jelly = c.at(x, c.rng.uniform(0.13, 0.2) * c.h, 8 * c.u)
        for left in (-0.6, -0.2, 0.2, 0.6):
            arm = [(left + 0.14 * math.sin(i * 1.3 + left * 5), 0.3 * i) for i in range(7)]
            jelly.stroke(arm, (250, 214, 236, 150), 0.09)
        jelly.pie(0, 0, 1, 180, 360, (250, 206, 232, 220), ry=1.1)
        jelly.pie(0, 0, 0.62, 180, 360, (255, 236, 246, 220), ry=0.75)
    if f.turtle:
        c.at(0.66 * c.w, 0.2 * c.h, 24 * c.u).thing("turtle")
    for i, x in enumerate(c.spread(f.big_count, 0.08, 0.96, 0.15)):
        fish = c.at(x, (0.47 + 0.03 * (i % 2)) * c.h, min(22 * c.u, 0.8 * c.w / f.big_count))
        fish.thing("fish", colour=PAINT[f.big])
    for i, x in enumerate(c.spread(f.small_count, 0.05, 0.95, 0.15)):
        fish = c.at(x, (0.65 + 0.07 * (i % 2)) * c.h, min(9 * c.u, 0.8 * c.w / f.small_count))
        fish.thing("fish", colour=PAINT[f.small])
    for x in c.spread(14, 0, 1, 0.5):
        bubble = c.at(x, c.rng.uniform(0.05, 0.85) * c.h, c.rng.uniform(0.6, 1.5) * c.u)
        bubble.disc(0, 0, 1, (255, 255, 255, 70))
        bubble.disc(-0.3, -0.3, 0.35, (255, 255, 255, 200))


def water_town(c: SceneCanvas, f: WaterTown) -> None:
    """Draw a canal between white houses with dark roofs, a bridge across, lanterns on a rope in front."""
    c.light, canal, width = LIGHTS["night"], 0.6 * c.h, 0.27 * c.w
    c.sky(canal, sun=(0.5, 0.15), phase=f.phase)
    stone = c.on(STONE)
    for side, step in ((-1, 0), (-1, 1), (1, 0), (1, 1)):
        place = 0.5 * c.w + side * (0.41 - 0.13 * step) * c.w - width / 2
        house = c.at(place, canal, width, (0.4 - 0.1 * step) * c.h)
        house.rect(0, -1, 1, 1, c.on((236, 232, 222)))
        house.rect(0, -0.12, 1, 0.12, stone)
        roof = house.at(0, -1, 1)
        roof.poly("-.12,0 -.15,-.05 .12,-.22 .88,-.22 1.15,-.05 1.12,0", c.on((58, 58, 70)))
        for x, y in numbers(".12,.14 .42,.14 .72,.14 .12,.54 .42,.54 .72,.54"):
            pane, lit = house.at(0, -1, 1, 1).at(0, y, 1, 1), c.rng.random() < 0.65
            pane.rect(x, 0, 0.17, 0.2, c.on(darker(WOOD, 0.3)))
            pane.rect(x + 0.02, 0.02, 0.13, 0.16, WINDOW_LIGHT if lit else c.on((80, 90, 120)))
            pane.rect(x + 0.075, 0, 0.02, 0.2, c.on(darker(WOOD, 0.3)))
    bridge = c.at(0.5 * c.w, canal, 0.46 * c.w)
    deck = [(i / 16 - 0.5, -0.3 * math.sin(math.pi * i / 16)) for i in range(17)]
    bridge.poly(deck, stone)
    bridge.stroke([(x, y - 0.03) for x, y in deck], lighter(stone, 0.3), 0.035)
    for x, y in deck[1:-1:2]:
        bridge.rect(x - 0.008, y - 0.07, 0.016, 0.07, lighter(stone, 0.2))
    for x, r in ((0.0, 0.19),) if f.arches == 1 else ((-0.22, 0.08), (0.0, 0.13), (0.22, 0.08)):
        bridge.pie(x, 0, r, 180, 360, darker(c.light.horizon, 0.15), ry=1.05 * r)
    c.water(canal, c.h, (44, 84, 120), mirror=0.55)
    if f.boat:
        boat = c.at(0.44 * c.w, canal + 0.62 * (c.h - canal), 34 * c.u)
        boat.shadow(0, 0, 0.5, 0.35)
        boat.thing("small boat")
    rope = c.at(0, 0.2 * c.h, c.w, 0.16 * c.h)
    rope.stroke([(i / 12, math.sin(math.pi * i / 12)) for i in range(13)], (54, 40, 44), 0.45 * rope.u)
    size = min(6 * c.u, 0.3 * c.w / f.lanterns)
    for x in c.spread(f.lanterns, 0.03, 0.97, 0.0):
        lamp = c.at(x, 0.2 * c.h + 0.16 * c.h * math.sin(math.pi * x / c.w) + 1.5 * size, size)
        lamp.glow(0, 0, 3.2, (255, 120, 70), 0.6)
        lamp.thing("lantern")
