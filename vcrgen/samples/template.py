"""Parser of the templates of caption files, whose expressions in braces are expanded (see `captions.py`)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from random import Random
from typing import Any

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
        text = str(rule.text.expand(self))
        self.names = outer
        if rule.bits:
            self.invented.append((text, rule.bits))
        return text


class Node(ABC):
    """A part of a parsed template."""

    @abstractmethod
    def expand(self, expansion: Expansion) -> Any:
        """The text of this part in a caption, or a value such as a number or a list of words."""


@dataclass(frozen=True, slots=True)
class _Literal(Node):
    """A text or a number as it stands."""

    value: str | int

    def expand(self, expansion: Expansion) -> str | int:
        return self.value


@dataclass(frozen=True, slots=True)
class _Sequel(Node):
    """A text with expressions."""

    frame: str  # for `str.format`, with a pair of braces for every expression
    expressions: Sequence[Node]

    def expand(self, expansion: Expansion) -> str:
        return self.frame.format(*[node.expand(expansion) for node in self.expressions])


@dataclass(frozen=True, slots=True)
class _Value(Node):
    """A name: a value of the caption, or else a rule without values."""

    name: str

    def expand(self, expansion: Expansion) -> Any:
        return expansion.names[self.name] if self.name in expansion.names else expansion.call(self.name, [])


@dataclass(frozen=True, slots=True)
class _Part(Node):
    """A part of a value, such as its first word."""

    whole: Node
    part: str  # a key of `_PARTS`

    def expand(self, expansion: Expansion) -> Any:
        value = self.whole.expand(expansion)
        return _PARTS[self.part](value.split() if isinstance(value, str) else value)


@dataclass(frozen=True, slots=True)
class _Condition(Node):
    """Whether a value is there, or is one of some values."""

    value: Node
    among: Sequence[str]  # empty: it only has to be there
    negated: bool

    def expand(self, expansion: Expansion) -> bool:
        value = self.value.expand(expansion)
        holds = str(value) in self.among if self.among else bool(value)
        return holds != self.negated


@dataclass(frozen=True, slots=True)
class _Alternative(Node):
    """One text if a condition holds, another one if not."""

    condition: Node
    text: Node
    otherwise: Node

    def expand(self, expansion: Expansion) -> Any:
        return (self.text if self.condition.expand(expansion) else self.otherwise).expand(expansion)


@dataclass(frozen=True, slots=True)
class _Selection(Node):
    """The text of the case that a value is."""

    parser: TemplateParser  # names the line in errors
    path: str
    value: Node
    cases: Mapping[str, Node]
    otherwise: Node | None

    def expand(self, expansion: Expansion) -> Any:
        value = self.value.expand(expansion)
        text = self.cases.get(str(value), self.otherwise)
        if not text:
            raise self.parser.error(f"{self.path!r} is {value!r}, which has no text")
        return text.expand(expansion)


@dataclass(frozen=True, slots=True)
class _Choice(Node):
    """One of equally likely texts."""

    texts: Sequence[Node]

    def expand(self, expansion: Expansion) -> Any:
        return expansion.rng.choice(self.texts).expand(expansion)


@dataclass(frozen=True, slots=True)
class _Chance(Node):
    """A text with a probability, or else another one."""

    percent: int
    text: Node
    otherwise: Node

    def expand(self, expansion: Expansion) -> Any:
        is_text = expansion.rng.random() < self.percent / 100
        return (self.text if is_text else self.otherwise).expand(expansion)


@dataclass(frozen=True, slots=True)
class _NumberFrom(Node):
    """A whole number from a value of the caption to a limit."""

    first: Node
    last: int

    def expand(self, expansion: Expansion) -> int:
        return expansion.rng.randint(self.first.expand(expansion), self.last)


@dataclass(frozen=True, slots=True)
class _Number(Node):
    """One of some numbers."""

    numbers: range
    digits: int  # 0: as many as it has; otherwise with zeros before it

    def expand(self, expansion: Expansion) -> int | str:
        number = expansion.rng.choice(self.numbers)
        return f"{number:0{self.digits}}" if self.digits else number


@dataclass(frozen=True, slots=True)
class _Join(Node):
    """The words of a list, with the comma of the language between them."""

    words: Node

    def expand(self, expansion: Expansion) -> str:
        return expansion.comma.join(self.words.expand(expansion))


@dataclass(frozen=True, slots=True)
class _Call(Node):
    """A rule with values."""

    name: str
    values: Sequence[Node]

    def expand(self, expansion: Expansion) -> str:
        return expansion.call(self.name, [value.expand(expansion) for value in self.values])


@dataclass(frozen=True, slots=True)
class _CallForEach(Node):
    """A rule once for each word of a list, with the comma of the language between them."""

    name: str
    words: Node
    values: Sequence[Node]  # after the word

    def expand(self, expansion: Expansion) -> str:
        return expansion.comma.join(
            expansion.call(self.name, [word, *(value.expand(expansion) for value in self.values)])
            for word in self.words.expand(expansion)
        )


class TemplateParser:
    """Parses the templates of one line of a file; ``where`` is the file and the line, for messages."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.references: list[tuple[str, int]] = []  # names that the templates use, and the number of values for each

    def error(self, message: str) -> VcrgenError:
        """An error that names the line."""
        return VcrgenError(f"{self._where}: {message}.")

    def text(self, text: str) -> Node:
        """Parse a text with braces."""
        pieces = self._split(text, "{}")
        if len(pieces) == 1:
            return _Literal(text)
        nodes = [self.expression(piece) for piece in pieces[1::2]]
        if len(nodes) == 1 and not pieces[0] and not pieces[2]:
            return nodes[0]
        frame = "".join("{}" if i % 2 else piece for i, piece in enumerate(pieces))
        return _Sequel(frame, nodes)

    def expression(self, text: str) -> Node:
        """Parse the content of braces, or alternatives without braces."""
        first, *others = self._split(text, "|")
        if match := _CONDITION.match(first):
            holds = self.condition(first[: match.end() - 1])
            yes, no = self.text(first[match.end() :].strip()), self.text("|".join(others).strip())
            return _Alternative(holds, yes, no)
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
        return _Condition(self._value(path), re.split(" *, *", values) if values else (), negated=bool(no))

    def _value(self, path: str) -> Node:
        name, _, part = path.partition(".")
        if part and part not in _PARTS:
            raise self.error(f"a value has no {part!r}, only {', '.join(_PARTS)}")
        self.references.append((name, 0))
        return _Part(_Value(name), part) if part else _Value(name)

    def _select(self, path: str, cases: list[str]) -> Node:
        value = self._value(path)
        otherwise: Node | None = None
        texts: dict[str, Node] = {}
        for case in cases:
            if match := _CASE.match(case):
                text = self.text(match[2].strip())
                for key in re.split(" *, *", match[1]):
                    low, _, high = key.partition("..")
                    texts |= dict.fromkeys(map(str, range(int(low), int(high) + 1)) if high else [key], text)
            else:
                otherwise = self.text(case.strip())
        return _Selection(self, path, value, texts, otherwise)

    def alternatives(self, text: str) -> Node:
        """Parse a text or alternatives, "red | green"."""
        first, *others = self._split(text, "|")
        return self._choice([first.strip(), *map(str.strip, others)]) if others else self.text(text.strip())

    def _choice(self, texts: list[str]) -> Node:
        if match := _CHANCE.match(texts[0]):
            first, second = self.text(texts[0][match.end() :]), self.text("|".join(texts[1:]))
            return _Chance(int(match[1]), first, second)
        return _Choice(list(map(self.text, texts)))

    def _number(self, low: str, high: str, step: str | None) -> Node:
        if not low.isdigit():
            return _NumberFrom(self._value(low), int(high))
        numbers = range(int(low), int(high) + 1, int(step or 1))
        if not numbers:
            raise self.error(f"no number is in {low}..{high}")
        return _Number(numbers, digits=len(low) if low.startswith("00") else 0)

    def _call(self, text: str) -> Node:
        words = re.findall(r'"[^"]*"|[^\s"]+', text)
        if not words or not re.fullmatch(rf"\*?{_PATH}", words[0]):
            raise self.error(f"{{{text}}} is not understood")
        name, values = words[0], [self._argument(word) for word in words[1:]]
        if name[0] == "*":
            return _Join(self._value(name[1:]))
        if not values:
            return self._value(name)
        self.references.append((name, len(values)))
        if words[1][0] == "*":
            return _CallForEach(name, values[0], values[1:])
        return _Call(name, values)

    def _argument(self, word: str) -> Node:
        if word[0] == '"':
            return self.text(word[1:-1])
        if match := _RANGE.fullmatch(word):
            return self._number(*match.groups())
        if word.isdigit():
            return _Literal(int(word))
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
