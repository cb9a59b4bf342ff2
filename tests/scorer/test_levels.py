"""Outputs for a dataset of several levels of ink: each level is a row of reports and comparisons."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

from tests.making import outputs_by_ink

Run = Callable[..., tuple[int, str, str]]
LEVELS = ["ink-0.10", "ink-0.20", "ink-0.30", "ink-0.70"]


def test_reports_have_a_row_for_each_level(ladder: Path, run: Run) -> None:
    for name, least in (("better", 0.22), ("worse", 0.4)):
        outputs_by_ink(ladder, Path(f"{name}.jsonl"), least)
    words = ("better.jsonl", "worse.jsonl", "--data", ladder)
    code, out, err = run("score", *words, "--compare", "--format", "csv")
    assert code == 0, err
    rows = [row for row in csv.DictReader(io.StringIO(out)) if row["metric"] == "exact" and not row["group"]]
    for name in ("better", "worse", "better - worse"):
        assert [row["mode"] for row in rows if row["run"] == name] == LEVELS
    assert [float(row["percent"]) for row in rows if row["run"] == "better"][::3] == [0, 100]
    table = run("score", *words, "--format", "md")[1]
    assert run("score", *words)[0] == 0
    compared = run("compare", "better.scores.json", "worse.scores.json", "--format", "md")[1]
    for level in LEVELS:
        assert f"| {level} |" in table and f"| {level} |" in compared
