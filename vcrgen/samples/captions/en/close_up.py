"""English captions of the rooms and of things seen from near."""

from __future__ import annotations

from vcrgen.samples.captions.en.words import English
from vcrgen.samples.captions.teller import BRANCH_SEASON, WEATHER_SEASON
from vcrgen.samples.facts import (
    Birds,
    Chart,
    Daytime,
    Library,
    StillLife,
    WindowCat,
)

_WINDOW: dict[Daytime, str] = {
    "dawn": "the first light of the day",
    "day": "a clear blue sky",
    "dusk": "a red evening sky",
    "night": "a dark night sky",
}


def still_life(f: StillLife, v: English) -> str:
    """Tell of a kitchen table."""
    kind = {"apple": "red apple", "orange": "orange", "lemon": "lemon", "pear": "green pear"}.get(f.fruit, f.fruit)
    fruit, teapot, cups = v.count(f.fruit_count, kind), f"{f.teapot} teapot", v.count(f.cups, "cup")
    leads = [
        f"a bowl with {fruit} stands next to {v.a(teapot)} on the kitchen table",
        f"still life with {fruit}, {v.a(teapot)} and {cups}",
        f"{v.a(teapot)} and {cups} of hot tea have been put out on the table",
        f"{fruit} in a white bowl with a blue rim, beside {v.a(teapot)}",
        f"the kitchen of {v.person()}, with {_WINDOW[f.outside]} in the window",
    ]
    details = [
        f"through the window above the table one sees {_WINDOW[f.outside]}",
        f"the {teapot} was bought at the market in {v.place()} for {v.money()}",
        f"{v.person()} painted this table more than {v.between(20, 90)} times",
        "a little steam still rises from the tea",
        f"tea is served at {v.time(15, 17)} in this house, never a minute later",
        f"the bowl holds {fruit}, and not one of them has a spot",
    ]
    return v.tell(leads, details)


def library(f: Library, v: English) -> str:
    """Tell of a library."""
    shelves, lamp = v.number(f.shelves), f"{f.lamp} lamp"
    leads = [
        f"{shelves} shelves full of old books rise behind the reading desk",
        f"{v.a(lamp)} throws its warm light on an open book",
        f"the reading room of {v.club()} shortly before closing time",
        f"an open book lies under {v.a(lamp)} in front of the crowded shelves",
        f"hardly a gap is left on the {shelves} long shelves of the library",
    ]
    details = [
        f"the collection goes back to {v.person()}, who died in {v.between(1790, 1960)}",
        f"about {v.between(12, 90) * 100} volumes were brought here from {v.place()}",
        f"the room is open until {v.time(17, 22)} from Monday to Friday",
        "somebody must have left in the middle of a page",
        f"the oldest book on these shelves was printed in {v.between(1520, 1790)}",
    ]
    if f.ladder:
        details.append("a wooden ladder helps to reach the books at the top")
        leads.append(f"a tall wooden ladder leans against {shelves} shelves of books")
    if f.globe:
        details.append("at the end of the desk stands an old globe on a brass foot")
    if f.cat:
        leads.append(f"{v.a(f.cat)} cat has fallen asleep beside an open book")
        details.append(f"the {f.cat} cat on the desk is fast asleep")
    return v.tell(leads, details)


def window_cat(f: WindowCat, v: English) -> str:
    """Tell of a cat on a windowsill."""
    pots = v.count(f.pots, f"pot of {f.bloom} flowers", f"pots of {f.bloom} flowers")
    weather = {
        "sun": "while the sun shines outside",
        "rain": "while rain falls on the garden",
        "snow": "while snow falls on the garden",
    }[f.outside]
    name = v.pick("Pepper", "Minka", "Tiger", "Olive", "Momo", "Juniper", "Biscuit", "Felix")
    leads = [
        f"{v.a(f.coat)} cat sits on the windowsill {weather}",
        f"{name}, the {f.coat} cat of {v.person()}, beside {pots}",
        f"between the {f.curtains} curtains {v.a(f.coat)} cat keeps watch over the room",
        f"{v.a(f.coat)} cat and {pots} share the sill of a wide window",
        f"the {f.coat} cat has its back to the window {weather}",
    ]
    details = [
        f"the {f.curtains} curtains were sewn by {v.person()} in {v.year()}",
        "it does not take its green eyes off the visitor",
        f"supper is not before {v.time(17, 20)}, as both of them know",
        f"the cat was found as a kitten near {v.place()} on {v.date()}",
        "its tail hangs down over the edge of the sill",
        {
            "sun": "there is not a cloud to be seen above the hills",
            "rain": "thick grey clouds hang low over the trees",
            "snow": "the trees in the garden have turned white",
        }[f.outside],
    ]
    return v.tell(leads, details, season=WEATHER_SEASON[f.outside])


def birds(f: Birds, v: English) -> str:
    """Tell of birds on a branch."""
    n, breast = len(f.breasts), f.breasts[0]
    birds = v.count(n, f"small bird with {v.a(breast)} breast", "small birds")
    if n > 1:
        birds += f" with {breast} breasts"
    branch = {
        "blossom": "a branch covered in pink blossom",
        "berries": "a bare branch with red berries",
        "snow": "a branch under fresh snow",
        "leaves": "a branch with fresh green leaves",
    }[f.branch]
    leads = [
        f"{birds} sit{v.s(n)} on {branch}",
        f"{birds} on {branch}, drawn by {v.person()}",
        f"{branch} bends a little under the weight of {birds}",
        f"seen in a garden in {v.place()}: {birds}",
        f"{birds} ha{'s' if n == 1 else 've'} come to rest on {branch}",
    ]
    details = [
        f"the species was first described by {v.person()} in {v.between(1758, 1899)}",
        f"an adult bird weighs about {v.between(9, 24)} grams",
        "its song can be heard long before sunrise" if n == 1 else "their song can be heard long before sunrise",
        f"plate {v.between(3, 140)} of the bird book published by {v.club()}",
        "one careless movement would be enough to scare them away"
        if n > 1
        else "one careless movement would be enough to scare it away",
        {
            "blossom": "the whole tree has come into flower within a week",
            "berries": "the berries will have to last until spring",
            "snow": "it has been snowing lightly all day long",
            "leaves": "the leaves came out early this year",
        }[f.branch],
    ]
    if n == 2:
        details.append("one of them looks left and the other one looks right")
    return v.tell(leads, details, season=BRANCH_SEASON[f.branch])


def chart(f: Chart, v: English) -> str:
    """Tell of a bar chart."""
    n, top, low = v.number(len(f.bars)), f.bars.index(max(f.bars)) + 1, f.bars.index(min(f.bars)) + 1
    subject = v.pick(
        "rainfall",
        "sales of tea",
        "visitors to the museum",
        "books lent",
        "bicycles counted on the bridge",
        "loaves baked",
        "letters delivered",
        "hours of sunshine",
        "boats built",
    )
    leads = [
        f"a chart with {n} {f.tint} bars stands on a wooden easel",
        f"{n} {f.tint} bars show the {subject} in {v.place()} from year to year",
        f"a bar chart on an easel, drawn for a talk about {subject}",
        f"{v.person()} used this chart with {n} {f.tint} bars in a talk about {subject}",
    ]
    details = [
        f"the {v.ordinal(top)} bar from the left is the tallest of all",
        f"the {v.ordinal(low)} bar from the left is clearly the shortest",
        f"the figures were collected by {v.club()} from {v.between(1951, 1985)} to {v.between(1986, 2023)}",
        "whoever drew it forgot to write down the units",
        f"the talk begins at {v.time(10, 20)} in the small hall",
    ]
    rising = all(a < b for a, b in zip(f.bars, f.bars[1:], strict=False))
    falling = all(a > b for a, b in zip(f.bars, f.bars[1:], strict=False))
    if rising:
        leads.append(f"from left to right the bars for {subject} grow taller and taller")
    elif falling:
        leads.append("from left to right the bars of the chart become shorter and shorter")
    else:
        details.append("the numbers go up and down without any clear direction")
    if f.plant:
        details.append("a green plant in a white pot fills the corner of the room")
    return v.tell(leads, details)
