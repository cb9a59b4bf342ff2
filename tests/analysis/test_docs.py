"""The examples of docs/analysis.md are true, and its commands run."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vcrgen.analysis.examples import published_rows

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "analysis.md").read_text("utf-8")


def test_every_example_holds() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/analysis.md", "exec"), names)
    assert len(blocks) >= 4


def test_every_command_runs(run: Callable[..., tuple[int, str, str]]) -> None:
    heads, *rows = published_rows("gold-models")
    arena = [
        [model, "Arena", f"{1000 + 10 * number}", ""] for number, model in enumerate(dict.fromkeys(r[0] for r in rows))
    ]
    Path("scores.csv").write_text("".join(",".join(row) + "\n" for row in (heads, *rows, *arena)))
    (spec,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    Path("abilities.yaml").write_text(spec.replace("MMMU *", "*o*ics*").replace("layout: anchor ", "layout: anchor "))
    commands = [
        line for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines() if line
    ]
    for line in commands:
        code, _, errors = run(*shlex.split(line, comments=True)[1:])
        assert code == 0, (line, errors)
    assert len(commands) >= 5 and Path("pruned/kept.yaml").exists()
