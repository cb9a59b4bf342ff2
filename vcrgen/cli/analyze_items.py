"""``vcrgen analyze items`` and ``vcrgen analyze shorten``: single items, and how few are enough."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vcrgen.cli import console
from vcrgen.cli.analyze import (
    ExampleName,
    Form,
    Out,
    analyze,
    report_folder,
    report_form,
    require_packages,
    settings,
    shipped_example,
    write_folder,
    write_report,
)
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.config import ItemOptions, ShortenOptions, checked, given
from vcrgen.errors import AnalysisError

if TYPE_CHECKING:
    from vcrgen.analysis.items.table import ItemTable

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
    example: ExampleName = None,
    form: Form = None,
    out: Out = None,
    **options: Any,
) -> None:
    """Tell what each item is worth: difficulty, discrimination, reliability, and what makes hidden texts hard.

    Several files are several models. Items that all models solve, or none, that better models fail, or that are near
    copies are listed. From 100 models on a 2PL is fitted, a Rasch model with fewer.
    """
    from vcrgen.analysis.items.analyse import analyse_items
    from vcrgen.analysis.items.items_report import items_document

    require_packages()
    chosen = checked(ItemOptions, given(options))
    shown = report_form(form, out, [*(files or []), *([data] if data else [])])
    table = _table(files or [], example, chosen, "items")
    result = analyse_items(table, data=data, seed=chosen.seed, resamples=chosen.resamples)
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
    form: Form = None,
    out: Annotated[
        Path | None,
        out_option("Write the report and files ids-N.txt, for score --subset, to this folder."),
    ] = None,
    **options: Any,
) -> None:
    """Tell how few items are enough: shorter sets, measured on models that were held out of the choice.

    Of random, stratified, information-based and clustered subsets of each size it tells the error of scores, the
    agreement of rankings and how often two models keep their order.
    """
    from vcrgen.analysis.document import form_of
    from vcrgen.analysis.items.shorten_report import shorten_document, shorten_items, subset_files
    from vcrgen.scorer.subset import subset_text

    require_packages()
    chosen = checked(ShortenOptions, given(options))
    shown = form_of(form or ("html" if out else "text"), "")
    if shown == "html" and out is None:
        raise AnalysisError("The HTML report is a file: name a folder for it with --out short.")
    with report_folder(out) as folder:  # what cannot be written is said before anything is computed
        table = _table(files or [], example, chosen, "shorten")
        result = shorten_items(table, chosen)
        document = shorten_document(table, result, chosen, settings=settings("shorten", chosen))
        if folder is None:
            write_report(document, shown, None)
        else:
            texts = {name: subset_text(ids) for name, ids in subset_files(result, chosen.method).items()}
            write_folder(document, shown, folder, texts)
    if out is not None:
        console.out.print(f"Written: {out}", markup=False, highlight=False, soft_wrap=True)


def _table(files: Sequence[Path], example: str | None, options: ItemOptions, command: str) -> ItemTable:
    """The items of files, or of an example."""
    from vcrgen.analysis.items.read import EvidenceChoice, read_items

    if shipped := shipped_example(example, command, files):
        made: ItemTable = shipped.load()
        return made
    choice = EvidenceChoice(metric=options.metric, mode=options.mode, view=options.view)
    return read_items(files, choice, private=options.private)
