"""Rows of pairs and of datasets, and the place of a stream behind rows that a trainer has used."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder.options import load_build_config
from vcrgen.builder.run import build
from vcrgen.core.errors import ConfigError, DatasetError, VcrgenError
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.hidden.options import HiddenOptions
from vcrgen.hidden.run import make_hidden
from vcrgen.train.data import StoredRows, StreamRows, open_training_data
from vcrgen.train.options import TrainOptions


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of both modes, half of it for training."""
    folder = tmp_path_factory.mktemp("train") / "data"
    build("samples:8", out=folder, splits="train=...,test=4", lang="zh")
    return folder


def opened(source: Any, fields: dict[str, Any] | None = None, **options: Any) -> Any:
    return open_training_data(str(source), TrainOptions(**options), fields or {})


def test_a_stream_goes_on_behind_the_rows_that_were_used() -> None:
    data = opened("samples:8", {"width": 200}, mode="easy", view="tei", lang="zh", method="grpo")
    assert isinstance(data, StreamRows) and data.lang == "zh"
    ahead = list(islice(data(), 6))  # a trainer reads ahead
    assert ahead[0]["image"].width == 200 and "completion" not in ahead[0]
    again = opened("samples:8", {"width": 200}, mode="easy", view="tei", lang="zh", method="grpo")
    again.go_on_from(data.state_after(4))
    assert [row["question_id"] for row in islice(again(), 2)] == [row["question_id"] for row in ahead[4:]]
    once_more = opened("samples:8", {"width": 200}, mode="easy", view="tei", lang="zh", method="grpo")
    once_more.go_on_from(again.state_after(6))
    assert next(once_more())["question_id"] not in {row["question_id"] for row in ahead}


def test_a_level_is_a_mode_of_pairs() -> None:
    assert next(opened("samples:6", mode="ink-0.20")())["ink"] == 0.2
    assert next(opened("samples:6", mode="ink=0.2")())["ink"] == 0.2
    bits = opened("samples:6", {"cover": "bars"}, mode="bits=4")
    assert isinstance(bits, StreamRows) and min(next(iter(bits.stream))["pixel_bits"]) >= 4
    with pytest.raises(ConfigError, match=r"mode: 'bits=4,8' is not easy, hard, both, or one level"):
        opened("samples:6", mode="bits=4,8")
    with pytest.raises(ConfigError, match=r"bits-4 need covers .* a --recipe with the line `stream: {cover: bars}`"):
        opened("samples:6", mode="bits-4")


@pytest.mark.parametrize("mode", ["easy", "hard", "both"])
def test_a_dataset_gives_its_training_split_and_no_other_row(dataset: Path, mode: str) -> None:
    data = opened(dataset, mode=mode)
    stored = open_dataset(dataset, VCR).select(mode=None if mode == "both" else mode, split="train")
    expected = [(row["crossed_text"], row["stacked_image"]["bytes"]) for _, row in stored.rows()]
    assert isinstance(data, StoredRows) and data.lang == "zh"
    assert [(row["answers"], row["image"]["bytes"]) for row in data(100)] == expected
    assert [row["completion"][0]["content"].split("\n") for row in data(2)] == [answers for answers, _ in expected[:2]]


def test_sources_that_cannot_be_learned_from(dataset: Path, tmp_path: Path) -> None:
    hidden = HiddenOptions(config=load_build_config(None, {}), items=4, private_source=True, cover="rows")
    public = make_hidden(hidden, out=tmp_path / "set", secret_file=tmp_path / "secret.key").public[0]
    build("samples:4", out=tmp_path / "test-only", splits="test=...")
    cases: list[tuple[Any, dict[str, Any], type[VcrgenError], str]] = [
        (public, {}, DatasetError, "hidden"),
        (tmp_path / "test-only", {}, ConfigError, "nothing of .*split 'train'"),
        (dataset, {"width": 200}, ConfigError, "width of the recipe's stream: is for pairs, and .* is a dataset"),
    ]
    for source, fields, error, problem in cases:
        with pytest.raises(error, match=problem):
            opened(source, fields)
