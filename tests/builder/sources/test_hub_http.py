"""Sources on the Hub, over HTTP: as a dataset and as files. The Hub is an imitation."""

import io
import json
import re
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.making import encoded, tar_of, two_coloured
from vcrgen.builder.run import build
from vcrgen.samples.pairs import caption

Run = Callable[..., Any]
Tree = Callable[[Path], dict[str, str]]

# Each source and what becomes of it: its files and its description, or the sentence that says why there are none.
OPEN = """
import json, sys
from vcrgen.builder.sources import open_source
from vcrgen.builder.options import BuildConfig
from vcrgen.core.errors import SourceError
found = {}
for text in sys.argv[1:]:
    try:
        source = open_source(BuildConfig(source=text))
        rows = sum(partition.rows for partition in source.partitions())
        found[text] = [list(source.files), rows, source.description]
    except SourceError as error:
        found[text] = str(error)
print(json.dumps(found))
"""
OPEN_ALL = """
import json, sys
from vcrgen.builder.sources import open_every_split
from vcrgen.builder.options import BuildConfig
found = {}
for text in sys.argv[1:]:
    every = open_every_split(BuildConfig(source=text))
    found[text] = {name: sum(part.rows for part in source.partitions()) for name, source in every.items()}
print(json.dumps(found))
"""
# How many captions are read of each source opened until then, after each change.
CHANGE = """
import sys
from huggingface_hub import HfApi
from vcrgen.builder.sources import open_source
from vcrgen.builder.options import BuildConfig
sources = []
for file in sys.argv[1:]:
    HfApi().upload_file(path_or_fileobj=file, path_in_repo="a.parquet", repo_id="me/new", repo_type="dataset")
    sources += [open_source(BuildConfig(source=text)) for text in ("hf://datasets/me/new/*.parquet", "me/new")]
    for source in sources:
        print(len(list(source.rows(0, range(source.partitions()[0].rows), frozenset({"caption"})))))
"""
# Every example of an epoch, from here and then from two workers of torch, which are copies of a process that has asked
# the Hub.
STREAM = """
import hashlib, sys
import numpy as np
from torch.utils.data import DataLoader
from vcrgen.builder.stream import VCRStream
for source in sys.argv[1:]:
    split = {"source_split": "train"} if source == "me/pairs" else {}
    streams = [VCRStream(source, epochs=1, width=160, font_size=12, shard_size=3, **split) for _ in range(2)]
    epochs = []
    for examples in (streams[0], DataLoader(streams[1], batch_size=None, num_workers=2)):
        pixels = lambda example: hashlib.sha256(np.asarray(example["image"]).tobytes()).hexdigest()
        epochs.append(sorted((example["source_id"], str(example["answers"]), pixels(example)) for example in examples))
    assert epochs[0] == epochs[1] and len(epochs[0]) == 12
    print(epochs[0])
"""
CONVERTED = "refs/convert/parquet"
SMALL = {"limit": 5, "width": 160, "font_size": 12}


def picture(number: int) -> bytes:
    return encoded(two_coloured((64, 40 + number), (number, 255 - number, 3 * number)), "JPEG")


def parquet(*numbers: int) -> bytes:
    buffer = io.BytesIO()
    pairs = [{"image": {"bytes": picture(n), "path": None}, "caption": caption("en", n)} for n in numbers]
    pq.write_table(pa.Table.from_pylist(pairs), buffer, row_group_size=3)
    return buffer.getvalue()


def tar(*numbers: int) -> bytes:
    samples = ((number, (("jpg", picture(number)), ("txt", caption("en", number).encode()))) for number in numbers)
    return tar_of((f"{number:05d}.{suffix}", content) for number, sample in samples for suffix, content in sample)


def configured(*paths: str) -> bytes:
    """A card whose configurations are called as the folders or the names of the files of their train split."""
    configs = [
        f"- config_name: {Path(path).parts[0].split('.')[0]}\n  data_files:\n  - split: train\n    path: {path}\n"
        for path in paths
    ]
    return f"---\nconfigs:\n{''.join(configs)}---\n".encode()


TRAIN = tuple(f"data/train-0000{part}-of-00002.parquet" for part in (0, 1))


@cache
def train() -> dict[str, bytes]:
    """The files of ``TRAIN``."""
    return dict(zip(TRAIN, (parquet(*range(8)), parquet(8, 9, 10, 11)), strict=True))


@pytest.fixture(scope="module")
def commits(hub: Any) -> dict[str, str]:
    """Fills repositories of ``me``; the commits that some of their names stand for."""
    two = {"a/x.parquet": parquet(0), "b/y.parquet": parquet(1, 2)}
    lines = {"lines.jsonl": b'{"caption": "not what the Hub has made of it"}'}
    hub.commit("me/gated", train())
    hub.gated.add("me/gated")
    hub.commit("me/tar", {"train.tar": tar(0)}, "old")
    hub.commit("me/tar", {"train.tar": tar(*range(6))})
    hub.commit("me/lines", {**lines, "README.md": configured("lines.jsonl")})
    hub.commit("me/unconverted", {"train.tar": tar(0)})
    return {
        "pairs": hub.commit("me/pairs", {**train(), "data/test-00000-of-00001.parquet": parquet(12)}),
        "old": hub.commit("me/pairs", {"train.parquet": parquet(3)}, "v1/old"),
        "two": hub.commit("me/two", {**two, "README.md": configured("a/*.parquet", "b/*.parquet")}),
        "tar": hub.commit("me/tar", {"default/train/0000.parquet": parquet(*range(6))}, CONVERTED),
        "lines": hub.commit("me/lines", {"lines/train/0000.parquet": parquet(0, 1)}, CONVERTED),
    }


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """The pairs of ``me/pairs`` in a folder."""
    for name, data in train().items():
        file = tmp_path / "pairs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return tmp_path / "pairs"


def opened(on_hub: Run, texts: Iterable[str], **settings: str) -> dict[str, Any]:
    done = on_hub("-c", OPEN, *texts, **settings)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_what_is_opened(hub: Any, on_hub: Run, commits: dict[str, str]) -> None:
    files, names = [*TRAIN], [Path(name).name for name in TRAIN]
    converted = "default/train/0000.parquet"
    expected = {
        "me/pairs": [
            [*files, "data/test-00000-of-00001.parquet"],
            13,
            f"me/pairs@{commits['pairs']}, splits train, test",
        ],
        "me/pairs@v1/old": [["train.parquet"], 1, f"me/pairs@{commits['old']}, split train"],
        f"me/pairs@{commits['old']}": [["train.parquet"], 1, f"me/pairs@{commits['old']}, split train"],
        "me/two:b": [["b/y.parquet"], 2, f"me/two:b@{commits['two']}, split train"],
        "me/two:b@main": [["b/y.parquet"], 2, f"me/two:b@{commits['two']}, split train"],
        "me/tar": [[converted], 6, f"me/tar@{commits['tar']}, split train"],
        f"me/tar@{CONVERTED}": [[converted], 6, f"me/tar@{commits['tar']}, split train"],
        "me/lines": [["lines/train/0000.parquet"], 2, f"me/lines@{commits['lines']}, split train"],
        "me/gated": [files, 12, f"me/gated@{hub.find('me/gated')[0]}, split train"],
        "hf://datasets/me/gated": [files, 12, "2 Parquet files"],
        "hf://datasets/me/pairs/data/train-*.parquet": [names, 12, "2 Parquet files"],
        "hf://datasets/me/pairs@v1%2Fold/*.parquet": [["train.parquet"], 1, "Parquet file train.parquet"],
        f"hf://datasets/me/tar@{CONVERTED}/default/train": [["0000.parquet"], 6, "Parquet file 0000.parquet"],
        "hf://datasets/me/tar/train.tar": [["train.tar"], 6, "WebDataset shard train.tar"],
    }
    before = len(hub.requests)
    assert opened(on_hub, expected, HF_TOKEN="hf_agreed") == expected
    storage = [headers for _, path, headers in hub.requests[before:] if re.fullmatch(r"/[0-9a-f]{64}", path)]
    assert storage and all("range" in headers and "authorization" not in headers for headers in storage)


def test_every_split_and_configuration(on_hub: Run, commits: dict[str, str]) -> None:
    expected = {
        "me/pairs": {"default/train": 12, "default/test": 1},
        "me/two": {"a/train": 1, "b/train": 2},
        "me/two:b": {"b/train": 2},
        "hf://datasets/me/pairs": {"data/train": 12, "data/test": 1},
        "me/lines": {"lines/train": 2},
    }
    done = on_hub("-c", OPEN_ALL, *expected)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected


def test_what_cannot_be_opened(on_hub: Run, commits: dict[str, str]) -> None:
    agreement = "asks for an agreement; accept it on the Hub and log in with `hf auth login`."
    expected = {
        "me/gated": f"me/gated {agreement}",
        "hf://datasets/me/gated": agreement,
        "hf://datasets/me/gated/data/*.parquet": agreement,
        "me/none": "the Hub has no dataset of that name",
        "hf://datasets/me/none/*.parquet": "the Hub has no dataset of that name",
        "hf://datasets/me/pairs/none": "is no file, and no folder",
        "me/pairs@none": "no revision 'none' of me/pairs@none",
        "hf://datasets/me/pairs@none/data/*.parquet": "no revision 'none' of hf://datasets/me/pairs@none/data/*.parquet",
        "me/two": "Please pick one among the available configs: ['a', 'b'].",
        "me/two:c": "BuilderConfig 'c' not found. Available: ['a', 'b'].",
        "me/unconverted": "me/unconverted is not stored as Parquet, nor converted by the Hub",
        "me/tar@old": "me/tar@old is not stored as Parquet, and the Hub converts only the main branch",
    }
    found = opened(on_hub, expected, HF_TOKEN="hf_test")
    assert all(message in str(found[text]) and "\n" not in found[text] for text, message in expected.items()), found


def test_a_dataset_that_changes(hub: Any, on_hub: Run, tmp_path: Path) -> None:
    """An open source keeps its commit; a source opened later has the new one."""
    hub.create("me/new")
    for rows in (2, 30):
        (tmp_path / f"{rows}.parquet").write_bytes(parquet(*range(rows)))
    done = on_hub("-c", CHANGE, tmp_path / "2.parquet", tmp_path / "30.parquet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "2", *("2", "2", "30", "30")]


def test_nobody_answers(on_hub: Run) -> None:
    found = opened(on_hub, ["me/pairs", "hf://datasets/me/pairs/*.parquet"], HF_ENDPOINT="http://127.0.0.1:9")
    assert all("efused" in str(message) and "\n" not in message for message in found.values()), found


def test_the_same_data_as_from_a_folder(
    on_hub: Run, commits: dict[str, str], local: Path, tmp_path: Path, tree: Tree
) -> None:
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    for source, here in (("me/pairs", ""), ("hf://datasets/me/pairs/data/train-*.parquet", "data/train-*.parquet")):
        split = {} if here else {"source_split": "train"}
        more = [] if here else ["--source-split=train"]
        done = on_hub("vcrgen", "build", source, "--out", tmp_path / "there", *options, *more)
        assert done.returncode == 0 and "5 of 5 pairs" in done.stdout, done.stderr
        build(str(local / here), out=tmp_path / "here", **SMALL | split)
        there, expected = tree(tmp_path / "there"), tree(tmp_path / "here")
        names = {name for name in expected if there[name] != expected[name]}
        assert there.keys() == expected.keys() and names == (
            set() if here else {"README.md", "croissant.json", "manifest.json"}
        )
        for out in ("there", "here"):
            shutil.rmtree(tmp_path / out)


@pytest.mark.extras
def test_the_same_examples_as_from_a_folder(on_hub: Run, commits: dict[str, str], local: Path) -> None:
    pytest.importorskip("torch", reason="needs PyTorch")
    done = on_hub("-c", STREAM, "me/pairs", "hf://datasets/me/gated", local, HF_TOKEN="hf_agreed")
    assert done.returncode == 0, done.stderr
    dataset, files, here = done.stdout.splitlines()
    assert dataset == files == here
