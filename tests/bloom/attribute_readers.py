"""Four readers of attributes, of colours, counts, seasons and times, and things: they look up and do not think.

Together they take the option that agrees with the picture in most attributes, whatever is asked. What they solve is a
look-up of attributes, so it belongs to *remember* or *understand*.
"""

import re
from typing import Any

from vcrgen.bloom.scenes.vocabulary import PAINTED, SCENE_PARTS, WORDS
from vcrgen.samples.facts import Facts

_MOONS = {"full": "a full moon", "half": "a half moon", "crescent": "a crescent"}


def _english(section: str, name: str) -> str:
    return WORDS[section][name][0]


def attributes(facts: Facts) -> dict[str, set[str]]:
    """The values that the four readers see, by the label of the part."""
    found: dict[str, set[str]] = {}
    for part in SCENE_PARTS.get(type(facts), ()):
        if value := part.value(facts):
            found[part.label[0]] = {part.words[value][0]}
    if type(facts) in PAINTED:
        fact, _ = PAINTED[type(facts)]
        found[_english("things", fact)] = {
            _english("colours", value) for value in getattr(facts, fact) if value != "teal"
        }
    if hasattr(facts, "phase"):
        found["moon"] = {_MOONS.get(facts.phase or "", "no moon")}
    if crates := getattr(facts, "crates", None):
        found["left"], found["right"] = ({_english("fruits", crates[at])} for at in (0, -1))
    if hasattr(facts, "fire"):
        sights = {(1, 1): "fire_and_lake", (1, 0): "fire", (0, 1): "lake", (0, 0): "neither"}
        found["lake"] = {_english("sights", sights[facts.fire, facts.lake])}  # type: ignore[attr-defined]
    name = re.sub("(?<=[a-z])(?=[A-Z])", "_", type(facts).__name__).lower()
    if name in WORDS["places"]:
        found["place"] = {_english("places", name)}
    return found


def agreement(facts: Facts, question: str, option: str) -> int:
    """The attributes of an option that the picture has."""
    seen = attributes(facts)
    if ": " in option:
        said = [statement.split(": ") for statement in option.rstrip(".").split(". ")]
        return sum(value in seen.get(label.lower(), ()) for label, value in said)
    asked = [values for label, values in seen.items() if re.search(rf"\b{label}\b", question)]
    values = set[str]().union(*(asked or seen.values()))
    return sum(part in values for part in {option, *re.split(", | and ", option)})


def credit_of(facts: Facts, row: dict[str, Any]) -> float:
    """The share of the right option among those that agree most."""
    scores = [agreement(facts, row["question_en"], option) for option in row["options_en"]]
    best = [letter for letter, score in zip("ABCD", scores, strict=True) if score == max(scores)]
    return (row["answer"] in best) / len(best)
