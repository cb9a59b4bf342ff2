"""``vcrgen analyze``: what the scores of some models tell about a benchmark. Here is what its commands share, too."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from vcrgen.cli import console
from vcrgen.cli.root import app
from vcrgen.errors import AnalysisError
from vcrgen.files import output_errors, write_text

if TYPE_CHECKING:
    from vcrgen.analysis.document import Document

TEXT_WIDTH = 120  # characters of a report that is written to a file

Form = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", help="text, md, csv, latex, json or html.", show_default="by the name of --out, else text"
    ),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write the report to this file.")]
ExampleName = Annotated[
    str | None, typer.Option("--example", help="Take data that ships with vcrgen in place of files.")
]

analyze = typer.Typer(
    no_args_is_help=True,
    help="Analyse a benchmark by the scores of some models: which tasks and items earn their place, and how sure is "
    r'that? Needs the extra `analysis`: pip install "vcrgen\[analysis]".',
)
app.add_typer(analyze, name="analyze")


def report_form(form: str | None, out: Path | None, inputs: Sequence[Path]) -> str:
    """The form of a report, refused before anything is computed if it cannot be written.

    Raises:
        AnalysisError: The form is unknown, HTML has no file, or the report would be written over what is read.
    """
    from vcrgen.analysis.document import form_of

    chosen = form_of(form, out.suffix if out else "")
    if chosen == "html" and out is None:
        raise AnalysisError("The HTML report is a file: name it with --out report.html.")
    if out is not None and out.resolve() in [file.resolve() for file in inputs]:
        raise AnalysisError(f"{out} is read here, so nothing is written over it; name another file.")
    return chosen


def write_report(document: Document, form: str, out: Path | None) -> None:
    """Print a document, or write it to ``out``."""
    from vcrgen.analysis.document import render
    from vcrgen.cli.terminal import print_parts

    if form == "text" and out is None:
        _print(console.out, document)
        return
    if form == "text":
        page = io.StringIO()
        _print(Console(file=page, width=TEXT_WIDTH), document)
        text = page.getvalue()
    else:
        text = render(document, form)
    if out is None:
        console.out.file.write(text)
        return
    with output_errors(out):
        write_text(out, text)
    print_parts(console.out, [f"Written: {out}\n"])


def _print(to: Console, document: Document) -> None:
    from vcrgen.analysis.document import LEFT_OUT, NOT_SHOWN
    from vcrgen.cli.terminal import draw, plain, print_parts

    print_parts(to, [plain(document.title, "bold"), plain(document.lead)])
    print_parts(to, [plain(f"Warning: {text}", "bold red") for text in document.marks])
    for section in document.sections:
        print_parts(to, [plain(f"\n{section.title}", "bold"), *map(plain, section.text)])
        print_parts(to, [draw(table, set()) for table in section.tables])
    if any(section.details for section in document.sections):
        print_parts(to, [plain(f"\n{LEFT_OUT}", "dim")])
    print_parts(to, [plain(f"\n{NOT_SHOWN}", "bold"), *(plain(f"- {text}") for text in document.not_shown)])
    print_parts(to, [plain(document.settings, "dim")])
