"""The command line of plans: `vcrgen plan`, with the options of `vcrgen build`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from vcrgen.config import BuildConfig

if TYPE_CHECKING:
    from vcrgen.builder.estimate import Estimate, Range

UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def register_plan(app: typer.Typer, build: Callable[..., None]) -> None:
    """Add the command; its options are those of ``build``, so that a word changes a command into its plan."""

    def plan(**options: Any) -> None:
        """Show what a build would cost: shards, core-hours, storage, pairs set aside. Nothing is written.

        Rows spread over the source go through the real stages on this machine, and the whole is computed from them.
        """
        _plan(options)

    shared = inspect.signature(build, eval_str=True).parameters
    as_json = inspect.Parameter(
        "as_json",
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")],
    )
    parameters = [*(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in shared.values()), as_json]
    plan.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    plan.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    app.command(epilog="Example:\n\n  vcrgen plan 'pairs/*.parquet' --mode both")(plan)


def _plan(options: dict[str, Any]) -> None:
    from vcrgen.builder.engines import EngineChoice
    from vcrgen.builder.estimate import estimate
    from vcrgen.cli.progress_build import ConsoleWatcher
    from vcrgen.config import find_recipe, load_build_config

    recipe = find_recipe(options["config"]) if options["config"] else None
    fields = {name: value for name, value in options.items() if name in BuildConfig.model_fields}
    fields["where"] = tuple(options["where"]) if options["where"] else None
    config = load_build_config(recipe, fields)
    engine = {name: options[name] for name in ("workers", "address", "master")}
    EngineChoice(name=options["engine"], **engine).check()
    with ConsoleWatcher(Console(stderr=True)) as watcher:
        found = estimate(config, watcher=watcher)
    if options["as_json"]:
        Console().print_json(json.dumps(asdict(found) | {"share_set_aside": found.share_set_aside}))
        return
    _print(found, options["workers"])


def _print(found: Estimate, workers: int) -> None:
    table = Table("", "predicted", "95 % of samples", box=SIMPLE_HEAD)
    table.add_row("pairs", f"{found.pairs.value:,.0f}", _between(found.pairs, lambda value: f"{value:,.0f}"))
    table.add_row("core-hours", _hours(found.core_hours.value), _between(found.core_hours, _hours))
    for mode, size in found.bytes.items():
        table.add_row(f"storage, {mode}", shown_bytes(size.value), _between(size, shown_bytes))
    if len(found.bytes) > 1:
        table.add_row("storage, all", shown_bytes(found.total_bytes.value), _between(found.total_bytes, shown_bytes))
    console = Console()
    kept, aside = found.sampled - found.skipped, sum(found.drops.values())
    reasons = ", ".join(f"{reason} {count}" for reason, count in found.drops.items())
    lines = [
        f"{found.source}: {found.rows:,} rows in {found.source_files:,} file(s), read as {found.shards:,} shards "
        f"of up to {found.shard_size:,}; about {found.files:,} data files.",
        f"Sample: {found.sampled} rows, {kept} of them meet the conditions; {aside} set aside "
        f"({found.share_set_aside:.0%}{': ' if reasons else ''}{reasons}); "
        f"{found.seconds_per_row.value * 1e3:.1f} ms a row.",
        f"In {workers} process(es) like this one: about {_hours(found.core_hours.value / workers)} hours.",
        "Not in it: the start of processes; duplicates. With more than one split, files are written twice and need "
        "twice the room at first.",
    ]
    console.print(lines[0], soft_wrap=True, markup=False)
    console.print(table)
    for line in lines[1:]:
        console.print(line, soft_wrap=True, markup=False)


def _between(range_: Range, shown: Callable[[float], str]) -> str:
    return f"{shown(range_.low)} to {shown(range_.high)}"


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3g}"


def shown_bytes(size: float) -> str:
    """A size with its decimal unit."""
    for unit in UNITS[:-1]:
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} {UNITS[-1]}"
