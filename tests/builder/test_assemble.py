"""Files of a dataset: how large, how named, in which folders; and that all readers find them."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.pages import Run
from vcrgen.builder import assemble
from vcrgen.builder.assemble import _name_files, _plan_files
from vcrgen.builder.run import build
from vcrgen.builder.shards import FILE_BYTES, ShardResult, default_shard_size
from vcrgen.builder.sources import RowCounts
from vcrgen.core.errors import ManyDatasetsError
from vcrgen.core.records import Mode
from vcrgen.data.manifest import read_manifest
from vcrgen.data.reader import Dataset, open_dataset
from vcrgen.data.tasks.vcr import VCR, vcr_statistics


def results_of(parts: Sequence[int], pair_bytes: int) -> list[ShardResult]:
    return [
        ShardResult(
            index=index,
            fingerprint="",
            rows=rows,
            rejected={},
            cleaned={},
            source=RowCounts(),
            bytes={"hard": rows * pair_bytes},
            sha256={"hard": str(index)},
        )
        for index, rows in enumerate(parts)
    ]


@pytest.mark.parametrize(
    ("parts", "pair_bytes", "most_rows", "files"),
    [
        ([4, 4, 4], 1, None, [4, 4, 4]),  # whole parts
        ([5, 5, 5], 1, None, [12]),
        ([5, 5, 5], FILE_BYTES // 8, None, [8, 4]),
        ([5, 5, 5], FILE_BYTES // 3, None, [4, 4, 4]),  # rows of one part stay together
        ([5, 4, 5, 5], 1, None, [4, 4, 8]),  # a whole part ends the file before it
        ([5, 5, 5], 1, 8, [8, 4]),
        ([5, 5, 5], FILE_BYTES, 12, [12]),
    ],
)
def test_bytes_decide_the_size_of_a_file_unless_rows_are_asked_for(
    parts: list[int], pair_bytes: int, most_rows: int | None, files: list[int]
) -> None:
    """The first four rows of each part are in the split."""
    starts = np.cumsum([0, *parts])
    rows = np.concatenate([start + np.arange(4) for start in starts[:-1]])
    contents = list(_plan_files(rows, starts, results_of(parts, pair_bytes), most_rows))
    assert [content.rows for content in contents] == files
    again = [
        starts[content.part] + np.arange(4)
        if content.selection is None
        else starts[content.selection["part"]] + content.selection["row"]
        for content in contents
    ]
    assert np.concatenate(again).tolist() == rows.tolist()


@pytest.mark.parametrize(
    ("pairs", "width", "size"),
    [
        (10, 300, 16),
        (3_200, 300, 100),
        (900_000, 300, 512),
        (3_000_000, 300, 1_465),
        (10**9, 300, 1_860),
        (10**9, 1_200, 116),
        (10, 5_000, 16),
    ],
)
def test_shards_grow_to_files_and_not_further(pairs: int, width: int, size: int) -> None:
    assert default_shard_size(pairs, width) == size


@pytest.mark.parametrize("count", [3, 50, 51, 1000])
def test_names_sort_and_folders_hold_no_more_than_the_hub_advises(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert assemble.MOST_FILES == 10_000
    monkeypatch.setattr(assemble, "MOST_FILES", 50)
    results = results_of([1] * count, 1)
    rows = np.arange(count)
    contents = {"test": list(_plan_files(rows, np.arange(count + 1), results, None))}
    paths = [file.path for file in _name_files(contents, results, [Mode("hard")])]
    assert paths == sorted(paths) and len(set(paths)) == count
    folders = [path.rpartition("/")[0] for path in paths]
    assert max(map(folders.count, set(folders))) <= 50
    assert set(folders) == {"hard"} if count <= 50 else len(set(folders)) == -(-count // 50)


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("flat") / "out"
    build("samples:16", out=out, shard_size=4, splits="train=...,test=3")
    return out


@pytest.fixture
def nested(flat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same with no more than two files in a folder."""
    monkeypatch.setattr(assemble, "MOST_FILES", 2)
    out = tmp_path / "all" / "nested"
    build("samples:16", out=out, shard_size=4, splits="train=...,test=3")
    return out


def test_files_in_numbered_folders_are_found_as_others_are(flat: Path, nested: Path, run: Run) -> None:
    pytest.importorskip("datasets")
    from datasets import load_dataset

    def ids(dataset: Dataset) -> list[str]:
        return [row["question_id"] for _, row in dataset.rows(["question_id"])]

    assert {file.path.count("/") for file in read_manifest(nested).files} == {2}
    one, other = open_dataset(flat, VCR), open_dataset(nested, VCR)
    assert ids(one) == ids(other) and vcr_statistics(one) == vcr_statistics(other)
    assert (nested / "README.md").read_text() == re.sub("(easy|hard)/t", r"\1/*/t", (flat / "README.md").read_text())
    for mode in ("easy", "hard"):
        loaded = load_dataset(str(nested), mode, cache_dir=str(nested.parent / "cache"))
        assert {split: len(rows) for split, rows in loaded.items()} == {"train": 13, "test": 3}
    for command in (["inspect", str(nested)], ["export", str(nested), "--to", "lmms-eval", "--out", "exported"]):
        code, _, error = run(*command)
        assert code == 0, error
    with pytest.raises(ManyDatasetsError, match="nested"):
        open_dataset(nested.parent, VCR)
    (nested / "manifest.json").unlink()
    bare = open_dataset(nested, VCR)
    assert (bare.modes, set(bare.splits)) == (("easy", "hard"), {"train", "test"})
    shutil.rmtree(nested)
