"""Saved scores in the forms of others: huggingface_hub reads the one, the schema of Every Eval Ever holds the other."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from huggingface_hub import parse_eval_result_entries

from vcrgen.builder.run import build
from vcrgen.core.errors import VcrgenError
from vcrgen.scorer import load_answers, score
from vcrgen.scorer.saved import as_saved
from vcrgen.scorer.score_exports import ScoreFacts, write_every_eval_ever, write_hub_results

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "every-eval-ever-0.3.0.json").read_text("utf-8"))
FACTS = ScoreFacts(dataset="org/vcr@4f2a", url="https://board.example/sets/en", organization="Us", model="dev/model")


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scores of both modes in two views, each with some right spans."""
    folder = tmp_path_factory.mktemp("exports")
    build("samples:6", out=folder / "data")
    rows = [
        {"question_id": question.question_id, "mode": mode, "view": view, "output": " ".join(question.answers[:1])}
        for question in load_answers(folder / "data").questions
        for mode in ("easy", "hard")
        for view in ("stacked", "tei")
    ]
    (folder / "preds.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    saved = as_saved(score(folder / "preds.jsonl", data=folder / "data"), secret=False)
    (folder / "preds.scores.json").write_text(json.dumps(saved), "utf-8")
    return folder / "preds.scores.json"


def cells(scores: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(scores.read_text("utf-8"))["scores"]
    return found


def test_the_hub_reads_a_result_for_each_cell(scores: Path, tmp_path: Path) -> None:
    assert write_hub_results(scores, tmp_path / ".eval_results" / "vcrgen.yaml", FACTS) == 4
    written = yaml.safe_load((tmp_path / ".eval_results" / "vcrgen.yaml").read_text("utf-8"))
    entries = parse_eval_result_entries(written)
    assert [one.task_id for one in entries] == ["vcr_easy", "vcr_easy_tei", "vcr_hard", "vcr_hard_tei"]
    assert [one.value for one in entries] == [round(100 * c["metrics"]["exact"]["value"], 2) for c in cells(scores)]
    assert {(one.dataset_id, one.dataset_revision, one.source_url) for one in entries} == {
        ("org/vcr", "4f2a", "https://board.example/sets/en")
    }
    exact = cells(scores)[0]["metrics"]["exact"]
    assert f"95 % interval {100 * exact['low']:.2f} to {100 * exact['high']:.2f}" in (entries[0].notes or "")


def test_a_record_of_every_eval_ever_fits_its_schema(scores: Path, tmp_path: Path) -> None:
    file = write_every_eval_ever(scores, tmp_path, FACTS)
    record = json.loads(file.read_text("utf-8"))
    jsonschema.validate(record, SCHEMA)
    assert (
        file.parent == tmp_path / "data" / "vcrgen-vcr" / "dev" / "model" and record["model_info"]["id"] == "dev/model"
    )
    shown = {
        (one["evaluation_name"], one["metric_config"]["metric_id"]): one["score_details"]
        for one in record["evaluation_results"]
    }
    assert len(shown) == 8
    easy, details = cells(scores)[0]["metrics"]["jaccard"], shown["vcr_easy", "vcrgen.jaccard"]
    interval = details["uncertainty"]["confidence_interval"]
    assert (details["score"], interval["lower"], interval["upper"]) == (easy["value"], easy["low"], easy["high"])
    assert write_every_eval_ever(scores, tmp_path, FACTS) == file  # the same record under the same name
    record["evaluation_results"][0]["score_details"]["score"] = "1.7"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(record, SCHEMA)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({}, "needs --dataset ORG/NAME@REVISION"),
        ({"dataset": "vcr"}, "--dataset 'vcr' is not of the form ORG/NAME"),
        ({"dataset": "../etc/passwd"}, "is not of the form"),
        ({"dataset": "org/vcr@a b"}, "is not of the form"),
        ({"dataset": "org/vcr", "url": "javascript:alert(1)"}, "is no address"),
    ],
)
def test_what_the_hub_would_not_take_is_refused(
    scores: Path, tmp_path: Path, facts: dict[str, str], message: str
) -> None:
    with pytest.raises(VcrgenError, match=message):
        write_hub_results(scores, tmp_path / "out.yaml", ScoreFacts(**facts))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"model": "dev/model"}, "needs --organization"),
        ({"organization": "Us"}, "give its developer, too"),
        ({"organization": "Us", "model": "dev/../../x"}, "not of the form ORG/NAME"),
        ({"organization": "Us", "model": "dev/model", "relationship": "friend"}, "none of first_party"),
    ],
)
def test_what_every_eval_ever_would_not_take_is_refused(
    scores: Path, tmp_path: Path, facts: dict[str, str], message: str
) -> None:
    with pytest.raises(VcrgenError, match=message):
        write_every_eval_ever(scores, tmp_path, ScoreFacts(**facts))
    assert not list(tmp_path.iterdir())


def test_other_files_and_other_results_are_left_alone(scores: Path, tmp_path: Path) -> None:
    (tmp_path / "out.yaml").write_text("mine", "utf-8")
    with pytest.raises(VcrgenError, match="holds something else"):
        write_hub_results(scores, tmp_path / "out.yaml", FACTS)
    (tmp_path / "other.json").write_text("{}", "utf-8")
    with pytest.raises(VcrgenError, match="holds no scores"):
        write_hub_results(tmp_path / "other.json", tmp_path / "new.yaml", FACTS)
