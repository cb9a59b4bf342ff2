"""Random choices of one pair."""

from dataclasses import dataclass
from random import Random

from vcrgen.core.records import Span
from vcrgen.core.rng import rng_for
from vcrgen.typeset.cover import CoverRule, with_seed

_MAX_SEED = 1 << 53


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChoices:
    """Random choices of one pair, the same for every mode: each depends on its name and nothing else."""

    dataset_seed: int
    pair: str  # the hash of the pair
    epoch: int | None = None  # of a stream, which draws anew in every epoch; None in a build
    varies_covers: bool = True  # covers have a random form; rows have none

    def rng(self, name: str, place: str = "") -> Random:
        """The generator of the choice of that name, at a place of the pair."""
        stage = name if self.epoch is None else f"{name} of stream {self.epoch}"
        return rng_for(self.dataset_seed, stage, self.pair + place)

    def seed(self, name: str, place: str = "") -> int:
        """The seed, below 2^53, of what is drawn elsewhere."""
        return int(self.rng(name, place).random() * _MAX_SEED)

    def cover_rule(self, rule: CoverRule, place: str) -> CoverRule:
        """The rule of the cover at a place of the pair."""
        return with_seed(rule, self.seed("cover form", place)) if self.varies_covers else rule

    def span_rule(self, rule: CoverRule, span: Span, draw: int) -> CoverRule:
        """The rule of a span's cover in a draw, numbered from 0."""
        return self.cover_rule(rule, f" {span.start} draw {draw}" if draw else f" {span.start}")
