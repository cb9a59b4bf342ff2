"""The commands, from files to what is printed and written; golden where a person reads it."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from vcrgen import build
from vcrgen.cli import app as whole
from vcrgen.cli import console
from vcrgen.cli.score import compare_saved, score, validate
from vcrgen.core.errors import VcrgenError
from vcrgen.scorer import ScoreOptions, Session, load_answers
from vcrgen.scorer.saved import load_saved, write_saved

app = typer.Typer()
app.command()(score)
app.command()(validate)
app.command("compare")(compare_saved)
Run = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(console, "out", Console(width=100))

    def call(*arguments: object, code: int = 0) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if isinstance(result.exception, VcrgenError):
            raise result.exception
        assert result.exit_code == code, result.output
        return result.output

    return call


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "samples"
    build("samples:10", out=folder, lang="en")
    return folder


@pytest.fixture
def outputs(dataset: Path, write_lines: Any) -> dict[str, Path]:
    """Perfect, noisy and empty outputs in both views."""
    questions = load_answers(dataset).questions
    kinds: dict[str, Callable[[list[str]], str]] = {
        "perfect": "\n".join,
        "noisy": lambda spans: " ".join(" ".join(span.split()[1:]) for span in spans) + " and more",
        "empty": lambda spans: "",
    }
    return {
        kind: write_lines(
            f"{kind}.jsonl",
            [
                {"question_id": q.question_id, "view": view, "model": kind, "output": make(list(q.answers))}
                for q in questions
                for view in ("stacked", "tei")
            ],
        )
        for kind, make in kinds.items()
    }


def exact(file: Path) -> list[float]:
    result = json.loads(file.with_name(f"{file.stem}.scores.json").read_text("utf-8"))
    return [cell["metrics"]["exact"]["value"] for cell in result["scores"]]


def test_the_mode_labels_and_adds_visible_ink(run: Run, dataset: Path, outputs: dict[str, Path]) -> None:
    text = run("score", outputs["noisy"], "--data", dataset, "--details")
    assert "do not say their mode" in text and "By visible ink" not in text
    text = run("score", outputs["noisy"], "--data", dataset, "--details", "--mode", "hard")
    assert "hard" in text and "By visible ink" in text


@pytest.mark.parametrize("form", ["json", "html"])
def test_every_format(run: Run, dataset: Path, outputs: dict[str, Path], tmp_path: Path, form: str) -> None:
    out = tmp_path / f"report.{form}"
    run("score", *outputs.values(), "--data", dataset, "--compare", "--format", form, "--out", out)
    text = out.read_text("utf-8")
    assert "vcrgen-v2" in text and "perfect" in text
    if form == "html":
        assert "Beside what was expected: vcrgen view " in text
        assert "<img" not in text and "<script" not in text and "http:" not in text.replace("http://www.w3.org", "")
    if form == "json":
        assert len(json.loads(text)["comparisons"]) == 6


def test_evidence(run: Run, dataset: Path, outputs: dict[str, Path], tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    for suffix in ("parquet", "jsonl"):
        run("score", outputs["noisy"], "--data", dataset, "--spans", tmp_path / f"s.{suffix}")
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text("utf-8").splitlines()]
    assert rows == pq.read_table(tmp_path / "s.parquet").to_pylist()
    sources = {
        (p["question_id"], p["view"]): p["output"] for p in map(json.loads, outputs["noisy"].open(encoding="utf-8"))
    }
    for row in rows:
        if row["ngram"]:
            part = sources[row["question_id"], row["view"]][row["start"] : row["end"]]
            assert part.replace(" ", "") == row["ngram"].replace(" ", "")


def test_validate(run: Run, key: Path, perfect: Path, write_lines: Any) -> None:
    assert "Complete." in run("validate", perfect, "--data", key)
    assert "Not complete" in run(
        "validate", write_lines("p.jsonl", [{"question_id": "a", "output": "x"}]), "--data", key, code=1
    )


def test_nothing_is_written_over_what_is_read(run: Run, dataset: Path, outputs: dict[str, Path]) -> None:
    """Without a question the predictions were gone, or a part of the dataset."""
    file = outputs["noisy"]
    before = file.read_bytes()
    manifest = next(dataset.rglob("*.parquet"))
    held = manifest.read_bytes()
    link = file.with_name("link.md")
    link.symlink_to(file)
    evidence = file.rename(file.with_name("in.jsonl"))
    for words in (("--out", evidence), ("--out", link), ("--spans", evidence), ("--out", manifest)):
        link.unlink(missing_ok=True)
        link.symlink_to(evidence)
        with pytest.raises(VcrgenError, match="is read here, so nothing is written over it"):
            run("score", evidence, "--data", dataset, "--format", "md", *words)
    assert evidence.read_bytes() == before and manifest.read_bytes() == held
    both = file.with_name("both.jsonl")
    with pytest.raises(VcrgenError, match="Two things would be written to"):
        run("score", evidence, "--data", dataset, "--format", "md", "--spans", both, "--out", both)
    with pytest.raises(VcrgenError, match="Two things would be written to"):
        run("score", evidence, "--data", dataset, "--format", "json", "--out", file.with_name("in.scores.json"))


def test_a_run_is_not_compared_with_itself(run: Run, dataset: Path, outputs: dict[str, Path], tmp_path: Path) -> None:
    file = outputs["noisy"]
    link = tmp_path / "link.jsonl"
    link.symlink_to(file)
    for again, message in ((file, "is named twice"), (link, "are the same"), (file.parent / "." / file.name, "twice")):
        with pytest.raises(VcrgenError, match=f"{message}; name each run once"):
            run("score", file, again, "--data", dataset, "--compare", "--no-json")
    run("score", *outputs.values(), "--data", dataset)
    saved = file.with_name("noisy.scores.json")
    copy = tmp_path / "copy.scores.json"
    copy.write_bytes(saved.read_bytes())
    others = [file.with_name(f"{other.stem}.scores.json") for other in outputs.values() if other != file]
    for again, message in ((saved, "is named twice"), (copy, "copy.scores.json and .*noisy.scores.json are the same")):
        with pytest.raises(VcrgenError, match=f"{message}; name each run once"):
            run("compare", saved, *others, again)
    assert run("compare", saved, *others)


def signatures(outputs: Path) -> dict[str, str]:
    """The files of scores beside outputs, and the protocol of each."""
    files = outputs.parent.glob("*.scores.json")
    return {file.name: json.loads(file.read_text("utf-8"))["signature"]["protocol"] for file in files}


def test_the_newest_scores_have_the_plain_name(run: Run, key: Path, perfect: Path) -> None:
    run("score", perfect, "--data", key)
    plain = perfect.with_name("perfect.scores.json")
    first, short = plain.read_bytes(), json.loads(plain.read_text("utf-8"))["signature"]["short"]
    older = perfect.with_name(f"perfect.{short}.scores.json")
    assert f"are now {older.name}" in run("score", perfect, "--data", key, "--protocol", "vlmevalkit")
    assert older.read_bytes() == first and signatures(perfect)[plain.name] == "vlmevalkit-v2"
    run("score", perfect, "--data", key)
    assert plain.read_bytes() == first and not older.exists()
    assert sorted(signatures(perfect).values()) == ["vcrgen-v2", "vlmevalkit-v2"]
    plain.write_text("{}")
    with pytest.raises(VcrgenError, match="holds no scores, so it is not replaced"):
        run("score", perfect, "--data", key)


def test_two_runs_at_once_lose_no_scores(key: Path, perfect: Path) -> None:
    """Each takes away what the other has just written, again and again."""
    results = [Session(key, ScoreOptions(seed=seed)).score(perfect) for seed in range(4)]
    plain = perfect.with_name("perfect.scores.json")
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            list(pool.map(lambda result: write_saved(plain, result, secret=False), results))
            written = [load_saved(file) for file in perfect.parent.glob("*.scores.json")]
            assert {str(result.signature) for result in written} == {str(result.signature) for result in results}
            assert len(written) == len(results) and not list(perfect.parent.glob(".*"))
    for file in set(perfect.parent.glob("*.scores.json")) - {plain}:
        assert load_saved(file).signature.short in file.name


def test_no_json(run: Run, key: Path, perfect: Path) -> None:
    assert "Written" not in run("score", perfect, "--data", key, "--no-json")
    assert not list(perfect.parent.glob("*.scores.json"))


@pytest.mark.parametrize("command", ["score", "validate"])
def test_the_progress_is_told_on_the_standard_error(
    key: Path, perfect: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("vcrgen.core.console_progress.LINE_SECONDS", 0.0)
    errors = io.StringIO()
    monkeypatch.setattr(console, "err", Console(file=errors, width=100))
    result = CliRunner().invoke(app, [command, str(perfect), "--data", str(key)])
    outputs = len(perfect.read_text("utf-8").splitlines())
    assert result.exit_code == 0 and f"{outputs} outputs, " in errors.getvalue() and " read, " not in result.output


def test_saved_scores_are_compared(run: Run, dataset: Path, outputs: dict[str, Path], tmp_path: Path) -> None:
    files = [outputs["perfect"], outputs["noisy"]]
    with_outputs = run("score", *files, "--data", dataset, "--compare", "--format", "md")
    saved = [file.with_name(f"{file.stem}.scores.json") for file in files]
    assert run("compare", *saved, "--format", "md") == with_outputs
    text = run("compare", *saved)
    assert "A = perfect, B = noisy" in text and "Corrected p" in text
    out = tmp_path / "table.tex"
    run("compare", *saved, "--format", "latex", "--out", out)
    assert out.read_text("utf-8").count("tabular") > 2
    with pytest.raises(VcrgenError, match="The HTML report is written, not printed"):
        run("compare", *saved, "--format", "html")
    with pytest.raises(VcrgenError, match="is read here"):
        run("compare", *saved, "--out", saved[0])
    with pytest.raises(VcrgenError, match="two runs or more"):
        run("compare", saved[0])


def test_nothing_from_a_file_is_markup(run: Run, write_lines: Any, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=a>{{ 7*7 }}[bold]&amp;|\x1b[31m"
    key = write_lines("k.jsonl", [{"question_id": evil, "crossed_text": [evil]}])
    file = write_lines("p.jsonl", [{"question_id": evil, "output": evil, "model": evil}])
    for form in ("html", "md", "text"):
        out = tmp_path / f"r.{form}"
        run("score", file, "--data", key, "--format", form, "--out", out)
        text = out.read_text("utf-8")
        if form != "text":
            assert "<script" not in text and "<img" not in text and ">49" not in text
        assert "\x1b[31m" not in text or form == "html"


@pytest.mark.parametrize("name", ["＝1+1", "x;=1+1"])
def test_a_model_name_is_no_formula(run: Run, key: Path, write_lines: Any, name: str) -> None:
    file = write_lines("p.jsonl", [{"question_id": "a", "output": "x", "model": name}])
    text = run("score", file, "--data", key, "--format", "csv", "--allow-missing")
    assert ("x;'=1+1," if ";" in name else f",'{name},") in text
    assert ",-," in text  # a mode that nobody states is no formula


@pytest.mark.parametrize(
    ("name", "form", "shown"),
    [("---|<script>", "md", "| ---\\|&lt;script&gt; |"), ("[2em]x", "latex", "\n{}[2em]x & ")],
)
def test_a_model_name_is_no_markup(run: Run, key: Path, write_lines: Any, name: str, form: str, shown: str) -> None:
    file = write_lines("p.jsonl", [{"question_id": "a", "output": "x", "model": name}])
    assert shown in run("score", file, "--data", key, "--format", form, "--allow-missing")


def test_refusals_are_sentences(run: Run, key: Path, perfect: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (("--format", "html"), "name its place with --out"),
        (("--format", "pdf"), "Unknown format 'pdf'"),
        (("--spans", tmp_path / "s.txt"), r"\.parquet or \.jsonl"),
        (("--compare",), "two runs or more"),
        (("--subset", "seven"), "Unknown subset 'seven'"),
        (("--out", tmp_path / "no" / "such" / "r.md", "--format", "md"), "cannot be written"),
    ):
        with pytest.raises(VcrgenError, match=message):
            run("score", perfect, "--data", key, *arguments)


@pytest.mark.process
def test_importing_the_scorer_needs_no_image_library() -> None:
    code = (
        "import sys, vcrgen.scorer, vcrgen.cli.score; assert not {'spacy', 'numpy', 'rapidfuzz'} & set(sys.modules);"
        "from vcrgen.scorer import match_span;"
        "assert match_span('位于上海市', '位于上海市', lang='zh').exact; match_span('a b', 'a b');"
        "bad = {'PIL', 'datasets', 'matplotlib', 'pyarrow'} & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("command", "said"), [("score", "begins anew next time"), ("build", "again to go on")])
def test_an_interruption_says_whether_work_goes_on(command: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It said of every command that it would go on."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "vcrgen.cli.score.validate_options" if command == "score" else "vcrgen.builder.options.load_build_config",
        interrupted,
    )
    words = ["score", "x", "--data", "y"] if command == "score" else ["build", "samples:2", "--out", "z"]
    result = CliRunner().invoke(whole, words)
    assert result.exit_code == 130 and said in result.output
