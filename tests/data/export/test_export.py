"""Every export holds the dataset's own pixels and answers, appears whole or not at all, and trusts no id or path."""

import ast
import base64
import csv
import io
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image

from tests.making import encoded, pixels
from tests.making import files_of as tree
from vcrgen.builder.run import build
from vcrgen.core.errors import ConfigError, DatasetError, OutputError, VcrgenError
from vcrgen.core.files import sha256_file, write_json
from vcrgen.data.export import export_dataset
from vcrgen.data.export.export_formats import EXPORT_FORMATS
from vcrgen.data.manifest import MANIFEST, read_manifest, write_manifest
from vcrgen.data.reader import Dataset, open_dataset
from vcrgen.data.tasks.vcr import VCR

PARTS = [("easy", "train"), ("easy", "test"), ("hard", "train"), ("hard", "test")]
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def _long_csv_fields(_csv_limit: None) -> None:
    csv.field_size_limit(sys.maxsize)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight pairs in both modes and two splits."""
    folder = tmp_path_factory.mktemp("export") / "dataset"
    build("samples:8", out=folder, splits="train=...,test=3", seed=5)
    return folder


@pytest.fixture(scope="module")
def exports(small: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The dataset in every format."""
    root = tmp_path_factory.mktemp("exports")
    before = tree(small)
    for name in EXPORT_FORMATS:
        export_dataset(small, to=name, out=root / name)
    assert tree(small) == before, "an export does not touch the dataset"
    return {name: root / name for name in EXPORT_FORMATS}


def rows_of(dataset: Path, mode: str, split: str) -> list[Row]:
    return [row for _, row in open_dataset(dataset, VCR).select(mode=mode, split=split).rows()]


def changed(dataset: Path, to: Path, change: Callable[[int, Row], Row]) -> Path:
    """A copy of a dataset with other values in its rows, and a manifest that fits them."""
    shutil.copytree(dataset, to)
    manifest = read_manifest(to)
    files = []
    for file in manifest.files:
        path = to / file.path
        rows = [change(number, row) for number, row in enumerate(pq.read_table(path).to_pylist())]
        pq.write_table(pa.Table.from_pylist(rows, VCR.schema()), path)
        files.append(replace(file, bytes=path.stat().st_size, sha256=sha256_file(path)))
    write_manifest(to, replace(manifest, files=tuple(files)))
    return to


# What each format holds, as (mode, split) -> list of (question id, answers, column -> image bytes).


def read_vlmevalkit(folder: Path) -> Iterator[tuple[str, str, str, list[str], dict[str, bytes]]]:
    for mode, split in PARTS:
        tables = []
        for kind in ("", "TEI_"):
            (file,) = folder.glob(f"VCR_EN_{mode.upper()}_{kind}{split}_*_openended.tsv")
            with file.open(encoding="utf-8", newline="") as handle:
                tables.append(list(csv.DictReader(handle, delimiter="\t")))
        for number, (row, tei) in enumerate(zip(*tables, strict=True)):
            assert list(row) == ["index", "image", "question", "answer", "question_id", "view", "mode"]
            assert row["index"] == tei["index"] == str(number)
            assert (row["view"], tei["view"], row["mode"]) == ("stacked", "tei", mode)
            same = [{key: row[key] for key in row if key not in ("image", "view")} for row in (row, tei)]
            assert same[0] == same[1]
            images = {"stacked_image": base64.b64decode(row["image"]), "only_it_image": base64.b64decode(tei["image"])}
            yield mode, split, row["question_id"], ast.literal_eval(row["answer"]), images


def read_lmms_eval(folder: Path) -> Iterator[tuple[str, str, str, list[str], dict[str, bytes]]]:
    for mode, split in PARTS:
        for row in pq.read_table(folder / "data" / f"{mode}-{split}.parquet").to_pylist():
            images = {column: row[column]["bytes"] for column in VCR.images}
            assert all(row[column]["path"] is None for column in VCR.images)
            yield mode, split, row["question_id"], row["crossed_text"], images


def read_trl(folder: Path) -> Iterator[tuple[str, str, str, list[str], dict[str, bytes]]]:
    for mode, split in PARTS:
        for row in pq.read_table(folder / f"{mode}-{split}.parquet").to_pylist():
            ((asked,), (said,)) = row["prompt"], row["completion"]
            assert (asked["role"], said["role"]) == ("user", "assistant") and asked["content"].startswith("What is")
            assert said["content"].split("\n") == row["answers"]
            yield mode, split, row["question_id"], row["answers"], {"stacked_image": row["image"]["bytes"]}


def read_verl(folder: Path) -> Iterator[tuple[str, str, str, list[str], dict[str, bytes]]]:
    for mode, split in PARTS:
        table = pq.read_table(folder / f"{mode}-{split}.parquet")
        assert table.schema.field("images").type.value_type.field("path").type == pa.string()
        for number, row in enumerate(table.to_pylist()):
            ((asked,), (picture,)), about = (row["prompt"], row["images"]), row["extra_info"]
            assert asked["content"].count("<image>") == 1 and row["reward_model"]["style"] == "rule"
            assert (about["index"], about["split"], about["mode"], about["lang"]) == (number, split, mode, "en")
            answers = json.loads(row["reward_model"]["ground_truth"])
            yield mode, split, about["question_id"], answers, {"stacked_image": picture["bytes"]}


def read_lines(folder: Path) -> Iterator[tuple[str, str, str, list[str], dict[str, bytes]]]:
    """The lines of ms-swift, LLaMA-Factory and Axolotl, which have no ids."""
    for mode, split in PARTS:
        for line in (folder / f"{mode}-{split}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            asked, said = row["messages"]
            if "images" in row:
                (path,) = row["images"]
                assert asked["content"].count("<image>") == 1 and said["content"].split("\n") == row["answers"]
                answers = row["answers"]
            else:
                (picture, question), (answer,) = asked["content"], said["content"]
                assert (picture["type"], question["type"], answer["type"]) == ("image", "text", "text")
                path, answers = picture["path"], answer["text"].split("\n")
            yield mode, split, "", answers, {"stacked_image": (folder / path).read_bytes()}


def read_llamafactory(folder: Path) -> Iterator[tuple[str, str, str, list[str], dict[str, bytes]]]:
    files = json.loads((folder / "dataset_info.json").read_text("utf-8"))
    assert {row["file_name"] for row in files.values()} == {f"{mode}-{split}.jsonl" for mode, split in PARTS}
    assert all(set(row["columns"]) == {"messages", "images"} for row in files.values())
    return read_lines(folder)


READERS = {
    "vlmevalkit": read_vlmevalkit,
    "lmms-eval": read_lmms_eval,
    "trl": read_trl,
    "verl": read_verl,
    "swift": read_lines,
    "llamafactory": read_llamafactory,
    "axolotl": read_lines,
}


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_an_export_holds_the_datasets_images_and_answers(name: str, small: Path, exports: dict[str, Path]) -> None:
    found = list(READERS[name](exports[name]))
    expected = [(mode, split, row) for mode, split in PARTS for row in rows_of(small, mode, split)]
    assert len(found) == len(expected) == 16
    for (mode, split, question_id, answers, images), (mode_, split_, row) in zip(found, expected, strict=True):
        assert (mode, split, answers) == (mode_, split_, row["crossed_text"])
        assert question_id in (row["question_id"], "")
        assert images == {column: row[column]["bytes"] for column in images}
    assert str(read_manifest(small).signature) in (exports[name] / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_the_same_dataset_gives_the_same_bytes(
    name: str, small: Path, exports: dict[str, Path], tmp_path: Path
) -> None:
    result = export_dataset(small, to=name, out=tmp_path / "again")
    again = tree(tmp_path / "again")
    assert again == tree(exports[name])
    assert (result.files, result.rows, result.was_complete) == (len(again) - 1, 16, False)  # and its own record
    assert export_dataset(small, to=name, out=tmp_path / "again") == replace(result, was_complete=True)
    with pytest.raises(OutputError, match="holds another export"):
        export_dataset(small, to=name, out=tmp_path / "again", mode="easy")
    assert str(small).encode() not in b"".join(again.values())


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_one_mode_and_split(name: str, small: Path, tmp_path: Path) -> None:
    result = export_dataset(small, to=name, out=tmp_path / "out", mode="hard", split="test")
    assert result.rows == 3
    names = " ".join(tree(tmp_path / "out")).lower()
    assert "hard" in names and "test" in names and "easy" not in names and "train" not in names


def test_the_command_for_verl_validates_on_another_split(exports: dict[str, Path]) -> None:
    text = (exports["verl"] / "README.md").read_text("utf-8")
    assert "data.train_files=easy-train.parquet data.val_files=easy-test.parquet" in text


def test_pandas_reads_the_tsv_as_vlmevalkit_does(exports: dict[str, Path]) -> None:
    pandas = pytest.importorskip("pandas")
    for file in exports["vlmevalkit"].glob("*.tsv"):
        table = pandas.read_csv(file, sep="\t")
        assert list(table["index"]) == list(range(len(table)))
        assert not table.isna().any().any()
        assert "EN" not in file.stem.removeprefix("VCR_EN")


def test_lmms_eval_tasks_name_columns_and_files(exports: dict[str, Path]) -> None:
    class Loader(yaml.SafeLoader):
        """Keeps the names of functions, as lmms-eval does while it lists tasks."""

    Loader.add_constructor("!function", lambda loader, node: str(node.value))
    folder = exports["lmms-eval"]
    tasks = {file.stem: yaml.load(file.read_text("utf-8"), Loader) for file in folder.glob("*.yaml")}
    assert len(tasks) == 12
    for name, task in tasks.items():
        assert task["task"] == name
        if name.endswith("_published"):
            assert task["process_results"] == "lmms_eval.tasks.vcr_wiki.utils.vcr_en_process_results"
            task = tasks[task["include"].removesuffix(".yaml")]
        columns = pq.read_schema(folder / task["dataset_kwargs"]["data_files"][task["test_split"]]).names
        assert {task["doc_to_visual"], task["doc_to_text"], task["doc_to_target"]} <= set(columns)


def test_datasets_opens_what_lmms_eval_is_given(small: Path, exports: dict[str, Path], tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    files = {"test": str(exports["lmms-eval"] / "data" / "hard-test.parquet")}
    loaded = datasets.load_dataset("parquet", data_files=files, split="test", cache_dir=str(tmp_path))
    for row, ours in zip(loaded, rows_of(small, "hard", "test"), strict=True):
        assert np.array_equal(row["stacked_image"], pixels(ours["stacked_image"]["bytes"]))
        assert row["crossed_text"] == ours["crossed_text"]


HOSTILE = [
    "../../etc/passwd",
    "a.b/c",
    "__skipped__",
    "",
    "A" * 5000,
    "dup",
    "DUP",
    "row-00000000",
    "x\0\n\t\"'",
    "图像",
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ids, answers and paths that want out of the folder or out of the format; every id comes twice."""

    def change(number: int, row: Row) -> Row:
        answers = ["tab\tquote\"'\n\r", "\\x00\0", "']; import os #", "图像"]
        images = {column: {"bytes": row[column]["bytes"], "path": "/etc/passwd"} for column in VCR.images}
        return row | images | {"question_id": HOSTILE[number % len(HOSTILE)], "crossed_text": answers}

    folder = tmp_path_factory.mktemp("hostile")
    build("samples:20", out=folder / "source", mode="easy", splits="train=...")
    return changed(folder / "source", folder / "hostile", change)


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_hostile_ids_stay_inside_and_apart(name: str, hostile: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    result = export_dataset(hostile, to=name, out=out)
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert result.rows > len(HOSTILE) and not any(file.startswith("/") or ".." in file for file in tree(out))


def test_hostile_answers_come_back(hostile: Path, tmp_path: Path) -> None:
    rows = rows_of(hostile, "easy", "train")
    assert len(rows) > len(HOSTILE)
    export_dataset(hostile, to="vlmevalkit", out=tmp_path / "out")
    with next((tmp_path / "out").glob("VCR_EN_EASY_train_*.tsv")).open(encoding="utf-8", newline="") as handle:
        table = list(csv.DictReader(handle, delimiter="\t"))
    assert [ast.literal_eval(row["answer"]) for row in table] == [row["crossed_text"] for row in rows]
    assert [row["question_id"] for row in table] == [row["question_id"] for row in rows]


def test_images_of_any_kind_stay_as_they_are(small: Path, tmp_path: Path) -> None:
    def to_webp(number: int, row: Row) -> Row:
        webp = encoded(Image.open(io.BytesIO(row["stacked_image"]["bytes"])), "WEBP", lossless=True, method=0)
        return row | {"stacked_image": {"bytes": webp, "path": "stacked.png"}}

    dataset = changed(small, tmp_path / "webp", to_webp)
    export_dataset(dataset, to="lmms-eval", out=tmp_path / "out", mode="easy", split="test")
    table = pq.read_table(tmp_path / "out/data/easy-test.parquet").to_pylist()
    assert [row["stacked_image"]["bytes"][8:12] for row in table] == [b"WEBP"] * 3


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("vlmevalkit", {"stacked_image": {"bytes": b"GIF89a", "path": None}}, "neither a PNG, a WebP nor a JPEG in"),
        ("lmms-eval", {"stacked_image": None}, "neither a PNG, a WebP nor a JPEG"),
        ("vlmevalkit", {"crossed_text": None}, "no list of texts"),
        ("lmms-eval", {"crossed_text": [None]}, "no list of texts"),
        ("vlmevalkit", {"question_id": None}, "no text in 'question_id'"),
    ],
)
def test_a_damaged_row_is_named(name: str, values: Row, said: str, small: Path, tmp_path: Path) -> None:
    dataset = changed(small, tmp_path / "bad", lambda number, row: row | values if number == 2 else row)
    with pytest.raises(DatasetError, match=rf"easy/train-\S+parquet, row 3 .*{said}"):
        export_dataset(dataset, to=name, out=tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), DatasetError("gone"), OSError(28, "No space left on device")])
def test_nothing_is_seen_after_a_failure_in_the_middle(
    error: BaseException, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_rows = Dataset.rows

    def rows_at(*args: Any, **kwargs: Any) -> Iterator[tuple[str, Row]]:
        yield next(all_rows(*args, **kwargs))
        raise error

    monkeypatch.setattr(Dataset, "rows", rows_at)
    expected = OutputError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        export_dataset(small, to="lmms-eval", out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_taken_and_a_full_one_is_not(small: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    export_dataset(small, to="vlmevalkit", out=tmp_path / "empty")
    before = tree(tmp_path / "empty")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis").write_text("mine")
    for out in (tmp_path / "full", tmp_path / "file", small, tmp_path / "file" / "below"):
        with pytest.raises(OutputError, match=r"\.$"):
            export_dataset(small, to="vlmevalkit", out=out)
    assert tree(tmp_path / "empty") == before
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"to": "lmms"}, "nearest is 'lmms-eval'"),
        ({"to": "csv"}, "Unknown format 'csv'. Known: "),
        ({"to": "WebDataset"}, f"Known: {', '.join(EXPORT_FORMATS)}, croissant"),
        ({"mode": "medium"}, "has no mode 'medium'; it has easy, hard"),
        ({"split": "dev"}, "has no split 'dev'; it has train, test"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(options: Row, said: str, small: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        export_dataset(small, **({"to": "vlmevalkit", "out": tmp_path / "out"} | options))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda values: values["config"].update(lang="../x"),
        lambda values: values["config"].update(lang=["en"]),
        lambda values: values.update(config=[]),
        lambda values: values["files"][0].update(split="../../x"),
        lambda values: values["files"][0].update(split=["x"]),
        lambda values: values["files"][0].update(mode="x", path="x/y"),
    ],
)
def test_a_manifest_cannot_name_files(change: Callable[[Row], None], small: Path, tmp_path: Path) -> None:
    dataset = tmp_path / "dataset"
    shutil.copytree(small, dataset)
    values = json.loads((dataset / MANIFEST).read_text("utf-8"))
    change(values)
    write_json(dataset / MANIFEST, values)
    with pytest.raises(VcrgenError):
        export_dataset(dataset, to="vlmevalkit", out=tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["dataset"]


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_a_dataset_that_vcrgen_did_not_build(
    name: str, small: Path, as_foreign: Callable[..., Path], exports: dict[str, Path], tmp_path: Path
) -> None:
    foreign = as_foreign(small, tmp_path / "wiki")
    result = export_dataset(foreign, split="test", to=name, out=tmp_path / "out")
    assert result.rows == 6
    files, own = tree(tmp_path / "out"), tree(exports[name])
    assert b"did not build: no signature" in files.pop("README.md")
    tag = re.compile(r"_[0-9a-f]{8}_")
    built = {tag.sub("_", file): data for file, data in own.items()}
    images = [file for file in files if file.endswith((".png", ".tsv"))]
    assert all(files[file] == built[tag.sub("_", file)] for file in images)
    assert images or sorted(files) == sorted(file for file in own if "train" not in file and file != "README.md")


def test_a_mode_that_nobody_says_is_asked_for(small: Path, as_foreign: Callable[..., Path], tmp_path: Path) -> None:
    file = next(as_foreign(small, tmp_path / "wiki", "easy").glob("*"))
    with pytest.raises(ConfigError, match="does not say its mode; name it with --mode"):
        export_dataset(file, to="vlmevalkit", out=tmp_path / "out")
    assert export_dataset(file, to="vlmevalkit", out=tmp_path / "out", mode="easy", split="dev").rows == 3
    assert sorted(path.name[:16] for path in (tmp_path / "out").glob("*.tsv")) == [
        "VCR_EN_EASY_TEI_",
        "VCR_EN_EASY_dev_",
    ]


def test_rows_of_another_mode_among_a_files_rows(small: Path, tmp_path: Path) -> None:
    tables = [pq.read_table(next((small / mode).glob("test-*"))) for mode in ("easy", "hard")]
    pq.write_table(pa.concat_tables(tables), tmp_path / "mixed.parquet")
    with pytest.raises(DatasetError, match="row 4 is of mode 'hard' among rows of mode easy; part them"):
        export_dataset(tmp_path / "mixed.parquet", to="lmms-eval", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
