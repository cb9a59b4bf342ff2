"""A board as text: names that try to be more than names, numbers that come back as they were, one board in full."""

import csv
import io
import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from markdown_it import MarkdownIt

from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.data.views import View
from vcrgen.leaderboard.model_facts import check_facts
from vcrgen.leaderboard.page_records import BoardTable, Estimate, Estimates, RankedModel, Ranking, Track
from vcrgen.leaderboard.records import ModelFacts
from vcrgen.leaderboard.tables import FORMATS, csv_columns, export
from vcrgen.report.published.fields import Access
from vcrgen.report.published.results import ReportedResult

CSV_COLUMNS = csv_columns([VCR_TASK])
OPEN_7B = ModelFacts(
    team="Lab", model="Seer", link="https://lab.example/seer", access=Access.OPEN, size=7, released=date(2025, 3, 1)
)
HOSTILE = {
    "a formula": "=cmd|' /C calc'!A0",
    "a plus": "+1",
    "a minus": "-2+3",
    "an at": "@SUM(1)",
    "a wide formula": "＝1+1",
    "a quoted formula": '"=1+1',
    "a formula behind a semicolon": "x; =1+1",
    "tags": "</td><script>alert(1)</script>",
    "a pipe": "a|b",
    "a pipe behind a backslash": "a\\|b",
    "dashes and tags": "---|<img src=x onerror=y>",
    "a command": r"\input{/etc/passwd}",
    "mathematics": "$x_1^2$ & 100%",
    "carets": "^^5cinput ~ #1",
    "a bracket": "[1cm] x",
    "a star": "*[1cm] **x**",
    "a link": "[x](javascript:alert)",
    "an image": "![x](https://evil.example/x)",
    "a bare address": "https://evil.example/x www.evil.example",
    "an entity": "&lt;b&gt;",
    "code": "`x` <!-- x",
    "Hebrew": "דגם 7 מהיר",
    "Arabic": "نموذج|أ",
    "Chinese": "书生",
}
WORDS = {
    "\\": "textbackslash",
    "~": "textasciitilde",
    "^": "textasciicircum",
    "<": "textless",
    ">": "textgreater",
    "|": "textbar",
}
BARE = re.compile(rf"\\(?:[&%$#_{{}}]|(?:{'|'.join(WORDS.values())})\{{\}})")


def estimates(exact: float, jaccard: float, *, wide: float = 0.02) -> Estimates:
    """Scores with an interval around each."""
    values = {"exact": exact, "jaccard": jaccard}
    # A mapping that is no dict: the records promise no more.
    return MappingProxyType({name: Estimate(v, round(v - wide, 6), round(v + wide, 6)) for name, v in values.items()})


def row(
    facts: ModelFacts = OPEN_7B, *, exact: float = 0.5, rank: int = 1, worst_rank: int = 1, tei: bool = True
) -> RankedModel:
    both: Mapping[View, Estimates] = {View.STACKED: estimates(exact, exact + 0.125), View.TEI: estimates(0.25, 0.375)}
    return RankedModel(
        facts=facts,
        received=datetime(2026, 1, 31, 23, 30, tzinfo=UTC),
        rank=rank,
        worst_rank=worst_rank,
        scores=both if tei else {View.STACKED: both[View.STACKED]},
        difference=estimates(exact - 0.25, exact - 0.25, wide=0.3) if tei else None,
        files=3,
    )


def reported(model: str = "GPT-4o", **values: Any) -> ReportedResult:
    base: dict[str, Any] = {
        "source": "Zhang et al., Table 2",
        "url": "https://papers.example/1_2",
        "data": "VCR-WIKI",
        "items": 5000,
        "language": "en",
        "mode": "easy",
        "view": View.STACKED,
        "access": Access.CLOSED,
        "exact": 0.9155,
        "exact_sd": 0.0013,
        "jaccard": 0.9644,
    }
    return ReportedResult(model=model, **(base | values))


def track(**values: Any) -> Track:
    base: dict[str, Any] = {"set": "wiki-en", "hidden": False, "language": "en", "mode": "easy", "view": View.STACKED}
    return Track(**(base | {"questions": 500, "spans": 1234} | values))


def board(*rows: RankedModel, reported: Sequence[ReportedResult] = (), **values: Any) -> BoardTable:
    ranking = Ranking(signature="protocol:paper-v2|lang:en", short="0a1b2c3d", rows=rows)
    return BoardTable(track=track(**values), rankings=(ranking,) if rows else (), reported=tuple(reported))


def with_name(name: str) -> BoardTable:
    """A board where the name stands wherever a stranger's or a paper's text can."""
    facts = check_facts(team=name, model=name)
    assert facts.model == name, "a team can submit it"
    return board(row(facts), reported=[reported(name, data=name, source=name, corrected=name, note=name)])


def csv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


class Cells(HTMLParser):
    """The texts of all cells and every tag of rendered Markdown."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.links: list[str] = []
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name == "href"]
        if tag in ("td", "li"):
            self.cells.append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("td", "li")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells[-1] += data


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_name_is_a_text_in_markdown(name: str) -> None:
    text = export([with_name(name)], "md")
    # Raw HTML is let through, as it is by some who render Markdown.
    page = Cells(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    assert page.cells[1:3] == [name, name]
    assert page.cells.count(name) == 4, "model, team, quoted model, what it was measured on"
    assert page.tags <= {"h1", "h2", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ol", "li", "a"}
    assert page.links == ["https://papers.example/1_2"]
    assert page.cells[-1].count(name.rstrip(".")) == 3
    assert "://evil" not in text and "www." not in text, "and no link for those who see one in a bare address"


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_name_is_a_text_in_csv(name: str) -> None:
    text = export([with_name(name)], "csv")
    ranked, from_paper = csv_rows(text)
    for value in (ranked["model"], ranked["team"], *(from_paper[at] for at in ("model", "set", "source", "corrected"))):
        assert value.replace("'", "") == name.replace("'", "")
        assert not re.match(r"[\s\"]*[=+\-@＝]", value), "no spreadsheet takes it for a formula"
        assert not re.search(r";\s*=", value), "nor one that splits at semicolons"
    assert len(text.splitlines()) == 3 and "\r" not in text


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_name_is_a_text_in_latex(name: str) -> None:
    text = export([with_name(name)], "latex")
    for line in text.splitlines():
        if line.endswith(r" \\"):
            cells = re.split(r"(?<!\\) & ", line.removesuffix(r" \\"))
            assert len(cells) in (10, 15)
            assert not re.search(r"[\\&%#_^~<>|]", BARE.sub("", "".join(cells).replace("$-$", ""))), line
            assert not line.startswith(("[", "*"))
    lines = text.splitlines()
    commands = {found for line in lines if line[:1] != "%" for found in re.findall(r"\\[a-z]+", line)}
    assert commands <= {
        *(r"\begin", r"\end", r"\toprule", r"\midrule", r"\bottomrule", r"\medskip", r"\smallskip", r"\noindent"),
        *(r"\setlength", r"\tabcolsep", r"\resizebox", r"\ifdim", r"\width", r"\linewidth", r"\else", r"\fi"),
        *(r"\par", r"\footnotesize", *(rf"\{word}" for word in WORDS.values())),
    }
    plain = re.sub(r"\\([&%$#_{}])", r"\1", text)
    for char, word in reversed(WORDS.items()):  # the backslash last: it may stand before a word
        plain = plain.replace(f"\\{word}{{}}", char)
    plain = plain.replace("-{}", "-")
    assert f" & {name} & {name} & " in plain


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_name_comes_back_from_json(name: str) -> None:
    (table,) = json.loads(export([with_name(name)], "json"))["tables"]
    assert table["rankings"][0]["rows"][0]["facts"]["model"] == name
    assert table["reported"][0]["model"] == table["reported"][0]["corrected"] == name


@pytest.mark.parametrize("form", FORMATS)
def test_a_line_break_cannot_make_a_row(form: str) -> None:
    """Names are checked before they are stored; these are not."""
    evil = "x\n| 1 | y\r\n\\end{table}\u2028=1"
    facts = replace(OPEN_7B, model=evil)
    text = export([board(row(facts))], form)
    if form == "csv":
        assert csv_rows(text)[0]["model"] == evil
    else:
        assert text.count("\n") == export([board(row())], form).count("\n")


@pytest.mark.parametrize("start", ["\t", "\r", "\t=", "\n =", "\u3000=", "\u00a0@"])
def test_white_space_does_not_hide_a_formula(start: str) -> None:
    (found,) = csv_rows(export([board(reported=[reported(note="", corrected=f"{start}1")])], "csv"))
    assert found["corrected"].startswith("'") and found["corrected"].replace("'", "") == f"{start}1"


def test_csv_gives_back_what_is_stored() -> None:
    third = 1 / 3
    ranked, from_paper = csv_rows(export([board(row(exact=third, rank=2, worst_rank=4), reported=[reported()])], "csv"))
    assert tuple(ranked) == CSV_COLUMNS
    assert float(ranked["exact"]) == third and float(ranked["jaccard"]) == third + 0.125
    assert ranked == ranked | {
        "kind": "ranked",
        "set": "wiki-en",
        "hidden": "false",
        "language": "en",
        "mode": "easy",
        "view": "stacked",
        "signature": "protocol:paper-v2|lang:en",
        "rank": "2",
        "rank_lowest": "4",
        "model": "Seer",
        "team": "Lab",
        "access": "open",
        "size_b": "7",
        "released": "2025-03-01",
        "link": "https://lab.example/seer",
        "received": "2026-01-31T23:30+00:00",
        "exact_low": "0.313333",
        "exact_high": "0.353333",
        "exact_difference_low": "-0.216667",
        "source": "",
    }
    filled = {
        "kind": "reported",
        "set": "VCR-WIKI",
        "language": "en",
        "mode": "easy",
        "view": "stacked",
        "model": "GPT-4o",
        "access": "closed",
        "link": "https://papers.example/1_2",
        "exact": "0.9155",
        "jaccard": "0.9644",
        "source": "Zhang et al., Table 2",
    }
    assert from_paper == dict.fromkeys(CSV_COLUMNS, "") | filled


def test_what_is_missing_is_empty() -> None:
    unknown = ModelFacts(team="Lab", model="Seer")
    (found,) = csv_rows(export([board(row(unknown, tei=False))], "csv"))
    assert {found[at] for at in ("size_b", "released", "link", "exact_difference", "exact_difference_low")} == {""}
    assert "| 1 | Seer | Lab | – | – | 50.00 | 48.00 to 52.00 | 62.50 | 3 | 2026-01-31 |" in export(
        [board(row(unknown, tei=False))], "md"
    )


def test_a_row_without_the_other_view_stands_beside_one_with_it() -> None:
    text = export([board(row(), row(tei=False))], "md")
    assert "| 62.50 | 25.00 | 23.00 to 27.00 | 37.50 | +25.00 | −5.00 to +55.00 | 3 | 2026-01-31 |" in text
    assert "| 62.50 | – | – | – | – | – | 3 | 2026-01-31 |" in text


def test_the_view_that_ranks_comes_first() -> None:
    heads = export([board(row(), view=View.TEI)], "md").partition("| Rank")[2]
    assert heads.index("Exact match (TEI)") < heads.index("Exact match (VI+TEI)")
    (found,) = csv_rows(export([board(row(), view=View.TEI)], "csv"))
    assert (found["view"], found["exact"], found["exact_difference"]) == ("tei", "0.25", "0.25")


def test_what_a_hidden_set_rounds_stays_rounded() -> None:
    scores = {View.STACKED: {name: Estimate(0.455, 0.43, 0.48) for name in ("exact", "jaccard")}}
    hidden = board(
        replace(row(), scores=scores, difference=None), set="secret-en", hidden=True, mode="mixed", step=0.005
    )
    (found,) = csv_rows(export([hidden], "csv"))
    assert (found["hidden"], found["exact"], found["exact_low"], found["exact_high"]) == (
        "true",
        "0.455",
        "0.43",
        "0.48",
    )
    (table,) = json.loads(export([hidden], "json"))["tables"]
    assert table["rankings"][0]["rows"][0]["scores"]["stacked"]["exact"] == {"value": 0.455, "low": 0.43, "high": 0.48}
    for text in (export([hidden], "md"), export([hidden], "latex")):
        assert "45.50" in text and "43.00 to 48.00" in text and "rounded to 0.5 points" in text
        assert "answers are secret" in text


def two_signatures() -> BoardTable:
    newer, older = (
        Ranking(signature=f"version:{short}", short=short, rows=(row(replace(OPEN_7B, model=name), exact=exact),))
        for short, name, exact in (("bbbb2222", "New", 0.5), ("aaaa1111", "Old", 0.75))
    )
    return BoardTable(track=track(), rankings=(newer, older))


def test_ranks_of_two_signatures_stay_apart() -> None:
    table = two_signatures()
    found = csv_rows(export([table], "csv"))
    assert [(r["signature"], r["rank"], r["model"]) for r in found] == [
        ("version:bbbb2222", "1", "New"),
        ("version:aaaa1111", "1", "Old"),
    ]
    text = export([table], "md")
    _, first, second = text.split("| Rank")
    assert "New" in first and "Old" not in first and "Signature bbbb2222: version:bbbb2222" in text
    assert "Old" in second and "New" not in second and "Scores of different signatures cannot be compared" in second
    tex = export([table], "latex")
    assert tex.count(r"\begin{tabular}") == 2 and "Signature bbbb2222." in tex and "Signature aaaa1111." in tex
    assert r"\textbf" not in tex, "nothing is best among scores that cannot be compared"


def test_the_best_are_bold_in_latex() -> None:
    rows = (row(exact=0.75), row(exact=0.750001, rank=1), row(exact=0.5, rank=3))
    first, second, third = (
        line for line in export([board(*rows, reported=[reported(exact=0.99)])], "latex").splitlines() if "Lab" in line
    )
    assert r"\textbf{75.00}" in first and r"\textbf{75.00}" in second, "what looks the same is"
    assert r"\textbf{50.00}" not in third and r"\textbf{25.00}" in third
    assert r"\textbf{99.00}" not in export([board(*rows, reported=[reported(exact=0.99), reported("x")])], "latex")


def test_quoted_rows_have_no_rank() -> None:
    table = board(reported=[reported(), reported("Humans", exact=0.99)])
    assert [(r["kind"], r["rank"], r["rank_lowest"], r["signature"]) for r in csv_rows(export([table], "csv"))] == [
        ("reported", "", "", "")
    ] * 2
    assert "Rank" not in export([table], "md") + export([table], "latex")
    assert all("rank" not in r for r in json.loads(export([table], "json"))["tables"][0]["reported"])


def test_a_quoted_row_comes_once_in_csv() -> None:
    tables = [board(row(), reported=[reported()]), board(row(), reported=[reported()], set="other-en")]
    assert [r["set"] for r in csv_rows(export(tables, "csv"))] == ["wiki-en", "other-en", "VCR-WIKI"]
    assert export(tables, "md").count("GPT") == 2


def test_json_holds_everything() -> None:
    table = board(row(), reported=[reported(released=date(2024, 5, 13))])
    text = export([table], "json")
    loaded = json.loads(text)
    assert loaded["schema"] == "vcrgen-board-1"
    (found,) = loaded["tables"]
    assert found["track"] == {
        "set": "wiki-en",
        "hidden": False,
        "language": "en",
        "mode": "easy",
        "view": "stacked",
        "questions": 500,
        "spans": 1234,
        "step": 0.0,
        "lifecycle": found["track"]["lifecycle"],
    }
    assert found["track"]["lifecycle"]["feedback"] == "full"
    (ranked,) = found["rankings"][0]["rows"]
    assert ranked["facts"] == {
        "team": "Lab",
        "model": "Seer",
        "link": "https://lab.example/seer",
        "access": "open",
        "size": 7,
        "released": "2025-03-01",
    }
    assert ranked["received"] == "2026-01-31T23:30+00:00" and set(ranked["scores"]) == {"stacked", "tei"}
    assert ranked["difference"]["exact"] == {"value": 0.25, "low": -0.05, "high": 0.55}
    assert found["reported"][0]["released"] == "2024-05-13" and found["reported"][0]["jaccard_sd"] is None


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_json_has_no_value_that_json_does_not_know(value: float) -> None:
    with pytest.raises(ValueError, match="a score is"):
        export([board(replace(row(), difference={"exact": Estimate(value, 0, 0)}))], "json")


@pytest.mark.parametrize("form", FORMATS)
def test_a_board_without_models_is_no_problem(form: str) -> None:
    assert "nan" not in export([board()], form).lower()
    assert export([], form) is not None


def small_board() -> BoardTable:
    other = ModelFacts(team="R&D_1", model="书生|50%", access=Access.CLOSED)
    return board(
        row(exact=0.75, rank=1, worst_rank=2),
        row(other, exact=0.625, rank=1, worst_rank=2),
        row(replace(OPEN_7B, model="Low"), exact=0.125, rank=3, worst_rank=3, tei=False),
        reported=[
            reported(),
            reported("Humans", size=None, access=Access.UNKNOWN, jaccard=None, items=None),
            reported("Idefics2", size=8.0, corrected="printed as 19.15, a slip of the columns", note="Set of 2024"),
        ],
    )


def test_a_small_board_for_people() -> None:
    text, tex = (export([small_board()], form) for form in ("md", "latex"))
    assert text.splitlines()[2] == "## wiki-en: en, easy, VI+TEI" and "over 1,234 masked spans in 500 images" in tex
    assert "| 1 (1–2) | 书生\\|50% | R&amp;D\\_1 | closed | – | 62.50 | 60.50 to 64.50 | 75.00 | 25.00 |" in text
    assert (
        "1 (1--2) & 书生\\textbar{}50\\% & R\\&D\\_1 & closed & -- & 62.50 & 60.50 to 64.50 & 75.00 & \\textbf{25.00} &"
        in tex
    )
    assert "| Humans | – | – | VCR-WIKI | – | 91.55 | 0.13 | – | – | 1 |" in text
    assert "2. Source: Zhang et al., Table 2. Corrected: printed as 19.15, a slip of the columns. Set of 2024." in text


def test_a_long_table_goes_over_several_pages(tmp_path: Path) -> None:
    """120 models with long and hostile names, set by LaTeX itself."""
    latex = shutil.which("pdflatex")
    if latex is None:
        if os.environ.get("VCRGEN_CI"):
            pytest.fail("CI has to install LaTeX (apt-get install texlive-latex-recommended)")
        pytest.skip("needs pdflatex (apt-get install texlive-latex-recommended)")
    name = r"a_b & 50% \input{x} $#{}~^ [1em]*"
    rows = [row(check_facts(team=f"{name} of a university", model=f"{name} {number}")) for number in range(120)]
    table = board(*rows, reported=[reported(f"Quoted {number}") for number in range(60)])
    for with_reported in (False, True):
        text = export([table], "latex", with_reported=with_reported)
        assert ("Quoted 59" in text) is with_reported and r"\begin{longtable}" in text
        assert max(line.count(" & ") for line in text.splitlines() if line.endswith("\\\\")) < 10
        head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx,longtable,array}"
        (tmp_path / "page.tex").write_text(f"{head}\\begin{{document}}{text}\\end{{document}}\n", "utf-8")
        command = [latex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
        pages = re.search(r"Output written on page.pdf \((\d+) pages", done.stdout)
        assert pages and int(pages[1]) > 3
        wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide", done.stdout)]
        assert max(wide, default=0) < 60, "the margin is 100 points wide"
