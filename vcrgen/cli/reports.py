"""Reports of commands: their format and file, and printing or writing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vcrgen.cli import console
from vcrgen.cli.options import out_option
from vcrgen.core.errors import ConfigError
from vcrgen.core.files import output_errors, write_text

if TYPE_CHECKING:
    from vcrgen.report.document import Document

MARK = ".vcrgen-analysis"  # marks a folder of a report, which may be replaced

Format = Annotated[
    str | None,
    typer.Option("--format", "-f", help="text, md, csv, latex, json or html.", show_default="by --out, else text"),
]
Out = Annotated[Path | None, out_option("Write the report to this file.")]
Figure = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the charts of the page: NAME.svg, .png or .pdf, further ones as NAME-2.svg. PNG and PDF need "
        "vl-convert-python.",
    ),
]


def report_format(form: str | None, out: Path | None, inputs: Sequence[Path] = (), figure: Path | None = None) -> str:
    """Choose the format of a report before anything is computed: that of --format, or by the ending of --out.

    Raises:
        ConfigError: The format is unknown, HTML has no file, the report or its figure would replace an input, or the
            figure is of a kind that cannot be written.
    """
    from vcrgen.report.document import choose_format

    output_format = choose_format(form, out.suffix if out else "")
    if output_format == "html" and out is None:
        raise ConfigError("The HTML report is written, not printed: name its place with --out.")
    check_targets([out, figure], inputs)
    if figure is not None:
        from vcrgen.report.figures import check_figure

        check_figure(figure)
    return output_format


def check_targets(targets: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    """Reject outputs that would replace an input, or each other."""
    places = [target.resolve() for target in targets if target is not None]
    for number, place in enumerate(places):
        for source in inputs:
            if place == source.resolve() or (place.exists() and source.resolve() in place.parents):
                raise ConfigError(f"{place} is read here, so nothing is written over it; name another file.")
        if place in places[:number]:
            raise ConfigError(f"Two things would be written to {place}; name other files, or score them one by one.")


def write_charts(document: Document, figure: Path) -> None:
    """Write the charts of a document, and list their files."""
    from vcrgen.report.figures import write_figures

    console.say_plain(f"Written: {', '.join(map(str, write_figures(document, figure)))}")


def write_report(
    document: Document, form: str, out: Path | None, figure: Path | None = None, *, next_command: Sequence[str] = ()
) -> None:
    """Print a document with the command to run next, or write it to ``out``; and write its charts for a figure."""
    if out is None:
        _print_document(document, form, next_command)
    else:
        write_report_text(_as_text(document, form), out)
        _say_summary(document)
    if figure is not None:
        write_charts(document, figure)


def _say_summary(document: Document) -> None:
    """Print what to do by a report that is written to a file."""
    for sentence in document.summary:
        console.say_plain(f"- {sentence}")


def _print_document(document: Document, form: str, next_command: Sequence[str]) -> None:
    if form != "text":  # which a program reads
        return write_report_text(_as_text(document, form), None)
    from vcrgen.cli.terminal import print_parts, show_document

    print_parts(console.out, show_document(document))
    if next_command:
        console.say_next("Next", *next_command)


def write_report_text(text: str, out: Path | None, written: Sequence[Path] = ()) -> None:
    """Print a text, or write it to ``out`` and list it with the files ``written`` before."""
    if out is None:
        console.out.file.write(text)
        return
    with output_errors(out):
        write_text(out, text)
    console.say_plain(f"Written: {', '.join(map(str, (*written, out)))}")


@contextmanager
def report_folder(
    out: Path | None, form: str
) -> Iterator[Callable[[Document, Mapping[str, str], Sequence[str]], None]]:
    """Yield a function that prints a document with the command to run next, or writes it and further files.

    What is written stands in a folder that appears as ``out``.
    """
    from vcrgen.core.folder import new_folder
    from vcrgen.report.document import SUFFIXES

    if out is None:
        yield lambda document, files, next_command: _print_document(document, form, next_command)
        return
    reported: list[Document] = []
    with new_folder(out, mark=MARK) as folder:  # what cannot be written is rejected before anything is computed
        suffix = next((suffix for suffix, name in SUFFIXES.items() if name == form), ".txt")

        def write(document: Document, files: Mapping[str, str], next_command: Sequence[str]) -> None:
            for name, text in {MARK: "", **files, f"report{suffix}": _as_text(document, form)}.items():
                write_text(folder / name, text)
            reported.append(document)

        yield write
    console.say_plain(f"Written: {out}")
    for document in reported:
        _say_summary(document)


def _as_text(document: Document, form: str) -> str:
    if form == "text":
        from vcrgen.cli.terminal import as_text, show_document

        return as_text(show_document(document))
    from vcrgen.report.document import render

    return render(document, form)
