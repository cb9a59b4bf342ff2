"""``vcrgen bloom coverage``: how the items of any sets spread over the leaves of the taxonomy."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vcrgen.cli import console
from vcrgen.cli.analyze import Form, Out, check_not_read, writable_form, write_report
from vcrgen.cli.bloom import UNFINISHED, bloom, models_of
from vcrgen.cli.options import examples, options_of
from vcrgen.cli.root import interruption
from vcrgen.config import BloomCoverageOptions, checked, given
from vcrgen.errors import ConfigError
from vcrgen.files import output_errors, write_text
from vcrgen.plurals import counted

if TYPE_CHECKING:
    from vcrgen.bloom.coverage.filing import Filing


@bloom.command(
    epilog=examples(
        "vcrgen bloom coverage data/my-bloom --published",
        "vcrgen bloom coverage MMMU.parquet --endpoint http://127.0.0.1:8000/v1 --model M --save mmmu.csv",
        "vcrgen bloom coverage data/my-bloom MMMU.parquet --leaves mmmu.csv --out coverage.html",
    )
)
@options_of(BloomCoverageOptions)
def coverage(
    sets: Annotated[
        list[Path],
        typer.Argument(
            help="Question sets, or files of questions about pictures: what bloom import reads, or any table with a "
            "column question."
        ),
    ],
    published: Annotated[bool, typer.Option("--published", help="Add what is printed of MMMU, with its flaw.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write the leaf of each item, as --leaves reads it.")] = None,
    form: Form = None,
    out: Out = None,
    **options: Any,
) -> None:
    """Show how the items of sets spread over levels and leaves: what is empty, what is crowded, sets side by side.

    A set is filed by the list of --leaves if that has its items, else by the model, else as it files its items itself.
    Every reply is kept when it arrives, as of bloom build. Exit code 3: replies are missing.
    """
    from vcrgen.analysis.profile.coverage import coverage_document
    from vcrgen.bloom.coverage.filing import file_items, write_leaves
    from vcrgen.bloom.coverage.items import common_taxonomy, open_sets
    from vcrgen.cli.progress import ConsoleWatcher

    chosen = checked(BloomCoverageOptions, given(options))
    read = [*sets, chosen.ledger, *(file for file in (chosen.leaves, chosen.taxonomy) if file is not None)]
    shown = writable_form(form, out, read)
    check_not_read(save, read)
    if save and out and save.resolve() == out.resolve():
        raise ConfigError(f"--save and --out both name {out}; give the leaves of the items and the report a file each.")
    found = open_sets(sets, chosen)
    taxonomy = common_taxonomy(found, chosen.taxonomy)
    models = models_of(chosen) if chosen.model else {}
    with interruption(keeps=True), ConsoleWatcher(console.err, doing="filing", unit="items", kept="filed") as watcher:
        filing = file_items(found, taxonomy, chosen, models, watcher=watcher)
    _tell(filing, chosen)
    if save is not None:
        with output_errors(save):
            write_text(save, write_leaves(filing))
    write_report(coverage_document(filing, settings=_settings(chosen), published=published), shown, out)


def _tell(filing: Filing, chosen: BloomCoverageOptions) -> None:
    """What the replies took; ends the command where some are missing, unless they may be."""
    if filing.spent is not None:
        typer.echo(f"{chosen.ledger}: {filing.spent.told}.", err=True)
    if filing.missing:
        counts = ", ".join(f"{reason} {count:,}" for reason, count in filing.missing.most_common())
        typer.echo(
            f"{counted(filing.missing.total(), 'reply is', 'replies are')} missing: {counts}; the first: "
            f"{filing.example}.",
            err=True,
        )
        if not chosen.allow_failed:
            how = "leave out --offline" if chosen.offline else "raise or leave out the limit, if one is reached"
            typer.echo(
                f"What was answered is kept: the same command goes on with it ({how}), and with --allow-failed these "
                "items count as not asked.",
                err=True,
            )
            raise typer.Exit(UNFINISHED)


def _settings(chosen: BloomCoverageOptions) -> str:
    """One line that says how the figures were made."""
    from vcrgen.bloom.making.prompts import prompt_hash

    values: dict[str, Any] = {f"vcrgen {version('vcrgen')}": "bloom coverage"}
    if chosen.model:
        values |= {"model": chosen.model, "judge": chosen.judge, "prompt": prompt_hash("leaf")}
    if chosen.leaves:
        values["leaves"] = chosen.leaves.name
    if chosen.taxonomy:
        values["taxonomy"] = chosen.taxonomy.name
    if chosen.sample:
        values |= {"sample": chosen.sample, "seed": chosen.seed}
    return " | ".join(f"{name}: {value}" for name, value in values.items() if value is not None)
