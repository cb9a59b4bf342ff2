"""Croissant files of builds, MCQ benchmarks and hidden sets: mlcroissant loads them; nothing of a key is in them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vcrgen.bloom.options import BloomSceneOptions
from vcrgen.bloom.scenes.generator import build_scene_set
from vcrgen.builder.options import load_build_config
from vcrgen.builder.run import build
from vcrgen.core.errors import DatasetError, VcrgenError
from vcrgen.data.export import export_dataset
from vcrgen.data.tasks.croissant import CORE_FIELDS, RAI_FIELDS, export_croissant, missing_fields
from vcrgen.hidden.options import HiddenOptions
from vcrgen.hidden.run import make_hidden

RAI = """\
rai:dataBiases: Captions are in English only.
creator: {"@type": "sc:Organization", "name": "us"}
license: https://creativecommons.org/licenses/by/4.0/
url: https://example.org/vcr
datePublished: "2026-11-01"
version: 1.0.0
citeAs: Us (2026)
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """English pairs with two splits, a mask, and two configurations."""
    out = tmp_path_factory.mktemp("croissant") / "vcr"
    build("samples:10", out=out, splits="train=...,test=4", cover="stain")
    return out


def records(file: Path, name: str) -> list[dict[str, Any]]:
    import mlcroissant

    rows: Iterator[dict[str, Any]] = iter(mlcroissant.Dataset(jsonld=str(file)).records(name))
    return [{key.partition("/")[2]: value for key, value in row.items()} for row in rows]


def read(file: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return value


@pytest.mark.parametrize("mode", ["easy", "hard"])
def test_a_build_is_loaded_with_its_splits_and_images(dataset: Path, mode: str) -> None:
    rows = records(dataset / "croissant.json", mode)
    manifest = read(dataset / "manifest.json")
    files = [file for file in manifest["files"] if file["mode"] == mode]
    counts = {file["split"].encode(): file["rows"] for file in files}
    splits = [row["split"] for row in rows]
    assert len(counts) == 2 and {split: splits.count(split) for split in counts} == counts
    assert {row["mode"].decode() for row in rows} == {mode}
    assert all(row["crossed_text"][0].decode() in row["caption"].decode() for row in rows)
    assert all(row["stacked_image"].size[0] == row["cover_mask"].size[0] == 300 for row in rows)


def test_all_that_vcrgen_knows_is_there_and_the_rest_is_named(dataset: Path) -> None:
    document = read(dataset / "croissant.json")
    assert missing_fields(document) == ("url", "license", "creator", "datePublished", "version", "citeAs")
    assert str(read(dataset / "manifest.json")["signature"]) in document["prov:wasGeneratedBy"]
    assert "drawings" in document["rai:dataBiases"]  # of built-in pairs, which are known


def test_pairs_of_others_have_no_biases_that_vcrgen_knows(tmp_path: Path, dataset: Path) -> None:
    source = dataset / "easy" / "train-00000-of-00001.parquet"
    build(str(source), out=tmp_path / "out", mode="hard", limit=2)
    document = read(tmp_path / "out" / "croissant.json")
    assert "rai:dataBiases" not in document and document["rai:hasSyntheticData"].startswith("In part")


def test_the_publisher_adds_the_rest(dataset: Path, tmp_path: Path) -> None:
    import mlcroissant

    (tmp_path / "rai.yaml").write_text(RAI, "utf-8")
    assert export_croissant(dataset, tmp_path / "new" / "croissant.json", fields=tmp_path / "rai.yaml") == ()
    document = read(tmp_path / "new" / "croissant.json")
    assert {*CORE_FIELDS, *RAI_FIELDS} <= document.keys()
    assert document["rai:dataBiases"] == "Captions are in English only."
    loaded = mlcroissant.Dataset(jsonld=str(tmp_path / "new" / "croissant.json"))
    assert not loaded.metadata.ctx.issues.errors and not loaded.metadata.ctx.issues.warnings


def test_the_file_of_the_hub_keeps_its_files_and_records(dataset: Path, tmp_path: Path) -> None:
    """Its form: version 1.0, ids of its own, a repository as file object."""
    hub = read(dataset / "croissant.json")
    kept = {"name": "theirs", "distribution": [{"@type": "cr:FileObject", "@id": "repo"}], "recordSet": []}
    context = {name: term for name, term in hub["@context"].items() if name not in ("rai", "prov")}
    base = {"@context": context, "@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.0", **kept}
    (tmp_path / "hub.json").write_text(json.dumps(base), "utf-8")
    export_croissant(dataset, tmp_path / "merged.json", base=tmp_path / "hub.json")
    merged = read(tmp_path / "merged.json")
    assert {name: merged[name] for name in kept} == kept
    assert merged["conformsTo"] == ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
    assert set(RAI_FIELDS) <= merged.keys() and {"rai", "prov"} <= merged["@context"].keys()


def test_an_mcq_benchmark_is_loaded(tmp_path: Path) -> None:
    build_scene_set(BloomSceneOptions(items=8, allow_shortcuts=True), tmp_path / "mcq")
    rows = records(tmp_path / "mcq" / "croissant.json", "default")
    assert len(rows) == 8 and all(row["split"] == b"test" and len(row["options_en"]) == 4 for row in rows)


def test_a_public_part_tells_nothing_of_the_key(tmp_path: Path) -> None:
    options = HiddenOptions(config=load_build_config(None, {}), items=4, private_source=True, cover="rows")
    made = make_hidden(options, out=tmp_path / "set", secret_file=tmp_path / "secret.key")
    file = made.public[0] / "croissant.json"
    assert len(records(file, "questions")) == 4 and records(file, "stacked_image")[0]["image"].size[0] > 100
    answers = [json.loads(line) for line in (made.keys[0] / "answers.jsonl").read_text("utf-8").splitlines()]
    text = file.read_text("utf-8")
    assert not any(span in text for answer in answers for span in (*answer["crossed_text"], answer["caption"]))
    assert "crossed_text" not in text
    with pytest.raises(DatasetError, match="is the public part of a hidden test set, which has no answers to export"):
        export_dataset(made.public[0], to="trl", out=tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("fields", "rai:dataBias: x", "has the unknown field 'rai:dataBias'; known: name, description"),
        ("fields", "[1, 2]", "must hold `key: value` lines"),
        ("fields", "citeAs: 7", "citeAs has to be a text"),
        ("base", "[]", "is no Croissant file"),
        ("base", '{"@context": "https://schema.org"}', "is no Croissant file"),
        ("base", "[" * 100_000, "nested too deep"),
    ],
)
def test_files_that_are_none_get_a_sentence(dataset: Path, tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / "file").write_text(text, "utf-8")
    with pytest.raises(VcrgenError, match=message):
        export_croissant(dataset, tmp_path / "out.json", **{name: tmp_path / "file"})
    assert not (tmp_path / "out.json").exists()


def test_another_file_is_not_overwritten(dataset: Path, tmp_path: Path) -> None:
    export_croissant(dataset, tmp_path / "out.json")
    export_croissant(dataset, tmp_path / "out.json")
    (tmp_path / "out.json").write_text("mine", "utf-8")
    with pytest.raises(VcrgenError, match="holds something else"):
        export_croissant(dataset, tmp_path / "out.json")
    with pytest.raises(VcrgenError, match=r"has no croissant\.json"):
        export_croissant(tmp_path, tmp_path / "other.json")
