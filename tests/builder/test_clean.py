"""`--clean web` in a build: captions, counts and the signature."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builder.conftest import jpeg
from vcrgen import build
from vcrgen.data.manifest import read_manifest

Run = Callable[..., tuple[int, str, str]]
CAPTIONS = (
    "the small&nbsp;green boat lies quietly on the warm sand while gray birds walk slowly",
    "the captain\u00e2\u20ac\u2122s old boat<br/>lies quietly on the warm sand while gray birds walk slowly[2]",
    "an old boat lies quietly on the cold sand while gray birds walk slowly",
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "pairs.parquet"
    images = [jpeg(color) for color in ("red", "green", "blue")]
    pq.write_table(pa.table({"image": images, "caption": CAPTIONS}), file)
    return file


def test_a_cleaned_build(source: Path, tmp_path: Path, run: Run) -> None:
    code, out, _ = run("build", source, "--clean", "web", "--out", tmp_path / "out", "--mode", "easy")
    assert code == 0
    manifest = read_manifest(tmp_path / "out")
    assert dict(manifest.cleaned) == {"citations": 1, "entities": 1, "mojibake": 1, "tags": 1}
    assert manifest.signature.facts["clean"].startswith("web-1,ftfy-")
    assert "mojibake" in out
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "citations 1, entities 1, mojibake 1, tags 1" in card
    rows = pq.read_table(tmp_path / "out" / "easy").to_pylist()
    assert {row["caption"] for row in rows} == {
        "the small green boat lies quietly on the warm sand while gray birds walk slowly",
        "the captain\u2019s old boat lies quietly on the warm sand while gray birds walk slowly",
        CAPTIONS[2],
    }


def test_captions_are_not_cleaned_unless_it_is_asked_for(source: Path, tmp_path: Path) -> None:
    build(source, out=tmp_path / "out", mode="easy")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert "cleaned" not in manifest and "clean" not in manifest["config"] and "clean:" not in manifest["signature"]
    rows = pq.read_table(tmp_path / "out" / "easy").to_pylist()
    assert {CAPTIONS[0], CAPTIONS[2]} <= {row["caption"] for row in rows}
    assert not [answer for row in rows for answer in row["crossed_text"] if "&" in answer or "<" in answer]


def test_an_unknown_cleaning(source: Path, tmp_path: Path, run: Run) -> None:
    code, _, err = run("build", source, "--clean", "everything", "--out", tmp_path / "out")
    assert code == 2 and "unknown cleaning 'everything'; known: web" in " ".join(err.split())
