"""The HTML report: whose items it shows, what its drawings are labelled with, and that it loads nothing."""

import re
from collections.abc import Callable, Iterable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from vcrgen.scorer import ScoreOptions, Session, compare
from vcrgen.scorer.score_report import EXAMPLES, score_page

WriteLines = Callable[[str, Iterable[Any]], Path]
LONG = "A-Model-with-a-Very-Long-Name-Instruct-preview-v3.1 <72B> & co"


def section(page: str, head: str) -> str:
    """Return the text after a head of the page, up to the next one."""
    found = re.search(rf"<h2>{head}</h2>(.*?)(?:<h2>|</main>)", page, re.DOTALL)
    return found[1] if found else ""


def ids(page: str, head: str) -> list[str]:
    return re.findall(r'<p class="id">(\S+) \(', section(page, head))


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
        return score_page(session, files, results, compare(results) if more else [])

    return make


def test_items_without_an_output_are_no_examples(report: Callable[..., str]) -> None:
    """There were six questions without an output, and they took all six places of the worst items."""
    answered = {number: "one two three" if number > 13 else "nothing like it" for number in range(6, 20)}
    page = report(answered)
    assert ids(page, "Worst items") == [f"q{number:02}" for number in range(6, 12)]
    assert ids(page, "Best items") == [f"q{number}" for number in range(19, 13, -1)]
    assert "no output" not in section(page, "Worst items")


def test_tokens_count_before_characters(report: Callable[..., str]) -> None:
    """By characters alone, the first would be the better one."""
    page = report({0: "onetwothree", 1: "one two seventeen"})
    assert (ids(page, "Worst items"), ids(page, "Best items")) == (["q00"], ["q01"])


def test_null_is_no_output(report: Callable[..., str]) -> None:
    page = report({0: None, 1: "one two four", 2: "one two three"})
    assert ids(page, "Worst items") == ["q01"] and ids(page, "Best items") == ["q02"]


def test_few_items_are_shared_between_worst_and_best(report: Callable[..., str]) -> None:
    page = report({0: "one", 1: "one two three", 2: "one two four"})
    assert ids(page, "Worst items") == ["q00", "q02"] and ids(page, "Best items") == ["q01"]
    assert "Best items" not in report({0: "one"}) and "Worst items" in report({0: "one"})


def test_no_more_than_so_many(report: Callable[..., str]) -> None:
    page = report(dict.fromkeys(range(20), "one two three"))
    assert len(ids(page, "Worst items")) == len(ids(page, "Best items")) == EXAMPLES
    assert not set(ids(page, "Worst items")) & set(ids(page, "Best items"))


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


def test_matches_are_marked(report: Callable[..., str]) -> None:
    page = report({0: 'say <one> two "three', 1: "so one two three & more", 2: "", 3: " \n"})
    assert '>so <mark class="exact">one two three</mark> &amp; more</p>' in page
    assert page.count('<mark class="near">') == 1
    assert page.count("<i>empty output</i>") == 2 and "<i>none</i>" in page


def test_a_long_output_is_cut(report: Callable[..., str]) -> None:
    page = report({0: "one two three " + "x" * 5000})
    assert "x" * 1900 in page and "x" * 2000 not in page and "…</p>" in page


def test_the_page_loads_nothing(report: Callable[..., str]) -> None:
    page = report({0: "one two three"}, other={0: "one"})
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert unescape(policy).startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in page and "<script" not in page and not re.search(r"(src|href)=\"(?!data:)", page)
    assert not re.search(r"\s(style|on\w+)=", page)
