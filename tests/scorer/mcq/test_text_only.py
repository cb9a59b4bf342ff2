"""Text-only accuracy: of the reader of texts, intervals clustered by image, a model in the text-only view."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.errors import DatasetError
from vcrgen.data.tasks.bloom import ChoiceItem, ChoiceQuestion
from vcrgen.data.tasks.text_reader import READER
from vcrgen.report.document import render
from vcrgen.scorer.mcq.text_only import Outputs, TextOnlyAccuracy, text_only_accuracies, text_only_document

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


def of(rows: list[TextOnlyAccuracy], reader: str) -> TextOnlyAccuracy:
    return next(row for row in rows if row.reader == reader)


def always(letter: str, items: Sequence[ChoiceItem]) -> dict[str, Outputs]:
    """A model that always says one letter."""
    return {"m": {(item.question_id, "en"): letter for item in items}}


def test_shares_by_level_and_items_of_one_picture_that_count_as_one() -> None:
    """An item that is copied onto its picture changes neither the share nor the interval."""
    once = [item(number, answer=number % 3, picture=f"p{number}") for number in range(60)]
    four_times = [
        replace(each, question_id=f"{each.question_id}-{copy}", picture=each.picture)
        for each in once
        for copy in range(4)
    ]
    apart = [item(number, answer=number % 3) for number in range(240)]
    a, b, c = (
        of(text_only_accuracies(items, seed=1, models=always("A", items)), "m, text only")
        for items in (once, four_times, apart)
    )
    assert (b.value, b.low, b.high) == pytest.approx((a.value, a.low, a.high)) and (b.items, b.pictures) == (240, 60)
    assert c.high - c.low < 0.6 * (a.high - a.low)
    few = [item(number, answer=number % 4) for number in range(8)]
    (row,) = text_only_accuracies(few, seed=0, models=always("A", few))
    assert row.value == 0.25 and row.levels == {"remember": 0.5, "apply": 0.0}


def test_the_reader_needs_a_hundred_items() -> None:
    """It learns that the key is the option of two words."""
    items = [item(number, answer=1) for number in range(100)]
    (row,) = text_only_accuracies(items, seed=0)
    assert (row.reader, row.value) == (READER, 1.0)
    assert text_only_document("data", [row]).sections[0].notes[0].startswith(f"en, {READER}: right in 100.00 % (9")
    few = text_only_accuracies(items[:99], seed=0)
    assert not few
    document = text_only_document("data", few)
    assert document.sections[0].notes == ["Not tested: no language has 100 items, and no model was asked."]
    assert "tabular" not in render(document, "latex")


def test_who_is_above_chance_is_named() -> None:
    right = [item(number, answer=2) for number in range(40)]
    rows = text_only_accuracies(right, seed=0, models=always("C", right))
    notes = text_only_document("data", rows).sections[0].notes
    assert [note[:36] for note in notes] == ["en, m, text only: right in 100.00 % "] and rows[0].above
    fair = [item(number, answer=number % 4) for number in range(40)]
    found = text_only_document("data", text_only_accuracies(fair, seed=0, models=always("C", fair)))
    assert found.sections[0].notes == ["No reader is right more often than chance: no interval lies above it."]


def test_what_a_model_did_not_answer_is_wrong() -> None:
    outputs = {("q0", "en"): "Answer: A", ("q1", "en"): "B", ("q0", "ar"): "A"}
    rows = text_only_accuracies([item(number) for number in range(4)], seed=0, models={"m": outputs})
    assert of(rows, "m, text only").value == 0.25


def test_items_in_no_language() -> None:
    with pytest.raises(DatasetError, match="No question is complete in fr"):
        text_only_accuracies([item(0)], seed=0, lang="fr")


def test_every_form_has_every_row() -> None:
    items = [item(number, answer=number % 4) for number in range(120)]
    rows = text_only_accuracies(items, seed=0, models=always("A", items))
    document = text_only_document("data | x", rows)
    markdown, latex = render(document, "md"), render(document, "latex")
    assert (
        len(rows) == 2
        and all(row.reader in text for row in rows for text in (markdown, latex))
        and "Remember" in markdown
    )
    table = list(csv.DictReader(io.StringIO(render(document, "csv"))))
    assert [float(line["right"]) for line in table] == pytest.approx([100 * row.value for row in rows])
    values = json.loads(render(document, "json"))
    assert values["chance"] == 0.25 and [row["value"] for row in values["rows"]] == [row.value for row in rows]
    assert values["rows"][0].keys() == {
        *("lang", "reader", "items", "pictures", "value", "low", "high", "levels", "chance", "above_chance"),
    }


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from vcrgen.bloom.options import BloomSceneOptions
    from vcrgen.bloom.scenes.generator import build_scene_set

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
    assert code == 0 and "Not tested: no language" in Path("report.txt").read_text("utf-8") and "Written: " in text, err


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
