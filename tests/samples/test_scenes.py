"""Drawn scenes: each in any shape, the same pixels as ever, things in units of their own."""

import hashlib
import re
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import PIL
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.samples.draw import Canvas, Ink, clear, colours, darker, lighter, mix, outline
from vcrgen.samples.facts import Daytime
from vcrgen.samples.scenery import FUR, LIGHTS, PAINT, WINDOW_LIGHT, SceneCanvas
from vcrgen.samples.table import SCENES

ROOT = Path(__file__).resolve().parents[2]

# Of the pixels of each scene in two shapes, as the drawings were before they were shortened.
PINNED_BY = "13"
PINNED = {
    "harbour": "a15c4a1d266bd3d5",
    "mountain_lake": "94d1cd551c1d2aca",
    "regatta": "de047bdf20b29b1f",
    "beach": "281e9faba0026daa",
    "aquarium": "09ee403f9239c394",
    "water_town": "5ca247985c650b99",
    "viaduct": "42616cf9672f4f07",
    "snowy_village": "ef32054bfbe46897",
    "castle": "6c8ac80804bc153d",
    "wind_farm": "5ead62a11832b6fa",
    "balloons": "af228db387d5ded3",
    "desert": "3ae7161dd5e916f0",
    "campsite": "41f4cd5d5cdb1e57",
    "sunflowers": "ff735b03dbfa96e2",
    "city_night": "660c68829144447e",
    "market": "eec1edeed00a9b3d",
    "clock_tower": "6225c1025c27439f",
    "airport": "5e139b29fe8c4a83",
    "football": "161c0d7620f9a7de",
    "bicycle": "5268f000890fff60",
    "still_life": "a6af10006c2da58f",
    "library": "f71eab9552dd5489",
    "window_cat": "b8d476d207aff2ec",
    "birds": "bd3889abc5e15c0b",
    "chart": "7aeda311cd18517f",
}


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.kind)
def test_a_scene_draws_any_facts_in_any_shape_and_fills_the_canvas(scene: Any) -> None:
    for seed, size in enumerate(((300, 200), (200, 300), (480, 200), (240, 240))):
        canvas = SceneCanvas(*size, Random(seed))
        scene.draw(canvas, scene.facts.sample(Random(seed)))
        picture = canvas.finish()
        assert picture.size == size
        found = picture.getcolors(maxcolors=1 << 20)
        assert found is not None and len(found) > 200
        # A fresh canvas is black: nothing of it may show.
        assert not any(colour == (0, 0, 0) and count > 20 for count, colour in found)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.kind)
def test_pixels_are_pinned(scene: Any) -> None:
    if PIL.__version__.split(".")[0] != PINNED_BY:
        pytest.skip(f"the pixels are pinned for Pillow {PINNED_BY}, this is {PIL.__version__}")
    drawn = hashlib.sha256()
    for seed in range(6):
        canvas = SceneCanvas(*((300, 200), (200, 300))[seed % 2], Random(seed))
        scene.draw(canvas, scene.facts.sample(Random(seed)))
        drawn.update(canvas.finish().tobytes())
    assert drawn.hexdigest()[:16] == PINNED[scene.kind]


def shapes(c: Canvas) -> bytes:
    """Draw one shape of each sort, 8 wide and high, from (0, 0)."""
    c.rect(0, 0, 8, 8, (10, 20, 30))
    c.rects("1,1,2,2 5,1,2,2", (90, 20, 30))
    c.disc(4, 4, 2, (40, 200, 30))
    c.discs("2,6,1 6,6,1,.5", (40, 20, 230))
    c.poly("0,8 4,5 8,8", (200, 200, 30))
    c.stroke([(1, 4), (7, 4)], (250, 250, 250), 0.5)
    c.strokes("1,7 3,7 / 5,7 7,7", (250, 0, 250), 0.5)
    c.pie(4, 2, 1, 0, 180, (0, 99, 99))
    c.arc(4, 4, 3, 0, 90, (99, 99, 0), 0.5)
    c.shaded("3,0 5,0 5,2", (0, 0, 0), (255, 255, 255))
    c.glow(4, 6, 2, (255, 255, 255), 0.5)
    return c.finish().tobytes()


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from([1, 2, 4]))
def test_a_thing_looks_the_same_in_any_units(x: int, y: int, size: int) -> None:
    near, far = Canvas(80, 80, Random(0)), Canvas(80, 80, Random(0))
    assert shapes(near.at(x, y, size)) == shapes(far.at(x / 2, y / 2, 0.5).at(x, y, 2 * size, 2 * size))


def test_measures_of_the_picture_are_in_the_units_of_the_place() -> None:
    place = Canvas(80, 40, Random(0)).at(3, 4, 8).at(1, 1, 0.5)
    assert (place.w, place.h, place.u, place.px) == (20, 10, 0.1, 0.25)
    wide = Canvas(80, 40, Random(0)).at(0, 0, 8, 4)
    assert (wide.w, wide.h, wide.u, wide.px) == (10, 10, 0.05, 0.125)


def test_a_negative_width_mirrors() -> None:
    left, right = Canvas(40, 40, Random(0)), Canvas(40, 40, Random(0))
    left.at(20, 0, -10, 10).poly("0,0 1,1 1.5,.5", (255, 0, 0))
    right.at(20, 0, 10).poly("0,0 -1,1 -1.5,.5", (255, 0, 0))
    assert left.finish().tobytes() == right.finish().tobytes()


@given(st.integers(0, 12), st.floats(-0.2, 0.4), st.floats(0.5, 1.2), st.floats(0, 0.49), st.integers())
def test_places_are_spread_from_left_to_right(count: int, left: float, right: float, jitter: float, seed: int) -> None:
    places = list(Canvas(200, 100, Random(seed)).spread(count, left, right, jitter))
    assert len(places) == count
    assert all(200 * left <= place <= 200 * right for place in places)
    assert all(a < b for a, b in pairwise(places))


def test_texts_stand_for_colours_and_points() -> None:
    assert colours("ff0010 00ff00") == ((255, 0, 16), (0, 255, 0))
    assert list(outline("0,-.5 1,2")) == [(0.0, -0.5), (1.0, 2.0)]
    assert mix((0, 0, 0), (100, 200, 50), 0.5) == (50, 100, 25)
    assert PAINT["red"] == (206, 62, 54) and PAINT["white"] == (248, 245, 238) and FUR["grey"] == (136, 140, 150)


THINGS = re.findall(r"^\[(.+)\]$", (files("vcrgen.samples") / "things.txt").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("head", THINGS)
def test_every_thing_is_drawn_with_the_inks_that_it_names(head: str) -> None:
    name, _, inks = head.partition(": ")
    scenes = (ROOT / "vcrgen" / "samples" / "scenes").glob("*.py")
    assert any(f'.thing("{name}"' in scene.read_text("utf-8") for scene in scenes)
    canvas = SceneCanvas(120, 120, Random(0))
    canvas.at(60, 60, 1 if name == "scarecrow" else 30).thing(name, **dict.fromkeys(inks.split(), (200, 40, 40)))
    assert len(canvas.finish().getcolors(120 * 120) or []) > 1


@pytest.mark.parametrize(
    ("ink", "light", "colour"),
    [
        ("10,20,30", "day", (10, 20, 30)),
        ("10,20,30,40", "day", (10, 20, 30, 40)),
        ("paint", "night", (200, 100, 0)),
        ("paint-", "day", darker((200, 100, 0))),
        ("paint+.5-.2@.4", "day", clear(darker(lighter((200, 100, 0), 0.5), 0.2), 0.4)),
        ("paint!", "night", WINDOW_LIGHT),
        ("paint~", "night", mix((200, 100, 0), LIGHTS["night"].tone, LIGHTS["night"].share)),
    ],
)
def test_the_inks_of_things(ink: str, light: Daytime, colour: Ink) -> None:
    canvas = SceneCanvas(10, 10, Random(0))
    canvas.light = LIGHTS[light]
    assert canvas._ink(ink, {"paint": (200, 100, 0)}) == colour
