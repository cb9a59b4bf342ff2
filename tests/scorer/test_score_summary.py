"""The first sentences of a page of scores: what was found and what to do, at most five."""

import re
from collections.abc import Callable, Iterable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from vcrgen.scorer import ScoreOptions, Session, compare
from vcrgen.scorer.score_report import render, score_page

WriteLines = Callable[[str, Iterable[Any]], Path]
MakePage = Callable[..., list[str]]


@pytest.fixture
def sentences(write_lines: WriteLines) -> MakePage:
    """The first sentences of the page of runs on so many questions: of each the share that is right, and missing."""

    def make(questions: int, **runs: tuple[float, float]) -> list[str]:
        ids = [f"q{number:04}" for number in range(questions)]
        key = write_lines("key.jsonl", [{"question_id": each, "crossed_text": ["one two three"]} for each in ids])
        session = Session(key, ScoreOptions())
        files = []
        for name, (right, missing) in runs.items():
            rows = [
                {"question_id": each, "output": "one two three" if place < right * questions else "four five six"}
                for place, each in enumerate(ids)
                if place < (1 - missing) * questions
            ]
            files.append(write_lines(f"{name}.jsonl", rows))
        results = [session.score(file) for file in files]
        compared = compare(results) if len(runs) > 1 else []
        page = score_page(results, compared, data="key", view="")
        assert re.search('<ul class="summary">.*<figure>.*<details( open)?><summary>Scores', page, re.DOTALL)
        assert render(results, "html", compared).count('<ul class="summary">') == 1
        assert '"summary"' not in render(results, "json", compared)
        listed = re.findall(
            r"<li>(.*?)</li>", page.partition('<ul class="summary">')[2].partition("</ul>")[0], re.DOTALL
        )
        return [unescape(each) for each in listed]

    return make


def test_one_run_says_its_score_and_what_more_images_would_tell(sentences: MakePage) -> None:
    found = sentences(20, gpt=(0.5, 0))
    assert found[0].startswith("Exact match of gpt is 50.00 % (95 % interval ")
    assert found[1].startswith("Take more images to say more: with 20 images the interval is ")
    assert len(found) == 2


def test_with_many_images_no_more_are_asked_for(sentences: MakePage) -> None:
    found = sentences(3000, gpt=(0.5, 0))
    assert re.fullmatch(
        r"With 3,000 images the interval is 3\.\d points wide, so smaller differences are not shown\.", found[1]
    )


def test_what_has_no_output_is_to_be_asked_for_again(sentences: MakePage) -> None:
    found = sentences(20, gpt=(0.5, 0.25))
    assert found[1] == (
        "Ask again for what has no output (missing, failed, null or empty): "
        "5 of 20 spans count as wrong for that alone."
    )
    assert re.fullmatch(r"Read the \d+ notes? below before you publish\.", found[-1])


def test_a_comparison_of_two_says_its_conclusion(sentences: MakePage) -> None:
    found = sentences(40, good=(0.9, 0), weak=(0.1, 0))
    assert "good is first with 90.00 %" in found[0] and "weak is last with 10.00 %" in found[0]
    assert "good recovers more than weak on this data: +80.00 points" in found[1]


def test_runs_of_other_views_are_not_ranked(write_lines: WriteLines) -> None:
    ids = [f"q{number:04}" for number in range(20)]
    key = write_lines("key.jsonl", [{"question_id": each, "crossed_text": ["one two"]} for each in ids])
    session, results = Session(key, ScoreOptions()), []
    for view in ("stacked", "tei"):
        rows = [{"question_id": each, "output": "one two", "view": view} for each in ids]
        results.append(session.score(write_lines(f"{view}.jsonl", rows)))
    page = render(results, "html")
    assert "Exact match of stacked is 100.00 %" in page and "the figures have 1 more value." in page
    assert "is last" not in page


def test_several_comparisons_say_how_many_are_significant(sentences: MakePage) -> None:
    found = sentences(40, good=(0.9, 0.05), weak=(0.1, 0.05), poor=(0.1, 0.05))
    assert found[1].startswith(
        "2 of 3 comparisons are significant after correction for their number: do not rank the others"
    )
    assert len(found) == 5
