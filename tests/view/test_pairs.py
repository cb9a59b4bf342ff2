"""Pairs as the page gets them."""

import base64
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.making import encoded, pixels
from vcrgen.builder.run import build
from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.data.manifest import read_manifest, write_manifest
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.scorer.options import ScoreOptions
from vcrgen.view.query import Query
from vcrgen.view.view_data import ViewData

Rows = list[dict[str, Any]]
Tamper = Callable[[Callable[[str, Rows], Rows]], Path]


def shown(dataset: Path, **options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The items of the first page, and what the head of the page says."""
    data = ViewData(dataset, [], ScoreOptions(**options))
    data.score()
    return data.page(Query())["items"], data.about()


def cards(dataset: Path, **options: Any) -> list[dict[str, Any]]:
    return [item["card"] for item in shown(dataset, **options)[0]]


def test_the_pairs_and_what_is_said_of_them(dataset: Path, chinese: Path) -> None:
    (items, about), (other, _) = shown(dataset), shown(chinese)
    assert about["signature"]["short"] == read_manifest(dataset).signature.short
    assert {(row["mode"], row["split"], row["rows"]) for row in about["statistics"]} == {
        (mode, split, rows) for mode in ("easy", "hard") for split, rows in (("test", 2), ("train", 4))
    }
    assert [item["split"] for item in items] == ["test"] * 2 + ["train"] * 4
    assert {tuple(item["card"]["views"]) for item in items} == {("easy", "hard")}
    assert {(tuple(item["card"]["views"]), item["lang"]) for item in other} == {(("hard",), "zh")}


def test_a_dataset_that_vcrgen_did_not_build(dataset: Path, as_foreign: Callable[..., Path], tmp_path: Path) -> None:
    """Its measured geometry is that of the build."""
    foreign = as_foreign(dataset, tmp_path / "foreign")
    own, (items, about) = cards(dataset), shown(foreign)
    assert (about["source"], about["signature"], about["read"], about["rejected"], about["leftOut"]) == (None,) * 4 + (
        0,
    )
    assert len(items) == 2
    built_cards = {card["id"]: card for card in own}
    for item in items:
        card, built = item["card"], built_cards[item["id"]]
        for name in ("language", "question", "image"):
            assert card[name] == built[name]
        for mode, view in card["views"].items():
            for name in ("strip", "y", "caption"):
                assert view[name] == built["views"][mode][name]
    with pytest.raises(ConfigError, match="does not say its mode; name it with --mode"):
        shown(as_foreign(dataset, tmp_path / "one", "hard"))
    assert {tuple(card["views"]) for card in cards(tmp_path / "one", mode="hard")} == {("hard",)}


@pytest.mark.parametrize("mode", ["easy", "hard"])
def test_the_composed_views_are_the_stored_images(dataset: Path, mode: str) -> None:
    by_id = {card["id"]: card for card in cards(dataset)}
    for _, row in open_dataset(dataset, VCR).select(mode=mode).rows():
        pair = by_id[row["question_id"]]
        view = pair["views"][mode]
        vi = pixels(base64.b64decode(pair["image"]["data"]))
        strip = pixels(base64.b64decode(view["strip"]["data"]))
        assert (pair["image"]["height"], pair["image"]["width"]) == vi.shape[:2]
        assert (view["strip"]["height"], view["strip"]["width"]) == strip.shape[:2]
        canvas = np.full((view["y"] + len(strip), vi.shape[1], 3), 255, np.uint8)
        canvas[: len(vi)] = vi
        canvas[view["y"] :] = strip
        assert np.array_equal(canvas, pixels(row["stacked_image"]["bytes"]))
        assert np.array_equal(strip, pixels(row["only_it_image_small"]["bytes"]))
        assert [span["text"] for span in view["spans"]] == row["crossed_text"]
        assert "".join(text for text, _ in view["caption"]) == row["caption"]
        assert [text for text, covered in view["caption"] if covered] == row["crossed_text"]


def test_a_picture_under_covers_is_shown_as_it_is(tmp_path: Path) -> None:
    """In each mode VI is the one of VI+TEI, which is not the column `image` there."""
    build("samples:2", out=tmp_path / "data", cover="leaf", distractors=2)
    pairs = cards(tmp_path / "data")
    for mode in ("easy", "hard"):
        rows = [row for _, row in open_dataset(tmp_path / "data", VCR).select(mode=mode).rows()]
        for row, pair in zip(rows, pairs, strict=True):
            stacked = pixels(row["stacked_image"]["bytes"])
            image = pixels(base64.b64decode(pair["views"][mode]["image"]["data"]))
            assert (image == stacked[: len(image)]).all() and len(image) == pair["image"]["height"]
            assert (image != pixels(row["image"]["bytes"])).any()


def set_image(data: bytes) -> Callable[[str, Rows], Rows]:
    return lambda _, rows: [row | {"image": {"bytes": data, "path": "image.png"}} for row in rows]


def set_column(name: str, value: Any, *, only: str = "") -> Callable[[str, Rows], Rows]:
    return lambda mode, rows: [row | {name: value} if only in ("", mode) else row for row in rows]


def set_span(**values: Any) -> Callable[[str, Rows], Rows]:
    return lambda _, rows: [row | {"spans": [span | values for span in row["spans"]]} for row in rows]


NOT_SHOWN = {
    "svg": set_image(b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
    "gif": set_image(b"GIF89a\1\0\1\0\0\0\0;"),
    "empty": set_image(b""),
    "png_signature_only": set_image(b"\x89PNG\r\n\x1a\n"),
    "webp_signature_only": set_image(b"RIFF\4\0\0\0WEBP"),
    "huge": set_image(encoded(Image.new("1", (40_000, 1)))),
    "no_image": set_column("image", None),
    "strip_over_image": set_column("strip_y", 3),
    "strip_far_below": set_column("strip_y", 2**31 - 1),
    "strip_of_another_height": set_column("strip_height", 7),
    "span_outside_of_caption": set_span(start=0, end=10**6),
    "span_without_text": set_span(text=None),
    "box_outside_of_strip": set_span(boxes=[{"x0": 0, "y0": 0, "x1": 10**6, "y1": 4}]),
    "boxes_without_end": set_span(boxes=[{"x0": 0, "y0": 0, "x1": 1, "y1": 1}] * 5000),
    "ink_above_one": set_span(visible_ink=7.5),
}


@pytest.mark.parametrize("name", NOT_SHOWN)
def test_rows_that_no_build_writes_are_not_drawn(tampered: Tamper, name: str) -> None:
    """They stay in the list, as their outputs can be looked at."""
    assert cards(tampered(NOT_SHOWN[name])) == [None] * 6


@pytest.mark.parametrize("column", ["question_id", "language"])
def test_rows_without_texts_are_left_out_and_counted(tampered: Tamper, column: str) -> None:
    items, about = shown(tampered(set_column(column, None)))
    assert (items, about["leftOut"]) == ([], 6)


@pytest.mark.parametrize("change", [set_column("caption", None), set_span(visible_ink=float("nan"))])
def test_statistics_of_odd_values(tampered: Tamper, change: Callable[[str, Rows], Rows]) -> None:
    with pytest.raises(DatasetError, match="values that no build writes"):
        shown(tampered(change))


def test_a_row_that_is_odd_in_one_mode_is_shown_in_the_other(tampered: Tamper) -> None:
    pairs = cards(tampered(set_column("strip_y", 0, only="hard")))
    assert [list(pair["views"]) for pair in pairs] == [["easy"]] * 6


def test_modes_are_joined_by_id_whatever_the_order(tampered: Tamper, dataset: Path) -> None:
    odd = tampered(lambda mode, rows: rows[::-1] if mode == "hard" else rows)
    assert cards(odd) == cards(dataset)


def test_a_mode_may_lack_pairs(tampered: Tamper) -> None:
    pairs = cards(tampered(lambda mode, rows: rows[1:] if mode == "hard" else rows))
    assert sorted(len(pair["views"]) for pair in pairs) == [1, 1, 2, 2, 2, 2]


def test_a_dataset_without_rows(tampered: Tamper) -> None:
    assert shown(tampered(lambda _, __: []))[0] == []


def test_webp(tmp_path: Path) -> None:
    build("samples", out=tmp_path / "webp", limit=2, image_format="webp")
    assert {pair["image"]["kind"] for pair in cards(tmp_path / "webp")} == {"webp"}


@pytest.mark.parametrize("change", [{"rejected": {"a": "x"}}, {"rejected": [1]}, {"read": float("inf")}, {"source": 3}])
def test_a_manifest_with_odd_values(tampered: Tamper, change: dict[str, Any]) -> None:
    odd = tampered(lambda _, rows: rows)
    write_manifest(odd, dataclasses.replace(read_manifest(odd), **change))
    with pytest.raises(DatasetError, match="is damaged"):
        shown(odd)
