"""Every command and every line of Python of docs/contamination.md runs, in its order."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.pages import Page, Run, squeeze, succeed
from vcrgen.dataset.canary import LINE

PAGE = Page("docs/contamination.md")


def test_the_walk(run: Run, hidden: Callable[..., Path], serve: Any) -> None:
    public = hidden()
    (public / "manifest.json").write_text(json.dumps({"canary": f"{LINE}{'0123456789abcdef' * 2}"}), "utf-8")
    shutil.copytree(public, "hidden-2026/public")
    server, said = serve(), {}
    for kind, block in PAGE.blocks:
        if kind == "text":
            continue
        if kind == "python":
            exec(block, {"__name__": "docs"})
            continue
        for line in block.splitlines():
            said[line] = succeed(run, line.replace("http://127.0.0.1:8000/v1", server.url))
    reports = [out for line, out in said.items() if line.startswith("vcrgen contamination ")]
    assert [kind for kind, _ in PAGE.blocks] == ["text", "bash", "bash", "python", "bash", "bash"] and len(reports) == 3
    assert all(line in squeeze(reports[0]) for line in PAGE.opening)
    assert reports[0].splitlines()[1].startswith("No test shows that qwen had seen data/my-vcr, ")
    signs = (
        r"cheat shows signs of having seen data/my-vcr: it recovers more than of other spans of its images \(Text only"
    )
    assert re.match(signs, reports[1].partition("\n\n")[2])
    assert reports[2].splitlines()[1].startswith("No test shows that qwen had seen hidden-2026/public, ")
