"""The template baseline on a board: a row without a rank, and sets that are settled by pixels."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.leaderboard.test_human_baselines import pages, shown
from vcrgen.core.errors import LeaderboardError
from vcrgen.core.signature import Signature
from vcrgen.data.tasks.vcr import cover_kinds, has_white_rows
from vcrgen.leaderboard.backup import backup, restore
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import quote
from vcrgen.leaderboard.disclosure import rounding_step
from vcrgen.leaderboard.tables import PIXEL_BASELINE, SETTLED
from vcrgen.scorer.answers import load_answers

SIGNATURE = "method:template-1|lexicon:words-3#0|prior:unigram|sigma:4|font:Sans 20 px"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes outputs in the form of the baseline's, with every fourth text wrong."""

    def write(data: Path, bits: float | None = 0.25, mode: str | None = "easy") -> Path:
        lines, number = [], 0
        for question in load_answers(data).questions:
            texts = []
            for answer in question.answers:
                texts.append("wrong words" if number % 4 == 3 else answer)
                number += 1
            spans = [{"text": text, "bits": bits, "fit": 1.0, "signature": SIGNATURE} for text in texts]
            named = {"question_id": question.question_id, "model": "template-1", "output": "\n".join(texts)}
            lines.append(named | {"spans": spans, "view": "tei"} | ({"mode": mode} if mode else {}))
        file = tmp_path / "pixels.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return file

    return write


def rows_of(board: Board) -> list[dict[str, Any]]:
    return [row for row in csv.DictReader(io.StringIO(shown(board, "csv"))) if row["kind"] == "pixels"]


def tables_of(board: Board) -> dict[tuple[str, str], dict[str, Any]]:
    tables = json.loads(shown(board, "json"))["tables"]
    return {(table["track"]["set"], table["track"]["mode"]): table for table in tables}


def test_the_baseline_stands_in_every_form_without_a_rank(board: Board, public: Path, write: Write) -> None:
    assert quote(board, [write(public)]) == 1
    spans = sum(len(question.answers) for question in load_answers(public).questions)
    right = (spans - spans // 4) / spans
    (row,) = rows_of(board)
    assert (row["set"], row["mode"], row["model"], row["rank"]) == ("public", "easy", PIXEL_BASELINE, "")
    assert float(row["exact"]) == pytest.approx(right) and float(row["exact_low"]) < right < float(row["exact_high"])
    (score,) = tables_of(board)["public", "easy"]["pixels"]
    assert (score["spans"], score["bits"], score["below_one_bit"], score["unread"]) == (spans, 0.25, 1.0, 0)
    assert score["signature"] == SIGNATURE and "pixels" not in tables_of(board)["public", "hard"]
    for form in ("md", "latex"):
        assert PIXEL_BASELINE in shown(board, form)
    page = next(page for name, page in pages(board).items() if name.startswith("public easy"))
    assert PIXEL_BASELINE in page and "settled by pixels</span>" in page and SETTLED.split(":")[0] in page


def test_white_rows_are_settled_until_the_baseline_says_otherwise(board: Board, public: Path, write: Write) -> None:
    assert all(table["track"]["settled_by_pixels"] for table in tables_of(board).values())
    assert SETTLED in shown(board, "md")
    quote(board, [write(public, bits=5.0)])
    found = tables_of(board)
    assert "settled_by_pixels" not in found["public", "easy"]["track"]
    assert found["public", "hard"]["track"]["settled_by_pixels"]
    quote(board, [write(public, bits=None)])  # in place of the first
    (score,) = tables_of(board)["public", "easy"]["pixels"]
    assert score["bits"] is None and "settled_by_pixels" not in tables_of(board)["public", "easy"]["track"]


@pytest.mark.parametrize(
    ("signature", "rows"),
    [
        ("lang:en|cover:easy=10-16,hard=9-17", True),
        ("lang:zh|cover:hard=5-17", True),
        ("lang:en|cover:easy=0.46,hard=0.25", True),  # as a hidden set names them
        ("lang:en|cover:easy=stain-0.516", False),
        ("lang:en|cover:easy=bars-0.4", False),
        ("lang:en|cover:ink-0.05=5-18", False),  # of which nobody knows whether it is settled
        ("lang:hi|cover:easy=10-16", False),
        ("lang:en", False),
        ("cover:easy=10-16", False),
    ],
)
def test_what_counts_as_white_rows(signature: str, rows: bool) -> None:
    assert has_white_rows(Signature.parse(signature)) is rows


def test_signatures_name_kinds_of_covers() -> None:
    """Those of datasets, with rows or shares, and those of hidden sets."""
    kinds = {"easy": "rows", "hard": "rows", "bits-4": "bars", "ink-0.30": "stain"}
    covers = "cover:easy=10-16,hard=0.25,bits-4=bars-0.616,ink-0.30=stain-0.5"
    assert cover_kinds(Signature.parse(covers)) == kinds and cover_kinds(Signature.parse("lang:en")) == {}


def test_of_a_hidden_set_only_rounded_scores_are_shown(board: Board, hidden: Path, write: Write) -> None:
    quote(board, [write(hidden / "key", mode=None)])
    (row,) = rows_of(board)
    step = rounding_step(hidden=True, spans=sum(len(q.answers) for q in load_answers(hidden / "key").questions))
    for name in ("exact", "exact_low", "exact_high"):
        assert float(row[name]) / step == pytest.approx(round(float(row[name]) / step))
    assert row["set"] == "hidden-en"


def test_files_that_are_none(board: Board, public: Path, write: Write, tmp_path: Path) -> None:
    file = write(public)
    plain = tmp_path / "plain.jsonl"
    plain.write_text(
        "".join(
            json.dumps({"question_id": json.loads(line)["question_id"], "output": "x"}) + "\n"
            for line in file.read_text().splitlines()
        )
    )
    with pytest.raises(LeaderboardError, match=r"cannot be scored on the set 'public': .* has no bits of any span"):
        quote(board, [plain])
    plain.write_text('{"question_id": "nobody", "output": "x"}\n')
    with pytest.raises(LeaderboardError, match="none fits"):
        quote(board, [plain])
    assert rows_of(board) == []


def test_a_backup_has_it(board: Board, public: Path, hidden: Path, write: Write, tmp_path: Path) -> None:
    quote(board, [write(public)])
    backup(board, tmp_path / "board.tar.gz")
    assert rows_of(restore(tmp_path / "board.tar.gz", tmp_path / "again", database="", data=[])) == rows_of(board)
