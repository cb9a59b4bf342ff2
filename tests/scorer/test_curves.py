"""Accuracy against visible ink: from outputs at several levels to thresholds, in every form of reports."""

import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from vcrgen.errors import ScoreError
from vcrgen.scorer.curve_tables import curve_sentences
from vcrgen.scorer.curves import compare_thresholds
from vcrgen.scorer.run import score
from vcrgen.scorer.saved import checksum, load_saved

Run = Callable[..., tuple[int, str, str]]


def outputs(ladder: Path, file: Path, restores: Callable[[float, random.Random], bool], *, ask: Any = None) -> Path:
    """Outputs of a model that restores a span by its visible ink."""
    rng = random.Random(file.name)
    with file.open("w", encoding="utf-8") as lines:
        for folder in sorted(ladder.glob("ink-*")):
            if ask and folder.name not in ask:
                continue
            rows = pq.read_table(next(folder.glob("*.parquet")), columns=["question_id", "spans"]).to_pylist()
            for row in rows:
                said = [span["text"] if restores(span["visible_ink"], rng) else "no" for span in row["spans"]]
                line = {"question_id": row["question_id"], "mode": folder.name, "view": "stacked", "model": file.stem}
                lines.write(json.dumps(line | {"output": "\n".join(said)}) + "\n")
    return file


@pytest.fixture(scope="module", autouse=True)
def _few_resamples() -> Iterator[None]:
    """Enough for the signs that are tested; golden files have the intervals of all resamples."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("stats.bootstrap", "stats.psychometric", "scorer.saved", "scorer.session"):
            patch.setattr(f"vcrgen.{module}.RESAMPLES", 200)
        yield


@pytest.fixture(scope="module")
def better(ladder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("curves") / "better.jsonl"
    return outputs(ladder, file, lambda ink, rng: rng.random() < 1 / (1 + np.exp((0.2 - ink) / 0.03)))


@pytest.fixture(scope="module")
def worse(ladder: Path, better: Path) -> Path:
    return outputs(ladder, better.with_name("worse.jsonl"), lambda ink, rng: ink > 0.4 and rng.random() < 0.9)


def test_the_threshold_goes_by_measured_ink(ladder: Path, tmp_path: Path) -> None:
    """A model that restores exactly the spans with more than 22 % of their ink, whatever the level is called."""
    file = outputs(ladder, tmp_path / "step.jsonl", lambda ink, _: ink > 0.22)
    (found,) = score(file, data=ladder, curve=True).curves
    ink = np.concatenate(list(found.ink_of_spans.values()))
    assert ink[ink <= 0.22].max() - 0.01 < found.curve.threshold.value < ink[ink > 0.22].min() + 0.01
    assert found.ink[1] == pytest.approx(0.155, abs=0.02)  # of the level 0.20, in type of this size


def test_without_measured_ink_the_level_counts(tmp_path: Path) -> None:
    from vcrgen.scorer.curves import fit_curves
    from vcrgen.scorer.run import Options
    from vcrgen.scorer.span_session import Session

    key = tmp_path / "key.jsonl"
    questions = [{"question_id": f"{n}", "crossed_text": ["one two three"]} for n in range(30)]
    key.write_text("".join(json.dumps(question) + "\n" for question in questions))
    file = tmp_path / "preds.jsonl"
    lines = [
        {
            "question_id": f"{n}",
            "view": "stacked",
            "mode": f"ink-{level:.2f}",
            "output": "one two three" if level > 0.3 or (level == 0.3 and n % 2) else "no",
        }
        for n in range(30)
        for level in (0.1, 0.2, 0.3, 0.5, 0.7)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (found,) = score(file, data=key, curve=True).curves
    assert found.curve.threshold.value == pytest.approx(0.3, abs=0.01)
    assert found.ink == pytest.approx((0.1, 0.2, 0.3, 0.5, 0.7))
    result = Session(key, Options()).score(file)
    assert fit_curves(result, {}, seed=0) == (found,) and result.curves == ()


def test_two_levels_are_no_curve(ladder: Path, tmp_path: Path, dataset: Path) -> None:
    file = outputs(ladder, tmp_path / "two.jsonl", lambda *_: True, ask={"ink-0.10", "ink-0.70"})
    with pytest.raises(ScoreError, match=r"--curve needs outputs at 3 levels .* these are of ink-0.10, ink-0.70\.$"):
        score(file, data=ladder, curve=True)


def test_thresholds_are_compared(ladder: Path, better: Path, worse: Path) -> None:
    a, b = (score(file, data=ladder, curve=True) for file in (better, worse))
    (found,) = compare_thresholds([a, b])
    assert found.difference is not None and found.difference.high < 0 and found.p_holm == found.difference.p < 0.05
    assert found.conclusion.startswith(
        "Threshold, VI+TEI: better recovers half of the spans with less ink than worse: -"
    )
    (turned,) = compare_thresholds([b, a])
    assert turned.difference is not None and turned.difference.low > 0 and turned.conclusion == found.conclusion
    (same,) = compare_thresholds([a, a])
    assert "no difference between better and better is shown" in same.conclusion


def test_outside_of_the_levels_nothing_is_extrapolated(ladder: Path, better: Path, tmp_path: Path) -> None:
    blind = score(outputs(ladder, tmp_path / "blind.jsonl", lambda *_: False), data=ladder, curve=True)
    sees = score(outputs(ladder, tmp_path / "sees.jsonl", lambda *_: True), data=ladder, curve=True)
    above, below = curve_sentences([blind, sees])
    assert "outside of the measured levels: half of the spans would be recovered with more than 6" in above
    assert "with less than" in below and "the lowest that was measured" in below
    (found,) = compare_thresholds([blind, score(better, data=ladder, curve=True)])
    assert found.difference is None and "cannot be compared" in found.conclusion


def test_every_form_has_the_curve(ladder: Path, better: Path, worse: Path, run: Run) -> None:
    files = (better, worse, "--data", ladder, "--curve", "--compare", "--no-json")
    text = run("score", *files)[1]
    assert (
        "Visible ink at which half of the spans" in text and "better, VI+TEI: half of the spans are recovered" in text
    )
    assert "| better | VI+TEI | 2" in run("score", *files, "-f", "md")[1]
    assert "Thresholds: A" in run("score", *files, "-f", "latex")[1]
    rows = [row for row in csv.DictReader(io.StringIO(run("score", *files, "-f", "csv")[1])) if row["group"] == "curve"]
    assert [(row["run"], row["metric"]) for row in rows[:4]] == [
        ("better", name) for name in ("threshold", "slope", "guess", "lapse")
    ]
    assert float(rows[0]["low"]) < float(rows[0]["percent"]) < float(rows[0]["high"])
    values = json.loads(run("score", *files, "-f", "json")[1])
    assert values["runs"][0]["curves"][0]["threshold"]["is"] == "inside"
    assert values["thresholds"][0]["difference"]["value"] < 0
    assert run("score", *files, "-f", "html", "--out", "page.html")[0] == 0
    page = Path("page.html").read_text("utf-8")
    assert page.count('class="sc fc"') == 2 and "better, VI+TEI: threshold 2" in page


def test_saved_scores_keep_the_curve(ladder: Path, better: Path, worse: Path, tmp_path: Path, run: Run) -> None:
    for file in (better, worse):
        (tmp_path / "here" / file.name).write_bytes(file.read_bytes())
    assert run("score", better.name, worse.name, "--data", ladder, "--curve")[0] == 0
    saved = load_saved(Path("better.scores.json"))
    assert saved.curves == score(better, data=ladder, curve=True).curves
    out = run("compare", "better.scores.json", "worse.scores.json")[1]
    assert "Threshold, VI+TEI: better recovers half of the spans with less ink than worse" in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ink: {**ink, "ink-0.15": ink["ink-0.10"]}, "its levels are not those of its scores"),
        (lambda ink: {**ink, "ink-0.10": "eJw="}, "cannot be unpacked"),
    ],
)
def test_a_changed_file_is_refused(
    ladder: Path, better: Path, tmp_path: Path, run: Run, change: Callable[[Any], Any], message: str
) -> None:
    (tmp_path / "here" / better.name).write_bytes(better.read_bytes())
    run("score", better.name, "--data", ladder, "--curve")
    values = json.loads(Path("better.scores.json").read_text())
    values["ink_of_spans"] = change(values["ink_of_spans"])
    values["sha256"] = checksum(values)
    Path("better.scores.json").write_text(json.dumps(values))
    with pytest.raises(ScoreError, match=message):
        load_saved(Path("better.scores.json"))
