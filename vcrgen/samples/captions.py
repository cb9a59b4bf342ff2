"""Captions as data: how the files ``vcrgen/text/<language>/captions.txt`` are read and become sentences.

A file has sections. `[settings]`, `[joins]` and `[words]` belong to the language; `[any picture]` fits every scene;
each other section is named after a kind of scene and sees its facts (`vcrgen/samples/facts.py`) by their names:

    [harbour]
    fleet = {things boats "fishing boat"}                a name for this caption, decided once
    - {fleet} lie{s boats.count} at anchor               a first sentence, without capital and full stop
    + the ferry to {place} leaves at {time 6..22}        a sentence that may follow
    + if gulls: {count gulls "gull"} circle above        one that is left out where the condition does not hold

An indented line continues the one above it. In `[any picture]` a line with `*` is a sentence that may stand last, one
with `@` names an artist and a date. In braces stands what is put in:

    {place} {time 6..22} {count n "boat"}                what `[words]` calls so, with values: names, numbers, "texts"
    {3..9} {00..55 by 5}                                 a number at random
    {red | green | blue}                                 one of some texts at random
    {snowing ? large flakes fall | the snow has stopped} the first text if the fact is true, not 0 and not empty
    {season: autumn = red leaves | winter = snow | trees}  the text for a value (`1, 2 =` for more, `0..11 =`)
    {hue *boats}                                         a word for each of several values, as a list

Conditions may be `not fire` and `daytime = dusk, night`. Several values have a `count`, a `first`, a `last`, the `rest`
before the last, and are the `same` or not; the `first` and the `last` of a text are words.

A line of `[words]` is put together anew wherever it is used. It may have parameters, a chance of its first text, and
the bits of chance in an invented name, by which captions can be told apart:

    number n = {n: 1 = one | 2 = two}
    place = 20% {city} | {village}
    village [9 bits] = {Alder | Amber | Ash}{bridge | bury | by}

`[joins]` says how words change before others: with `a~ VOWEL = an`, "a~ owl" becomes "an owl", and "a~ cat" "a cat".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log2
from random import Random

from vcrgen.errors import VcrgenError
from vcrgen.samples.facts import Facts
from vcrgen.samples.template import Rule, Telling, TemplateReader, Text

_SECTION = re.compile(r"\[([\w ]+)\]")
_NAMED = re.compile(r"([^\W\d]\w*)((?: [^\W\d]\w*)*)(?: \[([\d.]+) bits\])? *=(.*)")
_SENTENCE = re.compile(r"([-+*@]) (?:if ([^:{]+): )?(.*)")
_JOIN = re.compile(r"(\S+~) (\S+) *= *(.+)")
_OWN = ("settings", "joins", "words")
_SETTINGS = {"end", "space", "comma", "length"}
_ANY = "any picture"
_ALWAYS = {"season", "earliest"}


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a scene: a sentence with its sign, or a name instead of a sign; and its condition."""

    reader: TemplateReader
    sign: str
    holds: Text | None
    text: Text


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines and their numbers; without empty ones and comments, indented ones joined to the line above."""
    lines: dict[int, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(" ") and lines:
            lines[max(lines)] += f" {line.strip()}"
        elif line.strip() and not line.startswith("#"):
            lines[number] = line.strip()
    yield from lines.items()


class Captions:
    """The captions of a language."""

    def __init__(self, text: str, kinds: Mapping[str, type[Facts]], *, file: str) -> None:
        """Read a file of captions.

        Args:
            text: Of the file.
            kinds: The kinds of scene with their facts; each has to have a section.
            file: Name of the file, for messages.

        Raises:
            VcrgenError: A line is wrong, or a section is missing; the message names it.
        """
        self._settings: dict[str, str] = {}
        self._joins: list[tuple[re.Pattern[str], str]] = []
        self._words: dict[str, Rule] = {}
        self._scenes: dict[str, list[_Line]] = {}
        facts = {kind: _ALWAYS | set(record.names()) for kind, record in kinds.items()} | {_ANY: _ALWAYS}
        used, section, known = [], "", set[str]()
        for number, line in _lines(text):
            reader = TemplateReader(f"{file}, line {number}")
            if match := _SECTION.fullmatch(line):
                section = match[1]
                if section not in _OWN and section not in facts:
                    raise reader.wrong(f"there is no scene {section!r}")
                known = set(facts.get(section, _ALWAYS))
                if section in facts:
                    self._scenes[section] = []
            else:
                named = self._read(reader, section, line)
                used += [(reader, *use) for use in reader.used if use[1] or use[0] not in known | named]
                known |= named if section in facts else set()
        for reader, name, values in used:
            if name not in self._words:
                raise reader.wrong(f"nothing is called {name!r}")
            if values > len(self._words[name].parameters):
                raise reader.wrong(f"{name!r} takes {len(self._words[name].parameters)} values, not {values}")
        if missing := _SETTINGS - self._settings.keys():
            raise VcrgenError(f"{file}: the setting {min(missing)!r} is missing.")
        for kind in facts:
            always = {line.sign for line in self._scenes.get(kind, ()) if not line.holds}
            if missing := {"*", "@"} - always if kind == _ANY else {"-"} - always:
                raise VcrgenError(f"{file}: the section [{kind}] needs a line with {min(missing)} and no condition.")

    def _read(self, reader: TemplateReader, section: str, line: str) -> set[str]:
        """Read a line, and return the names that it gives."""
        named, scene = _NAMED.fullmatch(line), self._scenes.get(section)
        if section == "joins" and (join := _JOIN.fullmatch(line)):
            self._joins.append(self._join(*join.groups()))
        elif named and section == "settings":
            self._settings[named[1]] = named[4].strip().strip('"')
            if named[1] == "length" and not self._settings["length"].isdigit():
                raise reader.wrong("the length is a number of characters")
        elif named and section == "words":
            parameters = tuple(named[2].split())
            self._words[named[1]] = Rule(parameters, float(named[3] or 0), reader.either(named[4]))
            return set(parameters)
        elif scene is not None and (sentence := _SENTENCE.fullmatch(line)):
            holds = reader.condition(sentence[2]) if sentence[2] else None
            scene.append(_Line(reader, sentence[1], holds, reader.text(sentence[3])))
        elif scene is not None and named and not named[2]:
            scene.append(_Line(reader, named[1], None, reader.either(named[4])))
            return {named[1]}
        else:
            raise reader.wrong(f"{line[:60]!r} is not understood")
        return set()

    def _join(self, first: str, second: str, joined: str) -> tuple[re.Pattern[str], str]:
        if second == "VOWEL":
            vowels = self._settings.get("vowels", "aeiou")
            pattern, joined = rf"(?=[{re.escape(vowels)}])", joined if joined.endswith("'") else f"{joined} "
        else:
            pattern = rf"{re.escape(second)}\b"
        return re.compile(rf"(?<!\w){re.escape(first)} {pattern}", re.IGNORECASE), joined

    def tell(self, kind: str, facts: Facts, rng: Random, turn: int) -> str:
        """Return a caption of one to four sentences.

        Args:
            kind: Of the scene.
            facts: What is in the picture.
            rng: Makes the choices.
            turn: How many captions of the same kind of scene there were before this one.
        """
        names = {"season": None, "earliest": 1962} | {name: getattr(facts, name) for name in facts.names()}
        telling = Telling(self._words, rng, names, self._settings["comma"])
        told = self._told(telling, kind)
        sentences = [rng.choice(told["-"])]
        wanted = rng.choices((0, 1, 2, 3), (26, 42, 24, 8))[0]
        more = rng.sample(told["+"], min(wanted, len(told["+"])))
        if more and rng.random() < 0.5:
            more[-1] = rng.choice(self._told(telling, _ANY, "*")["*"])
        # A few captions run on: the layout has to cut them at its last line.
        room = float(self._settings["length"]) * (1.6 if rng.random() < 0.06 else 1.0)
        for sentence in more:
            if sum(map(len, sentences)) + len(sentence) <= room:
                sentences.append(sentence)
        # Two captions of a kind must never be equal. After n others, a caption with b bits of invented names
        # and dates meets its like with a chance of about n / 2^b: so what is needed grows with n^2. The
        # choice of sentences and facts has bits of its own, which is why the first captions get by without.
        if sum(bits for name, bits in telling.coined if name in "".join(sentences)) < 2 * log2(turn + 1) - 2:
            sentences.append(rng.choice(self._told(telling, _ANY, "@")["@"]))
        end = "" if len(sentences) == 1 and rng.random() < 0.3 else self._settings["end"]
        return self._settings["space"].join(text[0].upper() + text[1:] + end for text in sentences)

    def _told(self, telling: Telling, section: str, signs: str = "-+") -> dict[str, list[str]]:
        """Put all sentences with some signs together, in the order of their lines, and return them by signs."""
        told: dict[str, list[str]] = {sign: [] for sign in signs}
        for line in self._scenes[section]:
            try:
                if line.sign.isidentifier():
                    telling.names[line.sign] = line.text(telling)
                elif line.sign in told and (line.holds is None or line.holds(telling)):
                    told[line.sign].append(self._joined(str(line.text(telling))))
            except (TypeError, IndexError, RecursionError) as error:
                raise line.reader.wrong(f"this cannot be told ({error})") from None
        return told

    def _joined(self, text: str) -> str:
        if "~" in text:
            for pattern, joined in self._joins:
                text = pattern.sub(joined, text)
        return text.replace("~", "")
