"""A scoring as documents: what one form says, the others say, too."""

import csv
import io
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.resources import resource_dir
from vcrgen.report.forms import PDFLATEX
from vcrgen.report.table import Interval, Percent
from vcrgen.scorer import RunResult, ScoreOptions, Session, compare, render
from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.results import by_score
from vcrgen.scorer.score_report import score_document
from vcrgen.scorer.score_tables import comparison_table

WriteLines = Callable[[str, Iterable[Any]], Path]


@pytest.fixture
def compared(key: Path, write_lines: WriteLines) -> tuple[list[RunResult], list[Comparison]]:
    """Two runs in two views, one of them right once where the other is wrong."""
    session = Session(key, ScoreOptions())
    said = {
        "good": {"stacked": ["the quick brown fox jumps", "is a town in the"], "tei": ["x", "is a town in the"]},
        "poor": {"stacked": ["the quick brown fox sits", "is a town in the"], "tei": ["x", "y"]},
    }
    results = []
    for name, views in said.items():
        rows = [
            {"question_id": question, "output": text, "view": view}
            for view, texts in views.items()
            for question, text in zip("ab", texts, strict=True)
        ]
        results.append(session.score(write_lines(f"{name}.jsonl", rows)))
    return results, compare(results)


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_says_of_comparisons_what_the_table_says(compared: tuple[list[RunResult], list[Comparison]]) -> None:
    """It had neither the tests nor how many spans and images there were."""
    results, comparisons = compared
    rows = [row for row in lines(render(results, "csv", comparisons)) if row["run"] == "good - poor"]
    assert len(rows) == 2 * 8
    for line, item in zip(comparison_table(results[0].task, comparisons).rows, comparisons, strict=True):
        exact, jaccard = (
            next(row for row in rows if (row["view"], row["metric"]) == (item.view, metric))
            for metric in ("exact", "jaccard")
        )
        for at, row in ((4, exact), (7, jaccard)):
            shown, interval = line[at : at + 2]
            assert isinstance(shown, Percent) and isinstance(interval, Interval)
            values = [float(row[name]) for name in ("percent", "low", "high")]
            assert values == [shown.value, 100 * interval.low, 100 * interval.high]
        assert [f"{float(exact['p_corrected']):.3f}"] == [str(line[6])]
        assert (exact["only_a"], float(exact["p_mcnemar"])) == (str(item.only_a), item.p_mcnemar)
        assert (jaccard["only_a"], jaccard["p_mcnemar"]) == ("", ""), "the tests are about exact match"
    assert {(row["spans"], row["images"], row["signature"]) for row in rows} == {("4", "3", str(results[0].signature))}
    assert [item.only_a for item in comparisons] == [1, 1]


def test_csv_has_the_difference_between_the_views(compared: tuple[list[RunResult], list[Comparison]]) -> None:
    results, _ = compared
    rows = [row for row in lines(render(results, "csv")) if row["view"] == "stacked - tei"]
    assert [(row["run"], row["metric"]) for row in rows if row["metric"] in ("exact", "f1")] == [
        ("good", "exact"),
        ("good", "f1"),
        ("poor", "exact"),
        ("poor", "f1"),
    ]
    assert {(row["spans"], row["images"]) for row in rows} == {("4", "3")}
    good = next(row for row in rows if (row["run"], row["metric"]) == ("good", "exact"))
    assert float(good["percent"]) == 100 * results[0].differences[0].metrics["exact"].value == 25.0


def test_a_sentence_has_no_signed_zero(key: Path, perfect: Path, write_lines: WriteLines) -> None:
    half = write_lines("half.jsonl", ['{"question_id": "b", "output": "is a town in the"}'])
    session = Session(key, ScoreOptions())
    conclusion = compare([session.score(perfect), session.score(half)])[0].conclusion
    assert "0.00 to +100.00" in conclusion and "+0.00" not in conclusion


def test_tables_that_are_empty_are_left_out(compared: tuple[list[RunResult], list[Comparison]]) -> None:
    results, comparisons = compared
    document = score_document(results, comparisons)
    assert [section.title for section in document.sections] == ["Scores", "Comparisons", "Notes", "Details"]
    tables = [table for section in document.sections for table in section.tables]
    assert all(table.rows and len(row) == len(table.heads) for table in tables for row in table.rows)
    assert "Comparisons" not in [section.title for section in score_document(results).sections]


def command_of(engine: str) -> str:
    """The path of a program of LaTeX, which CI has."""
    command = shutil.which(engine)
    if command is None:
        if os.environ.get("VCRGEN_CI"):
            pytest.fail(f"CI has to install {engine} (apt-get install texlive-latex-recommended)")
        pytest.skip(f"needs {engine} (apt-get install texlive-latex-recommended)")
    return command


def compile_latex(text: str, page: str, folder: Path) -> None:
    """Compile tables within an article, as their first line says, and look for what does not fit."""
    (folder / "tables.tex").write_text(text, "utf-8")
    first = text.splitlines()[0]
    packages = first.partition("usepackage{")[2].partition("}")[0]
    head = rf"\documentclass[{page}]{{article}}\usepackage{{{packages}}}"
    command = [command_of("pdflatex")]
    if first.startswith("% needs XeLaTeX"):
        # Debian has the format in a package that needs 188 MB, and the program that makes it beside pdfLaTeX.
        make = [command_of("xetex"), "-ini", "-interaction=batchmode", "-etex", "-jobname=xelatex", "xelatex.ini"]
        subprocess.run(make, cwd=folder, capture_output=True, check=True)
        command = [make[0], "-fmt=./xelatex.fmt"]
        head += rf"\setmainfont[Path={resource_dir('fonts').as_posix()}/]{{gbsn00lp.ttf}}"
    (folder / "page.tex").write_text(f"{head}\\begin{{document}}\n\\input{{tables}}\n\\end{{document}}\n", "utf-8")
    command += ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout and "Output written on page.pdf" in done.stdout
    assert "Missing character" not in (folder / "page.log").read_text("utf-8", "replace")


@pytest.mark.parametrize("details", [False, True])
def test_latex_compiles_and_fits(
    details: bool, compared: tuple[list[RunResult], list[Comparison]], tmp_path: Path
) -> None:
    """In a column, with a name that is hostile and one of every letter that pdfLaTeX has."""
    results, comparisons = compared
    evil = replace(results[0], label=r"a_b & 50% \input{x} $#{}~^ <|> [1em]*")
    letters = replace(results[1], label=" ".join(sorted(PDFLATEX)))
    text = render([evil, letters], "latex", comparisons, details=details)
    assert text.startswith("% needs \\usepackage{booktabs,graphicx")
    compile_latex(text, "twocolumn", tmp_path)
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert max(line.count(" & ") for line in rows) <= 8, "what is scaled stays large enough to read"


def test_a_name_that_pdflatex_cannot_set_is_for_xelatex(
    compared: tuple[list[RunResult], list[Comparison]], tmp_path: Path
) -> None:
    results, comparisons = compared
    chinese = [replace(results[0], label="模型 é"), results[1]]
    for details in (False, True):
        text = render(chinese, "latex", comparisons, details=details)
        assert text.splitlines()[0].startswith("% needs XeLaTeX, ") and text.splitlines()[0].endswith(" has 型模")
    compile_latex(render(chinese, "latex", comparisons), "onecolumn", tmp_path)


def test_latex_for_a_paper_has_one_table_of_scores(key: Path, write_lines: WriteLines) -> None:
    session, results = Session(key, ScoreOptions()), []
    for name, text in (("good", "is a town in the"), ("poor", "is a"), ("late", "is a town in the")):
        cells = [("easy", "stacked"), ("hard", "stacked"), ("hard", "tei")][: 2 if name == "late" else 3]
        rows = [
            {"question_id": question, "output": text if mode == "easy" else "x", "view": view, "mode": mode}
            for mode, view in cells
            for question in "abc"
        ]
        results.append(session.score(write_lines(f"{name}.jsonl", rows)))
    text = render(results, "latex")
    assert text.count("tabular}") == 2 and r"\label{tab:vcr-scores}" in text
    assert f"signature {results[0].signature.short}.}}" in text
    body = text.partition(r"\toprule")[2].splitlines()
    assert body[1].split(" & ") == ["", r"\multicolumn{2}{c}{easy}", r"\multicolumn{2}{c}{hard} \\"]
    assert body[3] == r"Model & EM & Jaccard & EM & Jaccard \\"
    jaccard = [f"{100 * result.cells[0].metrics['jaccard'].value:.2f}" for result in results]
    assert body[5:9] == [
        r"\multicolumn{5}{l}{\textit{VI+TEI}} \\",
        rf"good & \textbf{{25.00}} & \textbf{{{jaccard[0]}}} & \textbf{{0.00}} & \textbf{{0.00}} \\",
        rf"poor & 0.00 & {jaccard[1]} & \textbf{{0.00}} & \textbf{{0.00}} \\",
        rf"late & \textbf{{25.00}} & \textbf{{{jaccard[2]}}} & \textbf{{0.00}} & \textbf{{0.00}} \\",
    ]
    assert body[10:13] == [
        r"\multicolumn{5}{l}{\textit{TEI}} \\",
        r"good & -- & -- & \textbf{0.00} & \textbf{0.00} \\",
        r"poor & -- & -- & \textbf{0.00} & \textbf{0.00} \\",
    ]


def test_a_paper_table_of_one_mode_has_intervals_and_names_the_mode(key: Path, write_lines: WriteLines) -> None:
    rows = [{"question_id": question, "output": "is a town in the", "mode": "hard"} for question in "abc"]
    result = Session(key, ScoreOptions()).score(write_lines("good.jsonl", rows))
    text = render([result], "latex")
    metrics = [result.cells[0].metrics[name] for name in ("exact", "jaccard")]
    cells = [f"{100 * m.value:.2f} & {100 * m.low:.2f} to {100 * m.high:.2f}" for m in metrics]
    assert rf"good & {' & '.join(cells)} \\" in text.replace(r"\textbf{", "").replace("}", "")
    assert "in percent, mode hard, view VI+TEI; n = " in text and r"95 \% intervals are over images." in text


@pytest.fixture
def many(key: Path, perfect: Path, write_lines: Any) -> list[RunResult]:
    """Twenty runs; the later one is right where the one before is, or nowhere."""
    session = Session(key, ScoreOptions())
    good = session.score(perfect)
    poor = session.score(write_lines("poor.jsonl", ['{"question_id": "b", "output": "is a town in the"}']))
    return [replace((poor, good)[number % 2], label=f"model-{number:02d} of a & b") for number in range(20)]


def test_many_models_fold_on_the_page_and_break_over_pages_in_latex(many: list[RunResult], tmp_path: Path) -> None:
    comparisons = compare(many)
    page = render(many, "html", comparisons)
    assert len(comparisons) == 190 and page.count("recovers more than") == 0
    assert "pairs differ significantly after correction" in page and "(190 rows)</summary>" in page
    text = render(many, "latex", comparisons, details=True)
    assert text.count(r"\begin{longtable}") >= 3 and text.count("model-19") > 30
    compile_latex(text, "onecolumn", tmp_path)


def test_models_stand_by_score(many: list[RunResult]) -> None:
    places = by_score(many)
    assert places == [*range(1, 20, 2), *range(0, 20, 2)]
    assert by_score([]) == [] and by_score(many[:1]) == [0]
    other = replace(many[1], cells=(replace(many[1].cells[0], variant="easy"),))
    assert by_score([many[0], other]) == [0, 1], "without a cell in common the order stays"
