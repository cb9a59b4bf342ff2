"""Parser of the templates of caption files, whose expressions in braces are expanded (see `captions.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from random import Random
from typing import Any, TypeAlias

from vcrgen.core.errors import VcrgenError

_NAME = r"[^\W\d]\w*"
_PATH = rf"{_NAME}(?:\.{_NAME})?"
_CONDITION = re.compile(rf"\s*(not +)?({_PATH})(?: *= *([\w, ]+?))?\s*\?")
_SELECT = re.compile(rf"\s*({_PATH})\s*:")
_CASE = re.compile(r"\s*([\w.]+(?: *, *[\w.]+)*) *=(.*)", re.DOTALL)
_RANGE = re.compile(rf"(\d+|{_NAME})\.\.(\d+)(?: +by +(\d+))?")
_CHANCE = re.compile(r"(\d+)% ")
_PARTS: dict[str, Callable[[Any], Any]] = {
    "count": len,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "rest": lambda values: values[:-1],
    "same": lambda values: len(set(values)) == 1,
}


def _part(value: Any, part: str) -> Any:
    return _PARTS[part](value.split() if isinstance(value, str) else value)


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of `[words]`."""

    parameters: tuple[str, ...]  # names of its values; missing values are None
    bits: float  # entropy of the invented name that it makes; 0 for other words
    text: Node


@dataclass(slots=True)
class Expansion:
    """The state of a caption's expansion."""

    words: Mapping[str, Rule]  # the rules of the language
    rng: Random  # the generator of all choices
    names: dict[str, Any]  # values by name: facts, and names of the scene or the current rule
    comma: str  # between the words of a list
    invented: list[tuple[str, float]] = field(default_factory=list)  # invented names, and the bits of each

    def call(self, name: str, values: list[Any]) -> str:
        """Expand a rule; of the scene it has the season and the earliest year only."""
        rule, outer = self.words[name], self.names
        self.names = {"season": outer["season"], "earliest": outer["earliest"]}
        self.names.update(zip_longest(rule.parameters, values))
        text = str(rule.text(self))
        self.names = outer
        if rule.bits:
            self.invented.append((text, rule.bits))
        return text


Node: TypeAlias = Callable[[Expansion], Any]


class TemplateParser:
    """Parses the templates of one line of a file; ``where`` is the file and the line, for messages."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.references: list[tuple[str, int]] = []  # names that the templates use, and the number of values for each

    def error(self, message: str) -> VcrgenError:
        """Return an error that names the line."""
        return VcrgenError(f"{self._where}: {message}.")

    def text(self, text: str) -> Node:
        """Parse a text with braces."""
        pieces = self._split(text, "{}")
        if len(pieces) == 1:
            return lambda t: text
        nodes = [self.expression(piece) for piece in pieces[1::2]]
        if len(nodes) == 1 and not pieces[0] and not pieces[2]:
            return nodes[0]
        frame = "".join("{}" if i % 2 else piece for i, piece in enumerate(pieces))
        return lambda t: frame.format(*[node(t) for node in nodes])

    def expression(self, text: str) -> Node:
        """Parse the content of braces, or alternatives without braces."""
        first, *others = self._split(text, "|")
        if match := _CONDITION.match(first):
            holds = self.condition(first[: match.end() - 1])
            yes, no = self.text(first[match.end() :].strip()), self.text("|".join(others).strip())
            return lambda t: yes(t) if holds(t) else no(t)
        if match := _SELECT.match(first):
            return self._select(match[1], [first[match.end() :], *others])
        if others:
            return self._choice([first.strip(), *map(str.strip, others)])
        if match := _RANGE.fullmatch(first.strip()):
            return self._number(*match.groups())
        return self._call(first.strip())

    def condition(self, text: str) -> Node:
        """Parse a condition such as "not snowing" or "daytime = dusk, night"."""
        match = _CONDITION.fullmatch(f"{text}?")
        if not match:
            raise self.error(f"{text!r} is no condition")
        no, path, values = match.groups()
        value, among = self._value(path), re.split(" *, *", values) if values else ()
        return lambda t: (str(value(t)) in among if among else bool(value(t))) != bool(no)

    def _value(self, path: str) -> Node:
        name, _, part = path.partition(".")
        if part and part not in _PARTS:
            raise self.error(f"a value has no {part!r}, only {', '.join(_PARTS)}")
        self.references.append((name, 0))
        whole: Node = lambda t: t.names[name] if name in t.names else t.call(name, [])  # noqa: E731
        return (lambda t: _part(whole(t), part)) if part else whole

    def _select(self, path: str, cases: list[str]) -> Node:
        value, otherwise = self._value(path), None
        texts: dict[str, Node] = {}
        for case in cases:
            if match := _CASE.match(case):
                text = self.text(match[2].strip())
                for key in re.split(" *, *", match[1]):
                    low, _, high = key.partition("..")
                    texts |= dict.fromkeys(map(str, range(int(low), int(high) + 1)) if high else [key], text)
            else:
                otherwise = self.text(case.strip())

        def select(t: Expansion) -> Any:
            found = texts.get(str(value(t)), otherwise)
            if not found:
                raise self.error(f"{path!r} is {value(t)!r}, which has no text")
            return found(t)

        return select

    def alternatives(self, text: str) -> Node:
        """Parse a text or alternatives, "red | green"."""
        first, *others = self._split(text, "|")
        return self._choice([first.strip(), *map(str.strip, others)]) if others else self.text(text.strip())

    def _choice(self, texts: list[str]) -> Node:
        if match := _CHANCE.match(texts[0]):
            first, second = self.text(texts[0][match.end() :]), self.text("|".join(texts[1:]))
            return lambda t: first(t) if t.rng.random() < int(match[1]) / 100 else second(t)
        choices = list(map(self.text, texts))
        return lambda t: t.rng.choice(choices)(t)

    def _number(self, low: str, high: str, step: str | None) -> Node:
        if not low.isdigit():
            first = self._value(low)
            return lambda t: t.rng.randint(first(t), int(high))
        numbers = range(int(low), int(high) + 1, int(step or 1))
        if not numbers:
            raise self.error(f"no number is in {low}..{high}")
        if low.startswith("00"):
            return lambda t: f"{t.rng.choice(numbers):0{len(low)}}"
        return lambda t: t.rng.choice(numbers)

    def _call(self, text: str) -> Node:
        words = re.findall(r'"[^"]*"|[^\s"]+', text)
        if not words or not re.fullmatch(rf"\*?{_PATH}", words[0]):
            raise self.error(f"{{{text}}} is not understood")
        name, values = words[0], [self._argument(word) for word in words[1:]]
        if name[0] == "*":
            listed = self._value(name[1:])
            return lambda t: t.comma.join(listed(t))
        if not values:
            return self._value(name)
        self.references.append((name, len(values)))
        if words[1][0] == "*":
            first, *others = values
            return lambda t: t.comma.join(t.call(name, [one, *(other(t) for other in others)]) for one in first(t))
        return lambda t: t.call(name, [value(t) for value in values])

    def _argument(self, word: str) -> Node:
        if word[0] == '"':
            return self.text(word[1:-1])
        if match := _RANGE.fullmatch(word):
            return self._number(*match.groups())
        if word.isdigit():
            return lambda t: int(word)
        return self._value(word.removeprefix("*"))

    def _split(self, text: str, marks: str) -> list[str]:
        """Split at "|" outside of braces, or (marks "{}") into parts outside and inside of them in turns."""
        pieces, depth = [""], 0
        for character in text:
            depth += (character == "{") - (character == "}")
            if depth < 0:
                break
            if character in marks and depth == (character == "{"):
                pieces.append("")
            else:
                pieces[-1] += character
        if depth:
            raise self.error("braces do not match")
        return pieces
