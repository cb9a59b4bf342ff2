"""The examples of docs/scoring.md are true, and its commands run."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from vcrgen import build
from vcrgen.scorer import load_answers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scoring.md"


def test_every_example_holds() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert len(blocks) >= 9


def test_every_command_runs(tmp_path: Path) -> None:
    build("samples:6", out=tmp_path / "data" / "my-vcr", lang="en")
    rows = list(load_answers(tmp_path / "data" / "my-vcr").questions)
    lines = [{"question_id": row.question_id, "output": " and ".join(row.answers)} for row in rows]
    for name in ("preds", "run_a", "run_b"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    vcrgen = f"{sys.executable} -m vcrgen"
    subprocess.run(f"{vcrgen} score run_a.jsonl run_b.jsonl -d data/my-vcr", shell=True, check=True, cwd=tmp_path)
    blocks = re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    for table in re.findall(r"GPT4o\w+\.xlsx", " ".join(commands)):
        header, cells = "index,prediction\n", "".join(f"{row.question_id},x\n" for row in rows)
        (tmp_path / table).with_suffix(".csv").write_text(header + cells, "utf-8")
    for command in commands:
        line = command.replace(".xlsx", ".csv").replace("vcrgen ", f"{vcrgen} ")
        subprocess.run(line, shell=True, check=True, cwd=tmp_path, capture_output=True)
    assert len(commands) >= 3
