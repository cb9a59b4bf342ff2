"""MCQ benchmarks through the scorer: join, tally by item, intervals by picture, contrasts, saved scores, reports."""

import csv
import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.bloom.conftest import made_set, png, row
from vcrgen.cli import app
from vcrgen.core.errors import PredictionError, ScoreError, VcrgenError
from vcrgen.data.tasks.task import MCQ_TASK, TASKS
from vcrgen.scorer import compare, render, score
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.results import CellResult, RunResult
from vcrgen.scorer.run import open_session
from vcrgen.scorer.saved import as_saved, load_saved
from vcrgen.scorer.score_report import score_page

ITEMS, PICTURES = 48, 12
COLOURS = [f"#{number:02x}4080" for number in range(0, 240, 20)]
Write = Callable[[Iterable[dict[str, Any]]], Path]


def items(copies: int = 1) -> list[dict[str, Any]]:
    """Four items to a picture, each ``copies`` times; item 5 has no Arabic."""
    rows = []
    for copy in range(copies):
        for number in range(ITEMS):
            picture = {"bytes": png(COLOURS[number // 4]), "path": None}
            rows.append(row(number, image=picture, question_id=f"item-{number:03d}-{copy}"))
            if number == 5:
                rows[-1] |= {"question_ar": "", "options_ar": None}
    return rows


def lines(rows: Iterable[dict[str, Any]], answers: Callable[[int], str], **fields: Any) -> list[dict[str, Any]]:
    """A line of outputs for each item and language; ``answers`` gives the output of a number."""
    return [
        {"question_id": item["question_id"], "lang": lang, "output": answers(int(item["question_id"][5:8])), **fields}
        for item in rows
        for lang in ("en", "ar")
        if item[f"question_{lang}"]
    ]


def key_of(number: int) -> str:
    return "ABCD"[number % 4]


def some_right(number: int) -> str:
    return "ABCD"[(number + (number * 7 % 11 > 6)) % 4]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_set(tmp_path_factory.mktemp("choices") / "set", items())


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to(rows: Iterable[dict[str, Any]], name: str = "preds") -> Path:
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(json.dumps(each) + "\n" for each in rows), "utf-8")
        return file

    return to


def values(cell: CellResult) -> dict[str, float]:
    return {name: estimate.value for name, estimate in cell.metrics.items()}


def cell_of(result: RunResult, lang: str, view: str = "image") -> CellResult:
    return result.cell(view, lang)


def test_who_knows_the_key_has_all_and_always_a_a_quarter(data: Path, write: Write) -> None:
    knows = score(write(lines(items(), key_of)), data=data)
    assert [(cell.variant, cell.view.value, cell.units, cell.clusters) for cell in knows.cells] == [
        ("en", "image", 48, 12),
        ("ar", "image", 47, 12),
    ]
    for cell in knows.cells:
        assert values(cell) == {"rae": 1.0} and cell.outcomes["right"] == cell.units
        assert {group.metrics["rae"].value for group in cell.groups} == {1.0}
    always = score(write(lines(items(), lambda _: "A")), data=data)
    assert cell_of(always, "en").metrics["rae"].value == 0.25
    assert cell_of(always, "en").metrics["trap"].value == 12 / 36, "the trap is A where the key is D"


def test_means_macros_and_groups_are_those_of_the_items(data: Path, write: Write) -> None:
    result = score(write(lines(items(), some_right)), data=data)
    right = {number: float(some_right(number) == key_of(number)) for number in range(ITEMS)}
    paths = {number: items()[number]["path"] for number in range(ITEMS)}
    cell = cell_of(result, "en")
    assert cell.metrics["rae"].value == pytest.approx(np.mean(list(right.values())), abs=1e-12)
    for by, depth in (("level", 1), ("subcategory", 2), ("category", 3)):
        groups = {group.label: group for group in cell.groups if group.by == by}
        labels = {number: "/".join(path.split("/")[:depth]) for number, path in paths.items()}
        assert set(groups) == set(labels.values())
        means = {}
        for label, group in groups.items():
            mine = [right[number] for number in range(ITEMS) if labels[number] == label]
            means[label] = np.mean(mine)
            assert (group.units, group.metrics["rae"].value) == (len(mine), pytest.approx(means[label], abs=1e-12))
        macro = [group for group in cell.groups if (group.by, group.label) == ("macro", by)]
        assert len(macro) == (by != "subcategory")
        for group in macro:
            of = group.metrics["rae"]
            assert (group.units, of.value) == (len(groups), pytest.approx(np.mean(list(means.values())), abs=1e-12))
            assert of.low < of.value < of.high
    # Levels stand in the order of the taxonomy, not of the alphabet.
    assert [group.label for group in cell.groups if group.by == "level"] == ["remember", "understand"]


def test_copies_of_every_item_leave_the_intervals_as_they_were(data: Path, write: Write, tmp_path: Path) -> None:
    """Four answers about one picture are no four independent answers."""
    copied = made_set(tmp_path / "copied", items(copies=4))
    once = score(write(lines(items(), some_right)), data=data)
    four = score(write(lines(items(copies=4), some_right)), data=copied)
    for a, b in zip(once.cells, four.cells, strict=True):
        assert (b.units, b.clusters) == (4 * a.units, a.clusters)
        pairs = [(a.metrics["rae"], b.metrics["rae"])]
        pairs += [(x.metrics["rae"], y.metrics["rae"]) for x, y in zip(a.groups, b.groups, strict=True)]
        for x, y in pairs:
            assert (x.value, x.low, x.high) == pytest.approx((y.value, y.low, y.high), abs=1e-12)
        assert a.metrics["rae"].sd_units and b.metrics["rae"].sd_units
        assert b.metrics["rae"].sd_units < 0.6 * a.metrics["rae"].sd_units, "as if items were independent"


def test_contrasts_are_paired_and_of_the_items_that_both_sides_have(data: Path, write: Write) -> None:
    logprobs = [[-1.0], [-2.0], [-3.0], [-4.0]]
    rows = lines(items(), key_of, logprobs=logprobs) + lines(items(), lambda _: "A", view="text-only")
    result = score(write(rows), data=data)
    found = {(each.of, each.variant, each.view and each.view.value): each.metrics for each in result.differences}
    assert list(found) == [
        ("image - text-only", "en", None),
        ("image - text-only", "ar", None),
        ("en - ar", "", "image"),
        ("rae - lbs", "en", "image"),
        ("rae - lbs", "ar", "image"),
    ]
    assert found["image - text-only", "en", None]["rae"].value == 0.75
    # Item 5, which Arabic lacks, is out of both: nothing is left to differ.
    assert found["en - ar", "", "image"]["rae"].value == 0 == found["en - ar", "", "image"]["lbs"].value
    assert found["rae - lbs", "en", "image"]["rae"].value == 0.75
    assert "lbs" not in cell_of(result, "en", "text-only").metrics


def test_missing_null_failed_and_empty_are_four_things(data: Path, write: Write) -> None:
    rows = lines(items(), key_of)
    rows[0]["output"], rows[1]["output"], rows[2]["output"] = None, "", "Answer"
    result = score(write(rows[:-2]), data=data)
    en, ar = cell_of(result, "en"), cell_of(result, "ar")
    assert {name: en.outcomes[name] for name in ("null", "missing", "invalid", "right")} == {
        "null": 1,
        "missing": 1,
        "invalid": 1,
        "right": 45,
    }
    assert (ar.outcomes["empty"], ar.outcomes["missing"]) == (1, 1)
    assert en.metrics["rae"].value == 45 / 48
    assert result.problems["missing"][0] == 2 and result.problems["null"][0] == 1
    with pytest.raises(PredictionError, match="not complete"):
        score(write(rows[:-2]), data=data, strict=True)


def test_outputs_that_were_cut_are_counted(data: Path, write: Write) -> None:
    """As `vcrgen predict` marks them: a short limit on a model that thinks explains a low score."""
    rows = lines(items(), key_of)
    for cut in rows[:6]:
        cut["outcome"] = "truncated"
    rows[0]["output"] = "Let me look at"
    result = score(write(rows), data=data)
    assert result.problems["truncated"] == (6, ("line 1", "line 2", "line 3", "line 4", "line 5"))
    assert cell_of(result, "en").outcomes["invalid"] == 1 and cell_of(result, "en").outcomes["right"] == 47


def test_likelihoods_alone_are_enough_and_who_lacks_them_is_wrong(data: Path, write: Write) -> None:
    rows = lines(items(), key_of)
    for each in rows:
        number = int(each["question_id"][5:8])
        del each["output"]
        each["logprobs"] = [[-0.5 if place == number % 4 else -2.0] * 2 for place in range(4)]
    del rows[0]["logprobs"]
    rows[0]["label_logprobs"] = [-0.1, -3, -3, -3]
    cell = cell_of(score(write(rows), data=data), "en")
    assert cell.metrics["lbs"].value == 47 / 48 and "rae" not in cell.metrics and "lbs_pmi" not in cell.metrics
    assert cell.metrics["letter"].value == 1 / 48, "labels were asked for, and only one item has them"
    assert cell.metrics["brier"].high <= 2


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"logprobs": [[-1.0]] * 3}, "not_four"),
        ({"logprobs": [[-1.0]] * 5}, "not_four"),
        ({"logprobs": [[-1.0], [float("nan")], [-1.0], [-2.0]]}, "not_logarithms"),
        ({"logprobs": [[-1.0], [2.0], [-1.0], [-2.0]]}, "not_logarithms"),
        ({"logprobs": [[-1.0], [], [-1.0], [-2.0]]}, "no_tokens"),
        ({"logprobs": "[]"}, "not_four"),
        ({"logprobs": [[-1.0], [True], ["x"], [-2.0]]}, "not_logarithms"),
        ({"label_logprobs": [0.5, 1, 2]}, "not_four"),
        ({"lang": "fr"}, None),
        ({"rotation": 4}, None),
        ({"rotation": "1"}, None),
        ({"view": "stacked"}, None),
        ({"view": "sideways"}, None),
        ({"model": ["a"]}, None),
        ({"lang": None}, None),
        ({"question_id": "nobody"}, "unknown"),
    ],
)
def test_rubbish_is_counted_or_one_sentence(
    data: Path, write: Write, changes: dict[str, Any], kind: str | None
) -> None:
    rows = lines(items(), key_of, logprobs=[[-1.0], [-2.0], [-3.0], [-4.0]])
    rows[0] |= changes
    if kind is None:
        with pytest.raises(PredictionError, match=r"preds\.jsonl, line 1: .+\.$"):
            score(write(rows), data=data)
        return
    result = score(write(rows), data=data)
    assert result.problems[kind][0] == 1
    assert cell_of(result, "en").metrics["lbs"].value <= 0.25


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"logprobs": [[2.0]] * 4}, ", 1 list of likelihoods that are no logarithms of probabilities (not used)"),
        ({"label_logprobs": [None] * 4}, ", 1 list of likelihoods that are no logarithms of probabilities (not used)"),
        ({"output": None, "rotation": 1}, ""),
    ],
)
def test_a_view_of_which_nothing_can_be_used_is_refused(
    data: Path, write: Write, fields: dict[str, Any], what: str
) -> None:
    row = {"question_id": items()[0]["question_id"], "lang": "en", "view": "text-only", **fields}
    for rows in ([row], [*lines(items(), key_of), row]):
        with pytest.raises(PredictionError) as caught:
            score(write(rows), data=data)
        assert str(caught.value) == f"preds: nothing of en, text-only can be scored: no output{what}."


def test_two_models_and_twice_the_same_item(data: Path, write: Write) -> None:
    rows = lines(items(), key_of, model="a")
    result = score(write([*rows, rows[0]]), data=data)
    assert result.problems["duplicate"][0] == 1
    with pytest.raises(PredictionError, match="holds outputs of 'a' and 'b'"):
        score(write([*rows[:-1], {**rows[-1], "model": "b"}]), data=data)


def test_circular_takes_all_four_orders(data: Path, write: Write) -> None:
    def shown(number: int, rotation: int) -> str:
        return "ABCD"[(number % 4 - rotation) % 4]  # option i stands beside label i - rotation

    rows = [
        {**line, "output": shown(int(line["question_id"][5:8]), rotation), "rotation": rotation}
        for rotation in range(4)
        for line in lines(items(), key_of)
    ]
    rows[-1]["output"] = "Z"
    result = score(write(rows), data=data)
    assert values(cell_of(result, "en"))["circular"] == 1.0 == values(cell_of(result, "ar"))["rae"]
    assert values(cell_of(result, "ar"))["circular"] == pytest.approx(46 / 47)


def test_the_published_reading_is_another_protocol(data: Path, write: Write) -> None:
    rows = lines(items(), lambda number: f"{number % 4 + 1}")
    ours, theirs = (score(write(rows), data=data, protocol=name) for name in ("bloom-v5", "bloom-code"))
    assert values(ours.cells[0]) == values(theirs.cells[0]) == {"rae": 1.0}
    letters = score(write(lines(items(), key_of)), data=data, protocol="bloom-code")
    assert letters.cells[0].outcomes["invalid"] == 48
    with pytest.raises(ScoreError, match="cannot stand in one table: protocol is"):
        compare([ours, theirs])
    with pytest.raises(ScoreError, match="known: bloom-v5, bloom-code"):
        score(write(rows), data=data, protocol="paper")


def test_a_language_and_a_subset_are_scores_of_their_own(data: Path, write: Write, tmp_path: Path) -> None:
    file = write(lines(items(), key_of))
    arabic = score(file, data=data, lang="ar")
    assert [cell.variant for cell in arabic.cells] == ["ar"] and arabic.problems["other_lang"][0] == 48
    first = score(file, data=data, subset="first10")
    assert first.cells[0].units == 10 and first.problems["outside"][0] == 95 - 19
    ids = tmp_path / "ids.txt"
    ids.write_text("item-003-0\nitem-004-0\n")
    assert score(file, data=data, subset=str(ids)).cells[0].units == 2
    for options in (
        {"lang": "de"},
        {"mode": "easy"},
        {"view": "tei"},
        {"subset": "feedback"},
        {"split": "train"},
        {"refusals": "no"},
    ):
        with pytest.raises(VcrgenError):
            score(file, data=data, **options)


def test_saved_scores_are_compared_as_the_runs_are(data: Path, write: Write, tmp_path: Path) -> None:
    logprobs = [[-1.0], [-2.0], [-3.0], [-4.0]]
    rows = [lines(items(), key_of, logprobs=logprobs, model="good"), lines(items(), some_right, logprobs=logprobs)]
    results = [score(write(each, f"run{number}"), data=data) for number, each in enumerate(rows)]
    loaded = []
    for number, result in enumerate(results):
        file = tmp_path / f"{number}.scores.json"
        file.write_text(json.dumps(as_saved(result, secret=False), sort_keys=True), "utf-8")
        loaded.append(load_saved(file))
        assert json.loads(file.read_text())["task"] == "bloom"
    assert compare(loaded) == compare(results) and loaded == results
    assert [item.only_b for item in compare(results)] == [0, 0]
    assert "gets more items right than" in compare(results)[0].conclusion
    assert "scores_of_items" not in as_saved(results[0], secret=True)
    saved = as_saved(results[0], secret=False)
    for damage in ({"task": "none"}, {"scores_of_items": ["x", "x"]}, {"items_of_pictures": "x"}, {"scores": []}):
        (tmp_path / "bad.json").write_text(json.dumps(saved | damage), "utf-8")
        with pytest.raises(ScoreError, match="damaged"):
            load_saved(tmp_path / "bad.json")


def test_runs_that_were_asked_for_other_things_cannot_be_compared(data: Path, write: Write) -> None:
    outputs = score(write(lines(items(), key_of), "outputs"), data=data)
    likely = [{name: line[name] for name in ("question_id", "lang")} for line in lines(items(), key_of)]
    likelihoods = score(write([line | {"logprobs": [[-1.0]] * 4} for line in likely], "likelihoods"), data=data)
    with pytest.raises(ScoreError, match="have no lang and view in which both have RAE or LBS"):
        compare([outputs, likelihoods])


@pytest.mark.parametrize("form", ["md", "csv", "latex", "json"])
def test_reports_have_the_words_of_the_task(data: Path, write: Write, form: str) -> None:
    results = [
        score(write(lines(items(), which), name), data=data) for which, name in ((key_of, "a"), (some_right, "b"))
    ]
    text = render(results, form, compare(results))
    assert "span" not in text.lower() and "image" not in text.replace("Image", "").replace("image,", "").replace(
        '"image"', ""
    )
    assert "25" in text and "picture" in text
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert {each["lang"] for each in rows} == {"en", "ar", "en - ar"}
        assert {"items", "pictures", "sd_items", "p_pictures"} <= set(rows[0])


def test_the_page_of_a_question_set(data: Path, write: Write) -> None:
    session = open_session(data, ScoreOptions())
    file = write(lines(items(), some_right))
    page = score_page([session.score(file)], [], data="data", view="")
    assert (
        "12 pictures (11.9 to 12.0 effective), 48 items, language en+ar, protocol bloom-v5" in page
        and "By category" in page
    )
    assert "span" not in page.split("<body")[1].replace("<span", "").replace("</span", "").replace(
        "rowspan", ""
    ).replace("colspan", "")


def test_evidence_has_every_item(data: Path, write: Write, tmp_path: Path) -> None:
    target = tmp_path / "items.parquet"
    score(write(lines(items(), some_right)), data=data, spans=target)
    table = pq.read_table(target).to_pylist()
    assert len(table) == 48 + 47 and list(table[0])[:9] == [
        "run",
        "model",
        "question_id",
        "lang",
        "view",
        "path",
        "answer",
        "outcome",
        "choice",
    ]
    for each in table:
        number = int(each["question_id"][5:8])
        assert (each["answer"], each["choice"]) == (key_of(number), some_right(number))
        assert each["rae"] == (each["answer"] == each["choice"]) == (each["outcome"] == "right")


def test_the_command_line(data: Path, write: Write, tmp_path: Path) -> None:
    file, runner = write(lines(items(), some_right)), CliRunner()
    shown = runner.invoke(app, ["score", str(file), "--data", str(data), "--details"])
    assert shown.exit_code == 0 and "chance 25.00" in " ".join(shown.output.split()), shown.output
    assert (tmp_path / "preds.scores.json").is_file()
    checked = runner.invoke(app, ["validate", str(file), "--data", str(data)])
    assert checked.exit_code == 0 and "Image, ar: outputs for 47 of 47 questions" in checked.output


def test_metrics_of_the_record_are_those_of_an_item() -> None:
    from vcrgen.scorer.mcq.item import ItemScores
    from vcrgen.scorer.records import Outcome, Scores

    assert tuple(MCQ_TASK.metrics) == ItemScores._fields
    assert tuple(TASKS["vcr"].metrics) == Scores._fields and tuple(TASKS["vcr"].outcomes) == tuple(Outcome)
