"""Covers where no text is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.making import pixels, rows_of, two_coloured
from vcrgen.builder.compose import has_uncovered_span
from vcrgen.builder.run import build
from vcrgen.builder.transform import RejectedPairError, VCRTransform
from vcrgen.core.records import RejectReason, Span
from vcrgen.samples import sample_pair
from vcrgen.typeset.records import Box, Cover, MaskedSpan


def rows(dataset: Path, mode: str = "hard") -> list[dict[str, Any]]:
    return rows_of(dataset / mode)


def gray(row: dict[str, Any], column: str) -> np.ndarray:
    return pixels(row[column]["bytes"], "L").astype(int)


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("built")
    options = {"plain": {}, "stain": {"cover": "stain"}, "more": {"cover": "stain", "distractors": 4}}
    options["rows"] = {"distractors": 3}
    for name, chosen in options.items():
        build("samples:6", out=folder / name, **chosen)
    return {name: folder / name for name in options}


@pytest.mark.parametrize("mode", ["easy", "hard"])
def test_the_mask_is_the_truth_of_every_pixel(datasets: dict[str, Path], mode: str) -> None:
    """With and without distractors, images differ where one mask is white and the other is not, and nowhere else."""
    for plain, more in zip(rows(datasets["stain"], mode), rows(datasets["more"], mode), strict=True):
        assert plain["crossed_text"] == more["crossed_text"] and plain["spans"] == more["spans"]
        masks = [gray(row, "cover_mask") > 0 for row in (plain, more)]
        differs = gray(plain, "stacked_image") != gray(more, "stacked_image")
        assert (masks[1] >= masks[0]).all() and differs.any() and not (differs & ~(masks[1] & ~masks[0])).any()
        assert len(more["distractors"]) == 4 and "distractors" not in plain
        outside = masks[1].copy()
        for box in [*more["distractors"], *(lowered(box, more) for span in more["spans"] for box in span["boxes"])]:
            outside[box["y0"] : box["y1"], box["x0"] : box["x1"]] = False
        assert not outside.any()
        strip = gray(more, "only_it_image_small")
        top, alone = more["strip_y"], more["only_it_strip_y"]
        assert (gray(more, "stacked_image")[top:] == strip).all()
        assert (gray(more, "only_it_image")[alone : alone + len(strip)] == strip).all()


def lowered(box: dict[str, int], row: dict[str, Any]) -> dict[str, int]:
    return box | {name: box[name] + row["strip_y"] for name in ("y0", "y1")}


def test_distractors_stand_where_no_text_is(datasets: dict[str, Path]) -> None:
    on_paper = 0
    for more, stain, plain in zip(*(rows(datasets[name]) for name in ("more", "stain", "plain")), strict=True):
        added = (gray(more, "cover_mask") > 0) & (gray(stain, "cover_mask") == 0)
        assert not (added[more["strip_y"] :] & (gray(plain, "only_it_image_small") < 255)).any()
        assert all(box["y1"] < more["strip_y"] or box["y0"] >= more["strip_y"] for box in more["distractors"])
        on_paper += sum(box["y0"] >= more["strip_y"] for box in more["distractors"])
    assert on_paper >= 3


def test_rows_are_laid_over_the_picture_only(datasets: dict[str, Path]) -> None:
    """White rows on white paper would not be seen."""
    for row, plain in zip(rows(datasets["rows"]), rows(datasets["plain"]), strict=True):
        assert "cover_mask" not in row and len(row["distractors"]) == 3
        image = gray(row, "stacked_image")
        for box in row["distractors"]:
            assert box["y1"] < row["strip_y"]
            assert (image[box["y0"] : box["y1"], box["x0"] : box["x1"]] == 255).all()
        assert row["only_it_image"]["bytes"] == plain["only_it_image"]["bytes"] and row["spans"] == plain["spans"]


def test_a_build_gives_what_its_options_say_whatever_came_before(tmp_path: Path) -> None:
    options = {"cover": "leaf", "distractors": 2, "degrade": "jpeg=40,camera=0.3", "mode": "hard"}
    facts = build("samples:4", out=tmp_path / "out", **options).manifest.signature.facts
    assert facts["cover"].startswith("hard=leaf-0.")
    assert (facts["distractors"], facts["degrade"]) == ("2", "jpeg=40,camera=0.3")
    transform = VCRTransform(**options)
    for built in reversed(rows(tmp_path / "out")):
        pair = sample_pair("en", int(built["source_id"].removeprefix("en-")))
        row = transform({"image": pair.image, "caption": pair.caption})
        assert row["distractors"] == built["distractors"]
        for name in ("stacked_image", "only_it_image", "only_it_image_small", "cover_mask"):
            assert (np.asarray(row[name].convert("L")) == gray(built, name)).all()
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "covers of the kind `leaf`" in card and "`cover_mask`" in card and "`jpeg=40,camera=0.3`" in card


def test_more_than_fit_set_the_pair_aside() -> None:
    pair = sample_pair("en", 3)
    flat = two_coloured((300, 40), "gray")
    with pytest.raises(RejectedPairError) as error:
        VCRTransform(cover="dropout", distractors=20)({"image": flat, "caption": pair.caption})
    assert error.value.reject.reason is RejectReason.NO_ROOM
    assert "20 covers more do not fit" in error.value.reject.detail


@pytest.mark.parametrize(("visible", "mask", "missed"), [(0.99, True, True), (0.98, True, False), (1.0, False, False)])
def test_a_span_that_keeps_its_ink_is_not_covered(visible: float, mask: bool, missed: bool) -> None:
    """White rows are as they ever were: what they leave of a dash is in the dataset."""
    cover = Cover(box=Box(0, 0, 2, 2), mask=np.ones((2, 2), bool) if mask else None)
    span = Span(start=0, end=1, text="-", tokens=("-",))
    assert (
        has_uncovered_span([MaskedSpan(span=span, covers=(cover,), visible_ink=visible, rows_above=0, rows_below=0)])
        is missed
    )
