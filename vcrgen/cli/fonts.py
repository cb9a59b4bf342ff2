"""``vcrgen fonts`` and ``vcrgen calibrate``: which fonts there are, and what covers hide in them."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Column

from vcrgen.cli import console
from vcrgen.cli.options import examples, out_option
from vcrgen.cli.root import app


@app.command(epilog=examples("vcrgen fonts", "vcrgen fonts '甲骨文 oracle bones' --lang zh"))
def fonts(
    text: Annotated[str | None, typer.Argument(help="A text to check against a language's font chain.")] = None,
    lang: Annotated[
        str | None,
        typer.Option("--lang", "-l", help="Whose chain; without a text, whose fonts to list.", show_default="en; all"),
    ] = None,
    font: Annotated[Path | None, typer.Option(help="A font file, or a name of the list, put before the chain.")] = None,
) -> None:
    """List the shipped fonts, or show which font draws each character of a text; exit code 1 if one has no glyph."""
    from vcrgen.text.languages import language_row
    from vcrgen.typeset.coverage import check_text
    from vcrgen.typeset.fonts import font_register

    if text is None:
        listed = list(font_register().values())
        if lang is not None:
            listed = [entry for entry in listed if language_row(lang).code in entry.languages]
        # Two columns, as five have no room for words on a narrow terminal.
        table = console.ruled_table(Column("name", no_wrap=True), "role; languages; licence")
        for entry in listed:
            about = [entry.role, ", ".join(entry.languages), entry.licence, *([] if entry.installed else ["to fetch"])]
            table.add_row(entry.name, "; ".join(about))
        console.out.print(table)
        return
    coverage = check_text(text, lang=lang or "en", font=font)
    for family, characters in coverage.items():
        console.out.print(
            f"[bold]{escape(family)}[/]: {escape(characters)}" if family else f"[red]no glyph:[/] {escape(characters)}"
        )
    if coverage.get(""):
        raise typer.Exit(1)


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
        out_option("The picture.", shown="calibration-LANG-FONT-SIZE[-COVER].png"),
    ] = None,
) -> None:
    """Show what the covers hide in a font, and draw a picture of it.

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
    if uneven := [mode for mode, found in covers.items() if not found.even]:
        console.out.print(
            f"[yellow]Uneven[/] ({', '.join(uneven)}): no whole rows leave the right ink on both sides in this size; "
            "a size one or two pixels larger or smaller does.",
            soft_wrap=True,
        )
    console.say(f"[bold]{escape(str(picture))}[/] shows it: as it is, easy, hard.")
