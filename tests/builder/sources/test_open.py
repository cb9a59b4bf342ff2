"""Recognition of `--source`, and its errors."""

import sys
import types
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import iter_items, open_source
from vcrgen.core.errors import SourceError


def names(source: str, **options: Any) -> list[str]:
    return [partition.name for partition in open_source(BuildConfig(source=source, **options)).partitions()]


def parquet(file: Path, *, captions: tuple[str, ...] = ("c",)) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"image": [b"x"] * len(captions), "caption": list(captions)}), file)


@pytest.fixture
def samples(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("vcrgen.samples")
    module.BUILTIN_COUNT = 5  # type: ignore[attr-defined]
    module.sample_pair = lambda lang, index: types.SimpleNamespace(  # type: ignore[attr-defined]
        id=f"{lang}-{index}", image=b"png", caption=f"caption {index}"
    )
    monkeypatch.setitem(sys.modules, "vcrgen.samples", module)


@pytest.mark.usefixtures("samples")
def test_samples() -> None:
    config = BuildConfig(source="samples:7", lang="zh")
    source = open_source(config)
    assert source.partitions()[0].rows == 7
    items = list(iter_items(source, config, 0, 2, 4))
    assert [(item.source_id, item.caption) for item in items] == [
        ("zh-2", "caption 2"),
        ("zh-3", "caption 3"),
    ]
    assert open_source(BuildConfig(source="samples")).partitions()[0].rows == 5
    with pytest.raises(SourceError, match="at least 1"):
        open_source(BuildConfig(source="samples:0"))


def test_globs_are_sorted_and_relative_to_what_is_fixed(tmp_path: Path) -> None:
    for name in ("b/2.parquet", "b/10.parquet", "a/1.parquet", "a/x.txt"):
        parquet(tmp_path / name)
    assert names(f"{tmp_path}/*/*.parquet") == ["a/1.parquet", "b/10.parquet", "b/2.parquet"]
    assert names(f"{tmp_path}/**/*.parquet") == ["a/1.parquet", "b/10.parquet", "b/2.parquet"]
    assert names(f"{tmp_path}/{{b,a}}/[12].parquet") == ["a/1.parquet", "b/2.parquet"]
    assert names(f"{tmp_path}/b/{{2..2}}.parquet") == ["2.parquet"]


def test_a_folder_with_data_inside(tmp_path: Path) -> None:
    parquet(tmp_path / "data/1.parquet")
    parquet(tmp_path / "data/_tmp.parquet")
    parquet(tmp_path / "data/.x.parquet")
    assert names(str(tmp_path)) == ["data/1.parquet"]


def test_the_split_of_a_dataset_folder(tmp_path: Path) -> None:
    parquet(tmp_path / "data/train-00000-of-00001.parquet")
    parquet(tmp_path / "data/test-00000-of-00001.parquet")
    both = ["data/train-00000-of-00001.parquet", "data/test-00000-of-00001.parquet"]
    assert names(str(tmp_path)) == both, "a limit takes training pairs first"
    assert open_source(BuildConfig(source=str(tmp_path))).description == "2 Parquet files, splits train, test"
    assert names(str(tmp_path), source_split="test") == both[1:]
    with pytest.raises(SourceError, match="no split 'dev'; it has train, test"):
        names(str(tmp_path), source_split="dev")


def test_the_splits_of_a_readme(tmp_path: Path) -> None:
    parquet(tmp_path / "parts/x.parquet")
    readme = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: {}\n---\n"
    (tmp_path / "README.md").write_text(readme.format("parts/*.parquet"))
    assert names(str(tmp_path)) == ["parts/x.parquet"]
    parquet(tmp_path.parent / "outside.parquet")
    (tmp_path / "README.md").write_text(readme.format("../outside.parquet"))
    with pytest.raises(SourceError, match="outside"):
        names(str(tmp_path))
    (tmp_path / "README.md").write_text("---\nconfigs: [\n---\n")
    with pytest.raises(SourceError):
        names(str(tmp_path))


def test_a_dataset_saved_by_datasets(tmp_path: Path) -> None:
    import datasets

    features = datasets.Features({"image": datasets.Image(), "caption": datasets.Value("string")})
    rows = {"image": [{"bytes": b"x", "path": None}] * 3, "caption": ["a", "b", "c"]}
    saved = datasets.Dataset.from_dict(rows, features=features)
    datasets.DatasetDict({"train": saved, "test": saved.select([1])}).save_to_disk(tmp_path / "both")
    saved.save_to_disk(tmp_path / "one", num_shards=2)
    assert names(str(tmp_path / "one")) == ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    config = BuildConfig(source=str(tmp_path / "both"), source_split="test")
    (item,) = iter_items(open_source(config), config, 0, 0, 1)
    assert (item.image, item.caption) == (b"x", "b")
    whole = open_source(BuildConfig(source=str(tmp_path / "both")))
    assert [(part.name, part.rows) for part in whole.partitions()] == [
        ("train/data-00000-of-00001.arrow", 3),
        ("test/data-00000-of-00001.arrow", 1),
    ]
    assert whole.description == "2 Arrow files, splits train, test"
    with pytest.raises(SourceError, match="no split 'dev'"):
        names(str(tmp_path / "both"), source_split="dev")


def test_an_image_folder_for_each_split(tmp_path: Path) -> None:
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
        (tmp_path / split / "1.png").write_bytes(split.encode())
        (tmp_path / split / "metadata.jsonl").write_text('{"file_name": "1.png", "caption": "c"}\n')
    config = BuildConfig(source=str(tmp_path))
    source = open_source(config)
    items = [item for index in range(2) for item in iter_items(source, config, index, 0, 1)]
    assert [(item.source_id, item.image) for item in items] == [
        ("train/metadata.jsonl#0", b"train"),
        ("test/metadata.jsonl#0", b"test"),
    ]
    assert source.description == "image folders, splits train, test"
    assert names(str(tmp_path), source_split="train") == ["train/metadata.jsonl"]


@pytest.mark.usefixtures("samples")
def test_a_split_of_what_has_none(tmp_path: Path) -> None:
    parquet(tmp_path / "x.parquet")
    for source in ("samples:3", str(tmp_path), str(tmp_path / "x.parquet")):
        with pytest.raises(SourceError, match="has no splits; leave out --source-split test"):
            open_source(BuildConfig(source=source, source_split="test"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("none.parquet", "There is no file or folder 'none.parquet'"),
        ("none/at/all", "There is no file or folder"),
        ("./none", "There is no file or folder"),
        ("", "There is no file or folder"),
        ("*.parquet", "No file matches"),
        ("s-{0..2}.tar", "s-0.tar is missing"),
        ("s-{0..99999999999}.tar", "more than"),
        ("x.docx", r"no format that vcrgen reads; known: \.parquet"),
        ("{x.docx,y.csv}", "mixes formats"),
        ("key", "key is of a hidden set, whose pairs are secret: name other pairs"),
        ("set", "set is of a hidden set"),
        ("set/public", "public is of a hidden set"),
        ("empty", r"holds no pairs that vcrgen knows: .* \(with file_name and caption\)"),
        ("n" * 300, "cannot be read"),
        ("nul\0", "There is no file or folder"),
    ],
)
def test_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, message: str) -> None:
    for name in ("x.docx", "y.csv"):
        (tmp_path / name).touch()
    for name in ("empty", "key", "set/public/stacked_image", "set/public/only_it_image"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("key/key.json", "set/public/metadata.jsonl"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=message) as error:
        open_source(BuildConfig(source=source))
    assert "\n" not in str(error.value)
