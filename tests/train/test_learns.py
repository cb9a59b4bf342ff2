"""LoRA learns pictures that a model did not know: the adapted model's outputs are scored before and after."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.builder.run import build
from vcrgen.samples import sample_pair

pytest.importorskip("peft", reason='needs pip install "vcrgen[train]"')
pytest.importorskip("schedulefree", reason='needs pip install "vcrgen[train]"')
pytestmark = pytest.mark.extras

Run = Callable[..., tuple[int, str, str]]
# The learning rate and the layers suit so small a model.
OPTIONS = ("--rank", 32, "--steps", 160, "--batch", 8, "--micro-batch", 8, "--learning-rate", 8e-3, "--targets", "all")


def make_data(folder: Path, numbers: range) -> Path:
    """A dataset of built-in pairs in one mode, all of them for training."""
    folder.mkdir()
    pairs = [sample_pair("en", number) for number in numbers]
    images = pa.array([pair.image for pair in pairs], pa.binary())
    pq.write_table(pa.table({"image": images, "caption": [pair.caption for pair in pairs]}), folder / "pairs.parquet")
    build(folder / "pairs.parquet", out=folder / "data", mode="hard", seed=1)
    return folder / "data"


def exact_match(run: Run, model: Path, data: Path, *words: object) -> float:
    """The share of covered texts that a model restores, as `vcrgen score` gives it."""
    for name in ("preds.jsonl", "preds.ledger"):
        Path(name).unlink(missing_ok=True)
    code, _, err = run("predict", data, "--transformers", model, "--batch-size", 16, "--out", "preds.jsonl", *words)
    assert code == 0, err
    code, _, err = run("score", "preds.jsonl", "--data", data, "--split", "all")
    assert code == 0, err
    return float(json.loads(Path("preds.scores.json").read_text())["scores"][0]["metrics"]["exact"]["value"])


def test_lora_learns_new_pictures(tinyvlm: Any, run: Run, tmp_path: Path, one_thread: None) -> None:
    """LoRA on random weights stands still, so all weights of the base are trained first, on other pictures."""
    new, others = make_data(tmp_path / "new", range(25)), make_data(tmp_path / "others", range(25, 80))
    known, unknown = (tinyvlm.examples_of(data) for data in (others, new))
    model, processor = tinyvlm.make([text for each in (*known, *unknown) for text in (each.question, each.answer)])
    tinyvlm.teach(model, processor, known, steps=160, batch=16)
    base = tinyvlm.save(model, processor, tmp_path / "base")
    before = exact_match(run, base, new)
    code, _, err = run("finetune", base, new, "--out", "lora", *OPTIONS)
    assert code == 0, err
    after = exact_match(run, base, new, "--adapter", "lora")
    assert len(unknown) >= 24 and before == 0 and after >= 0.8, (before, after)
