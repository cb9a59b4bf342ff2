"""One model on two datasets: how often the interval holds the truth, what is paired, and what is refused."""

import csv
import json
import random
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.notebooks import check_shown
from vcrgen.core.errors import ScoreError
from vcrgen.core.files import write_json
from vcrgen.core.signature import Signature
from vcrgen.data.key import HIDDEN_MODE
from vcrgen.data.tasks.task import VCR_TASK, Metric
from vcrgen.data.views import View
from vcrgen.scorer import RunResult, score
from vcrgen.scorer.across import compare_across
from vcrgen.scorer.across_report import pairing_sentence
from vcrgen.scorer.results import CellResult
from vcrgen.scorer.saved import as_saved, load_saved
from vcrgen.scorer.statistics import estimate_saved
from vcrgen.stats.intervals import effective_groups

STUDIES = 1000
STUDY_TASK = replace(
    VCR_TASK,
    metrics={f"study {number}": Metric(f"study {number}") for number in range(STUDIES)},
    main_metrics=("study 0", "study 1"),
    metric_contrasts=(),
)
CELL = ("hard", View.STACKED)


def simulated(rng: np.random.Generator, chances: Any, ids: Sequence[int], data: str) -> RunResult:
    """A thousand studies at once, each as a metric: images x studies of chances, and 1 to 4 spans of each image."""
    spans = rng.integers(1, 5, len(chances))
    right = (rng.random((spans.sum(), STUDIES)) < np.repeat(chances, spans, axis=0)).astype(float)
    scores = right.view([(name, float) for name in STUDY_TASK.metrics])[:, 0]
    starts = np.concatenate([[0], np.cumsum(spans)])
    estimates, resamples = estimate_saved(STUDY_TASK, {CELL: scores}, starts, seed=0)
    cell = CellResult(
        variant=CELL[0],
        view=CELL[1],
        clusters=len(spans),
        effective_clusters=float(effective_groups(spans.astype(float))),
        units=len(scores),
        metrics=estimates[CELL],
        counts={},
        outcomes={},
        length_ratio=None,
        groups=(),
    )
    return RunResult(
        name=data,
        model="m",
        format="",
        lang="en",
        signature=Signature({"data": data}),
        task=STUDY_TASK,
        cells=(cell,),
        differences=(),
        problems={},
        notes=(),
        resamples=resamples,
        cluster_ids=np.array(ids, np.uint64),
    )


@pytest.mark.parametrize(
    ("images", "base", "shared"),
    [(100, 0.3, 1.0), (100, 0.3, 0.6), (100, 0.3, 0.0), (100, 0.9, 0.6), (300, 0.6, 0.0)],
)
def test_the_interval_holds_the_truth_as_often_as_it_says(images: int, base: float, shared: float) -> None:
    """In a thousand studies each; of 60 common images and nine right spans of ten it is wider than it has to be."""
    rng = np.random.default_rng(round(1000 * (images + base + shared)))
    size = 1 / 0.3 - 1
    easy = rng.beta(base * size, (1 - base) * size, (2 * images, STUDIES))  # of each image how easily it is read
    a, b = np.arange(images), np.arange(images) + round((1 - shared) * images)
    found = compare_across(simulated(rng, easy[a], a, "a"), simulated(rng, 0.9 * easy[b], b, "b"))
    assert (found.paired, found.shared) == (shared > 0, round(shared * images))
    (cell,) = found.cells
    held = [each.low <= 0.1 * base <= each.high for each in cell.metrics.values()]
    significant = [each.low > 0 or each.high < 0 for each in cell.metrics.values()]
    assert len(held) == STUDIES and 0.93 <= np.mean(held) <= 0.985
    agree = np.mean(np.array(significant) == [each.p < 0.05 for each in cell.metrics.values()])
    assert agree == 1 if not shared else agree >= 0.93  # sign flips have their own p-value


def test_few_common_images_are_not_paired() -> None:
    """They would leave all the others out."""
    rng = np.random.default_rng(0)
    chances = np.full((20, STUDIES), 0.5)
    a, b = (simulated(rng, chances, range(start, start + 20), str(start)) for start in (0, 11))
    found = compare_across(a, b)
    assert not found.paired and pairing_sentence(found) == "Unpaired: 9 images are in both."


Save = Callable[..., Path]


@pytest.fixture
def save(write_lines: Any, tmp_path: Path) -> Save:
    """Write the saved scores of a model that restores the spans of a key that are in ``known``."""

    def write(
        name: str, key: dict[str, list[str]], known: set[str], *, model: str | None = "m", **options: Any
    ) -> Path:
        mode, secret = options.pop("mode", "hard"), options.pop("secret", False)
        texts = [{"question_id": one, "crossed_text": spans} for one, spans in key.items()]
        rows = [
            {"question_id": one, "mode": mode, "output": " / ".join(span if span in known else "no" for span in spans)}
            for one, spans in key.items()
        ]
        rows = [row | {"model": model} for row in rows] if model else rows
        result = score(write_lines(f"{name}.jsonl", rows), data=write_lines(f"{name}-key.jsonl", texts), **options)
        write_json(tmp_path / f"{name}.scores.json", as_saved(result, secret=secret))
        return tmp_path / f"{name}.scores.json"

    return write


def key_of(images: Sequence[int], word: str) -> dict[str, list[str]]:
    return {
        f"q{image}": [f"{word} number {image} turn {turn} here" for turn in range(1 + image % 3)] for image in images
    }


def spans_of(key: dict[str, list[str]]) -> set[str]:
    return {span for spans in key.values() for span in spans}


def test_images_are_paired_by_their_ids(save: Save, run: Any) -> None:
    """Whatever their order; an image that only one dataset has is left out."""
    order = list(range(40))
    random.Random(0).shuffle(order)
    published, redrawn = key_of(range(40), "old"), key_of([*order, 99], "new")
    # It reads every second image in both datasets, and three spans more of the published one.
    read = {span for key in (published, redrawn) for image in range(0, 40, 2) for span in key[f"q{image}"]}
    learnt = {span for image in (1, 3, 9) for span in published[f"q{image}"][:1]}
    a, b = save("a", published, read | learnt), save("b", redrawn, read | set(redrawn["q99"]))
    found = compare_across(*map(load_saved, (a, b)))
    check_shown(found)
    assert found.paired and found.shared == 40
    estimate, count = found.cells[0].metrics["exact"], len(spans_of(published))
    assert estimate.a - estimate.b == pytest.approx(3 / count) and estimate.value == pytest.approx(3 / count)
    assert 0.05 < estimate.high < 0.12  # as few images differ; out of order it would be 0.2
    code, out, err = run("compare", "--across", a, b)
    assert code == 0, err
    assert "Paired by image: 40 images are in both; left out: 1 more of B." in " ".join(out.split())
    assert out.splitlines()[-1] == f"Next: {shlex.join(found.next_command)}" and run(*found.next_command[1:])[0] == 0
    value = json.loads(run("compare", "--across", a, b, "--format", "json")[1])
    assert value["schema"] == "vcrgen-across-2" and value["b"]["images"] == 41 and value["paired"] is True
    assert value["comparisons"][0]["metrics"]["exact"]["low"] == estimate.low
    assert value["comparisons"][0]["mode"] == "hard"
    rows = list(csv.DictReader(run("compare", "--across", a, b, "--format", "csv")[1].splitlines()))
    assert [row["metric"] for row in rows] == list(VCR_TASK.metrics) and rows[0]["view"] == "stacked"
    assert float(rows[0]["difference"]) == pytest.approx(100 * estimate.value) and float(rows[0]["p"]) > 0.05


def test_a_hidden_set_is_compared_by_its_means(save: Save, run: Any) -> None:
    wiki, secret = key_of(range(60), "wiki"), key_of(range(100, 160), "secret")
    a = save("wiki", wiki, spans_of(wiki))
    b = save("hidden", secret, set(sorted(spans_of(secret))[::2]), mode=None, secret=True)
    assert run("compare", a, b)[0] == 2
    hidden = load_saved(b, hidden_too=True)
    mixed = replace(hidden, cells=tuple(replace(cell, variant=HIDDEN_MODE) for cell in hidden.cells))
    found = compare_across(load_saved(a), mixed)
    assert not found.paired and found.cells[0].variant == "hard / mixed"
    assert pairing_sentence(found) == "Unpaired: saved scores of a hidden set do not tell its images."
    assert found.cells[0].conclusion.startswith("hard / mixed, VI+TEI: m recovers more on A than on B: +50.00 points")
    assert "60 and 60 images resampled" in found.cells[0].conclusion


def test_several_cells_are_corrected_for_their_number(save: Save) -> None:
    first = compare_across(
        *(
            load_saved(save(name, key_of(range(start, start + 30), name), set()))
            for name, start in (("a", 0), ("b", 50))
        )
    )
    runs = [replace(side, cells=(side.cells[0], replace(side.cells[0], variant="easy"))) for side in (first.a, first.b)]
    (one, _), (alone,) = compare_across(*runs).cells, first.cells
    assert alone.p_corrected == alone.p and one.p_corrected == min(1.0, 2 * one.p)


def test_paired_cells_are_corrected_on_the_same_flips(save: Save) -> None:
    """Two cells that say the same are as one: max-t knows that, where Holm would double p."""
    keys = key_of(range(30), "old"), key_of(range(30), "new")
    read = {span for image in range(6) for span in keys[0][f"q{image}"]}
    first = compare_across(load_saved(save("a", keys[0], read)), load_saved(save("b", keys[1], set())))
    sides = []
    for side in (first.a, first.b):
        twin = {("easy", View.STACKED): side.resamples[CELL]}
        cells = (side.cells[0], replace(side.cells[0], variant="easy"))
        sides.append(replace(side, cells=cells, resamples={**side.resamples, **twin}))
    cells, (alone,) = compare_across(*sides).cells, first.cells
    assert first.paired and 0 < alone.p == alone.p_corrected < 0.05
    assert [cell.p_corrected for cell in cells] == [alone.p] * 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "n"}, "a is of the model 'm' and b of 'n'; --across compares one model on two datasets"),
        ({"protocol": "paper"}, "differ in more than their data: protocol is vcrgen-v2 and paper-v2, budget"),
        ({"lang": "de"}, "differ in more than their data: lang is en and de, seg is "),
        ({"seed": 3}, "differ in more than their data: seed is 0 and 3. Score both in the same way."),
        (
            {"mode": "easy"},
            "a (hard VI+TEI) and b (easy VI+TEI) have no mode and view in which both have exact match or jaccard, so",
        ),
        ({"same": True}, "a and a are scores on the same data; compare them without --across."),
    ],
)
def test_what_cannot_be_compared(save: Save, run: Any, options: dict[str, Any], message: str) -> None:
    a = save("a", key_of(range(10), "old"), set())
    b = a if options.pop("same", False) else save("b", key_of(range(10), "new"), set(), **options)
    code, out, err = run("compare", "--across", a, b)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
    assert run("compare", "--across", a)[0] == 2


def test_a_file_without_a_model_is_taken_as_of_the_same(save: Save) -> None:
    a, b = save("a", key_of(range(10), "old"), set()), save("b", key_of(range(10), "new"), set(), model=None)
    assert compare_across(load_saved(a), load_saved(b)).model == "m"


def test_ids_that_are_no_ids_are_damage(save: Save) -> None:
    file = save("a", key_of(range(10), "old"), set())
    value = json.loads(file.read_text("utf-8"))
    del value["ids_of_images"], value["sha256"]
    from vcrgen.scorer.saved import checksum

    write_json(file, {**value, "sha256": checksum(value)})
    with pytest.raises(ScoreError, match="cannot be unpacked"):
        load_saved(file)
