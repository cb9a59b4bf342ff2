"""``vcrgen build``."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from vcrgen.builder.options import BuildConfig
from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.root import app
from vcrgen.core.options import PANEL_RUN
from vcrgen.core.plurals import pluralize


@app.command(
    epilog=examples(
        "vcrgen build",
        "vcrgen build --lang zh --mode hard",
        "vcrgen build pairs.parquet --lang en --out data/my-vcr --limit 5000 --workers 2 --seed 7",
        "vcrgen build 'shards/*.tar' --column image=jpg --column caption=json.text --splits train=...,test=500",
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
        out_option("Folder of the dataset, or s3:// or gs:// URL.", default="data/vcr-SOURCE-LANG-MODE"),
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
    from vcrgen.builder.advice import advice
    from vcrgen.builder.assemble import REJECTS_FILE
    from vcrgen.builder.engines import EngineChoice
    from vcrgen.builder.run import Build, default_out
    from vcrgen.builder.splits import MAX_GROUP
    from vcrgen.text.languages import LANGUAGES

    merged = _merged(config, {"source": source, **options})
    choice = EngineChoice(name=engine, workers=workers, address=address)
    with console.progress() as listener:
        result = Build(merged, out=out or default_out(merged), engine=choice, listener=listener).run()
    manifest = result.manifest
    done = "was complete already" if result.was_complete else "is complete"
    console.out.print(
        f"[bold]{escape(str(result.path))}[/] {done}: {manifest.pairs:,} of {pluralize(manifest.read, 'pair')}."
    )
    console.say(f"Sum: {manifest.sum}", highlight=False)
    first_mode = [file for file in manifest.files if file.mode == manifest.modes[0]]
    pairs_of = {split: sum(file.rows for file in first_mode if file.split == split) for split in manifest.splits}
    console.print_counts("split", pairs_of)
    console.print_counts("rejected", manifest.rejected)
    if manifest.rejected:
        console.say(advice(manifest.rejected, merged.lang), highlight=False)
        console.say(f"Each of them, and why: {escape(str(result.path))}/{REJECTS_FILE}", highlight=False)
    console.print_counts("cleaned", manifest.cleaned)
    if manifest.uncompared:
        console.say(
            f"Near copies were not looked for in {pluralize(manifest.uncompared, 'group')} of more than {MAX_GROUP} "
            "pictures that look alike: some may be in two splits."
        )
    lang = merged.lang
    console.say(f"Source {escape(manifest.source)}, read as {LANGUAGES[lang].name} (--lang {lang})", highlight=False)
    console.say_signature(manifest.signature)
    console.say_next("Look at it", "vcrgen", "view", result.path)


def _merged(recipe: Path | None, options: dict[str, Any]) -> BuildConfig:
    """Return a recipe's configuration, overridden by options."""
    from vcrgen.builder.options import find_recipe, load_build_config

    fields = {name: value for name, value in options.items() if name in BuildConfig.model_fields}
    fields["where"] = fields["where"] or None
    return load_build_config(find_recipe(recipe) if recipe else None, fields)
