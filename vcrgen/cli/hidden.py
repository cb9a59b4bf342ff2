"""``vcrgen hidden`` and ``vcrgen hidden verify``: parse, call, print. No logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

_out = Console()
_err = Console(stderr=True)


class _MakeByDefault(TyperGroup):
    """``vcrgen hidden pairs.parquet`` is ``vcrgen hidden make pairs.parquet``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the default command before arguments that begin with none."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["make", *args]
        return super().parse_args(ctx, args)


hidden = typer.Typer(
    cls=_MakeByDefault,
    no_args_is_help=True,
    help="Make test sets whose answers stay secret, and check that they do.",
    epilog="Examples:\n\n"
    "  vcrgen hidden pairs.parquet --lang zh --items 100 --out hidden-2026 --secret-file secret.key\n\n"
    "  vcrgen hidden pairs.parquet --out hidden-2026 --secret-file secret.key --variants 5 --not-in data/my-vcr\n\n"
    "  vcrgen hidden verify hidden-2026 --secret-file secret.key\n\n"
    "  vcrgen score preds.jsonl --data hidden-2026/key",
)


@hidden.command(
    epilog="Examples:\n\n"
    "  vcrgen hidden make pairs.parquet --items 100 --out hidden-2026 --secret-file secret.key\n\n"
    "  vcrgen hidden make pairs.parquet --out hidden-2026 --secret-file secret.key --fonts lato,carlito --variants 5"
)
def make(
    source: Annotated[str, typer.Argument(help="Pairs, as for `vcrgen build`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the set.")],
    secret_file: Annotated[Path, typer.Option(help="The maintainer's secret; made there if the file is new.")],
    lang: Annotated[str, typer.Option("--lang", "-l", help="Language of the captions.")] = "en",
    items: Annotated[int, typer.Option(min=1, max=100_000, help="Pairs in the set.")] = 100,
    variants: Annotated[
        int, typer.Option(min=1, max=20, help="Forms: the same pairs with other spans, fonts and places.")
    ] = 1,
    fonts: Annotated[
        str | None,
        typer.Option(help="Names of `vcrgen fonts` or font files, by commas.", show_default="all shipped text faces"),
    ] = None,
    not_in: Annotated[
        list[str] | None, typer.Option(help="Dataset whose pairs are refused, by picture and by caption; repeatable.")
    ] = None,
    image_column: Annotated[str | None, typer.Option(help="Column or nested path of the image.")] = None,
    caption_column: Annotated[str | None, typer.Option(help="Column or nested path of the caption.")] = None,
    id_column: Annotated[str | None, typer.Option(help="Column or nested path of the pair's own id.")] = None,
    where: Annotated[list[str] | None, typer.Option(help="PATH=VALUE; only rows that match all are used.")] = None,
    source_split: Annotated[str | None, typer.Option(help="Split of a Hugging Face dataset.")] = None,
    spacy_model: Annotated[
        str | None, typer.Option(help="A trained spaCy pipeline instead of the built-in one.")
    ] = None,
    censor_list: Annotated[Path | None, typer.Option(help="File of words, beside the built-in list.")] = None,
) -> None:
    """Make a hidden test set: OUT/public for participants, OUT/key for the maintainer.

    Spans, fonts, widths, places and covers are drawn from the secret. Interrupted or killed, the same command goes on.
    """
    from vcrgen.cli.progress_build import ConsoleWatcher
    from vcrgen.config import load_build_config
    from vcrgen.hidden import HiddenOptions, make_hidden

    values = {
        "source": source, "lang": lang, "image_column": image_column, "caption_column": caption_column,
        "id_column": id_column, "where": tuple(where) if where else None, "source_split": source_split,
        "spacy_model": spacy_model, "censor_list": censor_list,
    }  # fmt: skip
    options = HiddenOptions(
        config=load_build_config(None, values),
        items=items,
        variants=variants,
        fonts=tuple(name.strip() for name in fonts.split(",")) if fonts else (),
        not_in=tuple(not_in or ()),
    )
    is_new = not secret_file.exists()
    try:
        with ConsoleWatcher(_err) as watcher:
            result = make_hidden(options, out=out, secret_file=secret_file, watcher=watcher)
    finally:  # an interrupted run has made the secret, too
        if is_new and secret_file.exists():
            told = f"A new secret is in {escape(str(secret_file))}: keep a copy, and never publish it."
            _err.print(told, soft_wrap=True)
    _out.print("The set was complete already." if result.was_complete else "The set is complete.")
    for public, key in zip(result.public, result.keys, strict=True):
        _out.print(
            f"[bold]{escape(str(public))}[/] for participants, [bold]{escape(str(key))}[/] to keep.", soft_wrap=True
        )
    _print_report(result.report)
    _out.print(f"Check it: vcrgen hidden verify {escape(str(out))}", soft_wrap=True, highlight=False)


def _print_report(report: dict[str, Any]) -> None:
    table = Table("", "", box=None, pad_edge=False, show_header=False)
    for name in ("fonts", "strip", "covers", "width", "set_aside"):
        if report[name]:
            counts = ", ".join(f"{escape(str(value))} {count:,}" for value, count in report[name].items())
            table.add_row(name.replace("_", " "), counts)
    for mode, ink in report["visible_ink"].items():
        table.add_row(
            f"ink, {mode}", f"median {ink['median']}, target {ink['target']}; spans off target: {ink['off_target']}"
        )
    for overlap in report["overlap"]:
        a, b = overlap["forms"]
        table.add_row(
            f"forms {a}, {b}",
            f"share {100 * overlap['same_spans']:.1f} % of spans and {100 * overlap['shared_characters']:.1f} % of "
            "covered characters",
        )
    _out.print(f"{report['items']:,} items, {report['spans']:,} spans in a form")
    _out.print(table)


@hidden.command(epilog="Example:\n\n  vcrgen hidden verify hidden-2026 --secret-file secret.key")
def verify(
    folder: Annotated[Path, typer.Argument(help="A hidden set, or the folder of its forms.")],
    secret_file: Annotated[Path | None, typer.Option(help="The maintainer's secret, to check the key's seal.")] = None,
) -> None:
    """Check that the public part holds no answer, and that the key is the one it commits to; exit code 1 if not."""
    from vcrgen.hidden.secret import load_secret
    from vcrgen.hidden.verify import find_sets, leaks
    from vcrgen.hidden.verify import verify as verify_set

    secret = load_secret(secret_file, create=False)[0] if secret_file else None
    failed = 0
    for part in find_sets(folder):
        checks = verify_set(part, secret=secret)
        table = Table(escape(str(part)), "", "", box=SIMPLE_HEAD)
        for check in checks:
            mark = {True: "[green]ok[/]", False: "[bold red]FAILED[/]", None: "[dim]not checked[/]"}[check.ok]
            table.add_row(check.name, mark, escape(check.detail))
        _out.print(table)
        failed += len(leaks(checks))
    if failed:
        _err.print(f"[bold red]Do not publish this set:[/] {failed} check{'' if failed == 1 else 's'} failed.")
        raise typer.Exit(1)
    _out.print("Nothing was found that gives an answer away.")


def register_hidden(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.add_typer(hidden, name="hidden")
