"""The examples of docs/curve.md are true, and its commands run, one after another."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "curve.md").read_text("utf-8")


def test_every_example_holds() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/curve.md", "exec"), names)
    assert len(blocks) == 5


def test_every_command_runs(run: Callable[..., tuple[int, str, str]], serve: Any) -> None:
    lines = [line for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    server = serve()
    for number, line in enumerate(lines):
        program, *words = shlex.split(line.replace("http://127.0.0.1:8000/v1", server.url))
        # So that the model's 60 questions are enough: a test has no need of all built-in pairs.
        words = [word.replace("samples", "samples:10") for word in words]
        code, out, err = run(*words)
        assert program == "vcrgen" and code == 0, (line, out, err)
        if number == 0:
            write_outputs()
        if line.endswith("--staircase --out stairs.jsonl"):
            asked = len(server.calls)
    assert len(lines) == 6 and asked < len(server.calls) / 4


def write_outputs() -> None:
    """Outputs of three models that restore what has enough ink."""
    for name, least in (("preds", 0.2), ("run_a", 0.3), ("run_b", 0.4)):
        with Path(f"{name}.jsonl").open("w", encoding="utf-8") as lines:
            for file in sorted(Path("data/ladder").glob("ink-*/*.parquet")):
                for row in pq.read_table(file, columns=["question_id", "mode", "spans"]).to_pylist():
                    said = "\n".join(span["text"] if span["visible_ink"] > least else "no" for span in row["spans"])
                    line = {"question_id": row["question_id"], "mode": row["mode"], "view": "stacked", "output": said}
                    lines.write(json.dumps(line) + "\n")
