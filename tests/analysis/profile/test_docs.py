"""The examples of docs/profile.md are true, and its commands run."""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "profile.md").read_text("utf-8")
HEAD, ROWS = (
    "level,subcategory,leaf,count,my-model_en,my-model_ar\n",
    "Remember,symbol recognition,flags,80,0.91,0.84\n",
)


def test_every_example_holds() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/profile.md", "exec"), names)
    assert len(blocks) == 4


def test_every_command_runs(run: Callable[..., tuple[int, str, str]], scored: Any) -> None:
    for file in scored.files:
        shutil.copy(file, file.name)
    for method in ("rae", "lbs"):
        Path(f"scores_{method}.csv").write_text(HEAD + ROWS)
    commands = [line for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    for line in commands:
        code, _, errors = run(*shlex.split(line, comments=True)[1:])
        assert code == 0, (line, errors)
    assert len(commands) >= 4 and Path("profile.html").exists() and Path("page.html").exists()
