"""What axe-core finds on the pages that commands write; those of studies and of `vcrgen view` have tests of their own.

Every rule on a phone and on a wide screen, with all tables open.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browsing import shown_at, violations
from tests.leaderboard import examples
from tests.leaderboard.test_pages_browser import everything
from vcrgen.leaderboard.site.render import Pages

pytestmark = pytest.mark.browser

Run = Callable[..., tuple[int, str, str]]


def board_pages(run: Run, dataset: Path) -> Iterator[Path]:
    for kind, html in everything(Pages(examples.site())).items():
        if not kind.startswith("long"):  # the same with long names
            file = Path(f"board {kind}.html")
            file.write_text(html.replace('data-again="3"', 'data-again="999"'), "utf-8")  # axe takes its time
            yield file


def score_pages(run: Run, dataset: Path) -> Iterator[Path]:
    from vcrgen.data.reader import open_dataset
    from vcrgen.data.tasks.vcr import VCR

    rows = [row for _, row in open_dataset(dataset, VCR).select(mode="easy").rows(("question_id", "crossed_text"))]
    for name, text in (("good", " ".join), ("bad", lambda spans: "nothing")):
        lines = [
            {"question_id": row["question_id"], "view": "tei", "mode": "easy", "output": text(row["crossed_text"])}
            for row in rows
        ]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    written = run("score", "good.jsonl", "bad.jsonl", "--data", dataset, "--split", "all", "--out", "score.html")
    assert written[0] == 0, written
    assert run("compare", "good.scores.json", "bad.scores.json", "--out", "compare.html")[0] == 0
    yield from (Path("score.html"), Path("compare.html"))


def analysis_pages(run: Run, dataset: Path) -> Iterator[Path]:
    table = ["level,subcategory,leaf,count,a_en,b_en"]
    table += [
        f"{level},s,leaf {number},9,0.{number},0.5" for number, level in enumerate(("remember", "apply", "create"))
    ]
    Path("scores_rae.csv").write_text("\n".join(table))
    few = ("--example", "gold-made", "--resamples", 100)
    assert run("bloom", "build", "-n", 5, "--out", "items")[0] == 0
    for words in (
        ("profile", "scores_rae.csv", "--out", "profile.html"),
        ("analyze", "map", *few, "--out", "map.html"),
        ("analyze", "factors", *few, "--out", "factors.html"),
        ("analyze", "prune", "--example", "gold-made", "--resamples", 20, "--out", "prune"),
        ("bloom", "coverage", "items", "--out", "coverage.html"),
    ):
        assert run(*words)[0] == 0, words
        yield Path("prune/report.html") if words[-1] == "prune" else Path(str(words[-1]))


@pytest.mark.parametrize("pages", [board_pages, score_pages, analysis_pages])
def test_axe_finds_nothing(
    browser: Any, run: Run, dataset: Path, axe: str, monkeypatch: pytest.MonkeyPatch, pages: Callable[..., Any]
) -> None:
    monkeypatch.setattr("vcrgen.analysis.prune_evaluation.RANDOM_SETS", 20)
    files = list(pages(run, dataset))
    assert files
    for width in (390, 1280):
        with shown_at(browser, width):
            for file in files:
                browser.get(file.resolve().as_uri())
                browser.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
                wide = browser.execute_script("return document.documentElement.scrollWidth")
                assert (violations(browser, axe), wide) == ([], width), (file, width)
