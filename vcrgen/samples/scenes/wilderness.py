"""Scenes in snow, sand and forest."""

from vcrgen.samples.draw import WHITE, Point, darker, height_at, lighter, mix, numbers
from vcrgen.samples.facts import Campsite, Desert, SnowyVillage
from vcrgen.samples.scenery import LIGHTS, PAINT, SNOW, WOOD, SceneCanvas


def snowy_village(c: SceneCanvas, f: SnowyVillage) -> None:
    """Draw a row of houses in the snow under white mountains."""
    c.light, ground = LIGHTS[f.daytime], 0.66 * c.h
    snow = c.on(SNOW)
    c.sky(ground, sun=None if f.snowing else (0.84, 0.16))
    for i, x in enumerate(c.spread(3, -0.1, 1.1)):
        c.at(x, ground, 0.7 * c.w, (0.4 + 0.07 * (i % 2)) * c.h).thing("mountain", rock=c.hazy((128, 142, 172), 0.3))
    back = c.hills(ground, 6 * c.u, darker(snow, 0.1), snow, 1.2)
    for x in c.spread(9, 0, 1, 0.4):
        tree = c.at(x, height_at(back, x) + 2 * c.u, c.rng.uniform(13, 20) * c.u)
        tree.fir(c.on((62, 106, 94)), snow=True)
    if f.church:
        c.at(0.5 * c.w, ground + 4 * c.u, 44 * c.u).thing("church")
    width = min(24 * c.u, 0.68 * c.w / len(f.houses))
    for i, x in enumerate(c.spread(len(f.houses), 0.03, 0.97, 0.08)):
        place = c.at(x - width / 2, ground + (9 + 5 * (i % 2)) * c.u, width)
        place.house(0.62, PAINT[f.houses[i]], snow=True)
    c.hills(ground + 14 * c.u, 3.5 * c.u, snow, mix(snow, c.light.sky[0], 0.22), 1.4)
    if f.snowman:
        man = c.at(0.3 * c.w, min(c.h - 4 * c.u, ground + 30 * c.u), 20 * c.u)
        man.shadow(0.1, 0, 0.34)
        man.thing("snowman")
        for x, y, w, h in numbers("-.13,-.74,.26,.06 .05,-.72,.06,.2"):
            man.rect(x, y, w, h, c.on(PAINT["red"]), corner=2 * man.px)
        man.strokes("-.17,-.6 -.4,-.76 / .17,-.6 .4,-.76", c.on(darker(WOOD)), 0.025)
    if f.snowing:
        c.snowfall()


def desert(c: SceneCanvas, f: Desert) -> None:
    """Draw dunes under the stars."""
    c.light = LIGHTS["night"]
    c.sky(0.8 * c.h, sun=(0.76, 0.2), phase=f.phase)
    if not f.phase:
        c.stars(0.5 * c.h, 90)
    plough = c.at(0.08 * c.w, 0.12 * c.h, min(40 * c.u, 0.42 * c.w))
    shape = numbers("0,0 .22,.06 .4,.17 .6,.24 .66,.46 .94,.48 1,.22 .6,.24")
    plough.stroke([(x, y) for x, y in shape], (190, 210, 255, 80), 0.3 * plough.u)
    for x, y in shape[:-1]:
        plough.glow(x, y, 2.6 * plough.u, (214, 228, 255), 0.8)
        plough.disc(x, y, 0.7 * plough.u, WHITE)
    for i in range(3):
        tone = c.hazy((236, 180, 112), 0.4 - 0.2 * i)
        base, height = (0.64 + 0.11 * i) * c.h, (13 - 2 * i) * c.u
        line = c.hills(base, height, lighter(tone, 0.12), darker(tone, 0.3), 0.7 + 0.25 * i)
        if i == 1:
            _dwellers(c, f, line)


def _dwellers(c: SceneCanvas, f: Desert, line: list[Point]) -> None:
    """Put camels and a tent, or cacti, on the middle dune."""
    size = min(17 * c.u, 0.5 * c.w / max(1, f.camels))
    for x in c.spread(f.camels, 0.06, 0.68 if f.tent else 0.94, 0.1):
        c.at(x, height_at(line, x) + 1.2 * c.u, size).thing("camel")
    for x in c.spread(f.cacti, 0.06, 0.94, 0.2):
        cactus = c.at(x, height_at(line, x) + 1.5 * c.u, c.rng.uniform(14, 21) * c.u)
        green = darker(c.on((92, 150, 96)), 0.2)
        cactus.rect(-0.08, -1, 0.16, 1, green, corner=0.08)
        for reach, low, top in ((-0.25, -0.36, -0.7), (0.25, -0.5, -0.84)):
            cactus.stroke([(0, low), (reach, low), (reach, top)], green, 0.112)
            cactus.disc(reach, top, 0.056, green)
        cactus.rect(0.016, -0.95, 0.0192, 0.9, lighter(green, 0.2), corner=0.0096)
    if f.tent:
        x, size = 0.82 * c.w, 20 * c.u
        tent = c.at(x, max(height_at(line, x - 0.5 * size), height_at(line, x + 0.5 * size)) + c.u, size)
        tent.glow(0, -0.15, 1, (255, 180, 90), 0.5)
        tent.poly("-.62,0 -.4,-.34 0,-.56 .4,-.34 .62,0", c.on((216, 196, 160)))
        tent.poly("-.13,0 0,-.4 .13,0", (255, 200, 110))


def campsite(c: SceneCanvas, f: Campsite) -> None:
    """Draw tents lit from inside before a dark forest."""
    c.light, ground = LIGHTS["night"], 0.66 * c.h
    c.sky(ground, sun=(0.8, 0.18), phase=f.phase)
    c.hills(ground - 8 * c.u, 14 * c.u, c.on((96, 122, 150)), c.on((70, 104, 120)), 1.1)
    for x in c.spread(20, -0.02, 1.02, 0.4):
        tree = c.at(x, ground + 2 * c.u, c.rng.uniform(20, 36) * c.u)
        tree.fir(mix(c.on((44, 92, 84)), c.light.sky[0], c.rng.uniform(0.0, 0.35)))
    top = ground + (0.09 * c.h if f.lake else 0)
    if f.lake:
        c.water(ground, top, (60, 110, 160), mirror=0.5)
        c.glitter(0.8 * c.w, ground, top, 4 * c.u)
    grass = c.on((90, 140, 92))
    c.hills(top, 2.5 * c.u, grass, darker(grass, 0.35), 0.8)
    size, base = min(34 * c.u, 0.7 * c.w / (len(f.tents) + 0.6)), top + 0.55 * (c.h - top)
    for i, x in enumerate(c.spread(len(f.tents), 0.04, 0.74 if f.fire else 0.96, 0.08)):
        tent, cloth = c.at(x, base - 3 * c.u * (i % 2), size), PAINT[f.tents[i]]
        tent.glow(0, -0.25, 0.95, (255, 196, 110), 0.42)
        tent.poly("0,-.62 .26,-.6 .62,-.06 .4,0", darker(cloth, 0.45))
        tent.shaded("0,-.62 .44,0 -.5,0", darker(cloth, 0.12), lighter(cloth, 0.12))
        tent.poly("-.02,-.46 .14,0 -.17,0", (255, 222, 140))
        tent.poly("-.02,-.46 -.1,0 -.17,0", darker(cloth, 0.3))
        tent.stroke("0,-.62 -.62,.03", (226, 220, 200, 150), 0.3 * tent.u)
    if f.fire:
        fire = c.at(0.84 * c.w, base + 4 * c.u, 13 * c.u)
        fire.glow(0, -0.4, 3.2, (255, 150, 60), 0.6)
        fire.strokes(".55,0 -.5,-.2 / -.55,0 .5,-.2", (104, 66, 46), 0.17)
        for share, colour in ((1.0, (240, 110, 46)), (0.68, (252, 172, 60)), (0.38, (255, 232, 140))):
            tongues = [(x * share, y * share) for x, y in numbers("-.34,-.5 -.14,-.6 0,-1.25 .2,-.66 .36,-.44")]
            fire.poly([(-0.4 * share, -0.12), *tongues, (0.38 * share, -0.12)], colour)
