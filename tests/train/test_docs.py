"""Every command of docs/finetune.md runs, one after another: from pairs to a score before and after."""

import json
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
