"""The box of every glyph: around its ink and nothing else, also of letters that are joined, moved and reordered."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.run import build
from vcrgen.builder.stream import VCRStream
from vcrgen.builder.transform import VCRTransform
from vcrgen.core.errors import ConfigError
from vcrgen.samples import sample_pair
from vcrgen.text.graphemes import clusters
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.fonts import default_chain
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.records import GlyphBox, Layout
from vcrgen.typeset.render import glyph_boxes, render_strip
from vcrgen.typeset.style import make_shaper


def layout_of(lang: str, number: int = 51) -> Layout:
    row = LANGUAGES[lang]
    shaper = make_shaper(row, default_chain(row.fonts, size=20))
    caption = sample_pair(lang, number).caption
    return layout_caption(caption, shaper, width=300, max_lines=5, break_unit=row.break_unit)


@pytest.mark.parametrize("lang", ["en", "zh", "ja", "ru", "ar", "hi"])
def test_boxes_enclose_the_ink_of_each_glyph_and_of_all(lang: str) -> None:
    layout = layout_of(lang)
    boxes = glyph_boxes(layout)
    ink = 255 - render_strip(layout)
    inside = np.zeros(ink.shape, dtype=bool)
    for glyph in boxes:
        inside[glyph.box.area] = True
        cell = ink[glyph.box.area]
        assert all(edge.any() for edge in (cell[0], cell[-1], cell[:, 0], cell[:, -1])), "no box is larger than its ink"
    assert ink.any() and not ink[~inside].any()
    assert [glyph.start for glyph in boxes] == sorted(glyph.start for glyph in boxes)


@pytest.mark.parametrize("lang", ["ar", "hi"])
def test_a_cluster_has_the_ink_that_its_glyphs_add(lang: str) -> None:
    """Drawn without the glyphs of a cluster, a line differs inside of the cluster's boxes and nowhere else."""
    layout = layout_of(lang)
    boxes, whole = glyph_boxes(layout), render_strip(layout)
    found = 0
    for start, end in clusters(layout.text):
        own = [glyph for glyph in boxes if glyph.start < end and start < glyph.end]
        without = render_strip(_without(layout, start, end))
        differs = whole != without
        for glyph in own:
            differs[glyph.box.area] = False
        assert not differs.any()
        assert bool(own) == (layout.text[start:end].strip() != "")
        found += len(own) > 1
    assert found or lang == "ar", "some syllables are drawn as several glyphs"


def _without(layout: Layout, start: int, end: int) -> Layout:
    from dataclasses import replace

    lines = tuple(
        replace(line, glyphs=tuple(placed for placed in line.glyphs if not (placed.start < end and start < placed.end)))
        for line in layout.lines
    )
    return replace(layout, lines=lines)


def test_ink_beyond_the_strip_is_in_no_box() -> None:
    layout = layout_of("en")
    for glyph in glyph_boxes(layout):
        assert 0 <= glyph.box.x0 < glyph.box.x1 <= layout.width and 0 <= glyph.box.y0 < glyph.box.y1 <= layout.height
    assert glyph_boxes(_without(layout, 0, len(layout.text))) == ()


def test_a_build_has_the_column_only_if_it_is_asked_for(tmp_path: Path) -> None:
    for name, more in (("plain", {}), ("boxes", {"glyph_boxes": True})):
        build("samples:3", out=tmp_path / name, mode="hard", **more)
    plain, boxes = (pq.read_table(tmp_path / name / "hard").to_pylist() for name in ("plain", "boxes"))
    for before, row in zip(plain, boxes, strict=True):
        assert "glyph_boxes" not in before and before == {k: v for k, v in row.items() if k != "glyph_boxes"}
        letters = [glyph for glyph in row["glyph_boxes"] if not row["caption"][glyph["start"] : glyph["end"]].isspace()]
        assert len(letters) == len(row["glyph_boxes"]) == sum(not c.isspace() for c in row["caption"])
        for glyph in letters:
            assert 0 <= glyph["x0"] < glyph["x1"] <= 300 and glyph["y1"] <= row["strip_height"]
    croissant = (tmp_path / "boxes" / "croissant.json").read_text("utf-8")
    assert "glyph_boxes" in croissant and "glyph_boxes" not in (tmp_path / "plain" / "croissant.json").read_text(
        "utf-8"
    )
    assert "| `glyph_boxes` |" in (tmp_path / "boxes" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("view", ["stacked", "tei", "strip"])
def test_boxes_of_a_stream_lie_in_the_image_that_is_shown(view: str) -> None:
    options = {"views": [view], "mode": "easy", "shuffle": False, "epochs": 1, "max_share": 0.2}
    example = next(iter(VCRStream("samples:3", glyph_boxes=True, **options)))
    darkness = 255 - example["image"].max(axis=2)
    shown = np.zeros(darkness.shape, dtype=bool)
    for glyph in example["glyph_boxes"]:
        shown[glyph["y0"] : glyph["y1"], glyph["x0"] : glyph["x1"]] = True
    top = min(glyph["y0"] for glyph in example["glyph_boxes"])
    assert darkness[top - 1 :].any() and not darkness[top - 1 :][~shown[top - 1 :]].any()
    assert "glyph_boxes" not in next(iter(VCRStream("samples:3", **options)))


def test_warped_images_have_no_boxes() -> None:
    with pytest.raises(
        ConfigError, match=r"no box of a glyph is valid in a warped image; leave out --glyph-boxes or sk"
    ):
        BuildConfig(glyph_boxes=True, degrade="skew=2")
    pair = sample_pair("en", 3)
    row = VCRTransform(glyph_boxes=True, degrade="jpeg=50")({"image": pair.image, "caption": pair.caption})
    assert row["glyph_boxes"]


def test_a_row_of_a_box() -> None:
    layout = layout_of("en")
    glyph = glyph_boxes(layout)[0]
    assert isinstance(glyph, GlyphBox) and layout.text[glyph.start : glyph.end] == layout.text[0]
    assert glyph.as_row(7) == glyph.as_row() | {"y0": glyph.box.y0 + 7, "y1": glyph.box.y1 + 7}
