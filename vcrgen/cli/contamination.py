"""``vcrgen contamination``: tests whether a model has seen a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vcrgen.cli.options import examples, options_of
from vcrgen.cli.reports import Format, Out, report_format, write_report
from vcrgen.cli.root import app
from vcrgen.config.base import drop_none, validate_options
from vcrgen.config.score import ScoreOptions
from vcrgen.errors import ConfigError


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
    form: Format = None,
    out: Out = None,
    **options: Any,
) -> None:
    """Test whether a model has seen a dataset: text-only answers, fresh pairs, other spans, the canary.

    Ask the model with vcrgen predict first, with --view text-only, too; each test says what it cannot show.
    """
    from vcrgen.contamination.contamination_report import contamination_document
    from vcrgen.contamination.examine import examine

    pairs = {
        name: _pairs(name, texts or ())
        for name, texts in (("against", against), ("redraw", redraw), ("canary", canary))
    }
    files = [*(predictions or ()), *(guesses or ())]
    listed = [path for each in pairs.values() for pair in each for path in pair]
    shown = report_format(form, out, [*files, *([data] if data else []), *listed])
    report = examine(
        predictions or (),
        data,
        guesses=guesses or (),
        options=validate_options(ScoreOptions, drop_none(options)),
        **pairs,
    )
    write_report(contamination_document(report), shown, out)


def _pairs(name: str, texts: Sequence[str]) -> list[tuple[Path, Path]]:
    pairs = []
    for text in texts:
        file, equals, data = text.partition("=")
        if not (file and equals and data):
            raise ConfigError(f"--{name} takes FILE=FOLDER, as in outputs.jsonl=data/my-vcr, not {text[:100]!r}.")
        pairs.append((Path(file), Path(data)))
    return pairs
