"""``vcrgen bloom``: question sets by Bloom's levels, made of built-in scenes or of files."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of
from vcrgen.cli.root import app
from vcrgen.config import BloomImportOptions, BloomOptions, checked, given

bloom = typer.Typer(
    no_args_is_help=True,
    help="Make question sets: multiple-choice questions about pictures, by Bloom's levels.",
    epilog=examples("vcrgen bloom build", "vcrgen bloom import BloomBench.json --images pictures"),
)

_Out = Annotated[Path | None, typer.Option("--out", "-o", help="A new folder.", show_default="data/bloom-NAME")]


@bloom.command(epilog=examples("vcrgen bloom build", "vcrgen bloom build -n 1000 --seed 7 --out data/my-bloom"))
@options_of(BloomOptions)
def build(out: _Out = None, **options: Any) -> None:
    """Make a question set from the built-in scenes, in English and Arabic: 25 leaves, no model, no network."""
    from vcrgen.bloom.maker import build_questions
    from vcrgen.cli.progress import ConsoleWatcher

    folder = out or Path("data/bloom-scenes")
    with ConsoleWatcher(console.err, unit="items") as watcher:
        manifest = build_questions(checked(BloomOptions, given(options)), folder, watcher=watcher)
    _tell(folder, manifest)


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

    folder = out or Path("data") / f"bloom-{file.stem.lower()}"
    chosen = checked(BloomImportOptions, given(options))
    with ConsoleWatcher(console.err, doing="reading", unit="items", kept="kept") as watcher:
        manifest = import_questions(file, chosen, folder, watcher=watcher)
    _tell(folder, manifest)


def _tell(folder: Path, manifest: Any) -> None:
    console.out.print(f"[bold]{escape(str(folder))}[/] is complete: {manifest.pairs:,} of {manifest.read:,} items.")
    console.print_counts("set aside", manifest.drops, unit="items")
    console.say(f"Signature [dim]{escape(str(manifest.signature))}[/]")
    console.say(f"Look at it: vcrgen preview {escape(str(folder))}", highlight=False)


app.add_typer(bloom, name="bloom")
