"""The images of a pair under covers of two kinds."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from vcrgen.builder.bands import stack_bands
from vcrgen.builder.compose import compose_images, draw_parts
from vcrgen.builder.encode import encode_image
from vcrgen.builder.options import load_build_config
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import PreparedItem
from vcrgen.core.records import Item, Reject, Span
from vcrgen.samples import sample_pair
from vcrgen.typeset.cover import CoverRule, WhiteRows
from vcrgen.typeset.cover_kinds import ROWS
from vcrgen.typeset.records import Cell, Cover


class Stripes:
    """Hides every third column of a place with gray."""

    name = "stripes"

    def cover(self, cell: Cell) -> Cover:
        box = cell.line_box
        mask = np.zeros((box.y1 - box.y0, box.x1 - box.x0), dtype=bool)
        mask[:, ::3] = True
        return Cover(box=box, mask=mask, fill=99)


@pytest.fixture(scope="module")
def planned() -> tuple[PreparedItem, tuple[Span, ...]]:
    pipeline = Pipeline(load_build_config(None, {"lang": "en", "mode": "both"}))
    pair = sample_pair("en", 3)
    found = next(iter(pipeline.plan_items([Item(source_id="a", image=pair.image, caption=pair.caption)])))
    assert not isinstance(found, Reject)
    return found


@pytest.mark.parametrize("strip_first", [False, True])
@pytest.mark.parametrize("rule", [WhiteRows(range(9, 18)), Stripes()], ids=["rows", "stripes"])
def test_every_image_shows_the_covered_strip(
    planned: tuple[PreparedItem, tuple[Span, ...]], rule: CoverRule, strip_first: bool
) -> None:
    prepared, spans = planned
    prepared = replace(prepared, style=replace(prepared.style, cover=rule.name if isinstance(rule, Stripes) else ROWS))
    parts = draw_parts(prepared, spans)
    view = compose_images(parts, dict.fromkeys(spans, rule), tuple, strip_first=strip_first)
    expected = parts.strip.copy()
    for covered in view.spans:
        for cover in covered.covers:
            for y, x in np.ndindex(cover.box.y1 - cover.box.y0, cover.box.x1 - cover.box.x0):
                if cover.mask is None or cover.mask[y, x]:
                    expected[cover.box.y0 + y, cover.box.x0 + x] = cover.fill
        assert 0 < covered.visible_ink < 1
    stacked, only_it, small = map(stack_bands, (view.stacked, view.only_it, view.only_it_small))
    assert stacked.shape == only_it.shape
    for image, top in ((stacked, view.strip_y), (only_it, view.only_it_strip_y), (small, 0)):
        assert (image[top : top + len(expected)] == expected[:, :, None]).all()
    photo = stacked[len(expected) + 1 :] if strip_first else stacked[: -len(expected) - 1]
    assert (photo == np.asarray(prepared.image)).all()
    assert (np.asarray(Image.open(io.BytesIO(encode_image(view.stacked, "png")))) == stacked).all()
