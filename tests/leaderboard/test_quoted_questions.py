"""Reported results of multiple-choice benchmarks stand on a board by language, beside its own rows."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.bloom.conftest import made_set, row
from tests.leaderboard.common import Run
from vcrgen.leaderboard.board import open_board
from vcrgen.leaderboard.new_board import init_board
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import results


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A small multiple-choice benchmark in English and Arabic."""
    return made_set(tmp_path / "set", [row(number) for number in range(8)])


def test_a_board_of_a_question_set_quotes_table_1(run: Run, questions: Path) -> None:
    assert run("leaderboard", "init", "board", "--data", f"q:{questions}")[0] == 0
    text = run("leaderboard", "export", "board", "--to", "md")[1]
    english, arabic = text.split("## ")[1:3]
    assert "| GPT-4o mini | closed | – | BloomBench | – | 82.40 | – | – | – |" in english
    assert "| Gemma3-27B | open | 27B | BloomBench | – | 85.90 | – | 44.00 | – |" in arabic
    assert "RAE" in english and "Exact match" not in english and "arXiv 2606.05531, Table 1" in english
    code, _, errors = run("leaderboard", "export", "board", "--to", "site", "--out", "pages")
    assert code == 0, errors
    page = Path("pages/reported.html").read_text("utf-8")
    assert "<b>85.40</b>" in page and ">LBS</th>" in page and "Jaccard" not in page and "English, Image" in page


def test_figures_of_question_sets_have_columns_of_their_own(run: Run, questions: Path) -> None:
    lines = [
        {"question_id": f"item-{n:03d}", "lang": lang, "output": f"Answer: {'ABCD'[n % 4] if n < 6 else 'none'}"}
        for n in range(8)
        for lang in ("en", "ar")
    ]
    Path("preds.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    assert run("leaderboard", "init", "board", "--data", f"q:{questions}")[0] == 0
    code, text, errors = run("leaderboard", "add", "board", "preds.jsonl", "--model", "M", "--team", "T")
    assert code == 0, text + errors
    rows = list(csv.DictReader(io.StringIO(run("leaderboard", "export", "board", "--to", "csv")[1])))
    (ranked,) = [row for row in rows if row["kind"] == "ranked" and row["mode"] == "en"]
    assert (ranked["mode"], ranked["rae"], ranked["lbs"], "exact" in ranked) == ("en", "0.75", "", False)
    assert float(ranked["rae_low"]) < 0.75 < float(ranked["rae_high"])
    gemma = next(row for row in rows if row["model"] == "Gemma3-27B" and row["mode"] == "ar")
    assert (gemma["kind"], gemma["rae"], gemma["lbs"], gemma["source"]) == (
        "reported",
        "0.859",
        "0.44",
        "arXiv 2606.05531, Table 1",
    )


def test_each_board_quotes_what_its_sets_ask(run: Run, questions: Path, dataset: Path) -> None:
    for name, data, tasks in (
        ("one", [f"q:{questions}"], {"bloom"}),
        ("two", [f"v:{dataset}"], {"vcr"}),
        ("both", [f"q:{questions}", f"v:{dataset}"], {"bloom", "vcr"}),
    ):
        init_board(Path(name), data, Settings(), with_reported=True)
        with open_board(Path(name)).reading() as connection:
            assert {row.task.name for row in results.all_reported(connection)} == tasks, name
