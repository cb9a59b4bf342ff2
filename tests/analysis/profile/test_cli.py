"""``vcrgen profile`` as a user runs it: files in, every form out, and one sentence for what is wrong."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from vcrgen.report.document import LIMITATIONS

Run = Callable[..., tuple[int, str, str]]
TABLE = (
    "level,subcategory,leaf,count,نموذج_en,نموذج_ar\n"
    "تذكر,رموز,أعلام,80,0.91,0.84\n"
    "Apply,logic,sort,60,0.7,0.4\n"
    "Create,titles,poem,70,0.8,0.75\n"
)


@pytest.fixture
def tables(run: Run) -> Run:
    """The command line in a folder with two tables of category scores."""
    Path("scores_rae.csv").write_text(TABLE, "utf-8")
    Path("scores_lbs.csv").write_text(TABLE.replace("0.9", "0.5"), "utf-8")
    return run


@pytest.mark.parametrize("form", ["text", "csv", "json"])
def test_every_form_is_printed(tables: Run, form: str) -> None:
    code, text, errors = tables("profile", "scores_rae.csv", "scores_lbs.csv", "--format", form)
    assert code == 0, errors
    assert "نموذج" in text and (LIMITATIONS in text or form == "json")
    if form == "json":
        value = json.loads(text)
        assert value["tables"][0]["title"] == "Scores, in percent"
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        (micro,) = [row for row in rows if row["row"] == "نموذج / en" and row["column"] == "RAE, micro"]
        assert float(micro["value"]) == pytest.approx(100 * (0.91 * 80 + 0.7 * 60 + 0.8 * 70) / 210)


def test_a_page_has_a_name_if_nobody_says_one(tables: Run) -> None:
    written, *findings = tables("profile", "scores_rae.csv", "--format", "html")[1].splitlines()
    assert written == "Written: profile.html" and findings and all(line.startswith("- ") for line in findings)
    page = Path("profile.html").read_text("utf-8")
    assert "أعلام" in page and "<svg" in page
    assert tables("profile", "scores_rae.csv", "--out", "other.html")[0] == 0
    assert Path("other.html").read_text("utf-8") == page


def test_the_example_says_where_it_comes_from(run: Run) -> None:
    code, text, _ = run("profile", "--example", "bloom", "--format", "md")
    assert (
        code == 0
        and "arXiv 2606.05531" in text
        and "Table 2 | none | 30 | 30 |" in text
        and "Macro RAE of Gemma3" not in text
    )
    assert "37 of 2,332 scores" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Name saved scores"),
        (("scores_rae.csv", "--example", "bloom"), "--example takes the place of files"),
        (("--example", "silver"), "vcrgen profile has no example 'silver'; it has bloom"),
        (("none_rae.csv",), "none_rae.csv is not a file"),
        (("scores_rae.csv", "scores_rae.csv"), "is in another file or column already"),
        (("scores_rae.csv", "--format", "pdf"), "Unknown format 'pdf'"),
        (("scores_rae.csv", "--out", "scores_rae.csv"), "is read here, so nothing is written over it"),
        (("scores_rae.csv", "--out", "no/such/page.html"), "no/such/page.html"),
    ],
)
def test_a_mistake_is_one_sentence(tables: Run, words: tuple[str, ...], message: str) -> None:
    code, _, errors = tables("profile", *words)
    assert code == 2 and message in " ".join(errors.split()) and "Traceback" not in errors
