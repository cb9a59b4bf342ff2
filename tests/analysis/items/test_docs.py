"""The examples of docs/analysis-items.md are true, and its commands run."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from vcrgen.cli import app

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "analysis-items.md").read_text("utf-8")


def test_every_example_holds() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/analysis-items.md", "exec"), names)
    assert len(blocks) == 4


def test_every_command_runs(twelve: list[Path], key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for file in (*twelve, key, twelve[0].parent / "m03.jsonl"):
        shutil.copy(file, tmp_path)
    rows = [f"m{m},i{i},{(m * i) % 3 // 2}" for m in range(1, 9) for i in range(1, 8)]
    Path("answers.csv").write_text("\n".join(["model,item,score", *rows]) + "\n")
    (block,) = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines():
        words = shlex.split(line, comments=True)[1:]
        files = [str(file) for word in words for file in (sorted(Path().glob(word)) if "*" in word else [word])]
        result = CliRunner().invoke(app, files)
        assert result.exit_code == 0, (line, result.output)
    assert Path("items.html").exists() and len(Path("short/ids-20.txt").read_text().split()) == 20
