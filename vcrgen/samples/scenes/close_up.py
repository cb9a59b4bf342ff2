"""Rooms, and things seen from near."""

import math

from vcrgen.samples.draw import RGB, WHITE, Point, clear, colours, darker, height_at, lighter, mix
from vcrgen.samples.facts import Birds, Branch, Chart, Library, StillLife, WindowCat
from vcrgen.samples.scenery import BRASS, FUR, LEAF, LIGHTS, OVERCAST, PAINT, SNOW, WOOD, SceneCanvas


def _casement(c: SceneCanvas, x: float, y: float, w: float, h: float, frame: RGB) -> None:
    """Draw the frame and the bar of a large window."""
    bar = 1.8 * c.u
    for top in (y - bar, y + h):
        c.rect(x - bar, top, w + 2 * bar, bar, frame)
    for left in (x - bar, x + w, x + w / 2 - bar / 2):
        c.rect(left, y, bar, h, frame)


def _grain(c: SceneCanvas, top: float, colour: RGB) -> None:
    """Draw the grain of a wooden surface from `top` to the lower edge of the picture."""
    for _ in range(16):
        x, length = c.rng.uniform(-0.1, 0.95) * c.w, c.rng.uniform(10, 40) * c.u
        c.rect(x, top + c.rng.uniform(0.1, 0.97) * (c.h - top), length, 0.35 * c.u, clear(colour, 0.35))


def still_life(c: SceneCanvas, f: StillLife) -> None:
    """Draw a kitchen table with a bowl of fruit, a teapot and cups."""
    c.light, table = LIGHTS[f.outside], 0.7 * c.h
    c.wash(0, table, (236, 222, 204), (220, 200, 180))
    x, y, wide, high = 0.24 * c.w, 0.09 * c.h, 0.52 * c.w, 0.46 * c.h
    view = c.at(x, y, wide, high)
    view.shaded("0,0 1,0 1,1 0,1", *c.light.sky)
    c.disc(x + 0.24 * wide, y + 0.26 * high, 0.09 * min(wide, high), c.light.lamp)
    far = c.hazy((112, 160, 124), 0.35)
    view.poly("0,1 0,.76 .3,.68 .62,.8 1,.7 1,1", far)
    _casement(c, x, y, wide, high, (250, 246, 238))
    c.wash(table, c.h, (196, 140, 92), (158, 106, 68))
    c.rect(0, table, c.w, 1.4 * c.u, (216, 164, 114))
    _grain(c, table, (130, 84, 54))
    base = table + 0.34 * (c.h - table)
    pot, paint = c.at(0.24 * c.w, base, min(26 * c.u, 0.24 * c.w)), PAINT[f.teapot]
    pot.shadow(0, 0, 0.42, 0.3)
    pot.thing("teapot", paint=paint)
    x, y, half = 0.54 * c.w, base + 2 * c.u, min(24 * c.u, 0.18 * c.w)
    bowl = c.at(x, y, half)
    bowl.shadow(0, 0, 0.95, 0.3)
    behind = f.fruit_count // 2
    for count, lift in ((behind, 1.2), (f.fruit_count - behind, 0.32)):
        for i in range(count):
            bowl.at((i - (count - 1) / 2) * 0.627, -0.55 - lift * 0.33, 0.33).fruit(f.fruit)
    bowl.pie(0, -0.55, 1, 0, 180, (226, 232, 238), ry=0.6)
    bowl.pie(0, -0.55, 1, 0, 70, (196, 206, 220), ry=0.6)
    bowl.rect(-0.3, -0.08, 0.6, 0.1, (196, 206, 220))
    c.rect(x - half, y - 0.55 * half - 0.04 * half, 2 * half, 0.1 * half, (98, 138, 190), corner=2)
    for x in c.spread(f.cups, 0.74, 0.99, 0.05):
        cup = c.at(x, base + 6 * c.u, min(11 * c.u, 0.066 * c.w))
        cup.shadow(0, 0, 0.5, 0.3)
        cup.thing("cup", paint=paint)
        for left in (-0.12, 0.12):
            steam = [(left + 0.07 * math.sin(i * 1.1), -0.85 - 0.12 * i) for i in range(7)]
            cup.stroke(steam, clear(WHITE, 0.5), 0.05)
    if c.light.dark:
        c.rect(0, 0, c.w, c.h, (60, 30, 70, 44))
        c.glow(0.5 * c.w, -0.05 * c.h, 70 * c.u, (255, 214, 140), 0.5)


def library(c: SceneCanvas, f: Library) -> None:
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
    lamp = c.at(0.2 * c.w, base, 30 * c.u)
    lamp.glow(0, -0.6, 1.2, (255, 214, 130), 0.6)
    lamp.thing("reading lamp", paint=PAINT[f.lamp])
    book = c.at(0.44 * c.w, base + 3 * c.u, 22 * c.u)
    book.shadow(0, 0.02, 0.56, 0.3)
    for page, paper in ((book.at(0, 0, -1, 1), (252, 246, 230)), (book, (238, 228, 206))):
        page.poly("0,0 .52,-.02 .44,-.2 0,-.15", paper)
        for i in range(4):
            y = -(0.035 + 0.032 * i)
            page.stroke([(0.06, y), (0.42 - 0.02 * i, y - 0.02)], (170, 160, 150, 150), 0.25 * book.u)
    if f.globe:
        globe = c.at(0.88 * c.w, base, 22 * c.u)
        globe.shadow(0, 0, 0.3, 0.3)
        globe.rect(-0.03, -0.16, 0.06, 0.16, BRASS)
        globe.disc(0, -0.01, 0.2, BRASS, ry=0.04)
        ball = globe.at(0, -0.52, 0.36)
        ball.disc(0, 0, 1, (84, 148, 190))
        ball.discs("-.3,-.3,.4,.3 -.1,.1,.24,.34 .45,-.05,.3,.42 .2,-.6,.25,.14", (128, 174, 104))
        ball.arc(0, 0, 1, 290, 80, clear((20, 30, 70), 0.2), 0.25)
        globe.arc(0, -0.52, 0.44, 60, 300, BRASS, 0.03)
    if f.cat:
        cat, coat = c.at(0.68 * c.w, base + 2.5 * c.u, min(24 * c.u, 0.24 * c.w)), FUR[f.cat]
        cat.shadow(0, 0, 0.54, 0.3)
        cat.pie(0, 0, 0.46, 180, 360, coat, ry=0.4)
        cat.arc(0, -0.02, 0.42, 250, 360, darker(coat, 0.16), 0.03, ry=0.34)
        _cat_head(cat.at(-0.32, -0.13, 0.17), coat, awake=False)
        cat.stroke(".42,-.05 .1,-.02 -.1,-.05", darker(coat, 0.16), 0.07)


_BINDINGS = colours("ac3e36 3a5c84 4a7a5c d6aa54 7a4e70 e2d0b2 5c4236 ce7a42")


def _books(c: SceneCanvas, left: float, right: float, floor: float, height: float) -> None:
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


def _ladder(c: SceneCanvas, x: float, base: float, height: float, width: float) -> None:
    lean = 0.16 * height
    for i in range(9):
        c.rect(x + lean * (i + 0.6) / 9, base - (i + 0.6) * height / 9, width, 1.1 * c.u, (222, 176, 120))
    for foot in (x, x + width):
        c.stroke([(foot, base), (foot + lean, base - height)], (200, 148, 94), 1.7 * c.u)


def _cat_head(c: SceneCanvas, coat: RGB, *, awake: bool) -> None:
    """Draw a head of radius 1 around (0, 0)."""
    ink = (40, 36, 44) if sum(coat) > 240 else (200, 200, 206)
    sides = (c.at(0, 0, -1, 1), c)
    for side in sides:
        side.poly(".25,-.7 .85,-1.45 .98,-.3", coat)
        side.poly(".45,-.75 .8,-1.2 .85,-.5", (232, 160, 160))
    c.disc(0, 0, 1.08, coat, ry=0.94)
    for side in sides:
        if awake:
            side.disc(0.42, -0.12, 0.22, (170, 208, 96), ry=0.24)
            side.disc(0.42, -0.12, 0.08, (24, 24, 32), ry=0.22)
        else:
            side.arc(0.42, -0.12, 0.24, 20, 160, ink, 0.09, ry=0.24)
        side.strokes(".35,.28 1.35,.06 / .35,.28 1.35,.42", clear(ink, 0.5), 0.05)
    c.poly("-.13,.14 .13,.14 0,.3", (222, 120, 124))


def window_cat(c: SceneCanvas, f: WindowCat) -> None:
    """Draw a cat on a windowsill; rain, snow or sun behind it."""
    c.light, sill = LIGHTS["day"] if f.outside == "sun" else OVERCAST, 0.78 * c.h
    x, y, w, h = 0.14 * c.w, 0.07 * c.h, 0.72 * c.w, 0.71 * c.h
    c.wash(0, sill, *c.light.sky)
    if f.outside == "sun":
        c.glow(0.74 * c.w, 0.2 * c.h, 30 * c.u, c.light.lamp, 0.8)
        c.disc(0.74 * c.w, 0.2 * c.h, 6 * c.u, c.light.lamp)
    for at in () if f.outside == "sun" else (0.28, 0.62):
        c.at(at * c.w, 0.2 * c.h, 32 * c.u).cloud(mix(c.on(WHITE), (120, 130, 146), 0.2))
    snowy = f.outside == "snow"
    ground, leaf = c.on(SNOW if snowy else (118, 172, 98)), c.on((226, 232, 240) if snowy else LEAF)
    c.hills(0.6 * c.h, 8 * c.u, mix(ground, c.light.horizon, 0.4), ground, 1.0)
    for at in (0.22, 0.36, 0.82):
        c.at(at * c.w, 0.7 * c.h, 24 * c.u).thing("round tree", leaf=leaf)
    if f.outside == "rain":
        c.rain(120)
    elif snowy:
        c.snowfall(120)
    for left, top, wide, high in ((0, 0, c.w, y), (0, 0, x, c.h), (x + w, 0, c.w, c.h), (0, sill, c.w, c.h)):
        c.rect(left, top, wide, high, (226, 206, 184))
    _casement(c, x, y, w, h, (252, 248, 240))
    c.rect(0.05 * c.w, sill, 0.9 * c.w, 5 * c.u, (244, 236, 222), corner=c.u)
    c.rect(0.05 * c.w, sill + 4.6 * c.u, 0.9 * c.w, 1.4 * c.u, (184, 164, 144), corner=0.5 * c.u)
    _curtains(c, PAINT[f.curtains])
    cat, coat = c.at(0.4 * c.w, sill + 2.6 * c.u, min(42 * c.u, 0.4 * c.w)), FUR[f.coat]
    cat.shadow(0.05, 0, 0.36, 0.25)
    cat.thing("sitting cat", coat=coat)
    _cat_head(cat.at(-0.02, -0.66, 0.17), coat, awake=True)
    for i, at in enumerate(c.spread(f.pots, 0.58, 0.9, 0.05)):
        _pot(c.at(at, sill + 2.6 * c.u, min(21 * c.u, 0.27 * c.w / f.pots * 1.5)), PAINT[f.bloom], i)


def _curtains(c: SceneCanvas, cloth: RGB) -> None:
    c.rect(0, 0.025 * c.h, c.w, 1.8 * c.u, (150, 104, 68), corner=0.9 * c.u)
    for side in (c.at(0, 0, c.w, c.h), c.at(c.w, 0, -c.w, c.h)):
        for i in range(4):
            x0, x1, drift = 0.045 * i, 0.045 * i + 0.05, 0.012 * i
            fold = [(x0, 0.04), (x1, 0.04), (x1 - drift, 0.9), (x0 - drift, 0.9)]
            side.poly(fold, darker(cloth, 0.16) if i % 2 else cloth)


def _petals(c: SceneCanvas, x: float, y: float, away: float, r: float, ink: RGB, turn: float = 0.0) -> None:
    """Draw five petals of radius r around (x, y)."""
    for a in (2 * math.pi * i / 5 + turn for i in range(5)):
        c.disc(x + away * math.cos(a), y + away * math.sin(a), r, ink)


def _pot(c: SceneCanvas, bloom: RGB, turn: int) -> None:
    clay = (202, 116, 78)
    for i in range(5):
        a = math.radians(-150 + 30 * i + 8 * turn)
        x, y = 0.42 * math.cos(a), -0.42 + 0.5 * math.sin(a)
        c.stroke([(0, -0.4), (x, y)], LEAF, 0.05)
        c.disc(0.24 * math.cos(a), -0.4 + 0.26 * math.sin(a), 0.09, (98, 160, 92))
        _petals(c, x, y, 0.07, 0.06, bloom)
        c.disc(x, y, 0.045, (255, 226, 130))
    c.poly("-.26,-.4 .26,-.4 .19,0 -.19,0", clay)
    c.rect(-0.3, -0.44, 0.6, 0.1, lighter(clay, 0.15), corner=0.02)


_BACKDROP = {"blossom": "bedeee fae2e8", "berries": "d6cec4 f6e4ca", "snow": "96b0d0 e2ecf6", "leaves": "96cebe e2f2ce"}


def birds(c: SceneCanvas, f: Birds) -> None:
    """Draw birds on a branch before a soft backdrop."""
    c.wash(0, c.h, *colours(_BACKDROP[f.branch]))
    for _ in range(9):
        x, y, r = c.rng.uniform(0, c.w), c.rng.uniform(0, c.h), c.rng.uniform(6, 18) * c.u
        c.disc(x, y, r, (255, 255, 255, c.rng.randint(14, 34)))
    bend = [(i * c.w / 12, (0.72 - 0.05 * math.sin(i * 0.5) - 0.008 * i) * c.h) for i in range(13)]
    twigs = [
        (bend[i], (bend[i][0] + side * 9 * c.u, bend[i][1] + lift * c.u))
        for i, side, lift in ((1, 1, -15), (3, 1, 15), (6, -1, 17), (8, 1, 15), (11, -1, -17), (11, 1, 14))
    ]
    bark = (112, 82, 66)
    for twig in twigs:
        c.stroke(twig, bark, 1.3 * c.u)
    c.stroke(bend, bark, 3.4 * c.u)
    c.stroke([(x, y - 0.9 * c.u) for x, y in bend], lighter(bark, 0.18), 0.9 * c.u)
    _dress(c, f.branch, bend, [tip for _, tip in twigs])
    count = len(f.breasts)
    size = min(40 * c.u, 0.6 * c.w / count)
    for i, x in enumerate(c.spread(count, 0.13, 0.87, 0.08)):
        y = height_at(bend, x) - 1.2 * c.u
        c.at(x, y, -size if i % 2 else size, size).thing("bird", breast=PAINT[f.breasts[i]])
    if f.branch == "snow":
        c.snowfall(60)


def _dress(c: SceneCanvas, dress: Branch, bend: list[Point], tips: list[Point]) -> None:
    """Put blossom, berries, snow or leaves on a branch and its twigs."""
    if dress == "snow":
        c.stroke([(x, y - 1.8 * c.u) for x, y in bend], WHITE, 2.2 * c.u)
    for x, y in [*tips, *bend[::3]]:
        place = c.at(x, y, c.u)
        if dress == "snow":
            place.disc(0, -1, 2.8, WHITE, ry=1.7)
            continue
        for i in range(4):
            a = c.rng.uniform(0, 6.28)
            bud = place.at(4.5 * math.cos(a), 4.5 * math.sin(a), 1)
            if dress == "blossom":
                _petals(bud, 0, 0, 1.5, 1.35, (246, 170, 192), a)
                bud.disc(0, 0, 0.9, (252, 236, 170))
            elif dress == "berries":
                bud.disc(0, 0, 1.9, (196, 48, 46))
                bud.disc(-0.5, -0.6, 0.6, (246, 160, 150))
            else:
                bud.poly("-3.4,0 0,-1.9 4,-.6 0,1.6", (104, 166, 84) if i % 2 else (78, 142, 78))


def chart(c: SceneCanvas, f: Chart) -> None:
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
    base, high, x0, x1, ink = top + 0.89 * h, 0.78 * h, left + 0.08 * w, left + 0.95 * w, (78, 82, 96)
    for i in range(1, 5):
        c.rect(x0, base - i * high / 4, x1 - x0, 0.3 * c.u, (206, 208, 212))
    pitch, paint = (x1 - x0) / len(f.bars), PAINT[f.tint]
    for i, bar in enumerate(f.bars):
        column = c.at(x0 + (i + 0.2) * pitch, base, pitch, high * bar / 20)
        column.shaded("0,0 0,-1 .6,-1 .6,0", lighter(paint, 0.18), paint)
        column.rect(0.47, -1, 0.13, 1, darker(paint, 0.14))
    c.rect(x0 - 0.6 * c.u, base - high - 2 * c.u, 0.8 * c.u, high + 2.6 * c.u, ink)
    c.rect(x0 - 0.6 * c.u, base, x1 - x0 + c.u, 0.8 * c.u, ink)
    c.rect(left - 3 * c.u, top + h + 0.6 * c.u, w + 6 * c.u, 2 * c.u, darker(WOOD, 0.15), corner=0.6 * c.u)
    if f.plant:
        plant = c.at(0.91 * c.w, 0.93 * c.h, 30 * c.u)
        plant.shadow(0, 0, 0.3)
        for i, a in enumerate(map(math.radians, (-150, -125, -100, -80, -55, -30))):
            x, y = 0.55 * math.cos(a), 0.75 * math.sin(a)
            leaf = [(0, -0.36), (x / 2 - 0.09, y / 2 - 0.43), (x, y - 0.4), (x / 2 + 0.09, y / 2 - 0.37)]
            plant.poly(leaf, (84, 150, 92) if i % 2 else (62, 124, 80))
        plant.poly("-.24,-.42 .24,-.42 .17,0 -.17,0", (232, 224, 212))
