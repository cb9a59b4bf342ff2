"""Solver of built-in questions: finds the true options from the facts of the picture by parsing the English text.

It is independent of the templates, so that an error there shows: a question is kept only if exactly one of its options
is true here, and that is its key.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vcrgen.samples.facts import Facts

# The value of a label.
_VALUES: Mapping[str, Callable[[Any], Any]] = {
    "colour of the wall": lambda f: f.wall,
    "colour of the bicycle": lambda f: f.frame,
    "colour of the door": lambda f: f.door,
    "content of the basket": lambda f: {"empty": "nothing"}.get(f.basket, f.basket),
    "colour of the team with the ball": lambda f: f.attackers,
    "colour of the team at the goal": lambda f: f.defenders,
    "number of players of the team with the ball": lambda f: f.attacker_count,
    "number of players of the team at the goal": lambda f: f.defender_count,
    "colour of the big fish": lambda f: f.big,
    "colour of the small fish": lambda f: f.small,
    "number of big fish": lambda f: f.big_count,
    "number of small fish": lambda f: f.small_count,
    "colour of the teapot": lambda f: f.teapot,
    "number of cups": lambda f: f.cups,
    "fruit in the bowl": lambda f: f"{f.fruit}s",
    "time of day outside": lambda f: _time(f.outside),
    "colour of the cat": lambda f: f.coat,
    "colour of the curtains": lambda f: f.curtains,
    "number of flower pots": lambda f: f.pots,
    "colour of the flowers": lambda f: f.bloom,
    "season": lambda f: f.season,
    "time of day": lambda f: _time(f.daytime),
    "number of towers": lambda f: f.towers,
    "colour of the flags": lambda f: f.flag,
    "number of boats": lambda f: len(f.boats),
    "colour of the stripes on the lighthouse": lambda f: f.stripe,
    "number of yachts": lambda f: len(f.sails),
}
_PLACES = {
    "a harbour": "Harbour",
    "a beach": "Beach",
    "a castle": "Castle",
    "a village in the snow": "SnowyVillage",
    "a lake in the mountains": "MountainLake",
    "a canal": "WaterTown",
    "a wind farm": "WindFarm",
    "a field of sunflowers": "Sunflowers",
    "a street in a city": "CityNight",
    "a market": "Market",
    "a desert": "Desert",
    "a campsite": "Campsite",
    "an airport": "Airport",
    "a football pitch": "Football",
}
_YEAR = ["winter", "spring", "summer", "autumn"]


def _time(daytime: str) -> str:
    return "twilight" if daytime == "dusk" else daytime


def _is(facts: Any, label: str, value: str) -> bool:
    """Return True if a part has a value."""
    return str(_VALUES[label.lower()](facts)) == value


def _holds(facts: Any, text: str) -> bool:
    """Return True if every statement of a text is true: "Number of cups: 2. Colour of the teapot: red."."""
    statements = [statement.split(": ") for statement in text.rstrip(".").split(". ")]
    return all(_is(facts, label, value) for label, value in statements)


def _group(facts: Any, name: str) -> set[str]:
    """The colours of the things of a name."""
    return set(getattr(facts, name))


def _replied(facts: Any, first: str, second: str, text: str) -> bool:
    first_value, _, second_value = text.partition(", ")
    return _is(facts, first, first_value) and _is(facts, second, second_value)


def _answered(facts: Any, first: str, second: str, text: str) -> bool:
    labels = text.removeprefix("What is the ").removesuffix("?").split(", and the ")
    return _is(facts, labels[0], first) and _is(facts, labels[1], second)


def _wrong_point(facts: Any, note: str, label: str) -> bool:
    points = dict(point.split(": ") for point in note.split("; "))
    return not _is(facts, label, points[label[0].upper() + label[1:]])


def _moon(facts: Any, text: str) -> bool:
    phases = {"a full moon": "full", "a half moon": "half", "a crescent": "crescent", "no moon": None}
    return bool(phases[text] == facts.phase)


def _sight(facts: Any, text: str) -> bool:
    sights = {
        "a fire and a lake": (1, 1),
        "a fire, but no lake": (1, 0),
        "a lake, but no fire": (0, 1),
        "neither a fire nor a lake": (0, 0),
    }
    return sights[text] == (int(facts.fire), int(facts.lake))


def _bar(facts: Any, word: str, number: str) -> bool:
    order = sorted(facts.bars)
    return bool(facts.bars[int(number) - 1] == (order[-1] if word == "tallest" else order[0]))


def _seasons_on(facts: Any, steps: int, season: str) -> bool:
    return (_YEAR.index(season) - _YEAR.index(facts.season)) % 4 == steps


# The beginning of a question, and the test of an option; groups are further arguments.
_FORMS: Sequence[tuple[str, Callable[..., bool]]] = (
    (
        r"What is in the crate furthest to the (left|right)\?",
        lambda f, side, option: f"{f.crates[0 if side == 'left' else -1]}s" == option,
    ),
    (r"Which shape does the moon have", _moon),
    (r"Which place does the picture show", lambda f, option: _PLACES[option] == type(f).__name__),
    (r"Which description fits", _holds),
    (r"Which colour does none of the (\w+) have\?", lambda f, name, option: option not in _group(f, name)),
    (
        r"Which two colours can both be found among the (\w+)\?",
        lambda f, name, option: set(option.split(" and ")) <= _group(f, name),
    ),
    (r"Each boat needs (\d+) people", lambda f, crew, option: int(option) == int(crew) * len(f.boats)),
    (r"Each yacht needs (\d+) people", lambda f, crew, option: int(option) == int(crew) * len(f.sails)),
    (r"Each tower needs (\d+) people", lambda f, crew, option: int(option) == int(crew) * f.towers),
    (
        r"Take the ([\w ]+)\. Add (\d+)\. Then subtract (\d+)\.",
        lambda f, label, more, less, option: int(_VALUES[label](f)) == int(option) + int(less) - int(more),
    ),
    (r"The picture is from the northern half", lambda f, option: _seasons_on(f, 2, option)),
    (r"Imagine the same place three months later", lambda f, option: _seasons_on(f, 1, option)),
    (r"Counted from the left, at which place is the (tallest|shortest) bar", _bar),
    (r"How many more small fish than big fish", lambda f, option: f.big_count + int(option) == f.small_count),
    (
        r"Count the players of both teams together\. Two of them leave",
        lambda f, option: int(option) + 2 == f.attacker_count + f.defender_count,
    ),
    (r"Which statement about the picture is false", lambda f, option: not _holds(f, option)),
    (r"A note about the picture says: (.*)\. In which point is the note wrong\?", _wrong_point),
    (r"Look for a fire and a lake", _sight),
    (r"Which description is right about", _holds),
    (r'A friend asks about the picture: "What is the (.*), and what is the (.*)\?"', _replied),
    (r"The answers are: (.*), (\d+)\. Which questions", _answered),
    (r"What is the ([\w ]+)\?$", _is),
)


def true_options(facts: Facts, stem: str, options: Sequence[str]) -> list[int]:
    """The numbers of the options that are true of a picture, from 0.

    Raises:
        ValueError: The question has no known form.
    """
    for form, is_true in _FORMS:
        if match := re.match(form, stem):
            return [number for number, option in enumerate(options) if is_true(facts, *match.groups(), option)]
    raise ValueError(f"no form of a question: {stem[:80]!r}")
