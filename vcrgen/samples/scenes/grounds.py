"""Scenes at an airport and in a stadium."""

import math

from vcrgen.samples.draw import RGB, WHITE, Point, Points, clear, colours, lighter, mix, outline
from vcrgen.samples.facts import Airport, Football
from vcrgen.samples.scenery import LIGHTS, PAINT, SceneCanvas


def airport(c: SceneCanvas, f: Airport) -> None:
    """Draw airliners on the apron before the control tower."""
    c.light, ground = LIGHTS[f.daytime], 0.62 * c.h
    c.sky(ground, sun=(0.12, 0.18), clouds=3 if f.daytime == "day" else 0, depth=0.5 * c.h)
    c.hills(ground - 2 * c.u, 6 * c.u, c.hazy((110, 150, 130), 0.5), c.on((110, 150, 110)))
    hall = c.on((176, 188, 202))
    c.rect(0, ground - 13 * c.u, 0.62 * c.w, 14 * c.u, hall)
    c.rect(0, ground - 15 * c.u, 0.64 * c.w, 2.4 * c.u, lighter(hall, 0.3))
    for i in range(12):
        c.rect((0.02 + 0.05 * i) * c.w, ground - 10.5 * c.u, 0.038 * c.w, 6 * c.u, c.glass((116, 164, 196)))
    c.at(0.8 * c.w, ground + c.u, 42 * c.u).thing("control tower")
    c.wash(ground, c.h, c.on((134, 138, 148)), c.on((104, 108, 120)))
    lane = [(0, c.h - 5 * c.u), (c.w, c.h - 5 * c.u), (c.w, c.h - 3.6 * c.u), (0, c.h - 3.6 * c.u)]
    c.poly(lane, c.on((242, 206, 92)))
    if f.takeoff:
        _airliner(c.at(0.46 * c.w, 0.2 * c.h, 24 * c.u), PAINT["blue"], climb=True)
    length = min(56 * c.u, 0.94 * c.w / len(f.tails))
    for i, x in enumerate(c.spread(len(f.tails), 0.01, 0.99, 0.02)):
        _airliner(c.at(x, ground + (0.4 + 0.1 * (i % 2)) * (c.h - ground), length), PAINT[f.tails[i]])


def _airliner(c: SceneCanvas, tail: RGB, *, climb: bool = False) -> None:
    """Draw an airliner 1 long, nose to the left, its fuselage around (0, 0); nose up and wheels in if it climbs."""
    tilt = math.radians(14 if climb else 0)
    cos, sin = math.cos(tilt), math.sin(tilt)
    white, grey, paint = c.on((250, 250, 252)), c.on((150, 156, 170)), mix(c.on(tail), tail, 0.5)

    def turned(points: Points) -> list[Point]:
        return [(x * cos - y * sin, x * sin + y * cos) for x, y in outline(points)]

    if not climb:
        c.shadow(0, 0.15, 0.44, 0.3)
        for x in (-0.3, 0.06):
            c.stroke([(x, 0.05), (x, 0.13)], (70, 70, 80), 0.014)
            c.disc(x, 0.13, 0.024, (40, 40, 50))
    c.poly(turned(".28,-.04 .43,-.25 .52,-.25 .46,-.03"), paint)
    nose = [(-0.5 + 0.12 * (1 - math.cos(a)), 0.07 * math.sin(a)) for a in map(math.radians, range(-90, 91, 15))]
    c.poly(turned([*nose, (0.3, 0.07), (0.5, -0.035), (0.46, -0.07)]), white)
    c.poly(turned("-.44,.045 .35,.045 .3,.07 -.38,.07"), grey)
    c.poly(turned("-.46,-.035 -.385,-.055 -.385,-.02 -.47,-.01"), c.on((60, 90, 120)))
    for x, y in turned([(-0.32 + 0.05 * i, -0.02) for i in range(13)]):
        c.disc(x, y, 0.012, c.glass((88, 130, 168)))
    c.poly(turned("-.1,.02 .06,.02 .28,.13 .2,.14"), grey)
    c.poly(turned("-.06,.06 .08,.06 .08,.11 -.06,.11"), paint)
    c.poly(turned(".34,-.02 .44,-.02 .56,.03 .5,.03"), grey)


_CROWD = colours("e8be9e c49678 d25a50 f0dc96 5a78b4 e6e8ee")


def football(c: SceneCanvas, f: Football) -> None:
    """Draw players of two teams before a goal."""
    c.light, pitch = LIGHTS["night" if f.floodlit else "day"], 0.46 * c.h
    c.sky(pitch, clouds=0 if f.floodlit else 3, depth=0.26 * c.h)
    depth, top = c.h - pitch, pitch - 17 * c.u
    c.poly([(0, pitch), (0, top), (c.w, top), (c.w, pitch)], c.on((120, 126, 146)))
    for row in range(4):
        for i in range(int(c.w / (2.6 * c.u))):
            seat = (i + 0.5 * (row % 2)) * 2.6 * c.u
            c.disc(seat, pitch - (5.4 + 3.1 * row) * c.u, 0.95 * c.u, c.rng.choice(_CROWD))
    c.rect(0, pitch - 4 * c.u, c.w, 4 * c.u, c.on((52, 92, 150)))
    for i in range(7):
        y, grass = pitch + depth * (i / 7) ** 1.3, (86, 166, 82) if i % 2 else (74, 150, 74)
        c.rect(0, y, c.w, c.h - y, mix(grass, c.light.tone, 0.4 * c.light.share))
    goal = c.at(0.5 * c.w, pitch + 0.12 * depth, min(44 * c.u, 0.4 * c.w), 17 * c.u)
    for i in range(13):
        goal.stroke([(i / 12 - 0.5, -1), (i / 12 - 0.5, 0)], clear(WHITE, 0.35), 0.25 * goal.u)
    for i in range(6):
        goal.stroke([(-0.5, -i / 6), (0.5, -i / 6)], clear(WHITE, 0.35), 0.25 * goal.u)
    goal.stroke("-.5,0 -.5,-1 .5,-1 .5,0", WHITE, 1.1 * goal.u)
    c.rect(0, pitch + 0.12 * depth, c.w, 0.7 * c.u, clear(WHITE, 0.8))
    for x in (0.08 * c.w, 0.92 * c.w) if f.floodlit else ():
        c.rect(x - 0.7 * c.u, pitch - 0.4 * c.h, 1.4 * c.u, 0.4 * c.h, (70, 76, 100))
        lamp = c.at(x, pitch - 0.4 * c.h, c.u)
        lamp.glow(0, 0, 26, (236, 244, 255), 0.7)
        lamp.discs("-2.8,-1.4,1.2 0,-1.4,1.2 2.8,-1.4,1.2 -2.8,1.4,1.2 0,1.4,1.2 2.8,1.4,1.2", WHITE)
    # Each line of a team stands in order, the two lines apart, so that everyone can be counted.
    height = min(24 * c.u, 0.36 * depth)
    for count, tint, share, shorts in (
        (f.defender_count, f.defenders, 0.45, (40, 44, 66)),
        (f.attacker_count, f.attackers, 0.86, (236, 236, 240)),
    ):
        for x in c.spread(count, 0.06, 0.94, 0.18):
            player = c.at(x, pitch + share * depth + c.rng.uniform(-1.5, 1.5) * c.u, height)
            player.shadow(0, 0, 0.3)
            player.figure(PAINT[tint], shorts, stride=c.rng.uniform(0.2, 0.9))
    ball = c.at(0.5 * c.w, pitch + 0.94 * depth - 2 * c.u, 2.4 * c.u)
    ball.shadow(0, 1, 1)
    ball.disc(0, 0, 1, WHITE)
    for a in (2 * math.pi * i / 5 - math.pi / 2 for i in range(5)):
        ball.disc(0.72 * math.cos(a), 0.72 * math.sin(a), 0.2, (40, 40, 52))
    ball.disc(0, 0, 0.28, (40, 40, 52))
