"""Rubbish: four hundred tables and specifications. Each is analysed or refused in one sentence; nothing gets out."""

import csv
import json
import random
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from vcrgen.analysis.factors import fit_factors
from vcrgen.analysis.factors_report import factors_document
from vcrgen.analysis.map_report import map_document
from vcrgen.analysis.redundancy import make_map
from vcrgen.analysis.score_table import read_scores
from vcrgen.analysis.spec import read_spec
from vcrgen.core.errors import VcrgenError
from vcrgen.report.document import Document, render

NAMES = (
    "<script>alert(1)</script>",
    "</title><img src=x onerror=y>",
    "=1+1",
    "@SUM(A1)",
    "-2+3",
    "a|b",
    "`code`",
    "x" * 5000,
    "\u202eabc",
    "\ud7a3" * 30,
    "{{ 7*7 }}",
    "$x_1$ & \\input{x}",
    "]]>",
    "",
    " ",
    "model",
    "task",
    "score",
    "nan",
    "*",
    "0",
    "\x00",
    "a\nb",
    "é" * 81,
)
CELLS = (
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e308",
    "text",
    "",
    "-",
    "=1+1",
    "1,5",
    "85%",
    "<b>1</b>",
    "0x10",
    "True",
    "\x00",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**400,
    float("nan"),
    "x" * 5000,
    [],
    {},
    [[]],
    {"a": {}},
    "A",
    "path",
    ["*"],
    {"loading": "much"},
    {"vif": float("inf")},
    "two-stage",
    "chain",
)
KEYS = ("abilities", "anchor", "layout", "mode", "scheme", "limits", "floor", "other", "", 1, None)
TRIES = 400


class Markup(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(f"@{name}" for name, _ in attrs)}


def a_table(rng: random.Random, file: Path) -> list[str]:
    """A table that is wrong in some way, or is not; returns the names of its tasks."""
    kind = rng.random()
    models, tasks = rng.choice((0, 1, 4, 12, 30, 30, 30)), rng.choice((0, 1, 3, 6, 8, 8))
    strange = rng.random() < 0.4
    heads = ["model", *(rng.choice(NAMES) if strange and rng.random() < 0.3 else f"t{i}" for i in range(tasks))]
    rows: list[list[str]] = [heads]
    for number in range(models):
        ability = rng.gauss(0, 1)
        row = [rng.choice(NAMES) if strange and rng.random() < 0.05 else f"m{number}"]
        for column in range(tasks):
            value = f"{50 + 10 * (ability + rng.gauss(0, 1)):.3f}" if kind > 0.1 or column else "5"
            row.append(rng.choice(CELLS) if strange and rng.random() < 0.02 else value)
        rows.append(row if not strange or rng.random() > 0.01 else row[: rng.randrange(len(row) + 1)])
    with file.open("w", newline="", encoding="utf-8", errors="replace") as handle:
        csv.writer(handle).writerows(rows)
    if rng.random() < 0.05 and file.stat().st_size:
        content = bytearray(file.read_bytes())
        for _ in range(5):
            content[rng.randrange(len(content))] = rng.randrange(256)
        file.write_bytes(content)
    return heads[1:]


def a_spec(rng: random.Random, file: Path, tasks: list[str]) -> None:
    """A specification that fits the table, with something wrong in every other one."""
    half = max(1, len(tasks) // 2)
    values: dict[Any, Any] = {"abilities": {"A": tasks[:half], "<i>B</i>": tasks[half:] or ["*"]}}
    if rng.random() < 0.5:
        values[rng.choice(KEYS)] = rng.choice(VALUES)
    if rng.random() < 0.2:
        values["abilities"] = {rng.choice(NAMES): rng.choice(VALUES), "B": tasks}
    text = yaml.safe_dump(values, allow_unicode=True)
    file.write_text(text if rng.random() < 0.95 else text[: rng.randrange(len(text))], "utf-8", errors="replace")


@pytest.mark.sweep
def test_four_hundred_tables_and_specifications(tmp_path: Path) -> None:
    rng = random.Random(14)
    table, spec = tmp_path / "t.csv", tmp_path / "s.yaml"
    usual = None
    refused: list[str] = []
    for _ in range(TRIES):
        tasks = a_table(rng, table)
        a_spec(rng, spec, tasks)
        try:
            result = fit_factors(read_scores([table]), read_spec(spec), draws=20)
            page = factors_document(result, settings="", about=tasks[0])
        except VcrgenError as problem:
            refused.append(str(problem))
            continue
        found = Markup(render(page, "html")).found
        usual = found if usual is None else usual
        assert found <= usual | {"tspan"}, found - usual
    assert 20 < TRIES - len(refused) < 200  # some are fine
    for sentence in refused:
        assert sentence.endswith(".") and len(sentence) < 1000 and "Traceback" not in sentence, sentence
    assert len({sentence.split(":")[-1][:25] for sentence in refused}) > 20  # they are wrong in many ways


@pytest.fixture(scope="module")
def hostile_map(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """A map whose models, tasks, file and settings have names that try to be more."""
    names = [name for name in NAMES if name.strip() and name.isprintable() and len(name) < 80][:10]
    rng = random.Random(1)
    rows = [["model", *names]]
    rows += [[f"{names[number % 10]}{number}", *(f"{rng.random():.3f}" for _ in names)] for number in range(12)]
    file = tmp_path_factory.mktemp("hostile") / "<b>t.csv"
    with file.open("w", newline="") as handle:
        csv.writer(handle).writerows(rows)
    return map_document(make_map(read_scores([file]), clusters=2, draws=100), settings="x | <b>y</b>")


def test_names_stay_names_in_every_form(hostile_map: Document) -> None:
    page = render(hostile_map, "html")
    assert not {"script", "b", "img", "@onerror"} & Markup(page).found and "&lt;script&gt;" in page
    text = render(hostile_map, "md")
    assert "<script" not in text and "<img" not in text and "a|b" not in text.replace(r"a\|b", "")
    lines = list(csv.reader(render(hostile_map, "csv").splitlines()))
    assert not any(cell.startswith(("=", "@", "+")) for line in lines for cell in line)
    assert r"\input{x}" not in render(hostile_map, "latex")
    assert json.loads(render(hostile_map, "json"))["tables"]
