"""Captions as data: the grammar of the files ``vcrgen/text/<language>/captions.txt``.

A file has sections. `[settings]`, `[joins]` and `[words]` belong to the language; `[any picture]` fits every scene;
each other section is named after a kind of scene and sees its facts (`vcrgen/samples/facts.py`) by their names:

    [harbour]
    fleet = {things boats "fishing boat"}                a name for this caption, decided once
    - {fleet} lie{s boats.count} at anchor               a first sentence, without capital and full stop
    + the ferry to {place} leaves at {time 6..22}        a sentence that may follow
    + if gulls: {count gulls "gull"} circle above        one that is left out if the condition is false

An indented line continues the one above it. In `[any picture]` a line with `*` is a sentence that may stand last, one
with `@` names an artist and a date. Braces hold expressions:

    {place} {time 6..22} {count n "boat"}                a rule of `[words]`, with values: names, numbers, "texts"
    {3..9} {00..55 by 5}                                 a random number
    {red | green | blue}                                 a random one of the texts
    {snowing ? large flakes fall | the snow has stopped} the first text if the fact is true, not 0 and not empty
    {season: autumn = red leaves | winter = snow | trees}  the text for a value (`1, 2 =` for more, `0..11 =`)
    {hue *boats}                                         a word for each of several values, as a list

Conditions may be `not fire` and `daytime = dusk, night`. Several values have a `count`, a `first`, a `last`, the `rest`
before the last, and are the `same` or not; the `first` and the `last` of a text are words.

A rule of `[words]` is expanded anew at each use. It may have parameters, a chance of its first text, and the bits of
entropy of an invented name, by which captions are distinguished:

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

from vcrgen.core.errors import VcrgenError
from vcrgen.samples.facts import Facts
from vcrgen.samples.template import Expansion, Node, Rule, TemplateParser

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
    """A line of a scene: a sentence with its sign, or a name in place of the sign; and its condition."""

    parser: TemplateParser
    sign: str
    condition: Node | None
    text: Node


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield line numbers and lines, without empty ones and comments; indented lines are joined to the line above."""
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
        used, section, names = [], "", set[str]()
        for number, line in _lines(text):
            parser = TemplateParser(f"{file}, line {number}")
            if match := _SECTION.fullmatch(line):
                section = match[1]
                if section not in _OWN and section not in facts:
                    raise parser.error(f"there is no scene {section!r}")
                names = set(facts.get(section, _ALWAYS))
                if section in facts:
                    self._scenes[section] = []
            else:
                named = self._read(parser, section, line)
                used += [(parser, *use) for use in parser.references if use[1] or use[0] not in names | named]
                names |= named if section in facts else set()
        for parser, name, values in used:
            if name not in self._words:
                raise parser.error(f"nothing is called {name!r}")
            if values > len(self._words[name].parameters):
                raise parser.error(f"{name!r} takes {len(self._words[name].parameters)} values, not {values}")
        if missing := _SETTINGS - self._settings.keys():
            raise VcrgenError(f"{file}: the setting {min(missing)!r} is missing.")
        for kind in facts:
            always = {line.sign for line in self._scenes.get(kind, ()) if not line.condition}
            if missing := {"*", "@"} - always if kind == _ANY else {"-"} - always:
                raise VcrgenError(f"{file}: the section [{kind}] needs a line with {min(missing)} and no condition.")

    def _read(self, parser: TemplateParser, section: str, line: str) -> set[str]:
        """Read a line, and return the names that it defines."""
        named, scene = _NAMED.fullmatch(line), self._scenes.get(section)
        if section == "joins" and (join := _JOIN.fullmatch(line)):
            self._joins.append(self._join(*join.groups()))
        elif named and section == "settings":
            self._settings[named[1]] = named[4].strip().strip('"')
            if named[1] == "length" and not self._settings["length"].isdigit():
                raise parser.error("the length is a number of characters")
        elif named and section == "words":
            parameters = tuple(named[2].split())
            self._words[named[1]] = Rule(parameters, float(named[3] or 0), parser.alternatives(named[4]))
            return set(parameters)
        elif scene is not None and (sentence := _SENTENCE.fullmatch(line)):
            condition = parser.condition(sentence[2]) if sentence[2] else None
            scene.append(_Line(parser, sentence[1], condition, parser.text(sentence[3])))
        elif scene is not None and named and not named[2]:
            scene.append(_Line(parser, named[1], None, parser.alternatives(named[4])))
            return {named[1]}
        else:
            raise parser.error(f"{line[:60]!r} is not understood")
        return set()

    def _join(self, first: str, second: str, joined: str) -> tuple[re.Pattern[str], str]:
        if second == "VOWEL":
            vowels = self._settings.get("vowels", "aeiou")
            pattern, joined = rf"(?=[{re.escape(vowels)}])", joined if joined.endswith("'") else f"{joined} "
        else:
            pattern = rf"{re.escape(second)}\b"
        return re.compile(rf"(?<!\w){re.escape(first)} {pattern}", re.IGNORECASE), joined

    def render(self, kind: str, facts: Facts, rng: Random, turn: int) -> str:
        """Compose a caption of one to four sentences.

        Args:
            turn: The number of earlier captions of the same kind of scene.
        """
        names = {"season": None, "earliest": 1962} | {name: getattr(facts, name) for name in facts.names()}
        expansion = Expansion(self._words, rng, names, self._settings["comma"])
        candidates = self._sentences(expansion, kind)
        sentences = [rng.choice(candidates["-"])]
        count = rng.choices((0, 1, 2, 3), (26, 42, 24, 8))[0]
        more = rng.sample(candidates["+"], min(count, len(candidates["+"])))
        if more and rng.random() < 0.5:
            more[-1] = rng.choice(self._sentences(expansion, _ANY, "*")["*"])
        # A few captions run on: the layout has to cut them at its last line.
        room = float(self._settings["length"]) * (1.6 if rng.random() < 0.06 else 1.0)
        for sentence in more:
            if sum(map(len, sentences)) + len(sentence) <= room:
                sentences.append(sentence)
        # Two captions of a kind must never be equal. After n others, a caption with b bits of invented names and dates
        # equals one of them with a probability of about n / 2^b, so the bits have to grow with 2 log n. The choice of
        # sentences and facts has bits of its own, so the first captions need none.
        if sum(bits for name, bits in expansion.invented if name in "".join(sentences)) < 2 * log2(turn + 1) - 2:
            sentences.append(rng.choice(self._sentences(expansion, _ANY, "@")["@"]))
        end = "" if len(sentences) == 1 and rng.random() < 0.3 else self._settings["end"]
        return self._settings["space"].join(text[0].upper() + text[1:] + end for text in sentences)

    def _sentences(self, expansion: Expansion, section: str, signs: str = "-+") -> dict[str, list[str]]:
        """Expand all sentences with the given signs, in the order of their lines, and return them by sign."""
        sentences: dict[str, list[str]] = {sign: [] for sign in signs}
        for line in self._scenes[section]:
            try:
                if line.sign.isidentifier():
                    expansion.names[line.sign] = line.text.expand(expansion)
                elif line.sign in sentences and (line.condition is None or line.condition.expand(expansion)):
                    sentences[line.sign].append(self._joined(str(line.text.expand(expansion))))
            except (TypeError, IndexError, RecursionError) as error:
                raise line.parser.error(f"this cannot be expanded ({error})") from None
        return sentences

    def _joined(self, text: str) -> str:
        if "~" in text:
            for pattern, joined in self._joins:
                text = pattern.sub(joined, text)
        return text.replace("~", "")
