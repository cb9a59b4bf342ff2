"""Every command and the Python of docs/pixels.md run."""

import json
from pathlib import Path

from tests.pages import Page, Run, succeed


def test_commands_and_python(run: Run) -> None:
    page = Page("docs/pixels.md")
    for kind, block in page.blocks:
        for line in block.splitlines() if kind == "bash" else ():
            if "preds.jsonl" in line:  # a model's outputs
                lines = Path("pixels.jsonl").read_text("utf-8").replace("template-8", "mine").replace("tei", "stacked")
                Path("preds.jsonl").write_text(lines, "utf-8")
            succeed(run, line)
    assert "mine and template-8 recovered exactly the same spans" in Path("report.html").read_text("utf-8")
    first = json.loads(Path("pixels.jsonl").read_text("utf-8").splitlines()[0])
    assert first["model"] == "template-8" and "|prior:unigram|" in first["spans"][0]["signature"]
    assert page.execute() == 1
