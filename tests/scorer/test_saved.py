"""Scores in files: read back they compare as the outputs did, and nothing in them is trusted."""

import base64
import contextlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.errors import ScoreError
from vcrgen.core.files import write_json
from vcrgen.scorer import RunResult, compare, render, score
from vcrgen.scorer.results import assign_titles
from vcrgen.scorer.saved import as_saved, checksum, load_saved

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def results(key: Path, perfect: Path, write_lines: Any) -> list[RunResult]:
    rows = [
        {"question_id": "a", "output": "the quick brown fox", "model": "Half"},
        {"question_id": "b", "output": "is a town in the", "model": "Half"},
        {"question_id": "b", "output": "is a town", "view": "tei", "model": "Half"},
    ]
    return [score(perfect, data=key, seed=3), score(write_lines("half.jsonl", rows), data=key, seed=3)]


@pytest.fixture
def files(results: list[RunResult], tmp_path: Path) -> list[Path]:
    files = [tmp_path / f"{result.name}.scores.json" for result in results]
    for file, result in zip(files, results, strict=True):
        write_json(file, as_saved(result, secret=False))
    return files


def test_saved_scores_compare_as_the_outputs_did(results: list[RunResult], files: list[Path]) -> None:
    again = [load_saved(file) for file in files]
    runs = assign_titles(results), assign_titles(again)
    assert compare(runs[1]) == compare(runs[0])
    assert again[1].differences == results[1].differences
    for form in ("md", "csv", "latex"):
        assert render(runs[1], form, compare(runs[1])) == render(runs[0], form, compare(runs[0]))


def test_those_of_a_hidden_set_tell_nothing_of_single_spans(results: list[RunResult], tmp_path: Path) -> None:
    file = tmp_path / "hidden.scores.json"
    write_json(file, as_saved(results[0], secret=True))
    assert "spans_of_images" not in file.read_text("utf-8")
    with pytest.raises(ScoreError, match="lacks the scores of its spans, as those of a hidden set do"):
        load_saved(file)


def packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


DAMAGES: dict[str, tuple[Change, str]] = {
    "another version": (lambda v: v.update(schema="vcrgen-scores-6"), "is not of the version vcrgen-scores-7"),
    "no schema": (lambda v: v.pop("schema"), "holds no scores"),
    "no signature": (lambda v: v["signature"].update(text="x"), "signature is wrong"),
    "no seed": (lambda v: v["signature"].update(text="boot:1000|interval:wilson-groups-2"), "signature is wrong"),
    "other resamples": (
        lambda v: v["signature"].update(text=v["signature"]["text"].replace("boot:1000", "boot:9")),
        "other resamples",
    ),
    "no number": (lambda v: v["scores"][0]["metrics"]["exact"].update(low="x"), r"scores\.0\.metrics\.exact\.low"),
    "not a number": (lambda v: v["scores"][0]["metrics"]["exact"].update(low=float("nan")), "no number or no text"),
    "half a character": (lambda v: v.update(name="\ud800"), "no number or no text"),
    "a metric less": (lambda v: v["scores"][0]["metrics"].pop("f1"), "parts do not fit"),
    "an outcome less": (lambda v: v["scores"][0]["outcomes"].pop("short"), "parts do not fit"),
    "a group's metric less": (lambda v: v["scores"][0]["groups"][0]["metrics"].pop("exact"), "parts do not fit"),
    "a problem nobody knows": (lambda v: v["problems"].update(x={"count": 1, "first": []}), "parts do not fit"),
    "a cell twice": (lambda v: v["scores"].append(v["scores"][0]), "parts do not fit"),
    "no cell": (lambda v: v.update(scores=[], scores_of_spans=[]), "parts do not fit"),
    "more effective images than images": (lambda v: v["scores"][0].update(effective_images=99), "parts do not fit"),
    "too many spans": (lambda v: v["scores"][0].update(spans=1 << 40), "parts do not fit"),
    "other images": (lambda v: v.update(spans_of_images=packed(bytes(24))), "cannot be unpacked"),
    "images that overflow": (lambda v: v.update(spans_of_images=packed(b"\xff" * 7 + b"\x7f" + bytes(16))), "unpacked"),
    "shares above 1": (lambda v: v.update(scores_of_spans=[packed(b"\x40" * 256)]), "cannot be unpacked"),
    "no base64": (lambda v: v.update(scores_of_spans=["!"]), "cannot be unpacked"),
    "nested too deep": (  # how deep that is hangs on Python's version
        lambda v: v.update(scores=json.loads("[" * 700 + "]" * 700)),
        r"damaged: (it is nested too deep|scores\.0 is)",
    ),
    "a bomb": (lambda v: v.update(scores_of_spans=[packed(bytes(64 << 20))]), "cannot be unpacked"),
}


@pytest.mark.parametrize("figures", [{"value": 0.99}, {"low": 0.9, "high": 1.0}, {"sd_spans": 0.1}, {"sd_images": 0.1}])
@pytest.mark.parametrize("metric", ["exact", "rouge1"])
def test_means_and_intervals_are_those_of_the_spans(
    results: list[RunResult], files: list[Path], metric: str, figures: dict[str, float]
) -> None:
    """The second file has scores of two views, of which one was changed by who computed the checksum anew."""
    value = json.loads(files[1].read_text("utf-8"))
    value["scores"][0]["metrics"][metric].update(figures)
    files[1].write_text(json.dumps(value | {"sha256": checksum(value)}), "utf-8")
    assert load_saved(files[1]).cells == results[1].cells


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_one_sentence(files: list[Path], damage: str) -> None:
    change, sentence = DAMAGES[damage]
    value, file = json.loads(files[0].read_text("utf-8")), files[0]
    change(value)
    with contextlib.suppress(ValueError, RecursionError):
        value["sha256"] = checksum(value)  # whoever edits a file can compute it anew
    file.write_text(json.dumps(value), "utf-8")
    with pytest.raises(ScoreError, match=sentence) as caught:
        load_saved(file)
    assert str(caught.value).startswith(str(file))


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.update(model="Better"),
        lambda v: v.update(name="better"),
        lambda v: v["notes"].append("All is well."),
        lambda v: v["scores"][0].update(length_ratio=1.0),
        lambda v: v["scores"][0]["groups"][0]["metrics"]["exact"].update(value=0.123),
        lambda v: v.pop("sha256"),
    ],
)
def test_an_edited_file_is_refused(files: list[Path], change: Change) -> None:
    """The interval and the name in an edited file were printed as they stood there."""
    value = json.loads(files[0].read_text("utf-8"))
    change(value)
    files[0].write_text(json.dumps(value), "utf-8")
    with pytest.raises(ScoreError, match="is damaged: it was edited, as its content has another checksum"):
        load_saved(files[0])


@pytest.mark.parametrize("text", ["", "[]", "7", "{", '{"question_id": "a"}\n{"question_id": "b"}'])
def test_other_files_are_no_scores(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(ScoreError, match=r"x\.json"):
        load_saved(file)
