"""People on a board: a file of a study, its row beside models, and files that are none."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, row
from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import quote
from vcrgen.leaderboard.disclosure import rounding_step
from vcrgen.leaderboard.export import export_tables
from vcrgen.leaderboard.new_board import describe_set
from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.store.log import read_log
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.store.sets import register_set

Write = Callable[..., Path]


@pytest.fixture
def write(board: Board, tmp_path: Path) -> Write:
    """Writes the file of a study: of three people who saw ten images of a set, with what is to be otherwise."""

    def write(set_name: str = "public", score: dict[str, Any] | None = None, **file: Any) -> Path:
        one = next(each for each in board.sets if each.name == set_name)
        made = {
            "mode": one.modes[0] if one.modes else "-",
            "view": "stacked",
            "raters": 3,
            "items": 6,
            "spans": 10,
            "exact": 0.9123,
            "low": 0.8511,
            "high": 0.9577,
            "sd": 0.0123,
        } | (score or {})
        values = {
            "schema": "vcrgen-human-baseline-1",
            "study": "0123456789abcdef",
            "data": one.data,
            "language": one.language,
            "scores": [made],
        } | file
        target = tmp_path / "people.json"
        target.write_text(json.dumps(values))
        return target

    return write


def shown(board: Board, form: str) -> str:
    return export_tables(board, form)


def pages(board: Board) -> dict[str, str]:
    with board.reading() as connection:
        views = BoardReader(board.settings, connection)
        made = Pages(views.site(live=True))
        return {
            f"{table.track.set} {table.track.mode} {table.track.view}": made.board(table) for table in views.tables()
        }


def test_people_stand_in_every_form_without_a_rank(board: Board, write: Write) -> None:
    before = {form: shown(board, form) for form in ("md", "csv", "latex", "json")}
    assert quote(board, [write()]) == 1
    after = {form: shown(board, form) for form in before}
    assert "Humans (n = 3) | 6 | 10 | 91.23 | 1.23 | 85.11" in after["md"].replace("  ", " ")
    assert "Humans (n = 3)" in after["latex"]
    (row,) = (row for row in csv.DictReader(io.StringIO(after["csv"])) if row["kind"] == "human")
    assert (row["set"], row["exact"], row["exact_low"], row["rank"]) == ("public", "0.9123", "0.8511", "")
    found = [score for table in json.loads(after["json"])["tables"] for score in table.get("humans", ())]
    assert [score["raters"] for score in found] == [3]
    page = next(page for name, page in pages(board).items() if name.startswith("public easy stacked"))
    assert "Humans (n = 3)" in page and "85.11" in page
    assert all("humans" not in table for table in json.loads(before["json"])["tables"])
    with board.reading() as connection:
        assert list(read_log(connection))[-1].what == "human baseline"


def test_a_later_file_of_a_study_takes_the_place_of_the_first(board: Board, write: Write) -> None:
    quote(board, [write()])
    quote(board, [write(score={"raters": 5})])
    quote(board, [write(study="f" * 16)])
    rows = csv.DictReader(io.StringIO(shown(board, "csv")))
    assert [row["model"] for row in rows if row["kind"] == "human"] == ["Humans (n = 5)", "Humans (n = 3)"]


def test_a_view_that_no_model_has_gets_a_table(board: Board, write: Write) -> None:
    quote(board, [write(score={"view": "tei"})])
    assert any("Humans (n = 3)" in page for name, page in pages(board).items() if name.endswith("tei"))


def test_of_a_hidden_set_only_rounded_scores_are_shown(board: Board, write: Write) -> None:
    quote(board, [write("hidden-en")])
    step = rounding_step(hidden=True, spans=10)
    (row,) = (row for row in csv.DictReader(io.StringIO(shown(board, "csv"))) if row["kind"] == "human")
    for name in ("exact", "exact_low", "exact_high"):
        assert float(row[name]) / step == pytest.approx(round(float(row[name]) / step))
    everything = [
        *pages(board).values(),
        *(shown(board, form) for form in ("md", "csv", "latex", "json")),
    ]
    for secret in ("91.23", "0.9123", "1.23", "0.0123", "85.11"):
        assert not any(secret in each for each in everything), secret


@pytest.mark.parametrize(
    ("file", "score", "message"),
    [
        ({"data": "deadbeef"}, {}, r"who saw other data \(deadbeef, en\) than the sets of this board: public"),
        ({"language": "zh"}, {}, "who saw other data"),
        ({}, {"mode": "mixed"}, "has no mixed, VI"),
        ({}, {"view": "image"}, "has no easy, "),
        ({}, {"items": 13}, "with 13 images"),
        ({}, {"exact": float("nan")}, "scores.0.exact"),
        ({}, {"exact": 0.5}, "the interval does not hold the score"),
        ({}, {"raters": 0}, "scores.0.raters"),
        ({}, {"mode": "<script>"}, "scores.0.mode"),
        ({}, {"more": 1}, "scores.0.more"),
        ({"schema": "vcrgen-people-2"}, {}, "schema"),
        ({"study": "../x"}, {}, "study"),
        ({"language": "en+"}, {}, "language"),
        ({"differences": [{"mode": "-", "of": "x", "spans": 1, "value": 2, "low": 0, "high": 1}]}, {}, "differences"),
        ({"scores": []}, {}, "scores"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    file: dict[str, Any], score: dict[str, Any], message: str, board: Board, write: Write
) -> None:
    with pytest.raises(LeaderboardError, match=message):
        quote(board, [write(score=score, **file)])
    assert "people" not in shown(board, "csv")


@pytest.mark.parametrize("text", ["", "[]", "nothing", "[" * 100_000, '{"scores": 1e999}', "\0", "9" * 5000])
def test_rubbish_is_a_sentence(text: str, board: Board, tmp_path: Path) -> None:
    (tmp_path / "people.json").write_text(text)
    with pytest.raises(LeaderboardError, match=r"people\.json"):
        quote(board, [tmp_path / "people.json"])


def test_people_stand_on_boards_of_question_sets(board: Board, write: Write, tmp_path: Path) -> None:
    with board.writing() as connection:
        register_set(
            connection, describe_set("bloom", made_set(tmp_path / "set", [row(number) for number in range(12)]))
        )
    score = {"raters": 4, "items": 3, "spans": 12}
    scores = json.loads(write("bloom", score | {"mode": "ar", "view": "image"}).read_text())["scores"]
    scores += json.loads(write("bloom", score | {"mode": "en", "view": "text-only", "exact": 0.9}).read_text())[
        "scores"
    ]
    assert quote(board, [write("bloom", scores=scores)]) == 2
    for form in ("md", "latex"):
        assert shown(board, form).count("Humans (n = 4)") == 2
    assert "Pictures | Items | RAE" in " ".join(shown(board, "md").split())
    rows = [row for row in csv.DictReader(io.StringIO(shown(board, "csv"))) if row["kind"] == "human"]
    found = [(row["set"], row["mode"], row["view"], row["rae"], row["rank"], row["exact"]) for row in rows]
    assert found == [("bloom", "en", "text-only", "0.9", "", ""), ("bloom", "ar", "image", "0.9123", "", "")]
    page = pages(board)["bloom ar image"]
    assert "Studies in which people answered questions of this set" in page and "takes pictures and raters" in page
    assert "Humans (n = 4)" in page and ">RAE</th>" in page
    for wrong in ({"mode": "zh", "view": "image"}, {"mode": "en", "view": "stacked"}, {"mode": "en", "items": 13}):
        with pytest.raises(LeaderboardError, match=r"the set 'bloom' has no .* pictures"):
            quote(board, [write("bloom", {"view": "image"} | score | wrong)])


def test_a_score_that_stands_there_twice_is_refused(board: Board, write: Write) -> None:
    values = json.loads(write().read_text())
    with pytest.raises(LeaderboardError, match="score 2: the mode and view have a score already"):
        quote(board, [write(scores=values["scores"] * 2)])
