"""The Hub without a network: the same code on an in-memory file system, and being offline."""

import pickle
from types import SimpleNamespace
from typing import Any

import fsspec
import huggingface_hub.errors
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFile

from vcrgen.builder.sources import hub, iter_items, open_source
from vcrgen.builder.sources.arrow import ParquetSource
from vcrgen.config import BuildConfig
from vcrgen.errors import SourceError
from vcrgen.storage import BucketFolder


@pytest.fixture
def remote() -> ParquetSource:
    """Two files of 20 row groups, 200 kB of images each, behind a URL."""
    system = fsspec.filesystem("memory")
    for number in range(2):
        rows = range(number * 100, number * 100 + 100)
        table = pa.table(
            {"image": [bytes([n]) * 2000 for n in rows], "embedding": ["e" * 2000 + str(n) for n in rows],
             "caption": [f"caption {n}" for n in rows]}
        )  # fmt: skip
        with system.open(f"/org/data/train-{number}.parquet", "wb") as file:
            pq.write_table(table, file, row_group_size=5, use_dictionary=False, write_statistics=False)
    files = ["data/train-1.parquet", "data/train-0.parquet"]
    return ParquetSource(files, folder=BucketFolder("memory://org"), kind="Parquet file")


def test_rows_by_range(remote: ParquetSource, monkeypatch: pytest.MonkeyPatch) -> None:
    config = BuildConfig(source="org/name")
    assert [(p.name, p.rows) for p in remote.partitions()] == [(f"data/train-{n}.parquet", 100) for n in range(2)]
    source = pickle.loads(pickle.dumps(remote))
    items = list(iter_items(source, config, 1, 47, 53))
    assert [item.caption for item in items] == [f"caption {n}" for n in range(147, 153)]
    assert items[0].source_id == "data/train-1.parquet#47"

    read = 0
    fetch = MemoryFile.read

    def counted(self: Any, *args: Any) -> bytes:
        nonlocal read
        data: bytes = fetch(self, *args)
        read += len(data)
        return data

    monkeypatch.setattr(MemoryFile, "read", counted, raising=False)
    list(source.rows(1, 47, 53, frozenset({"caption"})))
    assert read < 100_000
    list(source.rows(1, 50, 55, frozenset({"caption", "image"})))
    assert read < 200_000


def test_a_file_that_is_gone(remote: ParquetSource) -> None:
    source = ParquetSource([*remote.files, "data/train-2.parquet"], folder=remote.folder, kind="Parquet file")
    with pytest.raises(SourceError, match=r"train-2\.parquet cannot be read"):
        source.partitions()


def test_enough_files_are_enough(remote: ParquetSource) -> None:
    source = ParquetSource(remote.files, folder=remote.folder, kind="Parquet file", enough=100)
    assert len(source.partitions()) == 1


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (OSError("Name or service not known"), "Hub cannot be reached"),
        (huggingface_hub.errors.OfflineModeIsEnabled("offline mode is enabled"), "offline mode is enabled"),
        (huggingface_hub.errors.HFValidationError("bad"), "no dataset of that name"),
    ],
)
def test_without_the_hub_there_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, message: str
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise raised

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", fail)
    for source in ("wikimedia/wit_base", "mnist", "org/name:config@v1"):
        with pytest.raises(SourceError, match=message) as error:
            open_source(BuildConfig(source=source))
        assert "\n" not in str(error.value)


def opened_on_a_fake_hub(monkeypatch: pytest.MonkeyPatch, text: str, files: list[str]) -> ParquetSource:
    def info(self: Any, name: str, *, revision: str | None, timeout: float) -> SimpleNamespace:
        assert name == "org/name"
        return SimpleNamespace(sha="c0ffee" if revision == "refs/convert/parquet" else "abc123", gated=False)

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", info)
    monkeypatch.setattr(hub, "_data_files", lambda *args, config, **options: (files, config or "default"))
    found = [
        "datasets/org/name@c0ffee/default/train/0001.parquet",
        "datasets/org/name@c0ffee/default/train/0000.parquet",
    ]
    facts = {name: {"type": "file"} for name in found}
    system = SimpleNamespace(glob=lambda pattern, detail: facts if "/default/train/*" in pattern else {})
    monkeypatch.setattr(fsspec.core, "url_to_fs", lambda url, **options: (system, url.removeprefix("hf://")))
    source = open_source(BuildConfig(source=text))
    assert isinstance(source, ParquetSource)
    return source


def test_the_commit_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [f"hf://datasets/org/name@abc123/data/train-{n}.parquet" for n in (1, 0)]
    source = opened_on_a_fake_hub(monkeypatch, "org/name", files)
    assert source.files == ["data/train-0.parquet", "data/train-1.parquet"]
    assert source.description == "org/name@abc123, split train"


def test_a_dataset_that_is_not_parquet_is_read_from_the_conversion(monkeypatch: pytest.MonkeyPatch) -> None:
    files = ["hf://datasets/org/name@abc123/train.tar"]
    source = opened_on_a_fake_hub(monkeypatch, "org/name", files)
    assert source.files == ["default/train/0000.parquet", "default/train/0001.parquet"]
    assert source.description == "org/name@c0ffee, split train"
    with pytest.raises(SourceError, match="not stored as Parquet, nor converted"):
        opened_on_a_fake_hub(monkeypatch, "org/name:other", files)
