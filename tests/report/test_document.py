"""The forms of a document: warnings and what is not shown are in each, and nothing hostile gets out of its cell."""

import csv
import io
import json
from dataclasses import replace

import pytest
from markupsafe import Markup

from vcrgen.core.errors import ConfigError
from vcrgen.report.document import FORMATS, LIMITATIONS, PRIVATE, Chart, Document, Section, choose_format, render
from vcrgen.report.table import Number, NumberInterval, Percent, Table

HOSTILE = "<script>alert(1)</script>|`=1+1"


def made(*, private: bool = False) -> Document:
    rows = [
        (HOSTILE, Number(0.123456), NumberInterval(-0.5, 0.25), Percent(0.5), "cannot be told"),
        ("b", None, None, None, ""),
    ]
    table = Table(title="Numbers", heads=("Task", "r", "95 % interval", "Share", "Limit"), labels=1, rows=rows)
    long = Table(title="Long", heads=("Pair", "r"), labels=1, rows=[("a, b", Number(float("nan")))])
    return Document(
        title=f"Map {HOSTILE}",
        lead="5 models, 2 tasks.",
        sections=[
            Section(title="One", legend="Bars end at the mean.", notes=["Of seed 0."], tables=[table], details=[long])
        ],
        limitations=["Why a task is hard."],
        warnings=["Only 5 models."],
        settings="seed 0",
        private=private,
    )


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "text"])
def test_every_form_has_the_warnings_and_limitations(form: str) -> None:
    text = render(made(private=True), form)
    assert "Only 5 models." in text and "Why a task is hard." in text and PRIVATE in text
    assert LIMITATIONS.lower() in text.lower()
    assert PRIVATE not in render(made(), form)
    assert ("Bars end at the mean." in text) == (form == "html") and ("Of seed 0." in text or form == "csv")
    if form in ("html", "md"):
        assert "<script>alert" not in text


def test_csv_has_a_line_a_number() -> None:
    rows = list(csv.DictReader(io.StringIO(render(made(), "csv"))))
    found = {(row["row"], row["column"]): row for row in rows if row["table"] == "Numbers"}
    assert found[HOSTILE, "r"]["value"] == "0.123456" and found[HOSTILE, "Share"]["value"] == "50.0"
    assert (found[HOSTILE, "95 % interval"]["low"], found[HOSTILE, "95 % interval"]["high"]) == ("-0.5", "0.25")
    assert found[HOSTILE, "Limit"]["text"] == "cannot be told"


def test_json_is_not_rounded_and_has_no_nan() -> None:
    value = json.loads(render(made(), "json"))
    table, long = value["tables"]
    assert table["rows"][0] == [HOSTILE, 0.123456, [-0.5, 0.25], 0.5, "cannot be told"]
    assert long["rows"] == [["a, b", None]]


def test_the_form_is_told_by_the_name() -> None:
    assert [choose_format(None, suffix) for suffix in (".html", ".MD", ".tex", ".txt", "")] == [
        "html",
        "md",
        "latex",
        "text",
        "text",
    ]
    assert choose_format("json", ".html") == "json"
    with pytest.raises(ConfigError, match="Unknown format 'pdf'; known: text, md"):
        choose_format("pdf", "")
    with pytest.raises(
        ConfigError, match=r"No report is written as \.docx; end the name of --out in \.txt, \.md, .*--format"
    ):
        choose_format(None, ".docx")
    assert choose_format("text", ".log") == "text"


def test_a_page_with_a_summary_has_figures_first_and_folds_its_tables() -> None:
    table = Table(title="Numbers", heads=("a", "b"), labels=1, rows=[("x", 1), ("y", 2)])
    drawing = Chart(title="A drawing", svg=Markup("<svg></svg>"))
    section = Section(title="Part", text=["A sentence."], charts=[drawing], tables=[table])
    said = {"summary": ["Do this.", "Do that."], "lead": "Of ten models.", "warnings": ["Few."]}
    document = Document(title="T", sections=[section], **said)  # type: ignore[arg-type]
    page = render(document, "html")
    places = [
        page.index(text) for text in ("Do this.", "Do that.", "A drawing", "Of ten models.", "Few.", "A sentence.")
    ]
    assert places == sorted(places) and page.count("A drawing") == 1
    assert page.index("<details><summary>Numbers (2 rows)") < page.index("<table")
    short = replace(section, tables=[replace(table, rows=[("x", 1)])])
    assert "<details open><summary>Numbers (1 row)" in render(replace(document, sections=[short]), "html")
    plain = render(replace(document, summary=()), "html")
    assert "<details" not in plain and plain.index("Of ten models.") < plain.index("A drawing")
    for form in ("md", "latex", "json"):
        text = render(document, form)
        assert text.index("Do this.") < text.index("Do that."), form
