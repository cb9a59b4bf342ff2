"""The columns of a VCR dataset, and the figures by which it is described."""

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.core.records import Mode
from vcrgen.core.storage import DiskFolder
from vcrgen.data.manifest import read_manifest
from vcrgen.data.reader import built_dataset, open_dataset
from vcrgen.data.schema import IMAGE
from vcrgen.data.tasks.vcr import VCR, fill_metadata, image_size, vcr_statistics
from vcrgen.data.views import IMAGE_VIEWS
from vcrgen.text.languages import LANGUAGES

Foreign = Callable[..., Path]


def test_every_column_has_a_note() -> None:
    assert list(VCR.descriptions) == list(VCR.features)
    assert {VCR.identifier, VCR.answers, *VCR.dictionary_columns, *VCR.indexed_columns} <= set(VCR.features)


def test_the_first_columns_are_those_of_vcr_wiki() -> None:
    assert list(VCR.features)[:7] == [
        "question_id",
        "image",
        "caption",
        "stacked_image",
        "only_it_image",
        "only_it_image_small",
        "crossed_text",
    ]
    assert VCR.images == ("image", *(view.column for view in IMAGE_VIEWS))
    assert all(VCR.features[column] == IMAGE for column in VCR.images)


def test_datasets_reads_the_features(dataset: Path) -> None:
    import datasets

    file = str(next((dataset / "easy").glob("test-*")))
    loaded = datasets.load_dataset("parquet", data_files=file, split="train", streaming=True)
    assert loaded.features == datasets.Features.from_dict(  # type: ignore[union-attr]
        datasets.Features.from_arrow_schema(VCR.schema()).to_dict()
    )
    assert VCR.schema("mode", "image").names == ["mode", "image"]


def test_the_figures_are_those_of_the_rows(dataset: Path) -> None:
    figures = vcr_statistics(open_dataset(dataset, VCR))
    assert list(figures) == [(mode, split) for split in ("test", "train") for mode in ("easy", "hard")]
    for (mode, split), found in figures.items():
        rows = pq.read_table(next((dataset / mode).glob(f"{split}-*"))).to_pylist()
        spans = [span for row in rows for span in row["spans"]]
        cover = LANGUAGES["en"].cover_targets[Mode(mode)]
        assert (found.rows, found.spans) == (len(rows), len(spans))
        assert found.height.mean == pytest.approx(statistics.mean(row["strip_y"] + row["strip_height"] for row in rows))
        assert found.caption_length.mean == pytest.approx(statistics.mean(len(row["caption"]) for row in rows))
        assert found.spans_per_image.sd == pytest.approx(statistics.pstdev(len(row["spans"]) for row in rows))
        assert found.visible_ink.mean == pytest.approx(statistics.mean(span["visible_ink"] for span in spans))
        assert found.outside == sum(not cover.contains(span["visible_ink"]) for span in spans)


def test_values_that_no_build_writes(tampered: Callable[..., Path]) -> None:
    def change(mode: str, rows: list[Any]) -> list[Any]:
        return [row | {"strip_y": None} for row in rows]

    with pytest.raises(DatasetError, match="row 1 has values that no build writes"):
        vcr_statistics(open_dataset(tampered(change), VCR))


def test_languages_that_are_not_known(dataset: Path) -> None:
    manifest = read_manifest(dataset)
    for config in ({}, {"lang": "xx"}, {"lang": ["en"]}):
        object.__setattr__(manifest, "config", config)
        with pytest.raises(DatasetError, match="names a mode or language that vcrgen does not build"):
            vcr_statistics(built_dataset(DiskFolder(dataset), manifest, VCR))


def test_the_figures_of_a_dataset_that_vcrgen_did_not_build(dataset: Path, as_foreign: Foreign, tmp_path: Path) -> None:
    built = vcr_statistics(open_dataset(dataset, VCR))["hard", "test"]
    (name, found), *others = vcr_statistics(open_dataset(as_foreign(dataset, tmp_path / "one", "hard"), VCR)).items()
    assert (name, others) == (("-", "-"), [])
    assert (found.visible_ink, found.outside) == (None, None)
    for figure in ("rows", "spans", "height", "spans_per_image", "caption_length"):
        assert getattr(found, figure) == getattr(built, figure)


def test_what_files_do_not_say_is_found_or_asked_for(dataset: Path, as_foreign: Foreign, tmp_path: Path) -> None:
    one = open_dataset(as_foreign(dataset, tmp_path / "one", "hard"), VCR)
    with pytest.raises(ConfigError, match=r"one does not say its mode; name it with --mode \(easy or hard\)"):
        fill_metadata(one)
    (file,) = fill_metadata(one, mode="hard").files
    assert (file.mode, file.split, file.constants["language"]) == ("hard", "test", "en")
    assert file.constants["question"] == LANGUAGES["en"].question
    (file,) = fill_metadata(one, mode="easy", split="dev").files
    assert (file.mode, file.split) == ("easy", "dev")
    both = open_dataset(as_foreign(dataset, tmp_path / "two"), VCR)
    assert [file.mode for file in fill_metadata(both).files] == ["easy", "hard"]
    assert [file.mode for file in fill_metadata(both, mode="hard").files] == ["hard"]
    assert fill_metadata(open_dataset(dataset, VCR), split="test").splits == ("test",)


def test_rows_name_their_mode_and_language(dataset: Path, tmp_path: Path) -> None:
    import datasets

    table = pq.read_table(next((dataset / "easy").glob("test-*")))
    datasets.Dataset(table).save_to_disk(str(tmp_path / "saved"))
    (file,) = fill_metadata(open_dataset(tmp_path / "saved", VCR)).files
    assert (file.mode, file.constants["language"]) == ("easy", "en")
    [(_, row)] = open_dataset(tmp_path / "saved", VCR).rows(["mode"], limit=1)
    assert row == {"mode": "easy"}


@pytest.mark.parametrize("data", [None, b"", b"GIF89a", b"\x89PNG\r\n\x1a\nrubbish"])
def test_the_size_of_what_is_no_image(data: bytes | None) -> None:
    with pytest.raises(ValueError, match="no image"):
        image_size({"bytes": data})
