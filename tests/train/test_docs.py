"""Commands and Python of docs/finetune.md and docs/training.md run, one after another."""

import json
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.pages import Page, Run, succeed
from vcrgen.samples import sample_pair
from vcrgen.train.options import read_recipe

pytestmark = pytest.mark.extras

PAGE = Page("docs/finetune.md")
TRAINING = Page("docs/training.md")


def write_pairs(file: str, numbers: range) -> None:
    pairs = [sample_pair("en", number) for number in numbers]
    images = pa.array([pair.image for pair in pairs], pa.binary())
    pq.write_table(pa.table({"image": images, "caption": [pair.caption for pair in pairs]}), file)


def test_commands(run: Run, model: Path, one_thread: None) -> None:
    write_pairs("pairs.parquet", range(20))
    write_pairs("other-pairs.parquet", range(20, 30))
    recipe = Path("shown.yaml")
    recipe.write_text(next(text for kind, text in PAGE.blocks if kind == "yaml"))
    Path("small.yaml").write_text(
        "sft: {gradient_accumulation_steps: 2}\ngrpo: {gradient_accumulation_steps: 1, max_completion_length: 4}\n"
    )
    shutil.copytree(model, "models/my-vlm")
    for line in PAGE.commands:
        succeed(run, line.replace("--steps 250", "--steps 2 --recipe small.yaml"))
    assert len(PAGE.commands) == 7
    assert read_recipe(recipe).stream == {"width": 400, "cover": "bars"}
    lines = [Path(f"{name}.jsonl").read_text().splitlines() for name in ("base", "tuned")]
    assert len(lines[0]) == len(lines[1]) == 8 and lines[0] != lines[1]
    facts = [json.loads(Path(f"{name}.run.json").read_text())["run"] for name in ("base", "tuned")]
    assert "adapter" in facts[1] and "adapter" not in facts[0]


def test_recipes_of_trl(run: Run, model: Path, one_thread: None) -> None:
    """The commands of verl and ms-swift, which run elsewhere, name files that the exports here have."""
    write_pairs("pairs.parquet", range(20))
    shutil.copytree(model, "models/my-vlm")
    for line in TRAINING.commands:
        succeed(run, line)
    assert len(TRAINING.commands) == 7
    elsewhere = " ".join(text for kind, text in TRAINING.blocks if kind == "sh")
    files = {
        Path(*("swift",) * file.endswith("jsonl"), file)
        for file in re.findall(r"[\w/.-]+\.(?:parquet|jsonl)", elsewhere)
    }
    assert {*map(str, files)} >= {"verl/hard-train.parquet", "swift/hard-train.jsonl"} and all(map(Path.exists, files))
    small = "max_steps=1, per_device_train_batch_size=2, use_cpu=True, bf16=False"
    grpo = f"{small}, num_generations=2, max_completion_length=4"
    TRAINING.blocks = [
        (kind, text.replace("max_steps=1000", grpo if "GRPOConfig" in text else small))
        for kind, text in TRAINING.blocks
    ]
    assert TRAINING.execute() == 3
    assert Path("sft/model.safetensors").exists()
