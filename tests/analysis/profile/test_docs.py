"""The commands of docs/profile.md run, and it shows what they print."""

import shutil
from pathlib import Path
from typing import Any

from tests.pages import Page, Run, squeeze, succeed

PAGE = Page("docs/profile.md")
HEAD, ROWS = (
    "level,subcategory,leaf,count,my-model_en,my-model_ar\n",
    "Remember,symbol recognition,flags,80,0.91,0.84\n",
)


def test_every_command_runs(run: Run, scored: Any) -> None:
    for file in scored.files:
        shutil.copy(file, file.name)
    for method in ("rae", "lbs"):
        Path(f"scores_{method}.csv").write_text(HEAD + ROWS)
    for line in PAGE.commands:
        succeed(run, line)
    shown = succeed(run, "vcrgen profile --example bloom")
    assert PAGE.output and all(line in squeeze(shown) for line in PAGE.output)
    assert len(PAGE.commands) == 5 and Path("profile.html").exists() and Path("page.html").exists()
