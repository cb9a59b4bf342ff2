"""Scenes at an airport and in a stadium."""

from __future__ import annotations

import math

from vcrgen.samples.draw import RGB, WHITE, Canvas, Point, clear, darker, lighter, mix
from vcrgen.samples.facts import Airport, Football
from vcrgen.samples.scenery import (
    LIGHTS,
    PAINT,
    WINDOW_LIGHT,
    Light,
    clouds,
    figure,
    hills,
    shadow,
    sky,
    spread,
)


def airport(c: Canvas, f: Airport) -> None:
    """Draw airliners on the apron before the control tower."""
    light, ground = LIGHTS[f.daytime], 0.62 * c.h
    sky(c, light, ground, sun=(0.12, 0.18))
    if f.daytime == "day":
        clouds(c, light, 0.5 * c.h, 3)
    hills(c, ground - 2 * c.u, 6 * c.u, mix(light.on((110, 150, 130)), light.horizon, 0.5), light.on((110, 150, 110)))
    hall = light.on((176, 188, 202))
    c.rect(0, ground - 13 * c.u, 0.62 * c.w, 14 * c.u, hall)
    c.rect(0, ground - 15 * c.u, 0.64 * c.w, 2.4 * c.u, lighter(hall, 0.3))
    for i in range(12):
        c.rect(
            (0.02 + 0.05 * i) * c.w,
            ground - 10.5 * c.u,
            0.038 * c.w,
            6 * c.u,
            WINDOW_LIGHT if light.dark else light.on((116, 164, 196)),
        )
    _control_tower(c, 0.8 * c.w, ground + c.u, 42 * c.u, light)
    c.wash(ground, c.h, light.on((134, 138, 148)), light.on((104, 108, 120)))
    c.poly(
        [(0, c.h - 5 * c.u), (c.w, c.h - 5 * c.u), (c.w, c.h - 3.6 * c.u), (0, c.h - 3.6 * c.u)],
        light.on((242, 206, 92)),
    )
    if f.takeoff:
        _airliner(c, 0.46 * c.w, 0.2 * c.h, 24 * c.u, PAINT["blue"], light, climb=True)
    count = len(f.tails)
    length = min(56 * c.u, 0.94 * c.w / count)
    for i, x in enumerate(spread(c, count, 0.01 * c.w, 0.99 * c.w, 0.02)):
        _airliner(c, x, ground + (0.4 + 0.1 * (i % 2)) * (c.h - ground), length, PAINT[f.tails[i]], light)


def _control_tower(c: Canvas, x: float, base: float, height: float, light: Light) -> None:
    wall, cab = light.on((222, 222, 226)), base - 0.78 * height
    c.poly(
        [(x - 0.07 * height, base), (x + 0.07 * height, base), (x + 0.05 * height, cab), (x - 0.05 * height, cab)], wall
    )
    c.poly(
        [(x + 0.02 * height, base), (x + 0.07 * height, base), (x + 0.05 * height, cab), (x + 0.02 * height, cab)],
        darker(wall),
    )
    c.poly(
        [
            (x - 0.12 * height, cab),
            (x + 0.12 * height, cab),
            (x + 0.18 * height, cab - 0.14 * height),
            (x - 0.18 * height, cab - 0.14 * height),
        ],
        WINDOW_LIGHT if light.dark else light.on((88, 142, 176)),
    )
    for dx in (-0.09, 0.0, 0.09):
        c.stroke([(x + dx * height, cab), (x + 1.45 * dx * height, cab - 0.14 * height)], wall, 0.014 * height)
    c.rect(x - 0.2 * height, cab - 0.19 * height, 0.4 * height, 0.05 * height, wall, corner=0.02 * height)
    c.rect(x - 0.13 * height, cab, 0.26 * height, 0.03 * height, darker(wall, 0.25))
    c.rect(x - 0.008 * height, cab - 0.34 * height, 0.016 * height, 0.16 * height, light.on((190, 60, 54)))


def _airliner(c: Canvas, x: float, y: float, length: float, tail: RGB, light: Light, *, climb: bool = False) -> None:
    """Draw an airliner, nose to the left, its fuselage around (x, y); nose up and wheels in if it climbs."""
    tilt = math.radians(14 if climb else 0)

    def at(dx: float, dy: float) -> Point:
        return (
            x + length * (dx * math.cos(tilt) - dy * math.sin(tilt)),
            y + length * (dx * math.sin(tilt) + dy * math.cos(tilt)),
        )

    white, grey = light.on((250, 250, 252)), light.on((150, 156, 170))
    if not climb:
        shadow(c, x, y + 0.15 * length, 0.44 * length, 0.3)
        for dx in (-0.3, 0.06):
            c.stroke([at(dx, 0.05), at(dx, 0.13)], (70, 70, 80), 0.014 * length)
            c.disc(*at(dx, 0.13), 0.024 * length, (40, 40, 50))
    paint = mix(light.on(tail), tail, 0.5)
    c.poly([at(0.28, -0.04), at(0.43, -0.25), at(0.52, -0.25), at(0.46, -0.03)], paint)
    nose = [
        (-0.5 + 0.12 * (1 - math.cos(a)), 0.07 * math.sin(a)) for a in (math.radians(d) for d in range(-90, 91, 15))
    ]
    body = [*nose, (0.3, 0.07), (0.5, -0.035), (0.46, -0.07)]
    c.poly([at(*p) for p in body], white)
    c.poly([at(-0.44, 0.045), at(0.35, 0.045), at(0.3, 0.07), at(-0.38, 0.07)], grey)
    c.poly([at(-0.46, -0.035), at(-0.385, -0.055), at(-0.385, -0.02), at(-0.47, -0.01)], light.on((60, 90, 120)))
    for i in range(13):
        dot = at(-0.32 + 0.05 * i, -0.02)
        c.disc(*dot, 0.012 * length, WINDOW_LIGHT if light.dark else light.on((88, 130, 168)))
    c.poly([at(-0.1, 0.02), at(0.06, 0.02), at(0.28, 0.13), at(0.2, 0.14)], grey)
    c.poly([at(-0.06, 0.06), at(0.08, 0.06), at(0.08, 0.11), at(-0.06, 0.11)], paint)
    c.poly([at(0.34, -0.02), at(0.44, -0.02), at(0.56, 0.03), at(0.5, 0.03)], grey)


def football(c: Canvas, f: Football) -> None:
    """Draw players of two teams before a goal."""
    light, pitch = LIGHTS["night" if f.floodlit else "day"], 0.46 * c.h
    sky(c, light, pitch)
    if not f.floodlit:
        clouds(c, light, 0.26 * c.h, 3)
    stand = light.on((120, 126, 146))
    c.poly([(0, pitch), (0, pitch - 17 * c.u), (c.w, pitch - 17 * c.u), (c.w, pitch)], stand)
    for row in range(4):
        for i in range(int(c.w / (2.6 * c.u))):
            seat = (i + 0.5 * (row % 2)) * 2.6 * c.u
            c.disc(seat, pitch - (5.4 + 3.1 * row) * c.u, 0.95 * c.u, c.rng.choice(_CROWD))
    c.rect(0, pitch - 4 * c.u, c.w, 4 * c.u, light.on((52, 92, 150)))
    bands = 7
    for i in range(bands):
        y = pitch + (c.h - pitch) * (i / bands) ** 1.3
        c.rect(
            0,
            y,
            c.w,
            c.h - y,
            mix((86, 166, 82), light.tone, 0.4 * light.share)
            if i % 2
            else mix((74, 150, 74), light.tone, 0.4 * light.share),
        )
    _goal(c, 0.5 * c.w, pitch + 0.12 * (c.h - pitch), min(44 * c.u, 0.4 * c.w), 17 * c.u)
    for x in (0.08 * c.w, 0.92 * c.w) if f.floodlit else ():
        _floodlight(c, x, pitch, 0.4 * c.h)
    # Each line of a team stands in order, the two lines apart, so that everyone can be counted.
    height = min(24 * c.u, 0.36 * (c.h - pitch))
    for count, tint, share, shorts in (
        (f.defender_count, f.defenders, 0.45, (40, 44, 66)),
        (f.attacker_count, f.attackers, 0.86, (236, 236, 240)),
    ):
        for x in spread(c, count, 0.06 * c.w, 0.94 * c.w, 0.18):
            base = pitch + share * (c.h - pitch) + c.rng.uniform(-1.5, 1.5) * c.u
            shadow(c, x, base, 0.3 * height)
            figure(c, x, base, height, PAINT[tint], shorts, stride=c.rng.uniform(0.2, 0.9))
    x, y, r = 0.5 * c.w, pitch + 0.94 * (c.h - pitch) - 2 * c.u, 2.4 * c.u
    shadow(c, x, y + r, r)
    c.disc(x, y, r, WHITE)
    for i in range(5):
        a = 2 * math.pi * i / 5 - math.pi / 2
        c.disc(x + 0.72 * r * math.cos(a), y + 0.72 * r * math.sin(a), 0.2 * r, (40, 40, 52))
    c.disc(x, y, 0.28 * r, (40, 40, 52))


_CROWD: tuple[RGB, ...] = (
    (232, 190, 158),
    (196, 150, 120),
    (210, 90, 80),
    (240, 220, 150),
    (90, 120, 180),
    (230, 232, 238),
)


def _goal(c: Canvas, x: float, base: float, w: float, h: float) -> None:
    for i in range(13):
        c.stroke([(x - w / 2 + i * w / 12, base - h), (x - w / 2 + i * w / 12, base)], clear(WHITE, 0.35), 0.25 * c.u)
    for i in range(6):
        c.stroke([(x - w / 2, base - h * i / 6), (x + w / 2, base - h * i / 6)], clear(WHITE, 0.35), 0.25 * c.u)
    c.stroke([(x - w / 2, base), (x - w / 2, base - h), (x + w / 2, base - h), (x + w / 2, base)], WHITE, 1.1 * c.u)
    c.rect(0, base, c.w, 0.7 * c.u, clear(WHITE, 0.8))


def _floodlight(c: Canvas, x: float, base: float, height: float) -> None:
    c.rect(x - 0.7 * c.u, base - height, 1.4 * c.u, height, (70, 76, 100))
    c.glow(x, base - height, 26 * c.u, (236, 244, 255), 0.7)
    for row in range(2):
        for i in range(3):
            c.disc(x + (i - 1) * 2.8 * c.u, base - height + (row - 0.5) * 2.8 * c.u, 1.2 * c.u, WHITE)
