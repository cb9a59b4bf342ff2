"""``vcrgen score``, ``vcrgen compare`` and ``vcrgen validate``: files of outputs or of scores in, reports out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.root import app
from vcrgen.config import ScoreOptions, checked, given
from vcrgen.errors import ScoreError
from vcrgen.files import output_errors, sha256_file, write_json, write_text

if TYPE_CHECKING:
    from vcrgen.scorer.comparison import Comparison
    from vcrgen.scorer.predictions import PredictionFile
    from vcrgen.scorer.results import RunResult
    from vcrgen.scorer.run import AnySession
    from vcrgen.signature import Signature

Files = Annotated[
    list[Path], typer.Argument(help="Files of model outputs; the format is recognised. - is standard input.")
]
Data = Annotated[
    Path,
    typer.Option(
        "--data",
        "-d",
        help="A dataset (vcrgen's, VCR-WIKI's Parquet, save_to_disk; or its URL), or a key (of a hidden set; JSONL).",
    ),
]
Out = Annotated[Path | None, out_option("Write the report to this file.")]
Groups = Annotated[bool, typer.Option("--groups", help="text: show scores by length, place, ink, …, too.")]


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
    out: Out = None,
    no_json: Annotated[bool, typer.Option("--no-json", help="Write no preds.scores.json.")] = False,
    groups: Groups = False,
    explain: Annotated[str | None, typer.Option(metavar="ID", help="Show one question with its matches.")] = None,
    **options: Any,
) -> None:
    """Score model outputs: exact match and Jaccard of the nearest n-gram, with honest intervals.

    Files of one model that hold different modes or views are scored as one. The result is written as JSON beside
    the file of outputs (preds.scores.json), for vcrgen compare.
    """
    from vcrgen.scorer.comparison import compare as compare_runs
    from vcrgen.scorer.evidence import write_evidence
    from vcrgen.scorer.results import with_own_titles
    from vcrgen.scorer.run import open_session
    from vcrgen.scorer.saved import as_saved, check_each_once
    from vcrgen.scorer.tables import FORMATS

    if form not in FORMATS:
        raise ScoreError(f"Unknown format {form!r}; known: {', '.join(FORMATS)}.")
    if form == "html" and out is None:
        raise ScoreError("The HTML report is a file: name it with --out report.html.")
    chosen = checked(ScoreOptions, given(options))
    if explain is not None:
        _explain(open_session(data, chosen), predictions, explain)
        return
    check_targets([out, spans], [*predictions, data])
    check_each_once(predictions, [file.resolve() for file in predictions])
    session = open_session(data, chosen)
    runs = session.runs(predictions)
    results_to = [None if no_json else _result_file(run[0], session.signature) for run in runs]
    check_targets([*results_to, out, spans], [*predictions, data])
    with write_evidence(spans, session.task) as evidence:
        results = with_own_titles([session.score(run, evidence) for run in runs])
    comparisons = compare_runs(results) if compare else []
    for target, result in zip(results_to, results, strict=True):
        if target is not None:
            with output_errors(target):
                write_json(target, as_saved(result, secret=session.key.hidden))
    written = [target for target in results_to if target is not None]
    if form == "html":
        from vcrgen.scorer.page import as_html

        write_report(as_html(session, runs, results, comparisons), out, written)
    else:
        _report(form, results, comparisons, out, written, groups=groups)


@app.command(
    "compare",
    epilog=examples(
        "vcrgen compare run_a.scores.json run_b.scores.json",
        "vcrgen compare *.scores.json --format latex --out table.tex",
    ),
)
def compare_saved(
    scores: Annotated[list[Path], typer.Argument(help="Files that vcrgen score wrote (preds.scores.json).")],
    form: Annotated[str, typer.Option("--format", "-f", help="text, md, csv, latex or json.")] = "text",
    out: Out = None,
    groups: Groups = False,
) -> None:
    """Compare saved scores pair by pair, with the same tables and tests as vcrgen score --compare.

    Neither the outputs nor the dataset are needed. Scores that were made in different ways are refused.
    """
    from vcrgen.scorer.comparison import compare as compare_runs
    from vcrgen.scorer.results import with_own_titles
    from vcrgen.scorer.saved import check_each_once, load_saved
    from vcrgen.scorer.tables import FORMATS

    known = [name for name in FORMATS if name != "html"]
    if form not in known:
        raise ScoreError(f"Unknown format {form!r}; known: {', '.join(known)}.")
    check_targets([out], scores)
    results = with_own_titles([load_saved(file) for file in scores])
    check_each_once(scores, [sha256_file(file) for file in scores])
    _report(form, results, compare_runs(results), out, [], groups=groups)


@app.command(epilog=examples("vcrgen validate preds.jsonl --data data/my-vcr"))
@options_of(ScoreOptions, only=("mode", "view", "split", "subset", "lang"))
def validate(predictions: Files, data: Data, **options: Any) -> None:
    """Check files of outputs without scoring them; exit code 1 if --strict would refuse one."""
    from vcrgen.cli.terminal import print_parts, show_validation
    from vcrgen.scorer.run import open_session

    session = open_session(data, checked(ScoreOptions, given(options)))
    validations = [session.validate(file) for file in predictions]
    for validation in validations:
        print_parts(console.out, show_validation(validation))
    if not all(validation.fit for validation in validations):
        raise typer.Exit(1)


def _explain(session: AnySession, predictions: Sequence[Path], question_id: str) -> None:
    """Print one question's outputs with their matches."""
    from vcrgen.cli.terminal import print_parts, show_found, show_item, show_signature
    from vcrgen.scorer.run import Found

    found = [item for file in predictions for item in session.find(file, {question_id})]
    if not found:
        is_there = session.key.row_of(question_id) is not None
        where = "has no output in these files" if is_there else "is not in the dataset"
        raise ScoreError(f"The question {question_id!r} {where}.")
    for item in found:
        print_parts(console.out, show_found(item) if isinstance(item, Found) else show_item(item))
    print_parts(console.out, [show_signature("", str(session.signature))])


def _report(
    form: str,
    results: Sequence[RunResult],
    comparisons: Sequence[Comparison],
    out: Path | None,
    written: Sequence[Path],
    *,
    groups: bool,
) -> None:
    """Print a report, or write it to ``out``; ``written`` are the files that were written before."""
    from vcrgen.cli.terminal import as_text, plain, print_parts, show_scores
    from vcrgen.scorer.tables import render

    if form == "text" and out is None:
        print_parts(console.out, show_scores(results, comparisons, groups=groups))
        if written:
            print_parts(console.out, [plain(f"Written: {', '.join(map(str, written))}", "dim")])
        return
    if form == "text":
        text = as_text(show_scores(results, comparisons, groups=True))
    else:
        text = render(results, form, comparisons)
    write_report(text, out, written)


def write_report(text: str, out: Path | None, written: Sequence[Path]) -> None:
    """Print a document, or write it to ``out`` and say so; ``written`` are the files that were written before."""
    from vcrgen.cli.terminal import plain, print_parts

    if out is None:
        console.out.file.write(text)
        return
    with output_errors(out):
        write_text(out, text)
    print_parts(console.out, [plain(f"Written: {', '.join(map(str, (*written, out)))}")])


def _result_file(file: PredictionFile, signature: Signature) -> Path | None:
    """Where the result of a file is written: beside it, and beside a result of other scores; None for a pipe."""
    from vcrgen.scorer.saved import signature_of

    if not file.path.is_file():
        return None
    target = file.path.with_name(f"{file.stem}.scores.json")
    if target.exists() and signature_of(target) != str(signature):
        return target.with_name(f"{file.stem}.{signature.short}.scores.json")
    return target


def check_targets(targets: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    """Refuse to write over what is read, and to write two things into one file."""
    places = [target.resolve() for target in targets if target is not None]
    for number, place in enumerate(places):
        for one in inputs:
            if place == one.resolve() or (place.exists() and one.resolve() in place.parents):
                raise ScoreError(f"{place} is read here, so nothing is written over it; name another file.")
        if place in places[:number]:
            raise ScoreError(f"Two things would be written to {place}; name other files, or score them one by one.")
