"""Spans that are not covered show their labels."""

from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image, ImageDraw

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.pipeline import Pipeline
from vcrgen.core.records import Item, Reject
from vcrgen.samples.pairs import sample_pair
from vcrgen.typeset.cover import span_cells
from vcrgen.typeset.render import Gray, render_strip
from vcrgen.typeset.style import Style

NEIGHBOURS = 2  # most pixels of neighbouring letters in the place of a span


def span_parts(pipeline: Pipeline, lang: str, pairs: int) -> Iterator[tuple[str, Gray]]:
    """The text of each part of a span, one a line, and its pixels in the height of a line."""
    samples = [sample_pair(lang, number) for number in range(pairs)]
    items = [Item(source_id=pair.id, image=pair.image, caption=pair.caption) for pair in samples]
    for planned in pipeline.plan_items(items):
        if isinstance(planned, Reject):
            continue
        layout, strip = planned[0].layout, render_strip(planned[0].layout)
        for span in planned[1]:
            lines = [line for line in layout.lines if line.start < span.end and span.start < line.end]
            for line, cell in zip(lines, span_cells(span, layout), strict=True):
                yield layout.text[max(line.start, span.start) : min(line.end, span.end)], strip[cell.line_box.area]


def is_drawn_by_pillow(text: str, pixels: Gray, style: Style) -> bool:
    """Whether Pillow draws a text alone, in the first font of the chain, as these pixels."""
    chain = style.shaper.chain
    image = Image.new("L", pixels.shape[::-1], 255)
    ImageDraw.Draw(image).text((0, chain.baseline), text, font=chain.faces[0].font, fill=0, anchor="ls")
    rows = slice(1, -1)  # in the first and the last, letters of the lines above and below may end
    return int((np.abs(np.asarray(image, dtype=int)[rows] - pixels[rows]) > 128).sum()) <= NEIGHBOURS


@pytest.mark.parametrize("lang", ["zh", "ja", "ko"])
def test_spans_are_drawn_as_labelled(lang: str) -> None:
    pipeline = Pipeline(BuildConfig(source="samples", lang=lang))
    parts = list(span_parts(pipeline, lang, 16))
    assert len(parts) >= 16
    for text, pixels in parts:
        assert is_drawn_by_pillow(text, pixels, pipeline.style)
        assert not is_drawn_by_pillow(text, np.roll(pixels, 3, axis=1), pipeline.style)
