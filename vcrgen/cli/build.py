"""``vcrgen build`` and ``vcrgen plan``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option, same_options_as
from vcrgen.cli.root import app
from vcrgen.config.base import PANEL_RUN
from vcrgen.config.build import BuildConfig
from vcrgen.plurals import pluralize

if TYPE_CHECKING:
    from vcrgen.builder.estimate import BuildEstimate, Range

UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


@app.command(
    epilog=examples(
        "vcrgen build",
        "vcrgen build --lang zh --mode hard",
        "vcrgen build pairs.parquet --lang en --out data/my-vcr --limit 5000 --workers 2 --seed 7",
        "vcrgen build 'shards/*.tar' --caption-column json.text --splits train=...,validation=500,test=500",
        "vcrgen build --config configs/vcr-wiki-zh-hard.yaml wikimedia/wit_base",
        "vcrgen build 's3://bucket/pairs/*.parquet' --out s3://bucket/vcr --engine ray --address auto",
    )
)
@options_of(BuildConfig)
def build(
    source: Annotated[
        str | None,
        typer.Argument(
            help="File, folder, quoted glob, s3://, gs:// or hf:// URL, dataset of the Hub (org/name), or samples[:N].",
            show_default="samples",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        out_option("Folder of the dataset, or s3:// or gs:// URL.", shown="data/vcr-SOURCE-LANG-MODE"),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="YAML recipe, or the name of a shipped one: its keys are source and these options (underscores for "
            "hyphens), except --out, --workers and the engine."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=512, help="Processes.", rich_help_panel=PANEL_RUN)] = 1,
    engine: Annotated[
        str, typer.Option(help="local or ray; the bytes do not depend on it.", rich_help_panel=PANEL_RUN)
    ] = "local",
    address: Annotated[
        str | None,
        typer.Option(help="A running Ray cluster: HOST:PORT or auto.", show_default="auto", rich_help_panel=PANEL_RUN),
    ] = None,
    **options: Any,
) -> None:
    """Build a VCR dataset from image-caption pairs.

    Run the same command again to resume after an interruption; the result is the same to the byte.
    """
    from vcrgen.builder.assemble import REJECTS_FILE
    from vcrgen.builder.engines import EngineChoice
    from vcrgen.builder.run import Build, default_out
    from vcrgen.cli.progress import ConsoleProgress

    merged = _merged(config, {"source": source, **options})
    choice = EngineChoice(name=engine, workers=workers, address=address)
    with ConsoleProgress(console.err) as listener:
        result = Build(merged, out=out or default_out(merged), engine=choice, listener=listener).run()
    manifest = result.manifest
    done = "was complete already" if result.was_complete else "is complete"
    console.out.print(
        f"[bold]{escape(str(result.path))}[/] {done}: {manifest.pairs:,} of {pluralize(manifest.read, 'pair')}."
    )
    first_mode = [file for file in manifest.files if file.mode == manifest.modes[0]]
    pairs_of = {split: sum(file.rows for file in first_mode if file.split == split) for split in manifest.splits}
    console.print_counts("split", pairs_of)
    console.print_counts("rejected", manifest.rejected)
    if manifest.rejected:
        console.say(f"Each of them, and why: {escape(str(result.path))}/{REJECTS_FILE}", highlight=False)
    console.say(f"Source {escape(manifest.source)}", highlight=False)
    console.say(f"Signature [dim]{escape(str(manifest.signature))}[/]")
    console.say_next("Look at it", "vcrgen", "preview", result.path)


@app.command(epilog=examples("vcrgen plan 'pairs/*.parquet' --mode both"))
@same_options_as(build)
def plan(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False, **options: Any
) -> None:
    """Show what a build would cost: shards, core-hours, storage, rejected pairs. Nothing is written.

    Rows spread over the source go through the real stages on this machine, and the whole is computed from them.
    """
    from vcrgen.builder.engines import EngineChoice
    from vcrgen.builder.estimate import estimate
    from vcrgen.cli.progress import ConsoleProgress

    merged = _merged(options["config"], options)
    engine = {name: options[name] for name in ("workers", "address")}
    EngineChoice(name=options["engine"], **engine)  # refuses options of another engine
    with ConsoleProgress(console.err) as listener:
        found = estimate(merged, listener=listener)
    if as_json:
        console.out.print_json(json.dumps(asdict(found) | {"share_rejected": found.share_rejected}))
    else:
        _print_estimate(found, options["workers"])


def _merged(recipe: Path | None, options: dict[str, Any]) -> BuildConfig:
    """Return a recipe's configuration, overridden by options."""
    from vcrgen.config.build import find_recipe, load_build_config

    fields = {name: value for name, value in options.items() if name in BuildConfig.model_fields}
    fields["where"] = fields["where"] or None
    return load_build_config(find_recipe(recipe) if recipe else None, fields)


def _print_estimate(found: BuildEstimate, workers: int) -> None:
    table = console.ruled_table("", "predicted", "95 % of samples")
    table.add_row("pairs", f"{found.pairs.value:,.0f}", _between(found.pairs, lambda value: f"{value:,.0f}"))
    table.add_row("core-hours", _hours(found.core_hours.value), _between(found.core_hours, _hours))
    for mode, size in found.bytes.items():
        table.add_row(f"storage, {mode}", shown_bytes(size.value), _between(size, shown_bytes))
    if len(found.bytes) > 1:
        table.add_row("storage, all", shown_bytes(found.total_bytes.value), _between(found.total_bytes, shown_bytes))
    kept, rejected = found.sampled - found.skipped, sum(found.rejected.values())
    reasons = ", ".join(f"{reason} {count}" for reason, count in found.rejected.items())
    lines = [
        f"{found.source}: {pluralize(found.rows, 'row')} in {pluralize(found.source_files, 'file')}, read as "
        f"{pluralize(found.shards, 'shard')} of up to {found.shard_size:,}; about "
        f"{pluralize(found.files, 'data file')}.",
        f"Sample: {pluralize(found.sampled, 'row')}, {kept} of them meet the conditions; {rejected} rejected "
        f"({found.share_rejected:.0%}{': ' if reasons else ''}{reasons}); "
        f"{found.seconds_per_row.value * 1e3:.1f} ms a row.",
        f"In {pluralize(workers, 'process', 'processes')} like this one: about "
        f"{_hours(found.core_hours.value / workers)} hours.",
        "Not in it: the start of processes; duplicates. With more than one split, files are written twice and need "
        "twice the room at first.",
    ]
    if found.row_group_rows:
        lines.append(
            f"Row groups have up to {pluralize(found.row_group_rows, 'row')} ({shown_bytes(found.row_group_bytes)}), "
            "and each process reads one from its beginning; so do shuffled streams, for each window. With several "
            "processes or a store, write them smaller: pq.write_table(table, file, row_group_size=1000); for shuffled "
            "streams, row_group_size=32."
        )
    console.out.print(lines[0], soft_wrap=True, markup=False)
    console.out.print(table)
    for line in lines[1:]:
        console.out.print(line, soft_wrap=True, markup=False)


def _between(range_: Range, shown: Callable[[float], str]) -> str:
    return f"{shown(range_.low)} to {shown(range_.high)}"


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3g}"


def shown_bytes(size: float) -> str:
    """Return a size with its decimal unit."""
    for unit in UNITS[:-1]:
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} {UNITS[-1]}"
