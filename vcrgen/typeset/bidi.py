"""Visual order of text with two directions: the bidirectional algorithm of Unicode (UAX #9), up to its levels.

``"قط ABC 12"`` is typed from the first letter to the last. A line of Arabic shows the Arabic letters from right to
left, and the Latin word and the number from left to right. Every character has a level: an even one is read from left
to right, an odd one from right to left.

The rules are named as in https://www.unicode.org/reports/tr9/. Rule L1 is left out: it is of lines, and a line of a
layout ends with a letter. No library was found that gives levels: python-bidi prints them only, and in text with
isolates it looks for the letter before a bracket in the wrong order; wheels with ICU have 18 MB.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

LEVEL_RULES = 1  # another number for every change of levels; part of signatures
MAX_DEPTH = 125
MAX_OPEN = 63  # brackets
_CLASSES = (
    *("L", "R", "AL", "EN", "ES", "ET", "AN", "CS", "NSM", "BN", "B", "S", "WS", "ON"),
    *("LRE", "LRO", "RLE", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"),
)
_CLASS = regex.compile("|".join(rf"(?P<{name}>\p{{Bidi_Class={name}}})" for name in _CLASSES))
# A text from left to right without any of these has one direction only.
_OTHER_WAY = regex.compile(r"[\p{Bidi_Class=R}\p{Bidi_Class=AL}\p{Bidi_Class=AN}\p{Bidi_Control}]")
_INITIATORS = frozenset(("LRI", "RLI", "FSI"))
_REMOVED = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "BN"))  # by X9
_NEUTRAL = frozenset(("B", "S", "WS", "ON", "LRI", "RLI", "FSI", "PDI"))
# Opening and closing brackets beside one another, from BidiBrackets.txt.
_BRACKETS = (
    "()[]{}༺༻༼༽᚛᚜⁅⁆⁽⁾₍₎⌈⌉⌊⌋\u2329\u232a❨❩❪❫❬❭❮❯❰❱❲❳❴❵⟅⟆⟦⟧⟨⟩⟪⟫⟬⟭⟮⟯⦃⦄⦅⦆⦇⦈⦉⦊⦋⦌⦍⦐⦏⦎⦑⦒⦓⦔⦕⦖⦗⦘⧘⧙⧚⧛⧼⧽"
    "⸢⸣⸤⸥⸦⸧⸨⸩⹕⹖⹗⹘⹙⹚⹛⹜〈〉《》「」『』【】〔〕〖〗〘〙〚〛﹙﹚﹛﹜﹝﹞（）［］｛｝｟｠｢｣"
)
_CLOSING = dict(zip(_BRACKETS[::2], _BRACKETS[1::2], strict=True))
_EQUIVALENT = {"\u232a": "\u3009"}  # canonically


@lru_cache(maxsize=8)  # layout measures many stretches of one caption
def levels(text: str, direction: str) -> tuple[int, ...]:
    """Level of every character of a text: an even one is read from left to right, an odd one from right to left.

    Args:
        direction: Direction of the paragraph: ``"ltr"`` or ``"rtl"``.
    """
    if direction == "ltr" and not _OTHER_WAY.search(text):
        return (0,) * len(text)
    base = int(direction == "rtl")
    text_levels: list[int] = []
    for paragraph in regex.findall(r"[^\p{Bidi_Class=B}]*(?:\r\n|\p{Bidi_Class=B}|$)", text):
        text_levels += _Paragraph(paragraph, base).levels if paragraph else ()
    return tuple(text_levels)


@lru_cache(maxsize=4096)
def _class_of(character: str) -> str:
    match = _CLASS.match(character)
    return str(match.lastgroup) if match else "L"  # a lone surrogate


@dataclass
class _Status:
    """An entry of the stack of directions (X1)."""

    level: int
    override: str  # "L", "R" or ""
    isolate: bool


class _Paragraph:
    """The levels of one paragraph."""

    def __init__(self, text: str, base: int) -> None:
        self._text = text
        self._base = base
        self._original = [_class_of(character) for character in text]
        self._classes = list(self._original)
        self._partners = self._match_isolates()
        self.levels = [base] * len(text)
        self._set_explicit_levels()
        explicit = list(self.levels)
        for sequence in self._isolating_run_sequences():
            self._resolve(sequence, explicit)
        for place, name in enumerate(self._original):  # what X9 removes has the level before it
            if name in _REMOVED:
                self.levels[place] = self.levels[place - 1] if place else base

    def _match_isolates(self) -> dict[int, int]:
        """Place of the PDI for each isolate initiator that has one (BD9)."""
        partners, opened = {}, []
        for place, name in enumerate(self._original):
            if name in _INITIATORS:
                opened.append(place)
            elif name == "PDI" and opened:
                partners[opened.pop()] = place
        return partners

    def _first_strong_level(self, start: int, end: int) -> int:
        """Level of the first strong character that is in no isolate (P2, P3); 0 if there is none."""
        place = start
        while place < end:
            name = self._original[place]
            if name in ("L", "R", "AL"):
                return int(name != "L")
            place = self._partners.get(place, end) if name in _INITIATORS else place + 1
        return 0

    def _set_explicit_levels(self) -> None:
        """X1 to X8."""
        stack = [_Status(self._base, "", False)]
        overflow_isolates = overflow_embeddings = valid_isolates = 0
        for place, name in enumerate(self._original):
            last = stack[-1]
            if name in ("RLE", "LRE", "RLO", "LRO"):
                self.levels[place] = last.level
                level = _next_level(last.level, odd=name[0] == "R")
                if level <= MAX_DEPTH and not overflow_isolates and not overflow_embeddings:
                    stack.append(_Status(level, name[0] if name[2] == "O" else "", False))
                elif not overflow_isolates:
                    overflow_embeddings += 1
            elif name in _INITIATORS:
                self._place(place, last)
                odd = name == "RLI"
                if name == "FSI":
                    end = self._partners.get(place, len(self._original))
                    odd = self._first_strong_level(place + 1, end) == 1
                level = _next_level(last.level, odd=odd)
                if level <= MAX_DEPTH and not overflow_isolates and not overflow_embeddings:
                    valid_isolates += 1
                    stack.append(_Status(level, "", True))
                else:
                    overflow_isolates += 1
            elif name == "PDI":
                if overflow_isolates:
                    overflow_isolates -= 1
                elif valid_isolates:
                    overflow_embeddings = 0
                    while not stack[-1].isolate:
                        stack.pop()
                    stack.pop()
                    valid_isolates -= 1
                self._place(place, stack[-1])
            elif name == "PDF":
                self.levels[place] = last.level
                if overflow_embeddings and not overflow_isolates:
                    overflow_embeddings -= 1
                elif not overflow_isolates and not last.isolate and len(stack) > 1:
                    stack.pop()
            elif name == "B":
                self.levels[place] = self._base
            elif name != "BN":
                self._place(place, last)

    def _place(self, place: int, status: _Status) -> None:
        self.levels[place] = status.level
        if status.override:
            self._classes[place] = status.override

    def _isolating_run_sequences(self) -> list[list[int]]:
        """Places of each sequence (BD13), without what X9 removes."""
        remaining = [place for place, name in enumerate(self._original) if name not in _REMOVED]
        runs: list[list[int]] = []
        for place in remaining:
            if runs and self.levels[runs[-1][0]] == self.levels[place]:
                runs[-1].append(place)
            else:
                runs.append([place])
        by_start = {run[0]: run for run in runs}
        closing = set(self._partners.values())
        sequences = []
        for run in runs:
            if run[0] in closing:  # goes on with the run of its initiator
                continue
            sequence = list(run)
            while (partner := self._partners.get(sequence[-1])) is not None:
                sequence += by_start[partner]
            sequences.append(sequence)
        return sequences

    def _resolve(self, places: list[int], explicit: Sequence[int]) -> None:
        """Set the levels of a sequence by the explicit ones: X10, W1 to W7, N0 to N2, I1 and I2."""
        level = explicit[places[0]]
        before = self._level_of(range(places[0] - 1, -1, -1), explicit)
        isolate = self._original[places[-1]] in _INITIATORS
        after = self._base if isolate else self._level_of(range(places[-1] + 1, len(explicit)), explicit)
        start, end = _direction(max(level, before)), _direction(max(level, after))
        names = [self._classes[place] for place in places]
        _resolve_weak(names, start)
        self._resolve_brackets(places, names, level, start)
        _resolve_neutral(names, level, start, end)
        for place, name in zip(places, names, strict=True):
            if level % 2:
                self.levels[place] = level + (name != "R")
            else:
                self.levels[place] = level + {"L": 0, "R": 1}.get(name, 2)

    def _level_of(self, places: range, explicit: Sequence[int]) -> int:
        """Level of the first place that X9 keeps; that of the paragraph if there is none."""
        return next((explicit[place] for place in places if self._original[place] not in _REMOVED), self._base)

    def _resolve_brackets(self, places: list[int], names: list[str], level: int, start: str) -> None:
        """N0: a pair of brackets takes the direction of what stands in it, or around it."""
        own = _direction(level)
        for opening, closing in self._bracket_pairs(places, names):
            inside = {_strong(name) for name in names[opening + 1 : closing]} - {""}
            if own in inside:
                direction = own
            elif inside:
                earlier = (_strong(names[place]) for place in range(opening - 1, -1, -1))
                direction = next((name for name in earlier if name), start)
            else:
                continue
            for bracket in (opening, closing):
                names[bracket] = direction
                for place in range(bracket + 1, len(names)):  # marks on it
                    if self._original[places[place]] != "NSM":
                        break
                    names[place] = direction

    def _bracket_pairs(self, places: list[int], names: list[str]) -> list[tuple[int, int]]:
        """Pairs of brackets (BD16) as indices into ``places``, in the order of the opening ones."""
        opened: list[tuple[str, int]] = []
        pairs = []
        for number, (place, name) in enumerate(zip(places, names, strict=True)):
            character = self._text[place]
            if name != "ON":
                continue
            if closing := _CLOSING.get(character):
                if len(opened) == MAX_OPEN:
                    break
                opened.append((_EQUIVALENT.get(closing, closing), number))
                continue
            bracket = _EQUIVALENT.get(character, character)
            for depth in range(len(opened) - 1, -1, -1):
                if opened[depth][0] == bracket:
                    pairs.append((opened[depth][1], number))
                    del opened[depth:]
                    break
        return sorted(pairs)


def _next_level(level: int, *, odd: bool) -> int:
    return level + 1 + (level % 2 == int(odd))


def _direction(level: int) -> str:
    return "R" if level % 2 else "L"


def _strong(name: str) -> str:
    """Direction of a class as N0 to N2 take it: numbers count as from right to left, neutral classes have none."""
    return {"L": "L", "R": "R", "EN": "R", "AN": "R"}.get(name, "")


def _resolve_weak(names: list[str], start: str) -> None:
    """W1 to W7."""
    previous = start
    for place, name in enumerate(names):
        if name == "NSM":
            names[place] = "ON" if previous in _INITIATORS or previous == "PDI" else previous
        previous = names[place]
    strong = start
    for place, name in enumerate(names):
        if name in ("L", "R", "AL"):
            strong = name
        elif name == "EN" and strong == "AL":
            names[place] = "AN"
    names[:] = ["R" if name == "AL" else name for name in names]
    for place in range(1, len(names) - 1):
        around = names[place - 1], names[place + 1]
        if around == ("EN", "EN") and names[place] in ("ES", "CS"):
            names[place] = "EN"
        elif around == ("AN", "AN") and names[place] == "CS":
            names[place] = "AN"
    _resolve_terminators(names)
    names[:] = ["ON" if name in ("ES", "ET", "CS") else name for name in names]
    strong = start
    for place, name in enumerate(names):
        if name in ("L", "R"):
            strong = name
        elif name == "EN" and strong == "L":
            names[place] = "L"


def _resolve_terminators(names: list[str]) -> None:
    """W5: a run of terminators beside a European number belongs to it."""
    place = 0
    while place < len(names):
        end = place
        while end < len(names) and names[end] == "ET":
            end += 1
        if end > place and "EN" in (names[place - 1] if place else "", names[end] if end < len(names) else ""):
            names[place:end] = ["EN"] * (end - place)
        place = end + 1


def _resolve_neutral(names: list[str], level: int, start: str, end: str) -> None:
    """N1 and N2."""
    place = 0
    while place < len(names):
        stop = place
        while stop < len(names) and names[stop] in _NEUTRAL:
            stop += 1
        if stop > place:
            left = _strong(names[place - 1]) if place else start
            right = _strong(names[stop]) if stop < len(names) else end
            names[place:stop] = [left if left == right else _direction(level)] * (stop - place)
        place = stop + 1


def visual_order(levels: Sequence[int]) -> list[int]:
    """Positions of a line's parts from left to right (L2), given their levels in reading order."""
    order = list(range(len(levels)))
    for level in range(max(levels, default=0), 0, -1):
        start = 0
        while start < len(order):
            end = start
            while end < len(order) and levels[order[end]] >= level:
                end += 1
            order[start:end] = reversed(order[start:end])
            start = end + 1
    return order
