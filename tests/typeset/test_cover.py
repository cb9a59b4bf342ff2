import numpy as np
import pytest

from vcrgen.records import Box, Mode, Span
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import cover_boxes, measure_cover
from vcrgen.typeset.fonts import default_chain
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.render import cover_strip, render_strip

CHAIN = default_chain(LANGUAGES["en"].fonts, size=20)
ROWS = {Mode.EASY: range(10, 17), Mode.HARD: range(9, 18)}  # as measured in VCR-WIKI
TEXT = "Muhammad Sadig Sanjrani is a Pakistani politician who is from Balochistan"


def span_of(text: str) -> Span:
    start = TEXT.index(text)
    return Span(start=start, end=start + len(text), text=text, tokens=tuple(text.split()))


LAYOUT = layout_caption(TEXT, CHAIN, width=300, max_lines=5, break_unit="word")


def test_a_span_over_a_line_break_has_a_box_a_line() -> None:
    boxes = cover_boxes(span_of("is a Pakistani politician"), LAYOUT, CHAIN, ROWS[Mode.EASY])
    first = CHAIN.advance("Muhammad Sadig Sanjrani ")
    assert boxes == (
        Box(x0=first, y0=10, x1=first + CHAIN.advance("is a"), y1=17),
        Box(x0=0, y0=32, x1=CHAIN.advance("Pakistani politician"), y1=39),
    )


@pytest.mark.parametrize("mode", list(Mode))
def test_measured_ink_is_what_is_left(mode: Mode) -> None:
    strip = render_strip(LAYOUT, CHAIN)
    span = span_of("is a Pakistani politician")
    boxes = cover_boxes(span, LAYOUT, CHAIN, ROWS[mode])
    covered = measure_cover(span, boxes, 255 - strip, LAYOUT.line_height)
    columns = [(box.x0, box.x1, 22 * line) for line, box in enumerate(boxes)]

    def ink(image: np.ndarray) -> int:
        return sum(int((255 - image[y : y + 22, x0:x1].astype(int)).sum()) for x0, x1, y in columns)

    assert covered.visible_ink == pytest.approx(ink(cover_strip(strip, boxes)) / ink(strip), abs=1e-4)
    assert covered.rows_above >= 1 and covered.rows_below >= 1


def test_hard_leaves_less_than_easy() -> None:
    strip = 255 - render_strip(LAYOUT, CHAIN)
    span = span_of("politician who is")
    easy, hard = (measure_cover(span, cover_boxes(span, LAYOUT, CHAIN, ROWS[mode]), strip, 22) for mode in Mode)
    assert hard.visible_ink < easy.visible_ink
    assert (easy.rows_above - hard.rows_above, easy.rows_below - hard.rows_below) == (1, 1)


def test_a_span_without_ink_has_none_visible() -> None:
    box = Box(x0=0, y0=10, x1=5, y1=17)
    covered = measure_cover(span_of("is"), [box], np.zeros((23, 300), np.uint8), 22)
    assert (covered.visible_ink, covered.rows_above, covered.rows_below) == (0.0, 0, 0)
