"""Every kind of dataset gives the same rows, on a disk and in an object store; and none can lead elsewhere."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.core.storage import open_folder
from vcrgen.data.manifest import read_manifest
from vcrgen.data.reader import Dataset, open_dataset
from vcrgen.data.tables import TableFile, image_bytes, open_table
from vcrgen.data.tasks.vcr import VCR

COLUMNS = ["question_id", "crossed_text", "stacked_image"]
Rows = list[tuple[str, list[str], bytes | None]]


def rows(dataset: Dataset, **options: Any) -> Rows:
    read = dataset.rows(COLUMNS, **options)
    return [(row["question_id"], row["crossed_text"], image_bytes(row["stacked_image"])) for _, row in read]


def hard_files(dataset: Path) -> list[Path]:
    return [dataset / file.path for file in read_manifest(dataset).files if file.mode == "hard"]


@pytest.fixture(scope="module")
def expected(dataset: Path) -> Rows:
    """The rows of the dataset's hard mode: two of the split ``test``, then four of ``train``."""
    return [
        (row["question_id"], row["crossed_text"], row["stacked_image"]["bytes"])
        for file in hard_files(dataset)
        for row in pq.read_table(file).to_pylist()
    ]


@pytest.fixture(scope="module")
def kinds(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The hard mode of a dataset as every kind of dataset; ``wiki`` has the columns of VCR-WIKI, and numbers as ids."""
    import datasets

    root = tmp_path_factory.mktemp("kinds")
    made = {name: root / name for name in ("built", "parquet", "saved", "saved-split", "wiki")}
    shutil.copytree(dataset, made["built"])
    (made["parquet"] / "data" / "deep").mkdir(parents=True)
    for file in hard_files(dataset):
        shutil.copy(file, made["parquet"] / "data" / ("deep" if "test" in file.name else "") / file.name)
    features = {"data_files": {file.name.partition("-")[0]: str(file) for file in hard_files(dataset)}}
    loaded = datasets.load_dataset("parquet", cache_dir=str(root / "cache"), **features)
    assert isinstance(loaded, datasets.DatasetDict)
    loaded.save_to_disk(made["saved"])
    datasets.concatenate_datasets([loaded["test"], loaded["train"]]).save_to_disk(made["saved-split"], num_shards=2)
    (made["wiki"] / "data").mkdir(parents=True)
    for file in hard_files(dataset):
        table = pq.read_table(file, columns=[*COLUMNS, "caption", "image"])
        numbers = pa.array([hash(name) % 10**6 for name in table["question_id"].to_pylist()])
        table = table.set_column(0, "question_id", numbers)
        pq.write_table(table, made["wiki"] / "data" / file.name)
    return made


@pytest.mark.parametrize(
    ("kind", "place"),
    [*((kind, "disk") for kind in ("built", "parquet", "saved", "saved-split")), ("parquet", "s3"), ("saved", "s3")],
)
def test_the_same_rows(
    kinds: dict[str, Path], expected: Rows, kind: str, place: str, request: pytest.FixtureRequest
) -> None:
    where: str | Path = kinds[kind]
    if place == "s3":
        store = request.getfixturevalue("store")
        bucket = store.bucket()
        for file in kinds[kind].rglob("*"):
            if file.is_file():
                store.put(bucket, f"some/{file.relative_to(kinds[kind]).as_posix()}", file.read_bytes())
        where = Path(f"s3://{bucket}/some")  # as the command line gives it, with one slash
    data = open_dataset(where, VCR)
    part = data.select(mode="hard") if kind == "built" else data
    if kind == "parquet":  # `data/deep` comes before `data/train-…`
        assert [file.path.count("/") for file in data.files] == [2, 1]
    assert rows(part) == expected
    assert (part.count(), part.count(3)) == (6, 3)
    assert rows(part, positions=[5, 2, 2, 77]) == [expected[2], expected[5]]
    assert rows(part, limit=3) == expected[:3] and rows(part, positions=[1, 3], limit=1) == [expected[1]]
    assert (data.identity == open_dataset(where, VCR).identity) and len(data.identity) >= 16
    if kind != "saved-split":
        assert part.splits == ("test", "train")
        assert rows(part.select(split="train")) == expected[2:]
    with pytest.raises(ConfigError, match="has nothing of split 'dev'; it has "):
        part.select(split="dev")


def test_numbers_as_ids_are_read_as_texts(kinds: dict[str, Path], expected: Rows) -> None:
    data = open_dataset(kinds["wiki"], VCR)
    assert [row[1:] for row in rows(data)] == [row[1:] for row in expected]
    assert all(question_id.isdigit() for question_id, *_ in rows(data))
    place, row = next(data.rows(["question_id"], optional=["language", "spans.tokens", "caption"]))
    assert list(row) == ["question_id", "caption"] and place.endswith("/data/test-00000-of-00001.parquet, row 1")
    with pytest.raises(DatasetError, match="has no column `language` as it is needed; it has question_id, "):
        list(data.rows(["language"]))


@pytest.mark.parametrize("kind", ["built", "saved"])
def test_fields_of_records(kinds: dict[str, Path], kind: str) -> None:
    data = open_dataset(kinds[kind], VCR)
    whole = [row["spans"] for _, row in data.rows(["spans"])]
    for (_, row), spans in zip(data.rows(["spans.tokens", "spans.visible_ink"]), whole, strict=True):
        read = [{name: span[name] for name in ("tokens", "visible_ink")} for span in row["spans"]]
        assert read == [{name: span[name] for name in ("tokens", "visible_ink")} for span in spans]


def test_folders_name_the_modes_where_all_do(dataset: Path, tmp_path: Path, expected: Rows) -> None:
    """Such as what `push_to_hub` makes of a dataset, without its manifest."""
    copy = shutil.copytree(dataset, tmp_path / "copy")
    (copy / "manifest.json").unlink()
    data = open_dataset(copy, VCR)
    assert (data.modes, data.splits, data.manifest) == (("easy", "hard"), ("test", "train"), None)
    assert rows(data.select(mode="hard")) == expected
    shutil.copytree(copy / "hard", copy / "other")
    assert open_dataset(copy, VCR).modes == ()


def test_files_that_are_hidden_are_not_read(kinds: dict[str, Path], tmp_path: Path, store: Any) -> None:
    copy, bucket = shutil.copytree(kinds["parquet"], tmp_path / "copy"), store.bucket()
    shutil.copytree(copy / "data", copy / ".cache")
    for file in copy.rglob("*.parquet"):
        store.put(bucket, file.relative_to(copy).as_posix(), file.read_bytes())
    assert [len(rows(open_dataset(place, VCR))) for place in (copy, f"s3://{bucket}")] == [6, 6]


def rewrite(name: str, **values: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / name
        file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | values), "utf-8")

    return change


def cut(folder: Path) -> None:
    file = next((folder / "train").glob("*.arrow"))
    file.write_bytes(file.read_bytes()[:-3000])


def pipe(folder: Path) -> None:
    file = next((folder / "train").glob("*.arrow"))
    file.unlink()
    os.mkfifo(file)


def wild_offsets(folder: Path) -> None:
    """A column of texts whose offsets lead far out of its buffer."""
    file = next((folder / "train").glob("*.arrow"))
    offsets = pa.py_buffer(b"".join(number.to_bytes(4, "little") for number in (0, 1 << 30, 3)))
    text = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abc")])
    batch = pa.record_batch([text, pa.array([["a"], ["b"]]), pa.array([b"a", b"b"])], COLUMNS)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (rewrite("dataset_dict.json", splits=["../train"]), "names '../train', which is not inside of the folder"),
        (rewrite("dataset_dict.json", splits="train"), "does not list names"),
        (rewrite("dataset_dict.json", splits=["train", "dev"]), "dev/state.json is missing"),
        (lambda folder: (folder / "dataset_dict.json").write_text("[]"), "dataset_dict.json is missing or damaged"),
        (rewrite("train/state.json", _data_files=[{"filename": "../../x.arrow"}]), "which is not inside"),
        (rewrite("train/state.json", _data_files=None), "does not list names"),
        (rewrite("train/state.json", _data_files=[{"filename": "gone.arrow"}]), "train/gone.arrow is missing"),
        (lambda folder: (folder / "train" / "state.json").unlink(), "train/state.json is missing"),
        (cut, "cannot be read"),
        (wild_offsets, "cannot be read"),
        pytest.param(pipe, "is missing", marks=pytest.mark.skipif(os.name == "nt", reason="no named pipes")),
    ],
)
def test_damaged_folders_of_save_to_disk(
    kinds: dict[str, Path], tmp_path: Path, change: Callable[[Path], Any], message: str
) -> None:
    copy = shutil.copytree(kinds["saved"], tmp_path / "copy")
    change(copy)
    with pytest.raises(DatasetError, match=message) as caught:
        rows(open_dataset(copy, VCR))
    assert "\n" not in str(caught.value)


def test_a_small_file_that_unpacks_to_a_large_one(tmp_path: Path) -> None:
    """One of 200 kB took 6.4 GB."""
    text = "a b " * (1 << 20)
    table = pa.table({"question_id": [str(number) for number in range(20)], "crossed_text": [[text]] * 20})
    file = tmp_path / "small.parquet"
    pq.write_table(table, file, compression="zstd", data_page_size=1 << 30, use_dictionary=False)
    assert file.stat().st_size < 100_000
    with open_table(open_folder(tmp_path), TableFile(path=file.name)) as rows:
        assert [row["question_id"] for _, row in rows.rows(["question_id"], None)] == [*map(str, range(20))]
        with pytest.raises(pa.ArrowInvalid, match=r"crossed_text.* unpacks to 80 MiB"):
            next(rows.rows(["question_id", "crossed_text"], None))


def test_places_that_are_no_dataset(tmp_path: Path, store: Any) -> None:
    (tmp_path / "x.txt").write_text("x")
    (tmp_path / "hidden" / "public").mkdir(parents=True)
    (tmp_path / "hidden" / "key").mkdir()
    (tmp_path / "hidden" / "key" / "key.json").write_text("{}")
    for place, message in (
        (tmp_path, r"is not a dataset: it has no manifest\.json"),
        (tmp_path / "hidden", "hidden is not a dataset but a hidden set: `public` in it is for models"),
        (tmp_path / "hidden" / "key", "key is not a dataset but the key of a hidden set: answers to score with"),
        (tmp_path / "none", "none does not exist"),
        (tmp_path / "none.parquet", "none.parquet is missing"),
        (tmp_path / "x.txt", "x.txt is not a dataset but another file; name a dataset's folder"),
        (f"s3://{store.bucket()}/none", "is not a dataset"),
        ("s3://no-such-bucket-at-all/none", "is not a dataset|cannot be read"),
    ):
        with pytest.raises(DatasetError, match=message):
            rows(open_dataset(place, VCR))
