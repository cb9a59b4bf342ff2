"""Hidden pixels of covers, measured by a slow oracle."""

from dataclasses import dataclass

import numpy as np
import pytest

from vcrgen.core.records import Mode, Span
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.basic import BasicShaper
from vcrgen.typeset.cover import CoverRule, WhiteRows, is_covered, measure_span, span_cells
from vcrgen.typeset.fonts import default_chain
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.records import Box, Cell, Cover, MaskedSpan
from vcrgen.typeset.render import cover_strip, render_strip

SHAPER = BasicShaper(default_chain(LANGUAGES["en"].fonts, size=20))
RULES = {Mode.EASY: WhiteRows(range(10, 17)), Mode.HARD: WhiteRows(range(9, 18))}  # as measured in VCR-WIKI
TEXT = "Muhammad Sadig Sanjrani is a Pakistani politician who is from Balochistan"


@dataclass(frozen=True)
class Checkers:
    """Hides every other square of some rows with gray."""

    side: int = 2
    fill: int = 128
    rows: range = range(3, 21)
    name: str = "checkers"

    def cover(self, cell: Cell) -> Cover:
        place = cell.line_box
        height, width = len(self.rows), place.x1 - place.x0
        y, x = np.indices((height, width)) // self.side
        box = Box(x0=place.x0, y0=place.y0 + self.rows.start, x1=place.x1, y1=place.y0 + self.rows.stop)
        return Cover(box=box, mask=(x + y) % 2 == 0, fill=self.fill)


@dataclass(frozen=True)
class LeftThird:
    """Hides the left third of a place with black, in its full height."""

    name: str = "left third"

    def cover(self, cell: Cell) -> Cover:
        place = cell.line_box
        return Cover(box=place._replace(x1=place.x0 + (place.x1 - place.x0) // 3), fill=0)


EVERY_RULE = {
    "easy": RULES[Mode.EASY],
    "hard": RULES[Mode.HARD],
    "checkers": Checkers(),
    "large checkers, white": Checkers(side=5, fill=255, rows=range(22)),
    "left third": LeftThird(),
}


def span_of(text: str) -> Span:
    start = TEXT.index(text)
    return Span(start=start, end=start + len(text), text=text, tokens=tuple(text.split()))


LAYOUT = layout_caption(TEXT, SHAPER, width=300, max_lines=5, break_unit="word")
STRIP = render_strip(LAYOUT)


def cover(span: Span, rule: CoverRule, ink: np.ndarray | None = None) -> MaskedSpan:
    cells = span_cells(span, LAYOUT)
    return measure_span(span, cells, list(map(rule.cover, cells)), 255 - STRIP if ink is None else ink)


def test_a_span_over_a_line_break_has_a_box_a_line() -> None:
    covered = cover(span_of("is a Pakistani politician"), RULES[Mode.EASY])
    first = SHAPER.advance("Muhammad Sadig Sanjrani ")
    assert [c.box for c in covered.covers] == [
        Box(x0=first, y0=10, x1=first + SHAPER.advance("is a"), y1=17),
        Box(x0=0, y0=32, x1=SHAPER.advance("Pakistani politician"), y1=39),
    ]


@pytest.mark.parametrize("text", ["is a Pakistani politician", "Sadig", "from"])
@pytest.mark.parametrize("name", EVERY_RULE)
def test_measured_and_drawn_is_what_the_masks_say(name: str, text: str) -> None:
    """Pixel by pixel: what a mask hides has the fill, all else is as before, and the ink that is left is counted."""
    span, rule = span_of(text), EVERY_RULE[name]
    covered = cover(span, rule)
    hidden = {
        (y, x): made.fill
        for made in covered.covers
        for y in range(made.box.y0, made.box.y1)
        for x in range(made.box.x0, made.box.x1)
        if made.mask is None or made.mask[y - made.box.y0, x - made.box.x0]
    }
    drawn = cover_strip(STRIP, covered.covers)
    for (y, x), brightness in np.ndenumerate(STRIP):
        assert drawn[y, x] == hidden.get((y, x), brightness)
    before = after = 0
    above, below = [], []
    for cell in (cell.line_box for cell in span_cells(span, LAYOUT)):
        places = [(y, x) for y in range(cell.y0, cell.y1) for x in range(cell.x0, cell.x1)]
        before += sum(255 - int(STRIP[place]) for place in places)
        after += sum(255 - int(STRIP[place]) for place in places if place not in hidden)
        covered_rows = [y for y, x in places if (y, x) in hidden]
        inked = {y for y, x in places if STRIP[y, x] < 255}
        above.append(sum(y < min(covered_rows) for y in inked))
        below.append(sum(y > max(covered_rows) for y in inked))
    assert covered.visible_ink == pytest.approx(after / before, abs=1e-4)
    assert (covered.rows_above, covered.rows_below) == (min(above), min(below))
    assert 0 < covered.visible_ink < 1


@pytest.mark.parametrize("name", EVERY_RULE)
def test_a_strip_that_shows_one_hidden_pixel_is_not_covered(name: str) -> None:
    covered = cover(span_of("is a Pakistani politician"), EVERY_RULE[name])
    drawn = cover_strip(STRIP, covered.covers)
    assert all(is_covered(drawn, made) for made in covered.covers)
    assert all(is_covered(np.stack([drawn] * 3, axis=2), made) for made in covered.covers)
    assert not any(is_covered(STRIP, made) for made in covered.covers)
    for made in covered.covers:
        changed = drawn.copy()
        places = np.ones(changed[made.box.area].shape, bool) if made.mask is None else made.mask
        y, x = np.argwhere(places)[-1]
        changed[made.box.y0 + y, made.box.x0 + x] ^= 1
        assert not is_covered(changed, made)


def test_a_cover_that_hides_nothing_covers_nothing() -> None:
    box = Box(x0=2, y0=0, x1=9, y1=8)
    assert not is_covered(STRIP, Cover(box=box, mask=np.zeros((8, 7), bool)))
    assert not is_covered(STRIP, Cover(box=Box(x0=900, y0=0, x1=909, y1=8)))


def test_a_span_without_ink_has_none_visible() -> None:
    covered = cover(span_of("is"), RULES[Mode.EASY], np.zeros_like(STRIP))
    assert (covered.visible_ink, covered.rows_above, covered.rows_below) == (0.0, 0, 0)
