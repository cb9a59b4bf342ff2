"""The commands of docs/view.md."""

import json
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pages import Page
from vcrgen.builder.run import build
from vcrgen.scorer.answers import load_answers
from vcrgen.view.query import Query

PAGE = Page("docs/view.md")


@pytest.mark.process
def test_the_commands_of_the_page(run: Callable[..., tuple[int, str, str]]) -> None:
    build("samples:6", out="data/my-vcr", lang="en", splits="test=...")
    for name, wrong in (("run_a", 4), ("run_b", 1)):
        lines = [
            {"question_id": question.question_id, "view": "stacked", "mode": "hard", "model": name}
            | {"output": "another text of five words" if number == wrong else "; ".join(question.answers)}
            for number, question in enumerate(load_answers(Path("data/my-vcr")).questions)
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert len(PAGE.commands) == 5
    for line in PAGE.commands:
        words = shlex.split(line, comments=True)[1:]
        if words[1:] == ["data/my-vcr"]:
            assert json.loads(served(words))["total"] == 6
            continue
        if "--figure" in words:
            assert run(*words)[0] == 0 and Path("pair.svg").read_text("utf-8").startswith("<svg ")
            continue
        code, out, err = run(*words, *([] if "--out" in words else ["--out", f"view-{len(words)}"]))
        assert code == 0 and f"shows {'1 pair' if '--filter' in words else '6 pairs'};" in out, err


def test_the_filters_of_the_page_are_accepted() -> None:
    filters = re.findall(r"^\| `(\w+=[^`]+)` \|", PAGE.text, re.MULTILINE)
    assert len(filters) == 5
    for text in filters:
        assert Query.parse(text).model_fields_set == {field.split("=")[0] for field in text.split("&")}


def served(words: list[str]) -> bytes:
    """The items that a page asks its server for; it ends when it is told to."""
    command = [sys.executable, "-m", "vcrgen", *words, "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = next(word for word in process.stdout.readline().split() if word.startswith("http://127.0.0.1:"))
        with urllib.request.urlopen(f"{url}items.json", timeout=120) as answer:
            items: bytes = answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
    return items
