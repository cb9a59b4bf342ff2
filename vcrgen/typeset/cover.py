"""Which pixels of the strip hide a span, and how much of its ink they leave."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vcrgen.records import Box, CoveredSpan, Layout, Span
from vcrgen.typeset.fonts import FontChain


def cover_boxes(span: Span, layout: Layout, chain: FontChain, rows: range) -> tuple[Box, ...]:
    """One box for every line the span runs over, in pixels of the strip.

    A box reaches from the advance width of the text before the span to the advance width at its end, and over
    ``rows`` of the line.
    """
    boxes = []
    for index, line in enumerate(layout.lines):
        start, end = max(span.start, line.start), min(span.end, line.end)
        if start < end:
            top = index * layout.line_height
            x0 = chain.advance(layout.text[line.start : start])
            x1 = min(x0 + chain.advance(layout.text[start:end]), layout.width)
            boxes.append(Box(x0=x0, y0=top + rows.start, x1=x1, y1=top + rows.stop))
    return tuple(boxes)


def measure_cover(span: Span, boxes: Sequence[Box], ink: npt.NDArray[np.uint8], line_height: int) -> CoveredSpan:
    """What the boxes leave of a span.

    Args:
        span: The span.
        boxes: Its boxes, as :func:`cover_boxes` gives them.
        ink: Darkness of the uncovered strip, shape (height, width), 0 = white, 255 = black.
        line_height: Pixels between two baselines.
    """
    total = hidden = 0
    above, below = [], []
    for box in boxes:
        top = box.y0 - box.y0 % line_height
        rows = ink[top : top + line_height, box.x0 : box.x1].sum(axis=1, dtype=np.int64)
        first, stop = box.y0 - top, box.y1 - top
        total += int(rows.sum())
        hidden += int(rows[first:stop].sum())
        above.append(int(np.count_nonzero(rows[:first])))
        below.append(int(np.count_nonzero(rows[stop:])))
    return CoveredSpan(
        span=span,
        boxes=tuple(boxes),
        visible_ink=round(1 - hidden / total, 4) if total else 0.0,
        rows_above=min(above),
        rows_below=min(below),
    )
