"""The commands of docs/bloom.md run, and its examples hold."""

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bloom.audit.conftest import exported
from tests.bloom.conftest import png
from tests.bloom.test_importing import published
from vcrgen.bloom.audit.draw import read_draw
from vcrgen.dataset.manifest import read_manifest

# What simulated raters say of items, by the first letter of their level.
FIRST = defaultdict(lambda: "approve", c="choices")
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bloom.md").read_text("utf-8")


def test_every_example_holds() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/bloom.md", "exec"), names)
    assert len(blocks) >= 3


def test_every_command_runs(run: Callable[..., tuple[int, str, str]]) -> None:
    Path("pictures").mkdir()
    Path("pictures/red.png").write_bytes(png())
    Path("questions.json").write_text(json.dumps([published(0), published(1)]))
    for line in "".join(re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)).splitlines():
        if "audit report" in line:  # what two raters saved
            exported(read_draw(Path("data/bloom-scenes-audit/draw.json")), Path(), lambda item, _: FIRST[item.path[0]])
        code, out, err = run(*shlex.split(line, comments=True)[1:])
        assert code == 0, (line, out + err)
    assert read_manifest(Path("data/bloom-audited")).drops["without"] > 0
    assert Path("bloom.html").exists() and Path("data/imported/manifest.json").exists()
