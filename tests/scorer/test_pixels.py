"""Scores beside the template baseline, and accuracy by the bits that visible pixels leave."""

import json
import math
import statistics
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.scorer.test_cli import Run, app, run
from vcrgen import build
from vcrgen.cli.datasets import inspect
from vcrgen.core.errors import PredictionError, ScoreError, VcrgenError
from vcrgen.data.reader import open_dataset
from vcrgen.data.statistics import BitsSummary
from vcrgen.data.tasks.pixel_bits import read_pixel_bits
from vcrgen.data.tasks.vcr import VCR, vcr_statistics
from vcrgen.scorer import compare, load_answers, score
from vcrgen.scorer.groups import PIXEL_BITS

__all__ = ["run"]
app.command()(inspect)
SIGNATURE = "method:template-1|lexicon:words-3#0|prior:unigram|sigma:4|font:Sans 20 px"
BITS = (0.0, 0.4, 1.0, 3.9, 5.0, 20.0, None)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "samples"
    build("samples:14", out=folder, lang="en")
    return folder


@pytest.fixture
def pixels(dataset: Path, write_lines: Any) -> Path:
    """Outputs in the form of the baseline's: in hard, every other text is right; of one image a span is not found."""
    lines, number = [], 0
    for question in load_answers(dataset).questions:
        spans = []
        for answer in question.answers:
            text = answer if number % 2 else "wrong words"
            spans.append({"text": text, "bits": BITS[number % len(BITS)], "fit": 1.0, "signature": SIGNATURE})
            number += 1
        if len(lines) == 3:
            spans = spans[1:]
        output = "\n".join(span["text"] for span in spans)
        named = {"question_id": question.question_id, "view": "tei", "mode": "hard", "model": "template-1"}
        lines.append(named | {"output": output, "spans": spans})
    return write_lines("pixels.jsonl", lines)


@pytest.fixture
def outputs(dataset: Path, write_lines: Any) -> Path:
    """A model that has every third text right, in three views of both modes."""
    lines = []
    for number, question in enumerate(load_answers(dataset).questions):
        for view in ("stacked", "tei", "text-only"):
            for mode in ("easy", "hard"):
                texts = [text if (number + place) % 3 == 0 else "no" for place, text in enumerate(question.answers)]
                lines.append(
                    {"question_id": question.question_id, "view": view, "mode": mode, "output": ". ".join(texts)}
                )
    return write_lines("model.jsonl", lines)


def test_a_model_is_compared_on_the_same_spans_in_every_view_with_an_image(
    run: Run, dataset: Path, outputs: Path, pixels: Path
) -> None:
    report = outputs.with_name("report.json")
    evidence = outputs.with_name("spans.jsonl")
    run("score", outputs, "--data", dataset, "--pixels", pixels, "--format", "json", "--out", report)
    run(
        "score",
        pixels,
        "--data",
        dataset,
        "--no-json",
        "--spans",
        evidence,
        "--format",
        "json",
        "--out",
        report.with_name("b"),
    )
    value = json.loads(report.read_text("utf-8"))
    assert [(each["a"], each["b"], each["mode"], each["view"]) for each in value["comparisons"]] == [
        ("model", "template-1", "hard", "stacked"),
        ("model", "template-1", "hard", "tei"),
    ]
    own = [json.loads(line)["exact"] for line in evidence.read_text("utf-8").splitlines()]
    (theirs,) = (
        c["metrics"]["exact"]["value"]
        for c in value["runs"][0]["scores"]
        if (c["mode"], c["view"]) == ("hard", "stacked")
    )
    found = value["comparisons"][0]["metrics"]["exact"]
    assert (
        found["value"] == pytest.approx(theirs - statistics.mean(own)) and found["low"] < found["value"] < found["high"]
    )
    assert not pixels.with_name("pixels.scores.json").exists()


def test_the_baseline_keeps_its_view_where_models_are_scored_in_one(
    run: Run, dataset: Path, outputs: Path, pixels: Path
) -> None:
    other = outputs.with_name("other.jsonl")
    other.write_bytes(outputs.read_bytes())
    report = outputs.with_name("report.json")
    asked = ("--data", dataset, "--view", "stacked", "--pixels", pixels)
    run("score", outputs, *asked, "--format", "json", "--out", report)
    value = json.loads(report.read_text("utf-8"))
    assert [(each["mode"], each["view"]) for each in value["comparisons"]] == [("hard", "stacked")]
    assert {(run["name"], cell["view"]) for run in value["runs"] for cell in run["scores"]} == {
        ("model", "stacked"),
        ("pixels", "tei"),
    }
    printed = " ".join(run("score", outputs, other, *asked).split())
    assert printed.count("in the median") == 1 and "Note: All: hard: " in printed
    details = run("score", outputs, *asked, "--details")
    assert all(f"\n{title}: vcrgen-jsonl" in details for title in ("model", "template-1"))


def test_bits_are_a_breakdown_and_a_column_of_evidence(run: Run, dataset: Path, outputs: Path, pixels: Path) -> None:
    evidence = outputs.with_name("spans.jsonl")
    printed = run("score", outputs, "--data", dataset, "--pixels", pixels, "--spans", evidence)
    assert "By pixel bits, in percent" in printed and SIGNATURE in printed and "By tokens" not in printed
    assert " ".join(printed.split()).count("in the median") == 1  # not once more for the baseline
    rows = [json.loads(line) for line in evidence.read_text("utf-8").splitlines()]
    lines = [json.loads(line) for line in pixels.read_text("utf-8").splitlines()]
    known = {line["question_id"]: [span["bits"] for span in line["spans"]] for line in lines}
    known[lines[3]["question_id"]] = [None] * len(load_answers(dataset).questions[3].answers)
    for row in rows:
        assert row["pixel_bits"] == (known[row["question_id"]][row["span"]] if row["mode"] == "hard" else None)
    (cell,) = (
        c for c in score(outputs, data=dataset, pixels=pixels).cells if (c.variant, c.view) == ("hard", "stacked")
    )
    starts = (0, 1, 2, 4, 6, 8, 12, math.inf)
    hard = [row for row in rows if (row["mode"], row["view"]) == ("hard", "stacked") and row["pixel_bits"] is not None]
    plain = {}
    for low, high in pairwise(starts):
        if inside := [row["exact"] for row in hard if low <= row["pixel_bits"] < high]:
            plain["12+" if high == math.inf else f"{low}-{high}"] = (len(inside), statistics.mean(inside))
    groups = {g.label: (g.units, g.metrics["exact"].value) for g in cell.groups if g.by == PIXEL_BITS}
    assert groups == {label: (count, pytest.approx(mean)) for label, (count, mean) in plain.items()} and len(plain) > 3


def test_the_page_has_a_chart_for_each_view(run: Run, dataset: Path, outputs: Path, pixels: Path) -> None:
    page = outputs.with_name("page.html")
    run("score", outputs, "--data", dataset, "--pixels", pixels, "--format", "html", "--out", page)
    text = page.read_text("utf-8")
    assert (
        "by bits that pixels leave" in text
        and "Accuracy against pixel bits" not in text
        and text.count('class="other"') > 3
    )
    assert "12+ bits: " in text and "0-1 bits: " in text


def test_with_pairs_of_models_all_comparisons_are_one_family(
    dataset: Path, outputs: Path, pixels: Path, write_lines: Any
) -> None:
    from dataclasses import replace

    other = write_lines("other.jsonl", (json.loads(line) for line in outputs.read_text("utf-8").splitlines()))
    models = [score(file, data=dataset, pixels=pixels) for file in (outputs, other)]
    baseline = replace(score(pixels, data=dataset), from_pixels=True)
    alone, all_together = compare([*models, baseline], in_pairs=False), compare([*models, baseline])
    assert len(alone) == 4 and len(all_together) == 4 + 6  # pairs of models also in the text-only view
    assert all(a.p_clusters == b.p_clusters for a, b in zip(alone, all_together[6:], strict=True))
    assert "could not read" not in alone[0].conclusion
    with pytest.raises(ScoreError, match="two runs"):
        compare([baseline])


def test_strips_that_the_baseline_does_not_read_are_told(
    dataset: Path, outputs: Path, pixels: Path, write_lines: Any
) -> None:
    from dataclasses import replace

    fewer = write_lines("fewer.jsonl", (json.loads(line) for line in pixels.read_text("utf-8").splitlines()[2:]))
    baseline = replace(score(fewer, data=dataset), from_pixels=True)
    for each in compare([score(outputs, data=dataset), baseline]):
        assert "template-1 could not read 2 of 14 strips, which count as wrong for it." in each.conclusion


def test_a_baseline_of_another_mode(run: Run, dataset: Path, outputs: Path, pixels: Path, write_lines: Any) -> None:
    easy = [line for line in map(json.loads, outputs.read_text("utf-8").splitlines()) if line["mode"] == "easy"]
    with pytest.raises(ScoreError, match="pixels has no mode of the outputs"):
        run("score", write_lines("easy.jsonl", easy), "--data", dataset, "--pixels", pixels)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"question_id": "a", "output": "x"}, "has no bits of any span; give the outputs of vcrgen baseline template"),
        ({"question_id": "a", "spans": [{"bits": 1.0}]}, "line 1: no bits with a signature for each span"),
        ({"question_id": "a", "spans": [{"bits": -1.0, "signature": SIGNATURE}]}, "line 1: no bits"),
        ({"question_id": "a", "spans": [{"bits": True, "signature": SIGNATURE}]}, "line 1: no bits"),
        ({"question_id": "a", "spans": [{"bits": 1e9, "signature": SIGNATURE}]}, "line 1: no bits"),
        ({"question_id": "a", "spans": {"bits": 1}}, "line 1: no bits"),
        ({"question_id": ["a"], "spans": []}, "line 1: no bits"),
        ({"question_id": "a", "mode": 3, "spans": []}, "line 1: no bits"),
        ({"question_id": "a", "spans": [{"bits": 1.0, "signature": "x"}]}, "a signature of its bits cannot be read"),
        ("[1]", "line 1"),
    ],
)
def test_files_that_are_none_of_the_baseline(write_lines: Any, line: Any, message: str) -> None:
    with pytest.raises(PredictionError, match=message):
        read_pixel_bits(write_lines("odd.jsonl", [line]))


def test_fonts_that_differ_are_counted(write_lines: Any) -> None:
    spans = [{"bits": 1, "signature": SIGNATURE.replace("Sans", name)} for name in "ab"]
    found = read_pixel_bits(write_lines("two.jsonl", [{"question_id": "a", "spans": spans}]))
    assert str(found.signature) == SIGNATURE.replace("Sans 20 px", "2 values")
    assert found.of_question("a", "hard", 2) == (1, 1)  # lines without a mode are of all modes
    assert all(map(math.isnan, found.of_question("a", "hard", 3)))


@example([0.5, 1.0, 1.5])  # with exactly one bit pixels do not settle a span
@given(st.lists(st.floats(0, 50) | st.just(math.nan), max_size=30))
def test_a_summary_is_of_the_known_bits(values: list[float]) -> None:
    known = [value for value in values if not math.isnan(value)]
    found = BitsSummary.of(values)
    if not known:
        assert found is None
    else:
        assert found is not None and found.spans == len(known)
        assert (found.median, found.p10) == pytest.approx(tuple(np.percentile(known, [50, 10])))
        assert found.settled == sum(value < 1 for value in known) / len(known)


def test_inspect_shows_bits_and_the_baseline(run: Run, dataset: Path, pixels: Path) -> None:
    lines = [json.loads(line) for number, line in enumerate(pixels.read_text("utf-8").splitlines()) if number != 3]
    bits = [span["bits"] for line in lines for span in line["spans"] if span["bits"] is not None]
    statistics_of = vcr_statistics(open_dataset(dataset, VCR), read_pixel_bits(pixels))
    assert statistics_of["easy", "train"].pixel_bits is None
    assert statistics_of["hard", "train"].pixel_bits == BitsSummary.of(bits)
    printed = run("inspect", dataset, "--pixels", pixels)
    exact = score(pixels, data=dataset, split="all").cells[0].metrics["exact"].value
    assert f"hard: the template baseline recovers {100 * exact:.2f} % of" in " ".join(printed.split())
    assert f"{np.median(bits):.2f} bits left by the visible pixels" in " ".join(printed.split())
    value = json.loads(run("inspect", dataset, "--pixels", pixels, "--json"))
    assert value["pixels"]["signature"] == SIGNATURE and value["pixels"]["scores"][0]["exact"] == exact
    with pytest.raises(VcrgenError, match="not JSON"):
        run("inspect", dataset, "--pixels", dataset / "manifest.json")


@pytest.fixture(scope="module")
def with_bits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "bars"
    build("samples:6", out=folder, lang="en", cover="bars", mode="bits=4")
    return folder


def test_bits_of_the_dataset_itself_come_first(with_bits: Path, write_lines: Any, run: Run) -> None:
    rows = [row for _, row in open_dataset(with_bits, VCR).rows(("question_id", "crossed_text", "pixel_bits"))]
    lines = [
        {
            "question_id": row["question_id"],
            "output": "",
            "mode": "bits-4",
            "spans": [{"bits": 0.0, "signature": SIGNATURE} for _ in row["crossed_text"]],
        }
        for row in rows
    ]
    file = write_lines("zeros.jsonl", lines)
    for pixels in (None, file):
        questions = load_answers(with_bits, pixels=pixels).questions
        assert [[span.bits["bits-4"] for span in question.spans] for question in questions] == [
            row["pixel_bits"] for row in rows
        ]
    found = vcr_statistics(open_dataset(with_bits, VCR), read_pixel_bits(file))["bits-4", "train"].pixel_bits
    assert found == BitsSummary.of(bits for row in rows for bits in row["pixel_bits"]) and found.p10 >= 4
    card = (with_bits / "README.md").read_text("utf-8")
    assert f"| {found.median:.2f} | {found.p10:.2f} | 0.0% |" in card and "Settled by pixels" not in card


def test_the_card_of_white_rows_says_that_pixels_settle_them(dataset: Path, tmp_path: Path) -> None:
    assert "**Settled by pixels.**" in (dataset / "README.md").read_text("utf-8")
    build("samples:2", out=tmp_path / "stain", cover="stain")
    build("samples:2", out=tmp_path / "hi", lang="hi")
    for name in ("stain", "hi"):  # of which it is not measured
        assert "Settled" not in (tmp_path / name / "README.md").read_text("utf-8")
