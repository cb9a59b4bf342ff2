"""Estimates of the score on all questions beside a file of ids, and what is wrong with such files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vcrgen.errors import AnswerError
from vcrgen.scorer import score
from vcrgen.scorer.subset import subset_text
from vcrgen.scorer.subset_estimate import estimate_text, read_estimate
from vcrgen.stats.full_score import FullScore

FACTS: Mapping[str, Any] = {
    "method": "pirt",
    "metric": "exact",
    "mode": None,
    "view": None,
    "models": 20,
    "held_out": 5,
    "questions": 4,
    "error": 0.02,
    "within": 0.05,
}
ITEMS = [("q0", 0), ("q0", 1), ("q2", 0)]


def _files(folder: Path, **changes: Any) -> tuple[Path, Path, str]:
    """A key of four questions, outputs of two of which the first is right, and a subset with an estimator."""
    rows = [{"question_id": f"q{n}", "crossed_text": ["red fox", "old oak"][: 2 - n % 2]} for n in range(4)]
    key, outputs, ids = folder / "key.jsonl", folder / "m.jsonl", folder / "ids-2.txt"
    key.write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [{"question_id": "q0", "output": "a red fox and an old oak"}, {"question_id": "q2", "output": "nothing"}]
    outputs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ids.write_text(subset_text(["q0", "q2"]))
    value = json.loads(estimate_text(ids=["q0", "q2"], items=ITEMS, estimator=_estimator(), facts=FACTS))
    (folder / "ids-2.json").write_text(json.dumps({**value, **changes}))
    return key, outputs, str(ids)


def _estimator() -> FullScore:
    return FullScore(weights=np.array([0.25, 0.5, 0.25]))


def _notes(folder: Path, **changes: Any) -> str:
    key, outputs, subset = _files(folder, **changes)
    return " ".join(score(outputs, data=key, subset=subset).notes)


def test_the_estimate_is_a_note_of_the_run(tmp_path: Path) -> None:
    assert "estimated exact match on all 4 questions: 75.00 (70.00 to 80.00), by the method pirt" in _notes(tmp_path)


def test_a_metric_that_is_not_named_is_the_leading_one(tmp_path: Path) -> None:
    assert "estimated exact match" in _notes(tmp_path, metric="score")
    assert "estimated Jaccard" in _notes(tmp_path, metric="jaccard") or "jaccard" in _notes(tmp_path, metric="jaccard")


@pytest.mark.parametrize("changes", [{"metric": "rae"}, {"mode": "hard"}, {"view": "tei"}, {"schema": "other"}])
def test_another_metric_mode_view_or_tool_says_nothing(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert "estimated" not in _notes(tmp_path, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"subset": "2@00000000"}, "one of them was changed"),
        ({"items": [["q0", 0], ["q0", 1], ["q9", 0]]}, "names item 1 of 'q9', which is not in the subset"),
        ({"items": [["q0", 0], ["q0", 1], ["q1", 0]]}, "names item 1 of 'q1', which is not in the subset"),
        ({"items": [["q0", 0], ["q0", 2], ["q2", 0]]}, "names item 3 of 'q0'"),
        ({"items": [["q0", -1], ["q0", 1], ["q2", 0]]}, "names item 0 of 'q0'"),
        ({"items": [["q0", 0]]}, "do not fit its items"),
        ({"within": 1.5}, "damaged at 'within'"),
        ({"error": None}, "damaged at 'error'"),
        ({"estimator": {"slope": [1, 1, 1], "intercept": [1e300, 0, 0]}}, "damaged at 'estimator.intercept.0'"),
        ({"estimator": {"weights": [0, 0, 0]}}, "do not fit its items"),
        ({"estimator": {}}, "do not fit its items"),
        ({"code": "x"}, "damaged at 'code'"),
    ],
)
def test_damage_is_one_sentence(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(AnswerError, match=message):
        _notes(tmp_path, **changes)


def test_a_file_without_an_estimator_is_a_plain_subset(tmp_path: Path) -> None:
    key, outputs, subset = _files(tmp_path)
    (tmp_path / "ids-2.json").unlink()
    assert "estimated" not in " ".join(score(outputs, data=key, subset=subset).notes)
    assert read_estimate("first100") is None and read_estimate(None) is None


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    made = FullScore(
        slope=np.array([1.0, 0.123456789123, 2]),
        intercept=np.zeros(3),
        coefficients=np.array([0.1, 0.2]),
        reach=(-1.0, 2.0),
    )
    (tmp_path / "a.json").write_text(estimate_text(ids=["q0", "q2"], items=ITEMS, estimator=made, facts=FACTS))
    read = read_estimate(str(tmp_path / "a.txt"))
    assert read is not None
    again = read.estimator.made()
    assert again.slope.tolist() == [1.0, 0.123456789, 2.0] and again.reach == (-1.0, 2.0)
    assert again.coefficients.tolist() == [0.1, 0.2] and not len(again.weights)
