"""Sources of examples: pairs or a dataset's training split, each with a place to go on from."""

import io
import json
import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vcrgen.builder.run import build
from vcrgen.builder.stream import VCRStream
from vcrgen.core.errors import ConfigError, DatasetError, SourceError, StreamError
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.train.data import OpenedData, StoredExamples, open_training_data
from vcrgen.train.options import TrainOptions


def opened(source: Any, of_pairs: dict[str, Any] | None = None, **options: Any) -> OpenedData:
    return open_training_data(str(source), TrainOptions(**{"seed": 3} | options), of_pairs or {})


def names(data: OpenedData, count: int) -> list[str]:
    return [example["question_id"] for example in islice(data.examples, count)]


def of_split(dataset: Path, split: str) -> set[str]:
    return {row["question_id"] for _, row in open_dataset(dataset, VCR).select(split=split).rows(["question_id"])}


def test_pairs_become_a_stream_of_the_mode_and_the_view() -> None:
    data = opened("samples:6", {"lang": "zh", "width": 200}, mode="easy", view="tei")
    example = next(iter(data.examples))
    assert isinstance(data.examples, VCRStream) and data.kind == "stream of pairs"
    assert (example["mode"], example["view"], example["image"].shape[1]) == ("easy", "tei", 200)
    assert data.facts["lang"] == "zh" and not {"mode", "seed", "splits"} & set(data.facts)


def test_a_level_is_a_mode_of_pairs_and_of_a_ladder(tmp_path: Path) -> None:
    example = next(iter(opened("samples:6", mode="ink-0.20").examples))
    assert (example["mode"], example["ink"]) == ("ink", 0.2)
    build("samples:6", out=tmp_path / "ladder", mode="ink=0.2,0.5")
    one, every = (set(names(opened(tmp_path / "ladder", mode=mode), 6)) for mode in ("ink-0.20", "both"))
    assert one == every == of_split(tmp_path / "ladder", "train")
    with pytest.raises(ConfigError, match=r"nothing of mode 'hard' .* it has ink-0.20/train, ink-0.50/train"):
        opened(tmp_path / "ladder")
    with pytest.raises(ConfigError, match=r"mode: 'ink=0.2' is not easy, hard, both, or the name of one level"):
        opened("samples:6", mode="ink=0.2")


@pytest.mark.parametrize("mode", ["easy", "hard", "both"])
def test_a_dataset_gives_its_training_split_and_no_other_row(dataset: Path, mode: str) -> None:
    data = opened(dataset, mode=mode)
    training = of_split(dataset, "train")
    epoch = len(training) * (2 if mode == "both" else 1)
    assert isinstance(data.examples, StoredExamples) and data.kind == "dataset"
    assert set(names(data, 3 * epoch)) == training and not training & of_split(dataset, "test")


def test_an_example_is_what_the_dataset_holds(dataset: Path) -> None:
    rows = {row["question_id"]: row for _, row in open_dataset(dataset, VCR).select(mode="hard", split="train").rows()}
    for example in islice(opened(dataset, view="tei").examples, len(rows)):
        row = rows[example["question_id"]]
        image = Image.open(io.BytesIO(row["only_it_image"]["bytes"])).convert("RGB")
        assert np.array_equal(example["image"], np.asarray(image))
        assert (example["question"], example["answers"]) == (row["question"], row["crossed_text"])


@pytest.mark.parametrize("window", [2, 512])
def test_every_epoch_has_every_row_once_in_another_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    monkeypatch.setattr("vcrgen.train.data.MAX_SHARD", window)
    build("samples", out=tmp_path / "data", limit=12, mode="hard", shard_size=5)
    data = opened(tmp_path / "data")
    rows = len(of_split(tmp_path / "data", "train"))
    first, second = (names(data, rows) for _ in range(2))
    assert len(set(first)) == rows and sorted(first) == sorted(second) and first != second
    assert names(opened(tmp_path / "data"), rows) == first != names(opened(tmp_path / "data", seed=4), rows)


@pytest.mark.parametrize("done", [0, 1, 4, 9])
def test_a_place_is_taken_up(dataset: Path, done: int) -> None:
    whole = names(opened(dataset), 12)
    before = opened(dataset)
    names(before, done)
    after = opened(dataset)
    after.examples.load_state_dict(json.loads(json.dumps(before.examples.state_dict())))
    assert names(after, 12 - done) == whole[done:]


@pytest.mark.parametrize("state", [None, {}, {"fingerprint": "other", "step": 3}])
def test_a_place_of_other_data_is_refused(dataset: Path, state: Any) -> None:
    with pytest.raises(StreamError, match="other data"):
        opened(dataset).examples.load_state_dict(state)


def test_a_dataset_without_a_training_split(tmp_path: Path) -> None:
    build("samples:6", out=tmp_path / "data", mode="hard", splits="test=...")
    with pytest.raises(ConfigError, match="nothing of mode 'hard' and split 'train'; it has hard/test"):
        opened(tmp_path / "data")


def test_files_of_others(dataset: Path, tmp_path: Path, as_foreign: Callable[..., Path]) -> None:
    """Data of VCR-WIKI's columns is a dataset; a file named after a test split is not learned from."""
    folder = as_foreign(dataset, tmp_path / "foreign", "hard")
    file = folder / "part.parquet"
    assert set(names(opened(folder), 4)) == of_split(dataset, "test")  # which nothing says of the file
    file.rename(folder / "train-00000-of-00001.parquet")
    assert len(names(opened(folder), 4)) == 4
    (folder / "train-00000-of-00001.parquet").rename(folder / "test-00000-of-00001.parquet")
    with pytest.raises(ConfigError, match="nothing of mode 'hard' and split 'train'"):
        opened(folder)


def test_a_hidden_set_is_refused(hidden: Callable[..., Path]) -> None:
    with pytest.raises(DatasetError, match="public part of a hidden test set, which has no answers"):
        opened(hidden())
    with pytest.raises(SourceError, match="holds no pairs"):
        opened(hidden().parent)


def test_a_folder_of_images_with_captions_is_a_source_of_pairs(tmp_path: Path) -> None:
    from vcrgen.samples import sample_pair

    rows = []
    for number in range(3):
        pair = sample_pair("en", number)
        (tmp_path / f"{number}.jpg").write_bytes(pair.image)
        rows.append({"file_name": f"{number}.jpg", "caption": pair.caption})
    (tmp_path / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert opened(tmp_path).kind == "stream of pairs" and len(names(opened(tmp_path), 3)) == 3


def test_options_of_pairs_are_not_those_of_a_dataset(dataset: Path) -> None:
    with pytest.raises(ConfigError, match=r"--column caption is for pairs, and .* is a dataset"):
        opened(dataset, {"caption_column": "text"})


def test_rows_that_cannot_be_learned(tampered: Callable[..., Path]) -> None:
    def without_answers(mode: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | {"crossed_text": []} for row in rows]

    with pytest.raises(DatasetError, match=r"row \d has no answers to learn"):
        names(opened(tampered(without_answers)), 9)


def test_pictures_that_are_none(tampered: Callable[..., Path]) -> None:
    def without_pictures(mode: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row | {"stacked_image": {"bytes": b"GIF89a", "path": None}} for row in rows]

    with pytest.raises(DatasetError, match=r"stacked_image: not a whole .* image"):
        names(opened(tampered(without_pictures)), 9)


def test_a_damaged_dataset_is_not_taken_for_pairs(dataset: Path, tmp_path: Path) -> None:
    shutil.copytree(dataset, tmp_path / "copy")
    (tmp_path / "copy" / "manifest.json").write_text("{")
    with pytest.raises(DatasetError, match=r"manifest.json is damaged"):
        opened(tmp_path / "copy")


def test_of_several_datasets_one_is_named(dataset: Path, tmp_path: Path) -> None:
    """The folder was said to hold no pairs."""
    for name in ("a", "b"):
        shutil.copytree(dataset, tmp_path / name)
    with pytest.raises(DatasetError, match=rf"a folder with datasets; name one of them: {tmp_path}/a, {tmp_path}/b\."):
        opened(tmp_path)


def test_datasets_beside_pairs_do_no_harm(dataset: Path, tmp_path: Path) -> None:
    shutil.copytree(dataset, tmp_path / "a")
    (tmp_path / "metadata.csv").write_text("file_name,caption\na.png,A caption of some words that can be covered\n")
    assert opened(tmp_path).kind == "stream of pairs"


@pytest.mark.parametrize("source", ["nowhere.parquet", "a folder that is not there", ""])
def test_what_is_not_there(source: str) -> None:
    with pytest.raises(SourceError):
        opened(source)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"targets": "q_proj;rm"}, "targets: 'q_proj;rm' is not language, all, or names of layers"),
        ({"targets": ""}, "is not language, all, or names"),
        ({"steps": 0}, "steps: Input should be greater than or equal to 1"),
        ({"learning_rate": float("nan")}, "learning-rate: "),
        ({"mode": "medium"}, "mode: 'medium' is not easy, hard, both, or the name of one level"),
        ({"dtype": "int8"}, "dtype: "),
    ],
)
def test_options_that_are_refused(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        TrainOptions(**values)


def test_the_defaults_are_the_papers() -> None:
    """Section 4.1: r 8, alpha 32, 2e-4, 64 examples a step, 16,000 examples in one epoch, trained on hard."""
    options = TrainOptions()
    assert (options.rank, options.alpha, options.learning_rate, options.batch) == (8, 32, 2e-4, 64)
    assert options.steps * options.batch == 16_000 and options.mode == "hard"
