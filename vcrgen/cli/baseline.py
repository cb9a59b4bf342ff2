"""``vcrgen baseline``: outputs of plain readers."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vcrgen.cli import console
from vcrgen.cli.doctor import cores
from vcrgen.cli.options import examples
from vcrgen.cli.outputs import PictureFolder, default_out, score_command
from vcrgen.cli.root import app
from vcrgen.errors import ConfigError

if TYPE_CHECKING:
    from vcrgen.dataset.pictures import Pictures
    from vcrgen.models.base import Reader

MOST_WORKERS = 4  # each holds some hundred MB
# Before so many pictures are read, the first ones tell how long it takes.
MANY, TRIED = 50, 3

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
    dataset: PictureFolder,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new file (JSON Lines).", show_default="DIR-ocr.jsonl")
    ] = None,
    view: Annotated[str, typer.Option(help="stacked (VI+TEI), tei or both.")] = "stacked",
    mode: Annotated[str | None, typer.Option(help="Only this mode.", show_default="all")] = None,
    split: Annotated[str | None, typer.Option(help="Only this split.", show_default="all")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.", show_default="all")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, help="Pictures read at a time.", show_default=f"one a core, at most {MOST_WORKERS}"
        ),
    ] = None,
) -> None:
    r"""Read the images with OCR and write what was read as outputs to score.

    Needs the extra `ocr`: pip install "vcrgen\[ocr]". Interrupted or killed, the same command goes on where it was.
    """
    from vcrgen.cli.progress import ConsoleWatcher
    from vcrgen.dataset.pictures import Choice, open_pictures
    from vcrgen.dataset.reader import open_dataset
    from vcrgen.dataset.views import VIEWS
    from vcrgen.models.ocr import OcrModel
    from vcrgen.predict.run import run_baseline
    from vcrgen.tasks.vcr import VCR

    known = [name for name in VIEWS if name != "text"]  # in which there is nothing to read
    if view not in known:
        raise ConfigError(f"OCR reads pictures: the view is one of {', '.join(known)}, not {view!r}.")
    choice = Choice(views=VIEWS[view], mode=mode, split=split, limit=limit)
    pictures = open_pictures(open_dataset(dataset, VCR), choice)
    target = out or default_out(dataset, "ocr")
    workers = workers or min(cores() or 1, MOST_WORKERS)
    if pictures.total >= MANY:
        _say_how_long(pictures, OcrModel(), workers)
    with ConsoleWatcher(console.err, doing="reading", unit="pictures", kept="read") as watcher:
        result = run_baseline(pictures, choice, out=target, make_model=OcrModel, workers=workers, watcher=watcher)
    if result.aside:
        counts = ", ".join(f"{reason} {count:,}" for reason, count in result.aside.most_common())
        typer.echo(f"Set aside: {counts}; the first: {result.example}")
    score = score_command(result.path, pictures, choice)
    typer.echo(f"{result.path}: {result.outputs:,} outputs of {result.model}; next: {score}")


def _say_how_long(pictures: Pictures, model: Reader, workers: int) -> None:
    """Read the first pictures of many, and say how long all of them will take."""
    from vcrgen.models.base import Request, RequestProblem

    began = time.monotonic()
    for picture in islice(pictures.stream(), TRIED):
        with suppress(RequestProblem):  # which the run counts
            model.reply(Request(images=(picture.data or b"",), language=picture.lang))
    minutes = (time.monotonic() - began) / TRIED * pictures.total / workers / 60
    many = f"Reading {pictures.total:,} pictures, {workers} at a time"
    told = f"{many}: about {math.ceil(minutes)} min, if all are like the first {TRIED}."
    console.err.print(told, soft_wrap=True)


app.add_typer(baseline, name="baseline")
