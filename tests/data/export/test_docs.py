"""Commands and Python of docs/bridges.md."""

import json
import re
from pathlib import Path

import pytest

from tests.pages import Page, Run, squeeze, succeed
from vcrgen.scorer import load_answers

PAGE = Page("docs/bridges.md")


def test_the_page_as_it_stands(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (text,) = [text for kind, text in PAGE.blocks if kind == "yaml"]
    Path("rai.yaml").write_text(text, "utf-8")
    build, vlmevalkit, croissant, score, hub, records = PAGE.commands
    succeed(run, build)
    succeed(run, vlmevalkit)
    assert Path("exports/vlmevalkit/README.md").is_file()
    out = succeed(run, croissant)
    assert "lacks" not in out and json.loads(Path("croissant.json").read_text("utf-8"))["citeAs"] == "My lab (2026)"
    rows = [{"question_id": q.question_id, "output": q.answers[0]} for q in load_answers(Path("data/vcr")).questions]
    Path("preds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    succeed(run, score)
    assert ".eval_results/vcrgen.yaml: 1 result" in succeed(run, hub.replace("REVISION", "0a1b2c"))
    (shown,) = [text for kind, text in PAGE.blocks if kind == "text"]
    result = squeeze(Path(".eval_results/vcrgen.yaml").read_text("utf-8"))
    assert [line for line in shown.splitlines() if squeeze(line) not in result] == []
    file = Path(re.sub(r"\s", "", succeed(run, records)))
    assert file.is_file() and file.parts[:4] == ("records", "data", "vcrgen-vcr", "DEVELOPER")
    assert PAGE.execute() == 1
