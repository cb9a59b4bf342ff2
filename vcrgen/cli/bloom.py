"""``vcrgen bloom``: question sets by Bloom's levels, made of built-in scenes or of files."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.root import app, interruption
from vcrgen.config import (
    BloomCoverageOptions,
    BloomImportOptions,
    BloomMakeOptions,
    BloomOptions,
    checked,
    find_recipe,
    given,
    read_yaml,
)
from vcrgen.errors import ConfigError, OutputError, SourceError
from vcrgen.plurals import counted

if TYPE_CHECKING:
    from vcrgen.dataset.manifest import Manifest
    from vcrgen.dataset.reader import Dataset
    from vcrgen.models.endpoint import EndpointModel

bloom = typer.Typer(
    no_args_is_help=True,
    help="Make question sets: multiple-choice questions about pictures, by Bloom's levels.",
    epilog=examples("vcrgen bloom build", "vcrgen bloom import BloomBench.json --images pictures"),
)

_Out = Annotated[Path | None, out_option("A new folder.", shown="data/bloom-NAME")]


_Source = Annotated[str | None, typer.Argument(help="Pairs, as `vcrgen build` reads them.", show_default="scenes")]
_Pairs = Annotated[str | None, typer.Argument(help="Pairs, as `vcrgen build` reads them.", show_default="samples")]
_Recipe = Annotated[Path | None, typer.Option("--config", help="YAML with these options; such as bloom-demo.")]
UNFINISHED = 3  # exit code: replies are missing
# An option of the command line takes the place of the one in a recipe that cannot stand beside it.
_INSTEAD = {"judge": "judges", "judges": "judge", "offline": "endpoint", "endpoint": "offline"}


@bloom.command(
    epilog=examples(
        "vcrgen bloom build",
        "vcrgen bloom build -n 1000 --seed 7 --out data/my-bloom",
        "vcrgen bloom build pairs.parquet --endpoint http://127.0.0.1:8000/v1 --model M --judge J --per-leaf 5",
        "vcrgen bloom build --image-model I --endpoint http://127.0.0.1:8000/v1 --model M --judge J --out data/drawn",
        "vcrgen bloom build --config bloom-demo --offline",
    )
)
@options_of(BloomMakeOptions)
@options_of(BloomOptions, only={"items"})
def build(source: _Source = None, out: _Out = None, config: _Recipe = None, **options: Any) -> None:
    """Make a question set: from the built-in scenes, without a model; or of pairs, by models that write and judge.

    Without SOURCE, --image-model and --config: the built-in scenes, 25 leaves in each language with words for it,
    offline; only --items and --seed count. With one of them: all leaves, by models behind a server. Every reply is
    kept when it arrives: interrupted or killed, the same command goes on where it was. Exit code 3: some are missing.
    """
    from vcrgen.bloom.maker import build_questions
    from vcrgen.cli.progress import ConsoleWatcher

    values = given(options)
    if source is None and config is None and "image_model" not in values:
        if others := sorted(set(values) - {"items", "seed"}):
            option = others[0].replace("_", "-")
            raise ConfigError(f"--{option} needs the pairs whose pictures are asked about: SOURCE, or --image-model.")
        folder = _folder(out, "scenes")
        with ConsoleWatcher(console.err, unit="items") as watcher:
            manifest = build_questions(checked(BloomOptions, values), folder, watcher=watcher)
        return _tell(folder, manifest)
    if "items" in values:
        raise ConfigError(
            "--items is for the built-in scenes; with a source, --per-leaf says how many items there are."
        )
    chosen = _chosen(source, config, values)
    return _make(chosen, _folder(out, Path(chosen.source).stem.lower().partition(":")[0] or "made"))


@bloom.command(epilog=examples("vcrgen bloom plan pairs.parquet --judge J --per-leaf 20 --price 2.5,10"))
@options_of(
    BloomMakeOptions,
    only={
        "model", "judge", "judges", "lang", "per_leaf", "per_picture", "pictures", "themes", "taxonomy", "price",
        "judge_price", "image_model", "image_price", "source_split", "limit",
    },
)  # fmt: skip
def plan(source: _Pairs = None, config: _Recipe = None, **options: Any) -> None:
    """Tell what a set made with models takes: calls, tokens, cost. Asks nobody."""
    from vcrgen.bloom.making.plan import PICTURE_TOKENS, costs_of, pictures_of, plan_of, rows_of
    from vcrgen.bloom.making.prompts import language_name

    values = {"model": "M", "offline": True} | given(options)
    pictured = source or config or values.get("image_model")
    chosen = _chosen(source if pictured else "samples", config, values)
    stages = plan_of(chosen)
    table = console.ruled_table("stage", "calls", "at most", "tokens read", "written")
    for stage in stages:
        table.add_row(stage.stage, *(f"{n:,}" for n in (stage.calls, stage.most_calls, stage.read, stage.written)))
    calls, most, read, written = (
        sum(getattr(stage, name) for stage in stages) for name in ("calls", "most_calls", "read", "written")
    )
    table.add_row("all", *(f"{n:,}" for n in (calls, most, read, written)), style="bold")
    console.out.print(table)
    if chosen.prices:
        cost, at_most = costs_of(stages, chosen)
        console.out.print(
            f"Cost: about {cost:,.4g}; at most {at_most:,.4g}, if every reply is asked for thrice and every picture is "
            "looked at.",
            soft_wrap=True,
        )
    else:
        console.out.print("Cost: give --price IN,OUT to have it told.")
    first, *others = map(language_name, chosen.languages)
    several = " and ".join([", ".join(others[:-1]), others[-1]] if len(others) > 1 else others)
    console.out.print(
        f"Items are written in {first}" + f", and translated into {several}" * bool(others) + ".",
        soft_wrap=True,
    )
    if not chosen.image_model:
        wanted = pictures_of(stages, chosen)
        console.out.print(
            f"Pictures needed: {wanted:,} at least, of which each has {counted(chosen.per_picture, 'item')} "
            f"(--per-picture); few items are lost where the source has {2 * wanted:,} or more.",
            soft_wrap=True,
        )
    if pictured and not chosen.image_model:
        try:
            if (rows := rows_of(chosen)) is not None:
                console.out.print(f"{escape(chosen.source)} has {counted(rows, 'row')}.", soft_wrap=True)
        except SourceError as problem:  # a plan may be wanted before the pairs are there
            console.out.print(f"[yellow]No pairs yet:[/] {escape(str(problem))}", soft_wrap=True)
    console.out.print(
        f"Tokens are a guess: {PICTURE_TOKENS:,} a picture, one for four characters, no thinking. Nobody was asked.",
        soft_wrap=True,
    )


def _chosen(source: str | None, config: Path | None, values: dict[str, Any]) -> BloomMakeOptions:
    """Options of a recipe and of the command line, of which the latter count; paths in a recipe begin beside it."""
    recipe: dict[str, Any] = {}
    place = ""
    if config is not None:
        file = find_recipe(config)
        recipe, place = read_yaml(file), f"{file}: "
        for name in ("ledger", "themes", "taxonomy", "without"):
            if isinstance(recipe.get(name), str):
                recipe[name] = file.parent / recipe[name]
        if isinstance(beside := recipe.get("source"), str):
            # What is no name of a file is left for the message of who reads it.
            with suppress(OSError):
                if (file.parent / beside).exists():
                    recipe["source"] = str(file.parent / beside)
        for name, other in _INSTEAD.items():
            if values.get(name):
                recipe.pop(other, None)
    return checked(BloomMakeOptions, recipe | values | ({"source": source} if source else {}), place)


def _make(chosen: BloomMakeOptions, folder: Path) -> None:
    """Make a set with models, and say what came of it."""
    from vcrgen.bloom.making.run import make_set
    from vcrgen.cli.progress import ConsoleWatcher

    with interruption(keeps=True), ConsoleWatcher(console.err, doing="making", unit="items", kept="made") as watcher:
        made = make_set(chosen, folder, models_of(chosen), watcher=watcher)
    typer.echo(f"{made.ledger}: {made.spent.told}.")
    if made.missing:
        counts = ", ".join(f"{reason} {count:,}" for reason, count in made.missing.most_common())
        typer.echo(f"Items without a reply: {made.missing.total():,} ({counts}); the first: {made.example}.", err=True)
    if made.manifest is None:
        how = (
            "leave out --offline, with --endpoint"
            if chosen.offline
            else "raise or leave out the limit, if one is reached"
        )
        typer.echo(
            f"What was answered is kept: the same command goes on with it ({how}), and with --allow-failed the set is "
            "written without these items.",
            err=True,
        )
        raise typer.Exit(UNFINISHED)
    _tell(folder, made.manifest)
    if made.manifest.drops.get("no_picture_left"):
        console.say(
            "A source with more pictures, or a higher --per-picture, loses fewer items to no_picture_left; what is "
            "answered is not asked for again with the same --ledger."
        )
    console.say_next("What can be answered without the pictures", "vcrgen", "baseline", "blind", folder)


def models_of(chosen: BloomMakeOptions | BloomCoverageOptions) -> dict[str, EndpointModel]:
    """The models behind their addresses; none where nobody is to be asked."""
    from vcrgen.models.address import address_of, key_of
    from vcrgen.models.endpoint import EndpointModel, Limits

    if chosen.offline:
        return {}
    limits = Limits(concurrency=chosen.concurrency, rpm=chosen.rpm, tpm=chosen.tpm, timeout=chosen.timeout)

    def model(name: str, endpoint: str | None, key_env: str | None, option: str) -> EndpointModel:
        address = address_of(endpoint or "", name, chosen.profile, option=option)
        return EndpointModel(address, name, key=key_of(key_env, address), limits=limits)

    own = chosen.endpoint, chosen.key_env, "--endpoint"
    judged = (chosen.judge_endpoint, chosen.judge_key_env, "--judge-endpoint") if chosen.judge_endpoint else own
    assert chosen.model is not None
    found = {name: model(name, *judged) for name in chosen.judge_names}
    if isinstance(chosen, BloomMakeOptions) and (name := chosen.image_model):
        given = chosen.image_endpoint
        profile = None if given else chosen.profile
        address = address_of(
            given or chosen.endpoint or "", name, profile, pictures=True,
            option="--image-endpoint" if given else "--endpoint",
        )  # fmt: skip
        key = key_of(chosen.image_key_env if given else chosen.key_env, address)
        found[name] = EndpointModel(address, name, key=key, limits=limits)
    return found | {chosen.model: model(chosen.model, *own)}


@bloom.command(
    "import",
    epilog=examples(
        "vcrgen bloom import BloomBench.json --images pictures --out data/bloombench",
        "vcrgen bloom import MMBench.tsv --taxonomy mmbench.csv --keep points_at_options",
    ),
)
@options_of(BloomImportOptions)
def import_(
    file: Annotated[Path, typer.Argument(help="BloomBench's JSON, or a table: TSV, CSV, JSON Lines or Parquet.")],
    out: _Out = None,
    **options: Any,
) -> None:
    """Make a question set of somebody else's file; every item that is set aside is counted with its reason."""
    from vcrgen.bloom.importing import import_questions
    from vcrgen.cli.progress import ConsoleWatcher

    folder = _folder(out, file.stem.lower())
    chosen = checked(BloomImportOptions, given(options))
    with ConsoleWatcher(console.err, doing="reading", unit="items", kept="kept") as watcher:
        manifest = import_questions(file, chosen, folder, watcher=watcher)
    _tell(folder, manifest)


@bloom.command(
    epilog=examples(
        "vcrgen bloom filter data/my-bloom --audit data/my-bloom-audit",
        "vcrgen bloom filter data/my-bloom --without ids.txt",
    )
)
def filter(
    data: Annotated[Path, typer.Argument(help="A question set.")],
    without: Annotated[Path | None, typer.Option(help="Ids of the items to leave out, one a line.")] = None,
    audit: Annotated[
        Path | None, typer.Option(help="Folder of an audit: leave out what it rejected, and put it on the card.")
    ] = None,
    out: _Out = None,
) -> None:
    """Write a question set anew without some of its items, such as those that an audit rejected."""
    from vcrgen.bloom.without import write_without
    from vcrgen.tasks.opening import open_any

    folder = _folder(out, "filtered")
    _tell(folder, write_without(open_any(data), without, folder, audit=audit))


def _folder(out: Path | None, name: str) -> Path:
    """Where to write a set that nobody has named a place for."""
    from vcrgen.storage import remote_url

    if out and (url := remote_url(out.as_posix())):
        raise OutputError(f"--out {url} is in an object store; only builds write there.")
    return out or Path("data") / f"bloom-{name.removeprefix('bloom-')}"


def _tell(folder: Path, manifest: Manifest) -> None:
    from vcrgen.bloom.write import REJECTS

    console.out.print(
        f"[bold]{escape(str(folder))}[/] is complete: {manifest.pairs:,} of {counted(manifest.read, 'item')}."
    )
    console.print_counts("set aside", manifest.drops, unit="items")
    if manifest.drops:
        console.say(f"Each with its reason: {escape(str(folder / REJECTS))}", highlight=False)
    console.say(f"Signature [dim]{escape(str(manifest.signature))}[/]")
    console.say_next("Look at it", "vcrgen", "preview", folder)


def inspect_questions(data: Dataset, *, as_json: bool) -> None:
    """What ``vcrgen inspect`` shows of a question set."""
    from vcrgen.bloom.summary import set_figures

    figures, manifest = set_figures(data), data.built
    if as_json:
        origin = {"source": manifest.source, "signature": str(manifest.signature), "drops": dict(manifest.drops)}
        return console.out.print_json(json.dumps(asdict(figures) | origin))
    table = console.ruled_table("level", "items", "leaves with items")
    for level, (items, filled, leaves) in figures.levels.items():
        table.add_row(escape(level), f"{items:,}", f"{filled} of {leaves}")
    console.out.print(table)
    table = console.ruled_table("language", "items", "question, characters", "option, characters", "longest is right")
    for lang, row in figures.languages.items():
        sizes = (f"{size.mean:.0f} ± {size.sd:.0f} ({size.p05:.0f}-{size.p95:.0f})" for size in (row.stem, row.option))
        table.add_row(lang, f"{row.items:,}", *sizes, f"{100 * row.longest_key:.0f} %")
    console.out.print(table)
    places = ", ".join(f"{letter} {count:,}" for letter, count in figures.positions.items())
    shared = figures.items / max(figures.pictures, 1)
    empty = figures.empty_leaves
    for line in (
        f"{counted(figures.items, 'item')} about {counted(figures.pictures, 'picture')}: {shared:.1f} a picture, at "
        f"most {figures.most_of_a_picture}; {figures.traps:,} with a trap. Right options: {places}.",
        "Longest is right: share of items whose right option is the longest; 25 % where length tells nothing.",
        f"Leaves without items: {len(empty)}{': ' if empty else ''}{'; '.join(empty[:3])}{' ...' * (len(empty) > 3)}",
    ):
        console.out.print(line, soft_wrap=True, markup=False)
    if unknown := figures.unknown_leaves:
        told = f"Leaves of items that the taxonomy does not have: {'; '.join(unknown[:3])}"
        console.out.print(told, soft_wrap=True, markup=False)
    console.print_counts("found in the texts", figures.faults, unit="items")
    console.out.print(f"{counted(manifest.read, 'item')} read, from {escape(manifest.source)}.")
    console.print_counts("set aside", manifest.drops, unit="items")
    console.say(f"Signature [dim]{escape(str(manifest.signature))}[/]")
    return None


app.add_typer(bloom, name="bloom")
