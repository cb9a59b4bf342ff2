"""``vcrgen fonts``: known fonts."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Column

from vcrgen.cli import console
from vcrgen.cli.options import examples
from vcrgen.cli.root import app

fonts = typer.Typer(
    help="List, check and fetch fonts.",
    epilog=examples("vcrgen fonts", "vcrgen fonts --lang ko"),
    no_args_is_help=False,
)
app.add_typer(fonts, name="fonts", invoke_without_command=True)


@fonts.callback()
def list_fonts(
    context: typer.Context,
    lang: Annotated[
        str | None, typer.Option("--lang", "-l", help="Only fonts of this language.", show_default="all")
    ] = None,
) -> None:
    """List the known fonts, whose names can be given wherever a font file can; with --lang, what a language lacks."""
    from vcrgen.text.languages import language_row
    from vcrgen.text.optional_files import absent_files
    from vcrgen.typeset.fonts import font_registry

    if context.invoked_subcommand:
        return
    entries = list(font_registry().values())
    if lang is not None:
        entries = [entry for entry in entries if language_row(lang).code in entry.languages]
    # Two columns, as five have no room for words on a narrow terminal.
    table = console.ruled_table(Column("name", no_wrap=True), "role; languages; license")
    for entry in entries:
        about = (entry.role, ", ".join(entry.languages), entry.license, "" if entry.is_installed else "to fetch")
        table.add_row(entry.name, "; ".join(filter(None, about)))
    console.out.print(table)
    for sentence in absent_files(lang) if lang is not None else ():
        console.out.print(sentence, soft_wrap=True)


@fonts.command(epilog=examples("vcrgen fonts check '甲骨文 oracle bones' --lang zh"))
def check(
    text: Annotated[str, typer.Argument(help="Any text.")],
    lang: Annotated[str, typer.Option("--lang", "-l", help="Language of the font chain.")] = "en",
    font: Annotated[Path | None, typer.Option(help="A font file, or a name of the list, put before the chain.")] = None,
) -> None:
    """Show the font that draws each character of a text; exit code 1 if one has no glyph."""
    from vcrgen.typeset.coverage import font_coverage

    coverage = font_coverage(text, lang=lang, font=font)
    for family, characters in coverage.items():
        console.out.print(
            f"[bold]{escape(family)}[/]: {escape(characters)}" if family else f"[red]no glyph:[/] {escape(characters)}"
        )
    if coverage.get(""):
        raise typer.Exit(1)


@fonts.command(
    epilog=examples(
        "vcrgen fonts fetch",
        "vcrgen fonts fetch lxgw-wenkai ar-pl-kaiti-gb",
        "vcrgen fonts fetch wenquanyi-zen-hei --mirror http://ftp.de.debian.org/debian",
    )
)
def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Names of fonts.", show_default="all to fetch")] = None,
    mirror: Annotated[str | None, typer.Option(help="A Debian mirror.", show_default="deb.debian.org")] = None,
) -> None:
    """Fetch fonts that are not shipped from Debian's packages, checked against pinned hashes.

    They go to the folder in the environment variable VCRGEN_FONTS, or to vcrgen/fonts in the user's cache. A font that
    is there already is not fetched again.
    """
    from vcrgen.typeset.fetch import fetch_fonts

    def on_download(address: str) -> None:
        console.say(f"Fetching {escape(address)}")

    for entry in fetch_fonts(names or (), mirror=mirror, on_download=on_download):
        console.say(f"{entry.name} is in [bold]{escape(str(entry.path))}[/]")
