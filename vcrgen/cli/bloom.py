"""``vcrgen bloom``: multiple-choice benchmarks by Bloom's levels, from built-in scenes, pairs or files."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from vcrgen.bloom.options import BloomCoverageOptions, BloomGenerationOptions, BloomImportOptions, BloomSceneOptions
from vcrgen.builder.options import find_recipe
from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.outputs import ServerFile, limits_of
from vcrgen.cli.root import add_group, interruption
from vcrgen.core.errors import ConfigError, OutputError, SourceError
from vcrgen.core.options import drop_none, read_yaml, spelling, validate_options
from vcrgen.core.plurals import pluralize
from vcrgen.models.server_options import override, with_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vcrgen.bloom.filtering import TextOnlyAnswers
    from vcrgen.bloom.generation.scheduler import MissingReplies
    from vcrgen.data.manifest import Manifest
    from vcrgen.data.reader import Dataset
    from vcrgen.models.endpoint import EndpointModel

bloom = add_group(
    "bloom",
    epilog=examples("vcrgen bloom build", "vcrgen bloom import BloomBench.json --images pictures"),
)

_Out = Annotated[Path | None, out_option("A new folder.", default="data/bloom-NAME")]


_Source = Annotated[str | None, typer.Argument(help="Pairs, as `vcrgen build` reads them.", show_default="scenes")]
_Recipe = Annotated[Path | None, typer.Option("--config", help="YAML with these options; such as bloom-demo.")]
UNFINISHED = 3  # exit code: replies are missing


@bloom.command(
    epilog=examples(
        "vcrgen bloom build",
        "vcrgen bloom build -n 1000 --seed 7 --out data/my-bloom",
        "vcrgen bloom build pairs.parquet --judge J --per-category 5 --server server.yaml --plan",
        "vcrgen bloom build pairs.parquet --endpoint http://127.0.0.1:8000/v1 --model M --judge J --per-category 5",
        "vcrgen bloom build --image-model I --endpoint http://127.0.0.1:8000/v1 --model M --judge J --out data/drawn",
        "vcrgen bloom build --config bloom-demo --offline",
    )
)
@options_of(BloomGenerationOptions)
@options_of(BloomSceneOptions, only={"items"})
def build(
    source: _Source = None,
    out: _Out = None,
    config: _Recipe = None,
    server: ServerFile = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Estimate calls, tokens and cost of the models, and send nothing.")
    ] = False,
    **options: Any,
) -> None:
    """Generate an MCQ benchmark: from built-in scenes, without a model, or from pairs, by models.

    Without SOURCE, --image-model and --config: the built-in scenes, offline, 23 categories; only --items, --seed and
    --allow-shortcuts count. With one of them: all categories, by models behind a server. Every reply is stored when
    it arrives, so the same command resumes an interrupted run. Exit code 3: replies are missing.
    """
    from vcrgen.bloom.scenes.generator import build_scene_set

    values = with_server(BloomGenerationOptions, server, options)
    of_scenes = source is None and config is None and "image_model" not in values
    if "items" in values and (plan or not of_scenes):
        raise ConfigError("--items is for the built-in scenes; with a source, give --per-category.")
    if plan:
        return _print_plan(source, config, values)
    if of_scenes:
        if others := sorted(set(values) - set(BloomSceneOptions.model_fields)):
            option = spelling(BloomGenerationOptions, others[0])
            raise ConfigError(f"{option} needs the pairs whose pictures are asked about: SOURCE, or --image-model.")
        folder = _folder(out, "scenes")
        with console.progress(unit="items") as listener:
            manifest = build_scene_set(validate_options(BloomSceneOptions, values), folder, listener=listener)
        return _print_summary(folder, manifest)
    settings = _merge_recipe(source, config, values)
    return _generate(settings, _folder(out, Path(settings.source).stem.lower().partition(":")[0] or "made"))


def _print_plan(source: str | None, config: Path | None, values: dict[str, Any]) -> None:
    """Print calls, tokens and cost of a generated set; without a source and a model, too, as a plan asks nobody."""
    from vcrgen.bloom.generation.cost_plan import (
        PICTURE_TOKENS,
        count_source_rows,
        needed_pictures,
        plan_costs,
        plan_set,
    )
    from vcrgen.bloom.generation.prompts import language_name

    values = {"model": "M"} | override(values, {"offline": True})
    pictured = source or config or values.get("image_model")
    settings = _merge_recipe(source if pictured else "samples", config, values)
    stages = plan_set(settings)
    table = console.ruled_table("stage", "calls", "at most", "tokens read", "written")
    for stage in stages:
        table.add_row(stage.stage, *(f"{n:,}" for n in (stage.calls, stage.most_calls, stage.read, stage.written)))
    calls, most, read, written = (
        sum(getattr(stage, name) for stage in stages) for name in ("calls", "most_calls", "read", "written")
    )
    table.add_row("all", *(f"{n:,}" for n in (calls, most, read, written)), style="bold")
    console.out.print(table)
    if settings.prices:
        cost, at_most = plan_costs(stages, settings)
        console.out.print(
            f"Cost: about {cost:,.4g}; at most {at_most:,.4g}, if every request is repeated twice and every picture "
            "is tried.",
            soft_wrap=True,
        )
    else:
        console.out.print("Cost: give the price in --server.")
    first, *others = map(language_name, settings.languages)
    targets = f", translated into {', '.join(others)}" if others else ""
    console.out.print(f"Items are written in {first}{targets}.", soft_wrap=True)
    if not settings.image_model:
        pictures = needed_pictures(stages, settings)
        console.out.print(
            f"Pictures needed: {pictures:,} at least, of which each has {pluralize(settings.per_picture, 'item')} "
            f"(--per-picture); few items are lost where the source has {2 * pictures:,} or more.",
            soft_wrap=True,
        )
    if pictured and not settings.image_model:
        try:
            if (rows := count_source_rows(settings)) is not None:
                console.out.print(f"{escape(settings.source)} has {pluralize(rows, 'row')}.", soft_wrap=True)
        except SourceError as problem:  # a plan may be wanted before the pairs are there
            console.out.print(f"[yellow]No pairs yet:[/] {escape(str(problem))}", soft_wrap=True)
    console.out.print(
        f"Tokens are estimates: {PICTURE_TOKENS:,} a picture, one for four characters, no thinking. Nothing was sent.",
        soft_wrap=True,
    )


def _merge_recipe(source: str | None, config: Path | None, values: dict[str, Any]) -> BloomGenerationOptions:
    """Merge the options of a recipe, whose paths begin beside it, with those of the command line, which win."""
    recipe: dict[str, Any] = {}
    place = ""
    if config is not None:
        file = find_recipe(config)
        recipe, place = read_yaml(file), f"{file}: "
        for name in ("ledger", "themes", "scenarios", "taxonomy", "without"):
            if isinstance(recipe.get(name), str):
                recipe[name] = file.parent / recipe[name]
        if isinstance(beside := recipe.get("source"), str):
            # A text that is no file name gets its message from the reader of the source.
            with suppress(OSError):
                if (file.parent / beside).exists():
                    recipe["source"] = str(file.parent / beside)
    return validate_options(
        BloomGenerationOptions, override(recipe, values) | ({"source": source} if source else {}), place
    )


def _generate(settings: BloomGenerationOptions, folder: Path) -> None:
    """Generate a set by models, and print the outcome."""
    from vcrgen.bloom.generation.generate_set import generate_set

    progress = console.progress(doing="generating", unit="items", kept="accepted")
    with interruption(keeps=True), progress as listener:
        result = generate_set(settings, folder, open_models(settings), listener=listener)
    typer.echo(f"{result.ledger}: {result.usage.summary}.")
    report_missing(result.missing, "the set is written without these items", settings, is_error=result.manifest is None)
    assert result.manifest is not None
    _print_summary(folder, result.manifest)
    if result.manifest.rejected.get("no_picture_left"):
        console.say(
            "A source with more pictures, or a higher --per-picture, loses fewer items to no_picture_left; replies in "
            "the same --ledger are not requested again."
        )
    console.say_next("Text-only baseline", "vcrgen", "baseline", "text-only", folder)


def report_missing(
    missing: MissingReplies,
    consequence: str,
    settings: BloomGenerationOptions | BloomCoverageOptions,
    *,
    is_error: bool,
) -> None:
    """Print the missing replies, and exit if that is an error."""
    if missing.counts:
        counts = ", ".join(f"{reason} {count:,}" for reason, count in missing.counts.most_common())
        typer.echo(f"Missing replies: {missing.counts.total():,} ({counts}); the first: {missing.example}.", err=True)
    if not (missing.counts and is_error):
        return
    remedy = (
        "leave out --offline, with --endpoint"
        if settings.offline
        else "raise or leave out the limit, if one is reached"
    )
    typer.echo(
        f"Replies are stored: the same command resumes ({remedy}), and with --allow-failed {consequence}.", err=True
    )
    raise typer.Exit(UNFINISHED)


def open_models(settings: BloomGenerationOptions | BloomCoverageOptions) -> dict[str, EndpointModel]:
    """Models behind their addresses, by the name that their server knows; none offline."""
    from vcrgen.models.address import parse_address, read_key
    from vcrgen.models.endpoint import EndpointModel

    if settings.offline:
        return {}
    limits = limits_of(settings)

    def model(
        name: str, endpoint: str, key_env: str | None, option: str = "--endpoint", *, pictures: bool = False
    ) -> EndpointModel:
        profile = None if option == "image_endpoint" else settings.profile
        address = parse_address(endpoint, name, profile, pictures=pictures, option=option)
        return EndpointModel(
            address, name, key=read_key(key_env, address, insecure=settings.insecure_key), limits=limits
        )

    assert settings.endpoint is not None
    assert settings.model is not None
    own = settings.endpoint, settings.key_env
    judged = (settings.judge_endpoint, settings.judge_key_env, "judge_endpoint") if settings.judge_endpoint else own
    models = {name: model(name, *judged) for name in settings.judge_names}
    if isinstance(settings, BloomGenerationOptions) and (name := settings.image_model):
        other = settings.image_endpoint
        drawn = (other, settings.image_key_env, "image_endpoint") if other else own
        models[name] = model(name, *drawn, pictures=True)
    return models | {settings.model: model(settings.model, *own)}


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
    """Convert a file to an MCQ benchmark; every rejected item is counted with its reason."""
    from vcrgen.bloom.importing import import_questions

    folder = _folder(out, file.stem.lower())
    settings = validate_options(BloomImportOptions, drop_none(options))
    with console.progress(doing="reading", unit="items", kept="kept") as listener:
        manifest = import_questions(file, settings, folder, listener=listener)
    _print_summary(folder, manifest)


@bloom.command(
    epilog=examples(
        "vcrgen bloom filter data/my-bloom --audit data/my-bloom-audit",
        "vcrgen bloom filter data/my-bloom --without ids.txt",
        "vcrgen bloom filter data/my-bloom --blind a-text-only.jsonl --blind b-text-only.jsonl",
    )
)
def filter(
    data: Annotated[Path, typer.Argument(help="An MCQ benchmark.")],
    without: Annotated[Path | None, typer.Option(help="Ids of the items to leave out, one a line.")] = None,
    audit: Annotated[
        Path | None, typer.Option(help="Folder of an audit: leave out what it rejected, and put it on the card.")
    ] = None,
    blind: Annotated[
        list[Path] | None,
        typer.Option(help="Outputs of a model without the pictures: leave out what it answers. Repeatable."),
    ] = None,
    blind_models: Annotated[
        int | None, typer.Option(help="Models that answer an item to be left out.", show_default="more than half")
    ] = None,
    out: _Out = None,
) -> None:
    """Write a copy of an MCQ benchmark without some of its items, such as those that an audit rejected."""
    from vcrgen.bloom.filtering import write_filtered_set
    from vcrgen.data.tasks.opening import open_task_dataset

    folder = _folder(out, "filtered")
    answers = _text_only_answers(data, blind, blind_models) if blind else None
    _print_summary(folder, write_filtered_set(open_task_dataset(data), without, folder, audit=audit, blind=answers))


def _text_only_answers(data: Path, files: Sequence[Path], least: int | None) -> TextOnlyAnswers:
    """Find what models answer without the pictures, print it, and return it with its section of the card."""
    from vcrgen.bloom.filtering import TextOnlyAnswers
    from vcrgen.report.escape import escape_markdown
    from vcrgen.scorer.mcq.text_only import answered_items

    least = least if least is not None else len(files) // 2 + 1
    text_only = answered_items(data, files, least=least)
    lines = [
        f"{name}: {answered:,} of {pluralize(asked, 'item')} answered without the picture, {luck:,.0f} expected from "
        "guesses"
        for name, asked, answered, luck in text_only.rows
    ]
    for line in lines:
        console.out.print(f"{escape(line)}.", soft_wrap=True)
    listed = "".join(f"- {escape_markdown(line)}\n" for line in lines)
    section = (
        f"\n## Answered without the pictures\n\n{pluralize(len(text_only.ids), 'item')} that "
        f"{pluralize(least, 'model')} of {len(files)} or more answered without the picture were left out; a model "
        f"answers an item if it is right in all orders that it was shown.\n\n{listed}"
    )
    return TextOnlyAnswers(ids=text_only.ids, section=section)


def _folder(out: Path | None, name: str) -> Path:
    """--out, or a folder below data/ that is named after the source of the set."""
    from vcrgen.core.storage import remote_url

    if out and (url := remote_url(out.as_posix())):
        raise OutputError(f"--out {url} is in an object store; only builds write there.")
    return out or Path("data") / f"bloom-{name.removeprefix('bloom-')}"


def _print_summary(folder: Path, manifest: Manifest) -> None:
    from vcrgen.bloom.write import REJECTS

    console.out.print(
        f"[bold]{escape(str(folder))}[/] is complete: {manifest.pairs:,} of {pluralize(manifest.read, 'item')}."
    )
    console.print_counts("rejected", manifest.rejected, unit="items")
    if manifest.rejected:
        console.say(f"Each with its reason: {escape(str(folder / REJECTS))}", highlight=False)
    console.say_signature(manifest.signature)
    console.say_next("Look at it", "vcrgen", "view", folder)


def inspect_benchmark(data: Dataset, *, as_json: bool) -> None:
    """Print the statistics of an MCQ benchmark for ``vcrgen inspect``."""
    from vcrgen.bloom.summary import set_figures
    from vcrgen.data.tasks.bloom import level_note

    figures, manifest = set_figures(data), data.built
    if as_json:
        origin = {"source": manifest.source, "signature": str(manifest.signature), "rejected": dict(manifest.rejected)}
        return console.out.print_json(json.dumps(asdict(figures) | origin))
    table = console.ruled_table("level", "items", "categories with items")
    for level, (items, filled, categories) in figures.levels.items():
        table.add_row(escape(level), f"{items:,}", f"{filled} of {categories}")
    console.out.print(table)
    table = console.ruled_table("language", "items", "question, characters", "option, characters", "longest is right")
    for lang, row in figures.languages.items():
        sizes = (f"{size.mean:.0f} ± {size.sd:.0f} ({size.p05:.0f}-{size.p95:.0f})" for size in (row.stem, row.option))
        table.add_row(lang, f"{row.items:,}", *sizes, f"{100 * row.longest_key:.0f} %")
    console.out.print(table)
    places = ", ".join(f"{letter} {count:,}" for letter, count in figures.positions.items())
    shared = figures.items / max(figures.pictures, 1)
    empty = figures.empty_categories
    for line in (
        f"{pluralize(figures.items, 'item')} about {pluralize(figures.pictures, 'picture')}: {shared:.1f} a picture, "
        f"at most {figures.max_items_of_picture}; {figures.traps:,} with a trap. Right options: {places}.",
        "Longest is right: share of items whose right option is the longest; 25 % with four options where length tells "
        "nothing.",
        "Categories without items: "
        f"{len(empty)}{': ' if empty else ''}{'; '.join(empty[:3])}{' ...' * (len(empty) > 3)}",
    ):
        console.out.print(line, soft_wrap=True, markup=False)
    if note := level_note(manifest.signature.facts):
        console.out.print(note, soft_wrap=True, markup=False)
    if unknown := figures.unknown_categories:
        text = f"Categories of items that the taxonomy does not have: {'; '.join(unknown[:3])}"
        console.out.print(text, soft_wrap=True, markup=False)
    console.print_counts("problems of texts", figures.problems, unit="items")
    console.out.print(f"{pluralize(manifest.read, 'item')} read, from {escape(manifest.source)}.")
    console.print_counts("rejected", manifest.rejected, unit="items")
    console.say_signature(manifest.signature)
    return None
