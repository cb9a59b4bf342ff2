"""How sentences become a caption, in any language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from random import Random
from typing import ClassVar

from vcrgen.build.samples.facts import Branch, Outside, Season

BRANCH_SEASON: dict[Branch, Season] = {
    "blossom": "spring", "berries": "autumn", "snow": "winter", "leaves": "summer",
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
    """

    joint: ClassVar[str]
    room: ClassVar[int]

    def __init__(self, rng: Random) -> None:
        """Start with a generator of random choices."""
        self.rng = rng

    def pick(self, *options: str) -> str:
        """Return one of the options."""
        return self.rng.choice(options)

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
        closed = [self.close(s) for s in sentences]
        if len(closed) == 1 and self.rng.random() < 0.3:
            closed = [closed[0][:-1]]
        return self.joint.join(closed)

    @abstractmethod
    def note(self, season: Season | None) -> str:
        """Return a sentence that fits any picture: who made it, when, where it hangs, what it cost."""

    @abstractmethod
    def close(self, sentence: str) -> str:
        """Return the sentence as it is written: with its full stop, and a capital where the script has them."""
