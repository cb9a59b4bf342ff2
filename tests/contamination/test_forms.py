"""The report in every form, and in a browser; the names of files and models are texts and nothing else."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browsing import shown_at
from vcrgen.contamination.page import as_html
from vcrgen.contamination.records import ContaminationReport
from vcrgen.contamination.run import examine
from vcrgen.contamination.tables import CSV_COLUMNS, parts, render, summary
from vcrgen.dataset.canary import LINE

Run = Callable[..., tuple[int, str, str]]
DIGITS = "00112233445566778899aabbccddeeff"
HOSTILE = "=1+1<script>alert(1)</script>|*_\\textbf{%"


@pytest.fixture
def whole(study: Any, hidden: Any) -> ContaminationReport:
    """A report with every part, of a model with a hostile name."""
    ours, fresh = study.key("set.jsonl", 20), study.key("fresh.jsonl", 20, first=50)
    again = study.key("again.jsonl", 20, drawing=1)
    public = hidden()
    (public / "manifest.json").write_text(json.dumps({"canary": LINE + DIGITS}), "utf-8")

    def outputs(key: Path, chance: float) -> Path:
        chances = {view: lambda *_: chance for view in ("text", "stacked", "tei")}
        file: Path = study.outputs(f"{key.stem}-p.jsonl", key, chances, model=HOSTILE)
        return file

    canary = study.lines("c.jsonl", [{"question_id": "line", "output": DIGITS, "model": HOSTILE}])
    return examine(
        [outputs(ours, 0.9)], ours, against=[(outputs(fresh, 0.3), fresh)], redraw=[(outputs(again, 0.85), again)],
        canary=[(canary, public)],
    )  # fmt: skip


@pytest.fixture
def bare(study: Any) -> ContaminationReport:
    """A report in which nothing was tested."""
    ours = study.key("set.jsonl", 5)
    return examine([study.outputs("p.jsonl", ours, {"tei": lambda *_: 1.0})], ours)


def test_a_summary_says_what_was_found(whole: ContaminationReport) -> None:
    text = summary(whole)
    assert (
        text.startswith(f"{HOSTILE} shows signs of having seen ") and "of fresh pairs (Text only; TEI, -)" not in text
    )
    assert "it restores more than of fresh pairs (Text only; VI+TEI; TEI), and the canary of " in text
    assert "other spans" not in text


def test_a_summary_of_nothing(bare: ContaminationReport) -> None:
    assert "was not tested: give --against, --redraw or --canary." in summary(bare)
    assert [part.says[0].startswith("Not asked: ") for part in parts(bare)] == [True] * 5
    assert all(part.limit for part in parts(bare)) and not any(part.table.rows for part in parts(bare))


def test_markdown_and_latex(whole: ContaminationReport, bare: ContaminationReport) -> None:
    text = render(whole, "md")
    assert "<script>" not in text and "| Against | Mode | View | Set | Other | Difference | 95 % interval |" in text
    assert text.count("\n|") == sum(len(part.table.rows) + 2 for part in parts(whole))
    latex = render(whole, "latex")
    assert latex.count(r"\begin{tabular}") == sum(len(part.table.broken()) for part in parts(whole))
    assert all(line.startswith("%") for line in latex.splitlines() if HOSTILE in line)
    assert "Not asked" in render(bare, "md") and "tabular" not in render(bare, "latex")


def test_csv_and_json(whole: ContaminationReport) -> None:
    rows = list(csv.DictReader(io.StringIO(render(whole, "csv"))))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert [row["part"] for row in rows] == [
        *["guessed"] * 2, *["all", "not guessed"] * 2, *["fresh"] * 3, *["redrawn"] * 3, *["canary"] * 5,
    ]  # fmt: skip
    assert {row["signature"] for row in rows} == {whole.signature}
    fresh = next(row for row in rows if row["part"] == "fresh")
    assert float(fresh["percent"]) == pytest.approx(100 * whole.fresh[0].value) and fresh["verdict"] == "more"
    values = json.loads(render(whole, "json"))
    assert values["schema"] == "vcrgen-contamination-1" and values["summary"] == summary(whole)
    assert values["fresh"][0]["low"] == whole.fresh[0].low and values["fresh"][0]["verdict"] == "more"
    assert values["canary"][0] == {"data": whole.canary[0].data, "way": "line", "outcome": "came back"}


def test_the_page_escapes_what_it_is_given(whole: ContaminationReport, bare: ContaminationReport) -> None:
    page = as_html(whole)
    assert "<script" not in page and "&lt;script&gt;" in page
    assert page.count('class="iv df"') == 6
    assert "<figure>" not in as_html(bare)


@pytest.mark.parametrize("width", [400, 1200])
def test_the_page_in_a_browser(browser: Any, whole: ContaminationReport, tmp_path: Path, width: int) -> None:
    out = tmp_path / "report.html"
    out.write_text(as_html(whole), "utf-8")
    with shown_at(browser, width):
        browser.get(out.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        fits = "return [...document.querySelectorAll('figure')].every((each) => each.scrollWidth <= each.clientWidth)"
        assert browser.execute_script(fits)
        bars = browser.execute_script("return [...document.querySelectorAll('figure svg')].map((s) => s.clientWidth)")
        assert len(bars) == 6 and min(bars) >= 80


def test_the_command(run: Run, study: Any) -> None:
    ours, fresh = study.key("set.jsonl", 20), study.key("fresh.jsonl", 20, first=50)
    chances = {"text": lambda *_: 0.5}
    one, two = (study.outputs(f"{key.stem}-p.jsonl", key, chances) for key in (ours, fresh))
    words = ["contamination", one, "--data", ours, "--against", f"{two}={fresh}"]
    code, out, err = run(*words)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == f"No test shows that qwen had seen {ours}, which is no proof that it had not."
    assert re.search(r"^Against +Mode +View +Set +Other +Difference +95 % interval +Holm p +Verdict", out, re.MULTILINE)
    code, out, _ = run(*words, "--out", "report.txt")
    assert code == 0 and out == "Written: report.txt\n" and Path("report.txt").read_text("utf-8").startswith("No test")
    code, out, _ = run(*words, "--format", "html", "--out", "report.html")
    assert code == 0 and Path("report.html").read_text("utf-8").startswith("<!doctype html>")
    for form in ("md", "csv", "latex", "json"):
        assert run(*words, "--format", form, "--protocol", "vlmevalkit", "--seed", 3)[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Nothing is asked for"),
        (["p.jsonl"], "Give a file of outputs and, with --data,"),
        (["--canary", "c.jsonl"], "--canary takes FILE=FOLDER, as in outputs.jsonl=data/my-vcr, not 'c.jsonl'"),
        (["--against", "=x"], "--against takes FILE=FOLDER"),
        (["--redraw", "x="], "--redraw takes FILE=FOLDER"),
        (["--format", "pdf"], "Unknown format 'pdf'; known: text, md, csv, latex, json, html"),
        (["--format", "html"], "The HTML report is a file: name it with --out report.html"),
        (["p.jsonl", "--data", "d", "--protocol", "mine"], "d does not exist"),
        (["p.jsonl", "--data", "d", "--out", "p.jsonl"], "is read here, so nothing is written over it"),
        (["p.jsonl", "--data", "d", "--against", "f=e", "--out", "f"], "is read here, so nothing is written over it"),
        (["p.jsonl", "--data", "d", "--mode", "middle"], "Unknown mode 'middle'; known: easy, hard"),
    ],
)
def test_mistakes(run: Run, words: list[str], message: str) -> None:
    code, out, err = run("contamination", *words)
    assert code == 2 and out == "" and message in err and err.count("\n") == 1, err
