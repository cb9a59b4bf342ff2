"""Covers that leave something to infer: drawn blind to the text, and accepted by the bits that they leave.

A cover is never fitted to a text, as its form would tell of it: whole covers are drawn from the seed until one leaves
enough. What the visible pixels leave to infer is measured from these pixels alone.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from vcrgen.builder.records import PairParts
from vcrgen.core.records import Span
from vcrgen.pixels.energies import VisibleCell
from vcrgen.pixels.lexicon import load_lexicon
from vcrgen.pixels.posterior import SIGMA, lower_bound, stretch_bits, visible_cells
from vcrgen.pixels.templates import Templates
from vcrgen.typeset.cover import CoverRule, cell_texts, draw_covers, draw_layers, mark_hidden, measure_span
from vcrgen.typeset.records import WHITE, Cover
from vcrgen.typeset.shaping import Shaper

DRAWS = 40  # of a span's cover, before another span is taken
PLANS = 4  # choices of spans, before a pair keeps those that it has
RULE = "bound-3"  # name and version, for signatures, of the measure and of the order of draws
_TYPES = 64  # fonts in one size whose templates are kept


class Threshold(NamedTuple):
    """The rule of a span's cover in one mode, and the bits that it has to leave."""

    rule: CoverRule
    bits: float


class Accepted(NamedTuple):
    """An accepted cover of a span."""

    draw: int  # its number, from 0
    bits: tuple[float, ...]  # those that it leaves at least, in each mode


class Acceptance:
    """Accepts covers by the bits and the ink that they leave.

    Args:
        least_ink: Least visible ink of a span, as a share.

    Raises:
        ConfigError: The language has no lexicon.
    """

    def __init__(self, lang: str, least_ink: float) -> None:
        self._lexicon, self._least_ink = load_lexicon(lang), least_ink
        self._templates = lru_cache(maxsize=_TYPES)(self._make_templates)

    def _make_templates(self, shaper: Shaper) -> Templates:
        return Templates(shaper.chain.glyph, self._lexicon)

    @property
    def name(self) -> str:
        """The rule by which covers are accepted, for signatures; without the bits."""
        return f"{RULE},ink-{self._least_ink:g},sigma-{SIGMA:g},{self._lexicon.name}"

    def draw(
        self, span: Span, parts: PairParts, shaper: Shaper, form: Callable[[int], Sequence[Threshold]]
    ) -> Accepted | None:
        """Draw covers of a span until one leaves enough in all modes; None if none of `DRAWS` does.

        Args:
            parts: Its pair.
            shaper: Of its pair's fonts.
            form: Function from the number of a draw to the cover of each mode, blind to the text.
        """
        for number in range(DRAWS):
            bits = []
            for threshold in form(number):
                if (left := self.bits(span, parts, shaper, threshold.rule)) is None or left < threshold.bits:
                    break
                bits.append(left)
            else:
                return Accepted(number, tuple(bits))
        return None

    def bits(self, span: Span, parts: PairParts, shaper: Shaper, rule: CoverRule) -> float | None:
        """The bits that a cover leaves of a span at least; None if it leaves too little ink."""
        cells, strip = parts.cells[span], parts.strip
        covers = draw_covers(rule, cells, parts.layers, np.zeros(strip.shape, dtype=bool))
        if measure_span(span, cells, covers, WHITE - strip, parts.layers).visible_ink < self._least_ink:
            return None
        seen = self._seen(span, parts, shaper, covers)
        return lower_bound(self._templates(shaper), seen, cell_texts(span, parts.layout))

    def stretches(self, span: Span, parts: PairParts, shaper: Shaper, rule: CoverRule) -> list[float]:
        """The bits that a cover leaves at least of each covered stretch of a span."""
        covers = draw_covers(rule, parts.cells[span], parts.layers, np.zeros(parts.strip.shape, dtype=bool))
        seen = self._seen(span, parts, shaper, covers)
        return stretch_bits(self._templates(shaper), seen, cell_texts(span, parts.layout))

    def _seen(self, span: Span, parts: PairParts, shaper: Shaper, covers: Sequence[Cover]) -> tuple[VisibleCell, ...]:
        """The pixels of a span that covers leave."""
        cells, strip, layout = parts.cells[span], parts.strip, parts.layout
        covered = np.zeros(strip.shape, dtype=bool)
        mark_hidden(covered, covers)
        layers = parts.layers or draw_layers(layout, cells)
        return visible_cells(self._templates(shaper), strip, covered, cells, layers, layout.baseline)
