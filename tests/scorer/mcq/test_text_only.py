"""Text-only accuracy: rules worked by hand, intervals clustered by image, a model in the text-only view."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.errors import DatasetError
from vcrgen.report.document import render
from vcrgen.scorer.mcq.text_only import RuleAccuracy, rule_accuracies, text_only_document
from vcrgen.tasks.bloom import ChoiceItem, ChoiceQuestion
from vcrgen.tasks.text_readers import CLASSIFIER, HAND_RULES, JOINT, highest

QUESTION = ChoiceQuestion("Which of the two red boats is near the bridge?", ("a red boat", "the bridge", "it", "none"))


def item(number: int, *, answer: int = 0, picture: str = "", question: ChoiceQuestion = QUESTION) -> ChoiceItem:
    return ChoiceItem(
        question_id=f"q{number}",
        path=f"{('remember', 'apply')[number % 2]}/x/leaf",
        picture=picture or f"p{number}",
        questions={"en": question},
        answer=answer,
        trap=None,
    )


def of(rows: list[RuleAccuracy], rule: str) -> RuleAccuracy:
    return next(row for row in rows if row.rule == rule)


def test_what_each_rule_takes() -> None:
    taken = {name: highest(rule(QUESTION)) for name, rule in HAND_RULES.items()}
    assert taken == {
        "longest option": {0, 1},
        "shortest option": {2},
        "most words of the question": {1},
        "most like the other options": {0},
        "least like the other options": {2, 3},
    }


def test_between_equal_options_nothing_is_drawn_by_lot() -> None:
    rows = rule_accuracies([item(number, answer=number % 4) for number in range(8)], seed=0)
    assert of(rows, "longest option").value == 0.25 and of(rows, "shortest option").value == 0.25
    assert of(rule_accuracies([item(0)], seed=0), "longest option").value == 0.5
    assert of(rows, "always A").levels == {"remember": 0.5, "apply": 0.0}


def test_items_of_one_picture_count_as_one() -> None:
    """An item that is copied onto its picture changes neither the share nor the interval."""
    once = [item(number, answer=number % 3, picture=f"p{number}") for number in range(60)]
    four_times = [item(number, answer=number % 3, picture=f"p{number}") for number in range(60) for _ in range(4)]
    a, b = rule_accuracies(once, seed=1), rule_accuracies(four_times, seed=1)
    for one, four in zip(a, b, strict=False):  # more items are enough for readers that learn
        assert (four.value, four.low, four.high) == pytest.approx((one.value, one.low, one.high))
    assert {row.items for row in b} == {240} and {row.pictures for row in b} == {60}
    assert {row.rule for row in b} - {row.rule for row in a} == {CLASSIFIER, JOINT}
    apart = [item(number, answer=number % 3) for number in range(240)]
    narrow, wide = of(rule_accuracies(apart, seed=1), "always A"), of(a, "always A")
    assert narrow.high - narrow.low < 0.6 * (wide.high - wide.low)


def test_a_rule_above_chance_is_named() -> None:
    rows = rule_accuracies([item(number, answer=2) for number in range(40)], seed=0)
    notes = text_only_document("data", rows).sections[0].notes
    assert [row.rule for row in rows if row.above] == ["always C", "shortest option", "least like the other options"]
    assert notes[1].startswith("en, shortest option: right in 100.00 % (91") and len(notes) == 3
    fair = text_only_document(
        "data", rule_accuracies([item(number, answer=number % 4) for number in range(40)], seed=0)
    )
    assert fair.sections[0].notes[0] == "No rule is right more often than chance: no interval lies above it."


def test_a_model_in_the_text_only_view_and_what_it_did_not_answer() -> None:
    outputs = {("q0", "en"): "Answer: A", ("q1", "en"): "B", ("q0", "ar"): "A"}
    rows = rule_accuracies([item(number) for number in range(4)], seed=0, models={"m": outputs})
    assert of(rows, "m, text only").value == 0.25


def test_items_in_no_language() -> None:
    with pytest.raises(DatasetError, match="No question is complete in fr"):
        rule_accuracies([item(0)], seed=0, lang="fr")


def test_every_form_has_every_row() -> None:
    rows = rule_accuracies([item(number, answer=number % 4) for number in range(8)], seed=0)
    document = text_only_document("data | x", rows)
    markdown, latex = render(document, "md"), render(document, "latex")
    assert all(row.rule in text for row in rows for text in (markdown, latex)) and "Remember" in markdown
    table = list(csv.DictReader(io.StringIO(render(document, "csv"))))
    assert [float(line["right"]) for line in table] == pytest.approx([100 * row.value for row in rows])
    values = json.loads(render(document, "json"))
    assert values["chance"] == 0.25 and [row["value"] for row in values["rows"]] == [row.value for row in rows]
    assert values["rows"][0].keys() == {
        *("lang", "rule", "items", "pictures", "value", "low", "high", "levels", "chance", "above_chance"),
    }


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from vcrgen.bloom.scenes.generator import build_scene_set
    from vcrgen.config.bloom import BloomSceneOptions

    out: Path = tmp_path_factory.mktemp("built") / "bloom"
    build_scene_set(BloomSceneOptions(items=50), out)
    return out


def test_on_the_command_line_with_a_model_that_sees_no_picture(run: Run, built: Path, serve: Any, faults: Any) -> None:
    server = serve(lambda call: faults.Answer(text="C"))
    words = ["baseline", "text-only", built, "--endpoint", server.url, "--model", "m/1", "--limit", 8]
    code, out, err = run(*words)
    assert code == 0, err
    assert "ar   m/1, text only" in out and "Text-only accuracy on" in out and len(server.calls) == 16
    assert all(len(call.body["messages"][0]["content"]) == 1 for call in server.calls)
    assert (built.parent / "bloom-m-1-text-only.jsonl").exists()
    code, again, err = run(*words)
    assert code == 0 and again == out and len(server.calls) == 16, err
    code, text, err = run("baseline", "text-only", built, "--lang", "en", "--out", "report.txt")
    assert code == 0 and "always D" in Path("report.txt").read_text("utf-8") and "Written: report.txt" in text, err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--lang", "fr"], "No question is complete in fr."),
        (["--format", "pdf"], "Unknown format 'pdf'; known: text, md, csv, latex, json, html."),
        (["--split", "dev"], "has nothing of split 'dev'; it has test."),
        (["--limit", "0"], "--limit is 1 or more, not 0."),
        (["--limit", "-3"], "--limit is 1 or more, not -3."),
        (["--model", "m"], "give --endpoint and --model (where the server is, and what it calls the model), or"),
    ],
)
def test_mistakes(run: Run, built: Path, words: list[str], message: str) -> None:
    code, out, err = run("baseline", "text-only", built, *words)
    assert code == 2 and message in err and err.count("\n") == 1, out + err


def test_the_public_part_of_a_hidden_set_has_no_keys_and_nobody_is_asked(run: Run, built: Path, serve: Any) -> None:
    words = ["--items", 23, "--private-source", "--out", "hidden", "--secret-file", "secret.key"]
    assert run("hidden", "scenes", *words)[0] == 0
    words = ["--endpoint", (server := serve()).url, "--model", "m"]
    code, _, err = run("baseline", "text-only", "hidden/public", *words)
    assert code == 2 and "hidden/public has questions without a key, as a hidden set's public part;" in err
    assert not server.calls


def test_a_dataset_that_is_no_question_set(run: Run, dataset: Path) -> None:
    code, _, err = run("baseline", "text-only", dataset)
    assert code == 2 and "is no MCQ benchmark; make one with vcrgen bloom build." in err
