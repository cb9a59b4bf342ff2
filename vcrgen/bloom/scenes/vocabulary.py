"""Vocabulary of questions about built-in scenes: parts of a picture and their values, in several languages.

The words of a language are its file ``vcrgen/text/CODE/questions.txt``; questions are written in every language that
has one. Each section maps names to texts; an indented line continues the one above it:

    [seasons]
    winter = winter                  a value
    [labels]
    door = colour of the door        the label of a part of a picture; its name is that of the fact
    [forms]
    colour = What is the {label}?    a sentence with placeholders

All files have the same names and placeholders. A part is written as a label and a value, as in "Colour of
the door: red" and "لون الباب: الأحمر", so that no word has to agree with another one, whatever the value is.
"""

import re
from collections.abc import Mapping
from configparser import Error, RawConfigParser
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from vcrgen.core.errors import VcrgenError
from vcrgen.samples import facts as scenes
from vcrgen.samples.facts import Facts
from vcrgen.text.languages import LANGUAGES

Words = tuple[str, ...]  # the same in all languages of questions, in their order; English is the first


def read_words(texts: Mapping[str, str]) -> dict[str, dict[str, Words]]:
    """Read the words of all languages by section and name.

    Raises:
        VcrgenError: A file cannot be read, or has not the names and placeholders of the others.
    """
    entries = {file: _entries(file, text) for file, text in texts.items()}
    words: dict[str, dict[str, Words]] = {}
    for section, name in sorted({place for own in entries.values() for place in own}):
        texts_of_name = {file: own.get((section, name), "") for file, own in entries.items()}
        placeholders = {file: set(re.findall(r"{(\w+)}", text)) for file, text in texts_of_name.items()}
        for file, text in texts_of_name.items():
            if not text:
                raise VcrgenError(f"{file}: [{section}] needs a line for {name!r}, which other languages have.")
            if missing := set().union(*placeholders.values()) - placeholders[file]:
                raise VcrgenError(f"{file}: {name!r} in [{section}] needs {{{min(missing)}}}, as in other languages.")
        words.setdefault(section, {})[name] = tuple(texts_of_name.values())
    return words


def _entries(file: str, text: str) -> dict[tuple[str, str], str]:
    """The texts of a file by section and name."""
    parser = RawConfigParser(delimiters="=", comment_prefixes="#")
    try:
        parser.read_string(text, file)
    except Error as error:
        raise VcrgenError(f"A file of words is not understood: {' '.join(str(error).split())}") from None
    sections = ((section, parser.items(section)) for section in parser.sections())
    return {(section, name): " ".join(words.split()) for section, items in sections for name, words in items}


_FILES = {lang: files("vcrgen.text") / lang / "questions.txt" for lang in LANGUAGES}
QUESTION_LANGUAGES = tuple(lang for lang, file in _FILES.items() if file.is_file())
WORDS = read_words(
    {f"vcrgen/text/{lang}/questions.txt": _FILES[lang].read_text("utf-8") for lang in QUESTION_LANGUAGES}
)
COLOURS, SEASONS, TIMES, FRUITS = (WORDS[section] for section in ("colours", "seasons", "times", "fruits"))
NUMBERS: Mapping[str, Words] = {str(number): (str(number),) * len(QUESTION_LANGUAGES) for number in range(100)}
# Dawn is left out: a picture cannot tell it from dusk for sure.
_TIMES = ("day", "dusk", "night")
# Teal is left out: many people call it green or blue.
_BRIGHT = tuple(tint for tint in scenes.BRIGHT if tint != "teal")


def fill_in(form: str, **parts: Words | int) -> Words:
    """Fill in a sentence of ``[forms]`` in every language; a number is the same in all of them."""
    return tuple(
        text.format(**{name: part if isinstance(part, int) else part[at] for name, part in parts.items()})
        for at, text in enumerate(WORDS["forms"][form])
    )


def is_dark(facts: Any) -> bool:
    """Return True for a scene by night, in which colours and leaves are not to be told for sure."""
    return getattr(facts, "daytime", "") == "night"


@dataclass(frozen=True, slots=True)
class ScenePart:
    """One part of a kind of picture, of which all values that it may have are equally likely."""

    fact: str  # name of the fact
    words: Mapping[str, Words]  # of every value
    values: tuple[str, ...]  # that it may have
    group: str = ""  # of parts whose values always differ from one another

    @property
    def subject(self) -> str:
        """The subject of a question about the part: the part, or the group whose values tell of one another."""
        return self.group or self.fact

    @property
    def label(self) -> Words:
        """The label: "colour of the door"."""
        return WORDS["labels"][self.fact]

    def value(self, facts: Any) -> str | None:
        """The value in a picture; None if no question can be about it."""
        value = getattr(facts, self.fact)
        if is_dark(facts) and self.words in (COLOURS, SEASONS):
            return None
        text = str(len(value) if isinstance(value, tuple) else value)
        return text if text in self.values else None

    def states(self, value: str) -> Words:
        """The label with a value: "Colour of the door: red"."""
        statement = fill_in("statement", label=self.label, value=self.words[value])
        return tuple(text[0].upper() + text[1:] for text in statement)


def _numbers(low: int, high: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(low, high + 1))


_TEAMS = ("red", "blue", "yellow", "white", "purple", "orange")
_FEW = _numbers(2, 4)
_PAINTS = ("white", "yellow", "blue", "pink", "green", "red")
_FLAGS = ("red", "blue", "yellow", "purple", "green")
_FISH = ("red", "orange", "yellow", "pink", "white")
# By night the colours beside it are not told, so that night would never be right.
_TIME = ScenePart("daytime", TIMES, ("day", "dusk"))
_SEASON = ScenePart("season", SEASONS, scenes.SEASONS)
_COLOURS = "colours"

SCENE_PARTS: Mapping[type[Facts], tuple[ScenePart, ...]] = {
    scenes.Bicycle: (
        ScenePart("wall", COLOURS, _PAINTS, _COLOURS),
        ScenePart("frame", COLOURS, _PAINTS, _COLOURS),
        ScenePart("door", COLOURS, _PAINTS, _COLOURS),
        ScenePart("basket", WORDS["baskets"], ("flowers", "bread", "empty")),
    ),
    scenes.Football: (
        ScenePart("attackers", COLOURS, _TEAMS, _COLOURS),
        ScenePart("defenders", COLOURS, _TEAMS, _COLOURS),
        ScenePart("attacker_count", NUMBERS, _FEW),
        ScenePart("defender_count", NUMBERS, _FEW),
    ),
    scenes.Aquarium: (
        ScenePart("big", COLOURS, _FISH, _COLOURS),
        ScenePart("small", COLOURS, _FISH, _COLOURS),
        ScenePart("big_count", NUMBERS, _numbers(1, 3)),
        ScenePart("small_count", NUMBERS, _numbers(4, 8)),
    ),
    scenes.StillLife: (
        ScenePart("teapot", COLOURS, _BRIGHT),
        ScenePart("cups", NUMBERS, _numbers(1, 3)),
        ScenePart("fruit", FRUITS, ("apple", "orange", "lemon", "pear")),
        ScenePart("outside", TIMES, _TIMES),
    ),
    scenes.WindowCat: (
        ScenePart("coat", COLOURS, scenes.COATS),
        ScenePart("curtains", COLOURS, _BRIGHT),
        ScenePart("pots", NUMBERS, _numbers(1, 3)),
        ScenePart("bloom", COLOURS, ("red", "pink", "yellow", "purple")),
    ),
    scenes.Castle: (
        _SEASON,
        _TIME,
        ScenePart("towers", NUMBERS, _numbers(2, 5)),
        ScenePart("flag", COLOURS, _FLAGS),
    ),
    scenes.Harbour: (
        _TIME,
        ScenePart("boats", NUMBERS, _numbers(1, 4)),
        ScenePart("stripe", COLOURS, ("red", "blue", "green")),
    ),
    scenes.Regatta: (ScenePart("sails", NUMBERS, _numbers(3, 6)),),
}

# Things that come in several colours, of which any are equally likely: the fact, and the colours.
PAINTED: Mapping[type[Facts], tuple[str, tuple[str, ...]]] = {
    scenes.Balloons: ("balloons", _BRIGHT),
    scenes.Beach: ("umbrellas", _BRIGHT),
    scenes.SnowyVillage: ("houses", _BRIGHT),
    scenes.Harbour: ("boats", _BRIGHT),
    scenes.Regatta: ("sails", (*_BRIGHT, "white")),
}
