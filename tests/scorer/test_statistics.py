"""Means, intervals and comparisons."""

import json
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.errors import ScoreError
from vcrgen.scorer import compare, score
from vcrgen.scorer.results import assign_titles, require_one_signature


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


def test_a_run_does_not_differ_from_itself(noisy: tuple[Path, Path]) -> None:
    result = score(noisy[0], data=noisy[1])
    for item in compare(assign_titles([result, result])):
        exact = item.metrics["exact"]
        assert exact.value == 0 and -0.1 < exact.low == -exact.high < 0
        assert (item.p_mcnemar, item.p_clusters, item.p_holm) == (1.0, 1.0, 1.0)
        assert "exactly the same spans" in item.conclusion


def test_a_clear_difference_is_said(noisy: tuple[Path, Path], write_lines: Any) -> None:
    file, key = noisy
    empty = write_lines("empty.jsonl", [{"question_id": str(i), "output": ""} for i in range(60)])
    (item,) = compare(assign_titles([score(file, data=key), score(empty, data=key)]))
    assert item.conclusion.startswith("-, VI+TEI: noisy recovers more than empty")
    lead = item.conclusion.partition("on this data: ")[2]
    (turned,) = compare(assign_titles([score(empty, data=key), score(file, data=key)]))
    assert turned.metrics["exact"].value == -item.metrics["exact"].value
    assert lead.startswith("+") and "interval +" in lead and turned.conclusion == item.conclusion
    assert item.only_b == 0 and item.p_mcnemar < 1e-6 and item.p_clusters == item.p_holm < 1e-6


def test_all_right_has_an_interval_with_width(noisy: tuple[Path, Path], write_lines: Any) -> None:
    key = {row["question_id"]: row["crossed_text"] for row in map(json.loads, noisy[1].read_text().splitlines())}
    rows = [{"question_id": i, "output": "\n".join(texts)} for i, texts in key.items()]
    cell = score(write_lines("right.jsonl", rows), data=noisy[1]).cell()
    exact = cell.metrics["exact"]
    assert (exact.value, exact.high) == (1.0, 1.0) and 0.9 < exact.low < 0.96
    third = [group for group in cell.groups if group.by == "position"][-1]
    assert third.units == 20 and third.metrics["exact"].low < 0.87, "fewer images tell less"


def test_many_comparisons_are_corrected(noisy: tuple[Path, Path], write_lines: Any) -> None:
    """Five models, of which one is right a little less often than the others: of ten pairs chance gives as much."""
    file, key = noisy
    rows = [json.loads(line) for line in file.read_text().splitlines() if '"stacked"' in line]
    lucky = [row | {"output": "no idea of this" if number < 10 else row["output"]} for number, row in enumerate(rows)]
    others = score(file, data=key, view="stacked")
    results = assign_titles([score(write_lines("l.jsonl", lucky), data=key), *[others] * 4])
    assert len(others.cells) == 1
    (alone,) = compare(results[:2])
    assert alone.p_holm == alone.p_clusters < 0.05 and "Holm" not in alone.conclusion
    first = compare(results)[0]
    assert first.p_holm == pytest.approx(10 * first.p_clusters) and first.p_holm > 0.05
    assert "Among 10 comparisons chance may give as much (Holm's correction: p = 0." in first.conclusion


def test_other_signatures_are_refused(noisy: tuple[Path, Path]) -> None:
    a, b = (score(noisy[0], data=noisy[1], protocol=protocol) for protocol in ("paper", "vlmevalkit"))
    with pytest.raises(ScoreError, match="protocol is paper-v2 and vlmevalkit-v2"):
        require_one_signature([a, b])
    with pytest.raises(ScoreError, match="cannot stand in one table"):
        compare([a, b])
