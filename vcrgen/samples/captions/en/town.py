"""English captions of the scenes in the streets of a town."""

from __future__ import annotations

from vcrgen.samples.captions.en.words import English
from vcrgen.samples.facts import Bicycle, CityNight, ClockTower, Fruit, Market

_FRUITS: dict[Fruit, str] = {
    "apple": "red apples",
    "orange": "oranges",
    "lemon": "lemons",
    "pear": "green pears",
    "watermelon": "watermelons",
    "grape": "dark grapes",
    "aubergine": "aubergines",
}


def city_night(f: CityNight, v: English) -> str:
    """Tell of a city street at night."""
    sky = "in the pouring rain" if f.raining else f"under {v.moon(f.phase or 'full')}"
    taxi, lamps = f"{f.taxi} taxi", v.number(f.lamps)
    leads = [
        f"{v.a(taxi)} drives along an empty street {sky}",
        f"downtown {v.place()} at {v.between(10, 11)}:{v.rng.randrange(0, 60, 5):02d} in the evening, {sky}",
        f"{lamps} street lamps light the way for {v.a(taxi)} late at night",
        "countless windows are still lit in the towers above the street",
        f"a taxi passes between the street lamps and the dark office towers {sky}",
    ]
    details = [
        f"the driver, {v.person()}, has worked the night shift since {v.year()}",
        f"a ride to the airport of {v.place()} costs about {v.money()} at this hour",
        f"{lamps} old iron lamps stand along the kerb",
        "not one person is out on the pavement",
        f"the tallest of the towers belongs to {v.club()}",
    ]
    if f.raining:
        details.append("the light of the lamps runs across the wet road in long streaks")
        leads.append(f"rain falls on the city, and only {v.a(taxi)} is still on the road")
    else:
        details.append("between the roofs a few stars can be made out")
    return v.tell(leads, details)


def market(f: Market, v: English) -> str:
    """Tell of a market stall."""
    fruits = v.listing([_FRUITS[kind] for kind in f.crates])
    awning = f"{f.awning} and white awning"
    leads = [
        f"crates of {fruits} under a {awning}"
        if f.awning != "orange"
        else f"crates of {fruits} under a striped awning",
        f"{fruits} are piled up in wooden crates at the market",
        f"the fruit stall of {v.person()} at the weekly market in {v.place()}",
        f"{v.number(len(f.crates))} wooden crates filled to the brim with {fruits}",
        f"market day in {v.place()}: a stall with a striped awning offers {fruits}",
    ]
    details = [
        f"a kilo of {_FRUITS[f.crates[0]]} costs {v.money()} this week",
        f"the seller starts to set up the stall at {v.between(4, 6)}:30",
        f"the market has been held every Saturday since {v.between(1790, 1960)}",
        "whoever comes late has to take what is left",
        f"most of it was picked in the orchards around {v.place()} the day before",
        f"the {_FRUITS[f.crates[-1]]} stand at the right end of the counter",
    ]
    if f.scales:
        details.append("everything is weighed on a pair of old brass scales")
    if f.bulbs:
        details.append(f"{v.number(f.bulbs)} light bulbs hang in a row below the awning")
    return v.tell(leads, details)


def _clock_words(v: English, hour: int, minute: int) -> str:
    """Return how the time is said, or written in figures."""
    this, following = v.number((hour - 1) % 12 + 1), v.number(hour % 12 + 1)
    spoken = {
        0: f"{this} o'clock",
        15: f"a quarter past {this}",
        30: f"half past {this}",
        45: f"a quarter to {following}",
    }
    figures = f"{hour % 12 or 12}:{minute:02d}"
    return v.pick(spoken.get(minute, figures), figures)


def clock_tower(f: ClockTower, v: English) -> str:
    """Tell of a clock tower."""
    time, roof = _clock_words(v, f.hour, f.minute), f"{f.roof} roof"
    part = (
        "in the morning"
        if f.hour < 12
        else "in the afternoon"
        if f.hour < 18
        else "in the evening"
        if f.hour < 21
        else "at night"
    )
    leads = [
        f"the clock on the tower of the old town hall shows {time}",
        f"it is {time} {part} by the clock on the market square of {v.place()}",
        f"the clock tower with its pointed {roof} rises above the houses on the square",
        f"{time} on the square: the big white dial can be read from far away",
        f"two round trees stand left and right of the clock tower in {v.place()}",
    ]
    details = [
        f"the clock was made by {v.person()} in {v.between(1680, 1890)} and is wound up by hand",
        f"its {roof} was put back after the fire of {v.between(1790, 1930)}",
        "the hands are black and as long as a man is tall",
        f"on {v.date()} it stood still for the first time",
        "the houses around the square are hardly half as high",
    ]
    if f.pigeons:
        details.append(f"{v.count(f.pigeons, 'pigeon')} walk{v.s(f.pigeons)} about on the stones before it")
    else:
        details.append("the square in front of it is completely empty")
    if f.daytime in ("dusk", "night"):
        details.append("a lamp behind the dial makes it glow like a second moon")
    return v.tell(leads, details)


def bicycle(f: Bicycle, v: English) -> str:
    """Tell of a bicycle before a wall."""
    bike, wall, door = f"{f.frame} bicycle", f"{f.wall} wall", f"{f.door} door"
    load = {"flowers": "a basket full of flowers", "bread": "fresh bread in its basket", "empty": "an empty basket"}[
        f.basket
    ]
    leads = [
        f"{v.a(bike)} with {load} leans against {v.a(wall)}",
        f"{v.a(bike)} is parked between the window and {v.a(door)}",
        f"a quiet lane in {v.place()} with {v.a(bike)} beside {v.a(door)}",
        f"the {bike} of {v.person()} stands in front of the house with {load}",
        f"{v.a(wall)}, {v.a(door)} and {v.a(bike)} with {load}",
    ]
    details = [
        f"it was bought second-hand for {v.money()} in {v.year()}",
        f"{v.person()} rides it to {v.place()} and back every morning",
        "the leather saddle has been polished by many years of use",
        "nobody in this street ever locks a bicycle",
        f"the house behind it was painted {f.wall} to please the neighbours",
        f"the {door} has not been opened since {v.date()}",
    ]
    details.append(
        {
            "flowers": "the flowers were picked on the way home",
            "bread": "the bread is still warm from the oven",
            "empty": "the basket on the handlebars is still empty",
        }[f.basket]
    )
    return v.tell(leads, details)
