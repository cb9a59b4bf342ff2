"""How sentences become a caption, in any language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import log2
from random import Random
from typing import ClassVar

from vcrgen.samples.facts import Branch, Outside, Season

BRANCH_SEASON: dict[Branch, Season] = {
    "blossom": "spring",
    "berries": "autumn",
    "snow": "winter",
    "leaves": "summer",
}
"""When a branch looks like that."""

WEATHER_SEASON: dict[Outside, Season | None] = {"sun": "summer", "rain": None, "snow": "winter"}
"""When the weather is like that; None for all the year round."""


class Teller(ABC):
    """Puts captions together from sentences, at random.

    Attributes:
        joint: What stands between two sentences.
        room: Characters that fit into five rendered lines or a little less.
        rng: Makes the choices.
        earliest: The first year that may be named: not before the things in the picture were invented.
    """

    joint: ClassVar[str]
    room: ClassVar[int]

    def __init__(self, rng: Random, turn: int) -> None:
        """Start with a generator of random choices.

        Args:
            rng: Makes the choices.
            turn: How many captions of the same kind of scene there were before this one.
        """
        self.rng = rng
        self.earliest = 1962
        # Two captions of a kind must never be equal. After n others, a caption with b bits of invented names
        # and dates meets its like with a chance of about n / 2^b: so what is needed grows with n^2. The
        # choice of sentences and facts has bits of its own, which is why the first captions get by without.
        self._needed = 2 * log2(turn + 1) - 2
        self._coined: list[tuple[str, float]] = []

    def pick(self, *options: str) -> str:
        """Return one of the options."""
        return self.rng.choice(options)

    def between(self, low: int, high: int) -> int:
        """Return a number from low to high."""
        return self.rng.randint(low, high)

    def coin(self, text: str, bits: float) -> str:
        """Note an invented name, date or sum and how many bits there were to choose it by; return it."""
        self._coined.append((text, bits))
        return text

    def tell(self, leads: Sequence[str], details: Sequence[str], *, season: Season | None = None) -> str:
        """Return a caption of one to four sentences.

        Args:
            leads: First sentences to choose from, without a full stop; each says what the picture shows.
            details: Sentences that may follow, in any order.
            season: That the picture shows, for notes that name a month.
        """
        sentences = [self.pick(*leads)]
        wanted = self.rng.choices((0, 1, 2, 3), (26, 42, 24, 8))[0]
        more = self.rng.sample(details, min(wanted, len(details)))
        if more and self.rng.random() < 0.5:
            more[-1] = self.note(season)
        # A few captions run on: the layout has to cut them at its last line.
        room = self.room * (1.6 if self.rng.random() < 0.06 else 1.0)
        for sentence in more:
            if sum(map(len, sentences)) + len(sentence) <= room:
                sentences.append(sentence)
        told = "".join(sentences)
        if sum(bits for text, bits in self._coined if text in told) < self._needed:
            sentences.append(self.credit(season))
        closed = [self.close(s) for s in sentences]
        if len(closed) == 1 and self.rng.random() < 0.3:
            closed = [closed[0][:-1]]
        return self.joint.join(closed)

    @abstractmethod
    def note(self, season: Season | None) -> str:
        """Return a sentence that fits any picture: who made it, when, where it hangs, what it cost."""

    @abstractmethod
    def credit(self, season: Season | None) -> str:
        """Return a short line with a name and a date, of at least 20 bits."""

    @abstractmethod
    def close(self, sentence: str) -> str:
        """Return the sentence as it is written: with its full stop, and its capital if there are any."""
