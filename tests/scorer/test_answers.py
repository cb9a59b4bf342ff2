"""The answers of datasets of every kind; of a hidden key, see test_hidden_key.py."""

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from vcrgen.core.errors import AnswerError, DatasetError
from vcrgen.data.manifest import read_manifest, write_manifest
from vcrgen.scorer import load_answers, score

Tamper = Callable[[Callable[[str, list[Any]], list[Any]]], Path]


@pytest.fixture(scope="module")
def saved(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import datasets

    folder = tmp_path_factory.mktemp("saved")
    files = {split: str(next((dataset / "hard").glob(f"{split}-*"))) for split in ("test", "train")}
    loaded = datasets.load_dataset("parquet", data_files=files, cache_dir=str(folder / "cache"))
    loaded.save_to_disk(folder / "set")  # type: ignore[union-attr]
    return folder / "set"


def right(file: Path, dataset: Path, **options: Any) -> Path:
    questions = load_answers(dataset, **options).questions
    lines = ({"question_id": question.question_id, "output": " / ".join(question.answers)} for question in questions)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


@pytest.mark.parametrize("split", [None, "test", "train", "all"])
def test_a_saved_dataset_has_the_answers_of_the_built_one(
    dataset: Path, saved: Path, tmp_path: Path, split: str | None
) -> None:
    ours, theirs = load_answers(dataset, split=split), load_answers(saved, split=split)
    assert ours.facts["answers"] == theirs.facts["answers"] and len(ours) == len(theirs)
    assert (theirs.lang, theirs.variants) == ("en", ())
    result = score(right(tmp_path / "p.jsonl", dataset, split=split), data=saved, split=split)
    assert repr(result) == "<RunResult p, en: exact match - VI+TEI 100.00 %>"
    assert result.cell().metrics["exact"].value == 1.0


def test_a_dataset_in_a_store(dataset: Path, store: Any, tmp_path: Path) -> None:
    bucket = store.bucket()
    for file in dataset.rglob("*"):
        if file.is_file():
            store.put(bucket, f"vcr/{file.relative_to(dataset).as_posix()}", file.read_bytes())
    result = score(right(tmp_path / "p.jsonl", dataset), data=f"s3://{bucket}/vcr", mode="hard")
    here = score(tmp_path / "p.jsonl", data=dataset, mode="hard")
    assert (result.cell().metrics, result.signature) == (here.cell().metrics, here.signature)
    with pytest.raises(DatasetError, match="is not a dataset"):
        load_answers(Path(f"s3://{bucket}/none"))


def test_visible_ink_is_that_of_each_mode(dataset: Path) -> None:
    key = load_answers(dataset, split="all")
    for mode in ("easy", "hard"):
        rows = [row for file in sorted((dataset / mode).iterdir()) for row in pq.read_table(file).to_pylist()]
        for question, row in zip(key.questions, rows, strict=True):
            assert [span.ink[mode] for span in question.spans] == [span["visible_ink"] for span in row["spans"]]


def test_modes_are_those_of_folders_without_a_manifest(dataset: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(dataset, tmp_path / "copy")
    (copy / "manifest.json").unlink()
    for options in ({}, {"mode": "hard"}):
        built, plain = load_answers(dataset, **options), load_answers(copy, **options)
        assert (plain.variants, list(plain.questions)) == (built.variants, list(built.questions))
        assert (plain.lang, set(plain.facts)) == ("en", {"answers"})
    with pytest.raises(AnswerError, match="has no mode 'medium'; it has easy, hard"):
        load_answers(copy, mode="medium")


def other_answer(mode: str, rows: list[Any]) -> list[Any]:
    return rows if mode == "easy" else [rows[0] | {"crossed_text": ["x"] * len(rows[0]["crossed_text"])}, *rows[1:]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (other_answer, "row 1: in mode hard this row is not .* with the same answers"),
        (lambda mode, rows: rows if mode == "easy" else rows[::-1], "row 1: in mode hard this row is not"),
        (lambda mode, rows: rows if mode == "easy" else rows[:-1], "in mode hard this row is not"),
        (lambda mode, rows: rows[:-1] if mode == "easy" else rows, "mode easy has no such row|this row is not"),
        (lambda mode, rows: [*rows, rows[0]], "stands for two questions"),
        (lambda mode, rows: [row | {"question_id": None} for row in rows], "row 1: no `question_id`"),
        (lambda mode, rows: [row | {"crossed_text": None} for row in rows], "row 1: no list of texts"),
    ],
)
@pytest.mark.parametrize("split", ["test", "all"])
def test_rows_that_do_not_fit(tampered: Tamper, change: Any, message: str, split: str) -> None:
    with pytest.raises(AnswerError, match=message):
        load_answers(tampered(change), split=split)


def test_a_file_that_was_changed_is_not_scored_against(dataset: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(dataset, tmp_path / "copy")
    manifest = read_manifest(copy)
    files = tuple(dataclasses.replace(file, bytes=file.bytes + 1) for file in manifest.files)
    write_manifest(copy, dataclasses.replace(manifest, files=files))
    with pytest.raises(DatasetError, match="bytes where the manifest says"):
        load_answers(copy)


def test_the_public_part_of_a_hidden_set_has_no_answers(hidden: Callable[..., Path]) -> None:
    with pytest.raises(AnswerError, match="is the public part of a hidden test set, which has no answers"):
        load_answers(hidden())
