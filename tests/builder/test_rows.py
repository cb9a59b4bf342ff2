"""Spans and covers in the form of rows."""

import numpy as np
import pytest

from vcrgen.builder.rows import read_covers, span_row
from vcrgen.core.records import Span
from vcrgen.typeset.records import Box, Cover, MaskedSpan

FIRST, SECOND = Box(x0=3, y0=10, x1=8, y1=17), Box(x0=0, y0=32, x1=9, y1=39)
WHITE_ROWS = (Cover(box=FIRST), Cover(box=SECOND))
OTHERS = {
    "gray": (Cover(box=FIRST, fill=128), Cover(box=SECOND, fill=128)),
    "a mask": (Cover(box=FIRST, mask=np.arange(35).reshape(7, 5) % 3 == 0), Cover(box=SECOND)),
    "gray masks": tuple(Cover(box=box, mask=np.eye(7, box.x1 - box.x0, dtype=bool), fill=7) for box in (FIRST, SECOND)),
}


def row_of(covers: tuple[Cover, ...]) -> dict[str, object]:
    span = Span(start=4, end=9, text="a cat", tokens=("a", "cat"))
    return span_row(MaskedSpan(span=span, covers=covers, visible_ink=0.25, rows_above=2, rows_below=1))


def test_white_rows_are_boxes_and_nothing_else() -> None:
    assert row_of(WHITE_ROWS) == {
        "start": 4,
        "end": 9,
        "text": "a cat",
        "tokens": ["a", "cat"],
        "boxes": [{"x0": 3, "y0": 10, "x1": 8, "y1": 17}, {"x0": 0, "y0": 32, "x1": 9, "y1": 39}],
        "visible_ink": 0.25,
        "rows_above": 2,
        "rows_below": 1,
    }


@pytest.mark.parametrize("covers", [WHITE_ROWS, *OTHERS.values()], ids=["white rows", *OTHERS])
def test_covers_are_read_as_they_were_written(covers: tuple[Cover, ...]) -> None:
    for made, read in zip(covers, read_covers(row_of(covers)), strict=True):
        assert (made.box, made.fill) == (read.box, read.fill)
        assert (made.mask is None) == (read.mask is None)
        assert made.mask is None or (made.mask == read.mask).all()


@pytest.mark.parametrize("masks", [["00"], ["ff" * 7, "ff"], ["no bits"]])
def test_a_mask_that_does_not_fit_its_box_is_not_read(masks: list[str]) -> None:
    row = {"boxes": [{"x0": 0, "y0": 0, "x1": 7, "y1": 8}], "fills": [0], "masks": masks}
    with pytest.raises(ValueError, match=r"mask of 1 bytes|shorter|longer|hex"):
        list(read_covers(row))
