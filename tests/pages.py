"""The README and the pages of docs/ as tests read them: their commands, and their lines of Python."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Run = Callable[..., tuple[int, str, str]]


class Page:
    """One page.

    Args:
        path: Where it is, such as ``docs/profile.md``.

    Attributes:
        path: The same.
        text: What is in it.
        blocks: The language and the text of each block of code, in the order of the page.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.text = (ROOT / path).read_text("utf-8")
        self.blocks = re.findall(r"^```(\w+)\n(.*?)^```$", self.text, re.MULTILINE | re.DOTALL)

    @property
    def python(self) -> list[str]:
        """The blocks of Python."""
        return [text for kind, text in self.blocks if kind == "python"]

    @property
    def commands(self) -> list[str]:
        """The lines of all blocks of shell."""
        return [line for kind, text in self.blocks if kind == "bash" for line in text.splitlines() if line]

    @property
    def output(self) -> list[str]:
        """The lines of all output that the page shows, without their blanks."""
        return [squeeze(line) for kind, text in self.blocks if kind == "text" for line in text.splitlines()]

    def execute(self, **names: Any) -> int:
        """Run all Python with these names and, in each block, those of the blocks before it; returns their number."""
        names["__name__"] = "page"
        for block in self.python:
            exec(compile(block, f"<{self.path}>", "exec"), names)
        return len(self.python)


def squeeze(text: str) -> str:
    """Return a text without its blanks."""
    return re.sub(r"\s+", "", text)


def succeed(run: Run, line: str) -> str:
    """Run a line of a page with the fixture ``run``; returns what it printed, or fails with the line."""
    program, *words = shlex.split(line, comments=True)
    code, out, err = run(*words)
    assert program == "vcrgen" and code == 0, (line, out, err)
    return out
