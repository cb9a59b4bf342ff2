"""What the scorer's commands do, without a terminal: files in, reports out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vcrgen.cli.terminal import plain, print_parts, show_found, show_scores, show_signature, show_validation
from vcrgen.errors import ScoreError
from vcrgen.files import output_errors, write_json, write_text
from vcrgen.scorer.comparison import Comparison, compare
from vcrgen.scorer.evidence import write_evidence
from vcrgen.scorer.results import RunResult, with_own_titles
from vcrgen.scorer.run import Options, Run, Session
from vcrgen.scorer.tables import FORMATS, render

if TYPE_CHECKING:
    from rich.console import RenderableType

    Shown = Iterator[str | RenderableType]


def score_command(
    predictions: Sequence[Path],
    data: Path,
    options: Options,
    *,
    form: str,
    out: Path | None,
    spans: Path | None,
    with_comparison: bool,
    groups: bool,
) -> Shown:
    """Score files, write each run's JSON beside its first file, and give the report.

    Raises:
        VcrgenError: The user can mend it.
    """
    if form not in FORMATS:
        raise ScoreError(f"Unknown format {form!r}; known: {', '.join(FORMATS)}.")
    if form == "html" and out is None:
        raise ScoreError("The HTML report is a file: name it with --out report.html.")
    _check_names(predictions)
    session = Session(data, options)
    with write_evidence(spans) as evidence:
        runs = session.runs(predictions)
        results = with_own_titles([session.score(run, evidence) for run in runs])
    comparisons = compare(results) if with_comparison else []
    written = [_write_result(run[0].path, result) for run, result in zip(runs, results, strict=True)]
    if form == "text" and out is None:
        yield from show_scores(results, comparisons, groups=groups)
        yield plain(f"Written: {', '.join(str(file) for file in written)}", "dim")
        return
    text = _report(form, session, runs, results, comparisons)
    if out is None:
        yield text
        return
    _write(out, text)
    yield plain(f"Written: {', '.join(str(file) for file in (*written, out))}")


def explain_command(predictions: Sequence[Path], data: Path, options: Options, question_id: str) -> Shown:
    """One question's outputs with their matches.

    Raises:
        ScoreError: No file has an output for it.
    """
    session = Session(data, options)
    found = False
    for file in predictions:
        for item in session.find(file, {question_id}):
            found = True
            yield from show_found(item)
    if not found:
        where = (
            "has no output in these files" if session.key.row_of(question_id) is not None else "is not in the dataset"
        )
        raise ScoreError(f"The question {question_id!r} {where}.")
    yield show_signature("", str(session.signature))


def validate_command(predictions: Sequence[Path], data: Path, options: Options) -> tuple[Shown, bool]:
    """What is odd about files of outputs, and whether all are complete."""
    session = Session(data, options)
    validations = [session.validate(file) for file in predictions]
    shown = (part for validation in validations for part in show_validation(validation))
    return shown, all(validation.fit for validation in validations)


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
        import io

        from rich.console import Console

        page = io.StringIO()
        print_parts(Console(file=page, width=120), show_scores(results, comparisons, groups=True))
        return page.getvalue()
    return render(results, form, comparisons)


def _check_names(predictions: Sequence[Path]) -> None:
    targets = [_result_file(file).absolute() for file in predictions]
    for number, target in enumerate(targets):
        if target in targets[:number]:
            raise ScoreError(f"Two files would both be written up in {target}; score them one by one or rename one.")


def _result_file(file: Path) -> Path:
    return file.with_name(f"{file.stem}.scores.json")


def _write_result(file: Path, result: RunResult) -> Path:
    target = _result_file(file)
    with output_errors(target):
        write_json(target, result.as_json())
    return target


def _write(target: Path, text: str) -> None:
    with output_errors(target):
        write_text(target, text)
