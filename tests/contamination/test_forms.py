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
from vcrgen.contamination.contamination_report import CSV_COLUMNS, contamination_document, summary
from vcrgen.contamination.examine import examine
from vcrgen.contamination.records import ContaminationReport
from vcrgen.dataset.canary import LINE
from vcrgen.report.document import render

Run = Callable[..., tuple[int, str, str]]
DIGITS = "00112233445566778899aabbccddeeff"
HOSTILE = "=1+1<script>alert(1)</script>|*_\\textbf{%"


@pytest.fixture
def whole(study: Any, hidden: Any) -> ContaminationReport:
    """A report with every test, of a model with a hostile name."""
    ours, fresh = study.key("set.jsonl", 20), study.key("fresh.jsonl", 20, first=50)
    again = study.key("again.jsonl", 20, drawing=1)
    public = hidden()
    (public / "manifest.json").write_text(json.dumps({"canary": LINE + DIGITS}), "utf-8")

    def outputs(key: Path, chance: float) -> Path:
        chances = {view: lambda *_: chance for view in ("text-only", "stacked", "tei")}
        file: Path = study.outputs(f"{key.stem}-p.jsonl", key, chances, model=HOSTILE)
        return file

    canary = study.lines("c.jsonl", [{"question_id": "line", "output": DIGITS, "model": HOSTILE}])
    return examine(
        [outputs(ours, 0.9)],
        ours,
        against=[(outputs(fresh, 0.3), fresh)],
        redraw=[(outputs(again, 0.85), again)],
        canary=[(canary, public)],
    )


@pytest.fixture
def bare(study: Any) -> ContaminationReport:
    """A report in which nothing was tested."""
    ours = study.key("set.jsonl", 5)
    return examine([study.outputs("p.jsonl", ours, {"tei": lambda *_: 1.0})], ours)


def page_of(report: ContaminationReport) -> str:
    return render(contamination_document(report), "html")


def test_a_summary_says_what_was_found(whole: ContaminationReport) -> None:
    text = summary(whole)
    assert (
        text.startswith(f"{HOSTILE} shows signs of having seen ") and "of fresh pairs (Text only; TEI, -)" not in text
    )
    assert "it recovers more than of fresh pairs (Text only; VI+TEI; TEI), and it repeats the canary of " in text
    assert "other spans" not in text


def test_a_summary_of_nothing(bare: ContaminationReport) -> None:
    document = contamination_document(bare)
    assert "was not tested: give --against, --redraw or --canary." in document.lead
    assert [section.text[0].startswith("Skipped: ") for section in document.sections] == [True] * 5
    assert all(section.notes and not section.tables for section in document.sections)


def test_markdown_and_latex(whole: ContaminationReport, bare: ContaminationReport) -> None:
    document = contamination_document(whole)
    tables = [table for section in document.sections for table in section.tables]
    text = render(document, "md")
    assert "<script>" not in text and "| Against | Mode | View | Set | Other | Difference | 95 % interval |" in text
    assert text.count("\n|") == sum(len(table.rows) + 2 for table in tables)
    latex = render(document, "latex")
    assert latex.count(r"\begin{tabular}") == sum(len(table.broken()) for table in tables)
    assert all(line.startswith("%") for line in latex.splitlines() if HOSTILE in line)
    bare_document = contamination_document(bare)
    assert "Skipped" in render(bare_document, "md") and "tabular" not in render(bare_document, "latex")


def test_csv_and_json(whole: ContaminationReport) -> None:
    document = contamination_document(whole)
    rows = list(csv.DictReader(io.StringIO(render(document, "csv"))))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert [row["part"] for row in rows] == [
        *["guessed"] * 2,
        *["all", "not guessed"] * 2,
        *["fresh"] * 3,
        *["redrawn"] * 3,
        *["canary"] * 5,
    ]
    assert {row["signature"] for row in rows} == {whole.signature}
    fresh = next(row for row in rows if row["part"] == "fresh")
    assert float(fresh["percent"]) == pytest.approx(100 * whole.fresh[0].value) and fresh["verdict"] == "more"
    values = json.loads(render(document, "json"))
    assert values["schema"] == "vcrgen-contamination-2" and values["summary"] == summary(whole)
    assert values["fresh"][0]["low"] == whole.fresh[0].low and values["fresh"][0]["verdict"] == "more"
    assert values["canary"][0] == {"data": whole.canary[0].data, "way": "line", "outcome": "repeated"}


def test_the_page_escapes_what_it_is_given(whole: ContaminationReport, bare: ContaminationReport) -> None:
    page = page_of(whole)
    assert "<script" not in page and "&lt;script&gt;" in page
    assert page.count('class="iv df"') == 6
    assert "<figure>" not in page_of(bare)


@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 1200])
def test_the_page_in_a_browser(browser: Any, whole: ContaminationReport, tmp_path: Path, width: int) -> None:
    out = tmp_path / "report.html"
    out.write_text(page_of(whole), "utf-8")
    with shown_at(browser, width):
        browser.get(out.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        fits = "return [...document.querySelectorAll('figure')].every((each) => each.scrollWidth <= each.clientWidth)"
        assert browser.execute_script(fits)
        bars = browser.execute_script("return [...document.querySelectorAll('figure svg')].map((s) => s.clientWidth)")
        assert len(bars) == 6 and min(bars) >= 80


def test_the_command(run: Run, study: Any) -> None:
    ours, fresh = study.key("set.jsonl", 20), study.key("fresh.jsonl", 20, first=50)
    chances = {"text-only": lambda *_: 0.5}
    one, two = (study.outputs(f"{key.stem}-p.jsonl", key, chances) for key in (ours, fresh))
    words = ["contamination", one, "--data", ours, "--against", f"{two}={fresh}"]
    code, out, err = run(*words)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[1] == f"No test shows that qwen had seen {ours}, which is no proof that it had not."
    assert re.search(
        r"^Against +Mode +View +Set +Other +Difference +95 % interval +p +Holm p +Verdict +Images +Spans",
        out,
        re.MULTILINE,
    )
    assert re.search(r"open +20 / 20 +\d+ / \d+$", out, re.MULTILINE)
    assert f"{fresh}: 20 and 20 images, " in " ".join(out.split())
    code, out, _ = run(*words, "--out", "report.txt")
    assert (
        code == 0
        and out == "Written: report.txt\n"
        and Path("report.txt").read_text("utf-8").startswith("Contamination tests of qwen")
    )
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
