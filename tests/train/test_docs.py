"""Commands and Python of docs/training.md run, one after another."""

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

PAGE = Page("docs/training.md")


def write_pairs(file: str, numbers: range) -> None:
    pairs = [sample_pair("en", number) for number in numbers]
    images = pa.array([pair.image for pair in pairs], pa.binary())
    pq.write_table(pa.table({"image": images, "caption": [pair.caption for pair in pairs]}), file)


def test_the_page(run: Run, model: Path, one_thread: None) -> None:
    write_pairs("pairs.parquet", range(20))
    write_pairs("other-pairs.parquet", range(20, 30))
    Path("small.yaml").write_text(
        "sft: {gradient_accumulation_steps: 2}\ngrpo: {gradient_accumulation_steps: 1, max_completion_length: 4}\n"
    )
    shutil.copytree(model, "models/my-vlm")
    for line in PAGE.commands:
        succeed(run, line.replace("--steps 250", "--steps 2 --recipe small.yaml"))
    assert len(PAGE.commands) == 13
    lines = [Path(f"{name}.jsonl").read_text().splitlines() for name in ("base", "tuned")]
    assert len(lines[0]) == len(lines[1]) == 8 and lines[0] != lines[1]
    facts = [json.loads(Path(f"{name}.run.json").read_text())["run"] for name in ("base", "tuned")]
    assert "adapter" in facts[1] and "adapter" not in facts[0]
    check_files_of_other_trainers()
    small = "max_steps=1, per_device_train_batch_size=2, use_cpu=True, bf16=False"
    grpo = f"{small}, num_generations=2, max_completion_length=4"
    PAGE.blocks = [
        (kind, text.replace("max_steps=1000", grpo if "GRPOConfig" in text else small)) for kind, text in PAGE.blocks
    ]
    assert PAGE.execute() == 4
    assert Path("sft/model.safetensors").exists()


def check_files_of_other_trainers() -> None:
    """The commands of verl and ms-swift, which run elsewhere, name files that the exports here have."""
    elsewhere = " ".join(text for kind, text in PAGE.blocks if kind == "sh")
    files = {
        Path(*("swift",) * file.endswith("jsonl"), file)
        for file in re.findall(r"[\w/.-]+\.(?:parquet|jsonl)", elsewhere)
    }
    assert {*map(str, files)} >= {"verl/hard-train.parquet", "swift/hard-train.jsonl"} and all(map(Path.exists, files))


def test_the_recipe_is_read(tmp_path: Path) -> None:
    recipe = tmp_path / "shown.yaml"
    recipe.write_text(next(text for kind, text in PAGE.blocks if kind == "yaml"))
    assert read_recipe(recipe).stream == {"width": 400, "cover": "bars"}
