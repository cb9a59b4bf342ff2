"""Outputs as a page shows them: outcomes, matches, choices, and the scores beside them."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, row
from vcrgen.core.errors import PredictionError, ScoreError
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.records import Outcome, Scores, SpanMatch
from vcrgen.scorer.scorer import Scorer
from vcrgen.view.query import Query
from vcrgen.view.scored import marked, scores_text
from vcrgen.view.view_data import ViewData

Run = Callable[..., tuple[int, str, str]]


def view_of(dataset: Path, outputs: list[Path], **options: Any) -> ViewData:
    data = ViewData(dataset, outputs, ScoreOptions(**{"split": "all", **options}))
    data.score()
    return data


def codes(data: ViewData) -> dict[tuple[int, str], list[str]]:
    """Of each model and mode the outcomes of the pairs in order."""
    found: dict[tuple[int, str], list[str]] = {}
    for item in data.page(Query())["items"]:
        for result in item["results"]:
            found.setdefault((result["run"], result["mode"]), []).append("".join(sorted(set(result["codes"]))))
    return found


def shown(data: ViewData) -> list[Any]:
    return [item["results"] for mode in ("easy", "hard") for item in data.page(Query(mode=mode))["items"]]


def test_every_outcome_has_its_letter(dataset: Path, outputs: list[Path]) -> None:
    data = view_of(dataset, outputs)
    assert data.facts()["runs"] == ["good", "poor"]
    assert codes(data) == {
        **{(0, mode): ["e", "e", "e", "n", "e", "e"] for mode in ("easy", "hard")},
        (1, "easy"): ["w", "r", "n", "e", "m", "m"],
        (1, "hard"): ["w", "r", "n", "e", "m", "w"],
    }
    totals = {pair: data.page(Query(right=pair[0], wrong=pair[1]))["total"] for pair in ((0, 1), (1, 0), (0, 0))}
    assert totals == {(0, 1): 5, (1, 0): 1, (0, 0): 0}
    assert [data.page(Query.parse(text))["total"] for text in ("wrong=0", "wrong=1", "right=1")] == [1, 5, 1]
    first = data.page(Query(outcome="missing", mode="easy"))["items"]
    words = [[span["outcome"] for span in result["spans"][:1]] for item in first for result in item["results"]]
    assert ["missing"] in words and ["empty"] in words


def test_scores_beside_the_outputs_are_used_where_their_signature_fits(
    dataset: Path, outputs: list[Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in outputs:
        Path(file.name).write_bytes(file.read_bytes())
    files = [Path(file.name).absolute() for file in outputs]
    assert run("score", *files, "--data", dataset, "--split", "all", "--allow-missing")[0] == 0
    expected, scored = shown(view_of(dataset, outputs)), list[str]()
    score = Scorer.__call__

    def counting(self: Scorer, answers: Any, output: str, **options: Any) -> Any:
        scored.append(output)
        return score(self, answers, output, **options)

    def outputs_scored(**options: Any) -> int:
        scored.clear()
        data = view_of(dataset, files, **options)
        count = len(scored)
        assert options or shown(data) == expected
        return count

    monkeypatch.setattr(Scorer, "__call__", counting)
    assert outputs_scored() == 0
    assert outputs_scored(protocol="paper") == 23
    os.utime(files[0], ns=(0, Path("good.scores.json").stat().st_mtime_ns + 10**9))
    assert outputs_scored() == 12


def test_items_outside_of_a_subset_are_not_shown(dataset: Path, outputs: list[Path]) -> None:
    whole, first = view_of(dataset, outputs), view_of(dataset, outputs, subset="first2")
    assert [item["id"] for item in first.page(Query())["items"]] == [
        item["id"] for item in whole.page(Query())["items"][:2]
    ]
    assert first.index.total == 2 and "subset:first2" in first.facts()["signature"]


def test_a_file_is_named_once(dataset: Path, outputs: list[Path]) -> None:
    with pytest.raises(ScoreError, match="is named twice"):
        view_of(dataset, [outputs[0], outputs[0]])


@pytest.mark.parametrize(
    ("match", "words"),
    [
        (SpanMatch("x", Outcome.EMPTY), ""),
        (SpanMatch("x", Outcome.SHORT, scores=Scores(character=0.25)), "character 25 %"),
        (
            SpanMatch("x y", Outcome.WRONG, "x z", 0, 3, 1, Scores(jaccard=0.5, character=0.75), verbatim=True),
            "Jaccard 50 %, character 75 %, distance 1, it stands in the output as text, not as tokens",
        ),
    ],
)
def test_how_near_an_output_is_in_words(match: SpanMatch, words: str) -> None:
    assert scores_text(match) == words


@pytest.mark.parametrize(
    ("stretches", "pieces"),
    [
        ([], [("one two three", "")]),
        ([(4, 7, 1.0)], [("one ", ""), ("two", "exact"), (" three", "")]),
        ([(0, 7, 0.0), (4, 7, 1.0)], [("one ", "near"), ("two", "exact"), (" three", "")]),
        ([(4, 99, 0.0)], [("one ", ""), ("two three", "near")]),
        ([(-1, -1, 0.0)], [("one two three", "")]),
    ],
)
def test_marks_of_an_output(stretches: list[tuple[int, int, float]], pieces: list[tuple[str, str]]) -> None:
    matches = [
        SpanMatch("x", Outcome.WRONG, "x", start, end, 0, Scores(exact=exact)) for start, end, exact in stretches
    ]
    assert marked("one two three", matches) == pieces


def test_a_page_shows_what_is_scored_and_filters_wait(dataset: Path, outputs: list[Path]) -> None:
    whole = view_of(dataset, outputs)
    data = ViewData(dataset, outputs, ScoreOptions(split="all"))
    first = data.page(Query())
    for name in ("id", "card", "bits"):
        assert [item[name] for item in first["items"]] == [item[name] for item in whole.page(Query())["items"]]
    assert first["isRead"] is data.facts()["isRead"] is False and data.page(Query.parse("sort=length"))["waits"]
    data.read()
    first = data.page(Query())
    assert not any(item["results"] for item in first["items"]) and first["progress"]["expected"] == 12
    stops = iter((False, True))
    data.score(lambda: next(stops))  # before the second model
    part = data.page(Query())
    assert part["progress"]["scored"] == 12 and part["progress"]["expected"] == 18  # it has both modes
    assert {result["run"] for item in part["items"] for result in item["results"]} == {0}
    for text in ("outcome=wrong", "right=0&wrong=1", "wrong=0", "sort=score-1", "search=red"):
        answer = data.page(Query.parse(text))
        assert answer["waits"] and not answer["items"], text
    assert not data.page(Query.parse("mode=easy&sort=length"))["waits"]
    assert data.complete(Query(view="tei")).view == "tei"  # outputs of it may come
    data.score()
    assert data.page(Query())["progress"] is None
    for text in ("", "mode=easy", "outcome=wrong", "sort=score"):
        assert data.page(Query.parse(text)) == whole.page(Query.parse(text)), text


def test_an_output_that_does_not_fit_ends_the_scoring(dataset: Path, outputs: list[Path], tmp_path: Path) -> None:
    lines = outputs[0].read_text("utf-8").splitlines()
    (tmp_path / "mixed.jsonl").write_text("\n".join([*lines[:-1], lines[-1].replace("good", "other")]), "utf-8")
    data = ViewData(dataset, [tmp_path / "mixed.jsonl"], ScoreOptions(split="all"))
    with pytest.raises(PredictionError, match="holds outputs of 'good' and 'other'"):
        data.score()
    assert data.page(Query())["progress"]["problem"] == data.problem != ""
    assert data.page(Query(outcome="wrong"))["waits"]
    (tmp_path / "alien.jsonl").write_text('{"question_id": "nobody", "output": "x"}', "utf-8")
    with pytest.raises(PredictionError, match="none fits"):
        ViewData(dataset, [tmp_path / "alien.jsonl"], ScoreOptions(split="all")).read()
    with pytest.raises(ScoreError, match="nope"):
        ViewData(dataset, outputs, ScoreOptions(split="all", protocol="nope")).read()


@pytest.fixture
def benchmark(tmp_path: Path) -> tuple[Path, Path]:
    """Four items with key A, and outputs in two rotations; the last item has none."""
    data = made_set(tmp_path / "set", [row(number, answer="A", trap="B") for number in range(4)])
    said = {0: ("A", "D"), 1: ("B", "B"), 2: ("A or B", "no idea, sorry")}
    lines = [
        {"question_id": row(number)["question_id"], "lang": "en", "view": "image", "rotation": rotation, "output": text}
        for number, texts in said.items()
        for rotation, text in enumerate(texts)
    ]
    file = tmp_path / "model.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return data, file


def test_choices_of_a_benchmark_in_every_rotation(benchmark: tuple[Path, Path]) -> None:
    data = view_of(benchmark[0], [benchmark[1]])
    items = data.page(Query())["items"]
    assert [item["card"]["key"] for item in items] == [0] * 4
    results = [item["results"] for item in items]
    assert [[result["codes"] for result in of_item] for of_item in results] == [["e"], ["w"], ["u"], ["m"]]
    choices = [[response["choice"] for response in of_item[0]["responses"]] for of_item in results]
    assert choices == [[0, 0], [1, 2], [None, None], []]  # of rotation 1, label D is option A
    assert results[0][0]["choice"] == 0 and "RAE 100" in results[0][0]["spans"][0]["scores"]
    pieces = [[response["pieces"] for response in of_item[0]["responses"]] for of_item in results]
    assert pieces[0] == [[["A", "exact"]], [["D", "exact"]]] and pieces[1] == [[["B", "near"]], [["B", "near"]]]
    assert pieces[2] == [[["A or B", ""]], [["no idea, sorry", ""]]]
    assert data.page(Query(outcome="exact"))["total"] == 1
    assert data.page(Query(search="sorry"))["total"] == 1


def test_a_key_without_pictures(tmp_path: Path) -> None:
    (tmp_path / "key.jsonl").write_text(
        '{"question_id": "a", "crossed_text": ["one two"], "language": "en"}\n', "utf-8"
    )
    (tmp_path / "out.jsonl").write_text('{"question_id": "a", "view": "tei", "output": "one two"}\n', "utf-8")
    data = ViewData(tmp_path / "key.jsonl", [tmp_path / "out.jsonl"], ScoreOptions())
    data.score()
    (item,) = data.page(Query())["items"]
    assert item["results"][0]["codes"] == "e" and not data.facts()["pictures"]
