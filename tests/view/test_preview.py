import base64
import dataclasses
import hashlib
import html.parser
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.making import encoded, pixels
from vcrgen.builder.run import build
from vcrgen.core.errors import ConfigError, DatasetError, OutputError
from vcrgen.data.manifest import read_manifest, write_manifest
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.report.escape import script_json
from vcrgen.view.preview import write_preview
from vcrgen.view.preview_vcr import render_page

Rows = list[dict[str, Any]]
Tamper = Callable[[Callable[[str, Rows], Rows]], Path]


class Tags(html.parser.HTMLParser):
    """Elements with their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.content: dict[str, str] = {}
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        self._inside = dict(attributes).get("id") or tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.content[self._inside] = self.content.get(self._inside, "") + data


def preview(tmp_path: Path, *datasets: Path, **options: Any) -> list[dict[str, Any]]:
    """Return the data of the page."""
    out = tmp_path / "preview.html"
    write_preview(datasets, out, **options)
    data: list[dict[str, Any]] = json.loads(Tags(out.read_text("utf-8")).content["data"])
    return data


def test_the_number_of_pairs_and_what_is_said_of_them(dataset: Path, chinese: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "preview.html"
    pairs = read_manifest(dataset).pairs + read_manifest(chinese).pairs
    assert write_preview([dataset, chinese], out) == f"{pairs} pairs"
    english, other = json.loads(Tags(out.read_text("utf-8")).content["data"])
    assert (english["name"], other["name"]) == ("vcr-en", "vcr-zh")
    assert english["signature"]["short"] == read_manifest(dataset).signature.short
    assert {(row["mode"], row["split"], row["rows"]) for row in english["statistics"]} == {
        (mode, split, rows) for mode in ("easy", "hard") for split, rows in (("test", 2), ("train", 4))
    }
    assert {tuple(pair["views"]) for pair in english["pairs"]} == {("easy", "hard")}
    assert {tuple(pair["views"]) for pair in other["pairs"]} == {("hard",)}
    assert {pair["language"] for pair in other["pairs"]} == {"zh"}


def test_a_dataset_that_vcrgen_did_not_build(dataset: Path, as_foreign: Callable[..., Path], tmp_path: Path) -> None:
    """Its measured geometry is that of the build."""
    foreign = as_foreign(dataset, tmp_path / "foreign")
    (tmp_path / "built").mkdir()
    (own,), (shown,) = preview(tmp_path / "built", dataset), preview(tmp_path, foreign)
    assert (shown["source"], shown["signature"], shown["read"], shown["rejected"], shown["leftOut"]) == (None,) * 4 + (
        0,
    )
    assert shown["total"] == len(shown["pairs"]) == 2
    known = {pair["id"]: pair for pair in own["pairs"]}
    for pair in shown["pairs"]:
        assert {name: pair[name] for name in ("language", "question", "image")} == {
            name: known[pair["id"]][name] for name in ("language", "question", "image")
        }
        for mode, view in pair["views"].items():
            built = known[pair["id"]]["views"][mode]
            assert {name: view[name] for name in ("strip", "y", "yAlone", "caption")} == {
                name: built[name] for name in ("strip", "y", "yAlone", "caption")
            }
    with pytest.raises(ConfigError, match="does not say its mode; name it with --mode"):
        preview(tmp_path / "built" / "new", as_foreign(dataset, tmp_path / "one", "hard"))
    (one,) = preview(tmp_path / "one", tmp_path / "one", mode="hard")
    assert {tuple(pair["views"]) for pair in one["pairs"]} == {("hard",)}


@pytest.mark.parametrize(("limit", "expected"), [(1, [0]), (2, [0, 3]), (4, [0, 1, 3, 4]), (6, [0, 1, 2, 3, 4, 5])])
def test_pairs_are_spread_evenly(dataset: Path, tmp_path: Path, limit: int, expected: list[int]) -> None:
    rows = open_dataset(dataset, VCR).select(mode="easy").rows(["question_id"])
    every = [row["question_id"] for _, row in rows]
    (shown,) = preview(tmp_path, dataset, limit=limit)
    assert [pair["id"] for pair in shown["pairs"]] == [every[index] for index in expected]


def test_same_bytes_again(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "preview.html"
    write_preview([dataset], out)
    first = out.read_bytes()
    out.unlink()
    write_preview([dataset], out)
    assert out.read_bytes() == first


@pytest.mark.parametrize("mode", ["easy", "hard"])
def test_the_composed_views_are_the_stored_images(dataset: Path, tmp_path: Path, mode: str) -> None:
    (shown,) = preview(tmp_path, dataset)
    for _, row in open_dataset(dataset, VCR).select(mode=mode).rows():
        pair = next(pair for pair in shown["pairs"] if pair["id"] == row["question_id"])
        view = pair["views"][mode]
        vi = pixels(base64.b64decode(pair["image"]["data"]))
        strip = pixels(base64.b64decode(view["strip"]["data"]))
        assert (pair["image"]["height"], pair["image"]["width"]) == vi.shape[:2]
        assert (view["strip"]["height"], view["strip"]["width"]) == strip.shape[:2]
        for column, y, picture in (("stacked_image", view["y"], vi), ("only_it_image", view["yAlone"], vi[:0])):
            canvas = np.full((view["y"] + len(strip), vi.shape[1], 3), 255, np.uint8)
            canvas[: len(picture)] = picture
            canvas[y : y + len(strip)] = strip
            assert np.array_equal(canvas, pixels(row[column]["bytes"])), column
        assert [span["text"] for span in view["spans"]] == row["crossed_text"]
        assert "".join(text for text, _ in view["caption"]) == row["caption"]
        assert [text for text, covered in view["caption"] if covered] == row["crossed_text"]


def test_a_picture_under_covers_is_shown_as_it_is(tmp_path: Path) -> None:
    """In each mode VI is the one of VI+TEI, which is not the column `image` there."""
    build("samples:2", out=tmp_path / "data", cover="leaf", distractors=2)
    (shown,) = preview(tmp_path, tmp_path / "data")
    for mode in ("easy", "hard"):
        rows = [row for _, row in open_dataset(tmp_path / "data", VCR).select(mode=mode).rows()]
        for row, pair in zip(rows, shown["pairs"], strict=True):
            stacked = pixels(row["stacked_image"]["bytes"])
            image = pixels(base64.b64decode(pair["views"][mode]["image"]["data"]))
            assert (image == stacked[: len(image)]).all() and len(image) == pair["image"]["height"]
            assert (image != pixels(row["image"]["bytes"])).any()


def test_the_page_is_self_contained(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "preview.html"
    write_preview([dataset], out)
    tags = Tags(out.read_text("utf-8"))
    links = [value for _, attributes in tags.tags for name, value in attributes.items() if name in ("src", "href")]
    assert links == ["data:,"]
    assert not [name for _, attributes in tags.tags for name in attributes if name.startswith("on") or name == "style"]
    assert "url(" not in tags.content["style"]
    assert "@import" not in tags.content["style"]
    (policy,) = [a["content"] for _, a in tags.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy and policy.startswith("default-src 'none'; img-src data:;")
    for name in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(tags.content[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"' onmouseover='alert(1)",
    "<img src=x onerror=alert(1)>",
    "\u202egnp.exe\u2066",
    "a\u2028b\u2029c\0\ud800",
    "{{script}} {{policy}} \\1",
    "&lt;script&gt;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_json_in_a_script_stays_text(text: str) -> None:
    written = script_json([text])
    assert json.loads(written) == [text]
    assert not re.search(r"[<>&\u2028\u2029]", written)
    tags = Tags(render_page([{"name": text}]))
    assert json.loads(tags.content["data"]) == [{"name": text}]
    assert [tag for tag, _ in tags.tags].count("script") == 2
    assert "img" not in [tag for tag, attributes in tags.tags if attributes.get("class") != "vi"]


def set_image(data: bytes) -> Callable[[str, Rows], Rows]:
    return lambda _, rows: [row | {"image": {"bytes": data, "path": "image.png"}} for row in rows]


def set_column(name: str, value: Any, *, only: str = "") -> Callable[[str, Rows], Rows]:
    return lambda mode, rows: [row | {name: value} if only in ("", mode) else row for row in rows]


def set_span(**values: Any) -> Callable[[str, Rows], Rows]:
    return lambda _, rows: [row | {"spans": [span | values for span in row["spans"]]} for row in rows]


LEFT_OUT = {
    "svg": set_image(b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
    "gif": set_image(b"GIF89a\1\0\1\0\0\0\0;"),
    "empty": set_image(b""),
    "png_signature_only": set_image(b"\x89PNG\r\n\x1a\n"),
    "webp_signature_only": set_image(b"RIFF\4\0\0\0WEBP"),
    "huge": set_image(encoded(Image.new("1", (40_000, 1)))),
    "no_image": set_column("image", None),
    "no_caption": set_column("caption", None),
    "no_id": set_column("question_id", None),
    "same_language_missing": set_column("language", None),
    "strip_over_image": set_column("strip_y", 3),
    "strip_far_below": set_column("strip_y", 2**31 - 1),
    "strip_above_the_top": set_column("only_it_strip_y", -1),
    "strip_of_another_height": set_column("strip_height", 7),
    "span_outside_of_caption": set_span(start=0, end=10**6),
    "span_without_text": set_span(text=None),
    "box_outside_of_strip": set_span(boxes=[{"x0": 0, "y0": 0, "x1": 10**6, "y1": 4}]),
    "boxes_without_end": set_span(boxes=[{"x0": 0, "y0": 0, "x1": 1, "y1": 1}] * 5000),
    "ink_above_one": set_span(visible_ink=7.5),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_rows_that_no_build_writes_are_left_out_and_counted(tampered: Tamper, tmp_path: Path, name: str) -> None:
    odd = tampered(LEFT_OUT[name])
    if name == "no_caption":  # the statistics need it
        with pytest.raises(DatasetError, match="values that no build writes"):
            preview(tmp_path, odd)
        return
    (shown,) = preview(tmp_path, odd)
    assert (shown["pairs"], shown["leftOut"]) == ([], 6)


def test_ink_that_is_not_a_number(tampered: Tamper, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="values that no build writes"):
        preview(tmp_path, tampered(set_span(visible_ink=float("nan"))))


def test_a_row_that_is_odd_in_one_mode_is_shown_in_the_other(tampered: Tamper, tmp_path: Path) -> None:
    (shown,) = preview(tmp_path, tampered(set_column("strip_y", 0, only="hard")))
    assert [list(pair["views"]) for pair in shown["pairs"]] == [["easy"]] * 6


def test_modes_are_joined_by_id_whatever_the_order(tampered: Tamper, dataset: Path, tmp_path: Path) -> None:
    odd = tampered(lambda mode, rows: rows[::-1] if mode == "hard" else rows)
    assert preview(tmp_path / "a", odd)[0]["pairs"] == preview(tmp_path / "b", dataset)[0]["pairs"]


def test_a_mode_may_lack_pairs(tampered: Tamper, tmp_path: Path) -> None:
    (shown,) = preview(tmp_path, tampered(lambda mode, rows: rows[1:] if mode == "hard" else rows))
    assert sorted(len(pair["views"]) for pair in shown["pairs"]) == [1, 1, 2, 2, 2, 2]


def test_a_dataset_without_rows(tampered: Tamper, tmp_path: Path) -> None:
    (shown,) = preview(tmp_path, tampered(lambda _, __: []))
    assert (shown["pairs"], shown["total"]) == ([], 0)


def test_webp(tmp_path: Path) -> None:
    build("samples", out=tmp_path / "webp", limit=2, image_format="webp")
    (shown,) = preview(tmp_path, tmp_path / "webp")
    assert {pair["image"]["kind"] for pair in shown["pairs"]} == {"webp"}


@pytest.mark.parametrize("change", [{"rejected": {"a": "x"}}, {"rejected": [1]}, {"read": float("inf")}, {"source": 3}])
def test_a_manifest_with_odd_values(tampered: Tamper, tmp_path: Path, change: dict[str, Any]) -> None:
    odd = tampered(lambda _, rows: rows)
    write_manifest(odd, dataclasses.replace(read_manifest(odd), **change))
    with pytest.raises(DatasetError, match="is damaged"):
        preview(tmp_path, odd)


def test_what_the_user_can_mend(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "preview.html"
    with pytest.raises(ConfigError, match="1 or more"):
        write_preview([dataset], out, limit=0)
    with pytest.raises(DatasetError, match="not a dataset"):
        write_preview([tmp_path], out)
    with pytest.raises(OutputError, match="exists"):
        write_preview([dataset], tmp_path)
    out.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        write_preview([dataset], out)
    with pytest.raises(OutputError, match="cannot be written"):
        write_preview([dataset], out / "preview.html")
    assert out.read_text() == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["preview.html"]
