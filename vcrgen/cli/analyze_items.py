"""``vcrgen analyze items`` and ``vcrgen analyze shorten``: item statistics, and shorter subsets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vcrgen.cli.analyze import ExampleName, analyze, require_packages, settings, shipped_example
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.reports import FolderFormat, Format, Out, folder_format, report_folder, report_format, write_report
from vcrgen.config.analysis import ItemOptions, ShortenOptions
from vcrgen.config.base import drop_none, validate_options

if TYPE_CHECKING:
    from vcrgen.analysis.items.item_table import ItemTable

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Evidence of vcrgen score --spans (.parquet, .jsonl), or long tables model,item,score[,image]."
    ),
]


@analyze.command(
    epilog=examples(
        "vcrgen analyze items spans_*.parquet --data data/my-vcr --out items.html",
        "vcrgen analyze items answers.csv --format md",
        "vcrgen analyze items --example items --out items.html",
    )
)
@options_of(ItemOptions)
def items(
    files: Files = None,
    data: Annotated[
        Path | None, typer.Option("--data", "-d", help="The dataset of the evidence, for what makes a span hard.")
    ] = None,
    pixels: Annotated[
        Path | None, typer.Option(help="Outputs of vcrgen baseline template, for the bits of each span.")
    ] = None,
    example: ExampleName = None,
    form: Format = None,
    out: Out = None,
    **options: Any,
) -> None:
    """Analyze items: difficulty, discrimination, reliability, and properties of difficult spans.

    Several files are several models. Items that all models solve, or none, that better models fail, or that are near
    copies are listed. From 100 models on a 2PL is fitted, a Rasch model with fewer.
    """
    from vcrgen.analysis.items.analyse import analyse_items
    from vcrgen.analysis.items.items_report import items_document
    from vcrgen.tasks.pixel_bits import read_pixel_bits

    require_packages()
    chosen = validate_options(ItemOptions, drop_none(options))
    shown = report_format(form, out, [*(files or []), *([data] if data else [])])
    table = _table(files or [], example, chosen, "items")
    bits = read_pixel_bits(pixels) if pixels else None
    result = analyse_items(table, data=data, pixels=bits, seed=chosen.seed, resamples=chosen.resamples)
    write_report(items_document(result, settings=settings("items", chosen)), shown, out)


@analyze.command(
    epilog=examples(
        "vcrgen analyze shorten spans_*.parquet --keep 100,200,500 --out short",
        "vcrgen analyze shorten spans_*.parquet --error 1 --agreement 0.95",
        "vcrgen score preds.jsonl --data data/my-vcr --subset short/ids-200.txt",
    )
)
@options_of(ShortenOptions)
def shorten(
    files: Files = None,
    example: ExampleName = None,
    form: FolderFormat = None,
    out: Annotated[
        Path | None,
        out_option("Write the report and, for score --subset, files ids-N.txt and ids-N.json to this folder."),
    ] = None,
    **options: Any,
) -> None:
    """Find shorter subsets of items, measured on held-out models.

    Of each way to select and each size it tells the error of the estimated score on all items, the agreement of
    rankings and how often two models keep their order.
    """
    from vcrgen.analysis.items.shorten_report import shorten_document, shorten_items, subset_files

    require_packages()
    chosen = validate_options(ShortenOptions, drop_none(options))
    shown = folder_format(form, out)
    with report_folder(out, shown) as write:
        table = _table(files or [], example, chosen, "shorten")
        result = shorten_items(table, chosen)
        texts = subset_files(table, result, chosen.method)
        write(shorten_document(table, result, chosen, settings=settings("shorten", chosen)), texts)


def _table(files: Sequence[Path], example: str | None, options: ItemOptions, command: str) -> ItemTable:
    """Return the items of files, or of an example."""
    from vcrgen.analysis.items.read_items import EvidenceChoice, read_items

    if shipped := shipped_example(example, command, files):
        made: ItemTable = shipped.load()
        return made
    choice = EvidenceChoice(metric=options.metric, mode=options.mode, view=options.view)
    return read_items(files, choice, private=options.private)
