"""Every command of docs/pixels.md runs, and prints and writes what the page shows."""

import json
from pathlib import Path

from tests.pages import Page, Run, squeeze, succeed


def test_commands(run: Run) -> None:
    page = Page("docs/pixels.md")
    shown = {kind: text for kind, text in page.blocks if kind != "bash"}
    printed = ""
    for line in page.commands:
        if "preds.jsonl" in line:  # a model's outputs
            lines = Path("pixels.jsonl").read_text("utf-8").replace("template-8", "mine").replace("tei", "stacked")
            Path("preds.jsonl").write_text(lines, "utf-8")
        printed += succeed(run, line)
    assert squeeze(shown["text"]) in squeeze(printed)
    assert json.loads(shown["json"]) == json.loads(Path("pixels.jsonl").read_text("utf-8").splitlines()[0])
    assert "mine and template-8 recovered exactly the same spans" in Path("report.html").read_text("utf-8")
