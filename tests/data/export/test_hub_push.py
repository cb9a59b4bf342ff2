"""A dataset goes to the Hub by the tools of the Hub and comes back the same. The Hub is an imitation."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from vcrgen.data.manifest import read_manifest

PUSH = """
import sys
from datasets import load_dataset
for split in ("train", "test"):
    load_dataset(sys.argv[1], "hard", split=split).push_to_hub("me/pushed", "hard")
load_dataset(sys.argv[1], "easy").push_to_hub("me/pushed", "easy")
"""
# What `datasets` makes of a repository, streaming and not, by mode and split: every row with its images as they are
# stored, and, to see that they are shown as images, the size of the first one.
READ = """
import hashlib, json, sys
from datasets import Image, load_dataset
found = {}
for streaming in (False, True):
    for mode in ("easy", "hard"):
        for split in ("train", "test"):
            rows = load_dataset(sys.argv[1], mode, split=split, streaming=streaming)
            first = next(iter(rows))["stacked_image"].size
            for column in ("image", "stacked_image", "only_it_image", "only_it_image_small"):
                rows = rows.cast_column(column, Image(decode=False))
            found[f"{mode}/{split}/{streaming}"] = [first, list(rows)]
print(json.dumps(found, default=lambda data: hashlib.sha256(data).hexdigest()))
"""
Run = Callable[..., Any]

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def pushed(hub: Any, on_hub: Run, dataset: Path) -> str:
    """The rows, by ``push_to_hub``: of one mode split by split, of the other at once."""
    done = on_hub("-c", PUSH, dataset)
    assert done.returncode == 0, done.stderr
    return "me/pushed"


@pytest.fixture(scope="module")
def uploaded(hub: Any, on_hub: Run, dataset: Path) -> str:
    """The folder, by ``hf upload``."""
    upload = ("huggingface_hub.cli.hf", "upload", "me/uploaded", dataset, "--repo-type", "dataset")
    done = on_hub(*upload)
    assert done.returncode == 0, done.stderr
    return "me/uploaded"


def test_an_upload_is_the_folder(hub: Any, uploaded: str, dataset: Path) -> None:
    files = {path.relative_to(dataset).as_posix(): path for path in dataset.rglob("*") if path.is_file()}
    assert hub.find(uploaded)[1] == {name: path.read_bytes() for name, path in files.items()}
    assert {"README.md", "manifest.json", "_SUCCESS"} < set(files)


def test_an_upload_that_takes_the_place_of_another(hub: Any, on_hub: Run, uploaded: str, dataset: Path) -> None:
    """Whose files had other names, and would be read beside the new ones."""
    _, files = hub.find(uploaded)
    hub.commit("me/again", {**files, "hard/train-00000-of-00002.parquet": b"", "README.md": b"---\n{}\n---\n"})
    done = on_hub("huggingface_hub.cli.hf", "upload", "me/again", dataset, "--repo-type", "dataset", "--delete", "*")
    assert done.returncode == 0, done.stderr
    assert hub.find("me/again")[1] == files


def test_a_push_is_the_rows(hub: Any, pushed: str) -> None:
    parquet = {f"{mode}/{split}-00000-of-00001.parquet" for mode in ("easy", "hard") for split in ("train", "test")}
    assert set(hub.find(pushed)[1]) == {"README.md", *parquet}


@pytest.mark.parametrize("name", ["pushed", "uploaded"])
def test_the_rows_come_back(on_hub: Run, dataset: Path, request: pytest.FixtureRequest, name: str) -> None:
    done = on_hub("-c", READ, request.getfixturevalue(name))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == 8
    for file in read_manifest(dataset).files:
        rows = pq.read_table(dataset / file.path).to_pylist()
        built = json.loads(json.dumps(rows, default=lambda data: hashlib.sha256(data).hexdigest()))
        for streaming in (False, True):
            (width, height), came = found[f"{file.mode}/{file.split}/{streaming}"]
            assert came == built
            assert width == 300 and height > rows[0]["strip_y"]


def test_looking_at_it_there(hub: Any, on_hub: Run, uploaded: str) -> None:
    inspected = on_hub("vcrgen", "inspect", f"hf://datasets/{uploaded}", "--json")
    assert json.loads(inspected.stdout)["pairs"] == 6, inspected.stderr
    hub.commit("me/gated-vcr", hub.find(uploaded)[1])
    hub.gated.add("me/gated-vcr")
    refused = on_hub("vcrgen", "inspect", "hf://datasets/me/gated-vcr")
    assert refused.returncode == 2 and "log in with `hf auth login`" in " ".join(refused.stderr.split())


@pytest.mark.parametrize("name", ["pushed", "uploaded"])
def test_scoring_against_it_there(
    on_hub: Run, dataset: Path, tmp_path: Path, request: pytest.FixtureRequest, name: str
) -> None:
    rows = pq.read_table(next((dataset / "hard").glob("test-*"))).to_pylist()
    outputs = [{"question_id": row["question_id"], "output": " / ".join(row["crossed_text"])} for row in rows]
    file = tmp_path / "preds.jsonl"
    file.write_text("".join(json.dumps(output) + "\n" for output in outputs), "utf-8")
    where = f"hf://datasets/{request.getfixturevalue(name)}"
    done = on_hub("vcrgen", "score", file, "--data", where, "--mode", "hard", "--format", "md")
    assert "| hard | VI+TEI | " in done.stdout and "| 100.00 |" in done.stdout, done.stderr
