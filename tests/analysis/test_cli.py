"""The commands as a user runs them: files in, every form out, and one sentence for what is wrong."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from vcrgen.analysis.examples import EXAMPLES, GOLD_ABILITIES, published_rows
from vcrgen.cli import analyze
from vcrgen.report.document import LIMITATIONS, PRIVATE

Run = Callable[..., tuple[int, str, str]]
FEW = "Fewer than 50 models (20)"


@pytest.fixture
def gold_files(run: Run) -> Run:
    """The command line in a folder with the GOLD models as a table, and a specification."""
    Path("scores.csv").write_text("\n".join(",".join(row) for row in published_rows("gold-models")) + "\n")
    Path("gold.yaml").write_text(yaml.safe_dump({"abilities": {name: list(t) for name, t in GOLD_ABILITIES.items()}}))
    return run


def test_a_map_of_a_file_is_that_of_the_example(gold_files: Run) -> None:
    common = ("--clusters", 3, "--resamples", 100)
    code, text, _ = gold_files("analyze", "map", "scores.csv", *common)
    assert "families of models are guessed" in text.casefold()
    assert code == 0 and FEW in text and LIMITATIONS in text and "Basic Medical Science" in text
    written = {}
    for source, out in (("scores.csv", "a.json"), ("--example=gold", "b.json"), ("scores.csv", "a.csv")):
        alone = [] if "example" in source else ["--no-families"]  # of an example no families are guessed
        assert gold_files("analyze", "map", source, *alone, *common, "--out", out)[0] == 0
        written[out] = Path(out).read_text()
    assert json.loads(written["a.json"])["tables"] == json.loads(written["b.json"])["tables"]
    table = list(csv.DictReader(io.StringIO(written["a.csv"])))
    pair = {row["column"]: row for row in table if row["row"] == "Color / Count"}
    assert float(pair["r"]["value"]) == pytest.approx(0.8637, abs=1e-4) and pair["Models"]["value"] == "20"


def test_the_same_seed_gives_the_same_bytes(gold_files: Run) -> None:
    for out, seed in (("a.html", 1), ("b.html", 1), ("c.html", 2)):
        gold_files(
            "analyze", "factors", "scores.csv", "--spec", "gold.yaml", "--seed", seed, "--resamples", 200, "-o", out
        )
    assert Path("a.html").read_bytes() == Path("b.html").read_bytes() != Path("c.html").read_bytes()


def test_factors_of_a_file(gold_files: Run) -> None:
    command = ("analyze", "factors", "scores.csv", "--spec", "gold.yaml", "--resamples", 100, "--format", "md")
    code, text, _ = gold_files(*command)
    assert (
        code == 0
        and FEW in text
        and "HTMT2" in text
        and "Fewer than 10 models for each task of the largest ability (20 for 5)" in text
    )
    # Of 20 models the interval of some loading contains the limit.
    assert "inconclusive" in text


def test_prune_writes_a_folder(gold_files: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vcrgen.analysis.prune_evaluation.RANDOM_SETS", 50)
    few = ("--spec", "gold.yaml", "--floor", 1, "--resamples", 20)
    code, text, _ = gold_files("analyze", "prune", "scores.csv", *few, "--out", "pruned")
    assert code == 0 and "Written: pruned" in text
    report = Path("pruned/report.html")
    assert "Score more models before you drop a task: 20 models are too few, and 80 are needed." in report.read_text()
    assert not Path("pruned/kept.yaml").exists()  # of so few models there is no verdict
    command = ("analyze", "prune", "--example", "gold-made", "--resamples", 20, "--loading-min", 0.8, "--out", "pruned")
    code, text, _ = gold_files(*command)
    assert code == 0 and re.search(r"Drop \d+ tasks? of 11: ", report.read_text())
    log = list(csv.DictReader(io.StringIO(Path("pruned/log.csv").read_text())))
    kept = yaml.safe_load(Path("pruned/kept.yaml").read_text())
    left = [task for tasks in kept["abilities"].values() for task in tasks]
    hanging = {row["task"] for row in log} & set(left)  # on a few models, so they stay
    assert len(log) + len(left) - len(hanging) == 11
    assert all(re.search(f"Keep [^:]*{task}[^:]* for now", report.read_text()) for task in hanging)
    assert LIMITATIONS in Path("pruned/report.html").read_text()
    # The kept tasks are a specification, and the folder is replaced by the next run.
    scores = Path("gold-made.csv")
    table = EXAMPLES["gold-made"].load()
    lines = [",".join(map(str, (model, *row))) for model, row in zip(table.models, table.scores, strict=True)]
    scores.write_text("\n".join([",".join(("model", *table.tasks)), *lines]))
    assert gold_files("analyze", "factors", scores, "--spec", "pruned/kept.yaml", "--resamples", 100)[0] == 0
    assert gold_files(*command, "--batch", "--format", "md")[0] == 0
    assert sorted(file.name for file in Path("pruned").iterdir()) == [
        ".vcrgen-analysis",
        "kept.yaml",
        "log.csv",
        "report.md",
    ]
    code, text, _ = gold_files("analyze", "prune", "--example", "gold-made", "--resamples", 20, "--loading-min", 0.8)
    assert code == 0 and re.search(r"1 +Artwork +Memory +loading", text) and "Agreement with the anchor" in text


def test_private_marks_the_report(gold_files: Run) -> None:
    code, text, _ = gold_files("analyze", "factors", "--example", "gold", "--resamples", 100, "--private")
    assert code == 0 and PRIVATE in text


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("map", "Name a table of scores, or take data that ships with vcrgen"),
        ("map none.csv", "none.csv is not a file"),
        ("map scores.csv --format pdf", "Unknown format 'pdf'; known: text, md"),
        ("map scores.csv --format html", "The HTML report is written, not printed: name its place with --out"),
        ("map scores.csv --out scores.csv", "scores.csv is read here, so nothing is written over it"),
        ("map scores.csv --example gold", "--example takes the place of files; give one of them"),
        ("map --example silver", "vcrgen analyze map has no example 'silver'; it has gold, gold-made, vcr, vcr-map"),
        ("map scores.csv --clusters 40", "--clusters is 2 to 10"),
        ("map scores.csv --method cosine", "method: Input should be 'pearson', 'spearman' or 'kendall'"),
        ("map scores.csv --resamples 1", "resamples: Input should be greater than or equal to 100"),
        ("map scores.csv --out no/such/folder.md", "no/such/folder.md cannot be written: no such file or directory"),
        ("map scores.csv --lower-is-better X", "--lower-is-better 'X' is no task of scores.csv"),
        ("factors scores.csv", "Name the abilities and their tasks in a YAML file: --spec abilities.yaml"),
        ("factors scores.csv --spec none.yaml", "The configuration file none.yaml cannot be read"),
        ("factors scores.csv --spec gold.yaml --anchor arena", "The anchor 'arena' is no task of the table"),
        ("factors --example vcr-map", "vcrgen analyze factors does not take the example 'vcr-map'; it has gold"),
        ("factors --example gold --spec gold.yaml", "--example takes the place of files"),
        ("factors --example gold --lower-is-better Math", "--lower-is-better is for files; an example is as it is"),
        ("prune --example gold --format html", "The HTML report is written, not printed: name its place with --out"),
        ("prune --example gold --out full", "full is there and holds something else"),
        ("prune --example gold --floor 0", "floor: Input should be greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_one_sentence(gold_files: Run, command: str, sentence: str) -> None:
    Path("full").mkdir()
    Path("full/mine").touch()
    before = sorted(Path().rglob("*"))
    code, out, errors = gold_files("analyze", *command.split())
    assert code == 2 and sentence in errors and "Traceback" not in errors and not out
    assert sorted(Path().rglob("*")) == before


def test_without_the_extra_there_is_a_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyze, "find_spec", lambda name: None)
    code, _, errors = run("analyze", "map", "--example", "gold")
    assert code == 2 and 'pip install "scipy>=1.11"' in errors


def test_the_published_table_of_vcr(run: Run) -> None:
    code, text, _ = run("analyze", "map", "--example", "vcr", "--clusters", 2, "--resamples", 100)
    assert code == 0 and EXAMPLES["vcr"].about.split(";")[0][:40] in text
