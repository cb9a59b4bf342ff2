"""``vcrgen score`` and ``vcrgen validate``: files of outputs in, reports out."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of
from vcrgen.cli.root import app
from vcrgen.config import ScoreOptions, checked, given
from vcrgen.errors import ScoreError
from vcrgen.files import output_errors, write_json, write_text

if TYPE_CHECKING:
    from vcrgen.scorer.comparison import Comparison
    from vcrgen.scorer.results import RunResult
    from vcrgen.scorer.run import Run, Session

Files = Annotated[list[Path], typer.Argument(help="Files of model outputs; the format is recognised.")]
Data = Annotated[
    Path,
    typer.Option(
        "--data",
        "-d",
        help="A dataset (vcrgen's, VCR-WIKI's Parquet, save_to_disk; or its URL), or a key (of a hidden set; JSONL).",
    ),
]
TEXT_WIDTH = 120  # characters of a report that is written to a file


@app.command(
    epilog=examples(
        "vcrgen score preds.jsonl --data data/my-vcr",
        "vcrgen score vlmevalkit_output.xlsx --data data/my-vcr --protocol vlmevalkit",
        "vcrgen score run_a.jsonl run_b.jsonl --data data/my-vcr --compare",
        "vcrgen score preds.jsonl --data data/my-vcr --spans spans.parquet --format html --out report.html",
        "vcrgen score preds.jsonl --data data/my-vcr --explain 5f2c81d09ab34e67",
    )
)
@options_of(ScoreOptions)
def score(
    predictions: Files,
    data: Data,
    compare: Annotated[bool, typer.Option("--compare", help="Compare the files pair by pair.")] = False,
    spans: Annotated[Path | None, typer.Option(help="Write per-span evidence: FILE.parquet or FILE.jsonl.")] = None,
    form: Annotated[str, typer.Option("--format", "-f", help="text, md, csv, latex, json or html.")] = "text",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the report to this file.")] = None,
    groups: Annotated[bool, typer.Option("--groups", help="text: show scores by length, place, ink, …, too.")] = False,
    explain: Annotated[str | None, typer.Option(metavar="ID", help="Show one question with its matches.")] = None,
    **options: Any,
) -> None:
    """Score model outputs: exact match and Jaccard of the nearest n-gram, with honest intervals.

    Files of one model that hold different modes or views are scored as one. The result is written as JSON beside
    the file of outputs (preds.scores.json).
    """
    from vcrgen.cli.terminal import plain, print_parts, show_scores
    from vcrgen.scorer.comparison import compare as compare_runs
    from vcrgen.scorer.evidence import write_evidence
    from vcrgen.scorer.results import with_own_titles
    from vcrgen.scorer.run import Session
    from vcrgen.scorer.tables import FORMATS

    if form not in FORMATS:
        raise ScoreError(f"Unknown format {form!r}; known: {', '.join(FORMATS)}.")
    if form == "html" and out is None:
        raise ScoreError("The HTML report is a file: name it with --out report.html.")
    chosen = checked(ScoreOptions, given(options))
    if explain is not None:
        _explain(Session(data, chosen), predictions, explain)
        return
    _check_names(predictions)
    session = Session(data, chosen)
    with write_evidence(spans) as evidence:
        runs = session.runs(predictions)
        results = with_own_titles([session.score(run, evidence) for run in runs])
    comparisons = compare_runs(results) if compare else []
    written = [_result_file(run[0].path) for run in runs]
    for target, result in zip(written, results, strict=True):
        with output_errors(target):
            write_json(target, result.as_json())
    if form == "text" and out is None:
        print_parts(console.out, show_scores(results, comparisons, groups=groups))
        print_parts(console.out, [plain(f"Written: {', '.join(str(file) for file in written)}", "dim")])
        return
    text = _report(form, session, runs, results, comparisons)
    if out is None:
        console.out.file.write(text)
        return
    with output_errors(out):
        write_text(out, text)
    print_parts(console.out, [plain(f"Written: {', '.join(str(file) for file in (*written, out))}")])


@app.command(epilog=examples("vcrgen validate preds.jsonl --data data/my-vcr"))
@options_of(ScoreOptions, only=("mode", "view", "split", "subset", "lang"))
def validate(predictions: Files, data: Data, **options: Any) -> None:
    """Check files of outputs without scoring them; exit code 1 if --strict would refuse one."""
    from vcrgen.cli.terminal import print_parts, show_validation
    from vcrgen.scorer.run import Session

    session = Session(data, checked(ScoreOptions, given(options)))
    validations = [session.validate(file) for file in predictions]
    for validation in validations:
        print_parts(console.out, show_validation(validation))
    if not all(validation.fit for validation in validations):
        raise typer.Exit(1)


def _explain(session: Session, predictions: Sequence[Path], question_id: str) -> None:
    """Print one question's outputs with their matches."""
    from vcrgen.cli.terminal import print_parts, show_found, show_signature

    found = [item for file in predictions for item in session.find(file, {question_id})]
    if not found:
        is_there = session.key.row_of(question_id) is not None
        where = "has no output in these files" if is_there else "is not in the dataset"
        raise ScoreError(f"The question {question_id!r} {where}.")
    for item in found:
        print_parts(console.out, show_found(item))
    print_parts(console.out, [show_signature("", str(session.signature))])


def _report(
    form: str,
    session: Session,
    runs: Sequence[Run],
    results: Sequence[RunResult],
    comparisons: Sequence[Comparison],
) -> str:
    if form == "html":
        from vcrgen.scorer.page import as_html

        return as_html(session, runs, results, comparisons)
    if form == "text":
        from vcrgen.cli.terminal import print_parts, show_scores

        page = io.StringIO()
        print_parts(Console(file=page, width=TEXT_WIDTH), show_scores(results, comparisons, groups=True))
        return page.getvalue()
    from vcrgen.scorer.tables import render

    return render(results, form, comparisons)


def _check_names(predictions: Sequence[Path]) -> None:
    targets = [_result_file(file).absolute() for file in predictions]
    for number, target in enumerate(targets):
        if target in targets[:number]:
            raise ScoreError(f"Two files would both be written up in {target}; score them one by one or rename one.")


def _result_file(file: Path) -> Path:
    return file.with_name(f"{file.stem}.scores.json")
