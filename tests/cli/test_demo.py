"""``vcrgen demo``: from built-in pairs to a board."""

from pathlib import Path

import pytest

from tests.pages import Page, Run
from vcrgen.cli.demo import STEPS
from vcrgen.core.resources import resource_dir

README = Page("README.md")


def test_the_demo_prints_its_commands_and_ends_with_a_board(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert "vcrgen demo" in README.commands
    code, out, err = run("demo")
    assert code == 0, err
    board = Path("demo/site/board-public-hard-tei.html").read_text("utf-8")
    assert "RapidOCR" in board and "Templates" in board and Path("demo/view/index.html").is_file()
    assert [line[2:] for line in out.splitlines() if line.startswith("$ ")] == [f"vcrgen {step}" for step in STEPS]
    recorded = resource_dir("configs") / "demo" / "template.jsonl"
    assert run("baseline", "template", "demo/data", "--out", "now.jsonl")[0] == 0
    assert Path("now.jsonl").read_bytes() == recorded.read_bytes(), "python scripts/record_demo.py"
    again = run("demo")
    assert again[0] == 2 and "demo exists; name a new folder with --out." in again[2]


def test_a_folder_that_cannot_be_made_is_one_sentence(run: Run) -> None:
    Path("file").write_text("")
    code, _, err = run("demo", "--out", "file/demo")
    assert code == 2 and err.startswith("Error: file/demo cannot be written: "), err
