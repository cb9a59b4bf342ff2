"""LoRA learns what a model did not know: outputs of the adapted model are scored before and after."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.builder.run import build
from vcrgen.samples import sample_pair

pytest.importorskip("peft", reason='needs pip install ".[train]"')
pytest.importorskip("schedulefree", reason='needs pip install ".[train]"')

Run = Callable[..., tuple[int, str, str]]
# A rate that suits so small a model; rank and steps are those of the issue.
OPTIONS = ("--rank", 32, "--learning-rate", 8e-3, "--targets", "all", "--steps", 400, "--batch", 8, "--micro-batch", 8)


def exact_match(run: Run, model: Path, data: Path, *words: object) -> float:
    """EM of a model on all pictures of a dataset, in percent, as `vcrgen score` gives it."""
    Path("preds.jsonl").unlink(missing_ok=True)
    Path("preds.ledger").unlink(missing_ok=True)
    code, _, err = run("predict", data, "--transformers", model, "--batch", 16, "--out", "preds.jsonl", *words)
    assert code == 0, err
    code, _, err = run("score", "preds.jsonl", "--data", data, "--split", "all")
    assert code == 0, err
    return float(json.loads(Path("preds.scores.json").read_text())["scores"][0]["exact"])


@pytest.fixture(scope="module")
def new_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """64 pictures that the taught model was not taught."""
    folder = tmp_path_factory.mktemp("new")
    pairs = [sample_pair("en", number) for number in range(40, 105)]
    images = pa.array([pair.image for pair in pairs], pa.binary())
    pq.write_table(pa.table({"image": images, "caption": [pair.caption for pair in pairs]}), folder / "pairs.parquet")
    result = build(folder / "pairs.parquet", out=folder / "data", mode="hard", seed=1)
    assert result.manifest.pairs == 64
    return folder / "data"


def test_lora_learns_new_pictures(run: Run, taught: Path, new_data: Path, one_thread: None) -> None:
    before = exact_match(run, taught, new_data)
    code, out, err = run("finetune", taught, new_data, "--out", "lora", *OPTIONS)
    assert code == 0, err
    after = exact_match(run, taught, new_data, "--adapter", "lora")
    print(f"EM {before:.1f} -> {after:.1f}; {out}", file=sys.stderr)
    assert before == 0 and after >= 80
