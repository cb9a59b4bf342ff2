import dataclasses
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.core.errors import DatasetError
from vcrgen.core.storage import open_folder
from vcrgen.data.manifest import read_manifest
from vcrgen.data.reader import Dataset, built_dataset, open_dataset
from vcrgen.data.tasks.vcr import VCR


def ids(dataset: Path | Dataset, *, mode: str | None = None, split: str | None = None, **options: Any) -> list[str]:
    opened = dataset if isinstance(dataset, Dataset) else open_dataset(dataset, VCR)
    return [row["question_id"] for _, row in opened.select(mode=mode, split=split).rows(["question_id"], **options)]


def table_ids(dataset: Path, name: str) -> list[str]:
    return pq.read_table(next((dataset / "easy").glob(f"{name}-*.parquet")))["question_id"].to_pylist()


def test_all_rows_of_a_mode_in_the_order_of_the_files(dataset: Path) -> None:
    splits = read_manifest(dataset).splits
    assert ids(dataset, mode="easy") == [row for split in splits for row in table_ids(dataset, split)]
    assert ids(dataset, mode="easy") == ids(dataset, mode="hard")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"limit": 1}, [0]),
        ({"limit": 0}, []),
        ({"limit": 99}, [0, 1, 2, 3, 4, 5]),
        ({"positions": [5, 1, 1]}, [1, 5]),
        ({"positions": [0, 3, 5], "limit": 2}, [0, 3]),
        ({"positions": []}, []),
        ({"positions": [77]}, []),
    ],
)
def test_choosing_rows(dataset: Path, options: dict[str, Any], expected: list[int]) -> None:
    every = ids(dataset, mode="easy")
    assert len(every) == 6
    assert ids(dataset, mode="easy", **options) == [every[index] for index in expected]


def test_row_groups_without_a_wanted_row_are_not_read(dataset: Path, tmp_path: Path) -> None:
    copy = copied(dataset, tmp_path)
    manifest = read_manifest(copy)
    file = next(file for file in manifest.files if file.split == "train")
    pq.write_table(pq.read_table(copy / file.path), copy / file.path, row_group_size=1, compression="none")
    with pq.ParquetFile(copy / file.path) as parquet:
        offset = parquet.metadata.row_group(0).column(0).data_page_offset
    data = bytearray((copy / file.path).read_bytes())
    data[offset : offset + 40] = bytes(40)  # only the first row is damaged
    (copy / file.path).write_bytes(data)
    files = (dataclasses.replace(file, bytes=len(data)),)
    damaged = built_dataset(open_folder(copy), dataclasses.replace(manifest, files=files), VCR)
    assert ids(damaged, positions=[2]) == [table_ids(dataset, "train")[2]]
    with pytest.raises(DatasetError, match="cannot be read"):
        ids(damaged, positions=[0])


def copied(dataset: Path, tmp_path: Path) -> Path:
    return shutil.copytree(dataset, tmp_path / "copy")


def remove(path: Path) -> None:
    path.unlink()


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def scramble_footer(path: Path) -> None:
    data = path.read_bytes()
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    path.write_bytes(data[:start] + b"\xff" * 100 + data[start + 100 :])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (remove, "is missing"),
        pytest.param(make_pipe, "is missing", marks=pytest.mark.skipif(os.name == "nt", reason="no named pipes")),
        (cut, "bytes where the manifest says"),
        (scramble_footer, "cannot be read"),
    ],
)
def test_damaged_files(dataset: Path, tmp_path: Path, damage: Callable[[Path], None], message: str) -> None:
    copy = copied(dataset, tmp_path)
    damage(copy / read_manifest(copy).files[0].path)
    for read in (lambda: ids(copy, mode="easy"), lambda: open_dataset(copy, VCR).check()):
        with pytest.raises(DatasetError, match=message) as caught:
            read()
        assert "\n" not in str(caught.value)
        assert read_manifest(copy).files[0].path in str(caught.value)


def swap(dataset: Path, tmp_path: Path, table: pa.Table) -> Dataset:
    """The easy rows of a dataset with another table in its first file, and a manifest that knows its size."""
    copy = copied(dataset, tmp_path)
    manifest = read_manifest(copy)
    first = manifest.files[0]
    pq.write_table(table, copy / first.path)
    entry = dataclasses.replace(first, bytes=(copy / first.path).stat().st_size)
    changed = dataclasses.replace(manifest, files=(entry, *manifest.files[1:]))
    return built_dataset(open_folder(copy), changed, VCR).select(mode="easy")


def test_wrong_number_of_rows(dataset: Path, tmp_path: Path) -> None:
    table = pq.read_table(dataset / read_manifest(dataset).files[0].path)
    swapped = swap(dataset, tmp_path, pa.concat_tables([table, table]))
    with pytest.raises(DatasetError, match="rows where the manifest says"):
        list(swapped.rows())


@pytest.mark.parametrize("change", ["drop", "type", "twice"])
def test_wrong_columns(dataset: Path, tmp_path: Path, change: str) -> None:
    table = pq.read_table(dataset / read_manifest(dataset).files[0].path)
    other = pa.array([1] * len(table))
    index = table.schema.get_field_index("caption")
    if change == "twice":
        table = table.append_column("caption", table["caption"])
    else:
        table = table.remove_column(index) if change == "drop" else table.set_column(index, "caption", other)
    swapped = swap(dataset, tmp_path, table)
    with pytest.raises(DatasetError, match="lacks the column 'caption'"):
        list(swapped.rows())
    assert list(swapped.rows(["question_id"]))


def test_text_that_is_not_utf8(dataset: Path, tmp_path: Path) -> None:
    table = pq.read_table(dataset / read_manifest(dataset).files[0].path)
    raw = pa.array([b"\xff\xfe"] * len(table), pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
    index = table.schema.get_field_index("caption")
    swapped = swap(dataset, tmp_path, table.set_column(index, table.schema.field(index), text))
    with pytest.raises(DatasetError, match="cannot be read"):
        list(swapped.rows())


def test_a_folder_with_datasets_is_none(dataset: Path, tmp_path: Path) -> None:
    """Their files would be read as those of one dataset, whose rows have other pictures and other signatures."""
    places = [tmp_path / name for name in ("a", "b", "deep/c")]
    for place in places:
        shutil.copytree(dataset, place)
    named = ", ".join(map(str, places))
    with pytest.raises(DatasetError, match=f"is not a dataset but a folder with datasets; name one of them: {named}."):
        open_dataset(tmp_path, VCR)
    for number in range(4):
        shutil.copytree(dataset, tmp_path / f"more-{number}")
    with pytest.raises(DatasetError, match="more-1 and 2 more"):
        open_dataset(tmp_path, VCR)
    for place in tmp_path.glob("**/manifest.json"):  # of something else, beside Parquet files
        place.write_text("{}")
    assert len(open_dataset(tmp_path, VCR).files) == 7 * len(open_dataset(dataset, VCR).files)
