"""``vcrgen analyze items`` and ``vcrgen analyze shorten``: single items, and how few are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vcrgen.cli import console
from vcrgen.cli.analyze import ExampleName, Form, Out, analyze, report_form, write_report
from vcrgen.cli.options import examples, options_of
from vcrgen.config import ItemOptions, ShortenOptions, checked, given
from vcrgen.errors import AnalysisError
from vcrgen.files import write_text

if TYPE_CHECKING:
    from vcrgen.analysis.items.table import ItemTable

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Evidence of vcrgen score --spans (.parquet, .jsonl), or long tables model,item,score[,image]."
    ),
]
REPORT = "shorten.html"  # also the mark of a folder that may be replaced


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
    example: ExampleName = None,
    form: Form = None,
    out: Out = None,
    **options: Any,
) -> None:
    """Tell what each item is worth: difficulty, discrimination, reliability, and what makes hidden texts hard.

    Several files are several models. Items that all models solve, or none, that better models fail, or that are near
    copies are listed. From 100 models on a 2PL is fitted, a Rasch model with fewer.
    """
    from vcrgen.analysis.items.report import analyse_items, items_document

    chosen = checked(ItemOptions, given(options))
    inputs = [*(files or ()), *([data] if data else [])]
    report = report_form(form, out, inputs)
    table = _table(files or [], example, chosen, "items")
    result = analyse_items(table, data=data, seed=chosen.seed, resamples=chosen.resamples)
    write_report(items_document(result, seed=chosen.seed, resamples=chosen.resamples), report, out)


@analyze.command(
    epilog=examples(
        "vcrgen analyze shorten spans_*.parquet --keep 100,200,500 --out short",
        "vcrgen analyze shorten spans_*.parquet --error 1 --agreement 0.95",
        "vcrgen score preds.jsonl --data data/my-vcr --subset short/ids-200.txt",
    )
)
@options_of(
    ShortenOptions,
    only=("keep", "method", "error", "agreement", "repeats", "metric", "mode", "view", "seed", "private"),
)
def shorten(
    files: Files = None,
    example: ExampleName = None,
    form: Form = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write a folder: shorten.html, and ids-N.txt for score --subset.")
    ] = None,
    **options: Any,
) -> None:
    """Tell how few items are enough: shorter sets, measured on models that were held out of the choice.

    Of random, stratified, information-based and clustered subsets of each size it tells the error of scores, the
    agreement of rankings and how often two models keep their order.
    """
    from vcrgen.analysis.document import render
    from vcrgen.analysis.items.short_report import shorten_document, shorten_items, subset_files
    from vcrgen.scorer.subset import subset_text

    chosen = checked(ShortenOptions, given(options))
    if out is not None and form is not None:
        raise AnalysisError("--out is a folder with an HTML report and files of ids; leave out --format, or --out.")
    report = report_form(form, None, files or [])
    table = _table(files or [], example, chosen, "shorten")
    result = shorten_items(table, chosen)
    document = shorten_document(table, result, chosen)
    if out is None:
        write_report(document, report, None)
        return
    texts = {name: subset_text(ids) for name, ids in subset_files(result, chosen.method).items()}
    _write_folder(out, {REPORT: render(document, "html"), **texts})


def _table(files: Sequence[Path], example: str | None, options: ItemOptions, command: str) -> ItemTable:
    """The items of files, or of an example."""
    from vcrgen.analysis.examples import example as example_of
    from vcrgen.analysis.items.read import EvidenceChoice, read_items

    if example is None:
        choice = EvidenceChoice(metric=options.metric, mode=options.mode, view=options.view)
        return read_items(files, choice, private=options.private)
    if files:
        raise AnalysisError("Give files or --example, not both.")
    table: ItemTable = example_of(example, command).load()
    return table


def _write_folder(out: Path, texts: Mapping[str, str]) -> None:
    from vcrgen.cli.terminal import print_parts
    from vcrgen.work.folder import new_folder

    with new_folder(out, mark=REPORT) as folder:
        for name, text in texts.items():
            write_text(folder / name, text)
    print_parts(console.out, [f"Written: {', '.join(str(out / name) for name in texts)}\n"])
