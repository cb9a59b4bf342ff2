"""The HTML report: what its drawings are labelled with, the command it names, and that it loads nothing."""

import re
from collections.abc import Callable, Iterable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from vcrgen.scorer import ScoreOptions, Session, compare
from vcrgen.scorer.score_report import score_page

WriteLines = Callable[[str, Iterable[Any]], Path]
LONG = "A-Model-with-a-Very-Long-Name-Instruct-preview-v3.1 <72B> & co"


@pytest.fixture
def big_key(write_lines: WriteLines) -> Path:
    rows = [{"question_id": f"q{number:02}", "crossed_text": ["one two three"]} for number in range(20)]
    return write_lines("key.jsonl", rows)


@pytest.fixture
def report(big_key: Path, write_lines: WriteLines) -> Callable[..., str]:
    """The page of some outputs by the number of their question: of one file, or of several by name."""

    def make(outputs: dict[int, str | None], model: str | None = None, **more: dict[int, str | None]) -> str:
        session = Session(big_key, ScoreOptions())
        files = []
        for name, said in {"run": outputs, **more}.items():
            base = {"model": model} if model and name == "run" else {}
            rows = [base | {"question_id": f"q{number:02}", "output": text} for number, text in said.items()]
            files.append(write_lines(f"{name}.jsonl", rows))
        results = [session.score(file) for file in files]
        return score_page(results, compare(results) if more else [], data="key", view="vcrgen view 'a <b>' run.jsonl")

    return make


def test_a_bar_is_labelled_with_its_run_mode_and_view(report: Callable[..., str]) -> None:
    """Labels were cut after 28 characters, which left nothing but the name, and the name was cut on the left."""
    page = report({0: "one two three"}, LONG, other={0: "one"})
    charts = re.findall(r"<figure>(.*?)</figure>", page, re.DOTALL)
    assert len(charts) == 2
    for chart in charts:
        heads = [unescape(text) for text in re.findall(r'<th scope="row\w*"[^>]*>(.*?)</th>', chart)]
        assert heads == [LONG, "-, VI+TEI", "other", "-, VI+TEI"]
        assert chart.count("<svg") == 2 and "<text" not in chart


def test_one_run_needs_no_head(report: Callable[..., str]) -> None:
    assert 'scope="rowgroup"' not in re.sub(
        "<style.*?</style>", "", report({0: "one two three"}, LONG), flags=re.DOTALL
    )


def test_the_page_names_the_command_that_shows_outputs(report: Callable[..., str]) -> None:
    assert "Beside what was expected: vcrgen view &#39;a &lt;b&gt;&#39; run.jsonl" in report({0: "one two three"})


def test_the_page_loads_nothing(report: Callable[..., str]) -> None:
    page = report({0: "one two three"}, other={0: "one"})
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert unescape(policy).startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in page and "<script" not in page and not re.search(r"(src|href)=\"(?!data:)", page)
    assert not re.search(r"\s(style|on\w+)=", page)
