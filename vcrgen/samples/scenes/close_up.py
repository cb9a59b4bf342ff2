"""Rooms, and things seen from near."""

from __future__ import annotations

import math

from vcrgen.samples.draw import RGB, WHITE, Canvas, Point, clear, darker, lighter, mix
from vcrgen.samples.facts import Birds, Branch, Chart, Library, StillLife, WindowCat
from vcrgen.samples.scenery import (
    COATS,
    LEAF,
    LIGHTS,
    OVERCAST,
    PAINT,
    SNOW,
    WOOD,
    Light,
    cloud,
    fruit,
    hills,
    rain,
    round_tree,
    shadow,
    snowfall,
    spread,
)


def _view(c: Canvas, x: float, y: float, w: float, h: float, light: Light) -> None:
    """Draw what is seen through a window: sky, hills, and the sun, moon or a cloud."""
    c.shaded([(x, y), (x + w, y), (x + w, y + h), (x, y + h)], *light.sky)
    if light is OVERCAST:
        cloud(c, x + 0.3 * w, y + 0.3 * h, 0.4 * w, light.on(WHITE))
    else:
        c.disc(x + 0.24 * w, y + 0.26 * h, 0.09 * min(w, h), light.lamp)
    far = mix(light.on((112, 160, 124)), light.horizon, 0.35)
    c.poly(
        [
            (x, y + h),
            (x, y + 0.76 * h),
            (x + 0.3 * w, y + 0.68 * h),
            (x + 0.62 * w, y + 0.8 * h),
            (x + w, y + 0.7 * h),
            (x + w, y + h),
        ],
        far,
    )


def _casement(c: Canvas, x: float, y: float, w: float, h: float, frame: RGB) -> None:
    """Draw the frame, the bars and the sill of a large window."""
    bar = 1.8 * c.u
    for left, top, wide, high in (
        (x - bar, y - bar, w + 2 * bar, bar),
        (x - bar, y + h, w + 2 * bar, bar),
        (x - bar, y, bar, h),
        (x + w, y, bar, h),
        (x + w / 2 - bar / 2, y, bar, h),
    ):
        c.rect(left, top, wide, high, frame)


def _grain(c: Canvas, top: float, colour: RGB) -> None:
    """Draw the grain of a wooden surface from `top` to the lower edge of the picture."""
    for _ in range(16):
        x, length = c.rng.uniform(-0.1, 0.95) * c.w, c.rng.uniform(10, 40) * c.u
        c.rect(x, top + c.rng.uniform(0.1, 0.97) * (c.h - top), length, 0.35 * c.u, clear(colour, 0.35))


def still_life(c: Canvas, f: StillLife) -> None:
    """Draw a kitchen table with a bowl of fruit, a teapot and cups."""
    light, table = LIGHTS[f.outside], 0.7 * c.h
    c.wash(0, table, (236, 222, 204), (220, 200, 180))
    wide, high = 0.52 * c.w, 0.46 * c.h
    _view(c, 0.24 * c.w, 0.09 * c.h, wide, high, light)
    _casement(c, 0.24 * c.w, 0.09 * c.h, wide, high, (250, 246, 238))
    c.wash(table, c.h, (196, 140, 92), (158, 106, 68))
    c.rect(0, table, c.w, 1.4 * c.u, (216, 164, 114))
    _grain(c, table, (130, 84, 54))
    base = table + 0.34 * (c.h - table)
    _teapot(c, 0.24 * c.w, base, min(26 * c.u, 0.24 * c.w), PAINT[f.teapot])
    _bowl(c, f, 0.54 * c.w, base + 2 * c.u, min(24 * c.u, 0.18 * c.w))
    for x in spread(c, f.cups, 0.74 * c.w, 0.99 * c.w, 0.05):
        _cup(c, x, base + 6 * c.u, min(11 * c.u, 0.066 * c.w), PAINT[f.teapot])
    if light.dark:
        c.rect(0, 0, c.w, c.h, (60, 30, 70, 44))
        c.glow(0.5 * c.w, -0.05 * c.h, 70 * c.u, (255, 214, 140), 0.5)


def _bowl(c: Canvas, f: StillLife, x: float, base: float, half: float) -> None:
    shadow(c, x, base, 0.95 * half, 0.3)
    rim, r = base - 0.55 * half, 0.33 * half
    behind = f.fruit_count // 2
    for count, lift in ((behind, 0.75), (f.fruit_count - behind, 0.2)):
        for i in range(count):
            fruit(c, f.fruit, x + (i - (count - 1) / 2) * 1.9 * r, rim - lift * r * 1.6, r)
    c.pie(x, rim, half, 0, 180, (226, 232, 238), ry=0.6 * half)
    c.pie(x, rim, half, 0, 70, (196, 206, 220), ry=0.6 * half)
    c.rect(x - 0.3 * half, base - 0.08 * half, 0.6 * half, 0.1 * half, (196, 206, 220))
    c.rect(x - half, rim - 0.04 * half, 2 * half, 0.1 * half, (98, 138, 190), corner=2)


def _teapot(c: Canvas, x: float, base: float, size: float, paint: RGB) -> None:
    shadow(c, x, base, 0.42 * size, 0.3)
    body = base - 0.34 * size
    c.arc(x - 0.38 * size, body, 0.17 * size, 90, 270, darker(paint), 0.06 * size, ry=0.2 * size)
    c.poly(
        [
            (x + 0.28 * size, body + 0.12 * size),
            (x + 0.5 * size, body - 0.24 * size),
            (x + 0.58 * size, body - 0.22 * size),
            (x + 0.3 * size, body + 0.24 * size),
        ],
        darker(paint),
    )
    c.disc(x, body, 0.38 * size, paint, ry=0.33 * size)
    c.pie(x, body, 0.38 * size, -50, 90, clear((30, 20, 50), 0.12), ry=0.33 * size)
    c.disc(x - 0.14 * size, body - 0.12 * size, 0.09 * size, clear(WHITE, 0.4), ry=0.12 * size)
    c.disc(x, body - 0.29 * size, 0.19 * size, darker(paint, 0.12), ry=0.06 * size)
    c.disc(x, body - 0.38 * size, 0.05 * size, darker(paint))


def _cup(c: Canvas, x: float, base: float, size: float, paint: RGB) -> None:
    shadow(c, x, base, 0.5 * size, 0.3)
    c.arc(x + 0.34 * size, base - 0.4 * size, 0.2 * size, 0, 360, lighter(paint, 0.4), 0.08 * size)
    c.poly(
        [
            (x - 0.4 * size, base - 0.7 * size),
            (x + 0.4 * size, base - 0.7 * size),
            (x + 0.28 * size, base),
            (x - 0.28 * size, base),
        ],
        lighter(paint, 0.5),
    )
    c.rect(x - 0.37 * size, base - 0.5 * size, 0.74 * size, 0.12 * size, paint)
    c.disc(x, base - 0.7 * size, 0.4 * size, (252, 248, 240), ry=0.1 * size)
    c.disc(x, base - 0.69 * size, 0.33 * size, (150, 92, 50), ry=0.07 * size)
    for dx in (-0.12, 0.12):
        steam = [(x + (dx + 0.07 * math.sin(i * 1.1)) * size, base - (0.85 + 0.12 * i) * size) for i in range(7)]
        c.stroke(steam, clear(WHITE, 0.5), 0.05 * size)


_BINDINGS: tuple[RGB, ...] = (
    (172, 62, 54),
    (58, 92, 132),
    (74, 122, 92),
    (214, 170, 84),
    (122, 78, 112),
    (226, 208, 178),
    (92, 66, 54),
    (206, 122, 66),
)


def library(c: Canvas, f: Library) -> None:
    """Draw book shelves behind a reading desk."""
    c.wash(0, c.h, (92, 58, 44), (70, 44, 36))
    desk, left, right = 0.8 * c.h, 0.03 * c.w, 0.97 * c.w
    pitch = (desk - 0.03 * c.h) / f.shelves
    for i in range(f.shelves):
        floor = 0.03 * c.h + (i + 1) * pitch
        c.rect(left, floor - pitch, right - left, pitch, (58, 36, 32))
        _books(c, left + c.u, right - c.u, floor - 0.08 * pitch, 0.8 * pitch)
        c.rect(left - c.u, floor - 0.08 * pitch, right - left + 2 * c.u, 0.09 * pitch, (168, 114, 74))
    for x in (left - 1.6 * c.u, 0.5 * c.w - 1.3 * c.u, right - c.u):
        c.rect(x, 0, 2.6 * c.u, desk, (150, 98, 64))
    if f.ladder:
        _ladder(c, 0.68 * c.w, desk, 0.74 * c.h, 11 * c.u)
    c.wash(desk, c.h, (178, 122, 78), (132, 86, 54))
    c.rect(0, desk, c.w, 1.4 * c.u, (204, 150, 102))
    base = desk + 0.3 * (c.h - desk)
    _lamp(c, 0.2 * c.w, base, 30 * c.u, PAINT[f.lamp])
    _open_book(c, 0.44 * c.w, base + 3 * c.u, 22 * c.u)
    if f.globe:
        _globe(c, 0.88 * c.w, base, 22 * c.u)
    if f.cat:
        _sleeping_cat(c, 0.68 * c.w, base + 2.5 * c.u, min(24 * c.u, 0.24 * c.w), COATS[f.cat])


def _books(c: Canvas, left: float, right: float, floor: float, height: float) -> None:
    x = left
    while x < right - 1.5 * c.u:
        wide, tall = c.rng.uniform(2.0, 3.8) * c.u, c.rng.uniform(0.68, 0.98) * height
        paint = c.rng.choice(_BINDINGS)
        if x + wide > right:
            return
        c.rect(x, floor - tall, wide - 0.3 * c.u, tall, paint)
        c.rect(x, floor - tall, 0.25 * wide, tall, lighter(paint, 0.14))
        c.rect(x, floor - 0.8 * tall, wide - 0.3 * c.u, 0.07 * tall, (232, 200, 130, 190))
        # A gap now and then keeps the rows from looking like a wall.
        x += wide + (2.4 * c.u if c.rng.random() < 0.05 else 0)


def _ladder(c: Canvas, x: float, base: float, height: float, width: float) -> None:
    lean = 0.16 * height
    for i in range(9):
        y, shift = base - (i + 0.6) * height / 9, lean * (i + 0.6) / 9
        c.rect(x + shift, y, width, 1.1 * c.u, (222, 176, 120))
    for side in (0.0, width):
        c.stroke([(x + side, base), (x + side + lean, base - height)], (200, 148, 94), 1.7 * c.u)


def _lamp(c: Canvas, x: float, base: float, height: float, paint: RGB) -> None:
    brass = (214, 172, 84)
    c.glow(x, base - 0.6 * height, 1.2 * height, (255, 214, 130), 0.6)
    c.disc(x, base, 0.24 * height, darker(brass), ry=0.05 * height)
    c.rect(x - 0.025 * height, base - 0.7 * height, 0.05 * height, 0.7 * height, brass)
    c.poly(
        [
            (x - 0.2 * height, base - 0.92 * height),
            (x + 0.2 * height, base - 0.92 * height),
            (x + 0.38 * height, base - 0.6 * height),
            (x - 0.38 * height, base - 0.6 * height),
        ],
        paint,
    )
    c.poly(
        [
            (x + 0.1 * height, base - 0.92 * height),
            (x + 0.2 * height, base - 0.92 * height),
            (x + 0.38 * height, base - 0.6 * height),
            (x + 0.2 * height, base - 0.6 * height),
        ],
        darker(paint),
    )
    c.disc(x, base - 0.6 * height, 0.37 * height, (255, 240, 190), ry=0.035 * height)


def _open_book(c: Canvas, x: float, base: float, w: float) -> None:
    shadow(c, x, base + 0.02 * w, 0.56 * w, 0.3)
    for side in (-1, 1):
        edge = x + side * 0.52 * w
        c.poly(
            [(x, base), (edge, base - 0.02 * w), (x + side * 0.44 * w, base - 0.2 * w), (x, base - 0.15 * w)],
            (252, 246, 230) if side < 0 else (238, 228, 206),
        )
        for i in range(4):
            y = base - (0.035 + 0.032 * i) * w
            c.stroke(
                [(x + side * 0.06 * w, y), (x + side * (0.42 - 0.02 * i) * w, y - 0.02 * w)],
                (170, 160, 150, 150),
                0.25 * c.u,
            )


def _globe(c: Canvas, x: float, base: float, size: float) -> None:
    brass, r, y = (214, 172, 84), 0.36 * size, base - 0.52 * size
    shadow(c, x, base, 0.3 * size, 0.3)
    c.rect(x - 0.03 * size, base - 0.16 * size, 0.06 * size, 0.16 * size, brass)
    c.disc(x, base - 0.01 * size, 0.2 * size, brass, ry=0.04 * size)
    c.disc(x, y, r, (84, 148, 190))
    for dx, dy, rx, ry in (
        (-0.3, -0.3, 0.4, 0.3),
        (-0.1, 0.1, 0.24, 0.34),
        (0.45, -0.05, 0.3, 0.42),
        (0.2, -0.6, 0.25, 0.14),
    ):
        c.disc(x + dx * r, y + dy * r, rx * r, (128, 174, 104), ry=ry * r)
    c.arc(x, y, r, 290, 80, clear((20, 30, 70), 0.2), 0.09 * size)
    c.arc(x, y, 0.44 * size, 60, 300, brass, 0.03 * size)


def _sleeping_cat(c: Canvas, x: float, base: float, size: float, coat: RGB) -> None:
    shadow(c, x, base, 0.54 * size, 0.3)
    c.pie(x, base, 0.46 * size, 180, 360, coat, ry=0.4 * size)
    c.arc(x, base - 0.02 * size, 0.42 * size, 250, 360, darker(coat, 0.16), 0.03 * size, ry=0.34 * size)
    hx, hy, r = x - 0.32 * size, base - 0.13 * size, 0.17 * size
    _cat_head(c, hx, hy, r, coat, awake=False)
    c.stroke(
        [
            (x + 0.42 * size, base - 0.05 * size),
            (x + 0.1 * size, base - 0.02 * size),
            (x - 0.1 * size, base - 0.05 * size),
        ],
        darker(coat, 0.16),
        0.07 * size,
    )


def _cat_head(c: Canvas, x: float, y: float, r: float, coat: RGB, *, awake: bool) -> None:
    for side in (-1, 1):
        c.poly(
            [
                (x + 0.25 * side * r, y - 0.7 * r),
                (x + 0.85 * side * r, y - 1.45 * r),
                (x + 0.98 * side * r, y - 0.3 * r),
            ],
            coat,
        )
        c.poly(
            [
                (x + 0.45 * side * r, y - 0.75 * r),
                (x + 0.8 * side * r, y - 1.2 * r),
                (x + 0.85 * side * r, y - 0.5 * r),
            ],
            (232, 160, 160),
        )
    c.disc(x, y, 1.08 * r, coat, ry=0.94 * r)
    ink = (40, 36, 44) if sum(coat) > 240 else (200, 200, 206)
    for side in (-1, 1):
        if awake:
            c.disc(x + 0.42 * side * r, y - 0.12 * r, 0.22 * r, (170, 208, 96), ry=0.24 * r)
            c.disc(x + 0.42 * side * r, y - 0.12 * r, 0.08 * r, (24, 24, 32), ry=0.22 * r)
        else:
            c.arc(x + 0.42 * side * r, y - 0.12 * r, 0.24 * r, 20, 160, ink, 0.09 * r)
        for lift in (-0.12, 0.06):
            c.stroke(
                [(x + 0.35 * side * r, y + 0.28 * r), (x + 1.35 * side * r, y + (0.3 + 2 * lift) * r)],
                clear(ink, 0.5),
                0.05 * r,
            )
    c.poly([(x - 0.13 * r, y + 0.14 * r), (x + 0.13 * r, y + 0.14 * r), (x, y + 0.3 * r)], (222, 120, 124))


def window_cat(c: Canvas, f: WindowCat) -> None:
    """Draw a cat on a windowsill; rain, snow or sun behind it."""
    light, sill = LIGHTS["day"] if f.outside == "sun" else OVERCAST, 0.78 * c.h
    x, y, w, h = 0.14 * c.w, 0.07 * c.h, 0.72 * c.w, 0.71 * c.h
    c.wash(0, sill, *light.sky)
    ground = light.on(SNOW if f.outside == "snow" else (118, 172, 98))
    if f.outside == "sun":
        c.glow(0.74 * c.w, 0.2 * c.h, 30 * c.u, light.lamp, 0.8)
        c.disc(0.74 * c.w, 0.2 * c.h, 6 * c.u, light.lamp)
    else:
        for cx in (0.28, 0.62):
            cloud(c, cx * c.w, 0.2 * c.h, 32 * c.u, mix(light.on(WHITE), (120, 130, 146), 0.2))
    hills(c, 0.6 * c.h, 8 * c.u, mix(ground, light.horizon, 0.4), ground, 1.0)
    for tx in (0.22, 0.36, 0.82):
        leaf = light.on((226, 232, 240) if f.outside == "snow" else LEAF)
        round_tree(c, tx * c.w, 0.7 * c.h, 24 * c.u, leaf)
    if f.outside == "rain":
        rain(c, 120)
    elif f.outside == "snow":
        snowfall(c, 120)
    wall = (226, 206, 184)
    for left, top, wide, high in (
        (0.0, 0.0, c.w, y),
        (0.0, 0.0, x, c.h),
        (x + w, 0.0, c.w, c.h),
        (0.0, sill, c.w, c.h),
    ):
        c.rect(left, top, wide, high, wall)
    _casement(c, x, y, w, h, (252, 248, 240))
    c.rect(0.05 * c.w, sill, 0.9 * c.w, 5 * c.u, (244, 236, 222), corner=c.u)
    c.rect(0.05 * c.w, sill + 4.6 * c.u, 0.9 * c.w, 1.4 * c.u, (184, 164, 144), corner=0.5 * c.u)
    _curtains(c, PAINT[f.curtains])
    size = min(42 * c.u, 0.4 * c.w)
    _sitting_cat(c, 0.4 * c.w, sill + 2.6 * c.u, size, COATS[f.coat])
    for i, px in enumerate(spread(c, f.pots, 0.58 * c.w, 0.9 * c.w, 0.05)):
        _pot(c, px, sill + 2.6 * c.u, min(21 * c.u, 0.27 * c.w / max(1, f.pots) * 1.5), PAINT[f.bloom], i)


def _curtains(c: Canvas, cloth: RGB) -> None:
    c.rect(0, 0.025 * c.h, c.w, 1.8 * c.u, (150, 104, 68), corner=0.9 * c.u)
    for side in (0, 1):
        for i in range(4):
            edge = 0.045 * c.w * i
            x0, x1 = (edge, edge + 0.05 * c.w)
            drawn = [
                (x0, 0.04 * c.h),
                (x1, 0.04 * c.h),
                (x1 - 0.012 * i * c.w, 0.9 * c.h),
                (x0 - 0.012 * i * c.w, 0.9 * c.h),
            ]
            shade = darker(cloth, 0.16) if i % 2 else cloth
            c.poly([(c.w - px, py) for px, py in drawn] if side else drawn, shade)


def _sitting_cat(c: Canvas, x: float, base: float, size: float, coat: RGB) -> None:
    dim = darker(coat, 0.14)
    shadow(c, x + 0.05 * size, base, 0.36 * size, 0.25)
    c.stroke(
        [
            (x + 0.24 * size, base - 0.06 * size),
            (x + 0.4 * size, base - 0.02 * size),
            (x + 0.46 * size, base + 0.08 * size),
            (x + 0.42 * size, base + 0.26 * size),
        ],
        dim,
        0.08 * size,
    )
    c.disc(x + 0.06 * size, base - 0.2 * size, 0.27 * size, dim, ry=0.2 * size)
    c.poly(
        [
            (x - 0.13 * size, base - 0.6 * size),
            (x + 0.13 * size, base - 0.6 * size),
            (x + 0.27 * size, base - 0.16 * size),
            (x + 0.16 * size, base),
            (x - 0.2 * size, base),
        ],
        coat,
    )
    for dx in (-0.11, 0.04):
        c.rect(
            x + (dx - 0.06) * size, base - 0.3 * size, 0.12 * size, 0.3 * size, lighter(coat, 0.12), corner=0.06 * size
        )
    _cat_head(c, x - 0.02 * size, base - 0.66 * size, 0.17 * size, coat, awake=True)


def _pot(c: Canvas, x: float, base: float, size: float, bloom: RGB, turn: int) -> None:
    clay = (202, 116, 78)
    for i in range(5):
        a = math.radians(-150 + 30 * i + 8 * turn)
        tip = (x + 0.42 * size * math.cos(a), base - 0.42 * size + 0.5 * size * math.sin(a))
        c.stroke([(x, base - 0.4 * size), tip], (84, 142, 84), 0.05 * size)
        c.disc(x + 0.24 * size * math.cos(a), base - 0.4 * size + 0.26 * size * math.sin(a), 0.09 * size, (98, 160, 92))
        for j in range(5):
            p = 2 * math.pi * j / 5
            c.disc(tip[0] + 0.07 * size * math.cos(p), tip[1] + 0.07 * size * math.sin(p), 0.06 * size, bloom)
        c.disc(*tip, 0.045 * size, (255, 226, 130))
    c.poly(
        [
            (x - 0.26 * size, base - 0.4 * size),
            (x + 0.26 * size, base - 0.4 * size),
            (x + 0.19 * size, base),
            (x - 0.19 * size, base),
        ],
        clay,
    )
    c.rect(x - 0.3 * size, base - 0.44 * size, 0.6 * size, 0.1 * size, lighter(clay, 0.15), corner=0.02 * size)


_BACKDROP: dict[Branch, tuple[RGB, RGB]] = {
    "blossom": ((190, 222, 238), (250, 226, 232)),
    "berries": ((214, 206, 196), (246, 228, 202)),
    "snow": ((150, 176, 208), (226, 236, 246)),
    "leaves": ((150, 206, 190), (226, 242, 206)),
}


def birds(c: Canvas, f: Birds) -> None:
    """Draw birds on a branch before a soft backdrop."""
    c.wash(0, c.h, *_BACKDROP[f.branch])
    for _ in range(9):
        c.disc(
            c.rng.uniform(0, c.w),
            c.rng.uniform(0, c.h),
            c.rng.uniform(6, 18) * c.u,
            (255, 255, 255, c.rng.randint(14, 34)),
        )
    bend = [(i * c.w / 12, 0.72 * c.h - 0.05 * c.h * math.sin(i * 0.5) - 0.008 * i * c.h) for i in range(13)]
    twigs = [
        (bend[i], (bend[i][0] + side * 9 * c.u, bend[i][1] + lift * c.u))
        for i, side, lift in ((1, 1, -15), (3, 1, 15), (6, -1, 17), (8, 1, 15), (11, -1, -17), (11, 1, 14))
    ]
    bark = (112, 82, 66)
    for start, tip in twigs:
        c.stroke([start, tip], bark, 1.3 * c.u)
    c.stroke(bend, bark, 3.4 * c.u)
    c.stroke([(x, y - 0.9 * c.u) for x, y in bend], lighter(bark, 0.18), 0.9 * c.u)
    _dress(c, f.branch, bend, [tip for _, tip in twigs])
    count = len(f.breasts)
    size = min(40 * c.u, 0.6 * c.w / count)
    for i, x in enumerate(spread(c, count, 0.13 * c.w, 0.87 * c.w, 0.08)):
        at = min(11, int(12 * x / c.w))
        share = 12 * x / c.w - at
        _bird(
            c,
            x,
            bend[at][1] + share * (bend[at + 1][1] - bend[at][1]) - 1.2 * c.u,
            size,
            PAINT[f.breasts[i]],
            facing=-1 if i % 2 else 1,
        )
    if f.branch == "snow":
        snowfall(c, 60)


def _dress(c: Canvas, dress: Branch, bend: list[Point], tips: list[Point]) -> None:
    """Put blossom, berries, snow or leaves on a branch and its twigs."""
    if dress == "snow":
        c.stroke([(x, y - 1.8 * c.u) for x, y in bend], WHITE, 2.2 * c.u)
    for x, y in [*tips, *bend[::3]]:
        if dress == "snow":
            c.disc(x, y - c.u, 2.8 * c.u, WHITE, ry=1.7 * c.u)
            continue
        for i in range(4):
            a = c.rng.uniform(0, 6.28)
            px, py = x + 4.5 * c.u * math.cos(a), y + 4.5 * c.u * math.sin(a)
            if dress == "blossom":
                for j in range(5):
                    p = 2 * math.pi * j / 5 + a
                    c.disc(px + 1.5 * c.u * math.cos(p), py + 1.5 * c.u * math.sin(p), 1.35 * c.u, (246, 170, 192))
                c.disc(px, py, 0.9 * c.u, (252, 236, 170))
            elif dress == "berries":
                c.disc(px, py, 1.9 * c.u, (196, 48, 46))
                c.disc(px - 0.5 * c.u, py - 0.6 * c.u, 0.6 * c.u, (246, 160, 150))
            else:
                leaf = (104, 166, 84) if i % 2 else (78, 142, 78)
                c.poly(
                    [(px - 3.4 * c.u, py), (px, py - 1.9 * c.u), (px + 4 * c.u, py - 0.6 * c.u), (px, py + 1.6 * c.u)],
                    leaf,
                )


def _bird(c: Canvas, x: float, base: float, size: float, breast: RGB, *, facing: int) -> None:
    """Draw a bird perched at (x, base); it looks left (facing 1) or right (-1)."""

    def at(dx: float, dy: float) -> Point:
        return (x + facing * dx * size, base - dy * size)

    back, belly = (126, 112, 104), (244, 234, 218)
    for dx in (-0.04, 0.09):
        c.stroke([at(dx, 0.12), at(dx, -0.02)], (92, 66, 54), 0.025 * size)
    c.poly([at(0.22, 0.3), at(0.62, 0.06), at(0.55, -0.02), at(0.12, 0.14)], darker(back, 0.3))
    c.disc(*at(0.03, 0.32), 0.3 * size, back, ry=0.25 * size)
    c.disc(*at(-0.06, 0.26), 0.24 * size, belly, ry=0.19 * size)
    c.disc(*at(-0.12, 0.37), 0.2 * size, breast, ry=0.2 * size)
    c.disc(*at(-0.13, 0.57), 0.185 * size, back)
    c.disc(*at(-0.19, 0.5), 0.13 * size, breast, ry=0.12 * size)
    c.poly([at(0.0, 0.45), at(0.3, 0.42), at(0.46, 0.17), at(0.14, 0.2)], darker(back, 0.2))
    c.poly([at(0.06, 0.4), at(0.28, 0.37), at(0.38, 0.22), at(0.15, 0.25)], lighter(back, 0.1))
    c.poly([at(-0.3, 0.6), at(-0.43, 0.54), at(-0.29, 0.52)], (70, 58, 54))
    c.disc(*at(-0.19, 0.61), 0.035 * size, (22, 20, 26))
    c.disc(*at(-0.2, 0.622), 0.012 * size, WHITE)


def chart(c: Canvas, f: Chart) -> None:
    """Draw a bar chart on an easel in a room."""
    floor = 0.84 * c.h
    c.wash(0, floor, (222, 230, 232), (204, 216, 220))
    c.wash(floor, c.h, (206, 170, 128), (180, 142, 102))
    _grain(c, floor, (150, 112, 74))
    c.rect(0, floor - 1.6 * c.u, c.w, 1.8 * c.u, (244, 244, 240))
    left, top, w, h = 0.14 * c.w, 0.09 * c.h, 0.68 * c.w, 0.62 * c.h
    for x0, x1 in ((0.3, 0.24), (0.66, 0.72)):
        c.stroke([(x0 * c.w, top + h), (x1 * c.w, 0.95 * c.h)], darker(WOOD, 0.1), 1.8 * c.u)
    c.rect(left + 1.4 * c.u, top + 1.6 * c.u, w, h, (20, 20, 40, 40), corner=c.u)
    c.rect(left - c.u, top - c.u, w + 2 * c.u, h + 2 * c.u, WOOD, corner=c.u)
    c.rect(left, top, w, h, (252, 251, 246))
    base, high, x0, x1 = top + 0.89 * h, 0.78 * h, left + 0.08 * w, left + 0.95 * w
    for i in range(1, 5):
        c.rect(x0, base - i * high / 4, x1 - x0, 0.3 * c.u, (206, 208, 212))
    pitch, paint = (x1 - x0) / len(f.bars), PAINT[f.tint]
    for i, bar in enumerate(f.bars):
        x, tall = x0 + (i + 0.2) * pitch, high * bar / 20
        c.shaded(
            [(x, base), (x, base - tall), (x + 0.6 * pitch, base - tall), (x + 0.6 * pitch, base)],
            lighter(paint, 0.18),
            paint,
        )
        c.rect(x + 0.47 * pitch, base - tall, 0.13 * pitch, tall, darker(paint, 0.14))
    for x, y, wide, tall in (
        (x0 - 0.6 * c.u, base - high - 2 * c.u, 0.8 * c.u, high + 2.6 * c.u),
        (x0 - 0.6 * c.u, base, x1 - x0 + c.u, 0.8 * c.u),
    ):
        c.rect(x, y, wide, tall, (78, 82, 96))
    c.rect(left - 3 * c.u, top + h + 0.6 * c.u, w + 6 * c.u, 2 * c.u, darker(WOOD, 0.15), corner=0.6 * c.u)
    if f.plant:
        _house_plant(c, 0.91 * c.w, 0.93 * c.h, 30 * c.u)


def _house_plant(c: Canvas, x: float, base: float, size: float) -> None:
    shadow(c, x, base, 0.3 * size)
    for i, angle in enumerate((-150, -125, -100, -80, -55, -30)):
        a = math.radians(angle)
        tip = (x + 0.55 * size * math.cos(a), base - 0.4 * size + 0.75 * size * math.sin(a))
        middle = ((x + tip[0]) / 2, (base - 0.4 * size + tip[1]) / 2)
        c.poly(
            [
                (x, base - 0.36 * size),
                (middle[0] - 0.09 * size, middle[1] - 0.03 * size),
                tip,
                (middle[0] + 0.09 * size, middle[1] + 0.03 * size),
            ],
            (84, 150, 92) if i % 2 else (62, 124, 80),
        )
    c.poly(
        [
            (x - 0.24 * size, base - 0.42 * size),
            (x + 0.24 * size, base - 0.42 * size),
            (x + 0.17 * size, base),
            (x - 0.17 * size, base),
        ],
        (232, 224, 212),
    )
