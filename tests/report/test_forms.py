"""A table as Markdown, LaTeX and CSV: texts stay texts, numbers are rounded for people only."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vcrgen.report.escape import escape_latex, escape_terminal, script_json
from vcrgen.report.forms import as_csv, as_latex, as_markdown
from vcrgen.report.table import Interval, Number, Percent, Table

TABLE = Table(
    title="Scores",
    heads=("Model", "Score", "95 % interval", "Ratio", "Note"),
    labels=1,
    rows=[
        ("R&D_1 <7B>", Percent(2 / 3), Interval(0.5, 0.75), Number(1 / 3, 1), 1),
        ("[1cm]", Percent(-0.00001, sign=True), None, Number(None), 2),
    ],
    best=[1],
    notes=[("50 % off.", "https://papers.example/1_2"), ("As printed.", "")],
)
MARKDOWN = r"""| Model | Score | 95 % interval | Ratio | Note |
| --- | ---: | ---: | ---: | ---: |
| R&amp;D\_1 &lt;7B&gt; | 66.67 | 50.00 to 75.00 | 0.3 | 1 |
| \[1cm\] | 0.00 | – | – | 2 |

1. 50 % off. <https://papers.example/1_2>
2. As printed."""
LATEX = r"""\begin{tabular}{lrrrr}
\toprule
Model & Score & 95 \% interval & Ratio & Note \\
\midrule
R\&D\_1 \textless{}7B\textgreater{} & \textbf{66.67} & 50.00 to 75.00 & 0.3 & 1 \\
{}[1cm] & 0.00 & -- & -- & 2 \\
\bottomrule
\end{tabular}
\par\footnotesize 1. 50 \% off. https://papers.example/1\_2
\par\footnotesize 2. As printed."""


def test_markdown() -> None:
    assert as_markdown(TABLE) == MARKDOWN


def test_latex() -> None:
    assert as_latex(TABLE) == LATEX


def test_csv_has_numbers_as_they_are() -> None:
    table = Table(title="", heads=("a", "b", "c", "d"), labels=0, rows=[("=1", Percent(2 / 3), Number(1e-9), None)])
    assert as_csv(table) == f"a,b,c,d\n'=1,{100 * (2 / 3)},1e-09,\n"


@given(st.text())
def test_any_text_is_one_cell(text: str) -> None:
    table = Table(title="", heads=("head", "end"), labels=1, rows=[(text, "end")])
    cells = MarkdownIt("commonmark", {"html": True}).enable("table").render(as_markdown(table))
    assert cells.count("<td") == cells.count("</td") == 2
    assert set(re.findall(r"<(\w+)", cells)) == {"table", "thead", "tbody", "tr", "th", "td"}
    (_, row) = csv.reader(io.StringIO(as_csv(table), newline=""))
    assert row[0].replace("'", "") == text.replace("'", "") and row[1] == "end"
    assert as_latex(table).count("\n") == 6


@pytest.mark.parametrize("text", ["<", ">", "a<b>c", "--> <-- <<>>", "mean |r|", "--keep COLUMN", "----"])
def test_latex_sets_signs_as_they_are(text: str) -> None:
    """In LaTeX's own encoding angles would be inverted marks, and bars and double hyphens dashes."""
    escaped = escape_latex(text)
    assert not set("<>|") & set(escaped) and "--" not in escaped
    for name, sign in ((r"\textless{}", "<"), (r"\textgreater{}", ">"), (r"\textbar{}", "|"), ("{}", "")):
        escaped = escaped.replace(name, sign)
    assert escaped == text


def test_a_terminal_gets_no_control_codes() -> None:
    assert escape_terminal("a\x1b[31mb\n\tc\x07") == "a\\x1b[31mb\n\tc\\x07"


def test_json_of_what_json_does_not_know() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([float("nan")])
