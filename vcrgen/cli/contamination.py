"""``vcrgen contamination``: signs that a model had seen a set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of
from vcrgen.cli.root import app
from vcrgen.cli.score import Out, check_targets, write_report
from vcrgen.config import ScoreOptions, checked, given
from vcrgen.errors import ConfigError, ScoreError

if TYPE_CHECKING:
    from vcrgen.contamination.records import ContaminationReport


@app.command(
    epilog=examples(
        "vcrgen contamination preds.jsonl --data data/my-vcr --against fresh.jsonl=data/fresh",
        "vcrgen contamination preds.jsonl --data data/my-vcr --redraw redrawn.jsonl=data/redrawn --format html --out "
        "report.html",
        "vcrgen contamination preds.jsonl --data data/my-vcr --guesses other-model.jsonl",
        "vcrgen contamination --canary canary.jsonl=hidden-2026/public",
    )
)
@options_of(ScoreOptions, only=("protocol", "mode", "lang", "segmenter", "seed"))
def contamination(
    predictions: Annotated[
        list[Path] | None, typer.Argument(help="Files of outputs of one model on the set; text only, too, if possible.")
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", "-d", help="The set: as for vcrgen score.")] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE=DATA", help="Outputs of the same model on fresh pairs, and their dataset. Repeatable."
        ),
    ] = None,
    redraw: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE=DATA", help="The same on a dataset of the same pairs with another --seed. Repeatable."
        ),
    ] = None,
    guesses: Annotated[
        list[Path] | None, typer.Option(help="Text-only outputs of another model on the set. Repeatable.")
    ] = None,
    canary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE=PUBLIC", help="Replies of vcrgen predict --canary, and the hidden set's public part."
        ),
    ] = None,
    form: Annotated[str, typer.Option("--format", "-f", help="text, md, csv, latex, json or html.")] = "text",
    out: Out = None,
    **options: Any,
) -> None:
    """Look for signs that a model had seen a set: what needs no pixels, fresh pairs, other spans, the canary.

    Ask the model with vcrgen predict first, with --view text, too; each test says what it cannot show.
    """
    from vcrgen.cli.terminal import as_text, print_parts
    from vcrgen.contamination.page import as_html
    from vcrgen.contamination.run import examine
    from vcrgen.contamination.tables import render
    from vcrgen.scorer.tables import FORMATS

    if form not in FORMATS:
        raise ScoreError(f"Unknown format {form!r}; known: {', '.join(FORMATS)}.")
    if form == "html" and out is None:
        raise ScoreError("The HTML report is a file: name it with --out report.html.")
    pairs = {
        name: _pairs(name, texts or ())
        for name, texts in (("against", against), ("redraw", redraw), ("canary", canary))
    }
    files = [*(predictions or ()), *(guesses or ())]
    check_targets(
        [out], [*files, *([data] if data else []), *(path for each in pairs.values() for pair in each for path in pair)]
    )
    report = examine(
        predictions or (), data, guesses=guesses or (), options=checked(ScoreOptions, given(options)), **pairs
    )
    if form == "text" and out is None:
        print_parts(console.out, _shown(report))
        return
    text = as_text(_shown(report)) if form == "text" else as_html(report) if form == "html" else render(report, form)
    write_report(text, out, [])


def _pairs(name: str, texts: Sequence[str]) -> list[tuple[Path, Path]]:
    pairs = []
    for text in texts:
        file, equals, data = text.partition("=")
        if not (file and equals and data):
            raise ConfigError(f"--{name} takes FILE=FOLDER, as in outputs.jsonl=data/my-vcr, not {text[:100]!r}.")
        pairs.append((Path(file), Path(data)))
    return pairs


def _shown(report: ContaminationReport) -> Iterable[RenderableType]:
    from vcrgen.cli.terminal import draw, plain, show_signature
    from vcrgen.contamination.tables import parts, summary

    yield plain(summary(report), "bold")
    for part in parts(report):
        yield draw(part.table, {"p"}) if part.table.rows else plain(f"\n{part.table.title}")
        for sentence in part.says:
            yield plain(sentence)
        yield plain(part.limit, "dim")
    for note in report.notes:
        yield plain(f"Note: {note}", "yellow")
    if report.signature:
        yield show_signature("", report.signature)
