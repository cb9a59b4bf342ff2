"""The examples of docs/curve.md are true, and its commands run, one after another."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.pages import Page, Run, succeed

PAGE = Page("docs/curve.md")


def test_every_example_holds() -> None:
    assert PAGE.execute() == 6


def test_every_command_runs(run: Run, serve: Any) -> None:
    server = serve()
    for number, line in enumerate(PAGE.commands):
        # Ten pairs, so that the model's 60 questions are enough: a test has no need of all built-in pairs.
        succeed(run, line.replace("http://127.0.0.1:8000/v1", server.url).replace("samples", "samples:10"))
        if number == 0:
            write_outputs()
        if line.endswith("--staircase --out stairs.jsonl"):
            asked = len(server.calls)
    assert len(PAGE.commands) == 6 and asked < len(server.calls) / 4


def write_outputs() -> None:
    """Outputs of three models that restore what has enough ink."""
    for name, least in (("preds", 0.2), ("run_a", 0.3), ("run_b", 0.4)):
        with Path(f"{name}.jsonl").open("w", encoding="utf-8") as lines:
            for file in sorted(Path("data/ladder").glob("ink-*/*.parquet")):
                for row in pq.read_table(file, columns=["question_id", "mode", "spans"]).to_pylist():
                    said = "\n".join(span["text"] if span["visible_ink"] > least else "no" for span in row["spans"])
                    line = {"question_id": row["question_id"], "mode": row["mode"], "view": "stacked", "output": said}
                    lines.write(json.dumps(line) + "\n")
