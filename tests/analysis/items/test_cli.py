"""``vcrgen analyze items`` and ``shorten`` as a user runs them, with rubbish, too."""

import csv
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from vcrgen.cli import app
from vcrgen.dataset.key import HIDDEN_MODE
from vcrgen.report.document import PRIVATE

pytestmark = pytest.mark.usefixtures("rough")
Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    def call(*words: object) -> Result:
        return CliRunner().invoke(app, ["analyze", *map(str, words)], env={"COLUMNS": "200"})

    return call


def refused(result: Result, message: str) -> None:
    """Exit code 2, and one sentence."""
    shown = " ".join(result.output.split())
    assert result.exit_code == 2 and shown.startswith("Error: "), result.output
    assert re.search(message, shown), shown


@pytest.mark.parametrize(
    ("command", "form"), [("items", "text"), ("items", "csv"), ("items", "html"), ("shorten", "json")]
)
def test_every_format_of_the_example(run: Run, tmp_path: Path, command: str, form: str) -> None:
    words = ["--keep", "20,60", "--resamples", "10"] if command == "shorten" else ["--resamples", "100"]
    out = tmp_path / "out"
    result = run(command, "--example", "items", *words, "--format", form, "--out", out)
    assert result.exit_code == 0, result.exception
    suffix = {"text": "txt", "latex": "tex"}.get(form, form)
    text = (out / f"report.{suffix}" if command == "shorten" else out).read_text("utf-8")
    assert "limitations" in text.lower()
    assert "15 cells" in text
    if form == "html":
        assert "<script" not in text and "http" not in text.replace("http-equiv", "") and "<svg" in text
    if form == "json":
        assert json.loads(text)["warnings"]
    if form == "csv":
        assert len(list(csv.DictReader(io.StringIO(text)))) > 30


def test_the_same_command_gives_the_same_bytes(run: Run, twelve: list[Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        run("items", *twelve, "--resamples", 100, "--out", tmp_path / f"{name}.html")
        run("shorten", *twelve, "--keep", "10,20", "--resamples", 10, "--out", tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert (tmp_path / "a" / "ids-20.txt").read_bytes() == (tmp_path / "b" / "ids-20.txt").read_bytes()
    assert (tmp_path / "a" / "report.html").read_bytes() == (tmp_path / "b" / "report.html").read_bytes()


def test_evidence_gives_a_page_without_an_answer(run: Run, twelve: list[Path], key: Path, tmp_path: Path) -> None:
    out = tmp_path / "items.html"
    assert run("items", *twelve, "--resamples", 100, "--out", out).exit_code == 0
    text = out.read_text("utf-8")
    answers = [answer for line in key.read_text("utf-8").splitlines() for answer in json.loads(line)["crossed_text"]]
    assert "Predictors of difficulty" in text and "Only 12 models" in text and "q07 [1]" in text
    assert not any(answer in text for answer in answers)


def test_a_subset_is_what_score_takes(run: Run, twelve: list[Path], key: Path, tmp_path: Path) -> None:
    few, out = ("--resamples", 10), tmp_path / "short"
    result = run("shorten", *twelve, "--keep", "15", "--method", "anchors", *few, "--out", out)
    assert result.exit_code == 0 and f"Written: {out}" in result.output.replace("\n", "")
    file = out / "ids-15.txt"
    assert len(file.read_text("utf-8").splitlines()) == 15
    outputs = twelve[0].parent / "m03.jsonl"
    scored = CliRunner().invoke(
        app, ["score", str(outputs), "--data", str(key), "--subset", str(file), "--no-json", "-f", "md"]
    )
    assert scored.exit_code == 0 and "Scored on the subset 15@" in scored.output
    assert "estimated exact match on all 40 questions: " in scored.output
    again = run(
        "shorten", *twelve, "--keep", "20", "--resamples", 10, "--out", tmp_path / "short"
    )  # replaces its own folder
    assert again.exit_code == 0 and not file.exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x")
    refused(run("shorten", *twelve, "--keep", "20", "--out", tmp_path / "other"), "holds something else")


def test_a_long_table_with_numbers_of_spans_gives_the_estimate_too(
    run: Run, twelve: list[Path], key: Path, tmp_path: Path
) -> None:
    rows = [row for file in twelve for row in pq.read_table(file).to_pylist()]
    lines = [
        f"{row['model'] or row['run']},{of}-{row['span']},{row['exact']},{of},{row['span']}"
        for row in rows
        for of in [row["question_id"]]
    ]
    table = tmp_path / "long.csv"
    table.write_text("\n".join(["model,item,score,image,span", *lines]), "utf-8")
    words, numbered = ("--keep", "15", "--resamples", 10), tmp_path / "numbered"
    assert run("shorten", table, *words, "--out", numbered).exit_code == 0
    assert run("shorten", *twelve, *words, "--out", tmp_path / "evidence").exit_code == 0
    ours, theirs = (json.loads((out / "ids-15.json").read_text()) for out in (numbered, tmp_path / "evidence"))
    assert ours["items"] == theirs["items"] and ours["subset"] == theirs["subset"]
    outputs = twelve[0].parent / "m03.jsonl"
    subset = ("--subset", str(numbered / "ids-15.txt"), "--no-json", "-f", "md")
    scored = CliRunner().invoke(app, ["score", str(outputs), "--data", str(key), *subset])
    assert "estimated exact match on all 40 questions: " in scored.output
    table.write_text("\n".join(["model,item,score,image", *(line.rpartition(",")[0] for line in lines)]), "utf-8")
    plain = run("shorten", table, *words, "--out", tmp_path / "plain")
    assert plain.exit_code == 0 and not (tmp_path / "plain" / "ids-15.json").exists()
    assert "with the column `span`, numbers from 0" in (tmp_path / "plain" / "report.html").read_text("utf-8")


def test_limits_name_a_size(run: Run, twelve: list[Path]) -> None:
    text = run("shorten", *twelve, "--error", "50", "--agreement", "0.01", "--keep", "30,39", "--resamples", 10).stdout
    assert "a mean error of at most 50 points and a mean rank correlation of at least 0.01" in text
    assert "Smallest sufficient size" in text and "With the method pirt, 30 images meets" in text
    assert "Smallest sufficient size" not in run("shorten", *twelve, "--keep", "30", "--resamples", 10).stdout


def test_a_hidden_set_is_private(run: Run, twelve: list[Path], tmp_path: Path) -> None:
    files = []
    for file in twelve:
        table = pq.read_table(file)
        mode = table.schema.get_field_index("mode")
        files.append(tmp_path / file.name)
        pq.write_table(table.set_column(mode, "mode", [[HIDDEN_MODE] * table.num_rows]), files[-1])
    for command in ("items", "shorten"):
        refused(run(command, *files), "with --private they are analysed")
    run("items", *files, "--private", "--resamples", 100, "--out", tmp_path / "p.html")
    run("shorten", *files, "--private", "--keep", "20", "--resamples", 10, "--out", tmp_path / "short")
    for page in (tmp_path / "p.html", tmp_path / "short" / "report.html"):
        assert PRIVATE in page.read_text("utf-8")
    assert not any(word in (tmp_path / "p.html").read_text("utf-8") for word in ("river", "castle"))


def test_options_that_do_not_fit(run: Run, twelve: list[Path], key: Path, tmp_path: Path) -> None:
    for words, message in (
        ([], "Name a file of evidence"),
        (["--example", "gold"], "does not take the example 'gold'"),
        (["--example", "items", twelve[0]], "--example takes the place of files"),
        ([*twelve[:4]], "need at least 5 models, .* has 4"),
        ([*twelve, "--format", "pdf"], "Unknown format 'pdf'"),
        ([*twelve, "--format", "html"], "name it with --out"),
        ([*twelve, "--out", twelve[0]], "is read here"),
        ([*twelve, "--data", tmp_path], "is not a dataset: it has no manifest.json"),
        ([*twelve, "--data", key], "key.jsonl is not a dataset but another file; name a dataset's folder"),
        (["--example", "items", "--data", key], "no evidence of vcrgen score --spans"),
        ([*twelve, "--metric", "x"], "Unknown metric"),
        ([*twelve, "--resamples", "5"], "resamples"),
    ):
        refused(run("items", *words), message)
    for words, message in (
        (["--keep", "10,x"], "--keep '10,x' is not of the form"),
        (["--keep", "40"], "40 of 40 cannot be kept"),
        (["--keep", ",".join(map(str, range(2, 35)))], "30 at most"),
        (["--method", "best"], "method"),
        (["--error", "0"], "error"),
        (["--agreement", "2"], "agreement"),
        (["--format", "html"], "name a folder for it with --out"),
    ):
        refused(run("shorten", *twelve, *words), message)
    refused(run("shorten", *twelve[:9]), "needs at least 10 models")


def rubbish(rng: random.Random) -> tuple[str, str]:
    """A table with every kind of fault, and the suffix of its name."""
    odd = ["", "nan", "inf", "-1", "1e400", "text", "\u202e", "=1+1", "<b>", "x" * 5001, "\0", '"', "\n", "a,b", "NaN"]
    long = ["model", "item", "score"]
    heads = rng.choice([long, long, [*long, "image"], ["model", "score"], [], ["x"] * 3])
    faults = rng.choice([0, 0.01, 0.1])
    rows = []
    for model in range(rng.choice([0, 1, 6, 11])):
        for item in range(rng.choice([1, 3, 8])):
            row = [f"m{model}", f"i{item}", rng.choice(["0", "1", "0.5"]), "im"][: len(heads)]
            rows.append([rng.choice(odd) if rng.random() < faults else cell for cell in row])
    suffix = rng.choice(["csv", "tsv", "jsonl"])
    if suffix == "jsonl":
        lines = [json.dumps(dict(zip(heads, row, strict=False))) for row in rows]
        return "\n".join([*lines, *(["{"] if rng.random() < 0.1 else [])]), suffix
    return "\n".join(("," if suffix == "csv" else "\t").join(row) for row in [heads, *rows]), suffix


@pytest.mark.sweep
def test_rubbish_is_one_sentence(run: Run, tmp_path: Path) -> None:
    """``scripts/measure_items.py rubbish`` does the same 2,000 times."""
    rng, seen = random.Random(7), set[str]()
    for number in range(60):
        text, suffix = rubbish(rng)
        file = tmp_path / f"{number}.{suffix}"
        file.write_text(text, "utf-8")
        result = run(rng.choice(["items", "shorten"]), file, "--resamples", 100, "--format", "json")
        assert result.exit_code in (0, 2), (text, result.exception)
        if result.exit_code:
            refused(result, str(number))
            assert len(result.output) < 2000
            seen.add(result.output[-20:])
    assert len(seen) > 10
