"""What a hidden set's public pixels show of its spans: measured anew, by the text, fonts and covers of its key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from vcrgen.builder.rows import read_covers
from vcrgen.core.errors import HiddenSetError
from vcrgen.core.records import Span
from vcrgen.pixels.energies import VisibleCell
from vcrgen.pixels.lexicon import load_lexicon
from vcrgen.pixels.posterior import lower_bound, stretch_bits, visible_cells
from vcrgen.pixels.templates import Templates
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import Gray, cell_texts, draw_layers, mark_hidden, span_cells
from vcrgen.typeset.fonts import FontChain, resolve_font
from vcrgen.typeset.layout import set_line
from vcrgen.typeset.records import WHITE, Layout
from vcrgen.typeset.render import cover_strip
from vcrgen.typeset.shaping import Shaper
from vcrgen.typeset.style import make_shaper


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSpan:
    """What the public pixels show of a span, by the key."""

    templates: Templates
    cells: Sequence[VisibleCell]  # one for each of its parts
    texts: Sequence[str]  # of each cell
    before: str  # the caption from the span before it, or from the beginning
    after: str  # the caption until the next span, or the end
    is_first: bool  # no span is before it

    @property
    def bits(self) -> float:
        """The bits that its pixels leave at least."""
        return lower_bound(self.templates, self.cells, self.texts)

    @property
    def stretches(self) -> list[float]:
        """The same of each covered stretch."""
        return stretch_bits(self.templates, self.cells, self.texts)


def measured_spans(item: Mapping[str, Any], strip: Gray, lang: str) -> Iterator[MeasuredSpan]:
    """Yield what a strip shows of each span of an item.

    Args:
        item: Its line of the key, of a set whose covers go by bits.
        strip: Its public strip, shape (height, width).

    Raises:
        FontError: The font of the item is not on this machine.
        HiddenSetError: The strip is not the key's text under the key's covers.
    """
    shaper, templates = _type(item["font"], item["font_size"], lang)
    layout = _layout(item, shaper)
    spans = [
        Span(start=span["start"], end=span["end"], text=span["text"], tokens=tuple(span["tokens"]))
        for span in item["spans"]
    ]
    cells = {span: span_cells(span, layout) for span in spans}
    layers = draw_layers(layout, chain.from_iterable(cells.values()))
    covers = [cover for span in item["spans"] for cover in read_covers(span)]
    if not np.array_equal(strip, cover_strip(WHITE - layers.ink, covers)):
        raise HiddenSetError("the strip is not the text of the key under its covers")
    hidden = np.zeros(strip.shape, dtype=bool)
    mark_hidden(hidden, covers)  # of all spans: a cover ends where one before it begins
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(layout.text)]
    for number, span in enumerate(spans):
        yield MeasuredSpan(
            templates=templates,
            cells=visible_cells(templates, strip, hidden, cells[span], layers, layout.baseline),
            texts=cell_texts(span, layout),
            before=layout.text[ends[number] : span.start],
            after=layout.text[span.end : starts[number + 1]],
            is_first=not number,
        )


@lru_cache(maxsize=1)
def _type(font: str, size: int, lang: str) -> tuple[Shaper, Templates]:
    face = FontChain([resolve_font(font)], size=size)
    return make_shaper(LANGUAGES[lang], face), Templates(face.glyph, load_lexicon(lang))


def _layout(item: Mapping[str, Any], shaper: Shaper) -> Layout:
    """Return the lines of an item as its key has them."""
    text, width = item["drawn"], item["width"]
    return Layout(
        text=text,
        lines=tuple(set_line(text, start, end, shaper, width) for start, end in item["lines"]),
        width=width,
        line_height=shaper.line_height,
        baseline=shaper.baseline,
    ).with_whole_letters()
