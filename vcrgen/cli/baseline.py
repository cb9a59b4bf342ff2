"""``vcrgen baseline``: outputs of plain readers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vcrgen.cli.options import examples
from vcrgen.cli.root import app

baseline = typer.Typer(
    no_args_is_help=True,
    help="Outputs of plain readers, to compare models with.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@baseline.callback()
def _group() -> None:
    # With a callback, typer keeps `ocr` a command of its own although it is the only one.
    pass


@baseline.command(
    epilog=examples(
        "vcrgen baseline ocr data/my-vcr",
        "vcrgen baseline ocr data/my-vcr --view both --mode hard --split test --limit 100 --out ocr.jsonl",
        "vcrgen baseline ocr hidden/public --workers 2",
    )
)
def ocr(
    dataset: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A dataset that vcrgen built, or the public part of a hidden test set."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new file (JSON Lines).", show_default="DIR-ocr.jsonl")
    ] = None,
    view: Annotated[str, typer.Option(help="stacked (VI+TEI), tei or both.")] = "stacked",
    mode: Annotated[str | None, typer.Option(help="Only this mode.", show_default="all")] = None,
    split: Annotated[str | None, typer.Option(help="Only this split.", show_default="all")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.", show_default="all")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Pictures read at a time.")] = 1,
) -> None:
    r"""Read the images with OCR and write what was read as outputs to score.

    Needs the extra `ocr`: pip install "vcrgen\[ocr]". Interrupted or killed, the same command goes on where it was.
    """
    from vcrgen.cli.predict_commands import ocr_command

    typer.echo(ocr_command(dataset, out=out, view=view, mode=mode, split=split, limit=limit, workers=workers))


app.add_typer(baseline, name="baseline")
