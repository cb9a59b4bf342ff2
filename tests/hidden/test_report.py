"""Summary and overlap of forms, counted by hand on small keys, without answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.records import NAMED_MODES
from vcrgen.hidden.report import overlap_report, summary_report

Answers = Callable[[Path], list[dict[str, Any]]]


def answer(
    *spans: tuple[int, int, str, float], font: str = "lato", strip: str = "above", width: int = 700, **more: str
) -> Any:
    """An item of a key whose span texts are named after their places."""
    rows = [
        {"start": start, "end": end, "text": f"{start}-{end}", "cover": cover, "visible_ink": ink}
        for start, end, cover, ink in spans
    ]
    texts = [row["text"] for row in rows]
    return {"crossed_text": texts, "spans": rows, "font": font, "strip": strip, "width": width, "part": "final"} | more


def test_the_mix_is_counted() -> None:
    answers = [
        answer((0, 10, "easy", 0.5), (20, 30, "hard", 0.25), width=601),
        answer((5, 9, "easy", 0.46), font="carlito", strip="below", width=1000, part="feedback"),
        answer((5, 9, "easy", 0.01), strip="below", width=800),
    ]
    report = summary_report(answers, language="en", modes=NAMED_MODES, rejected={"no_glyph": 2})
    assert report["items"] == 3 and report["spans"] == 4
    assert report["fonts"] == {"carlito": 1, "lato": 2}
    assert report["strip"] == {"above": 1, "below": 2}
    assert report["covers"] == {"easy": 3, "hard": 1}
    assert report["width"] == {"least": 601, "median": 800, "most": 1000}
    assert report["visible_ink"]["easy"] == {"target": 0.48, "median": 0.46, "off_target": 1}
    assert report["visible_ink"]["hard"] == {"target": 0.27, "median": 0.25, "off_target": 0}
    assert report["parts"]["feedback"] == {"items": 1, "spans": 1, "easy": 1}
    assert report["parts"]["final"] == {"items": 2, "spans": 3, "easy": 2, "hard": 1}
    assert report["set_aside"] == {"no_glyph": 2}


def test_the_report_of_a_set_is_that_of_its_key(finished: Path, answers: Answers) -> None:
    report = json.loads((finished / "key" / "report.json").read_bytes())
    expected = summary_report(answers(finished), language="en", modes=NAMED_MODES, rejected=report["set_aside"])
    assert report == expected | {"form": 1, "overlap": [], "alike": {}, "compared": []}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # spans, characters, fonts, places that are the same
        ([answer((0, 10, "easy", 0.5))], [answer((0, 10, "hard", 0.2))], (1.0, 1.0, 1.0, 1.0)),
        ([answer((0, 10, "easy", 0.5))], [answer((10, 20, "easy", 0.5), font="b", strip="below")], (0, 0, 0, 0)),
        ([answer((0, 10, "easy", 0.5))], [answer((5, 15, "easy", 0.5), font="b")], (0.0, 0.5, 0.0, 1.0)),
        # The share is of the later form's spans and characters.
        ([answer((0, 10, "easy", 0.5))], [answer((0, 10, "easy", 0.5), (20, 50, "easy", 0.5))], (0.5, 0.25, 1.0, 1.0)),
        ([answer((0, 10, "easy", 0.5), (20, 50, "easy", 0.5))], [answer((0, 10, "easy", 0.5))], (1.0, 1.0, 1.0, 1.0)),
        (
            [answer((0, 10, "easy", 0.5)), answer((0, 10, "easy", 0.5))],
            [answer((0, 10, "easy", 0.5)), answer((90, 100, "easy", 0.5), strip="below")],
            (0.5, 0.5, 1.0, 0.5),
        ),
    ],
)
def test_what_two_forms_share(one: list[Any], other: list[Any], expected: tuple[float, ...]) -> None:
    (row,) = overlap_report([one, other])
    assert row["forms"] == [1, 2]
    shares = tuple(row[name] for name in ("same_spans", "shared_characters", "same_font", "same_place"))
    assert shares == expected


def test_a_report_holds_no_answer(finished_forms: Path, answers: Answers) -> None:
    for form in (1, 2, 3):
        folder = finished_forms / f"form-{form}"
        text = (folder / "key" / "report.json").read_text("utf-8")
        for item in answers(folder):
            for secret in (item["caption"], item["question_id"], item["source_id"], *item["crossed_text"]):
                assert secret not in text
