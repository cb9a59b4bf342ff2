"""Templates of questions: from the facts of a picture to a question with one right option, a trap and two others.

There is no text-only shortcut: templates are symmetric, so that every option is the key with equal prior probability.
Nor do the items of one picture give one another away: no two of them speak of the same part (`Draft.subjects`),
and parts whose values always differ, as the colours of two teams, count as one. There are three kinds.

- *the same four options* in every question of a template, and as many questions for each (`Draft.values`);
- *a grid*: two values of one part times two of another, so that each option differs from two others in one part;
- *a mirror*: "wall red, door blue" and "wall blue, door red", and the same with two other colours.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from vcrgen.bloom.scenes.vocabulary import (
    COLOURS,
    FRUITS,
    NUMBERS,
    PAINTED,
    SCENE_PARTS,
    SEASONS,
    WORDS,
    ScenePart,
    Words,
    fill_in,
    is_dark,
)
from vcrgen.samples import facts as scenes
from vcrgen.samples.facts import Facts


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before its options have letters."""

    stem: Words
    options: tuple[Words, ...]  # the right one, the trap, two others
    subjects: frozenset[str]  # parts of the picture that it tells of; `WHOLE` for all of it
    value: str = ""  # that of the picture among `values`
    values: tuple[str, ...] = ()  # to be balanced in a set; none where chance balances them
    kind: str = ""  # of the picture, within which they are balanced; "" for all kinds together


WHOLE = frozenset(["the whole picture"])
Template = Callable[[Any, Random], Draft | None]
"""Drafts a question from the facts of one kind of picture; None if these do not suit."""


def _same_four(
    facts: Facts,
    subjects: Sequence[str],
    stem: Words,
    words: Mapping[str, Words],
    values: Sequence[str],
    key: str,
    *traps: str,
) -> Draft:
    """Draft a question with fixed options; the trap is the first of the traps that is a wrong option."""
    trap = next(value for value in (*traps, *values) if value in values and value != key)
    others = [value for value in values if value not in (key, trap)]
    options = tuple(words[value] for value in (key, trap, *others))
    return Draft(stem, options, frozenset(subjects), key, tuple(values), type(facts).__name__)


def _two(facts: Facts, rng: Random, *names: str) -> tuple[ScenePart, ScenePart] | None:
    """Choose two parts of a picture with known values, among the named ones or all."""
    slots = [slot for slot in SCENE_PARTS[type(facts)] if slot.value(facts) and (not names or slot.fact in names)]
    return tuple(rng.sample(slots, 2)) if len(slots) > 1 else None  # type: ignore[return-value]


def _others(slots: Sequence[ScenePart], facts: Facts, rng: Random) -> list[str]:
    """Draw a false value for each part.

    Where values always differ from one another, so do these, and from those in the picture: two equal ones would
    tell that one is false.
    """
    taken = {slot.value(facts) for slot in SCENE_PARTS[type(facts)] if slot.group}
    values = []
    for slot in slots:
        excluded = taken if slot.group else {slot.value(facts)}
        values.append(rng.choice([value for value in slot.values if value not in excluded]))
        if slot.group:
            taken.add(values[-1])
    return values


def _subjects(slots: Sequence[ScenePart]) -> frozenset[str]:
    return frozenset(slot.subject for slot in slots)


def _grid(
    facts: Facts, rng: Random, slots: tuple[ScenePart, ScenePart], stem: Words, option: Callable[[str, str], Words]
) -> Draft | None:
    """Two values of each of two parts; the trap is right in the first and wrong in the second."""
    (a, c), (b, d) = (slot.value(facts) or "" for slot in slots), _others(slots, facts, rng)
    return Draft(stem, (option(a, c), option(a, d), option(b, c), option(b, d)), _subjects(slots))


def _both(slots: Sequence[ScenePart], values: Sequence[str]) -> Words:
    """Two parts with their values: "Number of cups: 2. Colour of the teapot: red."."""
    first, second = (slot.states(value) for slot, value in zip(slots, values, strict=True))
    return fill_in("two_statements", first=first, second=second)


def colour(facts: Facts, rng: Random) -> Draft | None:
    """The colour of one part; the trap is that of another part."""
    part, other = rng.sample([slot for slot in SCENE_PARTS[type(facts)] if slot.words is COLOURS], 2)
    key, trap = part.value(facts) or "", other.value(facts) or ""
    rest = rng.sample([value for value in part.values if value not in (key, trap)], 2)
    options = tuple(COLOURS[value] for value in (key, trap, *rest))
    return Draft(fill_in("colour", label=part.label), options, _subjects((part, other)))


def moon(facts: Any, rng: Random) -> Draft | None:
    """The shape of the moon, if there is one."""
    key, values = facts.phase or "none", (*scenes.PHASES, "none")
    trap = {"full": "half", "half": "crescent", "crescent": "half", "none": "crescent"}[key]
    return _same_four(facts, ["phase"], fill_in("moon"), WORDS["moons"], values, key, trap)


def place(facts: Facts, rng: Random) -> Draft | None:
    """The place; the trap is its neighbour, and the others are two more neighbours. Any other item would name it."""
    at, names = tuple(_PLACES).index(type(facts)), tuple(_PLACES.values())
    pair = rng.choice([first for first in range(0, len(names), 2) if first != at - at % 2])
    numbers = (at, at ^ 1, pair, pair + 1)
    options = tuple(WORDS["places"][names[number]] for number in numbers)
    return Draft(fill_in("place"), options, WHOLE, names[at], names)


def crate(facts: scenes.Market, rng: Random) -> Draft | None:
    """The content of the crate at one end; the trap is that of the crate at the other end."""
    side = rng.choice((0, -1))
    key, trap = facts.crates[side], facts.crates[-1 - side]
    rest = rng.sample([fruit for fruit in scenes.FRUITS if fruit not in (key, trap)], 2)
    options = tuple(FRUITS[fruit] for fruit in (key, trap, *rest))
    return Draft(fill_in("crate_right" if side else "crate_left"), options, frozenset(["crates"]))


def mirrored(facts: Facts, rng: Random) -> Draft | None:
    """The colours of two parts; the trap swaps them."""
    slots = [slot for slot in SCENE_PARTS[type(facts)] if slot.words is COLOURS]
    there = {slot.value(facts) for slot in slots}
    first, second = rng.sample(slots, 2)
    a, b = first.value(facts) or "", second.value(facts) or ""
    c, d = rng.sample([value for value in first.values if value not in there], 2)
    options = tuple(_both((first, second), pair) for pair in ((a, b), (b, a), (c, d), (d, c)))
    return Draft(fill_in("mirrored"), options, _subjects(slots))


def scenery(facts: Facts, rng: Random) -> Draft | None:
    """The time of day together with something else of the place."""
    if not (slots := _two(facts, rng, "daytime", "season" if isinstance(facts, scenes.Castle) else "boats")):
        return None
    return _grid(facts, rng, slots, fill_in("scenery"), lambda *values: _both(slots, values))


def _painted(facts: Facts) -> tuple[list[str], list[str], str] | None:
    """The colours of some things, the other colours, and the fact; None if one has no certain name."""
    fact, colours = PAINTED[type(facts)]
    there = list(dict.fromkeys(getattr(facts, fact)))
    if is_dark(facts) or not set(there) <= set(colours):
        return None
    return there, [value for value in colours if value not in there], fact


def absent(facts: Facts, rng: Random) -> Draft | None:
    """A colour that nothing has; the trap is one that something has."""
    if (painted := _painted(facts)) is None or len(painted[0]) < 3:
        return None
    there, missing, fact = painted
    values = rng.choice(missing), *rng.sample(there, 3)
    stem = fill_in("absent", things=WORDS["things"][fact])
    return Draft(stem, tuple(COLOURS[value] for value in values), frozenset([fact]))


def both_there(facts: Facts, rng: Random) -> Draft | None:
    """Two colours that are both there; in the trap only the first one is."""
    if (painted := _painted(facts)) is None or min(map(len, painted[:2])) < 2:
        return None
    there, missing, fact = painted
    (a, c), (b, d) = (rng.sample(colours, 2) for colours in (there, missing))
    options = tuple(
        fill_in("two_colours", first=COLOURS[first], second=COLOURS[second])
        for first, second in ((a, c), (a, d), (b, c), (b, d))
    )
    return Draft(fill_in("both_there", things=WORDS["things"][fact]), options, frozenset([fact]))


_CREWS: Mapping[type[Facts], str] = {scenes.Harbour: "boats", scenes.Regatta: "sails", scenes.Castle: "towers"}


def product(facts: Facts, rng: Random) -> Draft | None:
    """A number of things times a given number; the trap counts one thing more, or one less."""
    fact = _CREWS[type(facts)]
    slot, times = _slot(facts, fact), rng.randint(3, 5)
    count = int(slot.value(facts) or 0)
    values = tuple(str(times * int(value)) for value in slot.values)
    key, more, less = (str(times * number) for number in (count, count + 1, count - 1))
    return _same_four(facts, [fact], fill_in(f"product_{fact}", number=times), NUMBERS, values, key, more, less)


def steps(facts: Facts, rng: Random) -> Draft | None:
    """A number of things, and two steps to be done with it; the trap leaves out the second one."""
    slot = _slot(facts, _CREWS[type(facts)])
    more, less = rng.randint(3, 9), rng.randint(1, 2)
    shift, count = more - less, int(slot.value(facts) or 0)
    values = tuple(str(int(value) + shift) for value in slot.values)
    stem = fill_in("steps", label=slot.label, more=more, less=less)
    traps = str(count + more), str(count + shift - less)
    return _same_four(facts, [slot.subject], stem, NUMBERS, values, str(count + shift), *traps)


def _slot(facts: Facts, fact: str) -> ScenePart:
    return next(slot for slot in SCENE_PARTS[type(facts)] if slot.fact == fact)


def _season(steps_on: int, form: str) -> Template:
    """A question for the season so many seasons later; the trap is the one in the picture."""
    order = scenes.SEASONS

    def template(facts: Any, rng: Random) -> Draft | None:
        if is_dark(facts):
            return None
        at = order.index(facts.season)
        return _same_four(facts, ["season"], fill_in(form), SEASONS, order, order[(at + steps_on) % 4], order[at])

    return template


opposite = _season(2, "opposite")
later = _season(1, "later")


def bar(facts: scenes.Chart, rng: Random) -> Draft | None:
    """The place of the tallest or the shortest bar; the trap is the other one of these."""
    if facts.trend != "mixed":  # in the others it stands at an end, which can be guessed
        return None
    ends = [(facts.tallest, "bar_tallest"), (facts.shortest, "bar_shortest")]
    (key, form), (trap, _) = rng.sample(ends, 2)
    rest = rng.sample([number for number in range(1, len(facts.bars) + 1) if number not in (key, trap)], 2)
    return Draft(fill_in(form), tuple(NUMBERS[str(number)] for number in (key, trap, *rest)), frozenset(["bars"]))


def difference(facts: scenes.Aquarium, rng: Random) -> Draft | None:
    """The difference of two counts; the trap is one of the counts."""
    key, values = str(facts.small_count - facts.big_count), ("3", "4", "5", "6")
    if key not in values:
        return None
    near = str(int(key) + 1)
    traps = str(facts.small_count), str(facts.big_count), near
    return _same_four(facts, ["big_count", "small_count"], fill_in("difference"), NUMBERS, values, key, *traps)


def remaining(facts: scenes.Football, rng: Random) -> Draft | None:
    """The number of players after two have left; the trap is the number before."""
    players = facts.attacker_count + facts.defender_count
    key, values = str(players - 2), ("3", "4", "5", "6")
    if key not in values:
        return None
    subjects, traps = ["attacker_count", "defender_count"], (str(players), str(players - 4), str(players - 1))
    return _same_four(facts, subjects, fill_in("remaining"), NUMBERS, values, key, *traps)


def _one_wrong(facts: Facts, rng: Random) -> tuple[list[ScenePart], list[str]] | None:
    """The four parts of a picture with a value each, of which the first is wrong."""
    slots = list(SCENE_PARTS[type(facts)])
    rng.shuffle(slots)
    values = [slot.value(facts) or "" for slot in slots]
    return (slots, [*_others(slots[:1], facts, rng), *values[1:]]) if all(values) else None


def false_statement(facts: Facts, rng: Random) -> Draft | None:
    """Four statements of which one is false; the trap is a true one."""
    if not (wrong := _one_wrong(facts, rng)):
        return None
    slots, values = wrong
    statements = tuple(slot.states(value) for slot, value in zip(slots, values, strict=True))
    names = tuple(slot.fact for slot in SCENE_PARTS[type(facts)])
    return Draft(fill_in("false_statement"), statements, WHOLE, slots[0].fact, names, type(facts).__name__)


def conflict(facts: Facts, rng: Random) -> Draft | None:
    """A note in four points of which one is wrong; the trap is another point."""
    if not (wrong := _one_wrong(facts, rng)):
        return None
    slots, values = wrong
    points = [slot.states(value) for slot, value in zip(slots, values, strict=True)]
    rng.shuffle(points)
    stem = fill_in("conflict", **{f"point{number}": words for number, words in enumerate(points, 1)})
    labels = tuple(slot.label for slot in slots)
    names = tuple(slot.fact for slot in SCENE_PARTS[type(facts)])
    return Draft(stem, labels, WHOLE, slots[0].fact, names, type(facts).__name__)


def sights(facts: scenes.Campsite, rng: Random) -> Draft | None:
    """Two things, either of which may be there; the trap is wrong about the lake."""
    kinds = {(1, 1): "fire_and_lake", (1, 0): "fire", (0, 1): "lake", (0, 0): "neither"}
    key, trap = kinds[facts.fire, facts.lake], kinds[facts.fire, not facts.lake]
    return _same_four(facts, ["fire", "lake"], fill_in("sights"), WORDS["sights"], tuple(kinds.values()), key, trap)


def caption(facts: Facts, rng: Random) -> Draft | None:
    """A description that is true in both of its parts."""
    if not (slots := _two(facts, rng)):
        return None
    first, second = (slot.label for slot in slots)
    stem = fill_in("caption", first=first, second=second)
    return _grid(facts, rng, slots, stem, lambda *values: _both(slots, values))


def reply(facts: Facts, rng: Random) -> Draft | None:
    """The reply to a question about two things."""
    if not (slots := _two(facts, rng)):
        return None
    first, second = slots

    def option(a: str, b: str) -> Words:
        return fill_in("reply_told", first=first.words[a], second=second.words[b])

    stem = fill_in("reply", first=first.label, second=second.label)
    return _grid(facts, rng, slots, stem, option)


def questions(facts: scenes.Football, rng: Random) -> Draft | None:
    """Two questions that have given answers; the trap asks for the wrong number. Both numbers have the same range."""
    slots = SCENE_PARTS[type(facts)]
    colours, counts = rng.sample(slots[:2], 2), rng.sample(slots[2:4], 2)
    value, number = colours[0].value(facts) or "", counts[0].value(facts) or ""
    if counts[1].value(facts) == number:
        return None
    options = (fill_in("two_questions", first=a.label, second=b.label) for a in colours for b in counts)
    return Draft(fill_in("questions", colour=COLOURS[value], number=NUMBERS[number]), tuple(options), WHOLE)


_PLACES = {  # neighbours, from the first, are taken for one another
    scenes.Harbour: "harbour",
    scenes.Beach: "beach",
    scenes.Castle: "castle",
    scenes.SnowyVillage: "snowy_village",
    scenes.MountainLake: "mountain_lake",
    scenes.WaterTown: "water_town",
    scenes.WindFarm: "wind_farm",
    scenes.Sunflowers: "sunflowers",
    scenes.CityNight: "city_night",
    scenes.Market: "market",
    scenes.Desert: "desert",
    scenes.Campsite: "campsite",
    scenes.Airport: "airport",
    scenes.Football: "football",
}
_WITH_COLOURS = (scenes.Bicycle, scenes.Football, scenes.Aquarium)
_INDOORS = (scenes.StillLife, scenes.WindowCat)
_FOUR_PARTS = (*_WITH_COLOURS, *_INDOORS)
_COUNTED = tuple(_CREWS)

TEMPLATES: Mapping[str, tuple[Template, tuple[type[Facts], ...]]] = {
    "remember/attribute recognition/color": (colour, _WITH_COLOURS),
    "remember/attribute recognition/shape": (moon, (scenes.CityNight, scenes.Desert)),
    "remember/core object recognition/outdoor scenes": (place, tuple(_PLACES)),
    "remember/core object recognition/produce & plants": (crate, (scenes.Market,)),
    "remember/core object recognition/common objects": (reply, (*_FOUR_PARTS, scenes.Castle, scenes.Harbour)),
    "understand/compositional core object recognition/clothing & accessories": (mirrored, (scenes.Football,)),
    "understand/compositional core object recognition/animals": (mirrored, (scenes.Aquarium,)),
    "understand/compositional core object recognition/vehicles": (mirrored, (scenes.Bicycle,)),
    "understand/compositional core object recognition/outdoor scenes": (scenery, (scenes.Castle, scenes.Harbour)),
    "understand/compositional core object recognition/indoor scenes": (caption, _INDOORS),
    "understand/compositional core object recognition/common objects": (both_there, tuple(PAINTED)),
    "understand/compositional core object recognition/closed vocabulary object detection": (
        sights,
        (scenes.Campsite,),
    ),
    "apply/basic logic operation/negation understanding": (absent, tuple(PAINTED)),
    "apply/knowledge application/applying a mathematical formula": (product, _COUNTED),
    "apply/knowledge application/procedural step following": (steps, _COUNTED),
    "apply/knowledge application/applying a scientific concept": (opposite, (scenes.Castle,)),
    "analyze/structured data analysis/chart analysis": (bar, (scenes.Chart,)),
    "analyze/contextual inference/comparative reasoning": (difference, (scenes.Aquarium,)),
    "analyze/logical and scientific reasoning/math reasoning": (remaining, (scenes.Football,)),
    "evaluate/logical coherence evaluation/object hallucination evaluation": (false_statement, _FOUR_PARTS),
    "evaluate/logical coherence evaluation/conflicting scenario evaluation": (conflict, _FOUR_PARTS),
    "create/structured creation/image-based question generation": (questions, (scenes.Football,)),
    "create/structured creation/counterfactual creation": (later, (scenes.Castle,)),
}
"""The template of each category, and the kinds of pictures that it suits."""
