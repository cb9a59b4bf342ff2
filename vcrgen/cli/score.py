"""``vcrgen score``, ``vcrgen compare`` and ``vcrgen validate``: files of outputs or of scores in, reports out."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of
from vcrgen.cli.reports import (
    Figure,
    Format,
    Out,
    check_targets,
    report_format,
    write_charts,
    write_report,
    write_report_text,
)
from vcrgen.cli.root import app
from vcrgen.core.errors import ScoreError
from vcrgen.core.files import sha256_file
from vcrgen.core.options import drop_none, validate_options
from vcrgen.scorer.options import ScoreOptions

if TYPE_CHECKING:
    from vcrgen.core.signature import Signature
    from vcrgen.scorer.comparison import Comparison
    from vcrgen.scorer.predictions import PredictionFile
    from vcrgen.scorer.results import RunResult

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
UNFINISHED = 3  # exit code: some questions have no output

Details = Annotated[
    bool,
    typer.Option(
        "--details",
        help="text, latex: all tables, as the other formats have them: other metrics, spreads, outputs, groups.",
    ),
]


@app.command(
    epilog=examples(
        "vcrgen score preds.jsonl --data data/my-vcr",
        "vcrgen score vlmevalkit_output.xlsx --data data/my-vcr --protocol vlmevalkit",
        "vcrgen score run_a.jsonl run_b.jsonl --data data/my-vcr --compare",
        "vcrgen score preds.jsonl --data data/my-vcr --spans spans.parquet --format html --out report.html",
        "vcrgen score canary.jsonl --data hidden-2026/public",
    )
)
@options_of(ScoreOptions)
def score(
    predictions: Files,
    data: Data,
    compare: Annotated[bool, typer.Option("--compare", help="Compare the files pair by pair.")] = False,
    spans: Annotated[Path | None, typer.Option(help="Write per-span evidence: FILE.parquet or FILE.jsonl.")] = None,
    form: Format = None,
    out: Out = None,
    figure: Figure = None,
    no_json: Annotated[bool, typer.Option("--no-json", help="Write no preds.scores.json.")] = False,
    details: Details = False,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="End with exit code 0 though questions have no output.")
    ] = False,
    **options: Any,
) -> None:
    """Score model outputs: exact match and Jaccard index of the nearest n-gram, with confidence intervals.

    Files of one model that hold different modes or views are scored as one. The result is written as JSON beside
    the file of outputs (preds.scores.json), for vcrgen compare. Exit code 3: questions that were asked have no output.
    Given replies of vcrgen predict --canary and the
    public part of a hidden set, it says how many of them repeat the canary.
    """
    from vcrgen.scorer.canary import canary_document, canary_replies, public_part
    from vcrgen.scorer.comparison import compare as compare_runs
    from vcrgen.scorer.evidence import write_evidence
    from vcrgen.scorer.predictions import receive
    from vcrgen.scorer.results import assign_titles, by_score, missing_sentences
    from vcrgen.scorer.run import open_session, view_command
    from vcrgen.scorer.saved import reject_duplicate_files
    from vcrgen.scorer.score_report import score_document

    output_format = report_format(form, out, figure=figure)
    settings = validate_options(ScoreOptions, drop_none(options))
    check_targets([out, spans], [*predictions, data])
    if (public := public_part(data)) and (replies := canary_replies(predictions, public)):
        if compare or spans or details:
            raise ScoreError(
                "These are replies about a canary, which have no spans: leave --compare, --spans, --details out."
            )
        return write_report(canary_document(replies, data), output_format, out)
    files = [*predictions, *([] if settings.pixels is None else [settings.pixels])]
    reject_duplicate_files(files, [file.resolve() for file in files])
    with console.progress(doing="scoring", unit="outputs", kept="read") as listener:
        listener.stage("reading the answers")
        session = open_session(data, settings)
        session.listener = listener
        runs = session.runs(predictions)
        results_to = [None if no_json else _result_file(run[0], session.signature) for run in runs]
        check_targets([*results_to, out, spans, figure], [*predictions, data])
        listener.stage("scoring")
        with write_evidence(spans, session.task) as evidence:
            results = [session.score(run, evidence) for run in runs]
        if settings.pixels is not None:
            results.append(session.score_baseline(receive(settings.pixels)))
    results = assign_titles(results)
    written = _write_saved(results, results_to, secret=session.key.hidden)
    results = [results[place] for place in by_score(results)]
    view = view_command(data, predictions, settings)
    comparisons = compare_runs(results, in_pairs=compare) if compare or settings.pixels else []
    if output_format == "html":
        from vcrgen.scorer.score_report import score_page

        name = session.key.name
        write_report_text(score_page(results, comparisons, data=name, view=shlex.join(view)), out, written)
    else:
        _report(output_format, results, comparisons, out, written, details=details)
        if output_format == "text" and out is None and view:
            console.say_next("Next", *view)
    if figure is not None:
        write_charts(score_document(results, comparisons), figure)
    if not allow_missing and (sentences := list(missing_sentences(results))):
        for sentence in sentences:
            typer.echo(sentence, err=True)
        typer.echo("Ask for the rest, name what was asked with --subset, or add --allow-missing.", err=True)
        raise typer.Exit(UNFINISHED)


@app.command(
    "compare",
    epilog=examples(
        "vcrgen compare run_a.scores.json run_b.scores.json",
        "vcrgen compare *.scores.json --format latex --out table.tex",
        "vcrgen compare --across wiki.scores.json hidden.scores.json",
    ),
)
def compare_saved(
    scores: Annotated[list[Path], typer.Argument(help="Files that vcrgen score wrote (preds.scores.json).")],
    across: Annotated[
        bool,
        typer.Option(
            "--across", help="Compare one model on two datasets, paired by image where they have the same images."
        ),
    ] = False,
    form: Format = None,
    out: Out = None,
    figure: Figure = None,
    details: Details = False,
) -> None:
    """Compare saved scores pair by pair, with the tables and tests of vcrgen score --compare.

    Neither the outputs nor the dataset are needed. Scores with different signatures are refused. With --across they are
    of one model on two datasets, and have to agree in all but these.
    """
    from vcrgen.scorer.across import compare_across
    from vcrgen.scorer.across_report import across_document
    from vcrgen.scorer.comparison import compare as compare_runs
    from vcrgen.scorer.results import assign_titles, by_score
    from vcrgen.scorer.saved import load_saved, reject_duplicate_files
    from vcrgen.scorer.score_report import score_document

    output_format = report_format(form, out, scores, figure)
    if across:
        if len(scores) != 2 or details or figure:
            raise ScoreError(
                "--across takes two files of scores, of one model on two datasets, and neither --details nor --figure."
            )
        a, b = (load_saved(file, hidden_too=True) for file in scores)
        result = compare_across(a, b)
        return write_report(across_document(result), output_format, out, next_command=result.next_command)
    loaded = assign_titles([load_saved(file) for file in scores])
    results = [loaded[place] for place in by_score(loaded)]
    reject_duplicate_files(scores, [sha256_file(file) for file in scores])
    comparisons = compare_runs(results)
    _report(output_format, results, comparisons, out, [], details=details)
    if figure is not None:
        write_charts(score_document(results, comparisons), figure)


@app.command(epilog=examples("vcrgen validate preds.jsonl --data data/my-vcr"))
@options_of(ScoreOptions, only=("mode", "view", "split", "subset", "lang"))
def validate(predictions: Files, data: Data, **options: Any) -> None:
    """Check files of outputs without scoring them; exit code 1 if --strict would reject one."""
    from vcrgen.cli.score_output import show_validation
    from vcrgen.cli.terminal import print_parts
    from vcrgen.scorer.run import open_session

    with console.progress(doing="checking", unit="outputs", kept="read") as listener:
        listener.stage("reading the answers")
        session = open_session(data, validate_options(ScoreOptions, drop_none(options)))
        session.listener = listener
        listener.stage("checking")
        validations = [session.validate(file) for file in predictions]
    for validation in validations:
        print_parts(console.out, show_validation(validation))
    if not all(validation.fit for validation in validations):
        raise typer.Exit(1)


def _write_saved(results: Sequence[RunResult], targets: Sequence[Path | None], *, secret: bool) -> list[Path]:
    from vcrgen.scorer.saved import write_saved

    for target, result in zip(targets, results, strict=False):  # the template baseline, the last, has none
        if target is not None and (older := write_saved(target, result, secret=secret)):
            typer.echo(f"{target} held scores of another signature, which are now {older.name}.", err=True)
    return [target for target in targets if target is not None]


def _report(
    form: str,
    results: Sequence[RunResult],
    comparisons: Sequence[Comparison],
    out: Path | None,
    written: Sequence[Path],
    *,
    details: bool,
) -> None:
    """Print a report, or write it to ``out``; ``written`` are the files that were written before."""
    from vcrgen.cli.score_output import show_scores
    from vcrgen.cli.terminal import as_text, plain, print_parts
    from vcrgen.scorer.score_report import render

    if form == "text" and out is None:
        print_parts(console.out, show_scores(results, comparisons, details=details))
        if written:
            print_parts(console.out, [plain(f"Written: {', '.join(map(str, written))}", "dim")])
        return
    if form == "text":
        text = as_text(show_scores(results, comparisons, details=True))
    else:
        text = render(results, form, comparisons, details=details)
    write_report_text(text, out, written)


def _result_file(file: PredictionFile, signature: Signature) -> Path | None:
    """Path of a result beside its outputs, which holds scores or is not there yet; None for a pipe."""
    from vcrgen.scorer.saved import ENDING, older_scores

    if not file.path.is_file():
        return None
    target = file.path.with_name(f"{file.stem}{ENDING}")
    older_scores(target, signature)
    return target
