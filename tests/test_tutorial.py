"""docs/tutorial.md from its first line to its last, in one folder, as a reader follows it."""

import os
import re
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.forked import serving
from tests.pages import Page, Run, squeeze, succeed

PAGE = Page("docs/tutorial.md")
ENDPOINT, BOARD = "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"


class Reader:
    """Follows the page.

    Args:
        run: The fixture that runs a command.
        model: Address of a model's server.
        services: Ends the board's service with the test.
    """

    def __init__(self, run: Run, model: str, services: ExitStack) -> None:
        self.run, self.model, self.services = run, model, services
        self.board = ""
        self.out = ""  # of the commands since the last output that the page shows

    def follow(self, kind: str, text: str) -> None:
        """Do what a block says, or compare what it shows with what was printed."""
        if kind == "python":
            exec(compile(text, "<tutorial>", "exec"), {"__name__": "tutorial"})
        elif kind == "yaml":
            settings = Path("board/board.yaml")
            changed = yaml.safe_load(settings.read_text("utf-8")) | yaml.safe_load(text)
            settings.write_text(yaml.safe_dump(changed), "utf-8")
        elif kind == "bash":
            for line in text.splitlines():
                self.type(line)
        elif self.out:
            printed = [squeeze(line) for line in self.out.splitlines()]
            for line in text.splitlines():
                assert any(squeeze(line) in row for row in printed), (line, self.out)
            self.out = ""

    def type(self, line: str) -> None:
        """Type a line into the terminal."""
        if line.startswith("export "):
            return  # the token is that of the board
        if "leaderboard serve" in line:
            words = [*shlex.split(line)[1:], "--port", "0"]
            self.board = self.services.enter_context(serving(*words, log=Path("service.log")))
            return
        self.out += succeed(self.run, line.replace(ENDPOINT, self.model).replace(f"{BOARD} ", f"{self.board} "))
        if token := re.search(r"^vcr_\S+", self.out, re.MULTILINE):
            os.environ["VCRGEN_BOARD_TOKEN"] = token[0]


def test_the_tutorial(run: Run, serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VCRGEN_BOARD_TOKEN", "")
    with ExitStack() as services:
        reader = Reader(run, serve().url, services)
        for kind, text in PAGE.blocks:
            reader.follow(kind, text)
    assert Path("look/index.html").is_file() and Path("failures/index.html").is_file()
    page = Path("site/board-public-bits-4-stacked.html").read_text("utf-8")
    assert "Harbour photographs" in page and page.index("Model A") < page.index("Model B")
    secret = Path("secret.key").read_text("utf-8").split()[0]
    assert not any(secret in file.read_text("utf-8") for file in Path("site").glob("*.html"))
