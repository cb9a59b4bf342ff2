"""What has no output is said wherever the scores go, and is no success unless the user says so."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.bloom.conftest import made_set
from tests.scorer.mcq.test_session import items, key_of, lines
from vcrgen.analysis.score_table import read_scores
from vcrgen.cli import app

MISSING = "38 of 48 items missing"
Run = Callable[..., str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """English outputs of ten items of 48, and as many of all."""
    folder = tmp_path_factory.mktemp("missing")
    made_set(folder / "set", items())
    for name, count in (("few", 10), ("all", 48)):
        rows = [line for line in lines(items()[:count], key_of, model=f"org/{name}") if line["lang"] == "en"]
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    (folder / "ten.txt").write_text("".join(f"{item['question_id']}\n" for item in items()[:10]), "utf-8")
    return folder


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(folder)

    def call(words: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, words.split())
        assert result.exit_code == code, result.output
        assert (code == 3) == ("add --allow-missing" in result.stderr)
        return result.stdout

    return call


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("text", f"({MISSING}); n = 48 items in 12 pictures; "),
        ("md", f"org/few, en, Image: {MISSING}, which count as wrong."),
        ("latex", f"org/few, en, Image: {MISSING}, which count as wrong."),
        ("csv", ",48,12,38,"),
        ("json", '"missing": { "count": 38, "of": 48 }'),
    ],
)
def test_every_form_says_it_and_the_exit_code_is_3(run: Run, form: str, shown: str) -> None:
    text = run(f"score few.jsonl --data set --no-json --format {form}", code=3)
    assert shown in (text.splitlines()[0] if form == "text" else " ".join(text.split()))


def test_without_missing_outputs_or_if_they_are_allowed_the_exit_code_is_0(run: Run) -> None:
    assert MISSING in run("score few.jsonl --data set --no-json --allow-missing")
    assert "items missing" not in run("score all.jsonl --data set --no-json")


def test_files_are_written_before_the_command_ends(run: Run, folder: Path) -> None:
    run("score few.jsonl --data set --format html --out few.html", code=3)
    assert MISSING in (folder / "few.html").read_text("utf-8")
    cell = json.loads((folder / "few.scores.json").read_text("utf-8"))["scores"][0]
    assert cell["missing"] == {"count": 38, "of": 48}


def test_what_was_not_asked_is_not_missing(run: Run) -> None:
    for subset in ("ten.txt", "first10"):
        assert "items missing" not in run(f"score few.jsonl all.jsonl --data set --no-json --subset {subset}")


def test_every_reader_of_saved_scores_says_it(run: Run, folder: Path) -> None:
    run("score few.jsonl all.jsonl --data set --allow-missing")
    for words in ("compare few.scores.json all.scores.json", "profile few.scores.json --format md"):
        assert MISSING in run(words)
    assert read_scores([folder / "few.scores.json", folder / "all.scores.json"]).notes == (
        f"What has no output counts as wrong: org/few on en image ({MISSING}).",
    )
    run("export few.scores.json --to hub --dataset org/set --out hub.yaml")
    assert MISSING in (folder / "hub.yaml").read_text("utf-8")
    run("export few.scores.json --to every-eval-ever --model org/few --organization Us --out records")
    (record,) = (folder / "records").rglob("*.json")
    details = json.loads(record.read_text("utf-8"))["evaluation_results"][0]["score_details"]["details"]
    assert details["missing"] == "38 of 48"
