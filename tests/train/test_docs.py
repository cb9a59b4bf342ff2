"""Every command of docs/finetune.md runs, one after another: from pairs to a score before and after."""

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.samples import sample_pair

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "finetune.md").read_text("utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]


def write_pairs(file: str, numbers: range) -> None:
    pairs = [sample_pair("en", number) for number in numbers]
    images = pa.array([pair.image for pair in pairs], pa.binary())
    pq.write_table(pa.table({"image": images, "caption": [pair.caption for pair in pairs]}), file)


def test_commands(run: Callable[..., tuple[int, str, str]], model: Path, one_thread: None) -> None:
    write_pairs("pairs.parquet", range(20))
    write_pairs("other-pairs.parquet", range(20, 30))
    shutil.copytree(model, "models/my-vlm")
    for line in COMMANDS:
        program, *words = shlex.split(line.replace("--steps 250", "--steps 2 --batch 4 --micro-batch 4"))
        code, out, err = run(*words)
        assert program == "vcrgen" and code == 0, (line, out, err)
    assert len(COMMANDS) == 6
    lines = [Path(f"{name}.jsonl").read_text().splitlines() for name in ("base", "tuned")]
    assert len(lines[0]) == len(lines[1]) == 8 and lines[0] != lines[1]
    facts = [json.loads(Path(f"{name}.run.json").read_text())["run"] for name in ("base", "tuned")]
    assert "adapter" in facts[1] and "adapter" not in facts[0]
