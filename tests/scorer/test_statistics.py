"""Means, intervals and comparisons."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vcrgen.core.errors import ScoreError
from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.scorer import compare, score
from vcrgen.scorer.comparison import _SignFlips, conclude
from vcrgen.scorer.results import Estimate, Resamples, assign_titles, few_clusters_sentences, require_one_signature
from vcrgen.scorer.score_report import render


@pytest.fixture
def noisy(write_lines: Any) -> tuple[Path, Path]:
    """A key of 60 questions with 1 to 3 spans, and outputs that are right for some."""
    answers = {str(i): [f"red dog {j} of {i}" for j in range(1 + i % 3)] for i in range(60)}
    rows = [
        {"question_id": i, "view": view, "output": "\n".join(t) if (int(i) * 7 + k) % 3 else "no idea of this"}
        for i, t in answers.items()
        for k, view in enumerate(("stacked", "tei"))
    ]
    key = write_lines("k.jsonl", [{"question_id": i, "crossed_text": texts} for i, texts in answers.items()])
    return write_lines("noisy.jsonl", rows), key


def test_the_mean_is_over_spans_not_images(write_lines: Any) -> None:
    key = write_lines("k.jsonl", [{"id": "a", "answers": ["x y", "y z", "z x"]}, {"id": "b", "answers": ["u v"]}])
    file = write_lines("p.jsonl", [{"question_id": "a", "output": "x y z x"}, {"question_id": "b", "output": ""}])
    assert score(file, data=key).cell().metrics["exact"].value == 0.75


def test_groups_cover_all_spans(noisy: tuple[Path, Path]) -> None:
    cell = score(*noisy[:1], data=noisy[1]).cell()
    by: dict[str, int] = {}
    for group in cell.groups:
        by[group.by] = by.get(group.by, 0) + group.units
    assert by["position"] == by["characters"] == cell.units == 120


def test_few_images_that_hold_most_spans_are_said(noisy: tuple[Path, Path], write_lines: Any) -> None:
    """60 images of 1 to 3 spans weigh as 51; ten, of which one has 21 spans, as two."""
    many = score(noisy[0], data=noisy[1])
    assert many.cell().effective_clusters == pytest.approx(120**2 / (20 * (1 + 4 + 9)))
    assert "images (51.4 effective)" in render([many], "md") and "The evidence of" not in render([many], "md")
    answers = [[f"red dog {number} of {i}" for number in range(21 if i == 0 else 1)] for i in range(10)]
    key = write_lines("few.jsonl", [{"id": str(i), "answers": texts} for i, texts in enumerate(answers)])
    file = write_lines("p.jsonl", [{"question_id": str(i), "output": ""} for i in range(10)])
    few = score(file, data=key)
    assert few.as_json()["scores"][0]["effective_images"] == 30**2 / (21**2 + 9)
    sentence = "The evidence of 30 spans in 10 images is that of 2.0 images with equally many spans each. With fewer"
    assert sentence in render([few], "md") and "images (2.0 effective)" in render([few], "md")
    assert len(list(few_clusters_sentences([few, many, few]))) == 1


def test_a_run_does_not_differ_from_itself(noisy: tuple[Path, Path]) -> None:
    result = score(noisy[0], data=noisy[1])
    for item in compare(assign_titles([result, result])):
        exact = item.metrics["exact"]
        assert exact.value == 0 and -0.1 < exact.low == -exact.high < 0
        assert (item.p_mcnemar, item.p_clusters, item.p_corrected) == (1.0, 1.0, 1.0)
        assert "exactly the same spans, so exact match does not tell them apart; another" in item.conclusion


def test_a_clear_difference_is_said(noisy: tuple[Path, Path], write_lines: Any) -> None:
    file, key = noisy
    empty = write_lines("empty.jsonl", [{"question_id": str(i), "output": ""} for i in range(60)])
    (item,) = compare(assign_titles([score(file, data=key), score(empty, data=key)]))
    assert item.conclusion.startswith("-, VI+TEI: noisy recovers more than empty")
    lead = item.conclusion.partition("on this data: ")[2]
    (turned,) = compare(assign_titles([score(empty, data=key), score(file, data=key)]))
    assert turned.metrics["exact"].value == -item.metrics["exact"].value
    assert lead.startswith("+") and "interval +" in lead and turned.conclusion == item.conclusion
    assert item.only_b == 0 and item.p_mcnemar < 1e-6 and item.p_clusters == item.p_corrected == 1 / 2048


def test_all_right_has_an_interval_with_width(noisy: tuple[Path, Path], write_lines: Any) -> None:
    key = {row["question_id"]: row["crossed_text"] for row in map(json.loads, noisy[1].read_text().splitlines())}
    rows = [{"question_id": i, "output": "\n".join(texts)} for i, texts in key.items()]
    cell = score(write_lines("right.jsonl", rows), data=noisy[1]).cell()
    exact = cell.metrics["exact"]
    assert (exact.value, exact.high) == (1.0, 1.0) and 0.9 < exact.low < 0.96
    third = [group for group in cell.groups if group.by == "position"][-1]
    assert third.units == 20 and third.metrics["exact"].low < 0.87, "fewer images tell less"


def test_many_comparisons_are_corrected(noisy: tuple[Path, Path], write_lines: Any) -> None:
    """Five models that fail on eight or 17 images by chance: of ten pairs chance gives as much."""
    file, key = noisy
    rows = [json.loads(line) for line in file.read_text().splitlines() if '"stacked"' in line]
    results = []
    for model, failures in enumerate((17, 8, 8, 8, 8)):
        failed = set(random.Random(model).sample(range(len(rows)), failures))
        outputs = [row | {"output": "no idea"} if number in failed else row for number, row in enumerate(rows)]
        results.append(score(write_lines(f"{model}.jsonl", outputs), data=key, view="stacked"))
    results = assign_titles(results)
    (alone,) = compare(results[:2])
    assert alone.p_corrected == alone.p_clusters < 0.05 and "Among" not in alone.conclusion
    first = compare(results)[0]
    assert first.p_clusters == alone.p_clusters and 0.05 < first.p_corrected < 10 * first.p_clusters
    assert "Among 10 comparisons chance may give as much (corrected p = 0." in first.conclusion
    backwards = compare(results[::-1])[-1]
    assert (backwards.p_clusters, backwards.p_corrected) == (first.p_clusters, first.p_corrected)


BETTER, NONE = "recovers more than", "No difference between A and B is shown: +2.00 points of exact match"


@pytest.mark.parametrize(
    ("value", "low", "high", "p", "verdict", "remark"),
    [
        (0.02, 0.01, 0.03, 0.001, f"A {BETTER} B", ", 9 images resampled)."),
        (-0.02, -0.04, 0.001, 0.0312, f"B {BETTER} A", "p = 0.0312 (sign flips), although the interval includes 0."),
        (0.02, 0.001, 0.04, 0.0625, NONE, "p = 0.0625 (sign flips), although the interval leaves out 0. More images"),
        (0.02, -0.01, 0.05, 0.2, NONE, ", 9 images resampled) includes 0. More images could show one."),
    ],
)
def test_the_verdict_goes_by_p(value: float, low: float, high: float, p: float, verdict: str, remark: str) -> None:
    estimate = Estimate(value=value, sd_units=None, sd_clusters=0.01, low=low, high=high)
    said = conclude(VCR_TASK, "exact", "A", "B", estimate, p, 3, 9)
    assert said.startswith(verdict) and remark in said and "+2.00 points" in said
    assert ("The verdict goes by p" in said) == ("although" in remark)


def test_units_without_a_score_are_left_out_of_a_test() -> None:
    """Of a pair of which one lacks what the other has, those count that both have."""
    whole = np.zeros(40, [("exact", float)])
    whole["exact"] = np.random.default_rng(0).random(40) < 0.4
    partial, both = np.ones_like(whole), whole.copy()
    partial["exact"][:10] = both["exact"][:10] = np.nan
    a, b, c = (
        Resamples(means={}, means_of_units={}, scores=scores, starts=np.arange(41), seed=0, cluster="image")
        for scores in (whole, partial, both)
    )
    assert _SignFlips().p_value(a, b, "exact") == _SignFlips().p_value(c, b, "exact") < 1


def test_other_signatures_are_refused(noisy: tuple[Path, Path]) -> None:
    a, b = (score(noisy[0], data=noisy[1], protocol=protocol) for protocol in ("paper", "vlmevalkit"))
    with pytest.raises(ScoreError, match="protocol is paper-v2 and vlmevalkit-v2"):
        require_one_signature([a, b])
    with pytest.raises(ScoreError, match="cannot stand in one table"):
        compare([a, b])
