"""``vcrgen fonts`` and ``vcrgen calibrate``: known fonts, and the covers that are calibrated for them."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Column

from vcrgen.cli import console
from vcrgen.cli.options import examples, out_option
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
    """List the known fonts; their names can be given wherever a font file can."""
    from vcrgen.text.languages import language_row
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
        "vcrgen fonts fetch noto-sans-cjk-sc noto-sans-cjk-sc-bold",
        "vcrgen fonts fetch wenquanyi-zen-hei --mirror http://ftp.de.debian.org/debian",
    )
)
def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Names of fonts.", show_default="all to fetch")] = None,
    mirror: Annotated[str | None, typer.Option(help="A Debian mirror.", show_default="deb.debian.org")] = None,
) -> None:
    """Fetch the fonts that are too large to ship from Debian's packages, checked against pinned hashes.

    They go to the folder in the environment variable VCRGEN_FONTS, or to vcrgen/fonts in the user's cache. A font that
    is there already is not fetched again.
    """
    from vcrgen.typeset.fetch import fetch_fonts

    def on_download(address: str) -> None:
        console.say(f"Fetching {escape(address)}")

    for entry in fetch_fonts(names or (), mirror=mirror, on_download=on_download):
        console.say(f"{entry.name} is in [bold]{escape(str(entry.path))}[/]")


@app.command(
    epilog=examples(
        "vcrgen calibrate --lang en --font MyFont.ttf --font-size 34",
        "vcrgen calibrate --lang zh --font lxgw-wenkai --out wenkai.png",
        "vcrgen calibrate --lang en --cover stain --font-size 40",
    )
)
def calibrate(
    lang: Annotated[str, typer.Option("--lang", "-l", help="Language of the captions.")] = "en",
    font: Annotated[
        str | None, typer.Option(help="A font file, or a name of `vcrgen fonts`.", show_default="the language's own")
    ] = None,
    font_size: Annotated[int, typer.Option(min=6, max=400, help="Font size in pixels.")] = 20,
    cover: Annotated[str, typer.Option(help="Kind of cover, as for `vcrgen build`.")] = "rows",
    out: Annotated[
        Path | None,
        out_option("The image.", shown="calibration-LANG-FONT-SIZE[-COVER].png"),
    ] = None,
) -> None:
    """Show how much the covers hide in a font, and draw a specimen image.

    `vcrgen build` and `vcrgen hidden` calibrate every font by themselves: easy and hard mean the same in all of them.
    """
    from vcrgen.typeset.specimen import draw_specimen

    kind = "" if cover == "rows" else f"-{cover}"
    picture = out or Path(f"calibration-{lang}-{Path(font or 'default').stem}-{font_size}{kind}.png")
    covers = draw_specimen(lang, font, font_size, picture, cover=cover)
    heads = ("mode", "cover" if kind else "rows covered", "visible ink", "5th-95th pct", "target")
    table = console.ruled_table(*heads, *(() if kind else ("above",)))
    for mode, found in covers.items():
        above = () if found.above is None else (f"{found.above:.2f}",)
        spread = f"{found.low:.2f}-{found.high:.2f}"
        table.add_row(mode, found.rule.name, f"{found.visible:.3f}", spread, f"{found.target:.2f}", *above)
    console.out.print(table)
    console.out.print(
        "A cover: the share of a line's ink that it is made to hide; ink: median over a sample, as a share."
        if kind
        else "Rows from the top of a line; ink: median over a sample, as a share; above: share of it above the cover."
    )
    if uneven := [mode for mode, found in covers.items() if not found.is_even]:
        console.out.print(
            f"[yellow]Uneven[/] ({', '.join(uneven)}): no whole rows leave the right ink on both sides in this size; "
            "a size one or two pixels larger or smaller does.",
            soft_wrap=True,
        )
    console.say(f"[bold]{escape(str(picture))}[/] shows it: as it is, easy, hard.")
