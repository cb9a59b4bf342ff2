"""The examples of docs/analysis-items.md are true, and its commands run."""

import re
import shutil
from pathlib import Path

import pytest

from tests.pages import Page, Run, succeed

pytestmark = pytest.mark.usefixtures("rough")
PAGE = Page("docs/analysis-items.md")


def test_every_example_holds() -> None:
    assert PAGE.execute() == 4


def test_every_command_runs(run: Run, twelve: list[Path], key: Path) -> None:
    for file in (*twelve, key, twelve[0].parent / "m03.jsonl"):
        shutil.copy(file, file.name)
    rows = [f"m{m},i{i},{(m * i) % 3 // 2}" for m in range(1, 9) for i in range(1, 8)]
    Path("answers.csv").write_text("\n".join(["model,item,score", *rows]) + "\n")
    for line in PAGE.commands:
        line = line.replace("analyze shorten", "analyze shorten --resamples 10")
        # A shell puts the names of files in a pattern's place.
        succeed(run, re.sub(r"\S*\*\S*", lambda found: " ".join(map(str, sorted(Path().glob(found[0])))), line))
    assert Path("items.html").exists() and len(Path("short/ids-20.txt").read_text().split()) == 20
