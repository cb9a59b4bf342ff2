"""The HTML report in a browser. The fixture ``browser`` also checks the console and the network after every test."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.browsing import own_size, resize
from vcrgen.scorer import ScoreOptions, Session, compare
from vcrgen.scorer.answers import load_answers
from vcrgen.scorer.score_report import score_page

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Any, dataset: Path, tmp_path: Path) -> Any:
    """A report of two runs with long names, opened."""
    questions = load_answers(dataset, split="test").questions
    files = []
    for number, model in enumerate(("W" * 80, "A model with a name of many words " * 4)):
        file = tmp_path / f"{number}.jsonl"
        rows = [
            {"question_id": each.question_id, "view": view, "mode": mode, "output": each.answers[0], "model": model}
            for each in questions
            for view in ("stacked", "tei")
            for mode in ("easy", "hard")
        ]
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        files.append(file)
    session = Session(dataset, ScoreOptions(split="test"))
    results = [session.score(file) for file in files]
    out = tmp_path / "report.html"
    out.write_text(score_page(results, compare(results), data="data", view="vcrgen view data 0.jsonl"), "utf-8")
    browser.get(out.as_uri())
    with own_size(browser):
        yield browser


def test_nothing_is_clipped(page: Any) -> None:
    for width in (360, 768, 1280):
        resize(page, width)
        check_that_nothing_is_clipped(page, width)


def check_that_nothing_is_clipped(page: Any, width: int) -> None:
    wide = page.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1] == width
    # Tables scroll by themselves where they have to; drawings with their labels always fit.
    fits = "return [...document.querySelectorAll('figure')].every((each) => each.scrollWidth <= each.clientWidth)"
    assert page.execute_script(fits)
    outside = (
        "const inside = (b, f) => b.left >= f.left && b.right <= f.right;"
        "return [...document.querySelectorAll('figure th, figure td')].filter((cell) =>"
        "  !inside(cell.getBoundingClientRect(), cell.closest('figure').getBoundingClientRect())).length"
    )
    assert page.execute_script(outside) == 0
    bars = page.execute_script("return [...document.querySelectorAll('figure svg')].map((s) => s.clientWidth)")
    assert len(bars) == 16 and min(bars) >= 80


def test_the_style_is_applied(page: Any) -> None:
    assert page.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(246, 244, 239)"
