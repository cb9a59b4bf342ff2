"""``vcrgen bloom``: question sets by Bloom's levels, made of built-in scenes or of files."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of
from vcrgen.cli.root import app
from vcrgen.config import BloomImportOptions, BloomOptions, checked, given
from vcrgen.errors import OutputError

if TYPE_CHECKING:
    from vcrgen.dataset.manifest import Manifest
    from vcrgen.dataset.reader import Dataset

bloom = typer.Typer(
    no_args_is_help=True,
    help="Make question sets: multiple-choice questions about pictures, by Bloom's levels.",
    epilog=examples("vcrgen bloom build", "vcrgen bloom import BloomBench.json --images pictures"),
)

_Out = Annotated[Path | None, typer.Option("--out", "-o", help="A new folder.", show_default="data/bloom-NAME")]


@bloom.command(epilog=examples("vcrgen bloom build", "vcrgen bloom build -n 1000 --seed 7 --out data/my-bloom"))
@options_of(BloomOptions)
def build(out: _Out = None, **options: Any) -> None:
    """Make a question set from built-in scenes, in each language with words for it: 25 leaves, no model, offline."""
    from vcrgen.bloom.maker import build_questions
    from vcrgen.cli.progress import ConsoleWatcher

    folder = _folder(out, "scenes")
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

    folder = _folder(out, file.stem.lower())
    chosen = checked(BloomImportOptions, given(options))
    with ConsoleWatcher(console.err, doing="reading", unit="items", kept="kept") as watcher:
        manifest = import_questions(file, chosen, folder, watcher=watcher)
    _tell(folder, manifest)


@bloom.command(epilog=examples("vcrgen bloom filter data/my-bloom --without data/my-bloom-audit/without.txt"))
def filter(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A question set.")],
    without: Annotated[Path, typer.Option(help="Ids of the items to leave out, one a line.")],
    out: _Out = None,
) -> None:
    """Write a question set anew without some of its items, such as those that an audit rejected."""
    from vcrgen.bloom.without import write_without
    from vcrgen.tasks.opening import open_any

    folder = _folder(out, "filtered")
    _tell(folder, write_without(open_any(data), without, folder))


def _folder(out: Path | None, name: str) -> Path:
    """Where to write a set that nobody has named a place for."""
    from vcrgen.storage import remote_url

    if out and (url := remote_url(out.as_posix())):
        raise OutputError(f"--out {url} is in an object store; only builds write there.")
    return out or Path("data") / f"bloom-{name}"


def _tell(folder: Path, manifest: Manifest) -> None:
    console.out.print(f"[bold]{escape(str(folder))}[/] is complete: {manifest.pairs:,} of {manifest.read:,} items.")
    console.print_counts("set aside", manifest.drops, unit="items")
    console.say(f"Signature [dim]{escape(str(manifest.signature))}[/]")
    console.say(f"Look at it: vcrgen preview {escape(str(folder))}", highlight=False)


def inspect_questions(data: Dataset, *, as_json: bool) -> None:
    """What ``vcrgen inspect`` shows of a question set."""
    from vcrgen.bloom.summary import set_figures

    figures, manifest = set_figures(data), data.built
    if as_json:
        origin = {"source": manifest.source, "signature": str(manifest.signature), "drops": dict(manifest.drops)}
        return console.out.print_json(json.dumps(asdict(figures) | origin))
    table = Table("level", "items", "leaves with items", box=SIMPLE_HEAD)
    for level, (items, filled, leaves) in figures.levels.items():
        table.add_row(escape(level), f"{items:,}", f"{filled} of {leaves}")
    console.out.print(table)
    table = Table(
        "language", "items", "question, characters", "option, characters", "longest is right", box=SIMPLE_HEAD
    )
    for lang, row in figures.languages.items():
        sizes = (f"{size.mean:.0f} ± {size.sd:.0f} ({size.p05:.0f}-{size.p95:.0f})" for size in (row.stem, row.option))
        table.add_row(lang, f"{row.items:,}", *sizes, f"{row.longest_key:.0%}")
    console.out.print(table)
    places = ", ".join(f"{letter} {count:,}" for letter, count in figures.positions.items())
    shared = figures.items / max(figures.pictures, 1)
    empty = figures.empty_leaves
    for line in (
        f"{figures.items:,} items about {figures.pictures:,} pictures: {shared:.1f} a picture, at most "
        f"{figures.most_of_a_picture}; {figures.traps:,} with a trap. Right options: {places}.",
        "Longest is right: share of items whose right option is the longest; 25 % where length tells nothing.",
        f"Leaves without items: {len(empty)}{': ' if empty else ''}{'; '.join(empty[:3])}{' ...' * (len(empty) > 3)}",
        *(
            [f"Leaves that the taxonomy does not have: {'; '.join(figures.unknown_leaves[:3])}"]
            * bool(figures.unknown_leaves)
        ),
    ):
        console.out.print(line, soft_wrap=True, markup=False)
    if unknown := figures.unknown_leaves:
        told = f"Leaves of items that the taxonomy does not have: {'; '.join(unknown[:3])}"
        console.out.print(told, soft_wrap=True, markup=False)
    console.print_counts("found in the texts", figures.faults, unit="items")
    console.out.print(f"{manifest.read:,} items read, from {escape(manifest.source)}.")
    console.print_counts("set aside", manifest.drops, unit="items")
    console.say(f"Signature [dim]{escape(str(manifest.signature))}[/]")
    return None


app.add_typer(bloom, name="bloom")
