"""``vcrgen bloom coverage``: the distribution of the items of any sets over the categories of a taxonomy."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vcrgen.bloom.options import BloomCoverageOptions
from vcrgen.cli import console
from vcrgen.cli.bloom import bloom, open_models, report_missing
from vcrgen.cli.options import examples, options_of
from vcrgen.cli.outputs import ServerFile
from vcrgen.cli.reports import Format, Out, check_targets, report_format, write_report
from vcrgen.cli.root import interruption
from vcrgen.core.errors import ConfigError
from vcrgen.core.files import output_errors, write_text
from vcrgen.core.options import validate_options
from vcrgen.models.server_options import with_server

if TYPE_CHECKING:
    from vcrgen.bloom.coverage.classification import Classification


@bloom.command(
    epilog=examples(
        "vcrgen bloom coverage data/my-bloom --published",
        "vcrgen bloom coverage MMMU.parquet --endpoint http://127.0.0.1:8000/v1 --model M --save mmmu.csv",
        "vcrgen bloom coverage data/my-bloom MMMU.parquet --categories mmmu.csv --out coverage.html",
    )
)
@options_of(BloomCoverageOptions)
def coverage(
    sets: Annotated[
        list[Path],
        typer.Argument(
            help="MCQ benchmarks, or files of questions about pictures: what bloom import reads, or any table with a "
            "column question."
        ),
    ],
    published: Annotated[bool, typer.Option("--published", help="Add what is printed of MMMU, with its flaw.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Write the category of each item, as --categories reads it.")
    ] = None,
    form: Format = None,
    out: Out = None,
    server: ServerFile = None,
    **options: Any,
) -> None:
    """Show the distribution of items over levels and categories: empty and crowded categories, sets side by side.

    A set takes the categories of the --categories list if that has its items, else of the model, else its own. Every
    reply is kept when it arrives, as of bloom build. Exit code 3: replies are missing.
    """
    from vcrgen.analysis.profile.coverage_report import coverage_document
    from vcrgen.bloom.coverage.classification import classify_sets, format_categories
    from vcrgen.bloom.coverage.item_sets import common_taxonomy, open_sets

    settings = validate_options(BloomCoverageOptions, with_server(BloomCoverageOptions, server, options))
    read = [*sets, settings.ledger, *(file for file in (settings.categories, settings.taxonomy) if file is not None)]
    output_format = report_format(form, out, read)
    check_targets([save], read)
    if save and out and save.resolve() == out.resolve():
        raise ConfigError(
            f"--save and --out both name {out}; give the categories of the items and the report a file each."
        )
    opened = open_sets(sets, settings)
    taxonomy = common_taxonomy(opened, settings.taxonomy)
    models = open_models(settings) if settings.model else {}
    with (
        interruption(keeps=True),
        console.progress(doing="classifying", unit="items", kept="classified") as listener,
    ):
        classification = classify_sets(opened, taxonomy, settings, models, listener=listener)
    _report_replies(classification, settings)
    if save is not None:
        with output_errors(save):
            write_text(save, format_categories(classification))
    write_report(
        coverage_document(classification, settings=_settings_line(settings), published=published), output_format, out
    )


def _report_replies(classification: Classification, settings: BloomCoverageOptions) -> None:
    """Print the usage of the ledger; exit if replies are missing, unless they may be."""
    if classification.usage is not None:
        typer.echo(f"{settings.ledger}: {classification.usage.summary}.", err=True)
    report_missing(
        classification.missing, "these items count as missing replies", settings, is_error=not settings.allow_failed
    )


def _settings_line(settings: BloomCoverageOptions) -> str:
    """One line from which the report can be made again; the prompt by its hash."""
    from vcrgen.bloom.generation.prompts import prompt_hashes

    values: dict[str, Any] = {f"vcrgen {version('vcrgen')}": "bloom coverage"}
    if settings.model:
        values |= {"model": settings.model, "judge": settings.judge, "prompt": prompt_hashes(["category"])["category"]}
    if settings.categories:
        values["categories"] = settings.categories.name
    if settings.taxonomy:
        values["taxonomy"] = settings.taxonomy.name
    if settings.sample:
        values |= {"sample": settings.sample, "seed": settings.seed}
    return " | ".join(f"{name}: {value}" for name, value in values.items() if value is not None)
